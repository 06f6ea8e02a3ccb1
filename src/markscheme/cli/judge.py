"""`markscheme judge`: ask a judge model about recorded answers, and write its ratings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.asking_options import add_asking_options
from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.judging import ask_judges, note_bad_rows
from markscheme.cli.options import exam_option, format_option, rubric_option, store_option
from markscheme.cli.process import redirect_foreign_output
from markscheme.vocabulary import (
    ErrorCollector,
    Panel,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import Judge
    from markscheme.workflows.judge_plan import JudgePlan
    from markscheme.workflows.judged_ratings import JudgedRatings

_EPILOG = """\b
Example:
  markscheme judge -r rubric.yaml -e exam.yaml -a answers.jsonl -j judge.yaml --plan
  markscheme judge -r rubric.yaml -e exam.yaml -a answers.jsonl -j judge.yaml -o judged.csv

A judge marks scales, choices and criteria. Its document names the model (`subject:`, as in `run
--subject`) and how it is asked; docs/judges.md explains every key. A reply that cannot be read is
asked for once more, and is never a number. The file of ratings is read by `score --ratings`,
`agree` and `calibrate`. The exit code is 0 when everything was read, 4 when something was not."""


@click.command(name="judge", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers",
    "-a",
    metavar="FILE|FOLDER|-",
    help="Recorded answers: .jsonl, .parquet, .csv, a folder of the first two, or - for stdin.",
)
@click.option(
    "--logs", metavar="FOLDER", help="Judge the final texts of an agent's session logs instead."
)
@click.option(
    "--log-map",
    metavar="FILE",
    help="Map logs to items: a .csv, .jsonl or .yaml file with log, item, variant, attempt.",
)
@click.option(
    "--judge",
    "-j",
    required=True,
    metavar="FILE|NAME",
    help="The document of a judge or a panel, or a built-in name such as context-agent.",
)
@click.option("--output", "-o", metavar="FILE", help="Write the ratings to .csv or .jsonl.")
@click.option(
    "--each",
    metavar="FILE",
    help="Also write the ratings of every judge of a panel, before they are settled.",
)
@click.option("--plan", is_flag=True, help="Tell calls, tokens and cost, and ask nothing.")
@add_asking_options
@click.option(
    "--record", metavar="FILE", help="Write the replies to a .jsonl file, for `subject: replay:…`."
)
@click.option("--no-store", is_flag=True, help="Keep no journal: what breaks off is asked anew.")
@store_option
@format_option
@handle_errors
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str | None,
    logs: str | None,
    log_map: str | None,
    judge: str,
    output: str | None,
    each: str | None,
    plan: bool,
    record: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
    **options: Any,
) -> ExitCode:
    """Ask a judge model about recorded answers, and write its ratings."""
    from markscheme.read.documents import read_judge
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.judge_files import load_answers, load_log_answers
    from markscheme.workflows.judge_plan import build_judge_plan
    from markscheme.workflows.run import check_store_options
    from markscheme.workflows.run_plan import Settings

    if (answers is None) == (logs is None):
        raise UsageError("name the answers: recorded ones with --answers, or logs with --logs")
    if log_map is not None and logs is None:
        raise UsageError("--log-map goes with --logs")
    inputs = (rubric, *exams, answers or "", judge)
    with ErrorCollector() as mistakes, redirect_foreign_output():
        paths = _Destinations(mistakes, inputs, output=output, each=each, record=record)
        with mistakes.collect_error():
            check_store_options([judge], options, skip=no_store, tag=None)
        loaded = load_rubric(rubric)
        exam = load_exam(*exams, rubric=loaded)
        asked_judge = read_judge(judge)
        paths.check_judge(asked_judge)
        found, bad_rows = (
            load_answers(exam, answers)
            if answers is not None
            else load_log_answers(exam, logs or "", mapping=log_map)
        )
        judge_plan = build_judge_plan(
            loaded, exam, found, asked_judge, Settings.from_mapping(options)
        )
    note_bad_rows(bad_rows)
    if plan:
        return _show_estimate(judge_plan, format_)
    judged = ask_judges(judge_plan, store, no_store=no_store)
    paths.write_files(judged)
    judged = replace(judged, errors=tuple(bad_rows))
    _show_ratings(judged, format_, None if output is None else Path(output))
    return ExitCode.OK if judged.is_complete else ExitCode.UNDECIDED


class _Destinations:
    """The files that are written, all checked before anything is asked."""

    def __init__(
        self,
        mistakes: ErrorCollector,
        inputs: Iterable[str],
        *,
        output: str | None,
        each: str | None,
        record: str | None,
    ) -> None:
        from markscheme.workflows.judge_files import RATING_SUFFIXES

        self._mistakes, self._inputs = mistakes, list(inputs)
        self.output = self._check(output, RATING_SUFFIXES)
        self.each = self._check(each, RATING_SUFFIXES)
        self.record = self._check(record, (".jsonl",))

    def _check(self, name: str | None, suffixes: tuple[str, ...]) -> Path | None:
        from markscheme.workflows.output_files import check_destination

        if name is not None:
            with self._mistakes.collect_error():
                # Absolute: a module of the user may change the folder meanwhile.
                return check_destination(name, self._inputs, suffixes).absolute()
        return None

    def check_judge(self, judge: Judge | Panel) -> None:
        """Refuse files that mean nothing to a judge, or to a panel."""
        is_panel = isinstance(judge, Panel)
        if self.each is not None and not is_panel:
            self._mistakes.add_error(
                UsageError("--each is about the judges of a panel; leave it out")
            )
        if self.record is not None and is_panel:
            why = "--record keeps the replies of one judge; record the judges of a panel one by one"
            self._mistakes.add_error(UsageError(why))

    def write_files(self, judged: JudgedRatings) -> None:
        """Write what was asked for."""
        from markscheme.workflows.judge_files import write_judge_recording, write_ratings

        if self.output is not None:
            write_ratings(self.output, judged.ratings)
        if self.each is not None:
            write_ratings(self.each, judged.each)
        if self.record is not None:
            write_judge_recording(self.record, judged)


def _show_estimate(plan: JudgePlan, format_: str) -> ExitCode:
    from markscheme.tell.judge import print_judge_estimate
    from markscheme.workflows.judge_estimate import estimate_judging
    from markscheme.workflows.judged_ratings import describe_judge

    estimate = estimate_judging(plan)
    if format_ == "json":
        document = {"judge": describe_judge(plan.judge), "plan": estimate.to_dict()}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print_judge_estimate(plan.judge, estimate)
    return ExitCode.OK


def _show_ratings(judged: JudgedRatings, format_: str, written: Path | None) -> None:
    if format_ == "json":
        click.echo(json.dumps(judged.to_dict(), ensure_ascii=False, indent=2))
    else:
        from markscheme.tell.judge import print_judged_ratings

        print_judged_ratings(judged, written=written)
