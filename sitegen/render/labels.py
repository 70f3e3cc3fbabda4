"""French names of what records hold: cases, phases, statuses, components."""

from __future__ import annotations

import re
from typing import Final

from sitegen.french import NO_BREAK, listed
from sitegen.records.case import DEFAULT_MODEL, Allocator, Case
from sitegen.records.model import Environment, Machine, Status, WeightSource

MODES: Final = {
    "baseline": "Mémoire de départ",
    "inference": "Inférence",
    "training": "Entraînement",
    "generation": "Génération",
}
ALLOCATOR_NAMES: Final[dict[Allocator, str]] = {
    "default": "allocateur par défaut",
    "fixed": "allocateur à seuil fixe",
    "jemalloc": "allocateur jemalloc",
    "mimalloc": "allocateur mimalloc",
    "tcmalloc": "allocateur tcmalloc",
}
PHASE_NAMES: Final = {
    "import": "Import des bibliothèques",
    "load": "Chargement du modèle",
    "forward": "Passe avant",
    "backward": "Passe arrière",
    "optimizer_step": "Mise à jour",
    "prefill": "Lecture de l’invite",
    "decode": "Génération",
}
COMPONENT_NAMES: Final = {
    "weights": "Poids",
    "gradients": "Gradients",
    "optimizer_state": "État de l’optimiseur",
    "activations": "Activations, tampons et tas",
}
STATUS_NAMES: Final[dict[Status, str]] = {
    "ok": "mesuré",
    "failed": "échec",
    "invalid": "non valable",
    "timeout": "délai dépassé",
    "out_of_memory": "mémoire insuffisante",
    "killed": "interrompu",
    "skipped": "non exécuté",
}
SOURCE_NAMES: Final[dict[WeightSource, str]] = {
    "hub": "dépôt public du modèle",
    "package": "paquet Python",
    "folder": "dossier local",
    "random": "initialisation aléatoire",
}
OPTIMIZER_NAMES: Final = {
    "adamw": "AdamW",
    "adamw-8bit": "AdamW 8 bits",
    "sgd": "SGD",
    "sgd-momentum": "SGD avec moment",
    "adafactor": "Adafactor",
}
_TRADE_WORDS: Final = re.compile(r"\((?:R|TM|C)\)|\b(?:Processor|CPU)\b|\d+-Core\b|@.*$", re.IGNORECASE)


def processor(machine: Machine) -> str:
    """The processor without the marks and words of its trade name: « Intel Xeon ».

    The page of a record gives the whole name.
    """
    return " ".join(_TRADE_WORDS.sub(" ", machine.cpu_model).split()) or machine.cpu_model


def cores(machine: Machine) -> str:
    """E.g. « 2 cœurs »."""
    return f"{machine.cores}{NO_BREAK}cœur{'s' if machine.cores > 1 else ''}"


def pytorch(environment: Environment) -> str:
    """E.g. « PyTorch 2.13.0 »: without the build's suffix, which the page of a record gives."""
    version = environment.packages.get("torch")
    return f"PyTorch{NO_BREAK}{version.partition('+')[0]}" if version else "PyTorch absent"


def transformers(environment: Environment) -> str:
    """E.g. « Transformers 5.24.0 »."""
    return f"Transformers{NO_BREAK}{environment.packages.get('transformers') or 'absent'}"


def label(case: Case) -> str:
    """The whole case, every option that is not the default included.

    E.g. « Entraînement, lot de 8, 256 jetons, points de contrôle de gradient, allocateur par défaut ».
    """
    return f"{short_label(case)}, {ALLOCATOR_NAMES[case.allocator]}"


def short_label(case: Case) -> str:
    """The case without its allocator, for charts and tables that name it elsewhere."""
    words = [MODES[case.mode], *_model_words(case)]
    if case.mode != "baseline":
        words += [f"lot de {case.batch_size}", f"{case.sequence_length} jetons"]
        words += [*_method_words(case), *_numeric_words(case), *_step_words(case), *_other_words(case)]
    if case.threads is not None:
        words.append(f"fils d’exécution : {case.threads}")
    if case.seed:
        words.append(f"graine {case.seed}")
    return ", ".join(words)


def _model_words(case: Case) -> list[str]:
    """The model, when it is not the site's."""
    if case.model == DEFAULT_MODEL and case.revision is None:
        return []
    return [case.model if case.revision is None else f"{case.model} ({case.revision})"]


def _method_words(case: Case) -> list[str]:
    """What is trained."""
    if case.method == "full":
        return []
    words = [f"{'QLoRA' if case.method == 'qlora' else 'LoRA'} de rang {case.lora_rank} sur {_modules(case)}"]
    if case.modules_to_save:
        words.append(f"modules entraînés entiers : {listed(case.modules_to_save)}")
    if case.double_quant:
        words.append("double quantification")
    return words


def _modules(case: Case) -> str:
    """The adapter's targets."""
    return listed(case.lora_targets)


def _numeric_words(case: Case) -> list[str]:
    """Number formats."""
    words: list[str] = [] if case.dtype == "float32" else [case.dtype]
    if case.mixed_precision == "bf16":
        words.append("précision mixte bf16")
    return words


def _step_words(case: Case) -> list[str]:
    """What a training step does otherwise than the default."""
    words = [] if case.optimizer == "adamw" else [OPTIMIZER_NAMES[case.optimizer]]
    if case.foreach:
        words.append("mise à jour groupée (foreach)")
    if case.gradient_checkpointing:
        words.append(f"points de contrôle de gradient{' (réentrants)' if case.reentrant else ''}")
    if case.gradient_accumulation > 1:
        words.append(f"{case.gradient_accumulation} accumulations")
    if case.zero_grad == "free":
        words.append("gradients libérés entre les étapes")
    if case.steps != Case().steps:
        words.append(f"{case.steps} étape{'s' if case.steps > 1 else ''}")
    return words


def _other_words(case: Case) -> list[str]:
    """What the forward pass does otherwise than the default."""
    words = [] if case.attention == "sdpa" else [f"attention {case.attention}"]
    if case.loss == "chunked":
        words.append("perte calculée par morceaux")
    if case.logits == "last":
        words.append("logits de la dernière position")
    if case.padding:
        words.append("remplissage")
    if case.mode == "generation":
        words.append(f"{case.new_tokens} jetons produits")
    return words
