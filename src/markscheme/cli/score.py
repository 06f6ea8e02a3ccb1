"""`markscheme score`: recorded answers in, breakdowns out."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, buffer_stdout, handle_errors, report_stored_runs
from markscheme.cli.options import (
    exam_option,
    format_option,
    no_store_option,
    rubric_option,
    store_option,
)
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from markscheme.workflows.logs import LogEngine
    from markscheme.workflows.ray import RayEngine
    from markscheme.workflows.run_writer import RunRecorder
    from markscheme.workflows.workers import LocalEngine

    Recording = Callable[[], AbstractContextManager[RunRecorder | None]]

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
@handle_errors
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
) -> ExitCode:
    """Score recorded answers and explain every point."""
    from markscheme.read.documents import resolve_answers
    from markscheme.tell.language import get_language
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.output_files import check_destination, check_folder
    from markscheme.workflows.workers import LocalEngine

    answers = None if answers is None else resolve_answers(answers)
    source = _choose_source(answers, logs, beside=log_map or log_format, engine=engine)
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

    def recording() -> AbstractContextManager[RunRecorder | None]:
        if no_store and tag is None:
            return nullcontext()
        from markscheme.workflows.run_writer import open_recorder as opened

        return opened(loaded, exam, source, tag=tag, where=store, skip=no_store)

    if logs is not None:
        from markscheme.read.session_logs import read_logs
        from markscheme.workflows.logs import LogEngine

        found = read_logs(logs, exam.items, mapping=log_map, log_format=log_format)
        return _score_locally(LogEngine(loaded, exam, found, logs), destination, recording, format_)
    if engine == "ray" and destination is not None:
        from markscheme.workflows.ray import RayEngine

        cluster = RayEngine(loaded, exam, source, address=ray_address, workers=workers)
        return _score_on_ray(cluster, destination, recording, format_)
    messages = format_ == "text" and get_language() != "en"
    with LocalEngine(
        loaded, exam, source, workers, outputs=not no_store, messages=messages
    ) as here:
        return _score_locally(here, destination, recording, format_)


def _choose_source(
    answers: str | None, logs: str | None, *, beside: str | None, engine: str
) -> str:
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


def _score_locally(
    engine: LocalEngine | LogEngine, destination: Path | None, recording: Recording, format_: str
) -> ExitCode:
    from markscheme.tell.language import get_language
    from markscheme.tell.progress import show_scoring_progress
    from markscheme.tell.text import Preview, RunPage
    from markscheme.workflows.output_files import drain_frames, stream_json_document, write_frames
    from markscheme.workflows.score import ScoringSession

    glimpse = Preview()
    with recording() as recorder:
        scoring = ScoringSession(
            engine.rubric,
            engine.exam,
            files=engine.is_folder,
            logs=engine.logs,
            keep=recorder.store_batch if recorder else None,
            messages=format_ == "text" and get_language() != "en",
        )
        frames = scoring.build_frames(
            show_scoring_progress(engine.score_chunks(scoring), str(engine.answers))
        )
        with buffer_stdout() as stream:
            if format_ == "json":
                frames = stream_json_document(frames, stream, scoring.build_result)
            else:
                frames = glimpse.collect_frames(frames)
            if destination is None:
                drain_frames(frames)
            else:
                write_frames(frames, destination, scoring.schema, scoring.build_result)
            result = scoring.build_result(glimpse.frames)
            report_stored_runs(recorder.finish_runs(result) if recorder else [])
    if format_ == "text":
        RunPage(engine.rubric).print_run(result, hidden=glimpse.hidden, written=destination)
    return ExitCode.OK if result.summary.complete else ExitCode.UNDECIDED


def _score_on_ray(
    engine: RayEngine, destination: Path, recording: Recording, format_: str
) -> ExitCode:
    from markscheme.tell.progress import show_scoring_progress
    from markscheme.tell.text import Preview, RunPage
    from markscheme.workflows.output_files import (
        create_folder_atomically,
        drain_frames,
        read_folder_rows,
        stream_json_document,
    )
    from markscheme.workflows.score import ScoringSession

    scoring = ScoringSession(engine.rubric, engine.exam, files=engine.is_folder)
    with engine, create_folder_atomically(destination) as folder:
        for _ in show_scoring_progress(engine.score_shares(scoring, folder), str(engine.answers)):
            pass
    result = scoring.build_result()
    with recording() as recorder:  # its rows are in the folder
        report_stored_runs(recorder.finish_runs(result) if recorder else [])
    if format_ == "json":
        with buffer_stdout() as stream:
            drain_frames(
                stream_json_document(read_folder_rows(destination), stream, scoring.build_result)
            )
    else:
        glimpse = Preview()
        glimpse.sample_frames(read_folder_rows(destination), result.summary.rows)
        result = scoring.build_result(glimpse.frames)
        RunPage(engine.rubric).print_run(result, hidden=glimpse.hidden, written=destination)
    return ExitCode.OK if result.summary.complete else ExitCode.UNDECIDED
