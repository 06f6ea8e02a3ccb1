"""`markscheme audit`: load a rubric, an exam, golden cases and answers, and audit the rubric."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.prove.audit import AuditReport, GoldenSuite, RecordedAnswers, audit_rubric
from markscheme.vocabulary import Exam, Rubric
from markscheme.workflows.documents import load_cases, load_exam, load_rubric

if TYPE_CHECKING:
    from markscheme.workflows.scoring_session import Answers


def audit(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    answers: Answers | None = None,
    *,
    cases: Iterable[str | Path] = (),
) -> AuditReport:
    """Test a rubric by breaking it on purpose: does any case, answer or known form notice?

    Without answers the bundled tutor answers what it can; without cases the built-in ones of the
    rubric's name are used.

    >>> report = audit("tutor-capstone", "capstone")
    >>> report.verdict.value, len(report.of("survived"))
    ('sound', 0)
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    golden = GoldenSuite(rubric, load_cases(*cases, rubric=rubric))
    return audit_rubric(golden, record_answers(rubric, exam, answers))


def record_answers(rubric: Rubric, exam: Exam, answers: Answers | None = None) -> RecordedAnswers:
    """Read and score the answers for an audit. Without answers, the bundled tutor answers."""
    from markscheme.workflows.scoring_session import ScoringSession

    scoring = ScoringSession(rubric, exam)
    batches = list(scoring.read_batches(_ask_tutor(exam) if answers is None else answers))
    for _ in scoring.build_frames(map(scoring.mark_batch, batches)):
        pass
    measures = list(scoring.tally.build_measures().values())
    return RecordedAnswers(
        rubric,
        exam,
        [pair for batch in batches for pair in zip(batch.items, batch.outputs, strict=True)],
        measures[0] if len(measures) == 1 else None,
        scoring.tally.counts.errors,
    )


def _ask_tutor(exam: Exam) -> list[dict[str, str]]:
    """Return the answers of the bundled tutor to the items that it can answer."""
    from markscheme.ask.subjects import Tutor

    tutor = Tutor()
    known = (item for item in exam.items if tutor.can_answer(item.prompt))
    return [{"item": item.id, "output": tutor.answer(item.prompt)} for item in known]
