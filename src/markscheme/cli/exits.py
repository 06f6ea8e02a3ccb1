"""Exit codes, and the one place where an error becomes a message and a code."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click

from markscheme.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


class Exit(IntEnum):
    """What a command tells the shell."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INVALID = 3
    UNDECIDED = 4
    BUG = 70
    INTERRUPTED = 130


def command_body(function: Callable[..., Exit]) -> Callable[..., Exit]:
    """Turn the errors that we raise on purpose into a message on stderr and an exit code.

    With `--format json` stdout still gets one JSON document, which holds the same problems.
    """

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> Exit:
        try:
            return function(*args, **options)
        except InputError as error:
            problems = [
                {"file": p.file, "line": p.line, "field": p.field, "message": p.message}
                for p in error.problems
            ]
            _complain(str(error), Exit.INVALID, problems, options)
            return Exit.INVALID
        except UsageError as error:
            _complain(f"Error: {error}", Exit.USAGE, [], options)
            return Exit.USAGE

    return guarded


def _complain(text: str, code: Exit, problems: list[dict[str, Any]], options: Any) -> None:
    click.echo(text, err=True)
    if options.get("format_") == "json":
        document = {"error": {"exit_code": int(code), "message": text, "problems": problems}}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def report_bug(error: BaseException) -> Exit:
    """Say that it is our fault and how to tell us; a traceback only where it is asked for."""
    click.echo(f"markscheme failed: {type(error).__name__}: {error}", err=True)
    click.echo(
        "This is a bug in markscheme, not a mistake of yours. Run again with MARKSCHEME_DEBUG=1 "
        "for a traceback, and please report it with the command that you ran.",
        err=True,
    )
    if os.environ.get("MARKSCHEME_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    return Exit.BUG
