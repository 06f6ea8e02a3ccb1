"""`markscheme demo`: the main job on what is built in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body, say_stored
from markscheme.cli.options import format_option, no_store_option, store_option

if TYPE_CHECKING:
    from pathlib import Path

_REPORT = "markscheme-demo.html"
_EPILOG = """\b
Example:
  markscheme demo
  markscheme demo --flawed --report faults.html

The exit code is 0 when the hard gate is met and 1 when it is not."""


@click.command(name="demo", epilog=_EPILOG)
@click.option(
    "--flawed",
    is_flag=True,
    help="Examine the same tutor with realistic faults, to see what a breakdown is for.",
)
@click.option(
    "--model",
    is_flag=True,
    help="Examine a real language model on this machine instead; see `make model`.",
)
@click.option(
    "--report",
    metavar="FILE",
    help=f"Where the report is written: .html, .md or .xml.  [default: {_REPORT}]",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@no_store_option
@store_option
@format_option
@command_body
def command(
    flawed: bool,
    model: bool,
    report: str | None,
    no_report: bool,
    no_store: bool,
    store: str | None,
    format_: str,
) -> Exit:
    """Examine the bundled tutor on the capstone exam, state the gate, and write the report."""
    if model:
        from markscheme.cli.run import examine_model

        return examine_model(flawed=flawed, store=store, skip=no_store, format_=format_)
    from markscheme.cli.outputs import written
    from markscheme.engines.scoring import Scoring
    from markscheme.history.judging import report_of_result
    from markscheme.history.recording import recording
    from markscheme.library import answers_of_tutor, load_exam, load_rubric
    from markscheme.tell.language import say
    from markscheme.tell.patterns import PatternPage
    from markscheme.tell.terminal import Page
    from markscheme.weigh.patterns import pattern_record
    from markscheme.weigh.records import gate_records

    path = None if no_report else _place(report)
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    with recording(rubric, exam, where=store, skip=no_store) as recorder:
        scoring = Scoring(rubric, exam, keep=recorder.keep if recorder else None)
        answers = answers_of_tutor(exam, flawed=flawed)
        stretches = scoring.streamed(answers)
        result = scoring.result(scoring.frames(stretches))
        say_stored(recorder.finish(result) if recorder else [])
    found = report_of_result(result, {answer["item"]: answer["output"] for answer in answers})
    if path is not None:
        written(path, found)
    if format_ == "json":
        document = {**result.to_dict(), "gates": gate_records(found.gates.outcomes)}
        document["patterns"] = [*map(pattern_record, found.patterns)]
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = Page(result.rubric)
        page.run(result)
        page.gates(found.gates.outcomes)
        PatternPage().first(found.patterns)
        if not flawed:
            next_ = say("Next: `markscheme demo --flawed`, then `markscheme init my-exam`.")
            click.echo(f"\n{next_}")
    if path is not None:
        click.echo(f"report written to {path}: open it in a browser", err=True)
    return EXIT_OF[found.gates.verdict.value]


def _place(report: str | None) -> Path | None:
    """Return where the report goes; a folder that cannot be written stops only who names it."""
    from markscheme.cli.outputs import REPORTS
    from markscheme.errors import UsageError
    from markscheme.tell.files import check_destination

    try:
        return check_destination(report or _REPORT, (), suffixes=REPORTS)
    except UsageError as error:
        if report is not None:
            raise
        click.echo(f"no report is written: {error}", err=True)
        return None
