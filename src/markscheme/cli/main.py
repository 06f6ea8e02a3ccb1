"""The command `markscheme`: names its commands, loads only the one that is called."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import importlib
import io
import keyword
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from markscheme import __version__
from markscheme.cli.exit_codes import (
    ExitCode,
    hide_secrets,
    print_error_document,
    print_note,
    report_bug,
)
from markscheme.cli.process import (
    SignalHandlers,
    close_result_output,
    is_stdout_empty,
    track_stdout,
)
from markscheme.vocabulary import Terminated

COMMANDS = {
    "demo": "Examine the bundled tutor on the capstone exam.",
    "init": "Write a small working project to start from.",
    "run": "Ask a live subject, score its answers, store the run.",
    "score": "Score recorded answers and explain every point.",
    "gate": "Judge a run by the gates of its rubric: may it ship?",
    "rate": "Rate answers at the terminal, blind and in random order.",
    "compare": "Compare two variants: may the cheaper one replace the other?",
    "report": "Write a run as one HTML page, as Markdown or as JUnit.",
    "runs": "List the stored runs.",
    "show": "Show one stored run.",
    "baseline": "Set or show the run that new ones are held against.",
    "recalibrate": "Rescore stored history under changed weights.",
    "transcript": "Show what an agent did, from its session log.",
    "audit": "Test a rubric by breaking it on purpose.",
    "break": "The exercise: remove one rule, see what it does to the scores.",
    "lint": "Check rubrics, exams and decision tables for mistakes.",
    "verify": "Recompute a published breakdown and say where it is wrong.",
}


class LazyGroup(click.Group):
    """A group whose help names every command and imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer meets them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        named = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"markscheme.cli.{named}")
        command: click.Command = module.command
        return add_language_option(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table above."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def add_language_option(command: click.Command) -> click.Command:
    """Give a command, or each command of a group, the option that names its language."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_language_option(inner)
    elif not any(parameter.name == "lang" for parameter in command.params):
        command.params.append(
            click.Option(
                ["--lang"],
                type=click.Choice(["en", "es"]),
                expose_value=False,
                is_eager=True,
                callback=_apply_language_option,
                help="The language of pages and reports.  [default: that of the locale]",
            )
        )
    return command


def _apply_language_option(
    ctx: click.Context, parameter: click.Parameter, language: str | None
) -> None:
    del parameter
    if not ctx.resilient_parsing:
        from markscheme.tell.language import detect_language, set_language

        set_language(language or detect_language())


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="markscheme")
def main() -> None:
    """Rubrics as code: score answers, explain every point, decide what may ship.

    \b
    Start here:
      markscheme demo             the whole thing on what is built in
      markscheme init my-exam     a project of your own to change

    Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 invalid input, 4 cannot tell, 70 our bug.
    """  # noqa: D301 - click reads the \b


_ASCII_SIGNS = {"→": "->", "…": "...", "−": "-", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">="}


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    _configure_streams()
    endings = SignalHandlers()
    endings.install()
    code = _run_command(endings)
    endings.restore_defaults()
    try:
        sys.stdout.flush()
    except OSError:
        code = code or ExitCode.USAGE
        _discard_stdout()
    _exit_process(int(code))


def _exit_process(code: int) -> NoReturn:
    """End at once: to take apart all that was loaded, module by module, helps nobody."""
    close_result_output()
    atexit._run_exitfuncs()  # noqa: SLF001 - what others asked for; there is no other name for it
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run_command(endings: SignalHandlers) -> int:
    """Return the exit code of the command that was called."""
    try:
        return int(main.main(prog_name="markscheme", standalone_mode=False) or 0)
    except click.ClickException as error:
        _print_click_error(error)
        report_error_as_json(error.format_message(), ExitCode.USAGE)
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        print_note("interrupted")
        return _report_ending(ExitCode.INTERRUPTED)
    except Terminated as ending:
        return _report_ending(ExitCode(int(ending.code or 0)))
    except SystemExit as leaving:
        closed = type(sys.stdout).__name__ == "PacifyFlushWrapper"  # click met a closed pipe
        return ExitCode.PIPE_CLOSED if closed else int(leaving.code or 0)
    except OSError as error:
        print_note(f"Error: cannot write the output: {error.strerror or error}")
        return ExitCode.USAGE
    except Exception as error:  # noqa: BLE001 - a user never sees a traceback
        if endings.received is not None:  # raised in the middle of a library, it came out as this
            return _report_ending(endings.received)
        report_error_as_json(f"{type(error).__name__}: {error}", ExitCode.BUG)
        return report_bug(error)


def _print_click_error(error: click.ClickException) -> None:
    """Say on stderr what is wrong with the words of a command, which may hold a key."""
    told = io.StringIO()
    error.show(told)
    click.echo(hide_secrets(told.getvalue()), err=True, nl=False)


def _report_ending(code: ExitCode) -> ExitCode:
    """Say in a document too that somebody ended us; who closed the pipe knows."""
    with contextlib.suppress(OSError, ValueError):
        report_error_as_json(code.name.lower().replace("_", " "), code)
    return code


def report_error_as_json(message: str, code: ExitCode) -> None:
    """Put what went wrong into a document on stdout where JSON was asked for, and is not there."""
    words = " ".join(sys.argv).replace("=", " ")
    if "--format json" in words and is_stdout_empty():
        print_error_document(message, code)


def _configure_streams() -> None:
    """Make streams that are closed or of a small character set take whatever is printed.

    What goes to a file or a pipe is UTF-8 in every locale, so that it is the same everywhere.
    """
    codecs.register_error("plainly", _encode_as_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="plainly")
            if name == "stdout":
                sys.stdout = track_stdout(stream, encoding)


def _encode_as_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return signs of ours in ASCII; a letter that cannot be shown is a `?`, never another one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_ASCII_SIGNS.get(sign, "?") for sign in lacking), error.end


def _discard_stdout() -> None:
    """Send to nowhere what could not be written, so that leaving does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
