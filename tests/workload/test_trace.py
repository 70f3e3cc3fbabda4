"""A trace is what a real run does: the same operations in the same order, and the same live bytes after each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import torch
from msgspec.structs import replace

from sitegen import errors
from sitegen.errors import ModelError, UsageError
from sitegen.records.case import SEVEN_PROJECTIONS, Case
from sitegen.records.trace import LiveComponents, PhaseTrace, StepTrace, Trace, TraceReply, TraceRequest
from sitegen.workload import models
from sitegen.workload.trace import traced, watched

SMALL: Final = Case(batch_size=2, sequence_length=32)
LORA: Final = replace(SMALL, method="lora")
QLORA: Final = replace(SMALL, method="qlora")
INFERENCE: Final = replace(SMALL, mode="inference")
GENERATION: Final = replace(SMALL, mode="generation", new_tokens=3)

# The parameters of the two-layer model, by hand: embeddings 512 x 64 (tied); a layer's q and o 64 x 64, k and v
# 64 x 32, three projections of 64 x 128, two norms of 64; a last norm of 64.
LAYER: Final = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64
PARAMETERS: Final = 512 * 64 + 2 * LAYER + 64
BUFFERS_BYTES: Final = (64 // 4 // 2) * 4 * 2  # rotary frequencies, half a head of 16, float32, kept twice
LORA_QV: Final = 2 * 8 * ((64 + 64) + (64 + 32))  # r (d_in + d_out) a matrix, q and v, two layers
LOGITS_BYTES: Final = 2 * 32 * 512 * 4

EVERY_OPTION: Final = (
    SMALL,
    replace(SMALL, batch_size=1),
    replace(SMALL, dtype="bfloat16"),
    replace(SMALL, dtype="float16"),
    replace(SMALL, mixed_precision="bf16"),
    replace(SMALL, optimizer="sgd"),
    replace(SMALL, optimizer="sgd-momentum"),
    replace(SMALL, optimizer="sgd-momentum", foreach=True),
    replace(SMALL, optimizer="adafactor"),
    replace(SMALL, optimizer="adamw-8bit"),
    replace(SMALL, foreach=True),
    replace(SMALL, gradient_checkpointing=True),
    replace(SMALL, gradient_checkpointing=True, reentrant=True),
    replace(SMALL, gradient_accumulation=3),
    replace(SMALL, attention="eager"),
    replace(SMALL, padding=True),
    replace(SMALL, padding=True, attention="eager"),
    replace(SMALL, loss="chunked"),
    replace(SMALL, loss="chunked", padding=True, mixed_precision="bf16"),
    replace(SMALL, zero_grad="free"),
    LORA,
    replace(LORA, dtype="bfloat16", lora_targets=SEVEN_PROJECTIONS, lora_rank=4),
    replace(LORA, modules_to_save=("lm_head",)),
    replace(LORA, modules_to_save=("lm_head", "embed_tokens")),
    replace(LORA, loss="chunked"),
    replace(LORA, gradient_checkpointing=True),
    replace(LORA, gradient_checkpointing=True, reentrant=True),
    replace(LORA, mixed_precision="bf16"),
    QLORA,
    replace(QLORA, double_quant=True, gradient_checkpointing=True),
    replace(QLORA, dtype="bfloat16", gradient_checkpointing=True, reentrant=True),
    replace(QLORA, optimizer="adamw-8bit"),
    INFERENCE,
    replace(INFERENCE, logits="last", padding=True),
    replace(INFERENCE, method="lora"),
    replace(INFERENCE, method="qlora", dtype="bfloat16", double_quant=True),
    GENERATION,
    replace(GENERATION, padding=True),
    replace(GENERATION, method="lora"),
    replace(GENERATION, method="qlora"),
)


def _config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config


def _real(case: Case, folder: Path) -> tuple[tuple[StepTrace, ...], int]:
    """The same count on real tensors, loaded as a measured process loads them."""
    models.import_for(case, str(folder))
    job, parameters = models.load(case, folder)
    return watched(job), parameters


@pytest.mark.parametrize("case", EVERY_OPTION, ids=lambda case: case.id)
def test_a_trace_dispatches_the_operations_of_the_run_and_counts_its_bytes(case: Case, tiny_folder: Path) -> None:
    real, parameters = _real(case.checked(), tiny_folder)
    trace = traced(case, _config(tiny_folder))
    assert trace.parameters == parameters == PARAMETERS
    assert len(trace.steps) == len(real)
    for fake_step, real_step in zip(trace.steps, real, strict=True):
        for fake, run in zip(fake_step.phases, real_step.phases, strict=True):
            assert (fake.name, fake.operations) == (run.name, run.operations)
            assert fake.live_bytes == run.live_bytes
            assert fake == run  # the peak, where it stands, and its components
            assert fake.components.total_bytes == fake.peak_bytes == max(fake.live_bytes)
            assert fake.live_bytes.index(fake.peak_bytes) == fake.peak_operation


def _peaks(case: Case, folder: Path) -> dict[str, PhaseTrace]:
    """The last step's phases by name."""
    return {phase.name: phase for phase in traced(case, _config(folder)).steps[-1].phases}


def test_full_training_holds_one_one_and_two_copies_of_the_weights(tiny_folder: Path) -> None:
    held = _peaks(SMALL, tiny_folder)["backward"].components
    tensors = 2 * 9 + 2  # a layer's q, k, v, o, three projections, two norms; the embeddings and the last norm
    assert held.weights == 4 * PARAMETERS + BUFFERS_BYTES
    assert held.gradients == 4 * PARAMETERS  # kept at zero from the first step
    assert held.optimizer_state == 2 * 4 * PARAMETERS + 4 * tensors  # AdamW counts steps in a float32 a tensor
    assert held.logits_and_loss == 3 * LOGITS_BYTES  # the logits, their log-softmax, and the gradient of either
    assert held.kv_cache == 0


def test_freed_gradients_are_absent_from_the_next_forward(tiny_folder: Path) -> None:
    assert _peaks(SMALL, tiny_folder)["forward"].components.gradients == 4 * PARAMETERS
    assert _peaks(replace(SMALL, zero_grad="free"), tiny_folder)["forward"].components.gradients == 0


def test_an_adapter_has_gradients_and_states_of_its_own_parameters_only(tiny_folder: Path) -> None:
    trace = traced(LORA, _config(tiny_folder))
    held = trace.steps[-1].phases[-1].components
    assert trace.trainable_parameters == LORA_QV
    assert held.weights == 4 * (PARAMETERS + LORA_QV) + BUFFERS_BYTES
    assert held.gradients == 4 * LORA_QV
    assert held.optimizer_state == 2 * 4 * LORA_QV + 4 * 2 * 2 * 2  # A and B of q and v in two layers count steps


def test_four_bit_weights_are_packed_and_the_rest_is_float32(tiny_folder: Path) -> None:
    """NF4: half a byte a weight, a float32 scale for 64, and a code book of 16 floats a matrix (QLoRA, section 3)."""
    linear = LAYER - 2 * 64
    packed = 2 * (linear // 2 + linear // 64 * 4 + 7 * 16 * 4)
    others = 4 * (512 * 64 + 2 * 2 * 64 + 64) + BUFFERS_BYTES  # bfloat16 when loaded, float32 once prepared
    case = replace(QLORA, dtype="bfloat16")
    assert _peaks(case, tiny_folder)["forward"].components.weights == packed + others + 4 * LORA_QV


def test_checkpointing_keeps_less_for_the_backward_and_recomputes_it(tiny_folder: Path) -> None:
    plain = _peaks(SMALL, tiny_folder)
    for reentrant in (False, True):
        spared = _peaks(replace(SMALL, gradient_checkpointing=True, reentrant=reentrant), tiny_folder)
        kept = spared["forward"].components.saved_activations
        assert kept < plain["forward"].components.saved_activations
        # What a checkpoint keeps of a layer is its input: two layers' here, of 2 x 32 x 64 floats.
        assert kept >= 2 * 2 * 32 * 64 * 4
        assert len(spared["backward"].operations) > len(plain["backward"].operations)


def test_inference_saves_nothing(tiny_folder: Path) -> None:
    held = _peaks(INFERENCE, tiny_folder)["forward"].components
    assert (held.gradients, held.optimizer_state, held.saved_activations) == (0, 0, 0)
    assert held.weights == 4 * PARAMETERS + BUFFERS_BYTES


def test_the_last_logits_are_one_row_a_sequence(tiny_folder: Path) -> None:
    config = _config(tiny_folder) | {"vocab_size": 4096}  # enough for the logits to be the peak, when all are kept
    every, last = (traced(replace(INFERENCE, logits=kept), config).steps[0].phases[0] for kept in ("all", "last"))
    assert every.components.logits_and_loss == 2 * 32 * 4096 * 4
    # Two rows of 4096 x 4 bytes, far from the peak: it now stands in a layer.
    assert last.components.logits_and_loss == 0
    assert last.peak_bytes < every.peak_bytes


def test_the_cache_of_a_generation_grows_by_one_token_a_pass(tiny_folder: Path) -> None:
    held = _peaks(replace(GENERATION, new_tokens=6), tiny_folder)["decode"].components
    token = 2 * 2 * 2 * 32 * 4  # K and V, two layers, two sequences, 32 key-value channels, float32
    # At most the prompt and five tokens fed back; the layer at work holds what it had and what it has made of it.
    assert 36 * token <= held.kv_cache <= 37 * token + 2 * 2 * 36 * 32 * 4


def test_a_chunked_loss_never_holds_all_the_logits(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.workload.training.CHUNK_TOKENS", 16)
    held = _peaks(replace(SMALL, loss="chunked"), tiny_folder)["backward"]
    assert held.components.logits_and_loss <= 3 * 16 * 512 * 4


def test_nothing_is_allocated(tiny_folder: Path) -> None:
    """Eight layers of 16 x 8192^2 float32 weights: 34 GB, with four times that in training."""
    large = _config(tiny_folder) | {
        "hidden_size": 8192,
        "head_dim": 128,
        "intermediate_size": 4 * 8192,
        "num_hidden_layers": 8,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
    }
    trace = traced(replace(SMALL, batch_size=64, sequence_length=256, steps=1), large)
    assert trace.parameters == 512 * 8192 + 8 * (16 * 8192**2 + 2 * 8192) + 8192
    assert trace.steps[0].phases[0].components.weights >= 4 * trace.parameters


def test_a_real_run_after_a_trace_finds_no_fake_tensor(tiny_folder: Path) -> None:
    case = replace(QLORA, double_quant=True)
    traced(case, _config(tiny_folder))
    assert _real(case, tiny_folder)[1] == PARAMETERS
    assert type(torch.zeros(1) + 1) is torch.Tensor


def test_a_baseline_cannot_be_traced(tiny_folder: Path) -> None:
    with pytest.raises(UsageError, match="nothing to trace"):
        traced(Case(mode="baseline", batch_size=1), _config(tiny_folder))


def test_an_unknown_architecture_is_named(tiny_folder: Path) -> None:
    with pytest.raises(ModelError, match="does not know model_type 'nonesuch'"):
        traced(SMALL, _config(tiny_folder) | {"model_type": "nonesuch"})


def test_an_attention_that_the_architecture_lacks_is_refused(tiny_folder: Path) -> None:
    config = _config(tiny_folder) | {"model_type": "gpt_oss", "num_local_experts": 4, "head_dim": 16}
    with pytest.raises(ModelError, match="with --attention sdpa"):
        traced(SMALL, config)


def test_micro_batches_of_a_step_give_their_highest_peak() -> None:
    def phase(name: str, peak_bytes: int) -> PhaseTrace:
        return PhaseTrace(
            name=name,
            operations=("aten.mm.default",),
            live_bytes=(peak_bytes,),
            peak_bytes=peak_bytes,
            peak_operation=0,
            components=LiveComponents(temporaries=peak_bytes),
        )

    step = StepTrace(phases=(phase("forward", 3), phase("backward", 5), phase("forward", 4), phase("backward", 1)))
    trace = Trace(case=SMALL, model_type="llama", parameters=1, trainable_parameters=1, steps=(step,))
    assert step.peak_bytes() == {"forward": 4, "backward": 5}
    assert trace.peak_bytes == 5


def _child(request: TraceRequest) -> TraceReply:
    done = subprocess.run(
        [sys.executable, "-m", "sitegen.workload.trace"],
        input=msgspec.json.encode(request),
        capture_output=True,
        check=True,
        timeout=120,
    )
    return msgspec.json.decode(done.stdout, type=TraceReply)


def test_the_child_process_answers_with_the_trace(tiny_folder: Path) -> None:
    config = _config(tiny_folder)
    reply = _child(TraceRequest(case=INFERENCE, config=config, parent_pid=os.getpid()))
    assert reply.trace == traced(INFERENCE, config)


def test_the_child_process_answers_with_the_error(tiny_folder: Path) -> None:
    config = _config(tiny_folder) | {"hidden_size": None}
    reply = _child(TraceRequest(case=INFERENCE, config=config, parent_pid=os.getpid()))
    assert reply.trace is None
    assert issubclass(getattr(errors, reply.kind), ModelError)
    assert "has no hidden_size" in reply.error
