"""Bills made by hand, for the tests of what is done with them."""

from __future__ import annotations

from typing import Final

from sitegen.memory.runtime import Shape
from sitegen.records.bill import Bill, PhaseBill
from sitegen.records.case import Case
from sitegen.units import GB_BYTES, MB_BYTES

PAGES_BYTES: Final = 40 * MB_BYTES


class Pages:
    """The same pages for every case."""

    def bytes_for(self, case: Case, shape: Shape, phase: str) -> int:
        del case, shape, phase
        return PAGES_BYTES


def _phase(step: int, name: str, weights: int, temporaries: int) -> PhaseBill:
    components = {"weights": weights, "temporaries": temporaries}
    return PhaseBill(step=step, name=name, peak_bytes=weights + temporaries, components=components)


def bill(peak_bytes: int = 10 * GB_BYTES) -> Bill:
    """A peak at the second backward, a tenth of it weights; the first forward takes twice those."""
    weights = peak_bytes // 10
    return Bill(
        model_type="llama",
        parameters=250_000_000,
        trainable_parameters=250_000_000,
        quantised_parameters=0,
        weights_bytes=weights,
        phases=(_phase(1, "forward", weights, weights), _phase(2, "backward", weights, peak_bytes - weights)),
    )
