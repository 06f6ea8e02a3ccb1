"""`markscheme audit`: test the rubric itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import exam_option, format_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from markscheme.prove.audit import AuditReport

_EPILOG = """\b
Example:
  markscheme audit tutor-capstone --exam regression

Every rule of the rubric is broken in turn, and golden cases, recorded answers and answers that are
known to be right or wrong are asked whether they notice. The exit code is 0 when every mutant is
noticed or proved equivalent, 1 when one survives or the rubric itself is wrong about a case or a
known answer, 4 when there was nothing to test it with."""
_EXIT_CODES = {
    "sound": ExitCode.OK,
    "wrong": ExitCode.FAILED,
    "unguarded": ExitCode.FAILED,
    "untested": ExitCode.UNDECIDED,
}


@click.command(name="audit", epilog=_EPILOG)
@click.argument("rubric", metavar="RUBRIC")
@exam_option
@click.option(
    "--answers",
    "-a",
    metavar="FILE|-",
    help="Recorded answers. Default: answers of the bundled tutor, if it knows the exam.",
)
@click.option(
    "--cases",
    "-c",
    multiple=True,
    metavar="FILE|NAME",
    help="Golden cases; may be repeated. Default: the built-in cases of the rubric.",
)
@click.option(
    "--write-cases",
    "destination",
    metavar="FILE",
    help="Write the cases that would notice the survivors to a new .yaml file.",
)
@format_option
@handle_errors
def command(
    rubric: str,
    exams: tuple[str, ...],
    answers: str | None,
    cases: tuple[str, ...],
    destination: str | None,
    format_: str,
) -> ExitCode:
    """Test a rubric by breaking it on purpose: does anything notice?"""
    from markscheme.prove.audit import build_audit_record
    from markscheme.read.documents import resolve_answers
    from markscheme.tell.audit import AuditPage
    from markscheme.workflows.audit import audit
    from markscheme.workflows.documents import load_exam, load_rubric

    path = None if destination is None else _check_new_file(destination)
    loaded = load_rubric(rubric)
    recorded = None if answers is None else resolve_answers(answers)
    report = audit(loaded, load_exam(*exams, rubric=loaded), recorded, cases=cases)
    if format_ == "json":
        click.echo(json.dumps(build_audit_record(report), ensure_ascii=False, indent=2))
    else:
        AuditPage(report).print_audit()
    if path is not None:
        _write_cases(path, report)
    return _EXIT_CODES[report.verdict.value]


def _check_new_file(name: str) -> Path:
    path = Path(name)
    if path.exists():
        raise UsageError(f"`{name}` is already there; name a new file for the cases")
    if not path.parent.is_dir():
        raise UsageError(f"`{name}`: the folder `{path.parent}` does not exist")
    return path


def _write_cases(path: Path, report: AuditReport) -> None:
    from markscheme.tell.audit import format_golden_cases

    cases = report.to_add
    count = len(cases.items) + len(cases.gates) + len(cases.pass_mark)
    if not count:
        click.echo("no case to write: nothing survived that one could be found for", err=True)
        return
    path.write_text(format_golden_cases(report.rubric.name, cases), encoding="utf-8")
    click.echo(f"wrote {count:,} cases to {path}", err=True)
