"""The tables of the usual rules and calculators: what each says and of what, and how far it is on the same cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from sitegen.french import number, signed
from sitegen.memory.deviations import Deviations, deviations
from sitegen.memory.peers import PEERS
from sitegen.memory.published import Comparison
from sitegen.memory.validation import Compared
from sitegen.render.published_tables import name_of
from sitegen.render.series import Series
from sitegen.render.tables import Cell, Column, Row, Table, address
from sitegen.render.validation_facts import PAGE
from sitegen.render.validation_tables import ABSENT, without_mode

_OURS_ID: Final = "estime-regles-lignes"
_OTHERS_ID: Final = "estime-publies-regles-lignes"
THIS_SITE: Final = "Ce site"
Sets = Sequence[tuple[str, str, Sequence[Compared | Comparison]]]
"""What the rules are asked of: a title, the table of the rows, the rows."""
_METHODS: Final = (("full", "complet"), ("lora", "LoRA"), ("qlora", "QLoRA"))
_DASH: Final = "Un tiret : la règle ne dit rien de ce cas."
_DESCRIPTIONS: Final = {
    "accelerate estimate-memory": (
        "quatre fois les poids chargés",
        "entraînement complet avec Adam ; activations non comprises, sa page le dit",
    ),
    "16 octets par paramètre": (
        "seize octets par paramètre entraîné, les poids gelés tels que chargés",
        "poids, gradients et état de l’optimiseur en précision mixte, avec Adam ; activations non comprises",
    ),
    "Korthikanti et al. + 16 octets": (
        "la ligne précédente, plus s·b·h·L·(34 + 5·a·s/h) d’activations, ou 2·s·b·h·L quand elles sont recalculées",
        "de très grands modèles du type GPT, en seize bits, attention non fusionnée ; logits et perte non compris",
    ),
    "EleutherAI cookbook": (
        "dix-huit octets par paramètre, et la même formule, dont le recalcul ne retire que les scores d’attention",
        "préentraînement de modèles GPT-NeoX sur plusieurs cartes, en précision mixte",
    ),
    "LLaMA-Factory": (
        "dix-huit, huit, deux ou un demi-gigaoctet par milliard de paramètres, selon la méthode et le format des poids",
        "ordre de grandeur d’un tableau de sa page d’accueil ; ni lot ni longueur",
    ),
    "DeepSpeed ZeRO-2": (
        "vingt octets par paramètre sur une seule carte",
        "poids, gradients et état de l’optimiseur d’un entraînement complet ; activations et tampons non compris",
    ),
    "gpu_poor": (
        "son propre compte de paramètres, les gradients, Adam, et les activations, tenseur par tenseur",
        "modèles Llama en seize bits ou en QLoRA, attention non fusionnée, sur un GPU",
    ),
}
"""What each peer counts, and what it was written for, in the words of its source."""


def descriptions(_: Series) -> Table:
    """Each rule with its source: what it counts, and what it was written for."""
    return Table(
        "estime-regles",
        "Les règles et les calculateurs, récrits d’après leur source publiée",
        (Column("Règle ou calculateur"), Column("Ce qui est compté"), Column("Écrit pour")),
        tuple(
            Row(Cell(peer.name, href=peer.source), tuple(Cell(text) for text in _DESCRIPTIONS[peer.name]))
            for peer in PEERS
        ),
        "s : longueur, b : lot, h : dimension cachée, L : couches, a : têtes d’attention. Chaque nom mène à la source.",
    )


def errors(series: Series) -> Table:
    """How many cases each rule speaks of, its median and its largest error, on our rows and on the published ones."""
    sets: Sets = (("Ici", _OURS_ID, _trained(series)), ("Publiés", _OTHERS_ID, _published(series)))
    known = any(rows for _, _, rows in sets)
    lines = tuple(
        Row(Cell(name), tuple(cell for _, rows_id, rows in sets for cell in _three(_errors(rows, name), rows_id)))
        for name in _names()
    )
    return Table(
        "estime-regles-ecarts",
        "L’écart de chaque règle, sur nos entraînements avec AdamW et sur les essais publiés",
        (
            Column("Règle ou calculateur"),
            *(
                Column(f"{title} : {what}", unit, numeric=True)
                for title, _, _ in sets
                for what, unit in (("essais", None), ("écart médian", "%"), ("le plus grand", "%"))
            ),
        ),
        lines if known else (),
        f"{_DASH} Chaque écart médian mène à ses lignes." if known else ABSENT,
    )


def by_method(series: Series) -> Table:
    """The median error of each rule, method by method: most were written for one of them."""
    sets: Sets = (("Ici", _OURS_ID, _trained(series)), ("Publiés", _OTHERS_ID, _published(series)))
    known = any(rows for _, _, rows in sets)
    lines = tuple(
        Row(Cell(name), tuple(_median(_errors(_of(rows, key), name)) for _, _, rows in sets for key, _ in _METHODS))
        for name in _names()
    )
    return Table(
        "estime-regles-methodes",
        "L’écart médian de chaque règle, selon la méthode",
        (
            Column("Règle ou calculateur"),
            *(Column(f"{title} : {method}", "%", numeric=True) for title, _, _ in sets for _, method in _METHODS),
        ),
        lines if known else (),
        _DASH if known else ABSENT,
    )


def our_rows(series: Series) -> Table:
    """Every error of every rule on our rows."""
    rows = tuple(_line(Cell(without_mode(row.record.case), href=address(row.record)), row) for row in _trained(series))
    return _every(_OURS_ID, "Nos entraînements", rows, ABSENT)


def published_rows(series: Series) -> Table:
    """Every error of every rule on the published runs."""
    rows = tuple(_line(Cell(name_of(row)), row) for row in _published(series))
    return _every(_OTHERS_ID, "Les essais publiés", rows, ABSENT)


def _every(identifier: str, name: str, rows: tuple[Row, ...], absent: str) -> Table:
    """A folded table of signed errors, a rule a column."""
    return Table(
        identifier,
        f"{name} : l’écart de chaque règle, essai par essai",
        (Column("Essai"), *(Column(name, "%", numeric=True) for name in _names())),
        rows,
        _DASH if rows else absent,
        f"{name}, règle par règle : {number(len(rows))} lignes",
    )


def _names() -> tuple[str, ...]:
    """Ours, then the others'."""
    return THIS_SITE, *(peer.name for peer in PEERS)


def _trained(series: Series) -> list[Compared]:
    """Our rows that the rules may be asked of."""
    return [row for row in series.compared if row.peers and row.record.case.allocator == "fixed"]


def _published(series: Series) -> list[Comparison]:
    """The published runs that have an estimate."""
    return [row for row in series.published if row.error is not None]


def _method(row: Compared | Comparison) -> str:
    """Full, LoRA or QLoRA."""
    return row.record.case.method if isinstance(row, Compared) else row.run.method


def _of(rows: Iterable[Compared | Comparison], method: str) -> list[Compared | Comparison]:
    """The rows of one method."""
    return [row for row in rows if _method(row) == method]


def error_of(row: Compared | Comparison, name: str) -> float | None:
    """A rule's error on a row, or ours."""
    return row.error if name == THIS_SITE else row.peer_error(name)


def _errors(rows: Sequence[Compared | Comparison], name: str) -> Deviations | None:
    """The errors of a rule, or ours, on the rows that it speaks of."""
    return deviations(error_of(row, name) for row in rows)


def _three(found: Deviations | None, rows_id: str) -> tuple[Cell, Cell, Cell]:
    """Count, median, which leads to the rows, and largest."""
    if found is None:
        return Cell("—"), Cell("—"), Cell("—")
    median = replace(_median(found), href=f"{PAGE}#{rows_id}")
    return Cell(number(found.count), float(found.count)), median, Cell(signed(100 * found.worst, 2), found.worst)


def _median(found: Deviations | None) -> Cell:
    """A median error without its sign."""
    return Cell("—") if found is None else Cell(number(100 * found.median, 2), found.median)


def _line(header: Cell, row: Compared | Comparison) -> Row:
    """One case: the error of each."""
    cells = [_signed(error_of(row, THIS_SITE), 2), *(_signed(error_of(row, peer.name), 1) for peer in PEERS)]
    return Row(header, tuple(cells))


def _signed(error: float | None, decimals: int) -> Cell:
    """A signed error in percent; a dash where there is none."""
    return Cell("—") if error is None else Cell(signed(100 * error, decimals), error)
