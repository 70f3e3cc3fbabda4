"""What the comparison covers, and so what it vouches for: read off the rows, never typed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from sitegen.french import NO_BREAK, listed, megabytes, number
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared
from sitegen.records.case import Case
from sitegen.render.labels import ALLOCATOR_NAMES, OPTIMIZER_NAMES, cores, processor, pytorch, transformers
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table
from sitegen.render.validation_tables import ABSENT, GROUPS, group_of

_MILLION: Final = 10**6
_OPTIONS: Final[dict[str, Callable[[Case], bool]]] = {
    "points de contrôle de gradient": lambda case: case.gradient_checkpointing,
    "accumulation": lambda case: case.gradient_accumulation > 1,
    "gradients libérés": lambda case: case.zero_grad == "free",
    "perte par morceaux": lambda case: case.loss == "chunked",
    "logits de la dernière position": lambda case: case.logits == "last",
    "remplissage": lambda case: case.padding,
    "mise à jour groupée": lambda case: bool(case.foreach),
    "précision mixte": lambda case: case.mixed_precision != "none",
    "double quantification": lambda case: case.double_quant,
}


def domain(series: Series) -> Table:
    """What was varied and how far: our rows, and the published runs that have an estimate."""
    others = [row for row in series.published if row.error is not None]
    found = _ours(series, series.compared) if series.compared else {}
    published = _others(series, others) if others else {}
    names = dict.fromkeys((*found, *published))
    return Table(
        "estime-domaine",
        "Ce que les essais comparés couvrent",
        (Column("Grandeur"), Column("Essais de ce site"), Column("Essais publiés")),
        tuple(Row(Cell(name), (Cell(found.get(name, "—")), Cell(published.get(name, "—")))) for name in names),
        None if names else ABSENT,
    )


def _ours(series: Series, rows: Sequence[Compared]) -> dict[str, str]:
    """What our own rows cover."""
    cases = [row.record.case for row in rows]
    trained = [case for case in cases if case.mode == "training"]
    kinds = {group_of(case) for case in cases}
    return {
        "Machine": f"{processor(series.machine)}, {cores(series.machine)}",
        "Versions": f"{pytorch(series.environment)}, {transformers(series.environment)}",
        "Architectures": _listed(row.bill.model_type for row in rows),
        "Paramètres": _parameters(row.bill.parameters for row in rows),
        "Cas": _kinds(kinds),
        "Taille de lot": _range(case.batch_size for case in cases),
        "Longueur de séquence, en jetons": _range(case.sequence_length for case in cases),
        "Rang de l’adaptateur": _range(case.lora_rank for case in cases if case.method != "full"),
        "Format des poids": _listed(case.dtype for case in cases),
        "Optimiseur": _listed(OPTIMIZER_NAMES[case.optimizer] for case in trained),
        "Attention": _listed(case.attention for case in cases),
        "Options": listed([name for name, has in _OPTIONS.items() if any(map(has, cases))]),
        "Mémoire": _listed(ALLOCATOR_NAMES[case.allocator] for case in cases),
        "Pic mesuré": _sizes(row.measured_bytes for row in rows),
    }


def _others(series: Series, rows: Sequence[Comparison]) -> dict[str, str]:
    """What the published runs cover: what `PublishedRun` says of all of them is said of all of them."""
    stacks = [series.published_stacks[name] for name in sorted({row.run.stack for row in rows})]
    models = [series.published_models[row.run.model] for row in rows]
    methods = {row.run.method for row in rows}
    return {
        "Machine": _listed(stack.hardware for stack in stacks),
        "Versions": f"PyTorch {_listed(stack.versions['torch'] for stack in stacks)}, "
        f"Transformers {_listed(stack.versions['transformers'] for stack in stacks)}",
        "Architectures": _listed(model.config["model_type"] for model in models),
        "Paramètres": _parameters(model.parameters for model in models),
        "Cas": _kinds(methods),
        "Taille de lot": _range(row.run.batch_size for row in rows),
        "Longueur de séquence, en jetons": _range(row.run.sequence_length for row in rows),
        "Rang de l’adaptateur": _range(row.run.lora_rank for row in rows if row.run.lora_rank),
        "Format des poids": "16 bits, et 4 bits pour QLoRA",
        "Optimiseur": OPTIMIZER_NAMES["adamw"],
        "Attention": "FlashAttention-2",
        "Options": "points de contrôle de gradient (réentrants)",
        "Mémoire": "allouée par PyTorch, sur une seule carte",
        "Pic mesuré": _sizes(row.run.measured_bytes for row in rows),
    }


def _kinds(found: Collection[str]) -> str:
    """Which kinds of cases, in their order."""
    names = [name for key, name in GROUPS.items() if key in found]
    return listed([name if name.endswith("LoRA") else name.lower() for name in names])


def _listed(values: Iterable[str]) -> str:
    """Each value once, in the order of the alphabet."""
    return listed(sorted(set(values), key=str.lower))


def _range(values: Iterable[int]) -> str:
    """The smallest and the largest; a dash without any."""
    known = sorted(set(values))
    if not known:
        return "—"
    return number(known[0]) if len(known) == 1 else f"{number(known[0])} à {number(known[-1])}"


def _parameters(values: Iterable[int]) -> str:
    """The smallest and the largest, in millions."""
    known = sorted(values)
    return f"{number(known[0] / _MILLION)} à {number(known[-1] / _MILLION)}{NO_BREAK}millions"


def _sizes(values: Iterable[int]) -> str:
    """The smallest and the largest peak."""
    known = sorted(values)
    return f"{megabytes(known[0])} à {megabytes(known[-1])}"
