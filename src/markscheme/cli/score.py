"""`markscheme score`: recorded answers in, breakdowns out."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from markscheme.cli.exits import Exit, command_body, say_stored, whole_document
from markscheme.cli.options import (
    exam_option,
    format_option,
    no_store_option,
    rubric_option,
    store_option,
)
from markscheme.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from markscheme.engines.local import Local
    from markscheme.engines.logs import FromLogs
    from markscheme.engines.on_ray import OnRay
    from markscheme.history.recording import Recorder

    Recording = Callable[[], AbstractContextManager[Recorder | None]]

_EPILOG = """\b
Example:
  markscheme score -r tutor-capstone -e capstone -a answers.jsonl -o breakdown.parquet

Answers are rows with `item` and `output`, and optionally `subject`, `attempt`, `latency_ms`,
`tokens_in`, `tokens_out`, `cost`. With --logs they are the sessions of an agent, one log for each
item and variant, such as haiku/TQ-1.jsonl or TQ-1.haiku.jsonl. The exit code is 0 when every item
was scored and 4 when something is missing or failed; a score judges nothing."""


@click.command(name="score", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--answers",
    "-a",
    metavar="FILE|FOLDER|-",
    help="Recorded answers: .jsonl, .parquet, .csv, a folder of the first two, or - for stdin.",
)
@click.option(
    "--logs",
    metavar="FOLDER",
    help="Session logs of an agent as the answers: what was said, and what was done.",
)
@click.option(
    "--log-map",
    metavar="FILE",
    help="Which log is which: .csv, .jsonl or .yaml with log, item, variant, attempt.",
)
@click.option(
    "--log-format", metavar="NAME", help="Read the logs as this format, whatever they look like."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE|FOLDER",
    help="Write every breakdown to .json, .jsonl, .parquet or .csv; with Ray, to a folder.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Who scores: this machine, or Ray (an extra), which writes a folder of Parquet files.",
)
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="A Ray cluster to use; without it one is started here.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Processes to use; all cores where there are many answers, else 1.",
)
@click.option("--tag", metavar="NAME", help="A name for the stored run, such as release-1.4.")
@no_store_option
@store_option
@format_option
@command_body
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str | None,
    logs: str | None,
    log_map: str | None,
    log_format: str | None,
    output: str | None,
    engine: str,
    ray_address: str | None,
    workers: int | None,
    tag: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
) -> Exit:
    """Score recorded answers and explain every point."""
    from markscheme.engines.local import Local
    from markscheme.library.documents import load_exam, load_rubric
    from markscheme.read.sources import answers_at
    from markscheme.tell.files import check_destination, check_folder

    answers = None if answers is None else answers_at(answers)
    source = _source(answers, logs, beside=log_map or log_format, engine=engine)
    if ray_address is not None and engine != "ray":
        raise UsageError("--ray-address goes with --engine ray")
    if engine == "ray" and output is None:
        raise UsageError("--engine ray writes its rows to a folder; name one with -o FOLDER")
    destination = None
    if output is not None:
        inputs = (rubric, source, *exams)
        ray = engine == "ray"
        destination = check_folder(output) if ray else check_destination(output, inputs)
    loaded = load_rubric(rubric)
    exam = load_exam(*exams, rubric=loaded)

    def recording() -> AbstractContextManager[Recorder | None]:
        if no_store and tag is None:
            return nullcontext()
        from markscheme.history.recording import recording as opened

        return opened(loaded, exam, source, tag=tag, where=store, skip=no_store)

    if logs is not None:
        from markscheme.engines.logs import FromLogs
        from markscheme.read.logs import read_logs

        found = read_logs(logs, exam.items, mapping=log_map, log_format=log_format)
        return _score_here(FromLogs(loaded, exam, found, logs), destination, recording, format_)
    if engine == "ray" and destination is not None:
        from markscheme.engines.on_ray import OnRay

        cluster = OnRay(loaded, exam, source, address=ray_address, workers=workers)
        return _score_on_ray(cluster, destination, recording, format_)
    with Local(loaded, exam, source, workers, outputs=not no_store) as here:
        return _score_here(here, destination, recording, format_)


def _source(answers: str | None, logs: str | None, *, beside: str | None, engine: str) -> str:
    """Return where the answers come from, which is one place."""
    if answers is not None and logs is not None:
        raise UsageError("--answers and --logs are two ways to give the answers; choose one")
    if logs is None and beside is not None:
        raise UsageError("--log-map and --log-format go with --logs")
    if logs is not None and engine == "ray":
        raise UsageError("--logs are scored on this machine; leave out --engine ray")
    source = logs if answers is None else answers
    if source is None:
        raise UsageError(
            "no answers: give recorded ones with --answers, or session logs with --logs"
        )
    return source


def _score_here(
    engine: Local | FromLogs, destination: Path | None, recording: Recording, format_: str
) -> Exit:
    from markscheme.engines.scoring import Scoring
    from markscheme.tell.files import drain, passing_json, write_frames
    from markscheme.tell.progress import watched
    from markscheme.tell.terminal import Glimpse, Page

    glimpse = Glimpse()
    with recording() as recorder:
        scoring = Scoring(
            engine.rubric,
            engine.exam,
            files=engine.is_folder,
            logs=engine.logs,
            keep=recorder.keep if recorder else None,
        )
        frames = scoring.frames(watched(engine.stretches(scoring), str(engine.answers)))
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
        Page(engine.rubric).run(result, hidden=glimpse.hidden, written=destination)
    return Exit.OK if result.summary.complete else Exit.UNDECIDED


def _score_on_ray(engine: OnRay, destination: Path, recording: Recording, format_: str) -> Exit:
    from markscheme.engines.scoring import Scoring
    from markscheme.tell.files import drain, passing_json, rows_in, whole_folder
    from markscheme.tell.progress import watched
    from markscheme.tell.terminal import Glimpse, Page

    scoring = Scoring(engine.rubric, engine.exam, files=engine.is_folder)
    with engine, whole_folder(destination) as folder:
        for _ in watched(engine.totals(scoring, folder), str(engine.answers)):
            pass
    result = scoring.result()
    with recording() as recorder:  # its rows are in the folder
        say_stored(recorder.finish(result) if recorder else [])
    if format_ == "json":
        with whole_document() as stream:
            drain(passing_json(rows_in(destination), stream, scoring.result))
    else:
        glimpse = Glimpse()
        glimpse.look(rows_in(destination), result.summary.rows)
        result = scoring.result(glimpse.frames)
        Page(engine.rubric).run(result, hidden=glimpse.hidden, written=destination)
    return Exit.OK if result.summary.complete else Exit.UNDECIDED
