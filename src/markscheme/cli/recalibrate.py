"""`markscheme recalibrate`: weigh stored runs again under a changed rubric."""

from __future__ import annotations

import json

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, rubric_option, store_option

_EPILOG = """\b
Example:
  markscheme recalibrate --rubric rubric-v2.yaml
  markscheme recalibrate --rubric rubric-v2.yaml --apply

Every stored run under a rubric of the same name is weighed anew from its cells; no subject is asked
again and nothing is overwritten. With --apply the rescored runs are stored as new runs that point
at the old answers; `markscheme baseline set` then takes the proposed one. The exit code is 0 when
every run could be weighed, 4 when there is none or one cannot."""


@click.command(name="recalibrate", epilog=_EPILOG)
@rubric_option
@click.option("--exam", "-e", metavar="NAME", help="Only the runs of this exam.")
@click.option("--apply", is_flag=True, help="Store the rescored runs as new runs.")
@store_option
@format_option
@handle_errors
def command(
    rubric: str, exam: str | None, apply: bool, store: str | None, format_: str
) -> ExitCode:
    """Rescore stored history under changed weights and show what moves."""
    from markscheme.tell.language import translate
    from markscheme.tell.verdicts import VerdictPage
    from markscheme.vocabulary import to_record
    from markscheme.workflows.documents import load_rubric
    from markscheme.workflows.find_run import RunFinder
    from markscheme.workflows.recalibrate import recalibrate_runs

    new = load_rubric(rubric)
    with RunFinder(store) as runs:
        recalibration, applied = recalibrate_runs(runs, new, exam=exam, apply=apply)
    if format_ == "json":
        document = {**to_record(recalibration), "applied": applied}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    elif recalibration.runs or recalibration.refused:
        VerdictPage().print_recalibration(recalibration, applied)
    else:
        none = translate("no finished run under a rubric named {rubric} is stored", rubric=new.name)
        click.echo(none)
    complete = recalibration.runs and not recalibration.refused
    return ExitCode.OK if complete else ExitCode.UNDECIDED
