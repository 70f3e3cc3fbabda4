"""What this project's probes show of the runtime's pages: records of the probe models, each less its traced bill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any, Final

from sitegen.memory.runtime import RuntimePages, probe_of, runtime_pages, shape_of
from sitegen.records.bill import Bill
from sitegen.records.model import Record

PROBES: Final = "synthetic-probe"
"""How the names of the models begin on which these pages are measured, and nothing else."""


def configuration(model: str) -> dict[str, Any] | None:
    """The configuration of a model that comes with the program; none for another."""
    place = resources.files("sitegen") / "workload" / "configurations" / f"{model}.json"
    if not place.is_file():
        return None
    content: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return content


def is_probe(record: Record) -> bool:
    """Whether a record is a probe's: such rows validate nothing."""
    return record.case.model.startswith(PROBES)


def measured_pages(records: Iterable[Record], bills: Mapping[str, Bill]) -> RuntimePages | None:
    """The runtime's pages as the probes of one environment show them.

    Args:
        records: of one machine and environment.
        bills: traced bills, by case id.

    Returns:
        ``None`` when nothing was probed.
    """
    probes = []
    for record in records:
        config = configuration(record.case.model)
        bill = bills.get(record.case_id)
        if is_probe(record) and record.status == "ok" and record.case.allocator == "fixed" and config and bill:
            last = max(phase.step for phase in bill.phases)
            traced = {phase.name: phase.peak_bytes for phase in bill.phases if phase.step == last}
            probes.append(
                probe_of(record, shape_of(config, bill.quantised_parameters, bill.passing_heap_bytes), traced)
            )
    return runtime_pages(probes) if probes else None
