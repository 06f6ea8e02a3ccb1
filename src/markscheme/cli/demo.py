"""`markscheme demo`: the main job on what is built in."""

from __future__ import annotations

import json

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body
from markscheme.cli.options import format_option

_EPILOG = """\b
Example:
  markscheme demo
  markscheme demo --flawed

The exit code is 0 when the hard gate is met and 1 when it is not."""


@click.command(name="demo", epilog=_EPILOG)
@click.option(
    "--flawed",
    is_flag=True,
    help="Examine the same tutor with realistic faults, to see what a breakdown is for.",
)
@format_option
@command_body
def command(flawed: bool, format_: str) -> Exit:
    """Examine the bundled tutor on the capstone exam and state the gate."""
    from markscheme.library import examine_tutor
    from markscheme.tell.terminal import Page
    from markscheme.weigh.records import gate_records

    result = examine_tutor(flawed=flawed)
    report = result.judge()
    if format_ == "json":
        document = {**result.to_dict(), "gates": gate_records(report.outcomes)}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = Page(result.rubric)
        page.run(result)
        page.gates(report.outcomes)
        if not flawed:
            click.echo("\nNext: `markscheme demo --flawed`, then `markscheme init my-exam`.")
    return EXIT_OF[report.verdict.value]
