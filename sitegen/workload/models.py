"""A prepared folder in, a model ready to run its case out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from sitegen.records.case import Case
from sitegen.workload.training import Job, make_optimizer

ALPHA_OVER_RANK: Final = 2  # lora_alpha = 2 r; it scales values and moves no byte


def import_for(case: Case, folder: str | None) -> None:
    """Import all that the case will need, so that the baseline holds it and the load phase does not.

    transformers imports an architecture's code when it is first asked for; peft and bitsandbytes are imported only by
    the cases that use them.
    """
    if folder is not None:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        AutoModelForCausalLM._model_mapping[type(config)]  # noqa: SLF001 - the look-up imports the class
    if case.method != "full":
        import peft  # noqa: F401, PLC0415 - see above
    if case.method == "qlora" or case.optimizer == "adamw-8bit":
        import bitsandbytes  # noqa: F401, PLC0415 - see above


def load(case: Case, folder: Path) -> tuple[Job, int]:
    """Load the weights, attach what the method adds, and make the optimizer.

    Returns:
        The job, and the number of parameters of the model before any adapter (packed weights counted one by one).
    """
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=getattr(torch, case.dtype),
        attn_implementation=case.attention,
        quantization_config=_quantization(case),
        local_files_only=True,
    )
    parameters = sum(_logical_numel(parameter) for parameter in model.parameters())
    if case.mode != "training":
        return Job(case, _with_adapter(case, model).eval()), parameters
    model = _with_adapter(case, _prepared_for_training(case, model)).train()
    return Job(case, model, make_optimizer(case, model)), parameters


def live_bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of the storages behind the tensors, each storage once: tied weights share theirs."""
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(storages.values())


def weight_tensors(model: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a model of any architecture
    """Parameters, buffers, and the scales that 4-bit weights carry beside them."""
    yield from model.buffers()
    for parameter in model.parameters():
        yield parameter
        yield from _quantization_tensors(getattr(parameter, "quant_state", None))


def gradient_tensors(model: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a model of any architecture
    """The gradients that exist now."""
    return (parameter.grad for parameter in model.parameters() if parameter.grad is not None)


def state_tensors(optimizer: torch.optim.Optimizer | None) -> Iterator[torch.Tensor]:
    """The tensors of the optimizer's state."""
    states = optimizer.state.values() if optimizer is not None else ()
    return (value for state in states for value in state.values() if isinstance(value, torch.Tensor))


def _quantization(case: Case) -> Any:  # noqa: ANN401 - a transformers type or None
    """NF4 with the compute dtype of the case (QLoRA, Dettmers et al. 2023)."""
    if case.method != "qlora":
        return None
    from transformers import BitsAndBytesConfig  # noqa: PLC0415 - asks for bitsandbytes, an extra

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=case.double_quant,
        bnb_4bit_compute_dtype=getattr(torch, case.dtype),
    )


def _prepared_for_training(case: Case, model: Any) -> Any:  # noqa: ANN401 - a model of any architecture
    """Switch gradient checkpointing on, and give 4-bit weights peft's k-bit preparation."""
    options = {"use_reentrant": case.reentrant}
    if case.method == "qlora":
        from peft import prepare_model_for_kbit_training  # noqa: PLC0415 - only the cases with an adapter import peft

        return prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=case.gradient_checkpointing, gradient_checkpointing_kwargs=options
        )
    if case.gradient_checkpointing:
        # transformers renamed the method in the course of its version 5.
        enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
        enable(options)
    return model


def _with_adapter(case: Case, model: Any) -> Any:  # noqa: ANN401 - a model of any architecture
    """Wrap the model in a LoRA adapter when the method asks for one."""
    if case.method == "full":
        return model
    from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - only the cases with an adapter import peft

    config = LoraConfig(
        r=case.lora_rank,
        lora_alpha=ALPHA_OVER_RANK * case.lora_rank,
        target_modules=list(case.lora_targets),
        modules_to_save=list(case.modules_to_save) or None,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)


def _logical_numel(parameter: torch.Tensor) -> int:
    """Elements of a parameter; of a packed 4-bit one, those that it stands for."""
    state = getattr(parameter, "quant_state", None)
    return parameter.numel() if state is None else torch.Size(state.shape).numel()


def _quantization_tensors(state: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - bitsandbytes' QuantState or None
    """The tensors of a quantisation state: scales, code book, and the nested state of double quantisation."""
    if state is None:
        return
    for value in vars(state).values():
        if isinstance(value, torch.Tensor):
            yield value
    yield from _quantization_tensors(getattr(state, "state2", None))
