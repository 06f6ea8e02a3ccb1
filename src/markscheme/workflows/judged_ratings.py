"""Ratings of judges: what their replies say, after orders, repeats and panels are settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from markscheme.ask.judging import (
    JudgeQuestion,
    JudgeVerdict,
    RefusedReply,
    settle_orders,
    settle_panel,
    settle_repeats,
)
from markscheme.ask.runner import AskedQuestion
from markscheme.vocabulary import (
    Answer,
    FrozenDict,
    Judge,
    MarkSource,
    Panel,
    Rating,
    RowError,
    SettleRule,
    to_float,
)
from markscheme.workflows.judging_record import build_judging_record

Score: TypeAlias = Fraction | str | None
Reading: TypeAlias = tuple[JudgeVerdict, ...] | RefusedReply
"""What the reply to one call says, or why it was refused."""
_NO_VERDICT = "the judge cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRatings:
    """What a judge or a panel said about answers, as ratings with `source: judge`.

    - `ratings`: what counts. Of a judge, each repeat and each order is a rating with its `repeat`;
      of a panel, the settled mark under the panel's name. What was not read has no score, and its
      note is the reason.
    - `each`: the same before the judges of a panel were settled.
    - `served`: by judge, the models that the server says answered; empty where it does not tell.
    - `calls`: how many calls have a reply, `refused` how many of these could not be read, by
      reason.
    - `stopped`: why not everything was asked; None where it was.
    - `errors`: the rows that are no answers, which nobody judged.
    - `asked`: every call with its reply, as it can be recorded.
    - `fingerprints`: by axis, the hashes of what it asks and of what is asked in the same calls.
    - `canaries`: the known answers, asked before, whose marks were out of range.
    """

    judge: Judge | Panel
    ratings: tuple[Rating, ...]
    each: tuple[Rating, ...]
    answers: int = 0
    served: Mapping[str, tuple[str, ...]] = FrozenDict()
    calls: int = 0
    asked_again: int = 0
    refused: Mapping[str, int] = field(default_factory=FrozenDict)
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    stopped: str | None = None
    remarks: tuple[str, ...] = ()
    errors: tuple[RowError, ...] = ()
    asked: tuple[AskedQuestion, ...] = field(default=(), repr=False)
    fingerprints: Mapping[str, Mapping[str, str]] = FrozenDict()
    canaries: tuple[str, ...] = ()

    @property
    def unread(self) -> int:
        """How many ratings have no score."""
        return sum(rating.score is None for rating in self.ratings)

    @property
    def is_complete(self) -> bool:
        """Whether everything was asked and read."""
        return not self.unread and not self.errors and self.stopped is None

    def describe_judging(self) -> dict[str, dict[str, Any]]:
        """Return, by axis, who marked it and how: the provenance that is stored with a run."""
        record = build_judging_record(self.judge, self.served)
        axes = dict.fromkeys(rating.axis for rating in self.ratings)
        failed = {"canaries": list(self.canaries)} if self.canaries else {}
        return {axis: {**record, **self.fingerprints.get(axis, {}), **failed} for axis in axes}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the judge, what was asked and read, and every rating that counts."""
        return {
            "judge": describe_judge(self.judge),
            "judging": self.describe_judging(),
            "summary": {
                "answers": self.answers,
                "calls": self.calls,
                "asked_again": self.asked_again,
                "ratings": len(self.ratings),
                "unread": self.unread,
                "refused": dict(self.refused),
                "tokens_in": self.tokens_in,
                "tokens_out": self.tokens_out,
                "cost": None if self.cost is None else float(self.cost),
                "stopped": self.stopped,
                "complete": self.is_complete,
                "bad_rows": len(self.errors),
            },
            "remarks": list(self.remarks),
            "ratings": [build_rating_row(rating) for rating in self.ratings],
        }


def describe_judge(judge: Judge | Panel) -> dict[str, Any]:
    """Return who is asked and how, as plain data."""
    if isinstance(judge, Panel):
        return {
            "panel": judge.name,
            "fingerprint": judge.fingerprint,
            "quorum": judge.quorum,
            "settle": judge.settle.value,
            "judges": [describe_judge(member) for member in judge.judges],
        }
    return {
        "judge": judge.name,
        "fingerprint": judge.fingerprint,
        "subject": judge.subject,
        "sees": [sight.value for sight in judge.sees],
        "calls": judge.calls_label,
        "orders": judge.orders,
        "repeats": judge.repeats,
    }


def build_rating_row(rating: Rating) -> dict[str, Any]:
    """Return a rating as plain data, by the columns of files of ratings."""
    score = rating.score
    return {
        "item": rating.item,
        "variant": rating.variant,
        "rater": rating.rater,
        "axis": rating.axis,
        "score": to_float(score) if isinstance(score, Fraction) else score,
        "note": rating.note,
        "criterion": rating.criterion,
        "source": rating.source.value,
        "repeat": rating.repeat,
        "attempt": rating.attempt,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedQuestion:
    """A question with one judge's scores of it, as they count, and the reason of each."""

    question: JudgeQuestion
    scores: tuple[Score, ...]
    notes: tuple[str, ...]


def build_judge_ratings(
    answer: Answer,
    questions: Sequence[JudgeQuestion],
    judge: Judge,
    readings: Mapping[tuple[int, int], Iterable[Reading]],
) -> list[Rating]:
    """Return one judge's ratings of an answer, from what its replies say by repeat and order.

    Repeats and orders are the same question asked again. Where any of them was not read, none
    counts: the others would be a mean over survivors.
    """
    verdicts = {at: _index_verdicts(parts, questions) for at, parts in readings.items()}
    judged = (_settle_question(question, judge, verdicts) for question in questions)
    return [
        _build_rating(answer, entry.question, judge.name, score, note, repeat=repeat)
        for entry in judged
        for repeat, (score, note) in enumerate(zip(entry.scores, entry.notes, strict=True))
    ]


def _index_verdicts(
    parts: Iterable[Reading], questions: Sequence[JudgeQuestion]
) -> dict[str, tuple[Score, str]]:
    """Return the score and its reason by question, over all calls of one repeat and order."""
    found: dict[str, tuple[Score, str]] = {}
    reasons: list[str] = []
    for part in parts:
        if isinstance(part, RefusedReply):
            reasons.append(part.reason)
            continue
        for verdict in part:
            why = verdict.why if verdict.score is not None else _join(_NO_VERDICT, verdict.why)
            found[verdict.question.id] = (verdict.score, why)
    return {
        question.id: found.get(question.id, (None, "; ".join(reasons))) for question in questions
    }


def index_scores(
    parts: Iterable[Reading], questions: Sequence[JudgeQuestion]
) -> Iterator[tuple[JudgeQuestion, Score]]:
    """Yield each question with its score in one repeat and order; None if it was not read."""
    verdicts = _index_verdicts(parts, questions)
    yield from ((question, verdicts[question.id][0]) for question in questions)


def _settle_question(
    question: JudgeQuestion,
    judge: Judge,
    verdicts: Mapping[tuple[int, int], Mapping[str, tuple[Score, str]]],
) -> _JudgedQuestion:
    scores: list[Score] = []
    notes: list[str] = []
    for repeat in range(judge.repeats):
        told = [verdicts[repeat, order][question.id] for order in range(judge.orders)]
        settled, remark = settle_orders(question, [score for score, _ in told], judge.settle)
        scores += settled
        notes += [_join(remark, why) for _, why in told]
    if None not in scores or not any(score is not None for score in scores):
        return _JudgedQuestion(question=question, scores=tuple(scores), notes=tuple(notes))
    unread = next(note for score, note in zip(scores, notes, strict=True) if score is None)
    return _JudgedQuestion(
        question=question,
        scores=(None,) * len(scores),
        notes=tuple(
            note if score is None else _join("another repeat was not read", unread)
            for score, note in zip(scores, notes, strict=True)
        ),
    )


def _join(first: str, second: str) -> str:
    return f"{first}: {second}" if first and second else first or second


def _build_rating(
    answer: Answer,
    question: JudgeQuestion,
    rater: str,
    score: Score,
    note: str,
    *,
    repeat: int = 0,
) -> Rating:
    return Rating(
        item=answer.item,
        variant=answer.subject or "",
        rater=rater,
        axis=question.axis,
        score=score,
        note=note,
        criterion=question.criterion,
        source=MarkSource.JUDGE,
        repeat=repeat,
        attempt=answer.attempt,
    )


def settle_panel_ratings(
    answer: Answer,
    questions: Sequence[JudgeQuestion],
    panel: Panel,
    each: Sequence[Sequence[Rating]],
) -> Iterator[Rating]:
    """Yield the marks of a panel on an answer, from the ratings of each of its judges."""
    # A judge that was asked several times has one vote: the middle of what it said.
    own_rule = SettleRule.LOWER if panel.settle is SettleRule.LOWER else SettleRule.MEDIAN
    for question in questions:
        votes = [
            settle_repeats(question, _select_scores(ratings, question), own_rule)
            for ratings in each
        ]
        score, note = settle_panel(question, votes, panel.quorum, panel.settle)
        yield _build_rating(answer, question, panel.name, score, note)


def _select_scores(ratings: Iterable[Rating], question: JudgeQuestion) -> list[Score]:
    return [
        rating.score
        for rating in ratings
        if (rating.axis, rating.criterion) == (question.axis, question.criterion)
    ]


def count_reasons(readings: Iterable[Reading]) -> dict[str, int]:
    """Count the refused replies by reason, the most frequent first."""
    refused = (reading.reason for reading in readings if isinstance(reading, RefusedReply))
    return dict(sorted(Counter(refused).items(), key=lambda pair: (-pair[1], pair[0])))
