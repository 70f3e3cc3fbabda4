"""What a user installs: the wheel has the package and its own copy of the content, and nothing of the tests."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)], check=True, capture_output=True
    )
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_module_template_and_asset_is_in_the_wheel(wheel_names: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "sitegen"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert set(tracked) <= wheel_names


def test_the_content_is_in_the_wheel(wheel_names: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "content"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {f"sitegen/starter/{name}" for name in tracked} <= wheel_names


def test_tests_and_measurements_are_not_in_the_wheel(wheel_names: set[str]) -> None:
    assert not [name for name in wheel_names if name.startswith(("tests/", "measurements/", "site/"))]
