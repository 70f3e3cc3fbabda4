"""What is known of a family of models: how a config.json gives dimensions, and what decides which table describes it.

All of it is data, for two readers: Python here, and the page's JavaScript, which gets it as JSON.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

MAXIMUM_LAYERS: Final = 1000
MAXIMUM_DIMENSION: Final = 10**8
WIDEST_HEAD: Final = 256
"""Wider heads make transformers repeat keys and values before sdpa: other operations, of which no table speaks."""


class _Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every type here: immutable, keyword only, unknown keys refused."""


class Rule(_Frozen, frozen=True):
    """Where a symbol's value is: under one of `keys`, else `numerator × factor / denominator`, else `constant`.

    `factor` may be the name of a key of the configuration, a share (of rotary dimensions) with `share` for default.
    """

    symbol: str
    keys: tuple[str, ...] = ()
    numerator: str = ""
    denominator: str = ""
    factor: int = 1
    share_keys: tuple[str, ...] = ()
    share: float = 1.0
    constant: int | None = None


class Flag(_Frozen, frozen=True):
    """A key that decides which operations run: each of its values has a name, a part of the variant's."""

    keys: tuple[str, ...]
    default: Any
    names: tuple[tuple[Any, str], ...]


class Requirement(_Frozen, frozen=True):
    """A key that tables are silent about unless it is absent, null, or has one of these values."""

    key: str
    values: tuple[Any, ...]


class Family(_Frozen, frozen=True):
    """One architecture of transformers.

    `attention` lists the implementations, the default first. `targets` are the named sets of LoRA targets that tables
    are made for. `sums` are sizes of its tensors that are sums, in symbols. `pattern` is the number of layers after
    which their types repeat; `alike` says that layers of all types run the same operations while no sequence outgrows
    a window. `fixed` are the other keys of the configurations that are traced.
    """

    name: str
    rules: tuple[Rule, ...]
    targets: dict[str, tuple[str, ...]]
    attention: tuple[Literal["sdpa", "eager"], ...] = ("sdpa", "eager")
    flags: tuple[Flag, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    sums: tuple[dict[str, int], ...] = ()
    heads: bool = True
    window: bool = False
    pattern: int = 1
    alike: bool = True
    fixed: dict[str, Any] = {}
    variants: tuple[str, ...] = ()


class Reading(_Frozen, frozen=True):
    """What a configuration says: its family, the variant of it, the dimensions, and what no table speaks of.

    `notes` are codes: ``nested-text-config``, ``dtype-conflict``; `unsupported` names the keys whose value no table of
    the family knows.
    """

    family: str
    variant: str
    dimensions: dict[str, int]
    notes: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
