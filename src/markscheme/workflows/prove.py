"""The rubric under test: lint, audit, and the exercise of breaking it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from markscheme.mark import STEPS
from markscheme.mark.axes import AXES
from markscheme.read.documents import list_builtin_names
from markscheme.vocabulary import Exam, Rubric, UsageError
from markscheme.workflows.documents import (
    BUILT_IN_EXPECTATIONS,
    iter_default_expectations,
    load_cases,
    load_exam,
    load_rubric,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from markscheme.prove.audit import AuditReport, RecordedAnswers
    from markscheme.prove.exercise import Cascade
    from markscheme.prove.lint import LintRegistry, LintReport
    from markscheme.workflows.scoring_session import Answers


def record_answers(rubric: Rubric, exam: Exam, answers: Answers | None = None) -> RecordedAnswers:
    """Read and mark answers for tests of the rubric; without any, the bundled tutor answers."""
    from markscheme.prove.audit import RecordedAnswers
    from markscheme.workflows.scoring_session import ScoringSession

    scoring = ScoringSession(rubric, exam)
    batches = list(scoring.read_batches(_ask_tutor(exam) if answers is None else answers))
    for _ in scoring.build_frames(map(scoring.mark_batch, batches)):
        pass
    measures = list(scoring.tally.build_measures().values())
    return RecordedAnswers(
        rubric,
        exam,
        [pair for b in batches for pair in zip(b.items, b.outputs, strict=True)],
        measures[0] if len(measures) == 1 else None,
        scoring.tally.counts.errors,
    )


def _ask_tutor(exam: Exam) -> list[dict[str, str]]:
    """Return the answers of the bundled tutor to the items that it can answer."""
    from markscheme.ask.subjects import Tutor

    tutor = Tutor()
    known = (item for item in exam.items if tutor.can_answer(item.prompt))
    return [{"item": item.id, "output": tutor.answer(item.prompt)} for item in known]


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
    from markscheme.prove.audit import GoldenSuite, audit_rubric

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    golden = GoldenSuite(rubric, load_cases(*cases, rubric=rubric))
    return audit_rubric(golden, record_answers(rubric, exam, answers))


class Exercise:
    """The exercise of `markscheme break`: a rubric, answers, and the rules that can be removed.

    Without an exam and answers of one's own it uses the practice material, which a seed shuffles.
    """

    def __init__(
        self,
        rubric: str | Path = "tutor-capstone",
        exams: Iterable[str | Path] = (),
        answers: Answers | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        from markscheme.prove.audit import GoldenSuite
        from markscheme.prove.exercise import find_breakable_rules

        self.rubric = load_rubric(rubric)
        named = tuple(exams)
        self.exam = load_exam(*(named or ("capstone", "capstone-extra")), rubric=self.rubric)
        if not named and answers is None:
            self.exam, answers = _build_practice(self.exam, seed)
        self.seed = seed
        self.steps = find_breakable_rules(self.rubric)
        self._golden = GoldenSuite(self.rubric, load_cases(rubric=self.rubric))
        self.recorded = record_answers(self.rubric, self.exam, answers)

    def remove_step(self, step: str) -> Cascade:
        """Return what the removal of one rule does; the rubric itself stays whole."""
        from markscheme.prove.exercise import compute_cascade

        if step not in self.steps:
            raise UsageError(f"`{step}` cannot be removed; allowed: {', '.join(self.steps)}")
        return compute_cascade(self.recorded, self._golden, step)

    def choose_riddle(self) -> Cascade:
        """Return a removal that can be seen in the answers, chosen by the seed."""
        shown = [found for found in map(self.remove_step, self.steps) if found.effect.seen]
        if not shown:
            raise UsageError("no rule of this rubric can be missed in these answers; give others")
        return Random(f"riddle {self.seed}").choice(shown)  # noqa: S311 - an exercise


def _build_practice(exam: Exam, seed: int | None) -> tuple[Exam, list[dict[str, str]]]:
    from markscheme.ask.subjects import Tutor
    from markscheme.prove.exercise import build_practice

    return build_practice(exam, Tutor().answer, seed)


def lint(
    *sources: str | Path,
    rubric: str | Path | None = None,
    exams: Iterable[str | Path] = (),
    fix: bool = False,
) -> LintReport:
    """Look for mistakes in rubrics, exams and decision tables, files or built-in ones.

    An exam is looked at by the axes of the one rubric that is given with it, here or as `rubric`;
    `exams` are looked at only as far as the gates of a rubric need them. `fix` repairs in the files
    what can be repaired without changing a score.

    >>> report = lint("capstone", rubric="tutor-capstone")
    >>> report.ok, report.findings[1].code
    (True, 'E007')
    """
    from markscheme.prove.lint import lint_sources

    beside = [*([] if rubric is None else [rubric]), *exams]
    return lint_sources(sources, beside, _build_formats(), fix=fix)


def _build_formats() -> LintRegistry:
    from markscheme.mark.axes import ContainsAll
    from markscheme.prove.lint import LintRegistry

    by_default = [axis for axis in AXES.values() if hasattr(axis, "expects")]
    other = [ContainsAll(expects=key) for key in BUILT_IN_EXPECTATIONS]
    return LintRegistry(
        kinds=AXES,
        steps=STEPS,
        expectations=tuple(iter_default_expectations()),
        default_axes=[*(axis() for axis in by_default), *other],
        exams=list_builtin_names("exams"),
    )
