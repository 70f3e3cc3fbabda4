"""The steps themselves: what is measured is exactly this code, and it is the code that is traced.

A `Job` holds what a step needs. A step announces its phases to a `Phases`, which measures them (`probe`) or counts
them (a trace); the step neither knows nor cares which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Protocol

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache

from sitegen.records.case import Case

LEARNING_RATE: Final = 1e-4
MOMENTUM: Final = 0.9
DISTINCT_IDS: Final = 1000  # the reference draws its ids in 0-999
CHUNK_TOKENS: Final = 512
PADDED_SHARE: Final = 8  # one position in eight, at the end of each row
IGNORED: Final = -100  # cross_entropy's ignore_index, and transformers' convention


class Phases(Protocol):
    """What a step tells of itself."""

    def __call__(self, name: str) -> AbstractContextManager[None]:
        """The named phase runs inside the returned context."""
        ...


@dataclass(frozen=True)
class Job:
    """A loaded model ready to run its case; `optimizer` is ``None`` unless it trains."""

    case: Case
    model: Any
    optimizer: torch.optim.Optimizer | None = None


@dataclass(frozen=True)
class Batch:
    """Ids and labels of shape (batch size, sequence length), int64; the mask is ``None`` when nothing is padded."""

    ids: torch.Tensor
    labels: torch.Tensor
    mask: torch.Tensor | None


def draw_batch(case: Case, vocabulary: int, generator: torch.Generator) -> Batch:
    """Random ids, labels equal to them; with padding, the last eighth of each row is masked and ignored."""
    shape = (case.batch_size, case.sequence_length)
    ids = torch.randint(0, min(DISTINCT_IDS, vocabulary), shape, generator=generator)
    if not case.padding:
        return Batch(ids, ids, None)
    mask = torch.ones(shape, dtype=torch.int64)
    mask[:, -max(1, case.sequence_length // PADDED_SHARE) :] = 0
    return Batch(ids, ids.masked_fill(mask == 0, IGNORED), mask)


def make_optimizer(case: Case, model: Any) -> torch.optim.Optimizer:  # noqa: ANN401 - a model of any architecture
    """The optimizer of the case over the parameters that train."""
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return _OPTIMIZERS[case.optimizer](trainable, case.foreach)


def run(job: Job, phases: Phases, step: Callable[[int], AbstractContextManager[None]]) -> None:
    """Run the case: `steps` optimizer steps, one forward, or one generation.

    Args:
        job: the loaded model.
        phases: opened around each phase.
        step: opened around each step, given its number from 1.
    """
    generator = torch.Generator().manual_seed(job.case.seed)
    one_step = _STEPS[job.case.mode]
    for number in range(1, (job.case.steps if job.case.mode == "training" else 1) + 1):
        with step(number):
            one_step(job, generator, phases)


def _vocabulary(job: Job) -> int:
    """Number of token ids; that of the text part when the model has several."""
    size: int = job.model.config.get_text_config().vocab_size
    return size


def _train(job: Job, generator: torch.Generator, phases: Phases) -> None:
    """One optimizer step over `gradient_accumulation` micro-batches, then the gradients zeroed or freed."""
    if job.optimizer is None:
        raise TypeError("training needs an optimizer")
    for _ in range(job.case.gradient_accumulation):
        batch = draw_batch(job.case, _vocabulary(job), generator)
        with phases("forward"):
            loss = _loss(job, batch) / job.case.gradient_accumulation
        with phases("backward"):
            torch.autograd.backward(loss)
        del loss
    with phases("optimizer_step"):
        job.optimizer.step()
        job.optimizer.zero_grad(set_to_none=job.case.zero_grad == "free")


def _infer(job: Job, generator: torch.Generator, phases: Phases) -> None:
    """One forward without labels, cache or gradients."""
    batch = draw_batch(job.case, _vocabulary(job), generator)
    with phases("forward"), torch.no_grad():
        job.model(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            use_cache=False,
            logits_to_keep=1 if job.case.logits == "last" else 0,
        )


def _generate(job: Job, generator: torch.Generator, phases: Phases) -> None:
    """Greedy decoding of `new_tokens` tokens with a KV cache, the logits of the last position only."""
    batch = draw_batch(job.case, _vocabulary(job), generator)
    mask = batch.mask
    cache = {_cache_argument(job): DynamicCache(config=job.model.config), "use_cache": True}
    with torch.no_grad():
        with phases("prefill"):
            output = job.model(input_ids=batch.ids, attention_mask=mask, logits_to_keep=1, **cache)
        with phases("decode"):
            for _ in range(job.case.new_tokens - 1):
                token = output.logits[:, -1:].argmax(-1)
                mask = None if mask is None else torch.cat([mask, torch.ones_like(token)], dim=1)
                output = job.model(input_ids=token, attention_mask=mask, **cache)


def _cache_argument(job: Job) -> str:
    """What the model's forward calls its KV cache: transformers renames ``past_key_values`` to ``cache``."""
    model = job.model.get_base_model() if job.case.method != "full" else job.model
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def _loss(job: Job, batch: Batch) -> torch.Tensor:
    """The loss of the next token, under mixed precision when the case asks for it."""
    mixed = job.case.mixed_precision == "bf16"
    with torch.autocast("cpu", torch.bfloat16) if mixed else nullcontext():
        if job.case.loss == "chunked":
            return _chunked_loss(job, batch)
        output = job.model(input_ids=batch.ids, attention_mask=batch.mask, labels=batch.labels, use_cache=False)
        loss: torch.Tensor = output.loss
        return loss


def _chunked_loss(job: Job, batch: Batch) -> torch.Tensor:
    """Cross-entropy over chunks of tokens, each recomputed in the backward: never all the logits at once."""
    model = job.model.get_base_model() if job.case.method != "full" else job.model
    hidden = model.get_decoder()(input_ids=batch.ids, attention_mask=batch.mask, use_cache=False).last_hidden_state
    rows = hidden[:, :-1].flatten(0, 1)
    targets = batch.labels[:, 1:].flatten()
    head = model.get_output_embeddings()
    total = sum(
        checkpoint(_chunk_loss, head, rows[i : i + CHUNK_TOKENS], targets[i : i + CHUNK_TOKENS], use_reentrant=False)
        for i in range(0, rows.shape[0], CHUNK_TOKENS)
    )
    loss: torch.Tensor = total / (targets != IGNORED).sum()
    return loss


def _chunk_loss(head: torch.nn.Module, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Summed cross-entropy of one chunk, in float32 as transformers' own loss."""
    return cross_entropy(head(rows).float(), targets, ignore_index=IGNORED, reduction="sum")


def _adamw(parameters: list[torch.nn.Parameter], foreach: bool) -> torch.optim.Optimizer:
    """PyTorch's AdamW."""
    return torch.optim.AdamW(parameters, lr=LEARNING_RATE, foreach=foreach)


def _adamw_8bit(parameters: list[torch.nn.Parameter], foreach: bool) -> torch.optim.Optimizer:
    """The AdamW of bitsandbytes with 8-bit moments; tensors under 4096 elements keep 32-bit ones (its default)."""
    from bitsandbytes.optim import AdamW8bit  # noqa: PLC0415 - an extra, imported only by the cases that use it

    del foreach
    optimizer: torch.optim.Optimizer = AdamW8bit(parameters, lr=LEARNING_RATE)
    return optimizer


def _sgd(parameters: list[torch.nn.Parameter], foreach: bool) -> torch.optim.Optimizer:
    """Plain SGD: no state at all."""
    return torch.optim.SGD(parameters, lr=LEARNING_RATE, foreach=foreach)


def _sgd_momentum(parameters: list[torch.nn.Parameter], foreach: bool) -> torch.optim.Optimizer:
    """SGD with momentum: one buffer a parameter."""
    return torch.optim.SGD(parameters, lr=LEARNING_RATE, momentum=MOMENTUM, foreach=foreach)


def _adafactor(parameters: list[torch.nn.Parameter], foreach: bool) -> torch.optim.Optimizer:
    """Adafactor with the arguments that the transformers trainer gives it."""
    from transformers.optimization import Adafactor  # noqa: PLC0415 - imported only by the cases that use it

    del foreach
    optimizer: torch.optim.Optimizer = Adafactor(
        parameters, lr=LEARNING_RATE, scale_parameter=False, relative_step=False
    )
    return optimizer


_OPTIMIZERS: Final = {
    "adamw": _adamw,
    "adamw-8bit": _adamw_8bit,
    "sgd": _sgd,
    "sgd-momentum": _sgd_momentum,
    "adafactor": _adafactor,
}
_STEPS: Final = {"training": _train, "inference": _infer, "generation": _generate}
