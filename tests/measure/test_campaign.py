"""Suites of a small model: what is measured, what is kept, what a kill leaves."""

from __future__ import annotations

import ctypes.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import filelock
import psutil
import pytest
from msgspec.structs import replace

from sitegen.errors import BusyError, MeasurementError, RecordError
from sitegen.measure import plan as plans
from sitegen.measure.campaign import Campaign, measure, require_all_ok, tasks_of
from sitegen.measure.plan import Task
from sitegen.measure.weights import source_of
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.observation import Progress
from sitegen.records.store import load, record_files, save

ROOT = Path(__file__).parents[2]
SMALL = Case(sequence_length=16, timeout=120)
BASELINE = Case(mode="baseline", timeout=120)

SUITE_SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.measure.test_campaign import Silent, tiny_campaign
from sitegen.measure.campaign import measure
measure(tiny_campaign(Path({config!r}), Path({folder!r})), Silent())
"""


class Silent:
    """A display that only remembers."""

    def __init__(self) -> None:
        self.started_ids: list[str] = []

    def planned(self, tasks: Sequence[Task]) -> None: ...

    def preparing(self, message: str) -> None: ...

    def started(self, task: Task) -> None:
        self.started_ids.append(task.case.id)

    def progressed(self, task: Task, progress: Progress) -> None: ...

    def finished(self, task: Task, record: Record) -> None: ...


def tiny_campaign(config: Path, folder: Path, *cases: Case, **options: int) -> Campaign:
    source = source_of("smollm2-135m-instruct", None, config)
    chosen = cases or tuple(replace(SMALL, batch_size=size) for size in (1, 2, 3, 4))
    named = tuple(replace(case, model=source.case_name) for case in chosen)
    sources = {source.case_name: source}
    return Campaign(cases=named, sources=sources, records=folder, lock=folder / ".lock", **options)  # type: ignore[arg-type]


@pytest.fixture
def config(tiny_config: Path, tiny_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SITEGEN_CACHE", str(tiny_cache))
    return tiny_config


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in record_files(folder)}


def test_what_is_up_to_date_is_not_measured_again(config: Path, tmp_path: Path) -> None:
    campaign = tiny_campaign(config, tmp_path, BASELINE)
    first, second = Silent(), Silent()
    (record,) = measure(campaign, first)
    before = _contents(tmp_path)
    assert measure(campaign, second) == [record]
    assert (len(first.started_ids), len(second.started_ids)) == (1, 0)
    assert _contents(tmp_path) == before


def test_each_state_is_named_with_its_reason(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = tiny_campaign(config, tmp_path, BASELINE)
    assert _state(campaign) == ("new", "no record for this machine and these versions")
    (record,) = measure(campaign, Silent())
    assert _state(campaign) == ("done", "up to date")
    assert _state(replace(campaign, repeat=3)) == ("stale", "it has 1 of 3 samples")
    assert _state(replace(campaign, force=True))[0] == "stale"
    save(replace(record, status="killed", reason="killed"), tmp_path)
    assert _state(campaign) == ("failed", "its last run was killed")
    save(replace(record, protocol=0), tmp_path)
    assert _state(campaign) == ("stale", "measured under protocol 0, now 1")
    save(record, tmp_path)
    monkeypatch.setattr(plans, "workload_sha256", lambda: "f" * 64)
    assert _state(campaign) == ("stale", "the workload's code has changed")


def test_a_repeat_adds_the_samples_that_lack_and_keeps_the_others(config: Path, tmp_path: Path) -> None:
    (one,) = measure(tiny_campaign(config, tmp_path, BASELINE), Silent())
    (three,) = measure(tiny_campaign(config, tmp_path, BASELINE, repeat=3), Silent())
    assert len(three.samples) == 3
    assert three.samples[0] == one.samples[0]
    assert three.summary.samples == 3


def test_a_failed_sample_does_not_cost_the_good_ones(config: Path, tmp_path: Path) -> None:
    (one,) = measure(tiny_campaign(config, tmp_path, BASELINE), Silent())
    bad = replace(one.samples[0], status="timeout", reason="too long")
    save(replace(one, status="timeout", reason="too long", samples=(*one.samples, bad)), tmp_path)
    (again,) = measure(tiny_campaign(config, tmp_path, BASELINE), Silent())
    assert again.status == "ok"
    assert again.samples[0] == one.samples[0]


def test_samples_of_another_model_are_not_kept(config: Path, tmp_path: Path) -> None:
    campaign = tiny_campaign(config, tmp_path, SMALL)
    (one,) = measure(campaign, Silent())
    assert one.model is not None
    save(replace(one, model=replace(one.model, config_sha256="0" * 64)), tmp_path)
    assert _state(campaign) == ("stale", "the model's configuration has changed")
    (again,) = measure(campaign, Silent())
    assert (again.model, len(again.samples)) == (one.model, 1)
    assert again.samples != one.samples


def test_a_failing_case_is_recorded_and_the_next_ones_are_measured(config: Path, tmp_path: Path) -> None:
    impossible = replace(SMALL, method="lora", lora_targets=("no_such_module",))
    records = measure(tiny_campaign(config, tmp_path, impossible, BASELINE), Silent())
    assert [record.status for record in records] == ["failed", "ok"]
    assert "no_such_module" in (records[0].reason or "")
    with pytest.raises(MeasurementError, match="no_such_module"):
        require_all_ok(records)


def test_an_allocator_that_is_not_installed_is_skipped_with_the_reason(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda _name: None)
    (record,) = measure(tiny_campaign(config, tmp_path, replace(BASELINE, allocator="jemalloc")), Silent())
    assert record.status == "skipped"
    assert "libjemalloc2" in (record.reason or "")
    require_all_ok([record])  # what this machine cannot run is no failure


def test_a_corrupted_record_stops_before_anything_is_touched(config: Path, tmp_path: Path) -> None:
    campaign = tiny_campaign(config, tmp_path, BASELINE)
    measure(campaign, Silent())
    (path,) = record_files(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    spoilt = path.read_bytes()
    with pytest.raises(RecordError, match=path.name):
        measure(campaign, Silent())
    assert path.read_bytes() == spoilt


def test_a_second_measurement_at_the_same_time_is_refused(config: Path, tmp_path: Path) -> None:
    campaign = tiny_campaign(config, tmp_path, BASELINE)
    with filelock.FileLock(campaign.lock), pytest.raises(BusyError, match="Another measurement is running"):
        measure(campaign, Silent())


def test_a_killed_suite_leaves_no_process_keeps_its_records_and_does_the_rest(config: Path, tmp_path: Path) -> None:
    script = SUITE_SCRIPT.format(root=str(ROOT), config=str(config), folder=str(tmp_path))
    parent = subprocess.Popen([sys.executable, "-c", script], env=os.environ.copy())
    children = _wait_for_the_second_case(parent, tmp_path)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    finished = _contents(tmp_path)
    assert 1 <= len(finished) < 4
    _gone, alive = psutil.wait_procs(children, timeout=5)
    assert not [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]

    display = Silent()
    records = measure(tiny_campaign(config, tmp_path), display)
    assert [record.status for record in records] == ["ok"] * 4
    assert len(display.started_ids) == 4 - len(finished)
    after = _contents(tmp_path)
    assert {name: after[name] for name in finished} == finished


def test_an_interrupted_suite_ends_its_child(config: Path, tmp_path: Path) -> None:
    script = SUITE_SCRIPT.format(root=str(ROOT), config=str(config), folder=str(tmp_path))
    parent = subprocess.Popen([sys.executable, "-c", script], env=os.environ.copy(), stderr=subprocess.DEVNULL)
    children = _wait_for_the_second_case(parent, tmp_path)
    parent.send_signal(signal.SIGINT)
    parent.wait(timeout=30)
    _gone, alive = psutil.wait_procs(children, timeout=5)
    assert not alive


def _state(campaign: Campaign) -> tuple[str, str]:
    (task,) = tasks_of(campaign)
    return task.state, task.why


def _wait_for_the_second_case(parent: subprocess.Popen[bytes], folder: Path) -> list[psutil.Process]:
    """The measured process that runs once the first record is on disk."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        children = psutil.Process(parent.pid).children(recursive=True)
        if any(record_files(folder)) and children:
            assert load(next(iter(record_files(folder)))).status == "ok"
            return children
        time.sleep(0.02)
    pytest.fail("the suite did not reach its second case")
