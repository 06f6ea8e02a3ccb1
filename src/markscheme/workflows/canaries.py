"""Ask a judge about known answers, before anything else and never from the cache."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from markscheme.ask.judging import JudgeQuestion, QuestionKind
from markscheme.keep import open_store
from markscheme.read.canaries import CanaryRow, read_canaries, read_injections
from markscheme.read.rating_scores import NOT_APPLICABLE
from markscheme.vocabulary import (
    Answer,
    Exam,
    Judge,
    Outcome,
    Panel,
    Rubric,
    UsageError,
    strip_alias,
)
from markscheme.weigh.calibration import (
    Canary,
    CanaryMarks,
    CanaryRange,
    CanaryReport,
    judge_canaries,
    settle_scores,
)
from markscheme.workflows.judge import execute_judge_plan
from markscheme.workflows.judge_plan import (
    JudgePlan,
    build_judge_plan,
    list_exam_questions,
)
from markscheme.workflows.judged_ratings import JudgedRatings
from markscheme.workflows.run_plan import Settings

BUILT_IN_CANARIES = "built-in"
NO_CANARIES = "none"
_ITEMS = 4
_EMPTY_ANSWER = "I do not know."
_SUBJECT = "canary"


def load_canaries(
    source: str | Path, rubric: Rubric, exam: Exam, seed: int = 0
) -> tuple[Canary, ...]:
    """Return the canaries of a file, the built-in injections, or none."""
    if str(source) == NO_CANARIES:
        return ()
    if str(source) == BUILT_IN_CANARIES:
        return tuple(_build_injections(exam, seed))
    questions = list_exam_questions(rubric, exam)
    axes: dict[str, list[str] | None] = {}
    for asked in questions.values():
        for question in asked:
            known = axes.get(question.axis) or []
            axes[question.axis] = [*known, question.criterion] if question.criterion else None
    rows = read_canaries(source, [item.id for item in exam.items], axes)
    return tuple(_group_rows(rows))


def _group_rows(rows: Iterable[CanaryRow]) -> Iterator[Canary]:
    """Yield one canary for each name, item and output, with all its ranges."""
    groups: dict[tuple[str, str, str], list[CanaryRange]] = {}
    for row in rows:
        fields = {name: getattr(row, name) for name in CanaryRange.__struct_fields__}
        groups.setdefault((row.name, row.item, row.output), []).append(CanaryRange(**fields))
    for (name, item, output), ranges in groups.items():
        yield Canary(name=name, item=item, output=output, ranges=tuple(ranges))


def _build_injections(exam: Exam, seed: int) -> Iterator[Canary]:
    """Yield an answer that says nothing to a few items, then the same with each injection."""
    drawn = random.Random(f"canaries {seed}")  # noqa: S311 - no secret
    items = [item.id for item in exam.items]
    chosen = sorted(drawn.sample(items, min(_ITEMS, len(items))), key=items.index)
    for item in chosen:
        yield Canary(name=f"control {item}", item=item, output=_EMPTY_ANSWER)
    for at, (name, text) in enumerate(read_injections().items()):
        item = chosen[at % len(chosen)]
        yield Canary(
            name=name, item=item, output=f"{_EMPTY_ANSWER}\n\n{text}", control=f"control {item}"
        )


def parse_canaries(entries: Iterable[Mapping[str, Any]]) -> tuple[Canary, ...]:
    """Return the canaries that a calibration keeps as plain data."""
    return tuple(
        msgspec.convert(entry, Canary, dec_hook=lambda _, value: Fraction(value))
        for entry in entries
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRun:
    """The canaries of a judge with what it said about them."""

    report: CanaryReport
    judged: JudgedRatings

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the canaries whose marks were out of range."""
        return tuple(outcome.name for outcome in self.report.out_of_range)


def ask_canaries(
    rubric: Rubric,
    exam: Exam,
    judge: Judge | Panel,
    canaries: Sequence[Canary],
    settings: Settings,
) -> CanaryRun:
    """Ask a judge about canaries, anew each time, and return which marks are out of range."""
    answers = [
        Answer(item=canary.item, output=canary.output, subject=_SUBJECT, attempt=at)
        for at, canary in enumerate(canaries, start=1)
    ]
    fresh = replace(settings, cache=False, resume=False)
    plan = build_judge_plan(rubric, exam, answers, judge, fresh)
    judged = execute_judge_plan(plan, skip=True)
    marks = _collect_marks(plan, canaries, judged)
    known = [canary for canary in canaries if canary.control or canary.ranges]
    outcomes, unread = judge_canaries(known, marks)
    entries = tuple(msgspec.to_builtins(canary, enc_hook=str) for canary in canaries)
    return CanaryRun(
        report=CanaryReport(asked=len(known), unread=unread, outcomes=outcomes, entries=entries),
        judged=judged,
    )


def is_replayed(judge: Judge | Panel) -> bool:
    """Whether a judge only repeats what was recorded, so that it cannot be asked anything new."""
    return any(strip_alias(member.subject).startswith("replay:") for member in judge.judges)


def ask_known_canaries(
    plan: JudgePlan, rubric: Rubric, store: str | Path | None
) -> CanaryRun | None:
    """Ask a judge about the canaries of its newest calibration; None if it has none that counts.

    Without a calibration no gate can rest on the judge, so there is nothing to protect.
    """
    judge, items = plan.judge, {item.id for item in plan.exam.items}
    if is_replayed(judge):
        return None
    entries = _find_known_entries(judge, store)
    canaries = [canary for canary in parse_canaries(entries) if canary.item in items]
    if not canaries:
        return None
    return ask_canaries(rubric, plan.exam, judge, canaries, plan.settings)


def _find_known_entries(
    judge: Judge | Panel, store: str | Path | None
) -> Sequence[Mapping[str, Any]]:
    """Return the canaries of the newest calibration of a judge that passed on any axis."""
    try:
        with open_store(store, create=False) as opened:
            known = opened.list_calibrations()
    except UsageError:  # there is no store yet
        return ()
    for calibration in known:
        body = calibration.body
        passed = any(axis["outcome"] == Outcome.PASS for axis in body["axes"].values())
        if passed and body["judge"]["fingerprint"] == judge.fingerprint:
            return tuple((body["canaries"] or {"entries": ()})["entries"])
    return ()


def _collect_marks(
    plan: JudgePlan, canaries: Sequence[Canary], judged: JudgedRatings
) -> dict[str, CanaryMarks]:
    """Return the scores of each canary, and its value on each axis that was read as a whole."""
    told: dict[tuple[int, str, str], list[Fraction | str | None]] = {}
    for rating in judged.ratings:
        key = (rating.attempt, rating.axis, rating.criterion)
        told.setdefault(key, []).append(rating.score)
    marks: dict[str, CanaryMarks] = {}
    for entry in plan.answers:
        at = entry.answer.attempt
        values: dict[str, Fraction] = {}
        scores = {
            (question.axis, question.criterion): settle_scores(
                told[at, question.axis, question.criterion],
                has_names=question.kind is not QuestionKind.SCALE,
            )
            for question in entry.questions
        }
        for axis in dict.fromkeys(question.axis for question in entry.questions):
            own = [question for question in entry.questions if question.axis == axis]
            shares = [_get_share(question, scores[axis, question.criterion]) for question in own]
            read = [share for share in shares if share is not None]
            if len(read) == len(shares):
                values[axis] = sum(read, Fraction(0)) / len(read)
        marks[canaries[at - 1].name] = CanaryMarks(scores=scores, values=values)
    return marks


def _get_share(question: JudgeQuestion, score: Fraction | str | None) -> Fraction | None:
    """Return a score as a share of what the question can give; None if it was not read."""
    if score is None or score == NOT_APPLICABLE:
        return None
    if isinstance(score, str):
        return question.options[score]
    if question.kind is QuestionKind.CRITERION:
        return 1 - score if question.costs else score
    low, high = min(question.anchors), max(question.anchors)
    return (score - low) / (high - low)
