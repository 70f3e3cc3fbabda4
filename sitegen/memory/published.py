"""Estimated against measured on published runs: what a GPU adds to a trace, and the errors.

Nothing is fitted on these runs. To the live bytes of the trace (rounded to the allocator's blocks) one named term is
added: the work space of cuBLAS, once for the thread of the forward and once for that of the backward.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from sitegen.memory.cuda import CUBLAS_BYTES
from sitegen.memory.peers import PEERS, Setting
from sitegen.records.published import PublishedModel, PublishedRun, PublishedRuns, PublishedTrace

CUBLAS_HANDLES: Final = 2
"""One for the thread of the forward, one for that of the backward."""

Group = Literal["transformers", "liger", "unsloth", "untraced"]
"""Whose loss ran (`Loss`), or that the run has no trace."""
Reason = Literal["", "gptq_kernels", "not_traced_yet"]
"""Why a run has no estimate: what GPTQ's Triton kernels allocate shows on a GPU only."""


class Comparison(NamedTuple):
    """A run, how many parameters its model has, our estimate of its peak, and what the others say (by name).

    Without an estimate there is a reason.
    """

    run: PublishedRun
    parameters: int
    group: Group
    estimated_bytes: int | None
    reason: Reason
    peers: dict[str, float | None]

    @property
    def error(self) -> float | None:
        """Our signed relative error: positive when the estimate is above the measure."""
        return None if self.estimated_bytes is None else self.estimated_bytes / self.run.measured_bytes - 1

    def peer_error(self, name: str) -> float | None:
        """The same of a rule or calculator; ``None`` where it says nothing of the run."""
        said = self.peers.get(name)
        return None if said is None else said / self.run.measured_bytes - 1


def estimated_bytes(trace: PublishedTrace) -> int:
    """Peak of the allocated bytes on a GPU."""
    return trace.peak_bytes + CUBLAS_HANDLES * CUBLAS_BYTES


def compared(published: PublishedRuns, traces: Mapping[str, PublishedTrace]) -> tuple[Comparison, ...]:
    """Every run, in the order of the table; a run without a trace has its reason."""
    return tuple(_comparison(run, published.models[run.model], traces.get(run.id)) for run in published.runs)


def _comparison(run: PublishedRun, model: PublishedModel, trace: PublishedTrace | None) -> Comparison:
    """One run."""
    if trace is None:
        return Comparison(
            run, model.parameters, "untraced", None, "not_traced_yet" if run.traceable else "gptq_kernels", {}
        )
    said = {peer.name: peer.bytes_of(setting_of(run, model)) for peer in PEERS}
    return Comparison(run, model.parameters, run.loss, estimated_bytes(trace), "", said)


def setting_of(run: PublishedRun, model: PublishedModel) -> Setting:
    """A run in the terms of the rules."""
    config = model.config
    layers = _dimension(config, "num_hidden_layers", "n_layer")
    return Setting(
        method=run.method,
        parameters=model.parameters,
        adapter_parameters=layers * sum(run.lora_rank * sum(_widths(config, name)) for name in run.lora_targets),
        weight_bytes=0.5 if run.method == "qlora" else 2.0,
        checkpointing=True,
        batch_size=run.batch_size,
        sequence_length=run.sequence_length,
        hidden=_dimension(config, "hidden_size", "n_embd"),
        intermediate=_dimension(config, "intermediate_size", "n_inner"),
        layers=layers,
        heads=_dimension(config, "num_attention_heads", "n_head"),
        vocabulary=int(config["vocab_size"]),
    )


def _dimension(config: dict[str, Any], name: str, other: str) -> int:
    """A dimension under either of the names that configurations give it."""
    size: int = config[name] if name in config else config[other]
    return size


def _widths(config: dict[str, Any], target: str) -> tuple[int, int]:
    """Input and output width of a target in a layer; zeros where the model has none of that name."""
    if config["model_type"] == "gpt_bigcode":  # one projection: queries, and one head of keys and of values
        hidden = config["n_embd"]
        return (hidden, hidden + 2 * hidden // config["n_head"]) if target == "c_attn" else (0, 0)
    hidden = config["hidden_size"]
    shared = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    outputs = {"q_proj": hidden, "o_proj": hidden, "k_proj": shared, "v_proj": shared}
    return (hidden, outputs[target]) if target in outputs else (0, 0)
