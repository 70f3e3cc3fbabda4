import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from sitegen.project import Project
from tests.factories import reference_suite

NO_TORCH = """
import sys
from pathlib import Path

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers", "peft"):
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Refusal())
from sitegen.project import Project, Settings
from sitegen.render.build import render
print(render(Project(Path(sys.argv[1]), Settings())).pages)
"""


def test_rendering_works_where_torch_is_absent(make_project: Callable[..., Project]) -> None:
    project = make_project(reference_suite())
    done = subprocess.run(
        [sys.executable, "-c", NO_TORCH, str(project.root)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(list(project.content.rglob("*.md"))) + len(reference_suite())
