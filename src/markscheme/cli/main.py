"""The command group `markscheme`: lists its commands, imports only the one that is called."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import importlib
import io
import keyword
import os
import sys
from collections.abc import Callable
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
    report_exception,
)
from markscheme.cli.options import COMPLETION_VARIABLE
from markscheme.cli.process import (
    SignalHandlers,
    close_result_output,
    escape_stderr,
    is_stdout_empty,
    track_stdout,
)
from markscheme.cli.project_settings import apply_project_settings
from markscheme.vocabulary import Terminated, UsageError, find_shortage, find_tight_limit

COMMANDS = {
    "demo": "Examine the bundled tutor on the capstone exam.",
    "init": "Write a small working project to start from.",
    "import": "Turn rubrics and grades of other tools into our own files.",
    "run": "Ask a live subject, score its answers, store the run.",
    "score": "Score recorded answers and explain every point.",
    "judge": "Ask a judge model about recorded answers, write its ratings.",
    "gate": "Judge a run by the gates of its rubric: may it ship?",
    "rate": "Rate answers blind, at the terminal or with others in the web app.",
    "compare": "Compare variants or runs: may one replace the other?",
    "calibrate": "Measure a judge against people: may gates rest on it?",
    "agree": "Measure how far raters agree, for any file of ratings.",
    "learn": "Practise with spaced repetition and sit exams, in the browser or here.",
    "class": "Manage the learners of a class: add, codes, export, forget.",
    "serve": "Serve the web app on this machine.",
    "report": "Write a run as one HTML page, as Markdown or as JUnit.",
    "runs": "List the stored runs.",
    "show": "Show one stored run.",
    "baseline": "Set or show the run that later runs are compared with.",
    "recalibrate": "Rescore stored history under changed weights.",
    "transcript": "Show what an agent did, from its session log.",
    "audit": "Test a rubric by breaking it on purpose.",
    "break": "The exercise: remove one rule, see what it does to the scores.",
    "lint": "Check rubrics, exams, judges and decision tables for mistakes.",
    "verify": "Recompute a published breakdown and say where it is wrong.",
    "schema": "Print the JSON Schema of rubrics, exams, results and others.",
    "completion": "Print the completion script of a shell.",
    "mcp": "Serve the tools of markscheme to an assistant over stdio.",
}


COMMANDS_WITHOUT_RUBRIC = {"demo", "init", "import", "runs", "transcript", "completion"}
"""Commands that read no rubric but built-in ones, so they need no plugins."""


class LazyGroup(click.Group):
    """A group whose help lists every command without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a new user needs them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        # `break` is a keyword, so its module is `break_`.
        module_name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"markscheme.cli.{module_name}")
        command: click.Command = module.command
        if cmd_name not in COMMANDS_WITHOUT_RUBRIC:
            _add_option(command, "plugin", _build_plugin_option)
        _add_option(command, "lang", _build_language_option)
        apply_project_settings(command)
        if COMPLETION_VARIABLE in os.environ:
            from markscheme.cli.completion import complete_values

            complete_values(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from `COMMANDS`."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _add_option(command: click.Command, name: str, build: Callable[[], click.Option]) -> None:
    """Add an option to a command, or to each command of a group, unless it is there."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _add_option(inner, name, build)
    elif not any(parameter.name == name for parameter in command.params):
        command.params.append(build())


def _build_language_option() -> click.Option:
    return click.Option(
        ["--lang"],
        type=click.Choice(["en", "es"]),
        expose_value=False,
        is_eager=True,
        callback=_apply_language_option,
        help="The language of pages and reports.  [default: that of the locale]",
    )


def _build_plugin_option() -> click.Option:
    return click.Option(
        ["--plugin"],
        multiple=True,
        metavar="FILE",
        expose_value=False,
        is_eager=True,
        callback=_load_plugins,
        help="A Python file with axes of your own; may be repeated.",
    )


def _load_plugins(ctx: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> None:
    if not files or ctx.resilient_parsing:
        return
    from markscheme.mark.axes import load_plugin_file

    for file in files:
        try:
            load_plugin_file(file)
        except UsageError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=parameter) from None


def _apply_language_option(
    ctx: click.Context, parameter: click.Parameter, language: str | None
) -> None:
    del parameter
    if not ctx.resilient_parsing:
        from markscheme.tell.language import detect_language, set_language

        set_language(language or detect_language())


# With `color`, click would remove escape sequences of values; our streams show them escaped.
@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "color": True})
@click.version_option(__version__, prog_name="markscheme")
def main() -> None:
    """Rubrics as code: score answers, explain every point, decide what may ship.

    \b
    Start here:
      markscheme demo             the main job on built-in data
      markscheme init my-exam     write a project of your own

    Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 invalid input, 4 cannot tell, 70 a bug in
    markscheme.
    """  # noqa: D301 - click reads the \b


_ASCII_SIGNS = {"→": "->", "…": "...", "−": "-", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">="}


def run() -> NoReturn:
    """Run the command line and exit with its exit code."""
    _configure_streams()
    signals = SignalHandlers()
    signals.install()
    try:
        code = _run_command(signals)
    except BaseException as error:  # noqa: BLE001 - there was no room even to report an error
        code = _report_without_room(error, signals)
    signals.restore_defaults()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or report_exception(error) or ExitCode.USAGE
        _discard_stdout()
    _exit_process(int(code))


def _report_without_room(error: BaseException, signals: SignalHandlers) -> ExitCode:
    """Report an error that came while another one was reported; return the exit code."""
    if signals.received is not None:
        return signals.received
    shortage = find_shortage(error) or find_tight_limit()
    message = f"Error: cannot tell: {shortage}" if shortage else "markscheme failed: this is a bug"
    with contextlib.suppress(Exception):
        sys.stderr.write(f"{message}\n")
    return ExitCode.UNDECIDED if shortage else ExitCode.BUG


def _exit_process(code: int) -> NoReturn:
    """Exit without tearing down the interpreter.

    Deleting all modules takes 45 of the 280 ms of CPU of a small `score` (benchmarks/start.py).
    """
    close_result_output()
    atexit._run_exitfuncs()  # noqa: SLF001 - `os._exit` skips them, and there is no public name
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run_command(signals: SignalHandlers) -> int:
    """Run the command that was called; return its exit code."""
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
        # click replaces stdout by this class when it meets a closed pipe.
        is_pipe_closed = type(sys.stdout).__name__ == "PacifyFlushWrapper"
        return ExitCode.PIPE_CLOSED if is_pipe_closed else int(leaving.code or 0)
    except BaseException as error:  # noqa: BLE001 - a user never sees a traceback
        # A signal that arrives inside a library may come out as another error.
        if signals.received is not None:
            return _report_ending(signals.received)
        code = report_exception(error)
        if code is None:
            code = report_bug(error)
            report_error_as_json(f"{type(error).__name__}: {error}", code)
        return code


def _print_click_error(error: click.ClickException) -> None:
    """Print a usage error on stderr, with secrets hidden: the arguments may hold a key."""
    message = io.StringIO()
    error.show(message)
    click.echo(hide_secrets(message.getvalue()), err=True, nl=False)


def _report_ending(code: ExitCode) -> ExitCode:
    """Report a signal as a JSON error too, if JSON was asked for and stdout is still open."""
    report_error_as_json(code.name.lower().replace("_", " "), code)
    return code


def report_error_as_json(message: str, code: ExitCode) -> None:
    """Print a JSON error document on stdout if JSON was asked for and nothing was printed yet."""
    arguments = " ".join(sys.argv).replace("=", " ")
    if "--format json" in arguments and is_stdout_empty():
        with contextlib.suppress(OSError, ValueError):  # stdout is closed, or its disk is full
            print_error_document(message, code)


def _configure_streams() -> None:
    """Make stdout and stderr accept any text, also if they are closed or not UTF-8.

    Control characters are escaped (see `PrintableStream`). Files and pipes get UTF-8 in every
    locale, so that output is the same everywhere.
    """
    codecs.register_error("ascii_signs", _encode_as_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="ascii_signs")
            wrap = track_stdout if name == "stdout" else escape_stderr
            setattr(sys, name, wrap(stream, encoding))


def _encode_as_ascii(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: replace our signs by ASCII, and any other character by `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end]
    return "".join(_ASCII_SIGNS.get(sign, "?") for sign in unencodable), error.end


def _discard_stdout() -> None:
    """Redirect stdout to the null device, so that flushing at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
