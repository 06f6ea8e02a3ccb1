"""Exit codes, and the one place where an error becomes a message and a code."""

from __future__ import annotations

import functools
import json
import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from enum import IntEnum
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from markscheme.vocabulary import InputError, StoreError, StoreInvalidError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markscheme.vocabulary import Problem

_SPOOL_BYTES = 32 * 1024 * 1024


class ExitCode(IntEnum):
    """What a command tells the shell."""

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
    """Turn the errors that we raise on purpose into a message on stderr and an exit code.

    With `--format json` stdout still gets one JSON document, which holds the same problems.
    """

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> ExitCode:
        as_json = options.get("format_") == "json"
        try:
            return function(*args, **options)
        except InputError as error:
            report_error(str(error), ExitCode.INVALID, error.problems, as_json=as_json)
            return ExitCode.INVALID
        except StoreInvalidError as error:
            report_error(str(error), ExitCode.INVALID, as_json=as_json)
            return ExitCode.INVALID
        except UsageError as error:
            report_error(str(error), ExitCode.USAGE, error.problems, as_json=as_json)
            return ExitCode.USAGE
        except StoreError as error:
            report_error(str(error), ExitCode.USAGE, as_json=as_json)
            return ExitCode.USAGE
        except BrokenPipeError:
            return ExitCode.PIPE_CLOSED
        except OSError as error:
            report_error(f"cannot write the output: {error.strerror or error}", ExitCode.USAGE)
            return ExitCode.USAGE

    return guarded


def report_error(
    text: str, code: ExitCode, problems: Iterable[Problem] = (), *, as_json: bool = False
) -> None:
    """Say what is wrong on stderr, and as a document on stdout where JSON was asked for."""
    text = hide_secrets(text)
    click.echo(text if code is ExitCode.INVALID else f"Error: {text}", err=True)
    if as_json:
        print_error_document(text, code, problems)


def print_error_document(message: str, code: ExitCode, problems: Iterable[Problem] = ()) -> None:
    """Say what is wrong as the one document on stdout."""
    told = [asdict(problem) for problem in problems]
    document = {"error": {"exit_code": int(code), "message": message, "problems": told}}
    click.echo(hide_secrets(json.dumps(document, ensure_ascii=False, indent=2)))


def hide_secrets(text: str) -> str:
    """Return what is to be said without any key of the environment: who raised it may be anybody.

    A key that is a plain word stays, lest it be hidden in the name of a file.
    """
    from markscheme.ask.secrets import environment_secrets

    return environment_secrets().certain.redact(text)


def report_stored_runs(kept: Sequence[str]) -> None:
    """Say on stderr under which ids runs were stored: stdout is the same for the same input."""
    if kept:
        ids = kept[0] if len(kept) == 1 else f"{len(kept):,} runs, the last of them {kept[-1]}"
        print_note(f"stored as {'run ' if len(kept) == 1 else ''}{ids}")


def print_note(text: str) -> None:
    """Say it on stderr; who reads that may be gone, and still want the result."""
    with suppress(OSError):
        click.echo(hide_secrets(text), err=True)


@contextmanager
def buffer_stdout() -> Iterator[BinaryIO]:
    """Give a stream that reaches stdout only when all of it was written, never half a document."""
    import shutil
    import tempfile

    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
        yield spool  # type: ignore[misc]
        spool.seek(0)
        shutil.copyfileobj(spool, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def report_bug(error: BaseException) -> ExitCode:
    """Say that it is our fault and how to tell us; a traceback only where it is asked for."""
    click.echo(hide_secrets(f"markscheme failed: {type(error).__name__}: {error}"), err=True)
    click.echo(
        "This is a bug in markscheme, not a mistake of yours. Run again with MARKSCHEME_DEBUG=1 "
        "for a traceback, and please report it with the command that you ran.",
        err=True,
    )
    if os.environ.get("MARKSCHEME_DEBUG"):
        import traceback

        click.echo(hide_secrets("".join(traceback.format_exception(error))), err=True, nl=False)
    return ExitCode.BUG
