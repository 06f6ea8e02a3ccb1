"""`markscheme score`: score recorded answers and show the breakdowns."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from markscheme.cli.asking_options import AMOUNT_TYPE
from markscheme.cli.exit_codes import (
    ExitCode,
    buffer_stdout,
    handle_errors,
    print_note,
    report_stored_runs,
    warn_of_silent_change,
)
from markscheme.cli.judging import ask_judges_after_canaries
from markscheme.cli.options import (
    all_rows_option,
    exam_option,
    format_option,
    hold_run_tag,
    no_store_option,
    raw_csv_option,
    rubric_option,
    store_option,
)
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal
    from typing import Literal

    from markscheme.workflows.judged_ratings import JudgedRatings
    from markscheme.workflows.score import ScoredT

_EPILOG = """\b
Example:
  markscheme score -r tutor-capstone -e capstone -a answers.jsonl -o breakdown.parquet

Answers are rows with `item` and `output`, and optionally `subject`, `attempt`, `latency_ms`,
`tokens_in`, `tokens_out`, `cost`. With --logs they are the sessions of an agent, one log for each
item and variant, such as haiku/TQ-1.jsonl or TQ-1.haiku.jsonl. The exit code is 0 when every item
was scored and 4 when something is missing or failed; `score` applies no gates."""


@click.command(name="score", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers",
    "-a",
    metavar="FILE|FOLDER|-",
    help="Recorded answers: .jsonl, .parquet, .csv, a folder of the first two, or - for stdin; or "
    "results of promptfoo, lm-eval, deepeval, pydantic-evals, OpenAI batches or Inspect.",
)
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="FIELD=PATH",
    help="Where each answer of --answers states a field, for files of any shape: item=meta.id "
    "output=response.text; may be repeated.",
)
@click.option(
    "--logs",
    metavar="FOLDER",
    help="Score an agent's session logs instead of answers: what it said and what it did.",
)
@click.option(
    "--log-map",
    metavar="FILE",
    help="Map logs to items: a .csv, .jsonl or .yaml file with log, item, variant, attempt.",
)
@click.option(
    "--log-format", metavar="NAME", help="Read the logs as this format instead of detecting it."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE|FOLDER",
    help="Write every breakdown to .json, .jsonl, .parquet or .csv; with Ray, to a folder.",
)
@click.option(
    "--ratings",
    multiple=True,
    metavar="FILE",
    help="Marks of people or judges on scales, choices and criteria: a .csv, .xlsx or .jsonl file; "
    "may be repeated.",
)
@click.option(
    "--judge",
    "-j",
    metavar="FILE|NAME",
    help="Ask this judge or panel, and mark with its ratings; see `markscheme judge`.",
)
@click.option(
    "--max-cost", type=AMOUNT_TYPE, metavar="AMOUNT", help="Ask the judge for no more than this."
)
@click.option("--resume", is_flag=True, help="Ask the judge only what has no reply yet.")
@raw_csv_option
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where to score: this machine, or Ray (an extra), which writes a folder of Parquet files.",
)
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="Address of a Ray cluster. Default: start one on this machine.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Number of processes. Default: all cores for a large file, else 1.",
)
@click.option("--tag", metavar="NAME", help="A name for the stored run, such as release-1.4.")
@all_rows_option
@no_store_option
@store_option
@format_option
@handle_errors
@hold_run_tag
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str | None,
    mapped: tuple[str, ...],
    logs: str | None,
    log_map: str | None,
    log_format: str | None,
    output: str | None,
    ratings: tuple[str, ...],
    judge: str | None,
    max_cost: Decimal | None,
    resume: bool,
    raw_csv: bool,
    engine: Literal["local", "ray"],
    ray_address: str | None,
    workers: int | None,
    tag: str | None,
    every: bool,
    no_store: bool,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Score recorded answers and explain every point."""
    from markscheme.keep import resolve_place
    from markscheme.read.documents import resolve_answers
    from markscheme.read.other_tools import parse_mapping
    from markscheme.tell.language import get_language
    from markscheme.workflows.score import score
    from markscheme.workflows.sinks import JsonStream, Preview

    answers = None if answers is None else resolve_answers(answers)
    _check_sources(answers, logs, log_options=log_map or log_format, engine=engine)
    if mapped and (answers is None or judge is not None or engine == "ray"):
        raise UsageError("--map goes with --answers, without --judge and --engine ray")
    if ray_address is not None and engine != "ray":
        raise UsageError("--ray-address goes with --engine ray")
    _check_judge_options(
        judge, answers, engine=engine, judge_options=max_cost is not None or resume
    )
    judged = None
    if judge is not None:
        request = _JudgeRequest(rubric, exams, answers, logs, log_map, log_format)
        judged = request.ask(judge, store, no_store=no_store, max_cost=max_cost, resume=resume)
    preview = Preview(messages=get_language() != "en")
    with buffer_stdout() as stream:
        result = score(
            rubric,
            exams,
            answers,
            logs=logs,
            log_map=log_map,
            log_format=log_format,
            mapping=parse_mapping(mapped) if mapped else None,
            store=None if no_store else resolve_place(store),
            tag=tag,
            output=output,
            ratings=[*ratings, *(judged.ratings if judged else ())] or None,
            judging=judged.describe_judging() if judged else {},
            raw_csv=raw_csv,
            sinks=[JsonStream(stream) if format_ == "json" else preview],
            workers=workers,
            engine=engine,
            ray_address=ray_address,
            progress=_show_progress,
        )
        if result.run_ids:
            warn_of_silent_change(result.rubric, store, besides=result.run_ids)
        report_stored_runs(result.run_ids)
        _report_unmarked(result.unmarked)
    if format_ == "text":
        from markscheme.tell.text import RunPage, ShownRows

        if engine == "ray":
            # Only a sample of the rows was read back from the folder.
            preview.total = result.summary.rows
        shown, written = preview.show_in(result), None if output is None else Path(output)
        rows = ShownRows(every=every, hidden=preview.hidden, written=written)
        RunPage(result.rubric).print_run(shown, rows)
    return ExitCode.OK if result.summary.complete else ExitCode.UNDECIDED


@dataclass(frozen=True, slots=True)
class _JudgeRequest:
    """What a judge is to be asked about: the options of `score` that name documents and answers."""

    rubric: str
    exams: tuple[str, ...]
    answers: str | None
    logs: str | None
    log_map: str | None
    log_format: str | None

    def ask(
        self,
        judge: str,
        store: str | None,
        *,
        no_store: bool,
        max_cost: Decimal | None,
        resume: bool,
    ) -> JudgedRatings:
        """Ask the judge about all answers; what it does not tell leaves scores unknown."""
        from markscheme.read.documents import read_judge
        from markscheme.workflows.documents import load_exam, load_rubric
        from markscheme.workflows.judge_files import load_answers, load_log_answers
        from markscheme.workflows.judge_plan import build_judge_plan
        from markscheme.workflows.run import check_store_options
        from markscheme.workflows.run_plan import Settings

        asking = {"max_cost": max_cost, "resume": resume}
        check_store_options([judge], {"cache": False, **asking}, skip=no_store, tag=None)
        rubric = load_rubric(self.rubric)
        exam = load_exam(*self.exams, rubric=rubric)
        if self.answers is not None:
            answers, _ = load_answers(exam, self.answers)
        else:
            options = {"mapping": self.log_map, "log_format": self.log_format}
            answers, _ = load_log_answers(exam, self.logs or "", **options)
        settings = Settings.from_mapping(asking)
        plan = build_judge_plan(rubric, exam, answers, read_judge(judge), settings)
        return ask_judges_after_canaries(plan, rubric, store, no_store=no_store)


def _check_judge_options(
    judge: str | None, answers: str | None, *, engine: str, judge_options: bool
) -> None:
    """Refuse options that do not go with a judge, or need one."""
    if judge is None and judge_options:
        raise UsageError("--max-cost and --resume are about a judge; name one with --judge")
    if judge is not None and answers == "-":
        raise UsageError("--judge reads the answers twice; give them as a file, not on stdin")
    if judge is not None and engine == "ray":
        raise UsageError("a judge marks answers on this machine; leave out --engine ray")


def _report_unmarked(unmarked: Mapping[str, int]) -> None:
    """Say on stderr how many marks of people or judges are missing, and of which axes."""
    if not unmarked:
        return
    from markscheme.tell.language import replace_control_characters, translate_plural

    axes = ", ".join(f"{axis} ({count:,})" for axis, count in unmarked.items())
    text = translate_plural(
        "{n} mark is missing: {axes}; it could be given with --ratings",
        "{n} marks are missing: {axes}; they could be given with --ratings",
        sum(unmarked.values()),
        axes=axes,
    )
    print_note(replace_control_characters(text))


def _check_sources(
    answers: str | None, logs: str | None, *, log_options: str | None, engine: str
) -> None:
    """Refuse options that do not say, once, where the answers come from."""
    if answers is not None and logs is not None:
        raise UsageError("--answers and --logs are two ways to give the answers; choose one")
    if logs is None and log_options is not None:
        raise UsageError("--log-map and --log-format go with --logs")
    if logs is not None and engine == "ray":
        raise UsageError("--logs are scored on this machine; leave out --engine ray")
    if answers is None and logs is None:
        raise UsageError(
            "no answers: give recorded ones with --answers, or session logs with --logs"
        )


def _show_progress(chunks: Iterable[ScoredT], label: str) -> Iterator[ScoredT]:
    """Show progress on a terminal; rich is not loaded for a pipe."""
    if not sys.stderr.isatty():
        return iter(chunks)
    from markscheme.tell.progress import show_scoring_progress

    return show_scoring_progress(chunks, label)
