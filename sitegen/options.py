"""The command line's options for a case: the fields of `Case`, one option each, under the same names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click
import msgspec

from sitegen.records import case as types
from sitegen.records.case import Case, option_name

_F = TypeVar("_F", bound=Callable[..., Any])
_DEFAULTS: Final = Case()

_CHOICES: Final[dict[str, tuple[Any, str]]] = {
    "mode": (types.Mode, "What runs: one forward, optimizer steps, or decoding with a KV cache."),
    "method": (types.Method, "What trains: every weight, a LoRA adapter, or one over 4-bit (NF4) weights."),
    "dtype": (types.Dtype, "Number format that the weights are loaded in."),
    "mixed_precision": (types.MixedPrecision, "Autocast over float32 weights."),
    "optimizer": (types.Optimizer, "Optimizer."),
    "attention": (types.Attention, "Attention implementation of transformers."),
    "loss": (types.Loss, "All the logits at once, or chunks recomputed in the backward."),
    "logits": (types.Logits, "Positions whose logits inference computes."),
    "zero_grad": (types.ZeroGrad, "Between steps, keep gradients (zeroed) or free them."),
    "allocator": (types.Allocator, "malloc: glibc's, glibc's with a fixed mmap threshold, or a preloaded library."),
    "device": (types.Device, "Device."),
}
_COUNTS: Final = {
    "batch_size": "Sequences in a (micro-)batch.",
    "sequence_length": "Tokens in a sequence.",
    "new_tokens": "Tokens to generate.",
    "gradient_accumulation": "Micro-batches before each optimizer step.",
    "lora_rank": "Rank of the adapter.",
    "steps": "Optimizer steps; the state exists only after the first.",
    "seed": "Seed of the token ids.",
    "threads": "Threads of the measured process.  [default: all usable cores]",
    "timeout": "Seconds after which a case is ended and recorded as such.",
}
_FLAGS: Final = {
    "foreach": "--foreach/--no-foreach",
    "gradient_checkpointing": "--gradient-checkpointing",
    "reentrant": "--reentrant",
    "padding": "--padding",
    "double_quant": "--double-quant",
}
_FLAG_HELP: Final = {
    "foreach": "Multi-tensor optimizer step.",
    "gradient_checkpointing": "Recompute activations in the backward.",
    "reentrant": "The older, reentrant variant of checkpointing.",
    "padding": "Attention mask with padded ends.",
    "double_quant": "Quantise the scales of 4-bit weights too.",
}
_LISTS: Final = {
    "lora_targets": "Modules that get an adapter, comma-separated.",
    "modules_to_save": "Modules trained whole beside the adapter, comma-separated.",
}


def model_options(command: _F) -> _F:
    """Add ``--model``, ``--revision`` and ``--config``."""
    for decorate in (
        click.option("--config", type=click.Path(path_type=Path), help="A config.json; weights drawn at random."),
        click.option("--revision", help="Revision of a model of the hub."),
        click.option(
            "--model", default=types.DEFAULT_MODEL, show_default=True, help="Built-in name, local folder or hub id."
        ),
    ):
        command = decorate(command)
    return command


def case_options(command: _F) -> _F:
    """Add one option a field of `Case`, in the order of the fields."""
    for field in reversed([name for name in Case.__struct_fields__ if name not in ("model", "revision")]):
        command = _option(field)(command)
    return command


def estimate_options(command: _F) -> _F:
    """Add the options of a case that is not run: on a card too, and without a time limit."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print the estimate, alone, as JSON."),
        click.option(
            "--card", "cards", multiple=True, help="Say whether it fits this card of the catalogue; repeatable."
        ),
        click.option(
            "--device",
            type=click.Choice(("cpu", "cuda")),
            default="cpu",
            show_default=True,
            help="What would run it: cuda adds what a card needs beside the tensors.",
        ),
    ):
        command = decorate(command)
    left_out = ("model", "revision", "timeout", "device")
    for field in reversed([name for name in Case.__struct_fields__ if name not in left_out]):
        command = _option(field)(command)
    return command


def case_from(model: str, revision: str | None, values: dict[str, object]) -> Case:
    """The case that the options describe; raises `UsageError`."""
    lists = {name: _split(str(values[name])) for name in _LISTS}
    return msgspec.convert({"model": model, "revision": revision, **values, **lists}, Case).checked()


def _option(field: str) -> Callable[[_F], _F]:
    """The click option of one field."""
    default = getattr(_DEFAULTS, field)
    if field in _CHOICES:
        choices, text = _CHOICES[field]
        return click.option(
            option_name(field), type=click.Choice(get_args(choices)), default=default, show_default=True, help=text
        )
    if field in _FLAGS:
        return click.option(_FLAGS[field], is_flag=True, default=default, help=_FLAG_HELP[field])
    if field in _LISTS:
        return click.option(option_name(field), default=",".join(default), show_default=True, help=_LISTS[field])
    return click.option(
        option_name(field), type=int, default=default, show_default=default is not None, help=_COUNTS[field]
    )


def _split(names: str) -> tuple[str, ...]:
    """Comma-separated names as a tuple."""
    return tuple(name.strip() for name in names.split(",") if name.strip())
