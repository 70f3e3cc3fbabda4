"""The steps of a build, each a small function: measure what is new, trace what was measured, then render."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sitegen.measure.campaign import Campaign, measure, require_all_ok, tasks_of
from sitegen.measure.display import display_for
from sitegen.measure.plan import Task
from sitegen.measure.suites import SUITES
from sitegen.measure.timing import Clock, known_durations
from sitegen.measure.weights import ModelSource, source_of
from sitegen.project import Project
from sitegen.records.case import Case
from sitegen.records.model import Record
from sitegen.records.store import load_all
from sitegen.tabulating import trace_cases

if TYPE_CHECKING:
    from sitegen.render.build import RenderReport


def build(project: Project, suite: str, repeat: int = 1, force: bool = False) -> RenderReport:
    """Measure what the suite lacks, then render the site from all the records.

    Raises:
        MeasurementError: a case did not end well; the site is rendered all the same and shows it.
        SitegenError: whatever else stopped the build; ``site/`` is then as it was.
    """
    records = run(suite_campaign(project, suite, repeat, force))
    trace_cases(project, _say)
    report = render(project)
    require_all_ok(records)
    return report


def _say(line: str) -> None:
    """A line on standard error: standard output is for results."""
    sys.stderr.write(f"{line}\n")


def suite_campaign(project: Project, suite: str, repeat: int = 1, force: bool = False) -> Campaign:
    """The campaign of a suite, kept in the project's records."""
    cases = SUITES[suite]
    return Campaign(
        cases=cases,
        sources={model: source_of(model) for model in sorted({case.model for case in cases})},
        records=project.measurements,
        lock=project.lock,
        repeat=repeat,
        force=force,
    )


def case_campaign(
    case: Case, source: ModelSource, project: Project | None, output: Path | None, repeat: int, force: bool
) -> Campaign:
    """The campaign of one ad hoc case, kept in the project's records or in `output`."""
    records = output if output is not None or project is None else project.measurements
    if records is None:
        raise TypeError("a case outside a project needs an output folder")
    lock = project.lock if project is not None else records / ".lock"
    return Campaign(cases=(case,), sources={case.model: source}, records=records, lock=lock, repeat=repeat, force=force)


def run(campaign: Campaign) -> list[Record]:
    """Measure with a display on standard error."""
    display = display_for(sys.stderr, Clock(known_durations(load_all(campaign.records))))
    try:
        return measure(campaign, display)
    finally:
        display.close()


def states(project: Project, suite: str) -> list[Task]:
    """What the next build would do with each case of the suite, and why."""
    return tasks_of(suite_campaign(project, suite))


def render(project: Project) -> RenderReport:
    """Render the site from the records and the content.

    The renderer's imports come here, after measuring: the parent of a measured process stays small.
    """
    from sitegen.render.build import render as render_site  # noqa: PLC0415 - see above

    return render_site(project)
