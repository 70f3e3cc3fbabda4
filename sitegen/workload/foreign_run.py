"""Trace one published run as its authors' trainer did it, with the transformers and peft that are installed here.

That is the trainers of transformers 4.45 and 4.48 and of TRL 0.11 to 0.13: adapters in float32, dropout, autocast with
the outputs cast to float32, the gradients' norm clipped, AdamW over many tensors at once, gradients freed between
steps. Their GPU kernels are those of `sitegen.workload.kernels`; tensors are fake CPU ones.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

import peft
import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel
from transformers import modeling_flash_attention_utils as flash
from transformers.quantizers import AutoHfQuantizer

from sitegen.memory.cuda import ROUNDING_BYTES
from sitegen.records.case import Case
from sitegen.records.published import PublishedModel, PublishedRun, PublishedTrace
from sitegen.workload import fakes, kernels, models
from sitegen.workload.live import LiveBytes
from sitegen.workload.timeline import Span, steps_of

CLIPPED_NORM: Final = 1.0  # the Trainer's max_grad_norm
_STEPS: Final = 2


def trace(run: PublishedRun, published: PublishedModel) -> PublishedTrace:
    """The trace of a run's second step."""
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    config = _config(published)
    with _as_on_gpu(run, config):
        model = _model(run, config, fake)
        watch, answers = _Watch(model), _Answers(config)  # made before the mode opens: its answers are real
        with fake, answers:
            for step in range(1, _STEPS + 1):
                _train(run, watch, step)
    return watch.trace(config.vocab_size)


class _Watch:
    """A model and its optimizer in training, and what lives meanwhile."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - a model of any architecture
        self.model = model
        self.optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=True)
        self.live = LiveBytes()
        self.spans: list[Span] = []
        self.live.mark(models.weight_tensors(model), "weights")

    @contextmanager
    def phase(self, step: int, name: str) -> Iterator[None]:
        """One phase of a step."""
        start = len(self.live.operations)
        yield
        self.spans.append(Span(step, name, start, len(self.live.operations)))
        self.live.mark(models.weight_tensors(self.model), "weights")
        self.live.mark(models.gradient_tensors(self.model), "gradients")
        self.live.mark(models.state_tensors(self.optimizer), "optimizer_state")

    def trace(self, vocabulary: int) -> PublishedTrace:
        """What the last step says, sizes rounded as the GPU's allocator rounds them."""
        _round(self.live)
        phases = {phase.name: phase for phase in steps_of(self.live, self.spans, vocabulary)[-1].phases}
        highest = max(phases.values(), key=lambda phase: phase.peak_bytes)
        return PublishedTrace(
            peak_bytes=highest.peak_bytes,
            steady_bytes=self.live.live_bytes[-1],
            phase=highest.name,
            peak_operation=highest.operations[highest.peak_operation],
            phase_peak_bytes={name: phase.peak_bytes for name, phase in phases.items()},
            components=highest.components,
        )


def _train(run: PublishedRun, watch: _Watch, step: int) -> None:
    """One step of the trainer; the outputs live until the loss is handed over."""
    with watch.live:
        ids = torch.randint(0, 1000, (run.batch_size, run.sequence_length))
        mask, labels = torch.ones_like(ids), ids.clone()
        with watch.phase(step, "forward"):
            outputs = watch.model(input_ids=ids, attention_mask=mask, labels=labels)
            loss = outputs["loss"]
            del outputs
        with watch.phase(step, "backward"):
            torch.autograd.backward(loss)
        del loss
        with watch.phase(step, "optimizer_step"):
            torch.nn.utils.clip_grad_norm_(watch.model.parameters(), CLIPPED_NORM)
            watch.optimizer.step()
            watch.optimizer.zero_grad()
        torch.ones(())  # one more operation, when all that a step frees is freed


def _config(published: PublishedModel) -> Any:  # noqa: ANN401 - transformers has no types
    """The configuration, with the tokens that the trainer added."""
    raw = dict(published.config)
    raw["vocab_size"] += published.added_tokens
    return CONFIG_MAPPING[raw["model_type"]].from_dict(raw)


def _model(run: PublishedRun, config: Any, fake: FakeTensorMode) -> Any:  # noqa: ANN401 - transformers has no types
    """The model as the trainer prepares it, every tensor fake."""
    case = (
        Case(method="qlora", dtype="bfloat16", double_quant=True) if run.method == "qlora" else Case(dtype="bfloat16")
    )
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(
            config, torch_dtype=torch.bfloat16, attn_implementation="flash_attention_2"
        )
    if run.method == "qlora":
        _quantize(model, models._quantization(case))  # noqa: SLF001 - the very options of our own runs
    with torch.device("meta"):
        model = _prepared(run, model)
    fakes._materialise(model, case, fake)  # noqa: SLF001 - the same code as for our own traces
    model.train()
    if run.fused_kernels and run.method == "qlora":
        from sitegen.workload import lora_kernels  # noqa: PLC0415 - asks for bitsandbytes

        lora_kernels.install(model)
    if run.autocast != "none":
        _autocast(model)
    return model


def _quantize(model: PreTrainedModel, options: BitsAndBytesConfig) -> None:
    """Put 4-bit layers in their place."""
    quantizer = AutoHfQuantizer.from_config(options, pre_quantized=False)
    quantizer.preprocess_model(model=model, device_map=None)
    model.config._pre_quantization_dtype = torch.bfloat16  # noqa: SLF001 - what loading sets; attention reads it
    quantizer.postprocess_model(model)


def _prepared(run: PublishedRun, model: Any) -> Any:  # noqa: ANN401 - transformers has no types
    """Checkpointing, and the adapter when there is one."""
    options = {"use_reentrant": True}
    if run.kbit_preparation:
        model = peft.prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs=options)
    else:
        model.gradient_checkpointing_enable(options)
        if run.method != "full":
            model.enable_input_require_grads()
    if run.method != "full":
        adapter = peft.LoraConfig(
            r=run.lora_rank,
            lora_alpha=run.lora_rank,
            lora_dropout=run.lora_dropout,
            target_modules=list(run.lora_targets),
            task_type="CAUSAL_LM",
        )
        model = peft.get_peft_model(model, adapter)
    if run.kbit_preparation and run.autocast == "bfloat16":
        _embeddings_back_to_bf16(model)
    return model


def _embeddings_back_to_bf16(model: torch.nn.Module) -> None:
    """Undo the k-bit preparation where TRL 0.11 to 0.13 does (`peft_module_casting_to_bf16` of trainer/utils.py)."""
    for name, module in model.named_modules():
        if any(part in name for part in ("lm_head", "embed_tokens", "wte", "wpe")) and hasattr(module, "weight"):
            module.to(torch.bfloat16)


def _autocast(model: Any) -> None:  # noqa: ANN401 - transformers has no types
    """Wrap the forward as accelerate does: autocast inside, outputs cast to float32 outside."""
    from accelerate.utils import convert_outputs_to_fp32  # type: ignore[import-untyped]  # noqa: PLC0415 - used here alone

    model.forward = convert_outputs_to_fp32(torch.autocast("cpu", torch.bfloat16)(model.forward))


@contextmanager
def _as_on_gpu(run: PublishedRun, config: Any) -> Iterator[None]:  # noqa: ANN401 - transformers has no types
    """Within, libraries find the kernels of the run, and take a GPU's path where a CPU has another."""
    code = importlib.import_module(f"transformers.models.{config.model_type}.modeling_{config.model_type}")
    functional = torch.nn.functional
    replaced: list[tuple[Any, str, Any]] = [
        (PreTrainedModel, "_check_and_enable_flash_attn_2", classmethod(_with_flash)),
        (flash, "flash_attn_func", kernels.flash_attention),
        (flash, "_flash_supports_window_size", True),
        (code, "_flash_attention_forward", flash._flash_attention_forward),  # noqa: SLF001 - its name
        (functional, "dropout", kernels.dropout),
        (functional, "layer_norm", kernels.in_float32(functional.layer_norm)),
        (functional, "cross_entropy", _cross_entropy(run)),
        *_fused(run, code),
    ]
    with ExitStack() as stack:
        stack.enter_context(mock.patch("torch.fx.experimental._config.backed_size_oblivious", True))
        for owner, name, value in replaced:
            stack.enter_context(mock.patch.object(owner, name, value, create=True))
        yield


def _with_flash(_cls: type, config: Any, /, *_args: object, **_options: object) -> Any:  # noqa: ANN401 - transformers has no types
    """What takes the place of the check that FlashAttention-2 is installed."""
    config._attn_implementation = "flash_attention_2"  # noqa: SLF001 - its name
    return config


def _cross_entropy(run: PublishedRun) -> Any:  # noqa: ANN401 - one of two functions
    """The loss of the run."""
    if run.loss == "unsloth":
        return kernels.cross_entropy
    return kernels.in_float32(torch.nn.functional.cross_entropy)


def _fused(run: PublishedRun, code: Any) -> list[tuple[Any, str, Any]]:  # noqa: ANN401 - a module of transformers
    """What the run's fused kernels replace in the model's code; GPTBigCode has neither RMSNorm nor rotary embedding."""
    names = vars(code)
    norms = [value for name, value in names.items() if name.endswith("RMSNorm")] if run.fused_kernels else []
    replaced: list[tuple[Any, str, Any]] = [(norm, "forward", kernels.rms_norm) for norm in norms]
    if run.fused_kernels and "apply_rotary_pos_emb" in names:
        replaced.append((code, "apply_rotary_pos_emb", kernels.rotary))
    if run.loss == "liger":
        heads = [value for name, value in names.items() if name.endswith("ForCausalLM")]
        replaced += [(head, "forward", kernels.linear_cross_entropy_forward) for head in heads]
    return replaced


class _Answers(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves its modes untyped
    """Answer what libraries ask of values: no padding, no accident, and experts that share the tokens evenly."""

    def __init__(self, config: Any) -> None:  # noqa: ANN401 - transformers has no types
        super().__init__()  # type: ignore[no-untyped-call]
        aten = torch.ops.aten
        self._known = {aten.all.default: torch.tensor(True), aten.any.default: torch.tensor(False)}
        self._experts = getattr(config, "num_local_experts", 1)

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        """Run the operation, and leave the answer where fake tensors keep the values that they know."""
        del types
        if func is torch.ops.aten.nonzero.default:  # the tokens of one expert, among (choices, tokens)
            return torch.empty(args[0].numel() // self._experts, args[0].ndim, dtype=torch.int64)
        result = func(*args, **(kwargs or {}))
        if func in self._known:
            result.constant = self._known[func]
        return result


def _round(live: LiveBytes) -> None:
    """Round every storage to whole blocks, and count the live bytes again."""
    changes = [0] * (len(live.operations) + 2)
    for storage in live.storages:
        extra = -storage.size_bytes % ROUNDING_BYTES
        storage.size_bytes += extra
        changes[storage.born] += extra
        if storage.died is not None:
            changes[storage.died] -= extra
    total = 0
    for i in range(len(live.live_bytes)):
        total += changes[i]
        live.live_bytes[i] += total
