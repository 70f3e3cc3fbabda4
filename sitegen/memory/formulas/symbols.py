"""What the formulas speak of: for each name, its letter, its French words and its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Symbol:
    """A quantity as a reader meets it.

    Args:
        letter: what stands in the formula; what follows an underscore is written as an index.
        words: its name in French.
        unit: its unit in French, empty for a count.
    """

    letter: str
    words: str
    unit: str = ""


BYTES: Final = "octets"
GB: Final = "Go"

SYMBOLS: Final[dict[str, Symbol]] = {
    # A model
    "parameters": Symbol("P", "paramètres"),
    "trainable": Symbol("P_e", "paramètres entraînés"),
    "vocabulary": Symbol("V", "taille du vocabulaire"),
    "hidden": Symbol("h", "largeur"),
    "intermediate": Symbol("i", "largeur intermédiaire"),
    "layers": Symbol("L", "couches"),
    "heads": Symbol("H", "têtes d’attention"),
    "kv_heads": Symbol("K", "têtes de clés et valeurs"),
    "head_size": Symbol("d", "taille d’une tête"),
    "experts": Symbol("E", "experts par couche"),
    "positions": Symbol("p", "positions apprises"),
    "vocabulary_tables": Symbol("e", "tables de vocabulaire", "1 si elles sont liées, 2 sinon"),
    # A run
    "batch_size": Symbol("b", "taille de lot"),
    "sequence_length": Symbol("s", "longueur de séquence", "jetons"),
    "window": Symbol("w", "fenêtre d’attention", "jetons"),
    "full_layers": Symbol("L_c", "couches d’attention complète"),
    "window_layers": Symbol("L_w", "couches à fenêtre"),
    "number_bytes": Symbol("O", "octets par nombre", BYTES),
    # An adapter
    "rank": Symbol("r", "rang"),
    "inputs": Symbol("d_e", "dimension d’entrée"),
    "outputs": Symbol("d_s", "dimension de sortie"),
    "adapter": Symbol("P_a", "paramètres de l’adaptateur"),
    "adapter_bytes": Symbol("O_a", "octets par nombre de l’adaptateur", BYTES),
    # Quantised weights
    "elements": Symbol("n", "éléments du tenseur"),
    "packed": Symbol("P_q", "paramètres empaquetés en 4 bits"),
    "unpacked": Symbol("P_n", "paramètres non empaquetés"),
    "bits": Symbol("q", "bits par poids"),
    "scale_bits": Symbol("c", "bits par échelle"),
    "block": Symbol("B", "poids par échelle"),
    "outer_scale_bits": Symbol("c_2", "bits par échelle d’échelles"),
    "outer_block": Symbol("B_2", "échelles par échelle d’échelles"),
    "rows": Symbol("l", "lignes de la matrice"),
    "columns": Symbol("c", "colonnes de la matrice"),
    # Sizes
    "weights": Symbol("W", "poids", BYTES),
    "gradients": Symbol("G", "gradients", BYTES),
    "kept_gradients": Symbol("G_0", "gradients gardés de l’étape précédente", BYTES),
    "state": Symbol("S", "état de l’optimiseur", BYTES),
    "activations": Symbol("A", "activations", BYTES),
    "cache": Symbol("C", "cache KV", BYTES),
    "temporaries": Symbol("T", "tampons de la mise à jour", BYTES),
    "copied": Symbol("C", "ce qui est copié d’un coup", BYTES),
    "size_bytes": Symbol("T", "taille", BYTES),
    # The rule of the calculator
    "billions": Symbol("N", "paramètres, en milliards", "milliards"),
    "bytes_per_parameter": Symbol("B", "octets par paramètre", BYTES),
    "model_gb": Symbol("M", "modèle et états", GB),
    "activations_gb": Symbol("A", "activations", GB),
}
