"""Trace the published runs of one stack, in an environment that holds the transformers and peft of that stack.

Run as ``python -m sitegen.workload.published FOLDER STACK [RUN…]``, FOLDER being ``measurements/published``: every run
of the stack that can be traced is traced, and the stack's file of traces written. With the names of runs, only those
are traced, nothing is written, and the command fails when a trace differs from the committed one.
"""

from __future__ import annotations

import gc
import importlib
import sys
from pathlib import Path
from typing import Final

from sitegen.errors import RecordError, SitegenError, UsageError
from sitegen.files import write_atomic
from sitegen.records.published import (
    PublishedRun,
    PublishedRuns,
    PublishedTrace,
    PublishedTraces,
    encode,
    load_runs,
    load_traces,
)

_TRACERS: Final = ("torch", "transformers", "peft", "accelerate", "bitsandbytes")
_DECISIVE: Final = ("transformers", "peft")


def main(arguments: list[str]) -> int:
    """The command; returns its exit code."""
    try:
        if len(arguments) < 2:  # noqa: PLR2004 - the folder and the stack
            raise UsageError("The folder of published runs and the name of a stack are expected.")
        folder, stack, names = Path(arguments[0]), arguments[1], arguments[2:]
        published = load_runs(folder)
        versions = _versions_for(published, stack)
        runs = _chosen(published, stack, names)
        if names:
            _compare(folder, _traced(published, runs))
        else:
            content = PublishedTraces(stack=stack, traced_with=versions, traces=_traced(published, runs))
            write_atomic(folder / f"traces-{stack}.json", encode(content))
    except SitegenError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _versions_for(published: PublishedRuns, stack: str) -> dict[str, str]:
    """What is installed here; raises `UsageError` unless it is what the stack needs."""
    if stack not in published.stacks:
        raise UsageError(f"No stack is called {stack!r}.", f"Choose one of {', '.join(published.stacks)}.")
    here = {name: str(importlib.import_module(name).__version__) for name in _TRACERS}
    for name in _DECISIVE:
        wanted = published.stacks[stack].versions[name]
        if here[name] != wanted:
            raise UsageError(
                f"The runs of {stack} were made with {name} {wanted}; {here[name]} is installed.",
                "Use an environment of its own, as CONTRIBUTING.md says.",
            )
    return here


def _chosen(published: PublishedRuns, stack: str, names: list[str]) -> list[PublishedRun]:
    """The runs to trace: those named, or all of the stack that can be."""
    runs = {run.id: run for run in published.runs if run.stack == stack and run.traceable}
    unknown = [name for name in names if name not in runs]
    if unknown:
        raise UsageError(f"{unknown[0]} is no run of {stack} that can be traced.", "Correct its name.")
    return [runs[name] for name in names or runs]


def _traced(published: PublishedRuns, runs: list[PublishedRun]) -> dict[str, PublishedTrace]:
    """The traces, one after the other, each said as it ends."""
    from sitegen.workload.foreign_run import trace  # noqa: PLC0415 - needs the older transformers, checked before

    traces = {}
    for run in runs:
        traces[run.id] = found = trace(run, published.models[run.model])
        sys.stderr.write(f"{run.id}: {found.peak_bytes} bytes live, {run.measured_bytes} measured\n")
        gc.collect()
    return traces


def _compare(folder: Path, traces: dict[str, PublishedTrace]) -> None:
    """Raise `RecordError` at the first trace that is not the committed one."""
    committed = load_traces(folder)
    for name, trace in traces.items():
        if committed.get(name) != trace:
            raise RecordError(f"The trace of {name} is not the committed one.", "Find out which code changed it.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
