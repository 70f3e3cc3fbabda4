"""The stand-ins of GPU kernels allocate what their sources allocate: bytes by hand, on small real tensors."""

from __future__ import annotations

import torch

from sitegen.workload import kernels
from sitegen.workload.live import LiveBytes


def alive(live: LiveBytes) -> int:
    return live.live_bytes[-1]


def test_flash_attention_keeps_its_output_and_one_float_a_row_and_works_in_float32() -> None:
    batch, length, heads, shared, size = 2, 200, 4, 2, 8
    query = torch.zeros(batch, length, heads, size, dtype=torch.bfloat16, requires_grad=True)
    key, value = (torch.zeros(batch, length, shared, size, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    with LiveBytes() as live:
        output = kernels.flash_attention(query, key, value)
        kept = 2 * batch * length * heads * size + 4 * batch * heads * length + 16  # output, log-sum-exp, two int64
        assert alive(live) == kept
        torch.autograd.backward(output, torch.zeros_like(output))  # one more tensor of the output's size
    rounded = 256  # 200 positions in blocks of 128
    gradients = 2 * batch * length * (heads + 2 * shared) * size
    work = 4 * batch * heads * rounded * (1 + size) + 2 * 2 * batch * length * heads * size
    output_bytes = 2 * batch * length * heads * size
    assert max(live.live_bytes) == kept + output_bytes + gradients + work


def test_gpu_dropout_keeps_one_byte_an_element() -> None:
    x = torch.zeros(10, 100, dtype=torch.bfloat16, requires_grad=True)
    with LiveBytes() as live:
        kept = kernels.dropout(x, 0.1)
        assert alive(live) == 1000 * (2 + 1)
    assert kept.shape == x.shape
    assert kernels.dropout(x, 0.1, training=False) is x


def test_rms_norm_makes_its_output_and_one_float_a_row() -> None:
    norm = torch.nn.LayerNorm(64)
    x = torch.zeros(3, 5, 64, dtype=torch.bfloat16, requires_grad=True)
    with LiveBytes() as live:
        output = kernels.rms_norm(norm, x)
        assert alive(live) == 3 * 5 * (64 * 2 + 4)
    gradient = torch.ones_like(output)
    assert torch.autograd.grad(output, x, gradient)[0].data_ptr() == gradient.data_ptr()


def test_rotary_embedding_allocates_nothing() -> None:
    query = torch.zeros(2, 7, 4, 8, requires_grad=True)
    key = torch.zeros(2, 7, 2, 8, requires_grad=True)
    tables = torch.zeros(7, 8), torch.zeros(7, 8)
    with LiveBytes() as live:
        live.mark([query, key], "weights")
        before = query.nbytes + key.nbytes
        turned = kernels.rotary(query.transpose(1, 2), key.transpose(1, 2), *tables)
        assert alive(live) == before
    assert [tuple(x.shape) for x in turned] == [(2, 4, 7, 8), (2, 2, 7, 8)]


def test_unsloth_writes_the_gradient_over_the_logits() -> None:
    logits = torch.zeros(6, 100, requires_grad=True)
    labels = torch.zeros(6, dtype=torch.int64)
    loss = kernels.cross_entropy(logits, labels)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient.data_ptr() == logits.data_ptr()


def test_liger_holds_the_logits_of_one_chunk() -> None:
    tokens, hidden, vocabulary = 1000, 16, 100
    rows = torch.zeros(tokens, hidden, dtype=torch.bfloat16, requires_grad=True)
    frozen = torch.zeros(vocabulary, hidden, dtype=torch.bfloat16)
    labels = torch.zeros(tokens, dtype=torch.int64)
    with LiveBytes() as live:
        kernels.LinearCrossEntropy.apply(rows, frozen, labels)  # type: ignore[no-untyped-call]
    chunk = 256  # 1000 rows / ceil(100 / 16) = 143, and the next power of two
    gradient_and_losses = tokens * (2 * hidden + 4)
    inputs = rows.nbytes + frozen.nbytes  # first seen as views of themselves
    logits = chunk * vocabulary * (2 + 2 + 4)  # the last chunk's gradient, then this one's in bf16 and in float32
    assert max(live.live_bytes) == inputs + gradient_and_losses + logits


def test_liger_keeps_the_gradient_of_a_head_that_trains() -> None:
    rows = torch.zeros(64, 16, requires_grad=True)
    head = torch.zeros(100, 16, requires_grad=True)
    loss = kernels.LinearCrossEntropy.apply(rows, head, torch.zeros(64, dtype=torch.int64))  # type: ignore[no-untyped-call]
    gradients = torch.autograd.grad(loss, (rows, head))
    assert [gradient.shape for gradient in gradients] == [rows.shape, head.shape]


def test_the_gpu_list_of_autocast_is_followed_only_under_autocast() -> None:
    norm = kernels.in_float32(torch.nn.functional.layer_norm)
    x = torch.zeros(2, 8, dtype=torch.bfloat16)
    assert norm(x, [8]).dtype is torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        assert norm(x, [8]).dtype is torch.float32
