"""A pasted config.json is used, or refused with a sentence that says why; nothing slow happens first."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from sitegen.errors import ConfigurationError
from sitegen.memory.configuration import LARGEST_BYTES, judged, parsed

LLAMA: Final[dict[str, Any]] = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2}
GEMMA_TEXT: Final[dict[str, Any]] = {"model_type": "gemma3_text", "hidden_size": 64}


def test_a_configuration_is_used_as_it_is() -> None:
    assert judged(parsed(json.dumps(LLAMA).encode(), "config.json"), "config.json") == (LLAMA, ())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{oops", "not valid JSON"),
        (b"[1]", "does not hold a JSON object"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b" " * (LARGEST_BYTES + 1), "holds 2 MB"),
    ],
)
def test_what_is_no_json_object_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        parsed(content, "config.json")


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"hidden_size": 64}, "has no model_type"),
        (LLAMA | {"torch_dtype": "float16", "dtype": "bfloat16"}, "two dtypes"),
        (LLAMA | {"num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000"),
        (LLAMA | {"vocab_size": 1e12}, "vocab_size"),
        (LLAMA | {"quantization_config": {"quant_method": "gptq"}}, "already quantised"),
        ({"model_type": "siglip", "vision_config": {}}, "image model"),
        ({"model_type": "vit", "hidden_size": 64}, "image model"),
        ({"model_type": "gemma3", "text_config": 3}, "text_config does not hold"),
        (
            {"model_type": "gemma3", "tie_word_embeddings": True, "text_config": {"tie_word_embeddings": False}},
            "contradicts itself",
        ),
        ({"model_type": "gemma3", "text_config": GEMMA_TEXT | {"torch_dtype": "a", "dtype": "b"}}, "two dtypes"),
    ],
)
def test_a_configuration_that_describes_no_language_model_is_refused(config: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        judged(config, "config.json")
    assert caught.value.remedy


def test_the_language_model_inside_a_larger_one_is_used_and_said() -> None:
    found = judged({"model_type": "gemma3", "tie_word_embeddings": True, "text_config": GEMMA_TEXT}, "config.json")
    assert found.config == GEMMA_TEXT | {"tie_word_embeddings": True}
    assert "Only the language model of gemma3 is counted" in found.notes[0]


def test_the_same_dtype_twice_is_no_contradiction() -> None:
    assert judged(LLAMA | {"torch_dtype": "float16", "dtype": "float16"}, "config.json").notes == ()


@pytest.mark.parametrize("key", ["num_attention_heads", "num_key_value_heads", "head_dim", "num_hidden_layers"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_count_that_no_model_can_have_is_named(key: str, value: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"has {value} as {key}"):
        judged(LLAMA | {key: value}, "config.json")


def test_a_model_may_have_no_experts() -> None:
    assert judged(LLAMA | {"num_local_experts": 0}, "config.json").config["num_local_experts"] == 0
