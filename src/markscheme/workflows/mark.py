"""Mark one answer, for a service or a training loop: no files, no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markscheme.mark import find_item_problems, mark_answer
from markscheme.vocabulary import (
    Breakdown,
    DocumentError,
    FrozenDict,
    Item,
    Mark,
    Rubric,
    Transcript,
    UsageError,
    format_value,
)
from markscheme.workflows.documents import load_rubric


def mark(
    rubric: Rubric | str | Path,
    item: Item,
    output: str | Mapping[str, Any],
    *,
    transcript: Transcript | None = None,
    marks: Mapping[str, Sequence[Mark]] = FrozenDict(),
) -> Breakdown:
    """Mark one raw output as the answer to one item.

    Load the rubric once where many answers are marked. `transcript` is the log of what an agent did
    for the answer, and `marks` are those of people or judges by axis; axes that need them abstain
    without them.

    >>> from markscheme import load_exam, load_rubric, mark
    >>> rubric = load_rubric("tutor-capstone")
    >>> exam = load_exam("capstone", rubric=rubric)
    >>> breakdown = mark(rubric, exam.get_item("e-39-01"), "He ate.")
    >>> breakdown.score, breakdown.cells["spanish_gloss"].reason
    (Fraction(13, 20), '"comió" is missing from "He ate."')

    Raises:
        UsageError: the output is neither text nor a mapping.
        DocumentError: the item lacks what the axes of the rubric need.
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    untyped: object = output
    if not isinstance(untyped, str | Mapping):
        raise UsageError(f"an output is text or a mapping, not {format_value(output)}")
    problems = list(find_item_problems(rubric, item))
    if problems:
        raise DocumentError(problems)
    return mark_answer(rubric, item, output, transcript, marks)
