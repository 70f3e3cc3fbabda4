"""The tables that compare records with one another: steps, batches, fixes, and what others published."""

from __future__ import annotations

from typing import Final

from sitegen.french import MINUS, number
from sitegen.records.case import Case
from sitegen.render import published
from sitegen.render.evidence import Evidence
from sitegen.render.labels import MODES, short_label
from sitegen.render.series import BFLOAT16_8, CHECKPOINTING_8, DOUBLING, LORA_8, TRAINING_8, Series, under
from sitegen.render.tables import Cell, Column, Row, Table, address, measured, peak_of, percentage
from sitegen.units import MB_BYTES

_MO: Final = "Mo"
_FIX_LINES: Final = (
    (CHECKPOINTING_8, "Points de contrôle de gradient", "activations"),
    (BFLOAT16_8, "Nombres de 16 bits (bfloat16)", "toutes, sauf ce que la bibliothèque garde en float32"),
    (LORA_8, "Adaptateur LoRA", "gradients, état de l’optimiseur, une partie des activations"),
)
_FIXED_8: Final = under(TRAINING_8, "fixed")
_NOTHING: Final = Cell("sans objet")


def two_steps(series: Series) -> Table:
    """Step one against step two at batch 8, and the states that make the difference."""
    case = under(TRAINING_8, "fixed")
    evidence = Evidence(series)
    record, first, second = evidence.record(case), evidence.step(case, 1), evidence.step(case, 2)
    href = address(record)
    rows = (
        ("Pic de l’étape 1", first),
        ("Pic de l’étape 2", second),
        ("Écart", second - first),
        ("dont état de l’optimiseur, alloué à la première mise à jour", evidence.component(case, "optimizer_state")),
        ("dont gradients, gardés d’une étape à l’autre", evidence.component(case, "gradients")),
    )
    return Table(
        "deux-etapes",
        "Entraînement, lot de 8, allocateur à seuil fixe : l’étape 2 coûte plus que l’étape 1",
        (Column("Grandeur"), Column("Mémoire", _MO, numeric=True)),
        tuple(Row(Cell(name), (measured(value, href),)) for name, value in rows),
        "Mémoire de départ déduite.",
    )


def doubling(series: Series) -> Table:
    """The peak as the batch doubles, and what each more example costs."""
    evidence, rows = Evidence(series), []
    previous: tuple[int, int] | None = None
    for case in (under(case, "fixed") for case in DOUBLING):
        peak, href = evidence.peak(case), address(evidence.record(case))
        growth = [_NOTHING, _NOTHING]
        if previous is not None:
            added = peak - previous[1]
            growth = [measured(added, href), measured(added // (case.batch_size - previous[0]), href)]
        rows.append(Row(Cell(number(case.batch_size), case.batch_size), (measured(peak, href), *growth)))
        previous = case.batch_size, peak
    return Table(
        "doublement-du-lot",
        "Entraînement, 256 jetons, allocateur à seuil fixe : le lot double, le plancher reste",
        (
            Column("Taille de lot", numeric=True),
            Column("Pic", _MO, numeric=True),
            Column("De plus que la ligne précédente", _MO, numeric=True),
            Column("Pour chaque exemple ajouté", _MO, numeric=True),
        ),
        tuple(rows),
        "Mémoire de départ déduite.",
    )


def fixes(series: Series) -> Table:
    """What each fix saves at batch 8, under both allocators, what it costs in time, and the lines that it acts on."""
    evidence = Evidence(series)
    rows = [Row(Cell(name), (Cell(lines), *_fix(evidence, case))) for case, name, lines in _FIX_LINES]
    threshold = (_NOTHING, _NOTHING, _peak_change(evidence, _FIXED_8), _NOTHING, _time_change(evidence, _FIXED_8))
    rows.append(Row(Cell("Allocateur à seuil fixe"), (Cell("le tas, hors de tout tenseur"), *threshold)))
    return Table(
        "correctifs",
        "Chaque correctif comparé à l’entraînement complet, lot de 8, 256 jetons",
        (
            Column("Correctif"),
            Column("Lignes touchées"),
            Column("Pic, allocateur par défaut", _MO, numeric=True),
            Column("Écart, allocateur par défaut", "%", numeric=True),
            Column("Écart, seuil fixe", "%", numeric=True),
            Column("Écart de durée d’une étape, allocateur par défaut", "%", numeric=True),
            Column("Écart de durée d’une étape, seuil fixe", "%", numeric=True),
        ),
        tuple(rows),
        f"Un écart négatif ({MINUS}) est une économie. Chaque écart se prend sous le même allocateur, sauf celui de la "
        "dernière ligne, qui compare le seuil fixe à l’allocateur par défaut. "
        "Une durée relevée sur ce processeur ne dit rien d’un GPU.",
    )


def _fix(evidence: Evidence, case: Case) -> tuple[Cell, ...]:
    """The figures of one fix, each against the full run under the same allocator."""
    fixed = under(case, "fixed")
    return (
        measured(evidence.peak(case), address(evidence.record(case))),
        _peak_change(evidence, case),
        _peak_change(evidence, fixed, _FIXED_8),
        _time_change(evidence, case),
        _time_change(evidence, fixed, _FIXED_8),
    )


def _peak_change(evidence: Evidence, case: Case, reference: Case = TRAINING_8) -> Cell:
    """How far a peak is from that of the full run."""
    return percentage(evidence.peak(case) / evidence.peak(reference) - 1, address(evidence.record(case)))


def _time_change(evidence: Evidence, case: Case, reference: Case = TRAINING_8) -> Cell:
    """How far a step's duration is from that of the full run."""
    change = evidence.step_duration(case) / evidence.step_duration(reference) - 1
    return percentage(change, address(evidence.record(case)))


def quoted(series: Series) -> Table:
    """The published reference beside our figures, in the unit in which it was computed and in Mo."""
    rows = [
        Row(
            Cell(short_label(peak.case) if peak.case.mode != "baseline" else MODES["baseline"]),
            (
                Cell(number(peak.mebibytes), float(peak.mebibytes), kind="quoted"),
                Cell(number(peak.size_bytes / MB_BYTES), float(peak.size_bytes), kind="quoted"),
                _ours(series, peak.case),
            ),
        )
        for peak in published.PEAKS
    ]
    rows.insert(1, _quoted_weights(series))
    return Table(
        "reference-publiee",
        "La référence publiée et les mesures de ce site",
        (
            Column("Essai"),
            Column("Publié", "Mio", numeric=True),
            Column("Soit", _MO, numeric=True),
            Column("Mesuré ici, allocateur par défaut", _MO, numeric=True),
        ),
        tuple(rows),
        f"{published.REFERENCE_SOURCE}. Mémoire de départ déduite, sauf sur la ligne qui la donne. "
        "Les pics publiés sont convertis ; les poids sont publiés en Mo.",
    )


def _quoted_weights(series: Series) -> Row:
    """The weights, which the reference gives in Mo."""
    evidence = Evidence(series)
    ours = measured(evidence.component(TRAINING_8, "weights"), address(evidence.record(TRAINING_8)))
    size = float(published.WEIGHTS_BYTES)
    return Row(Cell("Poids"), (Cell("publiés en Mo"), Cell(number(size / MB_BYTES), size, kind="quoted"), ours))


def _ours(series: Series, case: Case) -> Cell:
    """Our figure for a published one."""
    record = series.ok(case)
    if case.mode == "baseline" and record is not None:
        return measured(record.summary.baseline_bytes, address(record))
    return peak_of(series.get(case))
