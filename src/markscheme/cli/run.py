"""`markscheme run`: asks live subjects, scores what they say, and stores the runs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.asking_options import AMOUNT_TYPE, add_asking_options
from markscheme.cli.exit_codes import (
    ExitCode,
    buffer_stdout,
    handle_errors,
    print_note,
    report_exception,
    report_stored_runs,
    warn_of_silent_change,
)
from markscheme.cli.options import (
    all_rows_option,
    exam_option,
    format_option,
    hold_run_tag,
    no_store_option,
    rubric_option,
    store_option,
)
from markscheme.cli.process import redirect_foreign_output
from markscheme.cli.resuming import print_resume_hint, tell_how_to_resume
from markscheme.vocabulary import (
    ErrorCollector,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from markscheme.workflows.live_run import LiveRun

_EPILOG = """\b
Example:
  markscheme run -r tutor-capstone -e capstone --subject tutor
  markscheme run -r tutor-capstone -e capstone --subject openai:llama3 \\
      --base-url http://127.0.0.1:11434/v1 --concurrency 4
  markscheme run … --resume

Subjects: openai:MODEL, llm:MODEL, cmd:COMMAND, python:MODULE:FUNCTION, tutor, replay:FILE,
local:smollm2. `small=openai:MODEL` names a subject `small` in runs and reports. A key comes from
the environment. Every answer is on disk before it counts: after anything, the same command with
--resume asks only what is missing. The exit code is 0 when every item was scored and 4 when
something is missing or failed."""


# Pieces of a JSON document per write: a large document as one text takes much memory.
_JSON_PIECES_PER_WRITE = 10_000
_SUBJECT_HELP = "Subject to ask, see below; several are asked in turns. NAME=S names it NAME."
_EXAMPLES_HELP = "Worked examples for the prompt: JSON lines with prompt and output, or tutor."
_STRUCTURED_HELP = "Ask the subject to keep to the rubric's JSON Schema, where it can."


@click.command(name="run", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--subject", "-s", "subjects", required=True, multiple=True, metavar="S", help=_SUBJECT_HELP
)
@click.option("--base-url", metavar="URL", help="Base URL of the endpoint of openai: subjects.")
@click.option(
    "--key-env",
    metavar="NAME",
    help="Environment variable that holds the API key.  [OPENAI_API_KEY]",
)
@click.option(
    "--template", metavar="FILE", help="Prompt template: a text file with {prompt} and {schema}."
)
@click.option("--examples", metavar="FILE|NAME", help=_EXAMPLES_HELP)
@click.option(
    "--structured/--no-structured", default=True, show_default=True, help=_STRUCTURED_HELP
)
@click.option(
    "--stream", is_flag=True, help="Stream answers, and measure the time to the first token."
)
@click.option(
    "--temperature",
    type=AMOUNT_TYPE,
    metavar="T",
    help="Sampling temperature. Default: the model's own.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of tokens in an answer.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="K",
    help="How many times to ask each item.",
)
@add_asking_options
@click.option("--record", metavar="FILE", help="Write the answers to a .jsonl file.")
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
    subjects: tuple[str, ...],
    record: str | None,
    every: bool,
    tag: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
    **options: Any,
) -> ExitCode:
    """Ask a live subject every item, score its answers, and store the run."""
    from markscheme.ask.subjects import split_alias
    from markscheme.tell.language import get_language
    from markscheme.tell.progress import show_asking_progress
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.run import check_store_options, execute_plan
    from markscheme.workflows.run_plan import Settings, build_run_plan

    # Output of the user's own module must not stand in our document.
    with ErrorCollector() as mistakes, redirect_foreign_output():
        texts = (options["template"] or "", options["examples"] or "")
        replayed = (split_alias(name)[1].removeprefix("replay:") for name in subjects)
        with mistakes.collect_error():
            destination = _check_recording_path(record, (rubric, *exams, *texts, *replayed))
        with mistakes.collect_error():
            check_store_options(subjects, options, skip=no_store, tag=tag)
        loaded = load_rubric(rubric)
        exam = load_exam(*exams, rubric=loaded)
        plan = build_run_plan(loaded, exam, subjects, Settings.from_mapping(options))
    with (
        tell_how_to_resume(stored=not no_store),
        redirect_foreign_output(),
        show_asking_progress(plan.subject_names, plan.questions) as progress,
    ):
        observer = replace(
            progress.observer,
            on_remark=print_note,
            on_first_sent=_load_page if format_ == "text" else lambda: None,
        )
        runs = execute_plan(
            plan,
            store=store,
            skip=no_store,
            tag=tag,
            observer=observer,
            messages=get_language() != "en",
        )
    recording_error = _write_recording(runs, destination)
    stored = [run.id for run in runs if run.id is not None]
    if stored:
        warn_of_silent_change(loaded, store, besides=stored)
    report_stored_runs(stored)
    _print_live_runs(runs, format_, every=every)
    if recording_error is not None:
        return report_exception(recording_error) or ExitCode.USAGE
    if all(run.result.summary.complete for run in runs):
        return ExitCode.OK
    if all(run.live.answered == run.live.questions for run in runs):
        print_note("not every answer could be scored")
        return ExitCode.UNDECIDED
    stopped = next((run.live.stopped for run in runs if run.live.stopped), None)
    print_resume_hint(stopped or "not every question has an answer", stored=not no_store)
    return ExitCode.UNDECIDED


def _check_recording_path(record: str | None, inputs: Iterable[str]) -> Path | None:
    """Return the path of `--record`, if it is given; refuse it before anything is asked."""
    if record is None:
        return None
    from markscheme.workflows.output_files import check_destination

    return check_destination(record, inputs, suffixes=(".jsonl",)).absolute()


def _write_recording(runs: Sequence[LiveRun], destination: Path | None) -> UsageError | None:
    """Write the answers to a file; return why not, so that the stored run is reported first."""
    if destination is None:
        return None
    from markscheme.workflows.output_files import write_file_atomically

    lines = (
        json.dumps(row, ensure_ascii=False) for run in runs for row in run.build_answer_records()
    )
    try:
        write_file_atomically(destination, "".join(f"{line}\n" for line in lines).encode())
    except UsageError as error:
        return error
    return None


def _print_live_runs(runs: Sequence[LiveRun], format_: str, *, every: bool) -> None:
    if format_ == "json":
        documents = [run.to_dict() for run in runs]
        document = documents[0] if len(documents) == 1 else {"runs": documents}
        written = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(document)
        with buffer_stdout() as stream:
            while piece := "".join(islice(written, _JSON_PIECES_PER_WRITE)):
                stream.write(piece.encode())
            stream.write(b"\n")
        return
    from markscheme.tell.live_run import LivePage
    from markscheme.tell.text import ShownRows
    from markscheme.workflows.sinks import Preview

    for run in runs:
        preview = Preview()
        preview.add_frame(run.result.frame)
        page = LivePage(run.result.rubric, run.live.to_dict())
        shown = preview.show_in(run.result)
        writes = "--format json" if run.id is None else f"markscheme show {run.id} -o FILE"
        rows = ShownRows(every=every, hidden=preview.hidden, writes=writes)
        page.print_live_run(shown, (), rows)


def _load_page() -> None:
    """Load what prints the page while the subjects think: 2 % of `make live`."""
    from markscheme.tell import live_run  # noqa: F401 - loaded for later
