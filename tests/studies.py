"""Small studies, and raters who act at random: they rate, skip, undo, leave, and come back."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Thread
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from markscheme.keep import open_store
from markscheme.read.documents import compute_exam_fingerprint
from markscheme.vocabulary import Exam, Item
from markscheme.weigh.rating_study import LEASE_TIME, build_seats, count_raters
from markscheme.workflows.documents import parse_rubric_text
from markscheme.workflows.rate import AnswersToRate, BlindAnswer
from markscheme.workflows.study import RatingStudy, StudyPlan, create_study, load_study
from markscheme.workflows.study_marks import (
    MarkRequest,
    RaterState,
    SeatLostError,
    list_open_questions,
    read_sheet,
    record_marks,
    skip_query,
    take_query,
    undo_mark,
)
from markscheme.workflows.study_results import measure_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from markscheme.keep import Store
    from markscheme.weigh.rating_study import MarkKey

TONE = """\
rubric: words
version: 1
axes:
  - {name: tone, kind: scale, question: 'How kind is it?', anchors: {1: rude, 2: plain, 3: kind}}
"""
RATERS = tuple(f"rater-{letter}" for letter in "abcdefgh")


class Clock:
    """A clock that stands still until somebody moves it; each look is a microsecond later."""

    def __init__(self) -> None:
        self._now = datetime(2026, 3, 1, 9, tzinfo=UTC)
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self._now += timedelta(microseconds=1)
            return self._now

    def move(self, by: timedelta) -> None:
        with self._lock:
            self._now += by


def build_answers(
    queries: int, variants: Sequence[str] = ("big", "small"), rubric: str = TONE
) -> AnswersToRate:
    """Return answers of each variant to each query."""
    items = tuple(
        Item(id=f"q{number}", prompt=f"question {number}") for number in range(1, queries + 1)
    )
    fingerprint = compute_exam_fingerprint(["questions"], items)
    exam = Exam(names=("questions",), items=items, fingerprint=fingerprint)
    answers = tuple(
        BlindAnswer(item=item.id, variant=variant, prompt=item.prompt, text=f"text {at}{place}")
        for at, item in enumerate(exam.items)
        for place, variant in enumerate(variants)
    )
    return AnswersToRate(rubric=parse_rubric_text(rubric, "words.yaml"), exam=exam, answers=answers)


@dataclass(slots=True, kw_only=True)
class Crowd:
    """Raters of one study who do what `random` says, until nothing is left to do."""

    study: RatingStudy
    random: random.Random
    clock: Clock
    acknowledged: dict[str, str] = field(default_factory=dict)

    def act(self, store: Store, rater: str) -> RaterState:
        """Do one thing as a rater; return how it is with this rater then."""
        state, seat = take_query(store, self.study, rater)
        if seat is None:
            return state
        chance = self.random.random()
        if chance < 0.10:
            skip_query(store, self.study, rater, seat.place)
        elif chance < 0.15:
            # The tab is closed, and the lease runs out.
            self.clock.move(LEASE_TIME)
        elif chance < 0.25:
            undo_mark_if_held(store, self.study, rater, self.make_id())
        else:
            self.rate(store, rater)
        return state

    def rate(self, store: Store, rater: str) -> None:
        """Mark one open question; send it again as often as not."""
        sheet = read_sheet(store, self.study, rater)
        for seat in sheet.seats:
            open_questions = list_open_questions(self.study, seat, sheet.marks)
            if open_questions:
                key = self.random.choice(open_questions)
                request = MarkRequest(
                    id=self.make_id(),
                    place=seat.place + seat.order.index(key.variant),
                    axis=key.axis,
                    score=str(self.random.randint(1, 3)),
                )
                for _ in range(self.random.randint(1, 2)):
                    try:
                        record_marks(store, self.study, rater, [request])
                    except SeatLostError:
                        continue
                    self.acknowledged[request.id] = request.score
                return

    def make_id(self) -> str:
        return str(UUID(int=self.random.getrandbits(128)))


def undo_mark_if_held(store: Store, study: RatingStudy, rater: str, id_: str) -> None:
    try:
        undo_mark(store, study, rater, id_)
    except SeatLostError:
        return


def run_schedule(store: Store, clock: Clock, seed: int) -> Crowd:
    """Let eight raters act in a random order until every query has its raters."""
    chance = random.Random(seed)  # noqa: S311 - a schedule
    plan = StudyPlan(raters=RATERS, per_answer=chance.randint(1, 4), seed=seed)
    study = create_study(store, build_answers(chance.randint(1, 5)), plan)
    crowd = Crowd(study=study, random=chance, clock=clock)
    here = list(RATERS)
    while here:
        rater = chance.choice(here)
        state = crowd.act(store, rater)
        if state is RaterState.FINISHED:
            here.remove(rater)
        elif state is RaterState.WAITING:
            clock.move(LEASE_TIME / 4)
    return crowd


def run_threads(place: str, clock: Clock, seed: int) -> Crowd:
    """Let eight raters act at once, each on a connection of its own."""
    with open_store(place, create=True, now=clock) as store:
        plan = StudyPlan(raters=RATERS, per_answer=3, seed=seed)
        study = create_study(store, build_answers(4), plan)
    crowds = [
        Crowd(
            study=study,
            random=random.Random(f"{seed} {rater}"),  # noqa: S311 - a schedule
            clock=clock,
        )
        for rater in RATERS
    ]
    faults: list[BaseException] = []

    def sit(crowd: Crowd, rater: str) -> None:
        try:
            with open_store(place, create=False, now=clock) as store:
                while (state := crowd.act(store, rater)) is not RaterState.FINISHED:
                    if state is RaterState.WAITING:
                        clock.move(LEASE_TIME / 4)
        except BaseException as fault:  # noqa: BLE001 - the test raises it
            faults.append(fault)

    threads = [
        Thread(target=sit, args=(crowd, rater)) for crowd, rater in zip(crowds, RATERS, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    everything = {id_: score for crowd in crowds for id_, score in crowd.acknowledged.items()}
    crowds[0].acknowledged = everything
    return crowds[0]


def check_study(store: Store, crowd: Crowd) -> None:
    """Check that every query has exactly its raters, and that nothing is lost or there twice."""
    study = crowd.study
    progress = measure_progress(store, study)
    assert progress.is_complete, progress
    assert set(progress.by_query.values()) == {study.per_answer}
    marks = store.studies.read_marks(study.id)
    kept = {mark.id: mark.score for mark in marks if mark.undoes is None}
    assert len(kept) == sum(mark.undoes is None for mark in marks)
    assert kept == crowd.acknowledged
    rated = Counter((mark.item, mark.rater) for mark in marks)
    assert all(rater in RATERS for _, rater in rated)


def check_leases(store: Store, crowd: Crowd) -> None:
    """Check that at no moment more raters had a query than it needs."""
    study = crowd.study
    events = store.studies.read_lease_events(study.id)
    marks = store.studies.read_marks(study.id)
    for number, event in enumerate(events, start=1):
        last: dict[tuple[str, str], datetime] = defaultdict(
            lambda: datetime.min.replace(tzinfo=UTC)
        )
        for mark in marks:
            if mark.at <= event.at:
                last[mark.item, mark.rater] = mark.at
        seats = build_seats(events[:number], dict(last))
        assert max(count_raters(seats, event.at).values(), default=0) <= study.per_answer


def rate_all(place: str | Path, name: str, choose: Callable[[str, MarkKey], str]) -> None:
    """Let the raters rate in turn what they are given; `choose` gives the score of a rater."""
    with open_store(place, create=False) as store:
        study = load_study(store, name)
        waiting = list(study.stored.raters)
        while waiting:
            rater = waiting.pop(0)
            if rate_query(store, study, rater, choose):
                waiting.append(rater)


def rate_query(
    store: Store, study: RatingStudy, rater: str, choose: Callable[[str, MarkKey], str]
) -> bool:
    """Answer all questions about the next query; return False if there is none."""
    _, seat = take_query(store, study, rater)
    if seat is None:
        return False
    open_questions = list_open_questions(study, seat, read_sheet(store, study, rater).marks)
    requests = [
        MarkRequest(
            id=str(uuid4()),
            place=seat.place + seat.order.index(key.variant),
            axis=key.axis,
            criterion=key.criterion,
            score=choose(rater, key),
        )
        for key in open_questions
    ]
    record_marks(store, study, rater, requests)
    return True
