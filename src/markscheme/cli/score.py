"""`markscheme score`: recorded answers in, breakdowns out."""

from __future__ import annotations

import click

from markscheme.cli.exits import Exit, command_body, say_stored, whole_document
from markscheme.cli.options import (
    exam_option,
    format_option,
    no_store_option,
    rubric_option,
    store_option,
)

_EPILOG = """\b
Example:
  markscheme score -r tutor-capstone -e capstone -a answers.jsonl -o breakdown.parquet

Answers are rows with `item` and `output`, and optionally `subject`, `attempt`, `latency_ms`,
`tokens_in`, `tokens_out`, `cost`. The exit code is 0 when every item was scored and 4 when
something is missing or failed; a score judges nothing."""


@click.command(name="score", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers",
    "-a",
    required=True,
    metavar="FILE|-",
    help="Recorded answers: .jsonl, .parquet, .csv, or - for JSONL on stdin.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write every breakdown to .json, .jsonl, .parquet or .csv.",
)
@click.option("--tag", metavar="NAME", help="A name for the stored run, such as release-1.4.")
@no_store_option
@store_option
@format_option
@command_body
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str,
    output: str | None,
    tag: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
) -> Exit:
    """Score recorded answers and explain every point."""
    from markscheme.history.recording import recording
    from markscheme.library import Scoring, load_exam, load_rubric
    from markscheme.tell.files import check_destination, drain, passing_json, write_frames
    from markscheme.tell.progress import watched
    from markscheme.tell.terminal import Glimpse, Page

    inputs = (rubric, answers, *exams)
    destination = None if output is None else check_destination(output, inputs)
    loaded = load_rubric(rubric)
    exam = load_exam(*exams, rubric=loaded)
    glimpse = Glimpse()
    with recording(loaded, exam, answers, where=store, skip=no_store, tag=tag) as recorder:
        scoring = Scoring(loaded, exam, keep=recorder.keep if recorder else None)
        frames = scoring.frames(watched(scoring.batches(answers), answers))
        with whole_document() as stream:
            if format_ == "json":
                frames = passing_json(frames, stream, scoring.result)
            else:
                frames = glimpse.watch(frames)
            if destination is None:
                drain(frames)
            else:
                write_frames(frames, destination, scoring.schema, scoring.result)
            result = scoring.result(glimpse.frames)
            say_stored(recorder.finish(result) if recorder else [])
    if format_ == "text":
        Page(loaded).run(result, hidden=glimpse.hidden, written=destination)
    return Exit.OK if result.summary.complete else Exit.UNDECIDED
