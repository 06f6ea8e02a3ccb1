"""Blind rating: which answers a rater sees, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from markscheme.vocabulary import AnswersError, Exam, Problem, Rubric, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindAnswer:
    """An answer as a rater sees it; `variant` is not shown to the rater."""

    item: str
    variant: str
    prompt: str
    text: str


def load_answers_to_rate(rubric: Rubric, exam: Exam, answers: str | Path) -> list[BlindAnswer]:
    """Return the answers of a file as raters see them: one for each item and subject.

    Of several attempts the first is rated. A file with invalid rows is refused.
    """
    from markscheme.read.answers import read_answers

    if not rubric.scales:
        raise UsageError(f"the rubric `{rubric.name}` has no axis of kind `scale` to rate")
    prompts = {item.id: item.prompt for item in exam.items}
    first: dict[tuple[str, str], tuple[int, BlindAnswer]] = {}
    problems: list[Problem] = []

    def complain(line: int, field: str, message: str) -> None:
        problems.append(Problem(file=str(answers), line=line, field=field, message=message))

    for batch in read_answers(answers, items=prompts):
        for error in batch.errors:
            complain(error.line, "row", error.reason)
        rows = batch.build_table().iter_rows(named=True)
        for row, text in zip(rows, batch.build_output_texts(), strict=True):
            item, variant, attempt = row["item"], row["subject"], row["attempt"]
            if variant is None:
                complain(row["line"], "subject", "is missing; it names the variant of the answer")
            elif attempt <= first.get((item, variant), (attempt, None))[0]:
                shown = BlindAnswer(item=item, variant=variant, prompt=prompts[item], text=text)
                first[item, variant] = (attempt, shown)
    if not (first or problems):
        complain(1, "", "holds no answer")
    if problems:
        raise AnswersError(problems)
    return [shown for _, shown in first.values()]


def shuffle_blind(answers: Iterable[BlindAnswer], rater: str, seed: int) -> list[BlindAnswer]:
    """Return the answers in random order; the same seed and rater always give the same order."""
    ordered = sorted(answers, key=lambda answer: (answer.item, answer.variant))
    Random(f"rate {seed} {rater}").shuffle(ordered)  # noqa: S311 - an order, not a secret
    return ordered
