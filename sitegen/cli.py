"""The command line: it parses, calls, prints. Each command imports what it needs, so that the help answers at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitegen import __version__
from sitegen.errors import SitegenError, from_os_error
from sitegen.options import case_from, case_options, estimate_options, model_options

if TYPE_CHECKING:
    from sitegen.project import Project
    from sitegen.records.model import Record
    from sitegen.render.build import RenderReport

_INTERRUPTED = 130  # 128 + SIGINT, as a shell says it
_SUITES = ("reference", "quick", "extended", "runtime", "validation", "heap")

suite_option = click.option("--suite", type=click.Choice(_SUITES), default="reference", show_default=True)
force_option = click.option("--force", is_flag=True, help="Measure again even what is up to date.")
repeat_option = click.option(
    "--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Samples to keep a case."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="sitegen")
def cli() -> None:
    """Measure what running and training a language model costs in memory, and publish it as a French site."""


@cli.command()
@suite_option
@repeat_option
@force_option
def build(suite: str, repeat: int, force: bool) -> None:
    """Measure what the suite lacks here, then render the site."""
    from sitegen import pipeline

    _report(pipeline.build(_project(), suite, repeat, force))


@cli.command()
@model_options
@case_options
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Keep the records in this folder.")
@repeat_option
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print the record, alone, on standard output.")
def measure(
    model: str,
    revision: str | None,
    config: Path | None,
    output: Path | None,
    repeat: int,
    force: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Measure one case in a fresh process, unless an up-to-date record exists."""
    from sitegen import pipeline
    from sitegen.measure.campaign import require_all_ok
    from sitegen.measure.weights import source_of
    from sitegen.records.store import encode

    case_from(model, revision, options)
    source = source_of(model, revision, config)
    case = case_from(source.case_name, revision, options)
    project = _known_project() if output is not None else _project()
    records = pipeline.run(pipeline.case_campaign(case, source, project, output, repeat, force))
    click.echo(encode(records[0]).decode() if as_json else _table(records[0]), nl=not as_json)
    require_all_ok(records)


@cli.command()
@model_options
@estimate_options
def estimate(
    model: str,
    revision: str | None,
    config: Path | None,
    device: str,
    cards: tuple[str, ...],
    as_json: bool,
    **options: object,
) -> None:
    """Say what a case would take, without running it: its steps are traced, and no weights are needed."""
    from sitegen import estimating
    from sitegen.measure.subjects import subject_of
    from sitegen.memory.catalogue import card

    case = case_from(model, revision, options)
    question = estimating.question(
        subject_of(model, revision, config), case, device, [card(name) for name in cards], _known_project()
    )
    click.echo(estimating.as_json(question) if as_json else estimating.as_text(question, _say))


@cli.command(name="list")
@suite_option
def list_cases(suite: str) -> None:
    """Show which cases are new, failed, stale or done here, and why."""
    from sitegen import pipeline
    from sitegen.units import readable

    for task in pipeline.states(_project(), suite):
        peak = readable(task.record.summary.peak_bytes) if task.record else "-"
        click.echo(f"{task.state:<6}  {peak:>8}  {task.case.id}  ({task.why})")


@cli.command()
@click.option("--family", "families", multiple=True, help="Only the tables of this architecture; may be repeated.")
@click.option("--tables/--no-tables", default=True, help="Make the families' tables too, which takes long.")
def trace(families: tuple[str, ...], tables: bool) -> None:
    """Trace the measured cases and the families' tables that this stack lacks, for the estimates of the site."""
    from sitegen import tabulating

    project = _project()
    cases = tabulating.trace_cases(project, _say)
    made = tabulating.trace_tables(project, _say, families) if tables else 0
    click.echo(f"{cases} cases and {made} tables traced.")


@cli.command()
def render() -> None:
    """Render the site from the records, without measuring."""
    from sitegen import pipeline

    _report(pipeline.render(_project()))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(as_json: bool) -> None:
    """List each fact and claim of the prose: value, pages, records. Fails when a page states what does not hold."""
    from sitegen.render import audit

    audited = audit.audit(_project())
    click.echo(audit.as_json(audited) if as_json else audit.as_text(audited))
    audited.problems.check()


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Lay a new project down in FOLDER."""
    from sitegen.project import init_project

    init_project(folder)
    click.echo(f"A project is in {folder}. Next: cd {folder} && sitegen build")


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a record."""
    import json

    from sitegen.records.model import json_schema

    click.echo(json.dumps(json_schema(), indent=2, sort_keys=True))


def main() -> None:
    """Run a command; turn every error into one message and its exit code."""
    try:
        cli.main(standalone_mode=False)
    except SitegenError as error:
        _fail(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _fail("Interrupted. What was measured is kept; the same command does the rest.", _INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_INTERRUPTED)
    except OSError as error:
        failure = from_os_error(error, f"using {Path(error.filename).name}" if error.filename else "a system call")
        _fail(str(failure), failure.exit_code)
    except Exception as error:
        if os.environ.get("SITEGEN_DEBUG"):
            raise
        _fail(
            f"Internal error: {type(error).__name__}: {error}\n"
            "This is a fault of sitegen. Set SITEGEN_DEBUG=1 and run the command again to see where it arose.",
            SitegenError.exit_code,
        )


def _fail(message: str, code: int) -> None:
    """Say what went wrong on standard error, and leave with its exit code."""
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


def _say(line: str) -> None:
    """A line on standard error: standard output is for the result."""
    click.echo(line, err=True)


def _project() -> Project:
    """The project that the current folder is in."""
    from sitegen.project import find_project

    return find_project(Path.cwd())


def _known_project() -> Project | None:
    """The project that the current folder is in, if it is in one."""
    from sitegen.errors import ProjectError

    try:
        return _project()
    except ProjectError:
        return None


def _table(record: Record) -> str:
    """A record as a person reads it in a terminal."""
    from sitegen.measure.report import record_report

    return record_report(record)


def _report(report: RenderReport) -> None:
    """Say what was rendered."""
    click.echo(report.message)
