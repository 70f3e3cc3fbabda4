"""What sitegen costs beside what it measures: ``python tests/bench/bench.py [--quick]``, on a quiet Linux machine.

Case by case, in one sitting, the reference suite through sitegen and the same case by the bare stand-alone script, the
first of the two changing each time. Then the time of the help and that of a render.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec
import psutil

from sitegen.measure.suites import QUICK, REFERENCE
from sitegen.measure.weights import prepare, source_of
from sitegen.records.case import DEFAULT_MODEL, Case
from sitegen.units import KIB_BYTES, megabytes

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPT: Final = ROOT / "content" / "fichiers" / "mesurer_soi_meme.py"
PARENT: Final = Path(__file__).with_name("parent.py")
SITEGEN: Final = (sys.executable, "-m", "sitegen")

MAX_WALL_RATIO: Final = 1.05
MAX_PARENT_MB: Final = 80
MAX_PARENT_CPU_PERCENT: Final = 1
MAX_HELP_S: Final = 0.3
MAX_RENDER_S: Final = 2
HELP_RUNS: Final = 5


class Figure(NamedTuple):
    """One line of the result: a value and what it must not exceed."""

    name: str
    value: float
    limit: float
    unit: str = ""

    @property
    def good(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        verdict = "ok" if self.good else "MISSED"
        return f"{self.name:<36} {self.value:8.3f} {self.unit:<3} (at most {self.limit:g}): {verdict}"


class Parent:
    """A sitegen parent that measures its cases one at a time; what it costs itself is read from outside."""

    def __init__(self, cases: Sequence[Case], records: Path, terminal: int) -> None:
        command = [sys.executable, str(PARENT), msgspec.json.encode(cases).decode(), str(records)]
        begun = time.monotonic()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=terminal, text=True, cwd=ROOT
        )
        self.cpu_s = 0.0
        self.peak_bytes = 0
        self._expect("ready")
        self.start_s = time.monotonic() - begun

    def run_next(self, *, last: bool) -> float:
        """Let the next case run, and return its wall time in seconds."""
        cpu_s, begun = self._cpu_s(), time.monotonic()
        _pipe(self._process.stdin).write("go\n")
        _pipe(self._process.stdin).flush()
        self._expect("ok")
        spent = time.monotonic() - begun
        self.cpu_s += self._cpu_s() - cpu_s
        self.peak_bytes = peak_bytes_of(self._process.pid)
        if not last:
            self._expect("ready")
        return spent

    def close(self) -> None:
        """End the parent, unless it has ended by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._process.kill()
        self._process.wait()

    def _expect(self, word: str) -> None:
        line = _pipe(self._process.stdout).readline().strip()
        if line != word:
            raise SystemExit(f"bench: the parent said {line!r} where {word!r} was expected")

    def _cpu_s(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)


def main() -> int:
    """Print every figure; the exit code says whether all are within their limits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="the quick suite in place of the reference one")
    cases = [case for case in (QUICK if parser.parse_args().quick else REFERENCE) if case.mode != "baseline"]
    figures = [*compared(cases), help_figure(), *render_figures()]
    for figure in figures:
        say(str(figure))
    return 0 if all(figure.good for figure in figures) else 1


def compared(cases: Sequence[Case]) -> list[Figure]:
    """Both sides of each case, alternated, and what the parent cost meanwhile."""
    folders = {case.dtype: prepare(source_of(DEFAULT_MODEL), case.dtype, say).folder for case in cases}
    run_script(cases[0], folders[cases[0].dtype])  # so that both sides find the files in memory
    ours_s = theirs_s = 0.0
    with (
        tempfile.TemporaryDirectory() as records,
        drained_terminal() as terminal,
        closing(Parent(cases, Path(records), terminal)) as parent,
    ):
        for rank, case in enumerate(cases, 1):
            ours, theirs = one_case(parent, case, folders[case.dtype], rank, last=rank == len(cases))
            say(f"{case.id}: sitegen {ours:.1f} s, script {theirs:.1f} s, ratio {ours / theirs:.3f}")
            ours_s, theirs_s = ours_s + ours, theirs_s + theirs
    return [
        Figure("wall time, sitegen / bare script", (parent.start_s + ours_s) / theirs_s, MAX_WALL_RATIO),
        Figure("the parent's own peak", megabytes(parent.peak_bytes), MAX_PARENT_MB, "MB"),
        Figure("the parent's share of a core", 100 * parent.cpu_s / ours_s, MAX_PARENT_CPU_PERCENT, "%"),
    ]


def one_case(parent: Parent, case: Case, folder: Path, rank: int, *, last: bool) -> tuple[float, float]:
    """Wall times in seconds of both sides; the odd ranks begin with sitegen."""
    if rank % 2:
        return parent.run_next(last=last), run_script(case, folder)
    theirs = run_script(case, folder)
    return parent.run_next(last=last), theirs


def run_script(case: Case, folder: Path) -> float:
    """The case by the stand-alone script, in a fresh process; its wall time in seconds."""
    options = ["--modele", folder, "--type", case.dtype, "--lot", case.batch_size, "--longueur", case.sequence_length]
    options += ["--mode", "inference" if case.mode == "inference" else "entrainement"]
    switches = {
        "--seuil-fixe": case.allocator == "fixed",
        "--points-de-controle": case.gradient_checkpointing,
        "--lora": case.method == "lora",
    }
    options += [name for name, on in switches.items() if on]
    return timed([sys.executable, str(SCRIPT), *map(str, options)])


def help_figure() -> Figure:
    """The best of a few runs: what the command costs when nothing else runs."""
    return Figure("sitegen --help", min(timed([*SITEGEN, "--help"]) for _ in range(HELP_RUNS)), MAX_HELP_S, "s")


def render_figures() -> Iterator[Figure]:
    """Two renders of the committed records, in a project of their own."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        timed([*SITEGEN, "init", str(project)])
        shutil.copytree(ROOT / "measurements", project / "measurements", dirs_exist_ok=True)
        spent, trees = [], []
        for _ in range(2):
            spent.append(timed([*SITEGEN, "render"], project))
            trees.append(hashes(project / "site"))
    different = sum(trees[0].get(name) != trees[1].get(name) for name in trees[0].keys() | trees[1].keys())
    yield Figure("sitegen render", min(spent), MAX_RENDER_S, "s")
    yield Figure("files that two renders make differ", different, 0)


def timed(command: Sequence[str], folder: Path = ROOT) -> float:
    """Wall time of a command in seconds; the bench stops with what it said if it fails."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    spent = time.monotonic() - begun
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command[1:])} failed:\n{done.stderr}")
    return spent


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file under a folder, by relative name."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def peak_bytes_of(pid: int) -> int:
    """The high-water mark of another process (VmHWM, in KiB)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * KIB_BYTES for line in lines if line.startswith("VmHWM:"))


@contextmanager
def drained_terminal() -> Iterator[int]:
    """A terminal for the parent's live display, which costs more than plain lines; what it shows is thrown away."""
    ours, theirs = pty.openpty()
    threading.Thread(target=_drain, args=(ours,), daemon=True).start()
    try:
        yield theirs
    finally:
        os.close(theirs)


def _drain(terminal: int) -> None:
    """Read until the other end closes."""
    with suppress(OSError):
        while os.read(terminal, 65536):
            pass


def _pipe(stream: IO[str] | None) -> IO[str]:
    """The stream, which was asked for."""
    if stream is None:
        raise TypeError("the process has no such pipe")
    return stream


if __name__ == "__main__":
    sys.exit(main())
