"""What comes out of a study: progress while it is open; ratings, disagreements, and adjudications.

Before a study is closed nothing here names a variant together with what was said about it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from msgspec import structs

from markscheme.read.documents import compute_exam_fingerprint
from markscheme.read.marks import read_mark_ratings
from markscheme.read.nfc import to_nfc
from markscheme.read.rating_scores import describe_wrong_score, parse_rated_score
from markscheme.vocabulary import (
    Adjudication,
    Exam,
    LeaseKind,
    MarkSource,
    NoteAxis,
    Rating,
    ScaleAxis,
    StudyMark,
    UsageError,
    format_short,
    format_value,
)
from markscheme.weigh.rating_study import (
    MarkKey,
    Seat,
    SeatKey,
    build_seats,
    choose_counted_seats,
    fold_marks,
    get_mark_key,
)
from markscheme.workflows.agree import agree
from markscheme.workflows.judged_ratings import build_rating_row
from markscheme.workflows.study import RatingStudy, StudyQuestion, load_study
from markscheme.workflows.study_marks import check_client_id, list_open_questions

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.weigh.rater_agreement import RaterAgreement

MEANINGFUL_DIFFERENCE = 2
"""From how many points on a scale two raters disagree so far that somebody should decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterProgress:
    """How far one rater is: queries that were finished, begun and skipped."""

    rater: str
    finished: int = 0
    begun: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """How far a study is. `by_query` says how many raters have finished each query.

    `set_aside` counts the marks that do not count: another rater got the query meanwhile.
    """

    raters: Sequence[RaterProgress]
    by_query: Mapping[str, int]
    per_answer: int
    set_aside: int

    @property
    def wanted(self) -> int:
        """How many times a query must be finished by a rater, over all queries."""
        return self.per_answer * len(self.by_query)

    @property
    def done(self) -> int:
        """How many times a query was finished by a rater."""
        return sum(self.by_query.values())

    @property
    def is_complete(self) -> bool:
        """Whether every query has all its raters."""
        return self.done == self.wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class _StudyMarks:
    """The seats of a study, and the marks that count now."""

    seats: Mapping[SeatKey, Seat]
    counted: Mapping[str, Sequence[Seat]]
    marks: Mapping[SeatKey, Mapping[MarkKey, StudyMark]]


def _read_marks(store: Store, study: RatingStudy) -> _StudyMarks:
    by_seat: dict[SeatKey, list[StudyMark]] = defaultdict(list)
    for mark in store.studies.read_marks(study.id):
        by_seat[SeatKey(mark.item, mark.rater)].append(mark)
    last = {(key.item, key.rater): marks[-1].at for key, marks in by_seat.items()}
    seats = build_seats(store.studies.read_lease_events(study.id), last)
    folded = {key: fold_marks(marks) for key, marks in by_seat.items()}
    marked = [key for key, marks in folded.items() if marks]
    counted = choose_counted_seats(seats, marked, study.per_answer)
    return _StudyMarks(seats=seats, counted=counted, marks=folded)


def measure_progress(store: Store, study: RatingStudy) -> StudyProgress:
    """Return how far a study is; it names raters and queries, and no variant."""
    marks = _read_marks(store, study)
    finished = {
        key: not list_open_questions(study, seat, marks.marks.get(key, {}))
        for key, seat in marks.seats.items()
    }
    raters = []
    for rater in study.stored.raters:
        own = [key for key in marks.seats if key.rater == rater]
        done = sum(finished[key] for key in own)
        skipped = sum(
            marks.seats[key].state is LeaseKind.SKIPPED and not finished[key] for key in own
        )
        raters.append(
            RaterProgress(
                rater=rater, finished=done, begun=len(own) - done - skipped, skipped=skipped
            )
        )
    counted = {SeatKey(s.item, s.rater) for seats in marks.counted.values() for s in seats}
    return StudyProgress(
        raters=raters,
        by_query={
            item: sum(
                finished[SeatKey(seat.item, seat.rater)] for seat in marks.counted.get(item, ())
            )
            for item in study.variants
        },
        per_answer=study.per_answer,
        set_aside=sum(len(given) for key, given in marks.marks.items() if key not in counted),
    )


def close_study(store: Store, name: str, *, by: str | None = None, finish: bool = False) -> bool:
    """Close a study for good; return whether it is closed now.

    A study in which something is left to rate is closed only with `finish`. One that is closed
    already stays as it is.
    """
    study = load_study(store, name)
    with store.transaction():
        if store.studies.lock_study(study.id):
            return True
        if not finish and not measure_progress(store, study).is_complete:
            return False
        store.studies.close_study(study.id, by=by)
    return True


def check_closed(study: RatingStudy) -> None:
    """Refuse a study that is open: what was rated would tell the raters who rated what."""
    if study.stored.closed is None:
        name = study.stored.name
        message = f"the study {format_value(name)} is open, and its ratings are blind until then"
        raise UsageError(f"{message}; `markscheme rate close {name} -o ratings.csv` closes it")


def collect_study_ratings(store: Store, study: RatingStudy) -> tuple[Rating, ...]:
    """Return the ratings of a closed study, sorted by query, variant, rater and question.

    Each has the place of its answer in the order of its rater, and the time.
    """
    check_closed(study)
    marks = _read_marks(store, study)
    ratings = [
        _build_rating(study, seat, mark)
        for seats in marks.counted.values()
        for seat in seats
        for mark in marks.marks[SeatKey(seat.item, seat.rater)].values()
        if mark.score is not None or mark.note
    ]
    return tuple(sorted(ratings, key=lambda rating: _get_sort_key(study, rating)))


def _build_rating(study: RatingStudy, seat: Seat, mark: StudyMark) -> Rating:
    kind = _find_question(study, get_mark_key(mark)).kind
    return Rating(
        item=mark.item,
        variant=mark.variant,
        rater=mark.rater,
        axis=mark.axis,
        criterion=mark.criterion,
        score=None if isinstance(kind, NoteAxis) else parse_rated_score(mark.score, kind),
        note=mark.note,
        order=seat.place + seat.order.index(mark.variant),
        at=mark.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _get_sort_key(study: RatingStudy, rating: Rating) -> tuple[object, ...]:
    items = list(study.variants)
    asked = [(q.axis, q.criterion) for q in study.questions[rating.item]]
    place = asked.index((rating.axis, rating.criterion))
    return items.index(rating.item), rating.variant, rating.rater, place


def restrict_exam(study: RatingStudy) -> Exam:
    """Return the exam of a study; of a sample only the queries that were drawn."""
    if study.sample is None:
        return study.exam
    items = tuple(item for item in study.exam.items if item.id in study.variants)
    names = study.exam.names
    fingerprint = compute_exam_fingerprint(names, items)
    return Exam(names=names, items=items, fingerprint=fingerprint)


# --- disagreements ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Scores of several raters that are too far apart, and what was decided about them."""

    key: MarkKey
    question: StudyQuestion
    ratings: Sequence[Rating]
    decided: Adjudication | None = None


def find_disagreements(store: Store, study: RatingStudy) -> list[Disagreement]:
    """Return where raters of a closed study are 2 or more points apart, or chose otherwise."""
    decided = {
        MarkKey(a.item, a.variant, a.axis, a.criterion): a
        for a in store.studies.read_adjudications(study.id)
    }
    by_question: dict[MarkKey, list[Rating]] = defaultdict(list)
    for rating in collect_study_ratings(store, study):
        key = MarkKey(rating.item, rating.variant, rating.axis, rating.criterion)
        if rating.score is not None:
            by_question[key].append(rating)
    found = []
    for key, ratings in by_question.items():
        question = _find_question(study, key)
        if _is_disagreement(question, ratings):
            found.append(
                Disagreement(key=key, question=question, ratings=ratings, decided=decided.get(key))
            )
    return found


def _is_disagreement(question: StudyQuestion, ratings: Iterable[Rating]) -> bool:
    scores = {rating.score for rating in ratings}
    numbers = [score for score in scores if isinstance(score, Fraction)]
    if isinstance(question.kind, ScaleAxis) and len(numbers) == len(scores):
        return bool(numbers) and max(numbers) - min(numbers) >= MEANINGFUL_DIFFERENCE
    return len(scores) > 1


def _find_question(study: RatingStudy, key: MarkKey) -> StudyQuestion:
    for question in study.questions.get(key.item, ()):
        if (question.axis, question.criterion) == (key.axis, key.criterion):
            return question
    raise UsageError(f"{format_value(key.axis)} is not asked about {format_value(key.item)}")


def adjudicate(store: Store, study: RatingStudy, adjudication: Adjudication) -> None:
    """Record what was decided about a disagreement. Ratings stay as they are.

    Raises:
        UsageError: the study is open, the score is not allowed, or another decision has the id.
    """
    check_closed(study)
    check_client_id(adjudication.id)
    key = MarkKey(
        adjudication.item, adjudication.variant, adjudication.axis, adjudication.criterion
    )
    question = _find_question(study, key)
    if isinstance(question.kind, NoteAxis) or key.variant not in study.variants[key.item]:
        raise UsageError(f"there is nothing to decide about {format_value(key.axis)}")
    score = parse_rated_score(adjudication.score, question.kind)
    if score is None:
        raise UsageError(describe_wrong_score(adjudication.score, question.kind))
    decided = structs.replace(
        adjudication,
        score=score if isinstance(score, str) else format_short(score),
        note=to_nfc(adjudication.note.strip()),
    )
    if not store.studies.add_adjudication(study.id, decided):
        known = store.studies.read_adjudications(study.id)
        if not any(structs.replace(decided, at=other.at) == other for other in known):
            raise UsageError(f"the id {format_value(decided.id)} belongs to another decision")


def collect_adjudications(store: Store, study: RatingStudy) -> tuple[Rating, ...]:
    """Return what counts now of what was decided, as ratings of whoever decided."""
    check_closed(study)
    latest = {
        MarkKey(decided.item, decided.variant, decided.axis, decided.criterion): decided
        for decided in store.studies.read_adjudications(study.id)
    }
    ratings = []
    for key, decided in latest.items():
        kind = _find_question(study, key).kind
        ratings.append(
            Rating(
                item=key.item,
                variant=key.variant,
                rater=decided.by,
                axis=key.axis,
                criterion=key.criterion,
                score=None
                if isinstance(kind, NoteAxis)
                else parse_rated_score(decided.score, kind),
                note=decided.note,
                at=decided.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
        )
    return tuple(sorted(ratings, key=lambda rating: _get_sort_key(study, rating)))


# --- agreement ---


def measure_study_agreement(
    store: Store, study: RatingStudy, *, judges: Collection[str] = (), seed: int = 0
) -> RaterAgreement:
    """Return how far the raters of a closed study agree, with the judges that were kept."""
    rows: list[Rating | Mapping[str, Any]] = [*collect_study_ratings(store, study)]
    rows += store.studies.read_judge_ratings(study.id)
    return agree(rows, study.rubric, judges=judges, seed=seed)


def add_judge_ratings(store: Store, study: RatingStudy, file: str) -> int:
    """Keep a judge's ratings of the answers of a study, from a file; return how many.

    They are shown beside those of people once the study is closed, and nowhere before.

    Raises:
        InputError: a row of the file is wrong.
        UsageError: nothing in the file is a judge's rating of an answer of this study.
    """
    ratings = [
        rating
        for rating in read_mark_ratings(file, study.rubric, study.exam)
        if rating.source is MarkSource.JUDGE
        and rating.variant in study.variants.get(rating.item, ())
    ]
    if not ratings:
        raise UsageError(f"`{file}` holds no rating of a judge about the answers of this study")
    store.studies.add_judge_ratings(study.id, file, map(build_rating_row, ratings))
    return len(ratings)


# --- comparison ---


def collect_compared_ratings(
    store: Store, study: RatingStudy, *, allow_gaps: bool = False
) -> tuple[tuple[Rating, ...], Mapping[str, Collection[str]]]:
    """Return the ratings of a closed study for a comparison, and the raters of each query.

    Raises:
        UsageError: the study is open, or was closed before everything was rated, and gaps are not
            allowed.
    """
    ratings = collect_study_ratings(store, study)
    progress = measure_progress(store, study)
    if not (progress.is_complete or allow_gaps):
        message = f"the study was closed with {progress.done} of {progress.wanted} rated"
        raise UsageError(f"{message} (queries × raters); --allow-gaps compares what there is")
    raters: dict[str, set[str]] = {item: set() for item in study.variants}
    for rating in ratings:
        raters[rating.item].add(rating.rater)
    return ratings, raters
