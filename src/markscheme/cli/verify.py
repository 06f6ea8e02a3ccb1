"""`markscheme verify`: is a published breakdown right?"""

from __future__ import annotations

import dataclasses
import json

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import format_option

_EPILOG = """\b
Example:
  markscheme verify published.json

FILE is one per-item breakdown, a list of them, a whole result of `markscheme score`, or JSON lines.
The exit code is 0 when every number follows from the others, 1 when one does not."""


@click.command(name="verify", epilog=_EPILOG)
@click.argument("file", metavar="FILE")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="The rubric it was scored under. Default: the built-in one it names, or tutor-capstone.",
)
@format_option
@command_body
def command(file: str, rubric: str | None, format_: str) -> Exit:
    """Recompute a published breakdown and say where it is wrong."""
    from markscheme.library import verify

    checked, findings = verify(file, rubric)
    if format_ == "json":
        found = [dataclasses.asdict(finding) for finding in findings]
        document = {"file": file, "checked": checked, "ok": not findings, "findings": found}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            click.echo(str(finding))
        verdict = f"{len(findings)} wrong" if findings else "all follow from each other"
        click.echo(f"{checked} breakdown{'' if checked == 1 else 's'} checked: {verdict}")
    return Exit.FAILED if findings else Exit.OK
