"""A config.json gives dimensions, a variant, or a refusal that says where."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sitegen.memory.catalogue import models
from sitegen.memory.families import FAMILIES
from sitegen.memory.reading import RefusedError, read

LLAMA: Final[dict[str, Any]] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def test_dimensions_and_what_follows_from_them() -> None:
    reading = read(LLAMA)
    assert reading.family == "llama"
    assert reading.variant == "untied-gqa"
    assert reading.dimensions == {"L": 32, "h": 4096, "V": 128256, "H": 32, "i": 14336, "K": 8, "d": 128}


@pytest.mark.parametrize(
    ("changed", "variant"),
    [
        ({"tie_word_embeddings": True}, "tied-gqa"),
        ({"num_key_value_heads": None}, "untied-mha"),
        ({"num_key_value_heads": 1}, "untied-mqa"),
    ],
)
def test_what_decides_the_operations_makes_the_variant(changed: dict[str, Any], variant: str) -> None:
    assert read(LLAMA | changed).variant == variant


def test_rotary_dimensions_are_a_share_of_a_head() -> None:
    # Pythia-70m: heads of 64, rotary_pct 0.25 (EleutherAI/pythia-70m, config.json).
    pythia = {
        "model_type": "gpt_neox",
        "hidden_size": 512,
        "num_attention_heads": 8,
        "num_hidden_layers": 6,
        "intermediate_size": 2048,
        "vocab_size": 50304,
        "rotary_pct": 0.25,
    }
    assert read(pythia).dimensions["R"] == 16
    assert read(pythia | {"rotary_pct": 1.0}).dimensions["R"] == 64


@pytest.mark.parametrize(
    ("config", "code", "field"),
    [
        ([], "not-an-object", ""),
        ({}, "missing-field", "model_type"),
        (LLAMA | {"model_type": "bert"}, "unknown-family", "model_type"),
        (LLAMA | {"hidden_size": None}, "missing-field", "hidden_size"),
        (LLAMA | {"hidden_size": -1}, "bad-field", "hidden_size"),
        (LLAMA | {"vocab_size": "128256"}, "bad-field", "vocab_size"),
        (LLAMA | {"num_hidden_layers": True}, "bad-field", "num_hidden_layers"),
        (LLAMA | {"num_hidden_layers": 10**9}, "bad-field", "num_hidden_layers"),
        (LLAMA | {"num_hidden_layers": 1001}, "too-many-layers", "num_hidden_layers"),
        (LLAMA | {"num_key_value_heads": 5}, "bad-field", "num_key_value_heads"),
        ({"model_type": "clip", "vision_config": {}}, "vision-only", "model_type"),
    ],
)
def test_a_refusal_names_its_field(config: object, code: str, field: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read(config)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_notes_and_what_no_table_knows() -> None:
    assert read({"model_type": "gemma3", "text_config": LLAMA}).notes == ("nested-text-config",)
    assert read(LLAMA | {"dtype": "float32", "torch_dtype": "bfloat16"}).notes == ("dtype-conflict",)
    assert read(LLAMA | {"attention_bias": True}).unsupported == ("attention_bias",)


def test_every_model_of_the_catalogue_has_a_family_and_nearly_all_a_variant() -> None:
    readings = {model.key: read(model.config) for model in models()}
    without = {key for key, one in readings.items() if one.variant not in FAMILIES[one.family].variants}
    assert without == {"phi-4-mini"}  # tied embeddings and partial rotation: traced on the command line
