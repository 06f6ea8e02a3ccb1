"""Asking judges from the command line: progress, remarks, and what to do when it breaks off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markscheme.cli.exit_codes import print_note
from markscheme.cli.process import redirect_foreign_output
from markscheme.cli.resuming import print_resume_hint, tell_how_to_resume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.vocabulary import RowError, Rubric
    from markscheme.workflows.judge_plan import JudgePlan
    from markscheme.workflows.judged_ratings import JudgedRatings

_SHOWN_ROWS = 5


def note_bad_rows(bad_rows: Sequence[RowError]) -> None:
    """Print the first rows that are no answers."""
    for row in bad_rows[:_SHOWN_ROWS]:
        print_note(f"{row.place}: {row.reason}; it is not judged")
    if len(bad_rows) > _SHOWN_ROWS:
        print_note(f"{len(bad_rows) - _SHOWN_ROWS:,} more rows are no answers")


def ask_judges_after_canaries(
    plan: JudgePlan, rubric: Rubric, store: str | None, *, no_store: bool
) -> JudgedRatings:
    """Ask about the canaries of the judge's calibration first; say which are out of range."""
    from markscheme.workflows.canaries import ask_known_canaries
    from markscheme.workflows.judge import limit_cost

    with redirect_foreign_output():
        canaries = None if no_store else ask_known_canaries(plan, rubric, store)
    if canaries is None:
        return ask_judges(plan, store, no_store=no_store)
    for outcome in canaries.report.out_of_range:
        why = f"is out of range ({outcome.because}); no gate can rest on this run"
        print_note(f"canary {outcome.name} {why}")
    judged = ask_judges(limit_cost(plan, [canaries.judged]), store, no_store=no_store)
    return replace(judged, canaries=canaries.failed)


def ask_judges(plan: JudgePlan, store: str | None, *, no_store: bool) -> JudgedRatings:
    """Carry out a plan with progress on stderr, and print the remarks on judge and subjects."""
    from markscheme.tell.progress import show_asking_progress
    from markscheme.workflows.judge import execute_judge_plan

    names = [subject.name for subject in plan.subjects]
    with (
        tell_how_to_resume(stored=not no_store),
        redirect_foreign_output(),
        show_asking_progress(names, len(plan.calls)) as progress,
    ):
        observer = replace(progress.observer, on_remark=print_note, score_interval=None)
        judged = execute_judge_plan(plan, store=store, skip=no_store, observer=observer)
    for remark in judged.remarks:
        print_note(remark)
    if judged.stopped is not None:
        print_resume_hint("not every call has a reply", stored=not no_store)
    return judged
