"""The tables of what others published on the page « Estimé et mesuré »: one line a run, those without estimate too."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from sitegen.french import NO_BREAK, number, signed
from sitegen.memory.deviations import deviations
from sitegen.memory.published import Comparison, Reason
from sitegen.records.published import PublishedStack
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, measured
from sitegen.render.validation_facts import PAGE
from sitegen.render.validation_tables import DIFFERENCE, difference, section_line, share

_ROWS_ID: Final = "estime-publies-lignes"
NO_RUN: Final = "Aucun essai publié dans ce projet."
GROUPS: Final = {
    "transformers": "Perte de transformers, tracée",
    "liger": "Perte fusionnée de Liger, modélisée",
    "unsloth": "Noyaux fusionnés d’Unsloth, modélisés",
    "untraced": "Sans estimation",
}
METHODS: Final = {"full": "complète", "lora": "LoRA", "qlora": "QLoRA", "gptq-lora": "GPTQ-LoRA"}
REASONS: Final[dict[Reason, str]] = {
    "gptq_kernels": "noyaux GPTQ",
    "not_traced_yet": "pas encore tracé",
}
"""Why a run has no estimate, as short as a cell; the note under the table says more."""
_NOTE: Final = (
    f"{DIFFERENCE} Dans chaque groupe, les plus grands d’abord ; 0,00 est moins d’un demi-centième de pour cent. "
    "Chaque mesure mène au tableau publié. k-bit : peft a préparé le modèle, et mis en float32 ce qui n’est pas "
    "quantifié. Noyaux GPTQ : ils sont écrits en Triton, et ce qu’ils allouent ne se voit que sur un GPU ; il n’y en "
    "avait pas ici."
)


def by_group(series: Series) -> Table:
    """The published runs that have an estimate, by whose loss ran."""
    rows = [row for row in series.published if row.error is not None]
    groups = {key: deviations(row.error for row in rows if row.group == key) for key in GROUPS}
    return Table(
        "estime-publies",
        "Les essais publiés par d’autres, tracés avec leurs propres versions",
        (
            Column("Groupe"),
            Column("Essais", numeric=True),
            Column("Écart médian", "%", numeric=True),
            Column("Le plus haut", "%", numeric=True),
            Column("Le plus bas", "%", numeric=True),
        ),
        tuple(
            Row(
                Cell(GROUPS[key]),
                (
                    Cell(number(found.count), float(found.count)),
                    Cell(number(100 * found.median, 4), found.median, f"{PAGE}#{_ROWS_ID}"),
                    *(Cell(signed(100 * one, 4), one) for one in (max(found.errors), min(found.errors))),
                ),
            )
            for key, found in groups.items()
            if found is not None
        ),
        DIFFERENCE if rows else NO_RUN,
    )


def every_run(series: Series) -> Table:
    """Every published run beside its estimate, or the reason why it has none."""
    rows = tuple(_row(row, series.published_stacks[row.run.stack], section) for section, row in _grouped(series))
    return Table(
        _ROWS_ID,
        "Chaque essai publié, estimé et mesuré",
        (
            Column("Modèle"),
            Column("Méthode"),
            Column("Lot × longueur", numeric=True),
            Column("Transformers", numeric=True),
            Column("Mesuré", "Mo", numeric=True),
            Column("Estimé", "Mo", numeric=True),
            Column("Écart", "Mo", numeric=True),
            Column("Écart", "%", numeric=True),
        ),
        rows,
        _NOTE if rows else NO_RUN,
    )


def _grouped(series: Series) -> Iterable[tuple[str, Comparison]]:
    """The runs group after group, the largest errors first; before the first of a group, what the group comes to."""
    order = list(GROUPS)
    ordered = sorted(series.published, key=lambda row: (order.index(row.group), -abs(row.error or 0)))
    for key, members in groupby(ordered, key=lambda row: row.group):
        group = list(members)
        line = section_line(GROUPS[key], deviations(row.error for row in group), len(group))
        yield from zip([line, *[""] * (len(group) - 1)], group, strict=True)


def _row(row: Comparison, stack: PublishedStack, section: str) -> Row:
    """One run; its measure leads to where it was published."""
    tokens = float(row.run.batch_size * row.run.sequence_length)
    run = (
        Cell(_method(row)),
        Cell(_size(row), tokens),
        Cell(stack.versions["transformers"]),
        measured(row.run.measured_bytes, stack.sources[0], kind="quoted"),
    )
    header = Cell(_model(row), lang="en")
    if row.estimated_bytes is None or row.error is None:
        nothing = Cell("—")
        return Row(header, (*run, Cell(REASONS[row.reason]), nothing, nothing), section)
    figures = (
        measured(row.estimated_bytes, kind="estimated"),
        difference(row.estimated_bytes - row.run.measured_bytes),
        share(row.error),
    )
    return Row(header, (*run, *figures), section)


def name_of(row: Comparison) -> str:
    """E.g. « Mistral-7B-v0.1, LoRA, 4 × 4 096 »."""
    return f"{_model(row)}, {_method(row)}, {_size(row)}"


def _model(row: Comparison) -> str:
    """The model without its publisher."""
    return row.run.model.partition("/")[2]


def _method(row: Comparison) -> str:
    """What trains, and whether peft's k-bit preparation ran."""
    prepared = ", k-bit" if row.run.kbit_preparation else ""
    return f"{METHODS[row.run.method]}{prepared}"


def _size(row: Comparison) -> str:
    """Batch and length."""
    return f"{row.run.batch_size}{NO_BREAK}×{NO_BREAK}{number(row.run.sequence_length)}"
