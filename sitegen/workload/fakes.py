"""A job whose tensors have shapes and storages but no memory, built from a model's configuration alone.

The model and its adapter are built on the ``meta`` device by the code that a measured process runs, then each tensor is
replaced by a fake CPU one. No value exists, so what libraries read of values is answered here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import torch
from torch._meta_registrations import _create_grouped_mm_output_tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, PreTrainedModel

from sitegen.errors import ModelError
from sitegen.records.case import Case
from sitegen.workload import convert, models
from sitegen.workload.training import Job, make_optimizer

if TYPE_CHECKING:
    from bitsandbytes.nn import Params4bit

_PACKED_ATTRIBUTES: Final = ("blocksize", "compress_statistics", "quant_type", "quant_storage", "bnb_quantized")


class Values(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves its modes untyped
    """Answer the few questions that libraries ask of values, as on the batch that the case draws.

    - ``all``, and ``==`` of one number: is every position attended to, is the row one sequence and not several
      packed ones? Yes, unless the batch is padded.
    - ``any``: is there an infinity, or another accident? No.
    - The number of AdamW's steps, kept in a tensor: any number does.
    """

    def __init__(self, case: Case) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        whole = torch.tensor(not case.padding)
        aten = torch.ops.aten
        self._answers = {aten.all.default: whole, aten.eq.Scalar: whole, aten.any.default: torch.tensor(False)}

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        """Run the operation; leave its answer where fake tensors keep the values that they know."""
        del types
        if func is torch.ops.aten._local_scalar_dense.default and args[0].constant is None:  # noqa: SLF001 - its name
            return _read(args[0])
        if func is torch.ops.aten._grouped_mm.default:  # noqa: SLF001 - its name
            return _grouped_product(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        answer = self._answers.get(func)
        if answer is not None and result.ndim == 0:
            result.constant = answer
        return result


@contextmanager
def pretending(case: Case, fake: FakeTensorMode) -> Iterator[None]:
    """Within, tensors are fake and libraries take the paths of a real run of the case.

    transformers recognises fake tensors and then gives up looking for packed sequences, which costs a mask and copies
    of keys and values that no real run has; it is kept from recognising them. PyTorch has two rules for the strides of
    a fake view; they differ where a size is 1, and the one chosen here is that of real tensors (strides decide between
    a copy and a view, and between one large product and many).
    """
    values = Values(case)  # made before the mode opens: its answers are real
    real_paths = mock.patch("transformers.utils.import_utils.is_fake_tensor", _never)
    real_strides = mock.patch("torch.fx.experimental._config.backed_size_oblivious", True)
    with real_paths, real_strides, fake, values:
        yield


def _never(_tensor: object) -> bool:
    """What takes the place of a recognition; a `Mock` would keep its arguments, and their storages, alive."""
    return False


def build(case: Case, config: dict[str, Any], fake: FakeTensorMode) -> tuple[Job, int]:
    """The job of the case, and the model's parameters before any adapter, as `models.load` gives them.

    Args:
        case: what will run.
        config: the content of the model's config.json.
        fake: the mode that the job will run in; it must not be open yet.

    Raises:
        ModelError: transformers does not know the model, or has no such attention for it.
    """
    model = _on_meta(case, config)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    with torch.device("meta"):
        if case.mode == "training":
            model = models._prepared_for_training(case, model)  # noqa: SLF001 - the very code of a real run
        model = models._with_adapter(case, model)  # noqa: SLF001 - the same
    _materialise(model, case, fake)
    if case.mode != "training":
        return Job(case, model.eval()), parameters
    model = model.train()
    optimizer: Any = make_optimizer(case, model)
    if case.optimizer == "adamw-8bit":  # its code books are computed from values, so they are made before they are fake
        optimizer.name2qmap = {name: fake.from_tensor(book) for name, book in optimizer.name2qmap.items()}
    return Job(case, model, optimizer), parameters


def _on_meta(case: Case, config: dict[str, Any]) -> PreTrainedModel:
    """The model without any memory, 4-bit layers in their place."""
    known = convert.known_config(copy.deepcopy(config))
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(
                known, dtype=getattr(torch, case.dtype), attn_implementation=case.attention
            )
    except (ValueError, ImportError) as error:
        raise _no_such_model(case, known.model_type, error) from error
    if case.method == "qlora":
        from transformers.quantizers import AutoHfQuantizer  # noqa: PLC0415 - asks for bitsandbytes, an extra

        quantizer = AutoHfQuantizer.from_config(models._quantization(case), pre_quantized=False)  # noqa: SLF001
        quantizer.preprocess_model(model=model, device_map=None)
        quantizer.postprocess_model(model)
    return model


def _no_such_model(case: Case, model_type: str, error: Exception) -> ModelError:
    """What transformers says of a model that it cannot build, without its lists; the way out where sdpa is missing."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    what = f"transformers cannot build this {model_type} model with --attention {case.attention}"
    if "scaled_dot_product_attention" in first:
        return ModelError(f"{what}: it has no sdpa for this architecture.", "Use --attention eager.")
    return ModelError(f"{what}: {first}", "Choose another --attention, or another model.")


def _materialise(model: torch.nn.Module, case: Case, fake: FakeTensorMode) -> None:
    """Replace every parameter and buffer by a fake CPU tensor; those that are shared stay shared."""
    twins: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def twin(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in twins:  # the original is kept beside its twin, so that no other takes its id
            twins[id(tensor)] = tensor, _twin(tensor, getattr(torch, case.dtype))
        return twins[id(tensor)][1]

    with _code_books(case, fake), fake, torch.no_grad():
        for module in model.modules():
            for tensors in (module._parameters, module._buffers):  # noqa: SLF001 - replaced in place
                twins_of = {name: twin(tensor) for name, tensor in tensors.items() if tensor is not None}
                tensors.update(twins_of)  # type: ignore[arg-type]  # a parameter's twin is a parameter


def _code_books(case: Case, fake: FakeTensorMode) -> AbstractContextManager[Any]:
    """Give double quantisation a fake code book: bitsandbytes computes it from values, and keeps it for real runs."""
    if case.method != "qlora":
        return nullcontext()
    from bitsandbytes import functional  # noqa: PLC0415 - an extra

    return mock.patch.dict(functional.name2qmap, dynamic=fake.from_tensor(functional.create_dynamic_map()))


def _twin(tensor: torch.Tensor, loaded: torch.dtype) -> torch.Tensor:
    """A fake tensor of the same shape and dtype; packed, from the dtype it is loaded in, when it stands for 4 bits."""
    if type(tensor).__name__ == "Params4bit":
        return _packed(tensor, loaded)
    empty = torch.empty_like(tensor, device="cpu")
    return torch.nn.Parameter(empty, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else empty


def _packed(weight: Params4bit, loaded: torch.dtype) -> torch.nn.Parameter:
    """A 4-bit weight and its quantisation state: a plain parameter, for bitsandbytes' own does not trace."""
    from bitsandbytes.functional import quantize_4bit  # noqa: PLC0415 - an extra

    data, state = quantize_4bit(
        torch.empty(weight.shape, dtype=loaded),
        blocksize=weight.blocksize,
        compress_statistics=weight.compress_statistics,
        quant_type=weight.quant_type,
        quant_storage=weight.quant_storage,
    )
    packed: Any = torch.nn.Parameter(data, requires_grad=False)
    for name in _PACKED_ATTRIBUTES:
        setattr(packed, name, getattr(weight, name))
    packed.quant_state = state
    return packed  # type: ignore[no-any-return]


def _read(tensor: torch.Tensor) -> float:
    """The value of a tensor that has none: any, where it is a number that only scales others.

    Raises:
        ModelError: the program's course may depend on it.
    """
    if tensor.is_floating_point():
        return 1.0
    raise ModelError(
        "This model cannot be traced: what it allocates depends on the values of a tensor.",
        "Measure it instead: sitegen measure.",
    )


def _grouped_product(
    left: torch.Tensor,
    right: torch.Tensor,
    offsets: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The result of the experts' grouped product: PyTorch's rule for fake tensors refuses the float32 of its kernel."""
    del bias
    product: torch.Tensor = _create_grouped_mm_output_tensor(left, right, offsets, out_dtype)  # type: ignore[no-untyped-call]
    return product
