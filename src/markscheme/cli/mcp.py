"""`markscheme mcp`: serve the tools of markscheme to an assistant over stdio."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import store_option
from markscheme.vocabulary import UsageError

_EPILOG = """\b
Example:
  markscheme mcp --folder .
  claude mcp add markscheme -- markscheme mcp --folder .

The server speaks the Model Context Protocol on stdin and stdout until the client closes stdin. Its
tools are score_answer, score_file, lint, gate, failures, compare_runs and list_runs. They read
files of one folder, and ask no model. Needs: pip install 'markscheme[mcp]'"""


@click.command(name="mcp", epilog=_EPILOG)
@click.option(
    "--folder",
    metavar="DIR",
    default=".",
    help="The folder whose files the tools may read.  [default: this folder]",
)
@store_option
@handle_errors
def command(folder: str, store: str | None) -> ExitCode:
    """Serve the tools of markscheme to an assistant, over stdio."""
    if not Path(folder).is_dir():
        raise UsageError(f"`{folder}` is no folder")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("a client of MCP starts this command and talks to it on stdin")
    try:
        import mcp.server.mcpserver  # noqa: F401 - whether the extra is installed
    except ImportError:
        message = "the MCP server needs an extra: pip install 'markscheme[mcp]'"
        raise UsageError(message) from None
    from markscheme.integrations.mcp_server import serve_stdio

    serve_stdio(Path(folder), store)
    return ExitCode.OK
