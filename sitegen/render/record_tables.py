"""The tables of one record's page: what ran, what was measured, where, and under which versions."""

from __future__ import annotations

from typing import Final

from sitegen.french import UNKNOWN, date_and_time, duration, listed, megabytes, number
from sitegen.records.case import irrelevant_options, option_name
from sitegen.records.model import PHASES, Record, Sample
from sitegen.render.labels import COMPONENT_NAMES, PHASE_NAMES, SOURCE_NAMES, STATUS_NAMES
from sitegen.render.tables import Cell, Column, Row, Table, measured, timed
from sitegen.units import GIB_BYTES

_NAME_AND_VALUE: Final = (Column("Nom"), Column("Valeur"))
_LIVE: Final = (
    "Les poids, les gradients et l’état de l’optimiseur sont ceux des tenseurs vivants après la dernière étape."
)
_RESET: Final = "ru_maxrss est remis à zéro avec le pic : il ne couvre ici que la dernière phase."
_CONVERTED: Final = (
    "Poids lus d’un fichier quantifié, puis convertis dans le format de l’essai : leur valeur ne change pas la mémoire."
)
_NOTHING: Final = Cell("sans objet")
_LOAD_FIELDS: Final = (
    ("baseline_bytes", "Mémoire de départ"),
    ("load_peak_bytes", "Pic du chargement"),
    ("process_peak_bytes", "Pic du processus entier"),
    ("ru_maxrss_bytes", "Pic selon ru_maxrss (diagnostic)"),
)


def record_tables(record: Record) -> list[Table]:
    """Every table of the page, in order."""
    tables = [results(record)]
    if record.summary.step_peak_bytes:
        tables.append(phases(record))
    tables += [case_options(record), protocol(record)]
    return [*tables, model(record), machine(record)] if record.model is not None else [*tables, machine(record)]


def results(record: Record) -> Table:
    """The figures of the record; what is not known says so."""
    summary = record.summary
    components = summary.component_bytes
    rows: list[tuple[str, Cell]] = [
        ("État", Cell(STATUS_NAMES[record.status])),
        ("Pic, mémoire de départ déduite", _or_status(record, summary.peak_bytes)),
        *((f"Pic de l’étape {i}", _or_status(record, peak)) for i, peak in enumerate(summary.step_peak_bytes, 1)),
        ("Pic du chargement, mémoire de départ déduite", _or_status(record, summary.load_peak_bytes)),
        ("Mémoire de départ", _or_status(record, summary.baseline_bytes)),
        *((COMPONENT_NAMES[n], measured(getattr(components, n))) for n in _component_names() if components is not None),
        ("Paramètres", _of_the_model(record, _count(summary.parameters))),
        ("Paramètres entraînés", _of_the_model(record, _count(summary.trainable_parameters))),
    ]
    if summary.peak_range_bytes is not None and summary.samples > 1:
        low, high = summary.peak_range_bytes
        rows.append((f"Étendue sur {summary.samples} relevés", Cell(f"{megabytes(low)} à {megabytes(high)}")))
    return Table(
        "resultats",
        "Résultats ; mémoire en Mo",
        (Column("Grandeur"), Column("Valeur", numeric=True)),
        tuple(Row(Cell(name), (cell,)) for name, cell in rows),
        None if components is None else _LIVE,
    )


def phases(record: Record) -> Table:
    """The net peak and the duration of each phase of each step, of the sample that is summarised."""
    sample = summarised(record)
    rows = []
    for number_, step in enumerate(sample.steps, 1):
        for name in PHASES[record.case.mode]:
            phase = step.phases.get(name)
            if phase is None:
                continue
            peak = phase.peak_rss_bytes
            net = None if peak is None or sample.baseline_bytes is None else peak - sample.baseline_bytes
            cells = (Cell(PHASE_NAMES[name]), measured(net), measured(peak), timed(phase.duration_ns))
            rows.append(Row(Cell(f"Étape {number_}"), cells))
    return Table(
        "phases",
        "Pic de chaque phase",
        (
            Column("Étape"),
            Column("Phase"),
            Column("Pic net", "Mo", numeric=True),
            Column("Pic brut", "Mo", numeric=True),
            Column("Durée", "s", numeric=True),
        ),
        tuple(rows),
        "Le pic net ne compte pas la mémoire de départ ; le pic brut la compte. "
        "Le pic d’une étape est le plus grand de ses phases, jamais leur somme.",
    )


def case_options(record: Record) -> Table:
    """Every option of the case, under the names of the command line; those that it never reads say so."""
    ignored = irrelevant_options(record.case)
    rows = tuple(
        Row(Cell(option_name(name), lang="en"), (Cell("sans effet ici") if name in ignored else _option(value),))
        for name, value in record.case.options().items()
        if name != "timeout"
    )
    return Table("options", "Options de l’essai", _NAME_AND_VALUE, rows)


def protocol(record: Record) -> Table:
    """When and how, and what is worth knowing about the process."""
    sample = summarised(record)
    rows = [
        ("Date", Cell(date_and_time(sample.measured_at))),
        ("Protocole", Cell(f"version {record.protocol}")),
        ("Empreinte du code mesuré", Cell(record.workload_sha256[:16])),
        ("Durée du processus", Cell(duration(sample.duration_ns))),
        ("Import des bibliothèques", Cell(duration(sample.import_duration_ns))),
        ("Chargement du modèle", _of_the_model(record, Cell(duration(sample.load_duration_ns)))),
        *((name, _load_field(record, sample, field)) for field, name in _LOAD_FIELDS),
        ("Mémoire d’échange utilisée", Cell(megabytes(sample.swap_bytes))),
        ("Défauts de page majeurs", _count(sample.major_faults)),
        (
            "Charge moyenne au départ (1 min)",
            _load(sample.load_average),
        ),
        *_engaged(sample),
    ]
    note = _RESET if _was_reset(sample) else None
    return Table("protocole", "Relevé", _NAME_AND_VALUE, tuple(Row(Cell(name), (cell,)) for name, cell in rows), note)


def model(record: Record) -> Table:
    """Which weights were measured and where they came from."""
    identity = record.model
    if identity is None:
        return Table("modele", "Modèle", _NAME_AND_VALUE, ())
    rows = [
        ("Nom", Cell(identity.name, lang="en")),
        ("Révision", Cell(identity.revision or "sans objet")),
        ("Origine des poids", Cell(SOURCE_NAMES[identity.source])),
        ("Architecture", Cell(identity.model_type, lang="en")),
        ("Empreinte de la configuration", Cell(identity.config_sha256[:16])),
        *((file.name, Cell(f"{megabytes(file.size_bytes)}, SHA-256 {file.sha256[:16]}…")) for file in identity.files),
    ]
    note = _CONVERTED if any(file.name.endswith(".gguf") for file in identity.files) else None
    return Table("modele", "Modèle", _NAME_AND_VALUE, tuple(Row(Cell(name), (cell,)) for name, cell in rows), note)


def machine(record: Record) -> Table:
    """Where, and under which versions."""
    place, versions, around = record.machine, record.environment, record.circumstances
    rows = [
        ("Processeur", Cell(place.cpu_model, lang="en")),
        ("Cœurs", Cell(number(place.cores))),
        ("Mémoire vive", Cell(f"{number(place.ram_gib)} Gio")),
        ("Cartes graphiques", Cell(listed(place.gpus) if place.gpus else "aucune")),
        ("Système", Cell(f"{place.system}, {place.architecture}")),
        ("Noyau", Cell(around.kernel)),
        ("Grandes pages transparentes", Cell(around.transparent_huge_pages or UNKNOWN, lang="en")),
        ("Limite du groupe de contrôle", Cell(_limit(around.cgroup_limit_bytes))),
        ("Python", Cell(versions.python)),
        ("Bibliothèque C", Cell(versions.libc)),
        ("Fils d’exécution", Cell(number(versions.threads))),
        *((name, Cell(version or "absent")) for name, version in sorted(versions.packages.items())),
    ]
    return Table(
        "environnement",
        "Machine et versions",
        _NAME_AND_VALUE,
        tuple(Row(Cell(name), (cell,)) for name, cell in rows),
        "Un Gio vaut 2³⁰ octets, un Go 10⁹ octets.",
    )


def summarised(record: Record) -> Sample:
    """The sample that the summary describes: that of its peak, else the last one."""
    peak = record.summary.peak_bytes
    for sample in record.samples:
        if peak is not None and sample.baseline_bytes is not None and peak == _peak(sample) - sample.baseline_bytes:
            return sample
    return record.samples[-1]


def _peak(sample: Sample) -> int:
    """Gross peak of the steps in bytes, 0 without any."""
    return max((phase.peak_rss_bytes or 0 for step in sample.steps for phase in step.phases.values()), default=0)


def _component_names() -> tuple[str, ...]:
    """The components that are counted in the process."""
    return "weights", "gradients", "optimizer_state"


def _or_status(record: Record, size_bytes: int | None) -> Cell:
    """A size, or why there is none."""
    if size_bytes is not None:
        return measured(size_bytes)
    return _NOTHING if record.status == "ok" else Cell("aucun chiffre")


def _count(value: int | None) -> Cell:
    """A count, or that it is not known."""
    return Cell(UNKNOWN) if value is None else Cell(number(value), float(value))


def _option(value: object) -> Cell:
    """An option's value as a reader sees it."""
    if isinstance(value, bool):
        return Cell("oui" if value else "non")
    if isinstance(value, tuple):
        return Cell(", ".join(value), lang="en") if value else Cell("aucun")
    if value is None:
        return _NOTHING
    return Cell(str(value), lang="en" if isinstance(value, str) else None)


def _load(average: float | None) -> Cell:
    """The machine's load just before the process."""
    return Cell(UNKNOWN if average is None else number(average, 2))


def _of_the_model(record: Record, cell: Cell) -> Cell:
    """The cell, where the case loads a model."""
    return _NOTHING if record.case.mode == "baseline" else cell


def _load_field(record: Record, sample: Sample, field: str) -> Cell:
    """A peak of the process; loading has none when nothing is loaded."""
    cell = Cell(megabytes(getattr(sample, field)))
    return _of_the_model(record, cell) if field == "load_peak_bytes" else cell


def _was_reset(sample: Sample) -> bool:
    """Whether the system's own counter saw less than the process: resetting the peak resets it too."""
    seen, peak = sample.ru_maxrss_bytes, sample.process_peak_bytes
    return bool(sample.steps) and seen is not None and peak is not None and seen < peak


def _limit(size_bytes: int | None) -> str:
    """A memory limit in Gio."""
    return "aucune" if size_bytes is None else f"{number(size_bytes / GIB_BYTES, 1)} Gio"


def _engaged(sample: Sample) -> list[tuple[str, Cell]]:
    """Whether each option that was asked for did act."""
    if sample.engaged is None:
        return []
    seen = (
        ("Recalcul des couches observé", sample.engaged.checkpointing),
        ("Gradients reçus par l’adaptateur", sample.engaged.adapter_gradients),
        ("Allocateur demandé en place", sample.engaged.allocator),
    )
    rows = [(name, Cell("oui" if value else "non")) for name, value in seen if value is not None]
    if sample.engaged.attention is not None:
        rows.append(("Attention", Cell(sample.engaged.attention, lang="en")))
    return rows
