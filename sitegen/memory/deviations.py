"""How far estimates are from measures: the few figures that sum up a set of signed relative errors."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deviations:
    """Signed relative errors, one a case: positive where the estimate is above the measure. There is at least one."""

    errors: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many cases."""
        return len(self.errors)

    @property
    def median(self) -> float:
        """Median of the errors without their signs."""
        return statistics.median(abs(error) for error in self.errors)

    @property
    def worst(self) -> float:
        """The largest error, with its sign."""
        return max(self.errors, key=abs)


def deviations(errors: Iterable[float | None]) -> Deviations | None:
    """The errors that are known; ``None`` without any."""
    known = tuple(error for error in errors if error is not None)
    return Deviations(known) if known else None
