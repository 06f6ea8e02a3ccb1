"""`markscheme transcript`: show what an agent did, read from its session log."""

from __future__ import annotations

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option

_EPILOG = """\b
Example:
  markscheme transcript ~/.claude/projects/my-project/4d1f0c2a.jsonl

The log of Claude Code, OpenCode, Codex, Gemini CLI, Qwen Code, Cline, Roo Code, Cursor, Copilot
CLI, Goose or Inspect AI, messages of the Anthropic or OpenAI API, or OpenTelemetry spans; the
format is recognised from the content. What a log does not say is null, never 0. The exit code is 0
when the log could be read, complete or not: `complete` and `gaps` say which."""


@click.command(name="transcript", epilog=_EPILOG)
@click.argument("source", metavar="FILE|DIR")
@click.option(
    "--log-format", metavar="NAME", help="Read the log as this format instead of detecting it."
)
@click.option("--session", metavar="ID", help="Show only this session of a log with several.")
@format_option
@handle_errors
def command(source: str, log_format: str | None, session: str | None, format_: str) -> ExitCode:
    """Show what an agent did: prompts, calls, sub-agents, tokens, the answer."""
    from markscheme.read.transcripts import read_transcripts

    transcripts = read_transcripts(source, log_format, session=session)
    if format_ == "json":
        from markscheme.tell.transcript import dump_transcripts

        click.echo(dump_transcripts(transcripts), nl=False)
        return ExitCode.OK
    from markscheme.tell.transcript import print_timeline

    for number, (file, transcript) in enumerate(transcripts):
        if number:
            click.echo()
        print_timeline(transcript, str(file))
    return ExitCode.OK
