"""Projects made of the real content and of synthetic records."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.project import Project, Settings
from sitegen.records import published
from sitegen.records.bills import merged
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.render.build import render
from sitegen.render.series import Series, chosen
from tests.factories import TRAINING, record, reference_suite, write_records

ROOT = Path(__file__).parents[2]
CONTENT = ROOT / "content"
MEASUREMENTS = ROOT / "measurements"

MakeProject = Callable[..., Project]


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """A function that lays down a project with the real content, some records and some settings."""

    def make(records: Iterable[Record] = (), settings: Settings | None = None) -> Project:
        root = tmp_path / "project"
        shutil.copytree(CONTENT, root / "content")
        (root / "measurements").mkdir()
        write_records(records, root / "measurements")
        return Project(root, settings or Settings())

    return make


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a whole suite, with one case that ran out of memory and says so with a trap in it."""
    root = tmp_path_factory.mktemp("built")
    shutil.copytree(CONTENT, root / "content")
    failed = record(
        replace(TRAINING[8], batch_size=16),
        status="out_of_memory",
        reason="killed <script>alert('trap')</script> & more",
    )
    write_records([*reference_suite(), failed], root / "measurements")
    render(Project(root, Settings()))
    return root / "site"


@pytest.fixture
def series() -> Series:
    """A whole reference suite."""
    return Series(reference_suite())


@pytest.fixture(scope="session")
def committed() -> Series:
    """What this project's site speaks of, with its traces and the published runs."""
    folder = MEASUREMENTS / published.FOLDER
    others = published.load_runs(folder), published.load_traces(folder)
    return Series(chosen(load_all(MEASUREMENTS), None).records, merged(MEASUREMENTS), others)
