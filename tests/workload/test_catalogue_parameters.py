"""The facts of the catalogue build the models that they name: each is built without memory and counted."""

from __future__ import annotations

from typing import Any, Final

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, Gemma3Config, Gemma3ForConditionalGeneration

from sitegen.memory.catalogue import CatalogueModel, model, models

# The image encoder of Gemma 3 (SigLIP, 896 × 896 pixels in patches of 14), as the config.json of google/gemma-3-4b-it.
IMAGE_ENCODER: Final[dict[str, Any]] = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "image_size": 896,
    "patch_size": 14,
    "vision_use_head": False,
}
# Keys that are read though the configuration's class does not declare them.
READ_ALL_THE_SAME: Final = ("head_dim", "sliding_window_pattern", "rotary_pct", "partial_rotary_factor")


def counted(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def built(entry: CatalogueModel) -> Any:
    config = AutoConfig.for_model(**entry.config)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


@pytest.mark.parametrize("entry", models(), ids=lambda entry: entry.key)
def test_a_model_built_from_the_facts_has_the_count_that_is_written(entry: CatalogueModel) -> None:
    network = built(entry)
    assert counted(network) == entry.parameters
    assert network.config.model_type == entry.config["model_type"]
    # A key that transformers does not know would be kept and change nothing.
    known = {*type(network.config)().to_dict(), *network.config.attribute_map, *READ_ALL_THE_SAME}
    assert set(entry.config) - known == set()


@pytest.mark.parametrize(
    ("key", "published"),  # safetensors.total of google/gemma-3-…-it
    [("gemma-3-4b", 4_300_079_472), ("gemma-3-12b", 12_187_325_040), ("gemma-3-27b", 27_432_406_640)],
)
def test_gemma_3_with_its_image_encoder_has_the_published_count(key: str, published: int) -> None:
    config = Gemma3Config(text_config=dict(model(key).config), vision_config=IMAGE_ENCODER)
    with torch.device("meta"):
        assert counted(Gemma3ForConditionalGeneration(config)) == published


def test_one_layer_in_six_of_gemma_3_sees_the_whole_text() -> None:
    # Gemma 3 report (arXiv 2503.19786), section 2: five local layers for each global one.
    layers = AutoConfig.for_model(**model("gemma-3-4b").config).layer_types
    assert layers[:6] == ["sliding_attention"] * 5 + ["full_attention"]


def test_one_layer_in_four_of_smollm3_has_no_rotary_position() -> None:
    assert AutoConfig.for_model(**model("smollm3-3b").config).no_rope_layers[:4] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("key", "rotated"),
    [("phi-4-mini", 0.75), ("pythia-70m", 0.25)],  # the shares of a head that their config.json say
)
def test_a_partial_rotation_is_kept(key: str, rotated: float) -> None:
    assert AutoConfig.for_model(**model(key).config).rope_parameters["partial_rotary_factor"] == rotated
