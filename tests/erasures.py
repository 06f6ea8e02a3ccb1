"""Random exams that people mark, and the same with some of the marks erased.

What nobody marked may widen a score to bounds, which must contain the score that all marks give. No
gate may decide anything else than it does with all marks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from markscheme import Exam, Gate, Item, Level, Result, Rubric, load_rubric, score
from markscheme.vocabulary import AxisValue, FrozenDict, Outcome, ScoreBounds
from markscheme.weigh.totals import WeightScale

Row = dict[str, Any]
MOST_RUBRICS = 40
_EXPECTED = ("expected_contains", "criteria")
_RUBRIC = """\
rubric: erased
version: 1
pass_mark: 0.5
axes:
  - {{name: words, kind: contains_all, points: {words}}}
  - {{name: tone, kind: scale, points: {tone}, question: "How kind?", step: 0.5,
     may_not_apply: true, anchors: {{1: rude, 2: cold, 3: kind}}}}
  - {{name: outcome, kind: choice, points: {outcome}, question: "What is wrong?",
     may_not_apply: {refuses}, options: {{right: 1, too-long: 0.25, wrong: 0}}}}
  - {{name: facts, kind: criteria, points: {facts}, below_zero: {below_zero}}}
"""
_METRICS: list[tuple[str, dict[str, Any]]] = [
    ("score", {}),
    ("score", {"tags": {"theme": "one"}}),
    ("axis", {"axis": "facts"}),
    ("axis", {"axis": "tone"}),
    ("passed", {}),
    ("not_applicable", {"axis": "tone"}),
    ("failures", {"axis": "facts"}),
]
_LIMITS = [Decimal(at) / 20 for at in range(-10, 21)]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A rubric with gates, an exam, answers to it, and a rating of every mark."""

    rubric: Rubric
    items: list[Row]
    answers: list[Row]
    ratings: list[Row]

    def score(self, ratings: list[Row]) -> Result:
        """Score the answers with these ratings."""
        items = tuple(
            Item(
                id=row["id"],
                prompt="?",
                tags=FrozenDict(row["tags"]),
                expectations=FrozenDict.freeze({key: row[key] for key in _EXPECTED}),
            )
            for row in self.items
        )
        questions = Exam(names=("erased",), items=items, fingerprint="b2:erased")
        return score(self.rubric, questions, self.answers, ratings=ratings or None)


def make_rubric(random: Random) -> Rubric:
    """Return a rubric with all kinds of axes that people mark, and gates at random limits."""
    text = _RUBRIC.format(
        words=random.randint(1, 3),
        tone=random.randint(1, 3),
        outcome=random.randint(1, 3),
        facts=random.randint(1, 9),
        refuses=random.choice(("true", "false")),
        below_zero=random.choice(("cut", "kept")),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rubric.yaml")
        path.write_text(text, encoding="utf-8")
        rubric = load_rubric(path)
    return replace(rubric, gates=tuple(_make_gates(random)))


def _make_gates(random: Random) -> Iterator[Gate]:
    for at, (metric, keys) in enumerate(_METRICS):
        count = metric == "failures"
        limit = Decimal(random.randint(0, 4)) if count else random.choice(_LIMITS)
        side = "at_most" if count or random.random() < 0.5 else "at_least"
        limits: dict[str, Any] = {side: limit, **keys}
        yield Gate(name=f"g{at}", level=Level.HARD, metric=metric, **limits)


def make_case(random: Random, rubric: Rubric) -> Case:
    """Return a small exam with random criteria, answers of one or two subjects, and all ratings."""
    items = [_make_item(random, f"i{at}") for at in range(random.randint(1, 3))]
    subjects = random.choice(([None], [None], ["a", "b"]))
    source = random.choice(("person", "judge"))
    answers, ratings = [], []
    for item in items:
        for subject in subjects:
            answer = {"item": item["id"], "output": random.choice(("a dose", "nothing"))}
            answers.append({**answer, **({} if subject is None else {"subject": subject})})
            base = {"item": item["id"], "variant": subject or "", "rater": "ana", "source": source}
            ratings += [{**base, **mark} for mark in _make_marks(random, rubric, item)]
    return Case(rubric=rubric, items=items, answers=answers, ratings=ratings)


def _make_item(random: Random, name: str) -> Row:
    leaves = [_make_criterion(random, f"c{at}") for at in range(random.randint(1, 5))]
    criteria: list[Row] = leaves
    if len(leaves) > 2 and random.random() < 0.4:
        is_plain = not any(leaf.get("must") for leaf in leaves[1:])
        points = random.choice((-2, 1, 3) if is_plain else (1, 3))
        criteria = [leaves[0], {"group": "part", "points": points, "criteria": leaves[1:]}]
    theme = random.choice(("one", "two"))
    return {
        "id": name,
        "expected_contains": ["dose"],
        "criteria": criteria,
        "tags": {"theme": theme},
    }


def _make_criterion(random: Random, name: str) -> Row:
    points = random.choice((-3, -1, 1, 2, 5))
    if random.random() < 0.15:
        check = {"kind": "contains_all", "expected_contains": ["dose"]}
        return {"id": name, "points": points, "check": check}
    must = {"must": True} if points > 0 and random.random() < 0.15 else {}
    return {"id": name, "points": points, "says": f"It is {name}.", **must}


def _make_marks(random: Random, rubric: Rubric, item: Row) -> Iterator[Row]:
    """Yield a mark of each axis and of each criterion that is no check."""
    refusal = ["n/a"] if random.random() < 0.4 else []
    choices = {choice.name: choice for choice in rubric.choices}
    yield {"axis": "tone", "score": random.choice(["1", "1.5", "2", "3", *refusal])}
    refusable = refusal if choices["outcome"].may_not_apply else []
    yield {"axis": "outcome", "score": random.choice(["right", "too-long", "wrong", *refusable])}
    for entry in item["criteria"]:
        for leaf in entry.get("criteria", [entry]):
            if "says" in leaf:
                mark = random.choice(["0", "1", "1", *refusal])
                yield {"axis": "facts", "criterion": leaf["id"], "score": mark}


def erase(random: Random, case: Case) -> list[Row]:
    """Return the ratings without some of them; judges leave a few replies that cannot be read."""
    share = random.random()
    kept = []
    for rating in case.ratings:
        if random.random() >= share:
            kept.append(rating)
        elif rating["source"] == "judge" and random.random() < 0.3:
            kept.append({**rating, "score": "", "note": "cut-off"})
    return kept


def find_faults(case: Case, erased: list[Row]) -> Iterator[str]:
    """Yield everything that the ratings that are left say wrongly about the true scores."""
    # By people, because no hard gate is decided by a judge that was never calibrated.
    true = case.score([{**rating, "source": "person"} for rating in case.ratings])
    seen = case.score(erased)
    for name, value, bounds, right in _pair_means(seen.summary, true.summary):
        yield from _check_value(name, value, bounds, right)
    scale = WeightScale(case.rubric)
    for run, full in zip(seen.runs, true.runs, strict=True):
        for item, counts in run.marks.items.items():
            right = scale.sum_item(full.marks.items[item])
            found = scale.sum_item(counts)
            yield from _check_value(f"item {item}", found.mean, found.bounds, right.value)
    for gate, right_gate in zip(seen.gates, true.gates, strict=True):
        decided = gate.outcome in {Outcome.PASS, Outcome.FAIL}
        if decided and gate.outcome is not right_gate.outcome:
            limits = f"{gate.gate.metric} {gate.gate.at_least} {gate.gate.at_most}"
            yield f"gate {limits}: {gate.outcome} with marks erased, {right_gate.outcome} with all"


def _pair_means(seen: Any, true: Any, name: str = "run") -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield each mean with its bounds, and the true mean."""
    yield name, seen.score, seen.bounds, true.score
    for axis, value in seen.axes.items():
        yield f"{name} {axis}", value, seen.axis_bounds.get(axis), true.axes[axis]
    subjects = (getattr(totals, "subjects", ()) for totals in (seen, true))
    for one, other in zip(*subjects, strict=True):
        yield from _pair_means(one, other, f"subject {one.subject}")
    groups: Mapping[Any, Any] = {(g.tag, g.value): g for g in getattr(true, "groups", ())}
    for group in getattr(seen, "groups", ()):
        if (group.tag, group.value) in groups:
            right = groups[group.tag, group.value]
            yield from _pair_means(group, right, f"group {group.value}")


def _check_value(
    name: str, value: Fraction | None, bounds: ScoreBounds | None, right: AxisValue | None
) -> Iterator[str]:
    if not isinstance(right, Fraction):
        return
    if value is not None and value != right:
        yield f"{name}: {value} with marks erased, {right} with all"
    elif value is None and bounds is None:
        yield f"{name}: nothing is known with marks erased, {right} with all"
    elif bounds is not None and not bounds.low <= right <= bounds.high:
        yield f"{name}: between {bounds.low} and {bounds.high} with marks erased, {right} with all"
