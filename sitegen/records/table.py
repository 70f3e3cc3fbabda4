"""What is kept of the traces of a family: for any dimensions, what lives at each operation that can be a peak.

A table belongs to a stack (versions of the libraries and of the workload's code), never to a machine. Its polynomials
are those of `sitegen.memory.polynomials`; each coefficient is a whole number, or a fraction written ``"1/4"``.
"""

from __future__ import annotations

from typing import Final

import msgspec

from sitegen.records.case import Attention, Dtype, Logits, Method, Mode

Coefficients = dict[str, int | str]
"""Monomial -> coefficient, in bytes."""

TABLE_PROTOCOL: Final = 1


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every type here: immutable, keyword only, unknown keys refused."""


class TableKey(_Frozen, frozen=True):
    """Which cases a table describes.

    `family` is the configuration's model_type; `variant` names what else of a configuration decides the operations;
    `targets` is a named set of LoRA targets, empty without an adapter; `one_sequence` is the batch of one, which runs
    other operations; `beyond_window` says that sequences fill the model's sliding window.
    """

    family: str
    variant: str
    mode: Mode
    method: Method = "full"
    targets: str = ""
    dtype: Dtype = "float32"
    gradient_checkpointing: bool = False
    attention: Attention = "sdpa"
    logits: Logits = "all"
    double_quant: bool = False
    one_sequence: bool = False
    beyond_window: bool = False


class Peak(_Frozen, frozen=True):
    """What lives at one operation that can be the peak of its phase, by component (the fields of `LiveComponents`)."""

    components: dict[str, Coefficients]


class Depths(_Frozen, frozen=True):
    """Numbers of layers that a table describes: `smallest`, and every `period` more."""

    smallest: int
    period: int


class Table(_Frozen, frozen=True):
    """The phases of a case, by name.

    `forward`, `backward` and `optimizer_step` are those of the first step, before any gradient or state exists;
    `backward_again` and `optimizer_step_again` those of a later step, with the gradients kept. `gradients` and
    `optimizer_state` are what all of them weigh once they exist; a later forward is the first one and both of these,
    or `forward_again` and both where the first one changes the model (bitsandbytes converts biases for good).
    """

    key: TableKey
    depths: Depths
    phases: dict[str, tuple[Peak, ...]]
    gradients: Coefficients
    optimizer_state: Coefficients


class StoredPhase(_Frozen, frozen=True):
    """The peaks of a phase: of each component, the position of its polynomial in the file's list."""

    name: str
    peaks: tuple[dict[str, int], ...]


class StoredTable(_Frozen, frozen=True):
    """A table whose polynomials are positions in the file's list: most of them come many times."""

    key: TableKey
    depths: Depths
    phases: tuple[StoredPhase, ...]
    gradients: int
    optimizer_state: int


class StoredTables(_Frozen, frozen=True):
    """The tables of one variant of a family, as one file; `content_sha256` seals it.

    `refused` are the options of which no table could be made, each with its reason.
    """

    protocol: int
    stack: dict[str, str]
    family: str
    variant: str
    polynomials: tuple[Coefficients, ...]
    tables: tuple[StoredTable, ...]
    refused: tuple[tuple[TableKey, str], ...] = ()
    content_sha256: str = ""


class TableReply(_Frozen, frozen=True):
    """A table, or why there is none: the error's message, its remedy and its class."""

    table: Table | None = None
    error: str = ""
    remedy: str = ""
    kind: str = ""
