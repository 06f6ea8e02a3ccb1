"""Judge recorded answers: ask a judge or a panel, read its replies, and return ratings.

The steps: `judge_plan` builds the calls, the live session asks and journals them, the strict reader
reads or refuses each reply, refused ones are asked again under a new key, and `judged_ratings`
settles orders, repeats and panels.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.ask.judging import JudgeQuestion, RefusedReply, find_maker, read_judge_reply
from markscheme.ask.runner import AskedQuestion, describe_budget_spent, describe_time_limit_reached
from markscheme.keep import open_store
from markscheme.read.documents import read_judge
from markscheme.vocabulary import (
    EXACT_CONTEXT,
    Answer,
    Exam,
    FrozenDict,
    Judge,
    Panel,
    Rating,
    Rubric,
)
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge_files import load_answers
from markscheme.workflows.judge_plan import (
    AnswerCalls,
    JudgeCall,
    JudgePlan,
    JudgeRound,
    build_judge_plan,
    get_output_text,
)
from markscheme.workflows.judged_ratings import (
    JudgedRatings,
    Reading,
    build_judge_ratings,
    count_reasons,
    index_scores,
    settle_panel_ratings,
)
from markscheme.workflows.live_session import NULL_OBSERVER, LiveSession, RunObserver
from markscheme.workflows.run_plan import Settings

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.workflows.scoring_session import Answers

MAX_ATTEMPTS = 2
"""How often a call is asked whose reply is refused; the second time is another key."""
_NOT_ASKED = RefusedReply(reason="not asked")


def judge(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path | Sequence[str | Path],
    answers: Answers,
    judge: Judge | Panel | str | Path,
    *,
    store: str | Path | None = None,
    observer: RunObserver = NULL_OBSERVER,
    **settings: Any,
) -> JudgedRatings:
    """Ask a judge or a panel about every answer, and return its ratings.

    `settings` are options of `markscheme judge` by name: `concurrency`, `timeout`, `retries`,
    `max_cost`, `seed`, `cache`, `resume` and others. With a store every reply is journaled before
    it counts; without one nothing is kept. Equal answers are judged once.

    >>> from markscheme.read.documents import BUILTIN_DIR
    >>> files = ("rubric.yaml", "exam.yaml", "answers.jsonl", "judge.yaml")
    >>> judged = judge(*(BUILTIN_DIR / "judged_project" / name for name in files))
    >>> judged.is_complete, len(judged.ratings)
    (True, 48)

    Raises:
        InputError: a document is not valid.
        UsageError: the rubric and the exam ask nothing of a judge, or an option means nothing.
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    if not isinstance(exam, Exam):
        exam = load_exam(*((exam,) if isinstance(exam, str | Path) else exam), rubric=rubric)
    asked = judge if isinstance(judge, Judge | Panel) else read_judge(judge)
    found, errors = load_answers(exam, answers)
    plan = build_judge_plan(rubric, exam, found, asked, Settings.from_mapping(settings))
    judged = execute_judge_plan(plan, store=store, skip=store is None, observer=observer)
    return replace(judged, errors=tuple(errors))


def execute_judge_plan(
    plan: JudgePlan,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    observer: RunObserver = NULL_OBSERVER,
) -> JudgedRatings:
    """Ask what a plan says, and return the ratings; with `skip` no store is opened."""
    with ExitStack() as stack:
        opened = None if skip else stack.enter_context(open_store(store, create=True))
        session = _JudgeSession(plan, opened, observer)
        session.run()
    return session.build_ratings()


def limit_cost(plan: JudgePlan, spent: Iterable[JudgedRatings]) -> JudgePlan:
    """Return a plan that may cost what earlier plans left of its budget."""
    limit = plan.limits.max_cost
    if limit is None:
        return plan
    left = limit - sum((judged.cost or Decimal(0) for judged in spent), Decimal(0))
    return replace(plan, limits=replace(plan.limits, max_cost=max(left, Decimal(0))))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedProbe:
    """What a judge said about one question in one repeat and one order; None if it was not read."""

    answer: Answer
    judge: str
    question: JudgeQuestion
    repeat: int
    order: int
    score: Fraction | str | None


def probe_judge(plan: JudgePlan) -> tuple[list[JudgedProbe], JudgedRatings]:
    """Ask what a plan says, keep no journal, and return each verdict before orders are settled."""
    session = _JudgeSession(plan, None, NULL_OBSERVER)
    session.run()
    return list(session.iterate_probes()), session.build_ratings()


@dataclass(slots=True, kw_only=True)
class _Spending:
    """What the replies so far cost, as far as they tell."""

    calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None

    def add_reply(self, asked: AskedQuestion) -> None:
        reply = asked.reply
        self.calls += reply.text is not None
        if reply.tokens_in is not None:
            self.tokens_in = (self.tokens_in or 0) + reply.tokens_in
        if reply.tokens_out is not None:
            self.tokens_out = (self.tokens_out or 0) + reply.tokens_out
        if reply.cost is not None:
            self.cost = EXACT_CONTEXT.add(self.cost or Decimal(0), reply.cost)


@dataclass(kw_only=True)
class _Replies:
    """What the replies say, by the key of the first attempt at each call."""

    readings: dict[str, Reading] = field(default_factory=dict)
    served: dict[str, dict[str, None]] = field(default_factory=dict)


class _JudgeSession:
    """Asks the calls of a plan in rounds: all of them, then again those with a refused reply."""

    def __init__(self, plan: JudgePlan, store: Store | None, observer: RunObserver) -> None:
        self._plan, self._store, self._observer = plan, store, observer
        self._started_at = time.monotonic()
        self._replies, self._spending = _Replies(), _Spending()
        self._asked: list[AskedQuestion] = []
        self._asked_again = 0
        self._stopped: str | None = None

    def run(self) -> None:
        """Ask every call, and again where the reply was refused, until the limits are reached."""
        calls: Sequence[JudgeCall] = self._plan.calls
        for attempt in range(1, MAX_ATTEMPTS + 1):
            limits = replace(
                self._plan.limits,
                max_cost=self._find_remaining_budget(),
                max_time=self._find_remaining_time(),
            )
            if not calls or self._stopped is not None:
                return
            self._ask_round(
                JudgeRound(plan=self._plan, calls=calls, attempt=attempt, limits=limits)
            )
            calls = [call for call in calls if self._is_refused(call)]

    def _ask_round(self, round_: JudgeRound) -> None:
        is_first = round_.attempt == 1
        observer = self._observer if is_first else replace(self._observer, on_reply=lambda _: None)
        result = LiveSession(round_, self._store, observer).run()
        self._asked += result.asked.values()
        calls = {ask.key: call for ask, call in zip(result.asks, round_.calls, strict=True)}
        for key, asked in result.asked.items():
            self._take_reply(calls[key], asked)
        self._asked_again += 0 if is_first else len(result.asked)
        self._stopped = next(filter(None, result.stopped.values()), None)

    def _take_reply(self, call: JudgeCall, asked: AskedQuestion) -> None:
        """Keep what a reply says; a later refusal says no more than the first one."""
        key = self._plan.get_key(call)
        self._spending.add_reply(asked)
        if asked.reply.served is not None:
            self._replies.served.setdefault(call.judge.name, {})[asked.reply.served] = None
        reading = read_judge_reply(asked.reply, call.questions)
        if key not in self._replies.readings or not isinstance(reading, RefusedReply):
            self._replies.readings[key] = reading

    def _is_refused(self, call: JudgeCall) -> bool:
        """Whether a call has a reply that could not be read; a fault was asked again already."""
        reading = self._replies.readings.get(self._plan.get_key(call))
        return isinstance(reading, RefusedReply) and not reading.reason.startswith("no reply")

    def _find_remaining_budget(self) -> Decimal | None:
        limit = self._plan.limits.max_cost
        if limit is None:
            return None
        left = limit - (self._spending.cost or 0)
        if left <= 0 and self._spending.calls:
            self._stopped = describe_budget_spent(limit)
        return left

    def _find_remaining_time(self) -> float | None:
        limit = self._plan.limits.max_time
        if limit is None:
            return None
        left = limit - (time.monotonic() - self._started_at)
        if left <= 0:
            self._stopped = describe_time_limit_reached(limit)
        return left

    def build_ratings(self) -> JudgedRatings:
        """Return the ratings of all answers, in the order of the exam."""
        plan, spending = self._plan, self._spending
        order = {item.id: at for at, item in enumerate(plan.exam.items)}
        by_exam = sorted(
            plan.answers,
            key=lambda entry: (
                order[entry.answer.item],
                entry.answer.subject or "",
                entry.answer.attempt,
            ),
        )
        ratings: list[Rating] = []
        each: list[Rating] = []
        for entry in by_exam:
            own = [self._rate_answer(entry, judge) for judge in plan.judge.judges]
            each += [rating for found in own for rating in found]
            if isinstance(plan.judge, Panel):
                ratings += settle_panel_ratings(entry.answer, entry.questions, plan.judge, own)
        return JudgedRatings(
            judge=plan.judge,
            ratings=tuple(ratings if isinstance(plan.judge, Panel) else each),
            each=tuple(each),
            answers=len(plan.answers),
            served=FrozenDict(
                {name: tuple(sorted(models)) for name, models in self._replies.served.items()}
            ),
            calls=spending.calls,
            asked_again=self._asked_again,
            refused=count_reasons(self._replies.readings.values()),
            tokens_in=spending.tokens_in,
            tokens_out=spending.tokens_out,
            cost=spending.cost,
            stopped=self._stopped,
            remarks=tuple(describe_relations(plan)),
            asked=tuple(self._asked),
            fingerprints=plan.fingerprints,
        )

    def iterate_probes(self) -> Iterator[JudgedProbe]:
        """Yield every verdict on every answer, by judge, repeat and order."""
        for entry in self._plan.answers:
            for (name, repeat, order), calls in entry.calls.items():
                readings = [
                    self._replies.readings.get(self._plan.get_key(call), _NOT_ASKED)
                    for call in calls
                ]
                for question, score in index_scores(readings, entry.questions):
                    yield JudgedProbe(
                        answer=entry.answer,
                        judge=name,
                        question=question,
                        repeat=repeat,
                        order=order,
                        score=score,
                    )

    def _rate_answer(self, entry: AnswerCalls, judge: Judge) -> list[Rating]:
        readings = {
            (repeat, order): [
                self._replies.readings.get(self._plan.get_key(call), _NOT_ASKED) for call in calls
            ]
            for (name, repeat, order), calls in entry.calls.items()
            if name == judge.name
        }
        return build_judge_ratings(entry.answer, entry.questions, judge, readings)


def describe_relations(plan: JudgePlan) -> Iterable[str]:
    """Yield what ties a judge to those whom it judges: the same maker, or a name in an answer."""
    subjects = sorted({entry.answer.subject for entry in plan.answers if entry.answer.subject})
    for judge in plan.judge.judges:
        maker = find_maker(judge.subject)
        related = [name for name in subjects if maker and find_maker(name) == maker]
        if related:
            yield f"{judge.name} and {', '.join(related)} are models of one maker, {maker}"
    named = _count_named(plan, subjects)
    if named:
        counted = "1 answer names its" if named == 1 else f"{named:,} answers name their"
        yield f"{counted} subject, which the judge sees; answers are judged as they are"


def _count_named(plan: JudgePlan, subjects: Sequence[str]) -> int:
    """Count the answers in which the name of their subject or of its model stands as a word."""
    patterns = {
        subject: re.compile(
            "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in _list_names(subject)),
            re.IGNORECASE,
        )
        for subject in subjects
    }
    return sum(
        patterns[entry.answer.subject].search(get_output_text(entry.answer)) is not None
        for entry in plan.answers
        if entry.answer.subject
    )


def _list_names(subject: str) -> list[str]:
    model = subject.partition(":")[2].partition("@http")[0]
    return [subject, model] if model else [subject]
