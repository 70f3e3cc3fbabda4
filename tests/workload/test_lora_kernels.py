"""The fused LoRA stand-in: what it keeps, on a real 4-bit layer."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from bitsandbytes.functional import quantize_4bit

from sitegen.workload.lora_kernels import FusedLora

WIDTH, RANK = 64, 4


def projection() -> SimpleNamespace:
    packed, state = quantize_4bit(torch.zeros(WIDTH, WIDTH, dtype=torch.bfloat16), quant_type="nf4")
    packed.quant_state = state
    return SimpleNamespace(base_layer=SimpleNamespace(weight=packed), lora_dropout={"default": SimpleNamespace(p=0.1)})


def test_three_projections_keep_one_thinned_input_each_and_overwrite_the_input() -> None:
    layers = tuple(projection() for _ in range(3))
    adapters = [torch.zeros(*shape, requires_grad=True) for _ in layers for shape in ((RANK, WIDTH), (WIDTH, RANK))]
    x = torch.zeros(2, 5, WIDTH, dtype=torch.bfloat16, requires_grad=True)
    outputs = FusedLora.apply(x, layers, *adapters)  # type: ignore[no-untyped-call]
    assert [tuple(output.shape) for output in outputs] == [(2, 5, WIDTH)] * 3
    saved = [tensor for tensor in outputs[0].grad_fn.saved_tensors if tensor.shape == (10, WIDTH)]
    assert len({tensor.data_ptr() for tensor in saved}) == 3
    gradient, *of_adapters = torch.autograd.grad(outputs, (x, *adapters), [torch.ones_like(o) for o in outputs])
    assert gradient.data_ptr() == x.data_ptr()
    assert [tensor.shape for tensor in of_adapters] == [tensor.shape for tensor in adapters]


def test_one_projection_leaves_its_input() -> None:
    adapters = [torch.zeros(*shape, requires_grad=True) for shape in ((RANK, WIDTH), (WIDTH, RANK))]
    x = torch.zeros(2, 5, WIDTH, dtype=torch.bfloat16, requires_grad=True)
    (output,) = FusedLora.apply(x, (projection(),), *adapters)  # type: ignore[no-untyped-call]
    (gradient,) = torch.autograd.grad(output, x, torch.ones_like(output))
    assert gradient.data_ptr() != x.data_ptr()
