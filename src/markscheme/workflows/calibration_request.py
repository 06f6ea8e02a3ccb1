"""What a calibration is asked for: documents, answers, ratings and options, read and checked.

People's ratings and those of judges are kept apart here: a judge's among people's is refused.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from markscheme.read.documents import read_judge
from markscheme.read.marks import AnswerKey, read_mark_ratings
from markscheme.vocabulary import (
    Answer,
    Exam,
    InputError,
    Judge,
    MarkSource,
    Panel,
    Problem,
    Rating,
    RowError,
    Rubric,
    UsageError,
    format_value,
)
from markscheme.weigh.calibration import Canary
from markscheme.workflows.canaries import load_canaries
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge_files import load_answers
from markscheme.workflows.judge_plan import JudgePlan, build_judge_plan
from markscheme.workflows.output_files import write_file_atomically
from markscheme.workflows.run_plan import Settings

if TYPE_CHECKING:
    from markscheme.read.rating_rows import RatingSource
    from markscheme.workflows.scoring_session import Answers

NEEDED_KAPPA = Fraction(3, 5)
"""The kappa that the lower bound has to reach: agreement that is called substantial."""
VALID_DAYS = 90
MAX_VALID_DAYS = 36_500


class Sample(NamedTuple):
    """The answers that people were asked to rate: `size` of all, drawn by `seed`."""

    size: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class CalibrationRequest:
    """What is to be calibrated, all read and checked, before anything is asked."""

    rubric: Rubric
    exam: Exam
    answers: tuple[Answer, ...]
    judge: Judge | Panel | None
    people: tuple[Rating, ...]
    judged: tuple[Rating, ...] | None = None
    canaries: tuple[Canary, ...] = ()
    needed: Fraction = NEEDED_KAPPA
    days: int = VALID_DAYS
    sample: Sample | None = None
    all_answers: bool = False
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        _check_rated(self.people, self.answers)
        if self.sample is not None:
            self._check_sample(self.sample)
        if self.days < 1:
            raise UsageError("a calibration counts for at least one day")
        if self.days > MAX_VALID_DAYS:
            raise UsageError(f"a calibration counts for at most {MAX_VALID_DAYS:,} days")

    @property
    def rated(self) -> tuple[Answer, ...]:
        """The answers that people rated."""
        keys = {_get_rating_key(rating) for rating in self.people}
        return tuple(answer for answer in self.answers if get_answer_key(answer) in keys)

    @property
    def asked(self) -> tuple[Answer, ...]:
        """The answers that the judge is asked about."""
        return self.answers if self.all_answers else self.rated

    @cached_property
    def plan(self) -> JudgePlan | None:
        """The calls about the answers; None if the ratings are recorded."""
        if self.judge is None:
            return None
        return build_judge_plan(self.rubric, self.exam, self.asked, self.judge, self.settings)

    @property
    def calls(self) -> int:
        """How many calls there are about the answers, without canaries and probes."""
        return 0 if self.plan is None else len(self.plan.calls)

    def _check_sample(self, sample: Sample) -> None:
        drawn = {get_answer_key(answer) for answer in draw_sample(self.answers, sample)}
        rated = {get_answer_key(answer) for answer in self.rated}
        if drawn == rated:
            return
        message = f"the rated answers are not the {sample.size} that the seed {sample.seed} draws"
        raise UsageError(
            f"{message}: {len(drawn - rated)} of them are not rated, and {len(rated - drawn)}"
            " others are; rate the sample of --draw, or leave --sample out"
        )


def read_calibration_request(  # noqa: PLR0913 - one parameter for each option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path | Sequence[str | Path],
    answers: Answers,
    judge: Judge | Panel | str | Path | None,
    *,
    ratings: RatingSource,
    judged: RatingSource | None,
    canaries: str | Path,
    at_least: Decimal | Fraction | float | str,
    days: int,
    sample: tuple[int, int] | None,
    all_answers: bool,
    **settings: Any,
) -> tuple[CalibrationRequest, list[RowError]]:
    """Read and check what `calibrate` is given; return it, and the rows that are no answers."""
    if (judge is None) == (judged is None):
        raise UsageError(
            "name a judge to ask with --judge, or its recorded ratings with --judged; one of them"
        )
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    if not isinstance(exam, Exam):
        exam = load_exam(*((exam,) if isinstance(exam, str | Path) else exam), rubric=rubric)
    if isinstance(judge, str | Path):
        judge = read_judge(judge)
    options = Settings.from_mapping(settings)
    found, bad_rows = load_answers(exam, answers)
    request = CalibrationRequest(
        rubric=rubric,
        exam=exam,
        answers=tuple(found),
        judge=judge,
        people=_read_people(ratings, rubric, exam, judge),
        judged=None if judged is None else _read_judged(judged, rubric, exam),
        canaries=load_canaries(canaries, rubric, exam, options.seed),
        needed=_parse_needed(at_least),
        days=days,
        sample=None if sample is None else Sample(*sample),
        all_answers=all_answers,
        settings=options,
    )
    return request, bad_rows


def write_sample(
    path: Path,
    rubric: str | Path,
    exam: Sequence[str | Path],
    answers: str | Path,
    sample: tuple[int, int],
) -> int:
    """Write the answers of a random sample to a file, for people to rate; return how many."""
    loaded = load_exam(*exam, rubric=load_rubric(rubric))
    drawn = draw_sample(load_answers(loaded, answers)[0], Sample(*sample))
    rows = (
        {
            "item": answer.item,
            "output": answer.output,
            **({} if answer.subject is None else {"subject": answer.subject}),
            "attempt": answer.attempt,
        }
        for answer in drawn
    )
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    write_file_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return len(drawn)


def draw_sample(answers: Sequence[Answer], sample: Sample) -> list[Answer]:
    """Return a random sample of answers; equal answers and an equal seed give an equal sample."""
    if not 1 <= sample.size <= len(answers):
        raise UsageError(f"a sample of {sample.size} cannot be drawn from {len(answers)} answers")
    ordered = sorted(answers, key=get_answer_key)
    drawn = random.Random(f"sample {sample.seed}")  # noqa: S311 - no secret
    return drawn.sample(ordered, sample.size)


def get_answer_key(answer: Answer) -> AnswerKey:
    """Return the key by which ratings name an answer."""
    return AnswerKey(answer.item, answer.subject or "", answer.attempt)


def _get_rating_key(rating: Rating) -> AnswerKey:
    return AnswerKey(rating.item, rating.variant, rating.attempt)


def _parse_needed(value: Decimal | Fraction | float | str) -> Fraction:
    try:
        needed = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError, OverflowError):
        needed = Fraction(-1)
    if not 0 < needed < 1:
        raise UsageError(f"{format_value(str(value))} is no kappa to ask for; allowed: 0 to 1")
    return needed


def _read_people(
    source: RatingSource, rubric: Rubric, exam: Exam, judge: Judge | Panel | None
) -> tuple[Rating, ...]:
    """Return people's ratings; refuse those of judges among them."""
    ratings = read_mark_ratings(source, rubric, exam)
    names = set() if judge is None else {judge.name, *(member.name for member in judge.judges)}
    problems = []
    for rating in ratings:
        why = ""
        if rating.source is MarkSource.JUDGE:
            why = (
                f"{format_value(rating.rater)} is a judge; a judge is measured against people only"
            )
        elif rating.rater in names:
            why = f"{format_value(rating.rater)} is the judge that is calibrated, not a person"
        if why:
            column = "source" if rating.source is MarkSource.JUDGE else "rater"
            problems.append(
                Problem(file=rating.file or "ratings", line=rating.line, field=column, message=why)
            )
    if problems:
        raise InputError(problems)
    if not any(rating.score is not None for rating in ratings):
        raise UsageError("the ratings hold no score that a judge could be compared with")
    return ratings


def _read_judged(source: RatingSource, rubric: Rubric, exam: Exam) -> tuple[Rating, ...]:
    """Return recorded ratings of one judge; refuse people's among them."""
    ratings = read_mark_ratings(source, rubric, exam)
    problems = [
        Problem(
            file=rating.file or "ratings",
            line=rating.line,
            field="source",
            message="is no judge's; give people's ratings with --ratings",
        )
        for rating in ratings
        if rating.source is not MarkSource.JUDGE
    ]
    if problems:
        raise InputError(problems)
    raters = sorted({rating.rater for rating in ratings})
    if len(raters) > 1:
        raise UsageError(f"one judge is calibrated at a time; these are {', '.join(raters)}")
    return ratings


def _check_rated(people: Iterable[Rating], answers: Sequence[Answer]) -> None:
    """Refuse ratings of answers that are not there: the judge could not be asked about them."""
    known = {get_answer_key(answer) for answer in answers}
    first: dict[AnswerKey, Rating] = {}
    for rating in people:
        if _get_rating_key(rating) not in known:
            first.setdefault(_get_rating_key(rating), rating)
    problems = [
        Problem(
            file=rating.file or "ratings",
            line=rating.line,
            field="item",
            message=f"there is no answer{_name_variant(key)} to {format_value(key.item)}",
        )
        for key, rating in first.items()
    ]
    if problems:
        raise InputError(problems)


def _name_variant(key: AnswerKey) -> str:
    of = f" of {format_value(key.variant)}" if key.variant else ""
    return f"{of}, attempt {key.attempt}," if key.attempt > 1 else of
