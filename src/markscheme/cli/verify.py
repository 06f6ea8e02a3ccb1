"""`markscheme verify`: regenerate published results from their rows and report differences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.verify import Verification

_EPILOG = """\b
Example:
  markscheme verify published.json

FILE is one per-item breakdown, a list of them, a whole result of `markscheme score`, or JSON lines.
The exit code is 0 when every number follows from the others, 1 when one does not, 4 when nothing
could be checked in a file."""


@click.command(name="verify", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--rubric",
    "-r",
    metavar="FILE|NAME",
    help="The rubric it was scored under. Default: the built-in one it names, or tutor-capstone if "
    "it names none.",
)
@click.option(
    "--exam",
    "-e",
    "exams",
    multiple=True,
    metavar="FILE|NAME",
    help="The exam, whose tags make the groups. Default: the built-in one it names.",
)
@format_option
@handle_errors
def command(
    files: tuple[str, ...], rubric: str | None, exams: tuple[str, ...], format_: str
) -> ExitCode:
    """Recompute published breakdowns and say where they are wrong."""
    from markscheme.workflows.verify import verify

    verifications = {file: verify(file, rubric, exams) for file in files}
    codes = list(map(_get_exit_code, verifications.values()))
    if format_ == "json":
        documents = [_build_verification_document(*entry) for entry in verifications.items()]
        document = documents[0] if len(documents) == 1 else {"files": documents}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for file, verification in verifications.items():
            prefix = f"{file}: " if len(verifications) > 1 else ""
            click.echo("\n".join(_format_verification_lines(verification, prefix)))
    return ExitCode.FAILED if ExitCode.FAILED in codes else max(codes)


def _build_verification_document(file: str, verification: Verification) -> dict[str, Any]:
    from markscheme.vocabulary import to_record

    record = to_record(verification)
    findings = record.pop("findings")
    ok = _get_exit_code(verification) is ExitCode.OK
    return {"file": file, **record, "ok": ok, "findings": findings}


def _get_exit_code(verification: Verification) -> ExitCode:
    if verification.findings:
        return ExitCode.FAILED
    return ExitCode.OK if verification.checked else ExitCode.UNDECIDED


def _format_verification_lines(verification: Verification, prefix: str) -> Iterator[str]:
    from markscheme.tell.language import translate, translate_plural
    from markscheme.tell.verdicts import format_verification_finding

    yield from map(format_verification_finding, verification.findings)
    unjudged, checked = verification.not_judged_anew, verification.checked
    if unjudged:
        not_judged = translate(
            "the leading axis could not be judged anew in {n} of {of} (no usable got and expected)",
            n=unjudged,
            of=checked,
        )
        yield f"{prefix}{not_judged}"
    if verification.groups_not_checked:
        groups = translate_plural(
            "{n} group by tag was not checked; --exam names the exam whose tags it has",
            "{n} groups by tag were not checked; --exam names the exam whose tags they have",
            verification.groups_not_checked,
        )
        yield f"{prefix}{groups}"
    wrong = len(verification.findings)
    verdict = translate("{n} wrong", n=wrong) if wrong else translate("all follow from each other")
    lacking = translate("{n} unscored", n=verification.unscored)
    unscored = f", {lacking}" if verification.unscored else ""
    if checked or wrong:
        count = translate_plural("{n} breakdown checked", "{n} breakdowns checked", checked)
        yield f"{prefix}{count}{unscored}: {verdict}"
    else:
        nothing = translate("nothing was checked: the file holds no breakdown")
        yield f"{prefix}{nothing}{unscored}"
