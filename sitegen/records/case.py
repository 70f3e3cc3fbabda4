"""A case: every option of a workload, under the names of the command line."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, Literal

import msgspec

from sitegen.errors import UsageError

Mode = Literal["baseline", "inference", "training", "generation"]
Method = Literal["full", "lora", "qlora"]
Dtype = Literal["float32", "bfloat16", "float16"]
MixedPrecision = Literal["none", "bf16"]
Optimizer = Literal["adamw", "adamw-8bit", "sgd", "sgd-momentum", "adafactor"]
Attention = Literal["sdpa", "eager"]
Loss = Literal["full", "chunked"]
Logits = Literal["all", "last"]
ZeroGrad = Literal["keep", "free"]
Allocator = Literal["default", "fixed", "jemalloc", "mimalloc", "tcmalloc"]
Device = Literal["cpu"]

DEFAULT_MODEL: Final = "smollm2-135m-instruct"
SEVEN_PROJECTIONS: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

_TRAINING_ONLY: Final = (
    "mixed_precision",
    "optimizer",
    "foreach",
    "gradient_checkpointing",
    "reentrant",
    "gradient_accumulation",
    "loss",
    "zero_grad",
    "steps",
)
_ADAPTER_ONLY: Final = ("lora_rank", "lora_targets", "modules_to_save")
_SHAPE: Final = ("batch_size", "sequence_length", "padding", "attention", "dtype", "method")
_COUNTS: Final = (
    "batch_size",
    "sequence_length",
    "new_tokens",
    "gradient_accumulation",
    "lora_rank",
    "steps",
    "timeout",
)
_LIMITS: Final = {"timeout": 7 * 24 * 3600, "seed": 2**63 - 1, "threads": 1024}
_MODULE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of one workload: what is loaded, what is executed, under which allocator.

    `batch_size` is that of a micro-batch; `sequence_length` counts tokens; `lora_targets` are module names;
    `threads` is ``None`` for all the cores that the process may use; `timeout` is in seconds and, being a limit
    rather than a property of the run, is not part of the identity.
    """

    model: str = DEFAULT_MODEL
    revision: str | None = None
    mode: Mode = "training"
    method: Method = "full"
    dtype: Dtype = "float32"
    mixed_precision: MixedPrecision = "none"
    optimizer: Optimizer = "adamw"
    foreach: bool = False
    batch_size: int = 1
    sequence_length: int = 256
    new_tokens: int = 32
    gradient_checkpointing: bool = False
    reentrant: bool = False
    gradient_accumulation: int = 1
    attention: Attention = "sdpa"
    loss: Loss = "full"
    logits: Logits = "all"
    zero_grad: ZeroGrad = "keep"
    padding: bool = False
    lora_rank: int = 8
    lora_targets: tuple[str, ...] = ("q_proj", "v_proj")
    modules_to_save: tuple[str, ...] = ()
    double_quant: bool = False
    steps: int = 2
    seed: int = 0
    threads: int | None = None
    allocator: Allocator = "default"
    device: Device = "cpu"
    timeout: int = 900

    def options(self) -> dict[str, Any]:
        """Every option with its value, JSON types only."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built

    def changed(self) -> dict[str, Any]:
        """The options that differ from the defaults, without `timeout`: what identifies the case.

        Defaults are left out so that a new option, once added with the default that describes the old behaviour,
        leaves the identity of every earlier case as it was.
        """
        defaults = Case().options()
        return {name: value for name, value in self.options().items() if value != defaults[name] and name != "timeout"}

    @property
    def id(self) -> str:
        """A readable and unique name, safe as a file name, e.g. ``training-full-float32-b8-s256-fixed-0b1c2d3e``."""
        digest = hashlib.sha256(msgspec.json.encode(self.changed(), order="sorted")).hexdigest()[:8]
        return "-".join([*_words(self), digest])

    def checked(self) -> Case:
        """The case itself.

        Raises:
            UsageError: an option is out of its range, or says something that this mode or method never reads.
        """
        for name in _COUNTS:
            _require_positive(name, getattr(self, name))
        if self.threads is not None:
            _require_positive("threads", self.threads)
        _require_bounded(self)
        _require_relevant(self)
        _require_sound(self)
        return self


def option_name(field: str) -> str:
    """The command line's spelling of a field: ``batch_size`` → ``--batch-size``."""
    return "--" + field.replace("_", "-")


def _words(case: Case) -> list[str]:
    """The readable part of a case's name."""
    words = [] if case.model == DEFAULT_MODEL else [_slug(case.model)]
    words.append(case.mode)
    if case.mode != "baseline":
        words += [case.method, case.dtype, f"b{case.batch_size}", f"s{case.sequence_length}"]
    if case.gradient_checkpointing:
        words.append("checkpointing")
    words.append(case.allocator)
    return words


def _slug(name: str) -> str:
    """Lower-case letters, digits and dashes only."""
    return "".join(c if c.isalnum() and c.isascii() else "-" for c in name.lower()).strip("-")[:60]


def _require_positive(field: str, value: int) -> None:
    """Refuse a count below one."""
    if value < 1:
        raise UsageError(f"{option_name(field)} is {value}; it must be 1 or more.")


def irrelevant_options(case: Case) -> tuple[str, ...]:
    """The options that this mode and method never read."""
    fields: tuple[str, ...] = ()
    if case.mode == "baseline":
        fields += (*_SHAPE, *_ADAPTER_ONLY, "double_quant")
    if case.mode != "training":
        fields += _TRAINING_ONLY
    if case.mode != "inference":
        fields += ("logits",)
    if case.mode != "generation":
        fields += ("new_tokens",)
    if case.method == "full":
        fields += _ADAPTER_ONLY
    if case.method != "qlora":
        fields += ("double_quant",)
    return fields


def _require_relevant(case: Case) -> None:
    """Refuse an option that would be silently ignored: the reader of the record would believe it acted."""
    changed = case.changed()
    for field in irrelevant_options(case):
        if field in changed:
            raise UsageError(
                f"{option_name(field)} has no effect with --mode {case.mode} --method {case.method}.",
                "Leave it out, or change the mode or the method.",
            )


def _require_bounded(case: Case) -> None:
    """Refuse numbers that no run can take, and names that are no module's."""
    for field, limit in _LIMITS.items():
        value = getattr(case, field)
        if value is not None and not 0 <= value <= limit:
            raise UsageError(f"{option_name(field)} is {value}; it must be between 0 and {limit}.")
    for field in ("lora_targets", "modules_to_save"):
        names = getattr(case, field)
        wrong = [name for name in names if not _MODULE.fullmatch(name)]
        if wrong or len(set(names)) < len(names):
            raise UsageError(
                f"{option_name(field)} has {wrong[0] if wrong else 'the same name twice'!r}.",
                "Give names of modules, each once, e.g. q_proj,v_proj.",
            )


def _require_sound(case: Case) -> None:
    """Refuse combinations that no run can honour."""
    if case.reentrant and not case.gradient_checkpointing:
        raise UsageError("--reentrant needs --gradient-checkpointing.", "Add it, or leave --reentrant out.")
    if case.mixed_precision == "bf16" and case.dtype != "float32":
        raise UsageError(
            f"--mixed-precision bf16 keeps float32 weights, but --dtype is {case.dtype}.",
            "Use --dtype float32 with it, or leave it out.",
        )
    if case.method != "full" and not case.lora_targets:
        raise UsageError("--lora-targets is empty.", "Name at least one module, e.g. q_proj,v_proj.")
    if case.mode == "training" and case.sequence_length == 1:
        raise UsageError("--sequence-length is 1; predicting the next token takes at least 2 tokens.")
    if case.foreach and case.optimizer in ("adafactor", "adamw-8bit"):
        raise UsageError(f"--foreach does not exist for --optimizer {case.optimizer}.", "Leave --foreach out.")
