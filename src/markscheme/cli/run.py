"""`markscheme run`: asks a live subject, scores what it says, stores the run."""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exits import Exit, command_body, complain, remark, say_stored, whole_document
from markscheme.cli.options import (
    exam_option,
    format_option,
    no_store_option,
    rubric_option,
    store_option,
)
from markscheme.cli.outlet import others_aside
from markscheme.errors import Mistakes, StoreUnavailableError, Terminated, UsageError, shown
from markscheme.read.sound import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from markscheme.history.live_runs import LiveRun

_EPILOG = """\b
Example:
  markscheme run -r tutor-capstone -e capstone --subject tutor
  markscheme run -r tutor-capstone -e capstone --subject openai:llama3 \\
      --base-url http://127.0.0.1:11434/v1 --concurrency 4
  markscheme run … --resume

Subjects: openai:MODEL, llm:MODEL, cmd:COMMAND, python:MODULE:FUNCTION, tutor, replay:FILE,
local:smollm2. A key comes from the environment. Every answer is on disk before it counts: after
anything, the same command with --resume asks only what is missing. The exit code is 0 when every
item was scored and 4 when something is missing or failed."""


class _Amount(click.ParamType[Decimal]):
    """An exact number that is not negative."""

    name = "amount"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal(-1)
        if not amount.is_finite() or not 0 <= amount <= LARGEST:
            self.fail(f"{shown(str(value))} is no amount; write a number such as 0.5", param, ctx)
        return amount


_NOT_SHOWN = r"(postgres(?:ql)?://[^/@:]*:)[^/@]+(?=@)|([?&](?:ssl)?password=)[^&]+"  # of a store
_AMOUNT = _Amount()
_WORDS = 10_000  # of a JSON document, written at once: the whole of a large one is much larger
_SECONDS = click.FloatRange(0, min_open=True)
_SUBJECT = "Whom to ask, see below; two or more are asked in turns."
_EXAMPLES = "Worked examples for the prompt: JSON lines with prompt and output, or tutor."
_STRUCTURED = "Ask the subject to keep to the rubric's JSON Schema, where it can."
_RESUME = "Go on with what broke off: ask only what is missing."


@click.command(name="run", epilog=_EPILOG)
@rubric_option
@exam_option
@click.option(
    "--subject", "-s", "subjects", required=True, multiple=True, metavar="S", help=_SUBJECT
)
@click.option("--base-url", metavar="URL", help="The endpoint of openai: subjects.")
@click.option("--key-env", metavar="NAME", help="The variable with the key.  [OPENAI_API_KEY]")
@click.option("--template", metavar="FILE", help="The prompt: text with {prompt} and {schema}.")
@click.option("--examples", metavar="FILE|NAME", help=_EXAMPLES)
@click.option("--structured/--no-structured", default=True, show_default=True, help=_STRUCTURED)
@click.option("--stream", is_flag=True, help="Stream, and measure the time to the first token.")
@click.option("--temperature", type=_AMOUNT, metavar="T", help="The subject's, if not told.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="The most of an answer.")
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="K",
    help="How often each item is asked.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    metavar="N",
    help="Questions at a time, at most.",
)
@click.option(
    "--timeout",
    type=_SECONDS,
    default=60,
    show_default=True,
    help="Seconds for one try.",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=4,
    show_default=True,
    metavar="N",
    help="More tries after what may pass.",
)
@click.option(
    "--requests-per-minute", type=click.IntRange(1), metavar="N", help="A limit of the subject."
)
@click.option(
    "--tokens-per-minute", type=click.IntRange(1), metavar="N", help="A limit of the subject."
)
@click.option("--price", metavar="IN:OUT", help="What a million tokens cost, in and out.")
@click.option("--max-cost", type=_AMOUNT, metavar="AMOUNT", help="Stop when so much is spent.")
@click.option(
    "--max-time",
    type=_SECONDS,
    metavar="SECONDS",
    help="Stop after so long.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order and the waits.")
@click.option("--cache", is_flag=True, help="Take and keep answers to the same questions.")
@click.option("--resume", is_flag=True, help=_RESUME)
@click.option("--record", metavar="FILE", help="Write the answers to a .jsonl file.")
@click.option("--tag", metavar="NAME", help="A name for the stored run, such as release-1.4.")
@no_store_option
@store_option
@format_option
@command_body
def command(
    rubric: str,
    exams: tuple[str, ...],
    subjects: tuple[str, ...],
    record: str | None,
    tag: str | None,
    no_store: bool,
    store: str | None,
    format_: str,
    **options: Any,
) -> Exit:
    """Ask a live subject every item, score its answers, and store the run."""
    from markscheme.history.asking import Onlooker
    from markscheme.history.examining import check_keeping, examine
    from markscheme.history.plans import Settings, plan_of
    from markscheme.library.documents import load_exam, load_rubric
    from markscheme.tell.progress import asking

    with Mistakes() as mistakes, others_aside():  # what a module of one's own prints is no result
        texts = (options["template"] or "", options["examples"] or "")
        replayed = (named.removeprefix("replay:") for named in subjects)
        with mistakes.noted():
            destination = _destination(record, (rubric, *exams, *texts, *replayed))
        with mistakes.noted():
            check_keeping(subjects, options, skip=no_store, tag=tag)
        loaded = load_rubric(rubric)
        exam = load_exam(*exams, rubric=loaded)
        plan = plan_of(loaded, exam, subjects, Settings.of(options))
    try:
        with others_aside():
            names = [subject.name for subject in plan.subjects]
            with asking(plan.rubric, plan.exam, names, plan.questions) as seen:
                load = _make_ready if format_ == "text" else lambda: None
                onlooker = Onlooker(tell=remark, watch=seen.heard, look=seen.look, load=load)
                runs = examine(plan, store=store, skip=no_store, tag=tag, onlooker=onlooker)
    except KeyboardInterrupt:
        _say_how_to_resume("interrupted", stored=not no_store)
        raise Terminated(Exit.INTERRUPTED) from None  # which says it in the document too
    except Terminated:  # or the terminal was closed
        _say_how_to_resume("terminated", stored=not no_store)
        raise
    except StoreUnavailableError as error:  # a full disk, most likely
        raise StoreUnavailableError(f"{error}\nthen go on with: {_resuming()}") from error
    unwritten = _record(runs, destination)
    say_stored([run.id for run in runs if run.id is not None])
    _print(runs, format_)
    if unwritten is not None:
        complain(unwritten, Exit.USAGE)
        return Exit.USAGE
    if all(run.result.summary.complete for run in runs):
        return Exit.OK
    if all(run.live.answered == run.live.questions for run in runs):
        remark("not every answer could be scored")
        return Exit.UNDECIDED
    stopped = next((run.live.stopped for run in runs if run.live.stopped), None)
    _say_how_to_resume(stopped or "not every question has an answer", stored=not no_store)
    return Exit.UNDECIDED


def _destination(record: str | None, inputs: Iterable[str]) -> Path | None:
    """Return where the answers are written, if they are, or say at once why they cannot be."""
    if record is None:
        return None
    from markscheme.tell.files import check_destination

    return check_destination(record, inputs, suffixes=(".jsonl",)).absolute()


def _record(runs: Sequence[LiveRun], destination: Path | None) -> str | None:
    """Write the answers to a file, or return why not: what is stored is told first."""
    if destination is None:
        return None
    from markscheme.tell.files import write_whole

    lines = (json.dumps(row, ensure_ascii=False) for run in runs for row in run.recording())
    try:
        write_whole(destination, "".join(f"{line}\n" for line in lines).encode())
    except UsageError as error:
        return str(error)
    return None


def _make_ready() -> None:
    """Load what the page will need."""
    from markscheme.tell import live, terminal  # noqa: F401 - the page is printed later

    terminal.rehearse()


def _print(runs: Sequence[LiveRun], format_: str) -> None:
    if format_ == "json":
        documents = [run.to_dict() for run in runs]
        document = documents[0] if len(documents) == 1 else {"runs": documents}
        written = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(document)
        with whole_document() as stream:
            while some := "".join(islice(written, _WORDS)):
                stream.write(some.encode())
            stream.write(b"\n")
        return
    from dataclasses import replace

    import polars as pl

    from markscheme.tell.live import LivePage
    from markscheme.tell.terminal import Glimpse

    for run in runs:
        glimpse = Glimpse()
        glimpse.look([run.result.frame], run.result.frame.height)
        page = LivePage(run.result.rubric, run.live.to_dict())
        shown = replace(run.result, frame=pl.concat(glimpse.frames))
        writes = "--format json" if run.id is None else f"markscheme show {run.id} -o FILE"
        page.run(shown, hidden=glimpse.hidden, writes=writes)
        page.live()


def _say_how_to_resume(why: str, *, stored: bool) -> None:
    """Say why the run is not whole, and how to go on."""
    remark(why)
    if stored:
        remark(f"every answer that counted is kept; go on with: {_resuming()}")


def _resuming() -> str:
    """Return the command that asks only what is missing, with the places that variables name."""
    import shlex

    words = [*_program(), *(word for word in sys.argv[1:] if word != "--resume"), "--resume"]
    options = {"MARKSCHEME_STORE": "--store", "OPENAI_BASE_URL": "--base-url"}
    named = (
        f"{variable}={shlex.quote(_without_secrets(os.environ[variable]))} "
        for variable, option in options.items()
        if os.environ.get(variable) and not any(word.startswith(option) for word in words)
    )
    return "".join(named) + shlex.join(map(_without_secrets, words))


def _program() -> list[str]:
    """Return how this command was called, in a way that can be called again."""
    import shutil
    from pathlib import Path

    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return [sys.executable, "-m", "markscheme"]
    found = shutil.which(called.name)
    same = found is not None and called.exists() and called.samefile(found)
    return [called.name if same else sys.argv[0]]


def _without_secrets(word: str) -> str:
    import re

    from markscheme.ask.keys import in_reach

    return re.sub(_NOT_SHOWN, r"\1\2PASSWORD", in_reach().hidden(word))
