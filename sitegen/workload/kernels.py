"""What GPU kernels allocate, told to a trace that has no GPU: each stand-in makes the tensors its kernel makes.

A kernel that is not PyTorch's own (FlashAttention-2, the Triton kernels of Unsloth and of Liger) cannot run on fake
tensors. Its wrapper can be described: which tensors it returns, keeps for the backward, and works in. Nothing is
computed here; shapes, dtypes and lifetimes are all that count. Nothing is fitted either: each class names the source
whose allocations it follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import torch

Context: TypeAlias = Any
"""What autograd hands to a function: torch types neither its tensors nor its attributes."""

Module: TypeAlias = Any
"""A module of transformers, which has no types."""

IGNORED: Final = -100  # the label of a position without a loss

FLASH_BLOCK: Final = 128
"""FlashAttention-2 rounds the query length of its backward's work space up to this."""


class FlashAttention(torch.autograd.Function):
    """FlashAttention-2, queries of shape (batch, sequence, heads, head size), fewer heads for keys and values.

    Source: `mha_fwd` and `mha_bwd` of https://github.com/Dao-AILab/flash-attention/blob/v2.7.3/csrc/flash_attn/flash_api.cpp
    """

    @staticmethod
    def forward(ctx: Context, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """The output, of the queries' shape; kept with it: the inputs and the rows' log-sum-exp in float32."""
        query, key, value = (x if x.stride(-1) == 1 else x.contiguous() for x in (query, key, value))
        batch, length, heads, _ = query.shape
        output = torch.empty_like(query)
        log_sums = torch.empty(batch, heads, length, dtype=torch.float32)
        ctx.save_for_backward(query, key, value, output, log_sums, torch.empty(2, dtype=torch.int64))
        return output

    @staticmethod
    def backward(ctx: Context, _gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The three gradients; beside them a float32 accumulator, and whole heads where they are shared."""
        query, key, value, *_ = ctx.saved_tensors
        batch, length, heads, size = query.shape
        rounded = -(-length // FLASH_BLOCK) * FLASH_BLOCK
        gradients = torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)
        work = [torch.empty(batch, heads, rounded, dtype=torch.float32)]
        work.append(torch.empty(batch, rounded, heads, size, dtype=torch.float32))
        if key.shape[2] != heads:
            work += [torch.empty(batch, key.shape[1], heads, size, dtype=key.dtype) for _ in (key, value)]
        return gradients


def flash_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_args: object, **_options: object
) -> torch.Tensor:
    """What takes the place of ``flash_attn_func``."""
    output: torch.Tensor = FlashAttention.apply(query, key, value)  # type: ignore[no-untyped-call]  # torch's own
    return output


def dropout(x: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """PyTorch's dropout on a GPU: one kernel that keeps a mask of one byte an element (on a CPU it keeps the noise)."""
    del inplace
    return torch.native_dropout(x, p, training)[0] if training and p > 0 else x


class RmsNorm(torch.autograd.Function):
    """Unsloth's RMSNorm: no float32 copy; the gradient is written over the one that comes in.

    Source: https://github.com/unslothai/unsloth/blob/main/unsloth/kernels/rms_layernorm.py
    """

    @staticmethod
    def forward(ctx: Context, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """The output, of the input's shape and dtype; kept: the input and one float32 a row."""
        output = torch.empty(x.shape, dtype=x.dtype)
        ctx.save_for_backward(x, weight, torch.empty(x.shape[:-1], dtype=torch.float32))
        return output

    @staticmethod
    def backward(ctx: Context, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """In place."""
        del ctx
        return gradient, None


def rms_norm(module: Module, x: torch.Tensor) -> torch.Tensor:
    """What takes the place of an RMSNorm's `forward`."""
    output: torch.Tensor = RmsNorm.apply(x, module.weight)  # type: ignore[no-untyped-call]  # torch's own
    return output


class Rope(torch.autograd.Function):
    """Unsloth's rotary embedding: queries and keys turn where they lie, and their gradients too.

    Source: https://github.com/unslothai/unsloth/blob/main/unsloth/kernels/rope_embedding.py
    """

    @staticmethod
    def forward(ctx: Context, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """In place; the two tables are kept."""
        ctx.tables = cosine, sine
        return x.view(x.shape)

    @staticmethod
    def backward(ctx: Context, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """In place, after a copy where the gradient is not contiguous."""
        del ctx
        return gradient.reshape(gradient.shape[0] * gradient.shape[1], -1).view(gradient.shape), None, None


def rotary(
    query: torch.Tensor, key: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, *_args: object
) -> tuple[torch.Tensor, ...]:
    """What takes the place of `apply_rotary_pos_emb`, heads before positions on the way in and out."""
    turned = (Rope.apply(x.transpose(1, 2), cosine, sine) for x in (query, key))  # type: ignore[no-untyped-call]
    return tuple(x.transpose(1, 2) for x in turned)


class CrossEntropy(torch.autograd.Function):
    """Unsloth's cross-entropy: logits stay, their gradient is written over them.

    Source: https://github.com/unslothai/unsloth/blob/main/unsloth/kernels/cross_entropy_loss.py
    """

    WIDEST: Final = 65536  # of a vocabulary that one block reduces

    @staticmethod
    def forward(ctx: Context, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """One loss and the log-sum-exps of each row, float32."""
        rows, vocabulary = logits.shape
        blocks = -(-vocabulary // CrossEntropy.WIDEST)
        partial = torch.empty(rows, blocks, dtype=torch.float32)
        sums = partial if blocks == 1 else torch.empty(rows, dtype=torch.float32)
        ctx.save_for_backward(logits, sums, labels)
        return torch.empty(rows, dtype=torch.float32)

    @staticmethod
    def backward(ctx: Context, _gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """In place."""
        return ctx.saved_tensors[0], None


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, **_options: object) -> torch.Tensor:
    """What takes the place of PyTorch's `cross_entropy` over rows of logits."""
    losses: torch.Tensor = CrossEntropy.apply(logits, labels)  # type: ignore[no-untyped-call]  # torch's own
    return losses.sum() / (labels != IGNORED).sum()


class LinearCrossEntropy(torch.autograd.Function):
    """Liger's fused linear cross-entropy: logits by chunks of rows, gradients computed during the forward.

    The chunk is the next power of two of rows / ⌈vocabulary / hidden⌉. Kept: the rows' gradient, and the head's when
    it trains. Source: https://github.com/linkedin/Liger-Kernel, `ops/fused_linear_cross_entropy.py`; the runs used the
    copy in https://github.com/foundation-model-stack/fms-acceleration, `kernels/liger/`.
    """

    @staticmethod
    def forward(ctx: Context, rows: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Rows of shape (tokens, hidden size), a weight of shape (vocabulary, hidden size)."""
        tokens, hidden = rows.shape
        chunk = _next_power_of_two(-(-tokens // -(-weight.shape[0] // hidden)))
        head_gradient = torch.zeros_like(weight) if weight.requires_grad else None
        gradient, losses = torch.zeros_like(rows), torch.zeros(tokens, dtype=torch.float32)
        for start in range(0, tokens, chunk):
            part = rows[start : start + chunk]
            logits = part @ weight.t()
            logits = logits.float()
            logits = logits.to(part.dtype)
            scaled = logits * 1.0
            gradient[start : start + chunk] = scaled @ weight
            if head_gradient is not None:
                torch.addmm(head_gradient, logits.t(), part, out=head_gradient)
        del labels
        ctx.save_for_backward(gradient, head_gradient)
        return losses.sum()

    @staticmethod
    def backward(ctx: Context, _gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """What the forward left."""
        gradient, head_gradient = ctx.saved_tensors
        return gradient, head_gradient, None


def linear_cross_entropy_forward(
    self: Module, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor, **_options: object
) -> dict[str, Any]:
    """What takes the place of a causal model's `forward`: a loss, and no logits at all."""
    hidden = self.model(input_ids=input_ids, attention_mask=attention_mask)[0]
    rows = hidden[..., :-1, :].contiguous().view(-1, hidden.shape[-1])
    targets = labels[..., 1:].contiguous().view(-1)
    return {"loss": LinearCrossEntropy.apply(rows, self.lm_head.weight, targets)}  # type: ignore[no-untyped-call]


def _next_power_of_two(number: int) -> int:
    """The smallest power of two that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def in_float32(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """An operation that autocast runs in float32 on a GPU and leaves alone on a CPU, as the GPU has it.

    Source: the list of operations of https://docs.pytorch.org/docs/stable/amp.html
    """

    def cast(*args: object, **options: object) -> torch.Tensor:
        if not torch.is_autocast_enabled("cpu"):
            return function(*args, **options)
        return function(*map(_float32, args), **{name: _float32(value) for name, value in options.items()})

    return cast


def _float32(value: object) -> object:
    """A floating-point tensor in float32; anything else as it is."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.float()
