"""What the prose says of the estimates' errors: figures of all the rows of a table, to which each of them leads.

They exist where there are traces; a page asks with ``known("…")`` before it speaks of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any, Final

from sitegen.french import change, megabytes, number, percent, small_percent
from sitegen.memory.deviations import Deviations, deviations
from sitegen.memory.intervals import ERROR_FLOOR_BYTES, ERROR_SHARE, REPEATS
from sitegen.memory.peers import PEERS
from sitegen.memory.published import Comparison, Group
from sitegen.memory.validation import Compared
from sitegen.records.case import DEFAULT_MODEL, Allocator
from sitegen.render.evidence import Evidence, MissingFigureError
from sitegen.render.origins import Fact, Source

PAGE: Final = "estime-et-mesure/index.html"


def _signed_share(value: float) -> str:
    """An error with its sign, to a hundredth of a percent."""
    return change(value, 2)


def _missing() -> MissingFigureError:
    """There are rows, but none of the kind that a figure is of."""
    return MissingFigureError("no row of this kind has an estimate", "Trace them: sitegen trace")


def _known(found: Deviations | None) -> Deviations:
    """Errors of which there are some; raises `MissingFigureError` otherwise."""
    if found is None:
        raise _missing()
    return found


def _ours(e: Evidence, allocator: Allocator = "fixed") -> Deviations:
    """Our errors on our own rows."""
    return _known(deviations(row.error for row in e.compared(allocator)))


def _others(e: Evidence, *groups: Group) -> Deviations:
    """Our errors on the published runs, of some groups or of all."""
    return _known(deviations(row.error for row in e.published() if not groups or row.group in groups))


def _rule_medians(rows: Iterable[Compared | Comparison]) -> list[float]:
    """The median error of each rule on the rows that it speaks of; raises where none of them speaks."""
    known = list(rows)
    found = [deviations(row.peer_error(peer.name) for row in known) for peer in PEERS]
    if not any(found):
        raise _missing()
    return [each.median for each in found if each is not None]


def _repeated(e: Evidence) -> list[Compared]:
    """The rows under the system's allocator that were measured often enough."""
    return [row for row in e.compared("default") if row.is_repeated]


def _width(rows: Iterable[Compared]) -> float:
    """Median width of the intervals; raises without rows."""
    return _known(deviations(row.width for row in rows)).median


def _architectures(e: Evidence) -> int:
    """How many architectures there are beside the site's model."""
    return len({row.bill.model_type for row in e.compared("fixed") if row.record.case.model != DEFAULT_MODEL})


def _count(rows: Iterable[object]) -> int:
    """How many there are."""
    return len(list(rows))


def _of(anchor: str, what: str, write: Callable[[Any], str], value: Callable[[Evidence], Any]) -> Fact:
    """A figure of our rows, in the table where they are."""
    return Fact(write, value, source=Source(f"Calculé à partir {what}", f"{PAGE}#{anchor}"))


def _row(write: Callable[[Any], str], value: Callable[[Evidence], Any]) -> Fact:
    """A figure of the rows under the fixed allocator."""
    return _of("estime-lignes", "de toutes les lignes du tableau", write, value)


def _heap(write: Callable[[Any], str], value: Callable[[Evidence], Any]) -> Fact:
    """A figure of the rows under the system's allocator."""
    return _of("estime-systeme", "de toutes les lignes du tableau", write, value)


def _published(write: Callable[[Any], str], value: Callable[[Evidence], Any], anchor: str = "publies-lignes") -> Fact:
    """A figure of the published runs: nothing of them was run here."""
    source = Source("Calculé à partir d’essais que d’autres ont publiés", f"{PAGE}#estime-{anchor}")
    return Fact(write, value, "arithmetic", source)


def _bound(write: Callable[[Any], str], value: float) -> Fact:
    """What the estimates are held to."""
    source = Source("Borne fixée d’avance", f"{PAGE}#ce-qui-est-compare")
    return Fact(write, lambda _: value, "arithmetic", source)


_RULES: Final = ("estime-regles-ecarts", "des essais d’entraînement avec AdamW de cette page")

VALIDATION_FACTS: Final[dict[str, Fact]] = {
    "bound_share": _bound(percent, ERROR_SHARE),
    "bound_size": _bound(megabytes, ERROR_FLOOR_BYTES),
    "bound_samples": _bound(number, REPEATS),
    # Under the allocator whose peak is that of the live tensors
    "validation_rows": _row(number, lambda e: _ours(e).count),
    "validation_architectures": _row(number, _architectures),
    "validation_median": _row(small_percent, lambda e: _ours(e).median),
    "validation_worst": _row(_signed_share, lambda e: _ours(e).worst),
    "validation_within": _row(number, lambda e: _count(r for r in e.compared("fixed") if r.is_within_bounds)),
    "validation_within_share": _row(
        percent, lambda e: statistics.fmean(row.is_within_bounds for row in e.compared("fixed"))
    ),
    "validation_largest": _row(number, lambda e: max(row.bill.parameters for row in e.compared("fixed"))),
    # Under the system's allocator
    "heap_rows": _heap(number, lambda e: len(e.compared("default"))),
    "heap_covered": _heap(number, lambda e: _count(row for row in e.compared("default") if row.is_covered)),
    "heap_covered_share": _heap(percent, lambda e: statistics.fmean(row.is_covered for row in e.compared("default"))),
    "heap_width": _heap(percent, lambda e: _width(e.compared("default"))),
    "heap_samples": _heap(number, lambda e: sum(len(row.record.samples) for row in e.compared("default"))),
    "heap_covered_samples": _heap(number, lambda e: sum(row.covered_samples for row in e.compared("default"))),
    "heap_repeated": _heap(number, lambda e: len(_repeated(e))),
    "heap_repeated_width": _heap(percent, lambda e: _width(_repeated(e))),
    # The usual rules on our rows
    "rules": _of(*_RULES, number, lambda _: len(PEERS)),
    "rules_rows": _of(*_RULES, number, lambda e: _count(row for row in e.compared("fixed") if row.peers)),
    "rules_ours": _of(
        *_RULES, small_percent, lambda e: _known(deviations(r.error for r in e.compared("fixed") if r.peers)).median
    ),
    "rules_best": _of(*_RULES, percent, lambda e: min(_rule_medians(e.compared("fixed")))),
    "rules_worst": _of(*_RULES, percent, lambda e: max(_rule_medians(e.compared("fixed")))),
    # What others published
    "published_runs": _published(number, lambda e: len(e.published())),
    "published_estimated": _published(number, lambda e: _others(e).count),
    "published_untraced": _published(number, lambda e: _count(r for r in e.published() if r.error is None)),
    "published_largest": _published(number, lambda e: max(row.parameters for row in e.published())),
    "published_all_median": _published(small_percent, lambda e: _others(e).median),
    "published_rows": _published(number, lambda e: _others(e, "transformers").count),
    "published_median": _published(small_percent, lambda e: _others(e, "transformers").median),
    "published_worst": _published(_signed_share, lambda e: _others(e, "transformers").worst),
    "published_lowest": _published(_signed_share, lambda e: min(_others(e, "transformers").errors)),
    "published_liger_rows": _published(number, lambda e: _others(e, "liger").count),
    "published_liger_median": _published(small_percent, lambda e: _others(e, "liger").median),
    "published_unsloth_rows": _published(number, lambda e: _others(e, "unsloth").count),
    "published_unsloth_median": _published(small_percent, lambda e: _others(e, "unsloth").median),
    "published_fused_worst": _published(_signed_share, lambda e: _others(e, "liger", "unsloth").worst),
    "published_rules_best": _published(percent, lambda e: min(_rule_medians(e.published())), "regles-ecarts"),
    "published_rules_worst": _published(percent, lambda e: max(_rule_medians(e.published())), "regles-ecarts"),
}
