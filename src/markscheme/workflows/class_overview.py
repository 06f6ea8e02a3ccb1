"""What a teacher sees: learners with due cards and papers, and the items of the class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.keep import Paper, Store
from markscheme.learn import (
    PASS_GRADE,
    CardReview,
    DeckState,
    ItemAnalysis,
    WeakTag,
    analyse_items,
    build_deck_state,
    count_cards,
    find_study_day,
    find_weakest_tag,
    list_weak_tags,
)
from markscheme.mark import find_leading_axis
from markscheme.vocabulary import describe_tag, to_fraction

if TYPE_CHECKING:
    from markscheme.workflows.portal import Portal

_HARDEST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerRow:
    """One learner of the overview. `recalled` is the share of answers of quality 3 or more."""

    id: str
    name: str | None
    due: int
    done: int
    recalled: Fraction | None
    weakest: str | None
    paper: Paper | None
    score: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOverview:
    """The learners of a class, and the tags that the class finds hardest."""

    learners: tuple[LearnerRow, ...] = ()
    hardest: tuple[WeakTag, ...] = ()


def load_class_overview(store: Store, portal: Portal, now: datetime) -> ClassOverview:
    """Return a row for each learner of the portal's class, and what all of them find hard."""
    learners = store.learning.list_learners(portal.class_name or "")
    if not learners:
        return ClassOverview()
    ids = [learner.id for learner in learners]
    grades: dict[str, list[CardReview]] = defaultdict(list)
    answers: Counter[str] = Counter()
    recalled: Counter[str] = Counter()
    for id_, item, day, quality in store.learning.list_grades(ids):
        grades[id_].append(CardReview(item=item, day=day, grade=quality))
        answers[item] += 1
        recalled[item] += quality >= PASS_GRADE
    papers: dict[str, Paper] = {}
    for paper in store.learning.list_papers(ids):
        if paper.run is not None:
            papers.setdefault(paper.learner, paper)
    scores = {run.id: run.counts for run in store.list_runs()} if papers else {}
    today = find_study_day(now, portal.practice.zone)
    rows = []
    for learner in learners:
        state = build_deck_state(grades[learner.id], today, portal.practice.scheduler)
        last = papers.get(learner.id)
        counts = scores.get(last.run or "") if last else None
        rows.append(
            LearnerRow(
                id=learner.id,
                name=learner.name,
                due=count_cards(portal.practice.items, state, portal.practice.limits).due,
                done=len(grades[learner.id]),
                recalled=_find_share(grades[learner.id]),
                weakest=_describe_weakest(portal, state),
                paper=last,
                score=None if counts is None else read_score(counts),
            )
        )
    counts_by_item = {item: (recalled[item], n) for item, n in answers.items()}
    hardest = list_weak_tags(portal.practice.items, counts_by_item)[:_HARDEST_SHOWN]
    return ClassOverview(learners=tuple(rows), hardest=tuple(hardest))


def read_score(counts: Mapping[str, object]) -> Fraction | None:
    """Return the exact mean score of a stored run."""
    exact, score = counts.get("exact"), counts.get("score")
    if isinstance(exact, str):
        return Fraction(exact)
    return to_fraction(score) if isinstance(score, float | int) else None


def _find_share(reviews: Sequence[CardReview]) -> Fraction | None:
    if not reviews:
        return None
    return Fraction(sum(review.grade >= PASS_GRADE for review in reviews), len(reviews))


def _describe_weakest(portal: Portal, state: DeckState) -> str | None:
    weakest = find_weakest_tag(portal.practice.items, state)
    return None if weakest is None else describe_tag(weakest.key, weakest.value)


def analyse_class_items(store: Store, portal: Portal) -> ItemAnalysis:
    """Analyse the items of the exam over the first paper that each learner handed in."""
    learners = store.learning.list_learners(portal.class_name or "")
    papers = store.learning.list_papers([learner.id for learner in learners]) if learners else []
    first = {
        paper.learner: paper
        for paper in papers  # the newest come first, so the oldest stays
        if paper.handed_in is not None
    }
    answers: list[dict[str, bool]] = []
    near_misses: dict[str, list[str]] = defaultdict(list)
    leading = find_leading_axis(portal.rubric)
    axis = next(
        (spec.name for spec in portal.rubric if spec.axis is leading), portal.rubric.axes[0].name
    )
    wanted = {item.id for item in portal.exam.items}
    for paper in first.values():
        if paper.run is None:
            continue
        right = {}
        for item, value, near_miss in read_axis_marks(store, paper.run, axis):
            right[item] = value == 1
            if value != 1 and near_miss is not None:
                near_misses[item].append(near_miss)
        if right.keys() == wanted:
            answers.append(right)
    return analyse_items([item.id for item in portal.exam.items], answers, near_misses)


def read_axis_marks(
    store: Store, run: str, axis: str
) -> Iterator[tuple[str, float | None, str | None]]:
    """Yield item, value and near miss of one axis for each answer of a stored run.

    The marks of the run are read, not made again: of a forgotten learner nothing else is left.
    """
    for answered, cells in zip(store.read_answers(run), store.read_cells(run), strict=True):
        values = cells["breakdown"].struct.field(axis)
        near = cells["near_miss"].struct.field(axis)
        yield from zip(answered["item"], values, near, strict=True)
