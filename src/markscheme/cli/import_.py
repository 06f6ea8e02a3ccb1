"""`markscheme import`: rubrics and graded answers of other tools."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option

if TYPE_CHECKING:
    from markscheme.workflows.import_documents import ImportOutcome

TOOLS = ("healthbench", "paperbench", "autorubric", "promptfoo", "pydantic-evals")
_EPILOG = """\b
Example:
  markscheme import healthbench oss_eval.jsonl -o healthbench
  markscheme import paperbench graded_tree.json
  markscheme import autorubric dataset.json

Writes rubric.yaml and exam.yaml, answers.jsonl where the file holds answers, and ratings.csv where
it holds grades. Nothing is overwritten. What cannot be expressed is refused with its line and
field, or named in a remark."""


@click.command(name="import", epilog=_EPILOG)
@click.argument("tool", type=click.Choice(TOOLS))
@click.argument("file", metavar="FILE")
@click.option(
    "--output",
    "-o",
    "folder",
    metavar="DIR",
    help="The folder to write to. Default: one in this folder that is named after the file.",
)
@format_option
@handle_errors
def command(tool: str, file: str, folder: str | None, format_: str) -> ExitCode:
    """Turn a FILE of another tool into rubric, exam, answers and ratings."""
    from markscheme.workflows.import_documents import import_documents

    outcome = import_documents(tool, file, folder)
    if format_ == "json":
        click.echo(json.dumps(to_plain(outcome), indent=2))
    else:
        print_outcome(outcome)
    return ExitCode.OK


def to_plain(outcome: ImportOutcome) -> dict[str, Any]:
    """Return what an import wrote as the document that `--format json` prints."""
    return {
        "directory": str(outcome.folder).encode("utf-8", "replace").decode(),
        "files": list(outcome.files),
        "items": outcome.items,
        "criteria": outcome.criteria,
        "answers": outcome.answers,
        "ratings": outcome.ratings,
        "remarks": [
            {"file": r.file, "line": r.line, "field": r.field, "message": r.message}
            for r in outcome.remarks
        ],
    }


def print_outcome(outcome: ImportOutcome) -> None:
    """Print what an import wrote, and a command to go on with."""
    from markscheme.tell.language import translate

    for name in outcome.files:
        click.echo(translate("wrote {file}", file=outcome.folder / name))
    click.echo(
        translate(
            "items: {items}, criteria: {criteria}, answers: {answers}, ratings: {ratings}",
            items=f"{outcome.items:,}",
            criteria=f"{outcome.criteria:,}",
            answers=f"{outcome.answers:,}",
            ratings=f"{outcome.ratings:,}",
        )
    )
    for remark in outcome.remarks:
        click.echo(translate("remark: {remark}", remark=remark))
    click.echo("\n" + translate("Now try:"))
    click.echo(f"  {shlex.join(_suggest_command(outcome))}")


def _suggest_command(outcome: ImportOutcome) -> list[str]:
    """Return the command that makes most of what was written."""
    paths = {name: str(outcome.folder / name) for name in outcome.files}
    exams = [path for name, path in paths.items() if name.startswith("exam")]
    rubric = ["-r", paths["rubric.yaml"]]
    if "ratings.csv" in paths:
        marks = ["-a", paths["answers.jsonl"], "--ratings", paths["ratings.csv"]]
        named = [word for exam in exams for word in ("-e", exam)]
        return ["markscheme", "score", *rubric, *named, *marks]
    return ["markscheme", "lint", paths["rubric.yaml"], *exams]
