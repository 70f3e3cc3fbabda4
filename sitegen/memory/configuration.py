"""Judge a pasted config.json before anything is built from it: what it describes, or why it describes nothing.

Pure: a file's bytes or a JSON object in, the part that is a causal language model out, with what was done to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sitegen.errors import ConfigurationError
from sitegen.units import MB_BYTES, readable

LARGEST_BYTES: Final = 2 * MB_BYTES
"""The largest published configurations have some tens of kB; whatever is longer is no configuration."""

LARGEST: Final[dict[str, int]] = {
    "num_hidden_layers": 1024,
    "n_layer": 1024,
    "hidden_size": 1 << 20,
    "n_embd": 1 << 20,
    "intermediate_size": 1 << 22,
    "vocab_size": 1 << 24,
    "num_attention_heads": 1 << 14,
    "num_key_value_heads": 1 << 14,
    "head_dim": 1 << 14,
    "num_local_experts": 1 << 14,
    "num_experts": 1 << 14,
}
"""Bounds that no model comes near (126 layers, 16 384 wide at most so far): beyond them a figure is a slip."""

_MAY_BE_NONE_OF: Final = frozenset({"num_local_experts", "num_experts"})
"""Counts that are 0 in a model without experts."""

_TEXT: Final = "text_config"
_TIE: Final = "tie_word_embeddings"
_VISION_TYPES: Final = frozenset(
    {"clip", "clip_vision_model", "siglip", "siglip_vision_model", "vit", "dinov2", "swin", "convnext", "deit", "beit"}
)


class Judged(NamedTuple):
    """A language model's configuration, and what a reader should know of it, a sentence each."""

    config: dict[str, Any]
    notes: tuple[str, ...]


def parsed(content: bytes, name: str) -> dict[str, Any]:
    """The JSON object of a file.

    Raises:
        ConfigurationError: too long to be a configuration (nothing is parsed then), not JSON, or no object.
    """
    if len(content) > LARGEST_BYTES:
        raise ConfigurationError(
            f"{name} holds {readable(len(content))}; a configuration has some kB.", "Give the model's config.json."
        )
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name} is not valid JSON ({error}).", "Correct the file.") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"{name} does not hold a JSON object.", "Give the model's config.json.")
    return value


def judged(config: Mapping[str, Any], name: str) -> Judged:
    """The language model that a configuration describes.

    Raises:
        ConfigurationError: no model_type, an image model, a figure beyond any model, a contradiction, or weights that
            are quantised already.
    """
    text, notes = _text_part(config, name)
    if not isinstance(text.get("model_type"), str):
        raise ConfigurationError(
            f"{name} has no model_type: it does not say which architecture it describes.", "Add the key."
        )
    if text["model_type"] in _VISION_TYPES or ("vision_config" in config and _TEXT not in config):
        raise ConfigurationError(
            f"{name} describes an image model ({text['model_type']}): it generates no text.",
            "Give the configuration of a causal language model.",
        )
    for part in (config, text):
        _require_one_dtype(part, name)
        _require_unquantised(part, name)
    _require_bounded(text, name)
    return Judged(text, notes)


def _text_part(config: Mapping[str, Any], name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The configuration itself, or the language model inside that of a larger one."""
    inner = config.get(_TEXT)
    if inner is None:
        return dict(config), ()
    if not isinstance(inner, dict):
        raise ConfigurationError(f"{name}: {_TEXT} does not hold a JSON object.", "Correct the key.")
    outer_tie, inner_tie = config.get(_TIE), inner.get(_TIE)
    if None not in (outer_tie, inner_tie) and outer_tie != inner_tie:
        raise ConfigurationError(
            f"{name} contradicts itself: {_TIE} is {outer_tie} and, in {_TEXT}, {inner_tie}.", "Keep one of the two."
        )
    tie = {} if outer_tie is None else {_TIE: outer_tie}
    note = f"Only the language model of {config.get('model_type', name)} is counted ({_TEXT}); its other parts are not."
    return {**inner, **tie}, (note,)


def _require_one_dtype(config: Mapping[str, Any], name: str) -> None:
    """Refuse a configuration whose old and new spelling of the dtype disagree."""
    old, new = config.get("torch_dtype"), config.get("dtype")
    if None not in (old, new) and old != new:
        raise ConfigurationError(
            f"{name} gives two dtypes: torch_dtype is {old!r} and dtype is {new!r}.", "Keep one of the two keys."
        )


def _require_unquantised(config: Mapping[str, Any], name: str) -> None:
    """Refuse weights that are quantised already: another model, to this program."""
    if config.get("quantization_config") is not None:
        raise ConfigurationError(
            f"{name} describes weights that are already quantised (quantization_config).",
            "Give the original model's; --method qlora quantises it itself.",
        )


def _require_bounded(config: Mapping[str, Any], name: str) -> None:
    """Refuse figures that would keep this machine busy for nothing, and those that no model can have."""
    for key, largest in LARGEST.items():
        value = config.get(key)
        if not isinstance(value, int | float):
            continue
        if value > largest:
            raise ConfigurationError(f"{name} has {key} = {value}; no model has over {largest}.", "Correct the key.")
        if value < 1 and key not in _MAY_BE_NONE_OF:
            raise ConfigurationError(
                f"{name} has {value} as {key}.", "Complete it: a whole number, 1 or more, is expected."
            )
