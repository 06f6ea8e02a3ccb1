"""Prove rubrics: `markscheme lint`, `markscheme audit`, and the exercise of `markscheme break`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from markscheme.mark import STEPS
from markscheme.mark.axes import AXES, AxisRegistry, ContainsAll
from markscheme.prove.audit import AuditReport, GoldenSuite, RecordedAnswers, audit_rubric
from markscheme.prove.exercise import Cascade, build_practice, compute_cascade, find_breakable_rules
from markscheme.prove.lint import LintRegistry, LintReport, lint_sources
from markscheme.read.documents import list_builtin_names
from markscheme.vocabulary import Axis, Exam, Rubric, UsageError
from markscheme.workflows.documents import (
    BUILT_IN_EXPECTATIONS,
    iter_default_expectations,
    load_cases,
    load_exam,
    load_rubric,
)

if TYPE_CHECKING:
    from markscheme.workflows.scoring_session import Answers


def lint(
    *sources: str | Path,
    rubric: str | Path | None = None,
    exams: Iterable[str | Path] = (),
    judged: Iterable[str] = (),
    fix: bool = False,
    axes: Iterable[type[Axis]] = (),
) -> LintReport:
    """Look for mistakes in rubrics, exams, judges and decision tables, in files or built-in ones.

    An exam is checked by the axes of the one rubric that is given with it, as a source or as
    `rubric`. `exams` are used to check the gates of a rubric and get no findings themselves.
    `judged` are the subjects that a judge will mark. `fix` repairs in the files what can be
    repaired without changing a score. `axes` are axis kinds of your own, as for `load_rubric`.

    >>> report = lint("capstone", rubric="tutor-capstone")
    >>> report.ok, report.findings[1].code
    (True, 'E007')
    """
    context = [*([] if rubric is None else [rubric]), *exams]
    return lint_sources(sources, context, _build_registry(judged, axes), fix=fix)


def _build_registry(judged: Iterable[str], axes: Iterable[type[Axis]]) -> LintRegistry:
    """Return what documents may name: everything that is built in, and the axes of plugins."""
    by_default = [axis() for axis in AXES.values() if hasattr(axis, "expects")]
    others = [ContainsAll(expects=key) for key in BUILT_IN_EXPECTATIONS]
    return LintRegistry(
        kinds=AxisRegistry(axes),
        steps=STEPS,
        expectations=tuple(iter_default_expectations()),
        default_axes=[*by_default, *others],
        exams=list_builtin_names("exams"),
        judged=tuple(judged),
    )


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


class Exercise:
    """A rubric, answers to an exam, and the rules of the rubric that can be removed.

    Without an exam and answers it uses the built-in practice material, which a seed shuffles.
    """

    def __init__(
        self,
        rubric: str | Path = "tutor-capstone",
        exams: Iterable[str | Path] = (),
        answers: Answers | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        self.rubric = load_rubric(rubric)
        exam_names = tuple(exams)
        self.exam = load_exam(*(exam_names or ("capstone", "capstone-extra")), rubric=self.rubric)
        if not exam_names and answers is None:
            from markscheme.ask.subjects import Tutor

            self.exam, answers = build_practice(self.exam, Tutor().answer, seed)
        self.seed = seed
        self.steps = find_breakable_rules(self.rubric)
        self._golden = GoldenSuite(self.rubric, load_cases(rubric=self.rubric))
        self.recorded = record_answers(self.rubric, self.exam, answers)

    def remove_step(self, step: str) -> Cascade:
        """Return what the removal of one rule does. The rubric of the exercise stays whole."""
        if step not in self.steps:
            raise UsageError(f"`{step}` cannot be removed; allowed: {', '.join(self.steps)}")
        return compute_cascade(self.recorded, self._golden, step)

    def choose_quiz(self) -> Cascade:
        """Return the removal of a rule for a quiz, chosen by the seed; the answers must show it."""
        cascades = [cascade for cascade in map(self.remove_step, self.steps) if cascade.effect.seen]
        if not cascades:
            raise UsageError("no rule of this rubric can be missed in these answers; give others")
        return Random(f"riddle {self.seed}").choice(cascades)  # noqa: S311 - an exercise
