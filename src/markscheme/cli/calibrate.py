"""`markscheme calibrate`: measure a judge against people; may gates rest on its marks?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.asking_options import add_asking_options
from markscheme.cli.exit_codes import VERDICT_EXIT_CODES, ExitCode, handle_errors, print_note
from markscheme.cli.judging import note_bad_rows
from markscheme.cli.options import exam_option, format_option, rubric_option, store_option
from markscheme.cli.process import redirect_foreign_output
from markscheme.cli.resuming import tell_how_to_resume
from markscheme.vocabulary import ErrorCollector, UsageError

if TYPE_CHECKING:
    from markscheme.weigh.calibration import Calibration
    from markscheme.workflows.calibration_request import CalibrationRequest

_EPILOG = """\b
Example:
  markscheme calibrate -r rubric.yaml -e exam.yaml -a answers.jsonl -j judge.yaml \\
    --ratings people.csv
  markscheme calibrate -r rubric.yaml -e exam.yaml -a answers.jsonl --sample 100:7 \\
    --draw to-rate.jsonl

The judge is asked about the answers that people rated. The record is stored, and gates rest on the
judge's marks only while a passing record fits: the same questions, judge, way of calling and served
model, and not expired. The exit code is 0 when the judge passes on every axis, 1 when it fails, and
4 when it cannot be told."""


class _SampleParam(click.ParamType[tuple[int, int]]):
    """Parameter type of a random sample: its size, and the seed that draws it."""

    name = "sample"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        size, colon, seed = str(value).partition(":")
        if not (colon and size.isdecimal() and seed.isdecimal()):
            self.fail(f"`{value}` is no sample; write SIZE:SEED, such as 100:7", param, ctx)
        return int(size), int(seed)


@click.command(name="calibrate", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers",
    "-a",
    required=True,
    metavar="FILE|FOLDER",
    help="Recorded answers: .jsonl, .parquet, .csv, or a folder of the first two.",
)
@click.option(
    "--judge",
    "-j",
    metavar="FILE|NAME",
    help="The document of a judge or a panel, or a built-in name such as context-agent.",
)
@click.option(
    "--judged",
    multiple=True,
    metavar="FILE",
    help="Ratings of a judge that were recorded, in place of --judge; they allow no gate.",
)
@click.option(
    "--ratings",
    multiple=True,
    metavar="FILE",
    help="Ratings of people: a .csv, .xlsx or .jsonl file; may be repeated.",
)
@click.option(
    "--canaries",
    default="built-in",
    show_default=True,
    metavar="FILE|built-in|none",
    help="Known answers that are asked about first: a .jsonl file, or 20 injections.",
)
@click.option(
    "--at-least",
    default="0.6",
    show_default=True,
    metavar="KAPPA",
    help="The kappa that the lower 95 % bound has to reach.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=90,
    show_default=True,
    metavar="N",
    help="How long the calibration counts.",
)
@click.option(
    "--sample",
    type=_SampleParam(),
    metavar="SIZE:SEED",
    help="People rated the random sample that this seed draws.",
)
@click.option(
    "--draw", metavar="FILE", help="Write the answers of --sample to a .jsonl file; ask nothing."
)
@click.option(
    "--all",
    "all_answers",
    is_flag=True,
    help="Ask about all answers, to correct the judge's mean by the sample.",
)
@add_asking_options
@click.option("--html", metavar="FILE", help="Write the calibration as one HTML page.")
@click.option("--no-store", is_flag=True, help="Record nothing: no gate can rest on it.")
@store_option
@format_option
@handle_errors
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str,
    judge: str | None,
    judged: tuple[str, ...],
    ratings: tuple[str, ...],
    draw: str | None,
    html: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
    sample: tuple[int, int] | None,
    **options: Any,
) -> ExitCode:
    """Measure a judge against people, and decide whether gates may rest on it."""
    from markscheme.workflows.calibration_request import read_calibration_request
    from markscheme.workflows.output_files import check_destination, write_file_atomically
    from markscheme.workflows.run import check_store_options

    if draw is not None:
        return _draw_sample(rubric, exams, answers, sample=sample, destination=draw)
    if not ratings:
        raise UsageError("name people's ratings with --ratings: a judge is measured against them")
    inputs = [rubric, *exams, answers, judge or "", *judged, *ratings]
    with ErrorCollector() as mistakes, redirect_foreign_output():
        page = None
        if html is not None:
            with mistakes.collect_error():
                page = check_destination(html, inputs, suffixes=()).absolute()
        if judge is not None:
            with mistakes.collect_error():
                check_store_options([judge], options, skip=no_store, tag=None)
        request, bad_rows = read_calibration_request(
            rubric,
            exams,
            answers,
            judge,
            ratings=ratings,
            judged=judged or None,
            sample=sample,
            **options,
        )
    note_bad_rows(bad_rows)
    calibration = _calibrate(request, store, no_store=no_store)
    for remark in calibration.remarks:
        print_note(remark)
    if page is not None:
        from markscheme import __version__
        from markscheme.tell.calibration_html import render_calibration_html

        write_file_atomically(page, render_calibration_html(calibration, __version__).encode())
    if format_ == "json":
        click.echo(json.dumps(calibration.to_dict(), ensure_ascii=False, indent=2))
    else:
        from markscheme.tell.calibration import print_calibration

        print_calibration(calibration)
    return VERDICT_EXIT_CODES[calibration.outcome.value]


def _draw_sample(
    rubric: str,
    exams: tuple[str, ...],
    answers: str,
    *,
    sample: tuple[int, int] | None,
    destination: str,
) -> ExitCode:
    """Write the answers that people should rate."""
    from markscheme.workflows.calibration_request import write_sample
    from markscheme.workflows.output_files import check_destination

    if sample is None:
        raise UsageError("--draw writes the answers of a sample; name it with --sample SIZE:SEED")
    path = check_destination(destination, [rubric, *exams, answers], (".jsonl",))
    drawn = write_sample(path, rubric, exams, answers, sample)
    print_note(f"wrote {drawn:,} answers to {destination}; let people rate them all")
    return ExitCode.OK


def _calibrate(request: CalibrationRequest, store: str | None, *, no_store: bool) -> Calibration:
    """Ask with progress on stderr, and say how to go on when it breaks off."""
    from markscheme.tell.progress import show_asking_progress
    from markscheme.workflows.calibrate import execute_calibration

    names = [] if request.judge is None else [one.name for one in request.judge.judges]
    with (
        tell_how_to_resume(stored=not no_store),
        redirect_foreign_output(),
        show_asking_progress(names, request.calls) as progress,
    ):
        observer = replace(progress.observer, on_remark=print_note, score_interval=None)
        return execute_calibration(request, store=store, skip=no_store, observer=observer)
