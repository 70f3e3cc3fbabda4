"""What Unsloth's fused LoRA allocates on 4-bit weights: a stand-in in the sense of `sitegen.workload.kernels`.

The three projections of attention share one function: the rows that dropout has thinned are kept, one set a
projection, and the input's gradient is written over the input. Source: `fused_ops/unsloth_lora/bnb/fast_lora.py` of
https://github.com/foundation-model-stack/fms-acceleration, after https://github.com/unslothai/unsloth
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import torch
from bitsandbytes.functional import dequantize_4bit

from sitegen.workload.kernels import Context, Module, dropout

_ADAPTER: Final = "default"
_ATTENTION: Final = ("q_proj", "k_proj", "v_proj")


def install(model: Module) -> None:
    """Let the attention of a model with LoRA on its four projections use the fused function."""
    for module in model.modules():
        if all(hasattr(getattr(module, name, None), "lora_A") for name in (*_ATTENTION, "o_proj")):
            projections = tuple(getattr(module, name) for name in _ATTENTION)
            waiting: list[torch.Tensor] = []
            for projection in projections:
                projection.forward = partial(_next_of, projections, waiting)
            module.o_proj.forward = partial(_alone, module.o_proj)


def _next_of(projections: tuple[Any, ...], waiting: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The output of the projection whose turn it is; the first one called computes them all."""
    if not waiting:
        waiting.extend(_fused(x, projections))
    return waiting.pop(0)


def _alone(projection: Module, x: torch.Tensor) -> torch.Tensor:
    """The output of one projection."""
    return _fused(x, (projection,))[0]


def _fused(x: torch.Tensor, layers: tuple[Any, ...]) -> tuple[torch.Tensor, ...]:
    """Apply some layers to one input."""
    adapters = [part[_ADAPTER].weight for layer in layers for part in (layer.lora_A, layer.lora_B)]
    outputs: tuple[torch.Tensor, ...] = FusedLora.apply(x, layers, *adapters)  # type: ignore[no-untyped-call]
    return outputs


class FusedLora(torch.autograd.Function):
    """Some LoRA layers over one input of shape (batch, sequence, width).

    `adapters` are the A and the B of each layer in turn: the parameters that receive gradients.
    """

    @staticmethod
    def forward(
        ctx: Context, x: torch.Tensor, layers: tuple[Any, ...], *adapters: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """The output of each layer; kept: the input, the adapters and the thinned rows."""
        rows = x.view(-1, x.shape[-1])
        products = [
            _product(rows, layer, a, b) for layer, a, b in zip(layers, adapters[::2], adapters[1::2], strict=True)
        ]
        ctx.layers = layers
        ctx.save_for_backward(x, *adapters, *(thinned for _, thinned in products))
        return tuple(output.view(*x.shape[:-1], -1) for output, _ in products)

    @staticmethod
    def backward(ctx: Context, *gradients: torch.Tensor) -> tuple[Any, ...]:
        """The gradient of the input, and those of the adapters, a layer at a time."""
        count = len(ctx.layers)
        x, *kept = ctx.saved_tensors
        a_s, b_s, thinned = kept[: 2 * count : 2], kept[1 : 2 * count : 2], kept[2 * count :]
        rows = [gradient.reshape(-1, gradient.shape[-1]) for gradient in gradients]
        of_adapters: list[torch.Tensor] = []
        for row, a, b, thin in zip(rows, a_s, b_s, thinned, strict=True):
            of_adapters += [(thin.t() @ (row @ b.to(row.dtype))).t(), ((a.to(row.dtype) @ thin.t()) @ row).t()]
        total: torch.Tensor | None = None
        for layer, row, a, b, thin in zip(ctx.layers, rows, a_s, b_s, thinned, strict=True):
            total = _with_base(total, layer, row, x.view(-1, x.shape[-1]) if count > 1 else None)
            total += (thin != 0) * (row @ b.to(row.dtype) @ a.to(row.dtype))
        return total.view(x.shape) if total is not None else None, None, *of_adapters


def _product(rows: torch.Tensor, layer: Module, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A layer's output, and the rows that its adapter saw."""
    output = rows @ _weight(layer).t()
    thinned = dropout(rows, layer.lora_dropout[_ADAPTER].p)
    output += (thinned @ a.to(rows.dtype).t()) @ b.to(rows.dtype).t()
    return output, thinned


def _with_base(
    total: torch.Tensor | None,
    layer: Module,
    row: torch.Tensor,
    place: torch.Tensor | None,
) -> torch.Tensor:
    """The input's gradient with a base layer's share; the first share goes to `place`, or to a new tensor."""
    weight = _weight(layer)
    if total is not None:
        total += row @ weight
        return total
    return row @ weight if place is None else torch.matmul(row, weight, out=place)


def _weight(layer: Module) -> torch.Tensor:
    """The layer's weight in the compute dtype, unpacked for one product."""
    packed = layer.base_layer.weight
    weight: torch.Tensor = dequantize_4bit(packed, packed.quant_state)
    return weight
