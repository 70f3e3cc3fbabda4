"""A bill from shallow traces is that of the whole model, to the byte and by component."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from sitegen.errors import ModelError, UsageError
from sitegen.memory import catalogue
from sitegen.records.bill import Bill, BillRequest
from sitegen.records.case import Case
from sitegen.workload.bills import _reply, bill
from sitegen.workload.trace import traced

COMMON: Final = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "max_position_embeddings": 256,
    "head_dim": 16,
    "pad_token_id": 0,
}
EXPERTS: Final = {
    "num_experts_per_tok": 2,
    "num_local_experts": 4,
    "num_experts": 4,
    "moe_intermediate_size": 32,
    "sliding_window": 16,
}
CASE: Final = Case(batch_size=2, sequence_length=32)
EAGER: Final = replace(CASE, attention="eager")
CASES: Final = {
    "full": CASE,
    "one sequence": replace(CASE, batch_size=1),
    "multi-tensor": replace(CASE, foreach=True, zero_grad="free"),
    "adafactor": replace(CASE, optimizer="adafactor"),
    "checkpointing": replace(CASE, dtype="bfloat16", gradient_checkpointing=True),
    "lora": replace(CASE, method="lora", padding=True),
    "qlora": replace(CASE, method="qlora", dtype="bfloat16", gradient_checkpointing=True),
    "chunked": replace(CASE, loss="chunked"),
    "accumulation": replace(CASE, gradient_accumulation=4),
    "three steps": replace(CASE, steps=3),
    "inference": replace(CASE, mode="inference"),
    "generation": replace(CASE, mode="generation", new_tokens=9),
}
OTHERS: Final = {
    "gemma3_text": (32, replace(CASE, method="lora"), {"sliding_window": 16, "num_hidden_layers": 50}),
    "gemma3_text, window not filled": (13, CASE, {"sliding_window": 33, "num_hidden_layers": 50}),
    "gemma3_text, window filled": (32, CASE, {"sliding_window": 32, "num_hidden_layers": 50}),
    "gpt_oss": (14, EAGER, EXPERTS | {"num_hidden_layers": 14}),
    "gpt_oss, lora": (20, replace(EAGER, method="lora"), EXPERTS | {"num_hidden_layers": 20}),
    "qwen3_moe": (11, replace(CASE, dtype="bfloat16"), EXPERTS | {"num_hidden_layers": 11}),
    "mixtral": (12, replace(CASE, method="lora"), EXPERTS | {"num_hidden_layers": 12}),
    "smollm3": (28, CASE, {"num_hidden_layers": 28}),
    "gpt2": (13, CASE, {"n_embd": 64, "n_head": 4, "n_layer": 13, "n_positions": 256}),
}


def _whole(case: Case, config: dict[str, Any]) -> Bill:
    """What a trace of all the layers, steps and micro-batches says."""
    trace = traced(case, config)
    peaks: dict[tuple[int, str], tuple[int, dict[str, int]]] = {}
    for number, step in enumerate(trace.steps, 1):
        for phase in step.phases:
            known = peaks.get((number, phase.name), (-1, {}))
            if phase.peak_bytes > known[0]:
                peaks[number, phase.name] = phase.peak_bytes, msgspec.structs.asdict(phase.components)
    found = bill(BillRequest(case=case, config=config))
    first_two = {key: value for key, value in peaks.items() if key[0] <= 2}
    assert {(p.step, p.name): (p.peak_bytes, p.components) for p in found.phases} == first_two
    assert (found.parameters, found.trainable_parameters) == (trace.parameters, trace.trainable_parameters)
    assert found.peak.peak_bytes == trace.peak_bytes
    return found


@pytest.mark.parametrize("name", CASES)
def test_shallow_traces_give_the_bill_of_a_deep_llama(name: str) -> None:
    config = COMMON | {"model_type": "llama", "num_hidden_layers": 12}
    assert _whole(CASES[name], config).traced_layers == (2, 3, 4)


@pytest.mark.parametrize("name", OTHERS)
def test_shallow_traces_give_the_bill_of_other_families(name: str) -> None:
    traced_at_most, case, more = OTHERS[name]
    found = _whole(case, COMMON | more | {"model_type": name.partition(",")[0]})
    assert len(found.traced_layers) == 3
    assert found.traced_layers[-1] < traced_at_most


def test_seventy_billion_parameters_from_nine_layers_are_those_of_all_eighty() -> None:
    config = catalogue.model("llama-3.1-70b").config
    case = Case(dtype="bfloat16", batch_size=2, sequence_length=512)
    found = _whole(case, config)
    assert found.traced_layers == (2, 3, 4)
    assert found.parameters == 70_553_706_496  # Llama 3 herd of models: 70.6 B; the sum of the published tensors' sizes


def test_an_unknown_architecture_is_traced_whole() -> None:
    config = COMMON | {"model_type": "stablelm", "num_hidden_layers": 12}
    assert bill(BillRequest(case=replace(CASE, mode="inference"), config=config)).traced_layers == (12,)


def test_sizes_are_rounded_up_to_what_an_allocator_gives() -> None:
    """Every storage takes whole blocks: more than the bytes, less than a block more for each of them."""
    config = COMMON | {"model_type": "llama", "num_hidden_layers": 2}
    exact, rounded = (
        bill(BillRequest(case=CASE, config=config, granularity_bytes=size)).peak.peak_bytes for size in (1, 512)
    )
    assert rounded % 512 == 0
    assert exact < rounded < exact + 512 * 1000


def test_generation_of_many_tokens_is_foretold_unless_a_window_fills_up_on_the_way() -> None:
    """A window of 36 tokens is full after 4 of the 24 that follow a prompt of 32."""
    config = COMMON | {"model_type": "mistral", "num_hidden_layers": 2}
    case = replace(CASE, mode="generation", new_tokens=24)
    for window in (36, 16):
        _whole(case, config | {"sliding_window": window})


def test_loras_targets_that_the_model_lacks_are_refused_with_those_that_it_has() -> None:
    config = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 512}
    reply = _reply(BillRequest(case=replace(CASE, method="lora"), config=config))
    assert reply.kind == UsageError.__name__
    assert "q_proj,v_proj" in reply.error
    assert reply.remedy == "Name some of its matrices: c_attn, c_fc, c_proj."


def test_gemma_2_with_sdpa_is_refused_with_the_attention_that_it_has() -> None:
    config = COMMON | {"model_type": "gemma2", "num_hidden_layers": 2}
    reply = _reply(BillRequest(case=CASE, config=config))
    assert reply.kind == ModelError.__name__
    assert reply.remedy == "Use --attention eager."


def test_what_a_library_refuses_of_a_configuration_is_said_in_words() -> None:
    reply = _reply(BillRequest(case=CASE, config=COMMON | {"model_type": "llama", "num_hidden_layers": "two"}))
    assert reply.bill is None
    assert "num_hidden_layers" in reply.error
