"""The steps of tracing: the bill of every measured case whose model is known here, and the families' tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from sitegen.errors import SitegenError
from sitegen.measure.tabulation import stack, tabulate
from sitegen.measure.tracing import bills
from sitegen.memory.measured import configuration
from sitegen.records import bills as stored
from sitegen.records.bill import Bill, BillRequest
from sitegen.records.store import load_all

if TYPE_CHECKING:
    from sitegen.project import Project
    from sitegen.records.case import Case

Say = Callable[[str], None]


def trace_cases(project: Project, say: Say) -> int:
    """Trace every measured case that this stack has no bill of, and keep them beside the tables.

    A case whose model is known by name only elsewhere (a pasted configuration, a folder) is passed over.

    Returns:
        The number of cases traced.
    """
    path = stored.path_of(project.measurements, stack())
    known = dict(stored.load(path).bills) if path.exists() else {}
    cases = {record.case_id: record.case for record in load_all(project.measurements) if record.status == "ok"}
    missing = {name: case for name, case in cases.items() if name not in known and _is_traceable(case)}
    if missing:
        say(f"Tracing {len(missing)} measured cases.")
        known |= dict(_answered(missing))
        stored.save(project.measurements, stack(), known)
    return len(missing)


def trace_tables(project: Project, say: Say, only: Iterable[str] = ()) -> int:
    """Make the tables that this stack lacks; the number made."""
    return tabulate(project.measurements, say, only)


def _is_traceable(case: Case) -> bool:
    """Whether the case runs a model whose configuration comes with the program."""
    return case.mode != "baseline" and configuration(case.model) is not None


def _answered(cases: dict[str, Case]) -> Iterator[tuple[str, Bill]]:
    """The bill of each case that can be traced; an allocator moves nothing, so its rows share one trace."""
    requests = [BillRequest(case=case, config=configuration(case.model) or {}) for case in cases.values()]
    for name, bill in zip(cases, bills(requests), strict=True):
        if not isinstance(bill, SitegenError):
            yield name, bill
