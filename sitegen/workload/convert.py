"""Turn any causal language model into one safetensors file in one dtype: what every measured process loads.

Tied weights are written once. The values come from safetensors, from GGUF, or from a seed.
"""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from safetensors import SafetensorError
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, GenerationConfig

from sitegen.errors import ConfigurationError, ModelError, StorageError
from sitegen.records.case import Dtype
from sitegen.units import MB_BYTES, readable
from sitegen.workload.checkpoints import SINGLE
from sitegen.workload.sources import Origin, Say

SEED: Final = 0
"""Of a random initialisation; memory does not depend on the values."""

_DIMENSIONS: Final = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
_ONE_FILE: Final = 2**62
_MARGIN_BYTES: Final = 16 * MB_BYTES
_GENERATION: Final = "generation_config.json"


def known_config(raw: dict[str, Any]) -> Any:  # noqa: ANN401 - transformers has no types
    """The configuration as transformers understands it.

    Raises:
        ConfigurationError: an unknown architecture, an impossible dimension, a value that transformers refuses.
    """
    model_type = raw["model_type"]
    if model_type not in CONFIG_MAPPING:
        raise ConfigurationError(
            f"config.json: transformers {transformers.__version__} does not know model_type {model_type!r}.",
            "Upgrade transformers, or choose another model; code that comes with a model is never run.",
        )
    architecture = CONFIG_MAPPING[model_type]
    try:
        _require_dimensions(raw, architecture())
        return architecture.from_dict(raw)
    except ModelError:
        raise
    except Exception as error:
        raise ConfigurationError(
            f"config.json was refused by transformers: {_first_line(error)}", "Correct the key."
        ) from error


def load(origin: Origin, config: Any, dtype: Dtype) -> Any:  # noqa: ANN401 - transformers has no types
    """The model in memory, in `dtype`; raises `ModelError` when files and configuration do not go together."""
    torch_dtype = getattr(torch, dtype)
    try:
        if origin.folder is None:
            torch.manual_seed(SEED)
            return AutoModelForCausalLM.from_config(config, dtype=torch_dtype)
        model, info = AutoModelForCausalLM.from_pretrained(
            origin.folder,
            config=copy.deepcopy(config),  # reading GGUF adds a quantisation to it
            gguf_file=origin.gguf,
            dtype=torch_dtype,
            output_loading_info=True,
            use_safetensors=True,
        )
    except (OSError, SafetensorError, ValueError, RuntimeError, KeyError, TypeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's own refusal, not transformers'
        raise ModelError(
            f"transformers could not load the model: {_first_line(error)}", "Choose another model, or another version."
        ) from error
    if info["missing_keys"]:
        missing = sorted(info["missing_keys"])
        raise ModelError(f"The weights lack {len(missing)} of the model's tensors, among them {missing[0]}.")
    return model


def rehoused(model: Any, config: Any, parameters: int) -> Any:  # noqa: ANN401 - transformers has no types
    """The same tensors under the shipped configuration, so that no source can move a figure.

    Raises:
        ModelError: another number of parameters, or tensors of another name or shape.
    """
    if model.num_parameters() != parameters:
        raise ModelError(f"The weights hold {model.num_parameters()} parameters; this model has {parameters}.")
    with torch.device("meta"):
        clean = AutoModelForCausalLM.from_config(config, dtype=model.dtype)
    try:
        clean.load_state_dict(model.state_dict(), assign=True)
    except RuntimeError as error:
        raise ModelError(f"The weights are not those of the shipped configuration: {_first_line(error)}") from error
    clean.tie_weights()
    return clean


def save(model: Any, origin: Origin, into: Path, say: Say) -> None:  # noqa: ANN401 - transformers has no types
    """Write config.json, the generation settings and one safetensors file into `into`.

    The source's generation settings are copied as they are: transformers refuses to write some that it reads.

    Raises:
        StorageError: no room on the disk.
    """
    size_bytes = sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))
    _require_room(into, size_bytes + _MARGIN_BYTES)
    say(f"Writing {SINGLE} ({readable(size_bytes)}).")
    if model.can_generate():
        model.generation_config = GenerationConfig.from_model_config(model.config)
    try:
        model.save_pretrained(into, max_shard_size=_ONE_FILE)
    except SafetensorError as error:
        raise StorageError(
            f"Writing {SINGLE} failed: {_first_line(error)}", "Free some space, then try again."
        ) from error
    if origin.folder is not None and (origin.folder / _GENERATION).is_file():
        shutil.copyfile(origin.folder / _GENERATION, into / _GENERATION)


def _require_dimensions(raw: dict[str, Any], default: Any) -> None:  # noqa: ANN401 - transformers has no types
    """Refuse a configuration that leaves a dimension to the library's default, which would be another model's.

    `default` is the architecture's default configuration: it knows which dimensions exist and their other names.
    """
    default, text = default.get_text_config(), raw.get("text_config", raw)
    for name in _DIMENSIONS:
        alias = default.attribute_map.get(name, name)
        value = text.get(name, text.get(alias))
        if hasattr(default, name) and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            problem = "has no" if value is None else f"has {value!r} as"
            raise ConfigurationError(
                f"config.json {problem} {alias}.", "Complete it: a whole number, 1 or more, is expected."
            )


def _require_room(into: Path, size_bytes: int) -> None:
    """Refuse to begin a file that the disk cannot hold."""
    free_bytes = shutil.disk_usage(into).free
    if free_bytes < size_bytes:
        raise StorageError(
            f"The disk has {readable(free_bytes)} free; the prepared model takes {readable(size_bytes)}.",
            "Free some space, or set SITEGEN_CACHE to a folder on another disk.",
        )


def _first_line(error: BaseException) -> str:
    """The first line that says something; with the next one when it only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
