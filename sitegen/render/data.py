"""The files that readers take away: each record, all of them as one table, the schema, the facts of the prose."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from sitegen.records.model import PHASES, Record, json_schema
from sitegen.records.store import encode

CSV_PATH: Final = "donnees/mesures.csv"
SCHEMA_PATH: Final = "donnees/schema.json"
FACTS_PATH: Final = "donnees/faits.json"

_PHASES: Final = tuple(dict.fromkeys(name for names in PHASES.values() for name in names))
_COMPONENTS: Final = ("weights", "gradients", "optimizer_state")


def publish(site: Path, records: Iterable[Record], facts: dict[str, str]) -> None:
    """Write every file of data under `site`."""
    records = list(records)
    (site / "donnees").mkdir(exist_ok=True)
    (site / CSV_PATH).write_text(as_csv(records), "utf-8", newline="")
    (site / SCHEMA_PATH).write_text(_json(json_schema()), "utf-8")
    (site / FACTS_PATH).write_text(_json(facts), "utf-8")
    for record in records:
        path = site / "mesures" / f"{record.key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(record))


def as_csv(records: Iterable[Record]) -> str:
    """One line a record, whole bytes and nanoseconds; what is not known is an empty field, never 0."""
    rows = [_row(record) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _row(record: Record) -> dict[str, Any]:
    """The columns of one record: the machine, the versions, the case, the summary."""
    row: dict[str, Any] = {
        "machine": record.machine.slug,
        "environment": record.environment.id,
        "case_id": record.case_id,
        "status": record.status,
        "reason": record.reason,
        "measured_at": record.samples[-1].measured_at if record.samples else None,
        "protocol": record.protocol,
    }
    for name, value in record.case.options().items():
        row[name] = (
            " ".join(value) if isinstance(value, tuple) else str(value).lower() if isinstance(value, bool) else value
        )
    return row | _figures(record)


def _figures(record: Record) -> dict[str, Any]:
    """The summary, flattened."""
    summary, components = record.summary, record.summary.component_bytes
    steps = (*summary.step_peak_bytes, None, None)[:2]
    durations = (*summary.step_duration_ns, None, None)[:2]
    return {
        "peak_bytes": summary.peak_bytes,
        "load_peak_bytes": summary.load_peak_bytes,
        "baseline_bytes": summary.baseline_bytes,
        **{f"step_{i}_peak_bytes": value for i, value in enumerate(steps, 1)},
        **{f"{name}_peak_bytes": summary.phase_peak_bytes.get(name) for name in _PHASES},
        **{f"step_{i}_duration_ns": value for i, value in enumerate(durations, 1)},
        **{f"{name}_bytes": getattr(components, name, None) for name in _COMPONENTS},
        "parameters": summary.parameters,
        "trainable_parameters": summary.trainable_parameters,
        "samples": summary.samples,
    }


def _json(value: object) -> str:
    """Readable and stable."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
