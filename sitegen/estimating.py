"""The steps of an estimate: trace what is asked and what could be changed, in one child, and say what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import psutil
from msgspec.structs import replace

from sitegen.errors import SitegenError
from sitegen.measure import tabulation
from sitegen.measure.estimate_report import estimate_report
from sitegen.measure.machine import installed_version, this_machine, usable_cores
from sitegen.measure.subjects import Subject
from sitegen.measure.tracing import bills, stack
from sitegen.memory.advice import Change, changes, ranked
from sitegen.memory.catalogue import Card
from sitegen.memory.cuda import ROUNDING_BYTES, as_run_on_cuda
from sitegen.memory.estimate import UNKNOWN_SHAPE, Device, Setting, TypicalPages, estimated
from sitegen.memory.intervals import rows_of
from sitegen.memory.measured import measured_pages
from sitegen.memory.runtime import RuntimePages, Shape, shape_of
from sitegen.memory.tabled import Tables, bill_of, has_small_tensors
from sitegen.project import Project
from sitegen.records import tables as stored
from sitegen.records.bill import Bill, BillRequest
from sitegen.records.bills import merged as bills_in
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.records.table import Table, TableKey
from sitegen.units import GIB_BYTES

_NEED_BITSANDBYTES: Final = ("qlora", "adamw-8bit")


class Question(NamedTuple):
    """A case of a model, and where it would run."""

    case: Case
    subject: Subject
    setting: Setting
    records: Sequence[Record]
    tables: Tables


def question(
    subject: Subject, case: Case, device: str, cards: Sequence[Card], project: Project | None = None
) -> Question:
    """What is asked, with the records of the project to judge allocators by.

    Raises:
        RecordError: one of the project's records cannot be trusted.
    """
    on = msgspec.convert(device, Device)
    records = load_all(project.measurements) if project is not None else []
    setting = Setting(
        device=on,
        runtime=_pages(project, records) or TypicalPages(usable_cores()),
        cards=(*cards, *([_this_machine()] if on == "cpu" else [])),
        stack=stack(),
        notes=subject.notes,
    )
    named = replace(case, model=subject.name).checked()
    tables = _tables(project, subject) if project is not None and on == "cpu" else {}
    return Question(as_run_on_cuda(named) if on == "cuda" else named, subject, setting, records, tables)


def _pages(project: Project | None, records: Sequence[Record]) -> RuntimePages | None:
    """What the runtime touches beside tensors, as this machine's probes show it, or those of another one."""
    if project is None:
        return None
    own = [record for record in records if record.machine.slug == this_machine().slug]
    bills_of_all = bills_in(project.measurements)
    pages = measured_pages(own, bills_of_all) or measured_pages(records, bills_of_all)
    return pages and pages._replace(threads=usable_cores())


def _tables(project: Project, subject: Subject) -> Tables:
    """This stack's tables of the model's family; a card's allocator rounds each tensor, which they do not."""
    folder = stored.path_of(project.measurements, tabulation.stack(), "", "").parent
    found: dict[TableKey, Table] = {}
    for path in sorted(folder.glob(f"{subject.config.get('model_type')}-*.json")):
        found |= stored.unpacked(stored.load(path))
    return found


def as_json(asked: Question) -> str:
    """The estimate as JSON, alone."""
    (bill,) = _bills(asked, [asked.case], lambda _: None)
    if isinstance(bill, SitegenError):
        raise bill
    estimate = estimated(bill, asked.case, _setting(asked, asked.case, bill))
    return msgspec.json.format(msgspec.json.encode(estimate), indent=2).decode()


def as_text(asked: Question, say: Callable[[str], None]) -> str:
    """The estimate as a person reads it, with what to change first; `say` is told what takes time."""
    offered = [change for change in changes(asked.case, _absent()) if _applies(change, asked)]
    cases = (asked.case, *(change.case for change in offered))
    first, *others = _bills(asked, cases, say)
    if isinstance(first, SitegenError):
        raise first
    now = estimated(first, asked.case, _setting(asked, asked.case, first))
    changed = {
        change: estimated(bill, change.case, _setting(asked, change.case, bill))
        for change, bill in zip(offered, others, strict=True)
        if not isinstance(bill, SitegenError)  # a change that this model does not allow is none to offer
    }
    return estimate_report(now, ranked(now, changed))


def _bills(asked: Question, cases: Sequence[Case], say: Callable[[str], None]) -> list[Bill | SitegenError]:
    """The bill of each case: from a table where one is exact, else traced."""
    config = asked.subject.config
    known = {case: None if has_small_tensors(case, config) else bill_of(case, config, asked.tables) for case in cases}
    rest = [case for case, bill in known.items() if bill is None]
    traced = dict(zip(rest, bills([_request(asked, case) for case in rest], say), strict=True)) if rest else {}
    return [known[case] or traced[case] for case in cases]


def _setting(asked: Question, case: Case, bill: Bill) -> Setting:
    """The setting, with the model's shape and the rows that tell what the case's allocator does here, or elsewhere."""
    rows = rows_of(asked.records, case.allocator)
    own = [row for row in rows if row.machine == this_machine().slug]
    return replace(asked.setting, rows=own or rows, shape=_shape(asked.subject.config, bill))


def _shape(config: dict[str, Any], bill: Bill) -> Shape:
    """The shape of a model whose configuration has the usual names."""
    try:
        return shape_of(config, bill.quantised_parameters, bill.passing_heap_bytes)
    except KeyError:
        return UNKNOWN_SHAPE


def _request(asked: Question, case: Case) -> BillRequest:
    """What to trace; a card's allocator rounds."""
    granularity = ROUNDING_BYTES if asked.setting.device == "cuda" else 1
    return BillRequest(case=case, config=asked.subject.config, granularity_bytes=granularity)


def _applies(change: Change, asked: Question) -> bool:
    """Whether the change means something where the case would run: a card has no malloc."""
    return asked.setting.device == "cpu" or change.case.allocator == asked.case.allocator


def _absent() -> tuple[str, ...]:
    """Methods and optimizers whose package is not installed here."""
    return _NEED_BITSANDBYTES if installed_version("bitsandbytes") is None else ()


def _this_machine() -> Card:
    """This machine's memory, as an entry to be judged like the catalogue's."""
    total_bytes = psutil.virtual_memory().total
    return Card(
        key="this-machine",
        name="this machine",
        aliases=(),
        source="",
        read_on="",
        note="",
        kind="ram",
        nominal_gib=round(total_bytes / GIB_BYTES),
        total_bytes=total_bytes,
        basis="reported",
        reading="",
    )
