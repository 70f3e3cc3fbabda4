"""The shape of the code, checked where no linter checks it."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "sitegen").rglob("*.py"))
FILE_LINES = 300
FUNCTION_LINES = 50


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES
    for function in _functions(path):
        assert (function.end_lineno or 0) - function.lineno < FUNCTION_LINES, function.name


def test_most_functions_fit_in_fifteen_lines() -> None:
    lengths = sorted(
        (f.end_lineno or 0) - f.lineno + 1 for f in chain.from_iterable(_functions(path) for path in SOURCES)
    )
    assert lengths[len(lengths) * 3 // 4] <= 15


@pytest.mark.parametrize(
    "module", ["sitegen.cli", "sitegen.pipeline", "sitegen.render.build", "sitegen.measure.campaign"]
)
def test_no_room_but_the_workload_loads_torch(module: str) -> None:
    script = f"import sys, {module}; print([m for m in ('torch', 'transformers', 'peft') if m in sys.modules])"
    output = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"


def test_the_help_imports_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "plotly", "jinja2", "rich", "psutil", "huggingface_hub")
    script = f"import sys, sitegen.cli; print([m for m in {heavy!r} if m in sys.modules])"
    output = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"
