"""The tables of the page that gives the data: every file, and the meaning of every field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitegen.french import gigabytes, number, percent, size
from sitegen.memory.formulas import adapter_bytes
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.render import worked
from sitegen.render.labels import STATUS_NAMES, label, processor, pytorch
from sitegen.render.series import INFERENCE_8, Series
from sitegen.render.tables import Cell, Column, Row, Table, address

FIELDS: Final = {
    "schema_version": "version du schéma de ce fichier",
    "protocol": "version du protocole de mesure",
    "case_id": "nom de l’essai, unique parmi ceux d’une machine et d’un environnement",
    "case": "toutes les options de l’essai, sous les noms de la ligne de commande",
    "status": "issue de l’essai : ok, failed, invalid, timeout, out_of_memory, killed ou skipped",
    "reason": "pourquoi l’essai n’a pas bien fini",
    "model": "modèle mesuré, origine des poids et empreintes des fichiers",
    "machine": "processeur, cœurs, mémoire vive et cartes graphiques ; rien qui nomme la machine ou son propriétaire",
    "environment": "versions qui peuvent déplacer un pic",
    "circumstances": "noyau, grandes pages, mémoire d’échange, limites et liste des paquets installés",
    "workload_sha256": "empreinte du code mesuré, sans ses commentaires",
    "samples": "chaque processus, avec ses étapes et ses phases ; les pics y sont bruts",
    "content_sha256": "sceau : empreinte de tout le reste du fichier",
    "summary.status": "la même issue",
    "summary.peak_bytes": "pic net : le plus grand des pics de phase, chargement à part, moins la mémoire de départ",
    "summary.load_peak_bytes": "pic net pendant le chargement du modèle",
    "summary.baseline_bytes": "mémoire de départ : Python et les bibliothèques, avant tout modèle",
    "summary.step_peak_bytes": "pic net de chaque étape",
    "summary.phase_peak_bytes": "pic net de chaque phase de la dernière étape",
    "summary.step_duration_ns": "durée de chaque étape",
    "summary.parameters": "nombre de paramètres du modèle",
    "summary.trainable_parameters": "nombre de paramètres entraînés",
    "summary.component_bytes": "tenseurs vivants après la dernière étape : poids, gradients, état de l’optimiseur",
    "summary.allocator": "allocateur de mémoire de l’essai",
    "summary.samples": "nombre de processus relevés ; le résumé décrit celui de pic médian",
    "summary.peak_range_bytes": "plus petit et plus grand pic, quand il y a plusieurs relevés",
}
"""The meaning of every key of a record and of its summary."""


def fields(_: Series) -> Table:
    """What each field of a record means."""
    return Table(
        "champs",
        "Champs d’un relevé ; _bytes : octets, _ns : nanosecondes",
        (Column("Champ"), Column("Sens")),
        tuple(Row(Cell(name, lang="en"), (Cell(meaning),)) for name, meaning in FIELDS.items()),
    )


def downloads(records: Iterable[Record]) -> Table:
    """The page and the file of every record."""
    return Table(
        "fichiers",
        "Chaque relevé, sa page et son fichier",
        (Column("Essai"), Column("Machine"), Column("État"), Column("Fichier")),
        tuple(_download(record) for record in records),
    )


def _download(record: Record) -> Row:
    """One record, one row."""
    page = address(record)
    cells = (
        Cell(f"{processor(record.machine)}, {pytorch(record.environment)}"),
        Cell(STATUS_NAMES[record.status]),
        Cell("JSON", href=f"{page.removesuffix('.html')}.json"),
    )
    return Row(Cell(label(record.case), href=page), cells)


def _product(case: Case) -> str:
    """The count of the bytes of the float32 logits."""
    return f"{case.batch_size} × {case.sequence_length} × {number(worked.VOCABULARY)} × 4"


def _adapter_rows() -> tuple[tuple[str, str, str], ...]:
    """What the articles compute of adapters and of packed weights, for the measured model."""
    adapter = worked.query_value_parameters(16)
    return (
        (
            "Paramètres d’un adaptateur de rang 16 sur q_proj et v_proj",
            number(adapter),
            "rang × (entrées + sorties) de chaque matrice",
        ),
        ("Ce que cet adaptateur pèse à l’entraînement", size(adapter_bytes(adapter, 4)), "quatre jeux en float32"),
        ("Les sept projections en NF4, double quantification", size(worked.PACKED_BYTES), "formule de NF4"),
        ("Plongements et normalisations en float32", size(worked.KEPT_BYTES), "le reste des paramètres × 4 octets"),
    )


def constants(_: Series) -> Table:
    """The values of the prose that no record gives, with where each comes from. Arithmetic, or nominal."""
    logits = f"lot × longueur × vocabulaire × 4 octets : {_product(INFERENCE_8)}"
    driver = "valeur que le pilote rapporte, en Mio, convertie"
    rows = (
        ("Vocabulaire du modèle mesuré", number(worked.VOCABULARY), "configuration de SmolLM2-135M-Instruct"),
        ("Une copie des logits, lot de 8", size(worked.logits_bytes(INFERENCE_8)), logits),
        (
            "Part d’un adaptateur de rang 64 sur sept projections",
            percent(worked.adapter_share(64), 1),
            "rang × (entrées + sorties) de chaque matrice, sur le nombre de paramètres du modèle",
        ),
        *_adapter_rows(),
        ("Machine modeste", gigabytes(worked.SMALL_MACHINE_BYTES), "valeur nominale, choisie pour l’exemple"),
        ("Petite carte", gigabytes(worked.SMALL_CARD_BYTES), "capacité annoncée à la vente"),
        ("NVIDIA L4, vendue pour la même capacité", worked.card(worked.L4_BYTES), driver),
        ("NVIDIA RTX 4090, vendue pour la même capacité", worked.card(worked.RTX_4090_BYTES), driver),
        ("Grande carte", gigabytes(worked.LARGE_CARD_BYTES), "capacité annoncée à la vente"),
        *(("Carte plus grande", gigabytes(each), "capacité annoncée à la vente") for each in worked.LARGER_CARDS_BYTES),
    )
    return Table(
        "constantes",
        "Valeurs du texte qu’aucun relevé ne donne",
        (Column("Grandeur"), Column("Valeur", numeric=True), Column("Origine")),
        tuple(Row(Cell(name), (Cell(value), Cell(origin))) for name, value, origin in rows),
    )
