"""Exit codes, and the one place that turns an error into a message and an exit code."""

from __future__ import annotations

import functools
import json
import os
import sys
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from msgspec.structs import asdict

from markscheme.vocabulary import (
    InputError,
    MarkschemeError,
    StoreError,
    StoreInvalidError,
    UsageError,
    find_shortage,
    find_tight_limit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markscheme.vocabulary import Problem, Rubric

_SPOOL_BYTES = 32 * 1024 * 1024


class ExitCode(IntEnum):
    """Exit codes of commands."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INVALID = 3
    UNDECIDED = 4
    BUG = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143


VERDICT_EXIT_CODES = {"pass": ExitCode.OK, "fail": ExitCode.FAILED, "undecided": ExitCode.UNDECIDED}


def handle_errors(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Decorator of commands: turn expected errors into a message on stderr and an exit code.

    With `--format json` stdout gets one JSON document with the same problems.
    """

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> ExitCode:
        try:
            return function(*args, **options)
        except (KeyboardInterrupt, SystemExit, click.ClickException, click.Abort):
            raise
        # A panic of a Rust library is no `Exception`.
        except BaseException as error:
            code = report_exception(error, as_json=options.get("format_") == "json")
            if code is None:
                raise
            return code

    return guarded


def report_exception(error: BaseException, *, as_json: bool = False) -> ExitCode | None:
    """Report an expected error or a shortage; return its exit code, or `None` if it is a bug."""
    if isinstance(error, BrokenPipeError):
        return ExitCode.PIPE_CLOSED
    shortage = find_shortage(error)
    if shortage is not None:
        details = f"\n{error}" if isinstance(error, MarkschemeError) else ""
        message = f"cannot tell: {shortage}{details}"
        report_error(message, ExitCode.UNDECIDED, as_json=as_json)
        return ExitCode.UNDECIDED
    match error:
        case InputError():
            report_error(str(error), ExitCode.INVALID, error.problems, as_json=as_json)
            return ExitCode.INVALID
        case StoreInvalidError():
            report_error(str(error), ExitCode.INVALID, as_json=as_json)
            return ExitCode.INVALID
        case UsageError():
            report_error(str(error), ExitCode.USAGE, error.problems, as_json=as_json)
            return ExitCode.USAGE
        case StoreError():
            report_error(str(error), ExitCode.USAGE, as_json=as_json)
            return ExitCode.USAGE
        case OSError():
            message = f"cannot write the output: {error.strerror or error}"
            report_error(message, ExitCode.USAGE, as_json=as_json)
            return ExitCode.USAGE
        case _:
            return None


def report_error(
    text: str, code: ExitCode, problems: Iterable[Problem] = (), *, as_json: bool = False
) -> None:
    """Print an error on stderr, and as a JSON document on stdout if JSON was asked for."""
    text = hide_secrets(text)
    with suppress(OSError):
        click.echo(text if code is ExitCode.INVALID else f"Error: {text}", err=True)
    if as_json:
        with suppress(OSError):
            print_error_document(text, code, problems)


def print_error_document(message: str, code: ExitCode, problems: Iterable[Problem] = ()) -> None:
    """Print an error as the one JSON document on stdout."""
    records = [
        {
            name: hide_secrets(value) if isinstance(value, str) else value
            for name, value in asdict(problem).items()
        }
        for problem in problems
    ]
    error = {"exit_code": int(code), "message": hide_secrets(message), "problems": records}
    click.echo(json.dumps({"error": error}, ensure_ascii=False, indent=2))


def hide_secrets(text: str) -> str:
    """Replace secrets of the environment in a text: any library may have put one in a message.

    A secret that is a plain word is not replaced: it may be part of a file name.
    """
    try:
        from markscheme.ask.secrets import environment_secrets

        return environment_secrets().certain.redact(text)
    # Without memory or descriptors nothing can be imported any more, and any error may come of it.
    except Exception:  # noqa: BLE001
        return "cannot tell: the memory or the open files are used up, so no details can be shown"


def report_stored_runs(run_ids: Sequence[str]) -> None:
    """Print the ids of stored runs on stderr, so that stdout is equal for equal input."""
    if not run_ids:
        return
    name = f"run {run_ids[0]}"
    if len(run_ids) > 1:
        name = f"{len(run_ids):,} runs, the last of them {run_ids[-1]}"
    # Not `print_note`: our own ids hold no secret, and looking for one loads the code of subjects.
    with suppress(OSError):
        click.echo(f"stored as {name}", err=True)


def warn_of_silent_change(
    rubric: Rubric, store: str | None, *, besides: Sequence[str] = ()
) -> None:
    """Warn on stderr if the newest earlier run had other weights under the same version."""
    from markscheme.tell.language import replace_control_characters, translate, translate_stored
    from markscheme.workflows.stored_runs import find_silent_change

    warning = find_silent_change(rubric, store, besides)
    if warning:
        text = replace_control_characters(translate_stored(warning))
        print_note(translate("warning: {text}", text=text))


def print_note(text: str) -> None:
    """Print a line on stderr; a closed stderr is no error."""
    with suppress(OSError):
        click.echo(hide_secrets(text), err=True)


@contextmanager
def buffer_stdout() -> Iterator[BinaryIO]:
    """Yield a stream of UTF-8 that is copied to stdout at the end: no half document appears."""
    import tempfile

    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
        yield spool  # type: ignore[misc]
        spool.seek(0)
        # As text, line by line, so that control characters are escaped.
        sys.stdout.writelines(line.decode() for line in spool)
        sys.stdout.flush()


def report_bug(error: BaseException) -> ExitCode:
    """Print that this is a bug, and how to report it; a traceback only if it is asked for.

    Under a tight limit of the shell nothing can be told: libraries fail in any way they like.
    """
    message = f"{type(error).__name__}: {error}"
    limit = find_tight_limit()
    with suppress(OSError):
        if limit is not None:
            click.echo(hide_secrets(f"Error: cannot tell: {limit} ({message})"), err=True)
            return ExitCode.UNDECIDED
        click.echo(hide_secrets(f"markscheme failed: {message}"), err=True)
        click.echo(
            "This is a bug in markscheme, not a mistake of yours. Run again with "
            "MARKSCHEME_DEBUG=1 for a traceback, and please report it with the command that you "
            "ran.",
            err=True,
        )
        if os.environ.get("MARKSCHEME_DEBUG"):
            import traceback

            trace = "".join(traceback.format_exception(error))
            click.echo(hide_secrets(trace), err=True, nl=False)
    return ExitCode.BUG if limit is None else ExitCode.UNDECIDED
