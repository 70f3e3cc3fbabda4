"""Every family takes the same path under a trace as in a run: routing, windows, fused projections…"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from msgspec.structs import replace
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from sitegen.records.case import Case
from sitegen.workload import models
from sitegen.workload.trace import traced, watched

_COMMON: Final = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_EXPERTS: Final = {"num_experts_per_tok": 2, "num_local_experts": 4, "num_experts": 4, "moe_intermediate_size": 32}
_WINDOW: Final = {"sliding_window": 16, "head_dim": 32}  # shorter than the sequences
FAMILIES: Final[dict[str, dict[str, Any]]] = {
    "mistral": {"sliding_window": 16, "tie_word_embeddings": False},
    "qwen2": {},
    "qwen3": {"head_dim": 32},
    "gemma2": _WINDOW,
    "gemma3_text": _WINDOW | {"vocab_size": 4096},
    "phi3": {},
    "olmo2": {},
    "smollm3": {},
    "granite": {},
    "mixtral": _EXPERTS,
    "qwen3_moe": _EXPERTS | {"head_dim": 16},
    "gpt_oss": _EXPERTS | _WINDOW,
    "gpt2": {"n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": 256},
    "gpt_neox": {"num_key_value_heads": 4},
}
_WITHOUT_SDPA: Final = ("gemma2", "gpt_oss")

TRAINING: Final = Case(batch_size=2, sequence_length=32)
CASES: Final = {
    "training": TRAINING,
    "bfloat16, checkpointing": replace(TRAINING, dtype="bfloat16", gradient_checkpointing=True, steps=1),
    "generation": replace(TRAINING, mode="generation", new_tokens=3),
    "padded generation": replace(TRAINING, mode="generation", new_tokens=3, padding=True),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of the family, saved as the hub would have it."""
    known = CONFIG_MAPPING[request.param]
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(known(**_COMMON | FAMILIES[request.param]))
    folder = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_family_is_traced_as_it_runs(name: str, family: Path) -> None:
    config = json.loads((family / "config.json").read_text(encoding="utf-8"))
    attention = "eager" if config["model_type"] in _WITHOUT_SDPA else "sdpa"
    case = replace(CASES[name], attention=attention)
    models.import_for(case, str(family))
    job, parameters = models.load(case, family)
    real, trace = watched(job), traced(case, config)
    assert trace.parameters == parameters
    for fake_step, real_step in zip(trace.steps, real, strict=True):
        for fake, run in zip(fake_step.phases, real_step.phases, strict=True):
            assert (fake.name, fake.operations) == (run.name, run.operations)
            assert fake == run
