"""`markscheme schema`: print the JSON Schemas of our formats, for editors."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option

NAMES = ("rubric", "exam", "judge", "panel", "gate", "result")
_EPILOG = """\b
Example:
  markscheme schema rubric > rubric.schema.json

In a YAML file, the line `# yaml-language-server: $schema=rubric.schema.json` tells editors where
its schema is."""


@click.command(name="schema", epilog=_EPILOG)
@click.argument(
    "name",
    type=click.Choice(NAMES),
    metavar="[NAME]",
    required=False,
)
@format_option
@handle_errors
def command(name: str | None, format_: str) -> ExitCode:
    """Print the JSON Schema of one of our formats, or of all of them by name."""
    del format_  # a schema is JSON in either format
    from markscheme.mark.axes import AxisRegistry
    from markscheme.workflows.documents import build_json_schemas

    schemas = build_json_schemas(AxisRegistry())
    shown = schemas if name is None else schemas[name]
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    return ExitCode.OK
