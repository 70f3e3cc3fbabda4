"""Read a config.json: which family, which variant of it, which dimensions. The page's JavaScript does the very same.

Every step is decided by the data of `sitegen.memory.families`; `estimator-core.js` follows it line by line, and a test
in a browser holds both to the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from sitegen.errors import ConfigurationError
from sitegen.memory.families import ALIASES, FAMILIES
from sitegen.memory.family import MAXIMUM_DIMENSION, MAXIMUM_LAYERS, WIDEST_HEAD, Family, Flag, Reading, Rule
from sitegen.memory.polynomials import FLOORS

_ABSENT: Final = object()
_VISION: Final = ("vision_config", "image_size", "patch_size")


class RefusedError(ConfigurationError):
    """A configuration that gives no dimensions: `code` and `field` say why and where, for the page to put in French."""

    def __init__(self, code: str, field: str, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.code = code
        self.field = field


def read(config: object) -> Reading:
    """What a configuration says.

    Args:
        config: the content of a config.json.

    Raises:
        RefusedError: it is no object, of a family that no table describes, has no text part, or lacks a dimension.
    """
    if not isinstance(config, dict):
        raise RefusedError("not-an-object", "", "config.json holds no JSON object.", "Give the model's config.json.")
    text, notes = _text_part(config)
    family = _family(text)
    dimensions: dict[str, int] = {}
    for rule in family.rules:
        dimensions[rule.symbol] = _value(rule, text, dimensions)
    _check(dimensions)
    flags = [_flag(flag, text, config) for flag in family.flags]
    wide = ["head_dim"] if dimensions.get("d", 0) > WIDEST_HEAD else []
    unsupported = [*_unsupported(family, text), *wide, *(name for name, part in flags if part is None)]
    variant = "-".join((*(part or "other" for _, part in flags), *_heads(family, dimensions)))
    if text.get("dtype") and text.get("torch_dtype") and text["dtype"] != text["torch_dtype"]:
        notes.append("dtype-conflict")
    return Reading(
        family=family.name,
        variant=variant,
        dimensions=dimensions,
        notes=tuple(notes),
        unsupported=tuple(unsupported),
    )


def _text_part(config: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The part that describes the language model, and whether it was nested."""
    nested = config.get("text_config")
    if isinstance(nested, dict):
        ties = [part.get("tie_word_embeddings") for part in (config, nested)]
        if None not in ties and ties[0] != ties[1]:
            raise RefusedError(
                "contradictory-tie",
                "tie_word_embeddings",
                "config.json contradicts itself: tie_word_embeddings is not the same in text_config.",
                "Keep one of the two.",
            )
        inherited: dict[str, Any] = {
            key: config[key] for key in ("tie_word_embeddings", "torch_dtype", "dtype") if key in config
        }
        return inherited | nested, ["nested-text-config"]
    if any(key in config for key in _VISION) and "vocab_size" not in config:
        raise RefusedError(
            "vision-only", "model_type", "This model reads no text.", "Give a language model's config.json."
        )
    return config, []


def _family(config: dict[str, Any]) -> Family:
    """The family that the configuration names."""
    name = config.get("model_type")
    if not isinstance(name, str):
        raise RefusedError("missing-field", "model_type", "config.json names no model_type.", "Give the whole file.")
    family = FAMILIES.get(ALIASES.get(name, name))
    if family is None:
        raise RefusedError(
            "unknown-family", "model_type", f"No table describes the family {name!r}.", "Trace it instead."
        )
    return family


def _value(rule: Rule, config: dict[str, Any], known: Mapping[str, int]) -> int:
    """The value of one symbol."""
    for key in rule.keys:
        given = config.get(key)
        if given is not None:
            return _whole(key, given)
    if rule.numerator:
        whole = known[rule.numerator] * rule.factor // (known[rule.denominator] if rule.denominator else 1)
        return int(whole * _share(rule, config)) if rule.share_keys else whole
    if rule.constant is None:
        raise RefusedError("missing-field", rule.keys[0], f"config.json lacks {rule.keys[0]}.", "Add it.")
    return rule.constant


def _share(rule: Rule, config: dict[str, Any]) -> float:
    """The share of a head's dimensions that turn."""
    places = (config, config.get("rope_parameters"))
    for place, key in ((place, key) for place in places if isinstance(place, dict) for key in rule.share_keys):
        given = place.get(key)
        if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given <= 1:
            return float(given)
    return rule.share


def _whole(key: str, given: object) -> int:
    """A dimension: a whole number, positive and within reason."""
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= MAXIMUM_DIMENSION:
        raise RefusedError("bad-field", key, f"config.json: {key} is {given!r}, no dimension.", "Correct it.")
    return given


def _check(dimensions: dict[str, int]) -> None:
    """Refuse more layers than any model has, and heads that do not divide."""
    if dimensions["L"] > MAXIMUM_LAYERS:
        raise RefusedError(
            "too-many-layers", "num_hidden_layers", f"{dimensions['L']} layers are no model.", "Correct it."
        )
    groups = dimensions.get("K", dimensions["H"])
    if dimensions["H"] % groups:
        raise RefusedError(
            "bad-field", "num_key_value_heads", f"{groups} groups cannot share {dimensions['H']} heads.", "Correct it."
        )


def _flag(flag: Flag, text: dict[str, Any], whole: dict[str, Any]) -> tuple[str, str | None]:
    """A key and the part of the variant's name that its value gives; none for a value that no table knows."""
    values = [text.get(key, whole.get(key)) for key in flag.keys]
    values = [flag.default if one is None else one for one in values]
    names = {name for one in values for known, name in flag.names if one == known}
    unknown = len(names) != 1 or any(all(one != known for known, _ in flag.names) for one in values)
    return flag.keys[0], None if unknown else names.pop()


def _unsupported(family: Family, config: dict[str, Any]) -> list[str]:
    """Keys whose value no table of the family knows."""
    return [
        one.key for one in family.requirements if config.get(one.key) is not None and config[one.key] not in one.values
    ]


def _heads(family: Family, dimensions: dict[str, int]) -> tuple[str, ...]:
    """Whether heads share keys and values: the part of the variant's name."""
    if not family.heads:
        return ()
    if dimensions["K"] == dimensions["H"]:
        return ("mha",)
    return ("mqa",) if dimensions["K"] == 1 else ("gqa",)


def as_json() -> bytes:
    """The data of all families, as the page gets them."""
    return msgspec.json.encode(
        {
            "families": FAMILIES,
            "aliases": ALIASES,
            "maximum_layers": MAXIMUM_LAYERS,
            "maximum_dimension": MAXIMUM_DIMENSION,
            "widest_head": WIDEST_HEAD,
            "floors": FLOORS,
        }
    )
