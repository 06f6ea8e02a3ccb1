"""`markscheme verify`: is a published breakdown right?"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import click

from markscheme.cli.exits import Exit, command_body
from markscheme.cli.options import format_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.verification import Verification

_EPILOG = """\b
Example:
  markscheme verify published.json

FILE is one per-item breakdown, a list of them, a whole result of `markscheme score`, or JSON lines.
The exit code is 0 when every number follows from the others, 1 when one does not, 4 when nothing
could be checked."""


@click.command(name="verify", epilog=_EPILOG)
@click.argument("file", metavar="FILE")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="The rubric it was scored under. Default: the built-in one it names; tutor-capstone where "
    "it names none.",
)
@format_option
@command_body
def command(file: str, rubric: str | None, format_: str) -> Exit:
    """Recompute a published breakdown and say where it is wrong."""
    from markscheme.library import verify

    verification = verify(file, rubric)
    code = _exit(verification)
    if format_ == "json":
        told = dataclasses.asdict(verification)
        findings = told.pop("findings")
        document = {"file": file, **told, "ok": code is Exit.OK, "findings": findings}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_lines(verification)))
    return code


def _exit(verification: Verification) -> Exit:
    if verification.findings:
        return Exit.FAILED
    return Exit.OK if verification.checked else Exit.UNDECIDED


def _lines(verification: Verification) -> Iterator[str]:
    yield from map(str, verification.findings)
    unjudged, checked = verification.not_judged_anew, verification.checked
    if unjudged:
        yield (
            f"the leading axis could not be judged anew in {unjudged} of {checked} "
            "(no usable got and expected)"
        )
    wrong = len(verification.findings)
    verdict = f"{wrong} wrong" if wrong else "all follow from each other"
    unscored = f", {verification.unscored} unscored" if verification.unscored else ""
    if checked or wrong:
        yield f"{checked} breakdown{'' if checked == 1 else 's'} checked{unscored}: {verdict}"
    else:
        yield f"nothing was checked: the file holds no breakdown{unscored}"
