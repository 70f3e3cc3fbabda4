"""A measured program that ends in the way that the case's seed asks for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Final

from sitegen.records.observation import Request
from sitegen.workload.probe import InvalidCaseError, Observer, observe

RAISES, NO_MEMORY, KILLED, SILENT, SLEEPS, NOISY, INVALID, NO_BLOCK = range(1, 9)
PERSONAL: Final = "/home/somebody/weights.bin"


def _end(request: Request, observer: Observer) -> None:
    observer.baseline()
    with observer.step(1), observer.phase("forward"):
        pass
    how = request.case.seed
    if how == RAISES:
        sys.stderr.write(PERSONAL)
        raise ValueError(PERSONAL)
    if how == NO_MEMORY:
        raise MemoryError
    if how == NO_BLOCK:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
    if how == INVALID:
        raise InvalidCaseError("the option did nothing")
    if how == KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    if how == SILENT:
        os._exit(0)
    if how == NOISY:
        sys.stdout.write("a library speaks on standard output")
    if how == SLEEPS:
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        observer.observed.reasons["grandchild"] = str(grandchild.pid)
        observer.tell("sleep")
        time.sleep(600)


if __name__ == "__main__":
    observe(_end)
