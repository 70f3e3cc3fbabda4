"""A model's configuration with fewer layers, and after how many its layers repeat."""

from __future__ import annotations

from typing import Any, Final

import torch
from transformers import AutoModelForCausalLM
from transformers.pytorch_utils import Conv1D

from sitegen.workload import convert

REGULAR: Final = frozenset(
    {
        "llama",
        "mistral",
        "qwen2",
        "qwen3",
        "gemma2",
        "gemma3_text",
        "phi3",
        "olmo2",
        "smollm3",
        "gpt2",
        "gpt_neox",
        "granite",
        "mixtral",
        "qwen3_moe",
        "gpt_oss",
    }
)
"""The architectures whose layers differ only by what per-layer lists of their configuration say."""

_LAYERS: Final = "num_hidden_layers"
_INDEX_LISTS: Final = ("mlp_only_layers",)
_INTERVALS: Final = {"decoder_sparse_step": 1}


class Layers:
    """The layers of a configuration. Raises what `convert.known_config` raises."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._known = convert.known_config(dict(config)).get_text_config()
        self.count: int = self._known.num_hidden_layers
        resolved: dict[str, Any] = self._known.to_dict()
        self._lists = {
            name: list(value)
            for name, value in resolved.items()
            if isinstance(value, list | tuple) and len(value) == self.count
        }
        self._resolved = resolved

    @property
    def regular(self) -> bool:
        """Whether a shallower model of the kind is known to be the deep one with layers left out."""
        named = any(self._resolved.get(name) for name in _INDEX_LISTS)
        uneven = any(self._resolved.get(name, usual) != usual for name, usual in _INTERVALS.items())
        return self._known.model_type in REGULAR and not named and not uneven

    @property
    def kinds(self) -> list[tuple[str, ...]]:
        """What each layer is, as far as the configuration tells."""
        return [tuple(repr(values[layer]) for values in self._lists.values()) for layer in range(self.count)]

    @property
    def window(self) -> int | None:
        """The sliding window in tokens, where some layer may have one."""
        size: int | None = getattr(self._known, "sliding_window", None)
        return size

    def cut(self, count: int) -> dict[str, Any]:
        """The configuration with its first `count` layers."""
        name = self._known.attribute_map.get(_LAYERS, _LAYERS)
        kept = {key: value for key, value in self._config.items() if key not in (_LAYERS, name)}
        return {**kept, name: count, **{key: values[:count] for key, values in self._lists.items()}}


def matrices(config: dict[str, Any]) -> list[str]:
    """The names of the modules that an adapter can go beside, those of the head left out."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(convert.known_config(dict(config)))
    head = model.get_output_embeddings()
    found = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear | Conv1D) and module is not head
    }
    return sorted(found)
