"""What does not depend on the batch: weights, gradients, optimizer state, and the copies made of them.

The bytes are those of the tensors themselves. PyTorch's optimizers also count their steps in four bytes a tensor.
"""

from __future__ import annotations

from typing import Final

from sitegen.memory.formulas.arithmetic import Value, ceil_div, greatest
from sitegen.memory.formulas.formula import Formula, computed, counted
from sitegen.memory.formulas.symbols import BYTES
from sitegen.units import MB_BYTES, MIB_BYTES

_COUNTED: Final = "counted from the tensors that torch keeps"
_ADAM: Final = "Kingma and Ba, Adam, 2015, algorithm 1: arXiv 1412.6980"
_8BIT: Final = "Dettmers et al., 8-bit Optimizers via Block-wise Quantization, 2022: arXiv 2110.02861"
_8BIT_BLOCK: Final = 256
"""Elements that share a scale: `blocksize` of bitsandbytes' blockwise optimizers (bitsandbytes/optim/optimizer.py)."""


@counted("W", "poids", BYTES, _COUNTED)
def weights_bytes(parameters: Value, number_bytes: Value) -> Value:
    """What it takes to hold a model, hence to run it before any activation."""
    return parameters * number_bytes


@counted("F", "facture fixe de l’entraînement complet", BYTES, _ADAM)
def fixed_bill(parameters: Value, number_bytes: Value) -> Value:
    """Weights, gradients and the two moments of Adam, all in one number format."""
    return 4 * parameters * number_bytes


@counted("F", "facture fixe en précision mixte", BYTES, "Rajbhandari et al., ZeRO, 2020, section 3.1: arXiv 1910.02054")
def sixteen_bytes(parameters: Value) -> Value:
    """The usual rule of 16 bytes a parameter: 2 + 2 in 16 bits, and 4 + 4 + 4 in 32."""
    return 16 * parameters


@counted(
    "F",
    "quatre fois les poids",
    BYTES,
    "Hugging Face, Model Memory Utility: https://huggingface.co/spaces/hf-accelerate/model-memory-usage",
)
def four_times_weights(weights: Value) -> Value:
    """The usual rule for training with Adam, activations left out."""
    return 4 * weights


@counted("G", "gradients", BYTES, _COUNTED)
def gradients_bytes(trainable: Value, number_bytes: Value) -> Value:
    """One number for each parameter that trains."""
    return trainable * number_bytes


@counted("S", "état d’AdamW", BYTES, _ADAM)
def adamw_state_bytes(trainable: Value, number_bytes: Value) -> Value:
    """Two moments for each parameter that trains, made at the first update."""
    return 2 * trainable * number_bytes


@counted("S", "état de SGD avec moment", BYTES, _COUNTED)
def momentum_state_bytes(trainable: Value, number_bytes: Value) -> Value:
    """One buffer for each parameter that trains; plain SGD has none."""
    return trainable * number_bytes


@counted("S", "état d’AdamW en 8 bits, pour un tenseur d’au moins 4096 éléments", BYTES, _8BIT)
def adamw_8bit_state_bytes(elements: Value) -> Value:
    """Two moments of one byte, and for each a float32 scale for 256 elements; smaller tensors keep 32-bit moments."""
    return 2 * elements + 2 * 4 * ceil_div(elements, _8BIT_BLOCK)


@counted(
    "S", "état d’Adafactor, pour une matrice", BYTES, "Shazeer and Stern, Adafactor, 2018, section 3: arXiv 1804.04235"
)
def adafactor_state_bytes(rows: Value, columns: Value, number_bytes: Value) -> Value:
    """A number a row and a number a column of each matrix; a vector keeps one for each of its elements."""
    return (rows + columns) * number_bytes


@counted("R", "pic de la reprise, sauvegarde chargée à côté", BYTES, _COUNTED)
def resume_bytes(weights: Value, state: Value) -> Value:
    """A live model and its state, and beside them the saved ones just read to the same device; no gradient yet."""
    return 2 * (weights + state)


@counted("R", "pic de la reprise, sauvegarde jamais libérée", BYTES, _COUNTED)
def resume_kept_bytes(weights: Value, gradients: Value, state: Value) -> Value:
    """The same once training goes on, when something still holds what was read."""
    return weights + gradients + state + (weights + state)


@counted("R", "pic d’une copie", BYTES, _COUNTED)
def copy_bytes(weights: Value, copied: Value) -> Value:
    """What is held, and what is copied at once: all of it, the largest file when loading, the largest tensor."""
    return weights + copied


@counted("V", "pic de l’entraînement", BYTES, "the maximum over the phases, never the sum of the components")
def training_peak(
    weights: Value, kept_gradients: Value, gradients: Value, state: Value, activations: Value, temporaries: Value
) -> Value:
    """The higher of two moments: the start of the backward, when all is saved, and the update, when nothing is."""
    return greatest(
        weights + kept_gradients + state + activations,
        weights + gradients + state + temporaries,
    )


@computed("T_Mo", "taille en Mo", "Mo", "IEC 80000-13")
def megabytes(size_bytes: Value) -> Value:
    """A size in 10^6 bytes."""
    return size_bytes / MB_BYTES


@computed("T_Mio", "taille en Mio", "Mio", "IEC 80000-13")
def mebibytes(size_bytes: Value) -> Value:
    """A size in 2^20 bytes."""
    return size_bytes / MIB_BYTES


STATE_BYTES: Final[dict[str, Formula[int]]] = {"adamw": adamw_state_bytes, "sgd-momentum": momentum_state_bytes}
"""The state of the optimizers that keep whole numbers for each parameter, by their name on the command line."""
