"""The command `markscheme`: names its commands, loads only the one that is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

from markscheme import __version__
from markscheme.cli.exits import Exit, report_bug

COMMANDS = {
    "demo": "Examine the bundled tutor on the capstone exam.",
    "init": "Write a small working project to start from.",
    "score": "Score recorded answers and explain every point.",
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
        module = importlib.import_module(f"markscheme.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table above."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="markscheme")
def main() -> None:
    r"""Rubrics as code: score answers, explain every point, decide what may ship.

    \b
    Start here:
      markscheme demo             the whole thing on what is built in
      markscheme init my-exam     a project of your own to change

    Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 invalid input, 4 cannot tell, 70 our bug.
    """


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        code = main.main(prog_name="markscheme", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.OK
    except Exception as error:  # noqa: BLE001 - a user never sees a traceback
        code = report_bug(error)
    sys.exit(int(code or 0))
