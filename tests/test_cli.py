"""The command line as a user meets it: messages, exit codes, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.errors import ALL_KINDS, SitegenError
from sitegen.measure.suites import SUITES
from sitegen.records.case import Case
from sitegen.records.model import json_schema
from sitegen.records.store import decode, save
from tests.factories import LORA, record, reference_suite

ROOT = Path(__file__).parents[1]


def sitegen(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "sitegen", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "projet"
    assert sitegen("init", str(folder), cwd=tmp_path).returncode == 0
    return folder


def test_each_kind_of_error_has_its_own_exit_code() -> None:
    kinds: tuple[type[SitegenError], ...] = (SitegenError, *ALL_KINDS)
    codes = [kind.exit_code for kind in kinds]
    assert len(set(codes)) == len(codes)
    assert {kind for kind in _descendants(SitegenError) if kind.__module__ == "sitegen.errors"} == set(ALL_KINDS)


def _descendants(kind: type[SitegenError]) -> list[type[SitegenError]]:
    return [each for child in kind.__subclasses__() for each in (child, *_descendants(child))]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build"], 3, "no sitegen project here"),
        (["render"], 3, "sitegen init DIR"),
        (["list"], 3, "no sitegen project here"),
        (["check"], 3, "no sitegen project here"),
        (["measure"], 3, "no sitegen project here"),
        (["measure", "--batch-size", "0"], 2, "--batch-size is 0"),
        (["measure", "--batch-size", "two"], 2, "'two' is not a valid integer"),
        (["measure", "--optimizer", "lion"], 2, "'lion' is not one of"),
        (["measure", "--model", "no-such-model", "--output", "out"], 4, "no-such-model"),
        (["measure", "--model", "./missing-folder", "--output", "out"], 4, "missing-folder"),
        (["build", "--suite", "all"], 2, "'all' is not one of"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_bad_input_gives_one_message_and_its_exit_code(
    arguments: list[str], code: int, says: str, tmp_path: Path
) -> None:
    done = sitegen(*arguments, cwd=tmp_path)
    assert says in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert not done.stdout
    assert not list(tmp_path.rglob("*.json"))


def test_init_lays_a_project_down_and_refuses_a_folder_in_use(project: Path, tmp_path: Path) -> None:
    assert {path.name for path in project.iterdir()} == {"content", "measurements", "site"}
    again = sitegen("init", str(project), cwd=tmp_path)
    assert again.returncode == 3
    assert "not an empty folder" in again.stderr


def test_list_names_every_case_of_the_suite_with_its_state(project: Path) -> None:
    lines = sitegen("list", "--suite", "reference", cwd=project).stdout.splitlines()
    assert len(lines) == len(SUITES["reference"])
    assert all(line.startswith("new") for line in lines)


def test_a_setting_that_does_not_exist_is_named(project: Path) -> None:
    (project / "content" / "site.toml").write_text('[site]\nlocal = "fr-CA"\n', encoding="utf-8")
    done = sitegen("list", cwd=project)
    assert done.returncode == 3
    assert "local" in done.stderr


def test_a_corrupted_record_is_named_and_left_as_it_is(project: Path) -> None:
    path = save(record(Case()), project / "measurements")
    path.write_bytes(path.read_bytes()[:-5])
    spoilt = path.read_bytes()
    for command in (["render"], ["build", "--suite", "quick"]):
        done = sitegen(*command, cwd=project)
        assert done.returncode == 6
        assert path.name in done.stderr
        assert "Restore the file" in done.stderr
        assert path.read_bytes() == spoilt


def test_check_lists_facts_and_claims_and_fails_with_the_code_of_content(project: Path) -> None:
    for each in reference_suite():
        save(each, project / "measurements")
    done = sitegen("check", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    assert {each["name"] for each in json.loads(done.stdout)["claims"]} >= {"lora_saves", "batch_grows_the_peak"}
    save(record(LORA, net_mib=(9000, 9000)), project / "measurements")
    done = sitegen("check", cwd=project)
    assert done.returncode == 7
    assert "claim\tlora_saves\tFALSE" in done.stdout
    assert "content/accueil.md: lora_saves" in done.stderr


def test_the_printed_schema_is_the_one_of_the_records(tmp_path: Path) -> None:
    assert json.loads(sitegen("schema", cwd=tmp_path).stdout) == json.loads(json.dumps(json_schema()))


def test_measure_prints_one_record_alone_on_standard_output_and_reuses_it(tmp_path: Path) -> None:
    arguments = ["measure", "--mode", "baseline", "--output", "trial", "--json"]
    first = sitegen(*arguments, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    read = decode(first.stdout.encode(), "standard output")
    assert read.case == Case(mode="baseline")
    assert read.summary.baseline_bytes is not None
    (path,) = (tmp_path / "trial").glob("*/*/*.json")
    assert path.read_text(encoding="utf-8") == first.stdout
    again = sitegen(*arguments, cwd=tmp_path)
    assert again.stdout == first.stdout
    assert "1 up to date, 0 to measure" in again.stderr


def test_a_fault_of_ours_is_one_line_and_not_a_traceback(tmp_path: Path) -> None:
    script = "import sitegen.cli as c; c.cli.main = lambda **k: 1 / 0; c.main()"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ.copy()
    )
    assert done.returncode == 1
    assert "Internal error: ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr
    assert tmp_path.exists()


def test_the_help_lists_every_command() -> None:
    text = sitegen("--help", cwd=ROOT).stdout
    for command in ("build", "measure", "list", "render", "check", "init", "schema"):
        assert f"  {command}" in text


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "modele"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(TINY), encoding="utf-8")
    return folder


TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 512,
}


def test_faults_of_a_model_each_have_their_own_message_and_exit_code(tmp_path: Path, model_folder: Path) -> None:
    weights = model_folder / "model.safetensors"

    def measured(*arguments: str) -> tuple[int, str]:
        done = sitegen("measure", "--output", "out", *arguments, cwd=tmp_path, SITEGEN_CACHE=str(tmp_path / "cache"))
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    weights.write_bytes((1000).to_bytes(8, "little") + b"{}")
    code, said = measured("--model", str(model_folder))
    assert (code, "is truncated" in said, "Download the file again" in said) == (11, True, True)

    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", encoding="utf-8")
    code, said = measured("--model", str(model_folder))
    assert (code, "Git LFS pointer" in said, "git lfs pull" in said) == (12, True, True)

    config = tmp_path / "config.json"
    config.write_text(json.dumps({key: value for key, value in TINY.items() if key != "hidden_size"}), encoding="utf-8")
    code, said = measured("--config", str(config))
    assert (code, "has no hidden_size" in said) == (10, True)
    assert not list((tmp_path / "out").rglob("*.json"))
