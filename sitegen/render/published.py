"""What others published and the site quotes: figures that no record of ours backs.

The published reference divides bytes by 2^20: its peaks are Mio although its text calls them Mo. The site shows both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.records.case import Case
from sitegen.render.series import BASELINE, INFERENCE_8, TRAINING_1, TRAINING_4_LONG, TRAINING_8
from sitegen.units import MIB_BYTES

REFERENCE_SOURCE: Final = "Référence publiée : Apple M5 Max, 64 Go, PyTorch 2.15, Transformers 5.22"


@dataclass(frozen=True)
class Published:
    """One published peak, in the unit in which it was really computed."""

    case: Case
    mebibytes: int

    @property
    def size_bytes(self) -> int:
        """The same in bytes."""
        return self.mebibytes * MIB_BYTES


PEAKS: Final = (
    Published(BASELINE, 244),
    Published(INFERENCE_8, 1269),
    Published(TRAINING_1, 3093),
    Published(TRAINING_8, 6484),
    Published(TRAINING_4_LONG, 6489),
)
WEIGHTS_BYTES: Final = 538_060_032
"""134 515 008 parameters of 4 bytes: the reference gives it as 538 of 10^6 bytes."""
MIXED_UNITS_RATIO: Final = 6484 / 538
"""Its peak at batch 8, in Mio, over its weights, in Mo: two units, and a ratio that means nothing."""
TRAINING_OVER_INFERENCE: Final = 5.1
CHECKPOINTING_CHANGE: Final = -0.37
BFLOAT16_CHANGE: Final = -0.34


def peak(case: Case) -> Published | None:
    """The published peak of a case."""
    return next((published for published in PEAKS if published.case == case), None)


def size(case: Case) -> int:
    """The published peak of a case that has one, in bytes; `KeyError` otherwise."""
    return {published.case: published.size_bytes for published in PEAKS}[case]
