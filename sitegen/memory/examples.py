"""Models to trace: small ones of a family and variant, whose dimensions are chosen so that formulas can be read off.

Nothing is allocated when they are traced, so a dimension may be any number; only the heads divide the hidden size.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from sitegen.memory.families import FAMILIES
from sitegen.memory.family import WIDEST_HEAD, Family, Flag
from sitegen.memory.reading import read
from sitegen.records.case import Case
from sitegen.records.table import TableKey

_RATIOS: Final = {
    "b": (3, 5),
    "K": (2, 3),
    "group": (5, 7),
    "s": (22, 26),
    "R": (26, 34),
    "h": (17, 19),
    "i": (19, 23),
    "V": (23 * 16, 29 * 16),
    "r": (29, 31),
    "E": (31, 37),
    "m": (37, 41),
    "d": (41, 43),
    "k": (2, 11),
    "P": (43 * 8, 47 * 8),
}
"""A value in either model. No product of powers of these ratios is 1; each has as many prime factors above as below,
which the ratio of a sum (``group + 2``, ``s + 1``) has not, so that no sum is taken for a product."""

_BLOCKS: Final = 128
"""Two widths that are multiples of it make whole blocks of 64 × 256 weights: 4-bit formulas are read off such ones."""

_WIDE, _NARROW = 1 << 20, 4
"""A sliding window that no sequence outgrows, and one that all do."""


class Example(NamedTuple):
    """A configuration, its dimensions under their symbols, and the case to trace with it."""

    config: dict[str, Any]
    dimensions: dict[str, int]
    case: Case


def signature_example(key: TableKey, which: int, layers: int) -> Example:
    """One of the two models that formulas are read off: `which` is 0 or 1."""
    values = {symbol: pair[which] for symbol, pair in _RATIOS.items()}
    return _example(key, values, layers, _BLOCKS if key.method == "qlora" else 1)


def random_example(key: TableKey, layers: int, seed: int) -> Example:
    """A model of the family with dimensions that nobody chose."""
    draw = random.Random(f"{seed} {key}")  # noqa: S311 - no secret depends on it
    values = {symbol: draw.randint(min(pair), 3 * max(pair)) for symbol, pair in _RATIOS.items()}
    experts = max(values["E"], 2)
    return _example(
        key,
        values
        | {
            "s": draw.randint(17, 90),
            "b": draw.randint(2, 9),
            "K": draw.randint(2, 4),
            "group": draw.randint(2, 5),
            "k": draw.randint(2, min(8, experts)),
            "R": 2 * draw.randint(4, 16),
            "P": draw.randint(100, 600),
            "d": draw.randint(4, WIDEST_HEAD // 2),
        },
        layers,
    )


def _example(key: TableKey, values: Mapping[str, int], layers: int, blocks: int = 1) -> Example:
    """The model with these values, as far as its family has these symbols; its widths make whole blocks."""
    family = FAMILIES[key.family]
    config = _configuration(key, family, values, layers, blocks)
    batch_size = 1 if key.one_sequence else values["b"]
    case = Case(
        mode=key.mode,
        method=key.method,
        dtype=key.dtype,
        batch_size=batch_size,
        sequence_length=values["s"],
        gradient_checkpointing=key.gradient_checkpointing,
        attention=key.attention,
        double_quant=key.double_quant,
        logits=key.logits,
    )
    if key.mode == "generation":
        case = replace(case, new_tokens=2)
    if key.targets:
        case = replace(case, lora_rank=values["r"], lora_targets=family.targets[key.targets])
    symbols = read(config).dimensions | {"b": batch_size, "s": values["s"]}
    return Example(config, symbols | ({"r": values["r"]} if key.targets else {}), case)


def _configuration(
    key: TableKey, family: Family, values: Mapping[str, int], layers: int, blocks: int
) -> dict[str, Any]:
    """A config.json of the variant."""
    heads_make_width = any(rule.symbol == "d" and not rule.keys for rule in family.rules)
    groups = {"mqa": 1, "mha": 2 * values["K"]}.get(key.variant.rsplit("-", 1)[-1], values["K"])
    groups *= blocks if heads_make_width else 1
    heads = groups * values["group"] if "mha" not in key.variant else groups
    widths = {"K": groups, "H": heads, "L": layers, "d": 2 * values["d"]}
    widths["h"] = heads * (widths["d"] if heads_make_width else 8 * blocks * blocks * values["h"])
    widths |= {symbol: 8 * blocks * values[symbol] for symbol in "im"}
    widths["W"] = _NARROW if key.beyond_window else _WIDE
    known = dict(values) | widths
    given: dict[str, Any] = {rule.keys[0]: known[rule.symbol] for rule in family.rules if rule.keys}
    for rule in family.rules:
        if rule.share_keys:
            given[rule.share_keys[0]] = (known[rule.symbol] + 0.5) * heads / widths["h"]
    return {
        "model_type": family.name,
        **({} if "P" in {rule.symbol for rule in family.rules} else {"max_position_embeddings": _WIDE}),
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        **family.fixed,
        **_flags(family.flags, key.variant),
        **given,
    }


def _flags(flags: tuple[Flag, ...], variant: str) -> dict[str, Any]:
    """The keys that make the variant."""
    parts = variant.split("-")
    return {key: value for flag in flags for value, name in flag.names if name in parts for key in flag.keys}
