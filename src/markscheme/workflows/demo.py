"""Examine the bundled tutor: what `markscheme demo` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.weigh.recalibrate import PastRun
from markscheme.workflows.find_run import RunFinder
from markscheme.workflows.gate import find_set_baseline
from markscheme.workflows.report import build_result_report
from markscheme.workflows.score import score
from markscheme.workflows.sinks import FrameCollector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.result import Result
    from markscheme.workflows.report import RunReport


def examine_tutor(
    rubric: Rubric,
    exam: Exam,
    *,
    flawed: bool = False,
    store: str | Path | None = None,
    messages: bool = False,
) -> tuple[Result, dict[str, str | None]]:
    """Score the answers of the bundled tutor; return also its output for each item.

    With `messages` the rows have the hidden column from which pages translate reasons.
    """
    answers = generate_tutor_answers(exam, flawed=flawed)
    outputs: dict[str, str | None] = {answer["item"]: answer["output"] for answer in answers}
    rows = FrameCollector(messages=messages)
    return rows.show_in(score(rubric, exam, answers, store=store, sinks=[rows])), outputs


def report_demo(
    result: Result,
    outputs: Mapping[str, str | None],
    *,
    store: str | Path | None,
    skip: bool = False,
) -> RunReport:
    """Build the report of a demo; the baseline that a `store` has for it is compared with."""
    if skip:
        return build_result_report(result, outputs)
    with RunFinder(store) as runs:
        past = PastRun(run=next(result.runs), rubric=result.rubric, exam=result.exam)
        return build_result_report(result, outputs, find_set_baseline(runs, past))


def generate_tutor_answers(exam: Exam, *, flawed: bool = False) -> list[dict[str, Any]]:
    """Let the bundled tutor answer an exam; a `flawed` tutor makes realistic mistakes."""
    from markscheme.ask.subjects import FLAWED, Tutor

    tutor = Tutor(faults=FLAWED if flawed else frozenset())
    subject = "flawed-tutor" if flawed else "tutor"
    return [
        {"item": item.id, "output": tutor.answer(item.prompt), "subject": subject}
        for item in exam.items
    ]
