"""The steps themselves, on a model of two layers: every option runs, and acts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from msgspec.structs import replace

from sitegen.records.case import SEVEN_PROJECTIONS, Case
from sitegen.records.observation import Observed
from sitegen.workload import models, training
from sitegen.workload.evidence import Witness
from sitegen.workload.training import Job

SMALL: Final = Case(batch_size=2, sequence_length=32)

# The parameters of the two-layer model, by hand: embeddings 512 x 64 (tied); a layer's q and o 64 x 64, k and v
# 64 x 32, three projections of 64 x 128, two norms of 64; a last norm of 64.
LAYER: Final = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64
PARAMETERS: Final = 512 * 64 + 2 * LAYER + 64
# LoRA adds r (d_in + d_out) a matrix (Hu et al. 2021, section 4): q is 64 x 64 and v 64 x 32, in both layers.
LORA_QV: Final = 2 * 8 * ((64 + 64) + (64 + 32))


class Recorder:
    """A `Phases` that only remembers the order."""

    def __init__(self, witness: Witness | None = None) -> None:
        self.order: list[str] = []
        self.witness = witness

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.order.append(name)
        yield
        if self.witness:
            self.witness.after_phase(name)

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        self.order.append(str(number))
        yield


def _run(case: Case, folder: Path) -> tuple[Job, Observed, Witness, Recorder]:
    models.import_for(case, str(folder))
    job, parameters = models.load(case, folder)
    observed = Observed(parameters=parameters)
    witness = Witness(job, observed)
    recorder = Recorder(witness)
    training.run(job, witness.announcing(recorder.phase), recorder.step)
    return job, observed, witness, recorder


@pytest.mark.parametrize(
    ("case", "order"),
    [
        (SMALL, ["1", "forward", "backward", "optimizer_step", "2", "forward", "backward", "optimizer_step"]),
        (
            replace(SMALL, gradient_accumulation=2, steps=1),
            ["1", "forward", "backward", "forward", "backward", "optimizer_step"],
        ),
        (replace(SMALL, mode="inference"), ["1", "forward"]),
        (replace(SMALL, mode="generation", new_tokens=4), ["1", "prefill", "decode"]),
    ],
)
def test_phases_come_in_their_order(case: Case, order: list[str], tiny_folder: Path) -> None:
    assert _run(case, tiny_folder)[3].order == order


@pytest.mark.parametrize(
    "case",
    [
        SMALL,
        replace(SMALL, dtype="bfloat16"),
        replace(SMALL, mixed_precision="bf16"),
        replace(SMALL, optimizer="sgd"),
        replace(SMALL, optimizer="sgd-momentum", foreach=True),
        replace(SMALL, optimizer="adafactor"),
        replace(SMALL, optimizer="adamw-8bit"),
        replace(SMALL, foreach=True),
        replace(SMALL, gradient_checkpointing=True),
        replace(SMALL, gradient_checkpointing=True, reentrant=True),
        replace(SMALL, attention="eager"),
        replace(SMALL, padding=True),
        replace(SMALL, loss="chunked"),
        replace(SMALL, loss="chunked", padding=True, mixed_precision="bf16"),
        replace(SMALL, zero_grad="free"),
        replace(SMALL, method="lora"),
        replace(SMALL, method="lora", dtype="bfloat16", lora_targets=SEVEN_PROJECTIONS, lora_rank=4),
        replace(SMALL, method="lora", modules_to_save=("lm_head",)),
        replace(SMALL, method="lora", loss="chunked"),
        replace(SMALL, method="lora", gradient_checkpointing=True),
        replace(SMALL, method="lora", gradient_checkpointing=True, reentrant=True),
        replace(SMALL, method="qlora"),
        replace(SMALL, method="qlora", double_quant=True, gradient_checkpointing=True),
        replace(SMALL, mode="inference"),
        replace(SMALL, mode="inference", logits="last", padding=True),
        replace(SMALL, mode="inference", method="lora"),
        replace(SMALL, mode="generation", new_tokens=3, padding=True),
    ],
    ids=lambda case: case.id,
)
def test_every_option_runs_and_is_seen_to_act(case: Case, tiny_folder: Path) -> None:
    _, observed, witness, _ = _run(case.checked(), tiny_folder)
    assert witness.verdict() is None
    assert observed.engaged is not None
    assert observed.engaged.checkpointing is (True if case.gradient_checkpointing else None)
    fed = case.method != "full" and case.mode == "training"
    assert observed.engaged.adapter_gradients is (True if fed else None)
    assert observed.engaged.attention == case.attention
    assert observed.parameters == PARAMETERS


def test_components_of_full_training_are_one_one_and_two_copies_of_the_weights(tiny_folder: Path) -> None:
    _, observed, _, _ = _run(SMALL, tiny_folder)
    parts = observed.components
    assert parts is not None
    buffers = (64 // 4 // 2) * 4 * 2  # rotary frequencies, half a head of 16, float32, kept twice
    tensors = 2 * 9 + 2  # a layer's q, k, v, o, three projections, two norms; the embeddings and the last norm
    assert parts.weights == 4 * PARAMETERS + buffers
    assert parts.gradients == 4 * PARAMETERS
    assert parts.optimizer_state == 2 * 4 * PARAMETERS + 4 * tensors  # AdamW counts steps in a float32 a tensor


def test_an_adapter_trains_what_the_formula_says(tiny_folder: Path) -> None:
    _, observed, _, _ = _run(replace(SMALL, method="lora"), tiny_folder)
    parts = observed.components
    assert parts is not None
    assert observed.trainable_parameters == LORA_QV
    assert parts.gradients == 4 * LORA_QV
    assert parts.optimizer_state == 2 * 4 * LORA_QV + 4 * 2 * 2 * 2  # A and B of q and v in two layers count steps


def test_freed_gradients_are_gone_after_the_step_and_kept_ones_stay(tiny_folder: Path) -> None:
    kept = _run(SMALL, tiny_folder)[0]
    freed = _run(replace(SMALL, zero_grad="free"), tiny_folder)[0]
    assert models.live_bytes(models.gradient_tensors(kept.model)) == 4 * PARAMETERS
    assert models.live_bytes(models.gradient_tensors(freed.model)) == 0


@pytest.mark.parametrize("padding", [False, True])
def test_the_chunked_loss_is_the_full_loss(tiny_folder: Path, padding: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "CHUNK_TOKENS", 7)  # several chunks, the last one shorter
    gradients = []
    losses = []
    for loss in ("full", "chunked"):
        case = replace(SMALL, loss=loss, padding=padding)
        job, _ = models.load(case, tiny_folder)
        batch = training.draw_batch(case, 512, torch.Generator().manual_seed(0))
        value = training._loss(job, batch)
        torch.autograd.backward(value)
        losses.append(value.detach())
        gradients.append(torch.cat([grad.flatten() for grad in models.gradient_tensors(job.model)]))
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-6)


def test_padding_masks_and_ignores_the_last_eighth_of_each_row() -> None:
    batch = training.draw_batch(replace(SMALL, padding=True), 512, torch.Generator().manual_seed(0))
    assert batch.mask is not None
    assert batch.mask.sum(dim=1).tolist() == [28, 28]  # 32 - 32 / 8
    assert (batch.labels[:, 28:] == -100).all()
    assert torch.equal(batch.labels[:, :28], batch.ids[:, :28])


def test_ids_follow_the_seed_and_the_vocabulary() -> None:
    def drawn(seed: int) -> Any:
        return training.draw_batch(SMALL, 300, torch.Generator().manual_seed(seed)).ids

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))
    assert int(drawn(1).max()) < 300


def test_checkpointing_that_does_nothing_is_no_measurement_of_it(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In evaluation mode transformers' layers ignore the flag: the run looks fine and saves nothing.
    monkeypatch.setattr(models, "_with_adapter", lambda _case, model: _Evaluating(model))
    witness = _run(replace(SMALL, gradient_checkpointing=True), tiny_folder)[2]
    assert "no decoder layer ran again" in (witness.verdict() or "")


def test_an_adapter_without_gradients_is_no_measurement_of_it(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "gradient_tensors", lambda _model: iter(()))
    job, _ = models.load(replace(SMALL, method="lora"), tiny_folder)
    witness = Witness(job, Observed())
    witness.after_phase("backward")  # nothing was run backward: no parameter has a gradient
    assert "received no gradient" in (witness.verdict() or "")


class _Evaluating:
    """A model that stays in evaluation mode whatever it is told."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def train(self) -> Any:
        return self._model.eval()
