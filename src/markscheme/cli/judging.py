"""Asking judges from the command line: progress, remarks, and what to do when it breaks off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markscheme.cli.exit_codes import ExitCode, print_note
from markscheme.cli.process import redirect_foreign_output
from markscheme.cli.resuming import build_resume_command, print_resume_hint
from markscheme.vocabulary import StoreUnavailableError, Terminated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.vocabulary import RowError
    from markscheme.workflows.judge_plan import JudgePlan
    from markscheme.workflows.judged_ratings import JudgedRatings

_SHOWN_ROWS = 5


def note_bad_rows(bad_rows: Sequence[RowError]) -> None:
    """Print the first rows that are no answers."""
    for row in bad_rows[:_SHOWN_ROWS]:
        print_note(f"{row.place}: {row.reason}; it is not judged")
    if len(bad_rows) > _SHOWN_ROWS:
        print_note(f"{len(bad_rows) - _SHOWN_ROWS:,} more rows are no answers")


def ask_judges(plan: JudgePlan, store: str | None, *, no_store: bool) -> JudgedRatings:
    """Carry out a plan with progress on stderr, and print the remarks on judge and subjects."""
    from markscheme.tell.progress import show_asking_progress
    from markscheme.workflows.judge import execute_judge_plan

    names = [subject.name for subject in plan.subjects]
    try:
        with (
            redirect_foreign_output(),
            show_asking_progress(names, len(plan.calls)) as progress,
        ):
            observer = replace(progress.observer, on_remark=print_note, score_interval=None)
            judged = execute_judge_plan(plan, store=store, skip=no_store, observer=observer)
    except KeyboardInterrupt:
        print_resume_hint("interrupted", stored=not no_store)
        raise Terminated(ExitCode.INTERRUPTED) from None
    except Terminated:
        print_resume_hint("terminated", stored=not no_store)
        raise
    except StoreUnavailableError as error:  # most likely a full disk
        raise StoreUnavailableError(
            f"{error}\nthen go on with: {build_resume_command()}"
        ) from error
    for remark in judged.remarks:
        print_note(remark)
    if judged.stopped is not None:
        print_resume_hint("not every call has a reply", stored=not no_store)
    return judged
