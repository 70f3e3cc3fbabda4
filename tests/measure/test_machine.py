"""The fingerprint of a measurement."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from sitegen.measure import machine
from sitegen.measure.machine import bracketed, code_of, environment_of, kernel_version, smallest_limit, this_machine
from sitegen.records.case import Case
from sitegen.records.store import load_all
from sitegen.units import GIB_BYTES

SOURCE = '''"""A module."""
import os

def step(x):
    """What it does."""
    # why it does
    return x + 1
'''


@pytest.mark.parametrize(
    "same",
    [
        SOURCE.replace("# why it does", "# another reason"),
        SOURCE.replace('"""What it does."""', '"""Said otherwise."""'),
        SOURCE.replace('"""A module."""', ""),
        SOURCE.replace("return x + 1", "return (\n        x + 1\n    )"),
    ],
)
def test_wording_and_layout_change_no_workload(same: str) -> None:
    assert code_of(same) == code_of(SOURCE)


@pytest.mark.parametrize("other", [SOURCE.replace("x + 1", "x + 2"), SOURCE.replace("import os", "import sys")])
def test_code_changes_the_workload(other: str) -> None:
    assert code_of(other) != code_of(SOURCE)


def test_a_function_of_only_a_docstring_is_still_code() -> None:
    assert code_of('def f():\n    """Nothing."""\n') == code_of("def f():\n    pass\n")


@pytest.mark.parametrize(
    ("text", "choice"),
    [("always [madvise] never", "madvise"), ("[always] madvise never", "always"), ("", None), (None, None)],
)
def test_the_kernel_s_choice_is_the_bracketed_word(text: str | None, choice: str | None) -> None:
    assert bracketed(text) == choice


@pytest.mark.parametrize(
    ("limits", "binding"),
    [
        (["96636764160", "max"], 90 * GIB_BYTES),  # 96 636 764 160 = 90 x 2^30
        (["max", "max"], None),
        (["9223372036854771712"], None),  # what cgroup v1 writes for "no limit"
        ([str(64 * GIB_BYTES), str(32 * GIB_BYTES)], 32 * GIB_BYTES),
        ([], None),
    ],
)
def test_the_smallest_limit_of_the_ancestry_binds(limits: list[str], binding: int | None) -> None:
    assert smallest_limit(limits) == binding


@pytest.mark.parametrize(
    ("release", "kept"),
    [
        ("6.1.0-13-amd64", "6.1.0"),
        ("5.15.90.1-microsoft-standard-WSL2", "5.15.90.1"),
        ("6.8-acme", "6.8"),
        ("", "unknown"),
    ],
)
def test_a_kernel_is_named_by_its_numbers_alone(release: str, kept: str) -> None:
    assert kernel_version(release) == kept


def test_only_what_can_move_a_peak_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment_of(Case())
    versions = dict(before.packages)

    def with_version(package: str, version: str | None) -> str:
        monkeypatch.setattr(machine, "installed_version", lambda name: version if name == package else versions[name])
        return environment_of(Case()).id

    assert with_version("a-package-that-nothing-uses", "9.9") == before.id
    for package in versions:
        assert with_version(package, "99.0") != before.id
    assert environment_of(Case(threads=before.threads + 1)).id != before.id


def test_the_environment_says_the_versions_installed_here() -> None:
    environment = environment_of(Case())
    assert environment.packages["torch"] == metadata.version("torch")
    assert environment.python == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert metadata.version("transformers") in environment.id


def test_the_machine_s_name_is_safe_and_says_its_size() -> None:
    slug = this_machine().slug
    assert slug == slug.strip("-")
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    assert f"{this_machine().cores}-cores-{this_machine().ram_gib}-gib" in slug


def test_the_committed_records_name_no_kernel_s_owner() -> None:
    records = load_all(Path(__file__).parents[2] / "measurements")
    kernels = {record.circumstances.kernel for record in records}
    assert kernels
    assert {kernel_version(kernel) for kernel in kernels} == kernels
