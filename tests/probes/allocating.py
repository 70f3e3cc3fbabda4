"""A measured program that holds exactly 512 MiB in its only phase."""

from __future__ import annotations

from sitegen.records.observation import Request
from sitegen.units import MIB_BYTES
from sitegen.workload.probe import Observer, observe


def _allocate(_request: Request, observer: Observer) -> None:
    observer.baseline()
    with observer.step(1), observer.phase("forward"):
        block = bytearray(b"x") * (512 * MIB_BYTES)  # every page is touched
        del block


if __name__ == "__main__":
    observe(_allocate)
