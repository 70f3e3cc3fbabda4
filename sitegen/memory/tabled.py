"""The memory bill of a case from the tables of its family: in no time, and exact, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from sitegen.memory.composition import OPTIMIZERS, optimizer_name, polynomial, step_bills
from sitegen.memory.families import FAMILIES
from sitegen.memory.family import Family
from sitegen.memory.polynomials import FLOORS, Dimensions, value
from sitegen.memory.reading import RefusedError, read
from sitegen.records.bill import Bill
from sitegen.records.case import Case
from sitegen.records.table import Coefficients, Table, TableKey

Tables = Mapping[TableKey, Table]

_ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2}
_ADAPTER_ITEM_BYTES: Final = 4  # peft keeps its own weights in float32
_PACKED: Final = "/2}"

MMAP_THRESHOLD_BYTES: Final = 131_072
"""glibc's initial threshold (mallopt(3), M_MMAP_THRESHOLD): smaller blocks come from its heap."""


def key_of(case: Case, family: Family, variant: str, window: int) -> TableKey | None:
    """The table that describes a case exactly; none when an option is beyond all tables.

    Args:
        case: what would run.
        family: of its model.
        variant: of its model's configuration.
        window: the sliding window in tokens, 0 without one.
    """
    if not _plain(case, family):
        return None
    trains = case.mode == "training"
    key = TableKey(
        family=family.name,
        variant=variant,
        mode=case.mode,
        dtype=case.dtype,
        attention=case.attention,
        logits=case.logits,
        one_sequence=case.batch_size == 1,
        beyond_window=_outgrows(case, family, window),
    )
    if not trains or case.method == "full":
        return replace(key, gradient_checkpointing=case.gradient_checkpointing)
    asked = frozenset(case.lora_targets)
    named = next((name for name, targets in family.targets.items() if frozenset(targets) == asked), None)
    if named is None:
        return None
    return replace(
        key,
        method=case.method,
        targets=named,
        double_quant=case.double_quant,
        gradient_checkpointing=case.gradient_checkpointing,
    )


def bill_of(case: Case, config: Mapping[str, Any], tables: Tables) -> Bill | None:
    """The bill of a case; none where no table is exact for it.

    Args:
        case: what would run.
        config: the content of the model's config.json.
        tables: those of the model's family, at least.
    """
    try:
        reading = read(dict(config))
    except RefusedError:
        return None
    family = FAMILIES[reading.family]
    key = None if reading.unsupported else key_of(case, family, reading.variant, reading.dimensions.get("W", 0))
    table = tables.get(key) if key is not None else None
    counted = _full_training(tables, reading.family, reading.variant)
    layers = reading.dimensions["L"]
    if table is None or counted is None or layers < table.depths.smallest:
        return None
    at = {**reading.dimensions, "b": case.batch_size, "s": case.sequence_length, "r": case.lora_rank}
    if (layers - table.depths.smallest) % table.depths.period or _is_tiny(at):
        return None
    phases = step_bills(table, at, case)
    return Bill(
        model_type=reading.family,
        parameters=_elements(counted.gradients, at, _ITEM_BYTES[counted.key.dtype]),
        trainable_parameters=_trainable(case, table, at),
        quantised_parameters=_quantised(table, at),
        weights_bytes=phases[0].components["weights"],
        phases=phases,
        source="polynomial",
    )


def has_small_tensors(case: Case, config: Mapping[str, Any]) -> bool:
    """Whether the keys of a training step are so small that glibc's heap holds them, which only a trace can count.

    See `sitegen.memory.runtime.heap_margin_bytes`; a table knows the sum of the tensors, and none of them apart.
    """
    if case.mode != "training":
        return False
    try:
        at = read(dict(config)).dimensions
    except RefusedError:
        return False
    keys = case.batch_size * case.sequence_length * at.get("K", at["H"]) * at.get("d", at["h"] // at["H"])
    return keys * _ITEM_BYTES.get(case.dtype, 4) < MMAP_THRESHOLD_BYTES


def _plain(case: Case, family: Family) -> bool:
    """Whether tables speak of all that the case asks for."""
    return (
        case.mode != "baseline"
        and (case.mode == "training" or case.method == "full")
        and not (case.padding or case.reentrant or case.modules_to_save)
        and (case.loss, case.mixed_precision) == ("full", "none")
        and case.dtype in _ITEM_BYTES
        and case.attention == family.attention[0]
        and optimizer_name(case) in OPTIMIZERS
        and (case.mode != "generation" or (case.new_tokens > 1 and not family.window))
    )


def _outgrows(case: Case, family: Family, window: int) -> bool:
    """Whether sequences fill the window, where that makes other operations run.

    transformers leaves sdpa's mask out for shorter ones only (`masking_utils._ignore_causal_mask_sdpa`).
    """
    return family.window and family.attention[0] == "sdpa" and 0 < window <= case.sequence_length


def _is_tiny(at: Dimensions) -> bool:
    """Whether a dimension is under what tables keep peaks for."""
    return any(at.get(symbol, floor) < floor for symbol, floor in FLOORS.items())


def _full_training(tables: Tables, family: str, variant: str) -> Table | None:
    """A table in which every parameter has a gradient."""
    return next(
        (
            table
            for key, table in tables.items()
            if (key.family, key.variant, key.mode, key.method) == (family, variant, "training", "full")
        ),
        None,
    )


def _trainable(case: Case, table: Table, at: Dimensions) -> int:
    """Parameters that train."""
    if case.mode != "training":
        return 0
    return _elements(table.gradients, at, _ADAPTER_ITEM_BYTES if case.method != "full" else _ITEM_BYTES[case.dtype])


def _elements(stored: Coefficients, at: Dimensions, item_bytes: int) -> int:
    """The elements of tensors that weigh as much."""
    return value(polynomial(stored), at) // item_bytes


def _quantised(table: Table, at: Dimensions) -> int:
    """Parameters that are packed two a byte."""
    if table.key.method != "qlora":
        return 0
    peak = next(iter(table.phases.values()))[0]
    packed = {
        part: one for part, one in peak.components["weights"].items() if _PACKED in part and len(part) > len("{d/2}")
    }
    return 2 * value(polynomial(packed), at)
