"""Recalibration: history weighed anew under changed weights. No subject is asked again.

Weights are a one-way door: old scores and new ones cannot be compared. But the cells of old runs
stand, as long as the axes that gave them are the same, so every run can be weighed with both.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right, insort
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.vocabulary import Exam, Outcome, Rubric
from markscheme.weigh.gates import judge
from markscheme.weigh.outcomes import GateReport
from markscheme.weigh.runs import Run
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markscheme.vocabulary import AxisSpec

    Ranks = dict[Fraction | None, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A run of the history with the rubric and the exam that it was scored under."""

    run: Run
    rubric: Rubric
    exam: Exam


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFlip:
    """A gate that says otherwise under the new rubric; `None` where one of them has it not."""

    gate: str
    before: Outcome | None
    after: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """One run under both rubrics: scores, ranks among the complete runs of its exam, and gates."""

    run: str
    exam: str
    before: Fraction | None
    after: Fraction | None
    rank_before: int | None
    rank_after: int | None
    flips: tuple[GateFlip, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How far the order of the complete runs of one exam stays the same.

    Pairs are counted exactly; `tau` is Kendall's tau-b of them, 1 where nothing changes places, and
    nothing where one of the rubrics tells no two runs apart.
    """

    exam: str
    runs: int
    concordant: int
    discordant: int
    tied_before: int
    tied_after: int
    tau: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The run that should be the baseline of an exam under the new rubric, and why."""

    exam: str
    run: str | None
    score: Fraction | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """A history under a new rubric. Runs whose cells cannot be used again are refused by name."""

    rubric: str
    runs: tuple[Rescored, ...]
    rankings: tuple[Ranking, ...]
    proposals: tuple[Proposal, ...]
    refused: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """A run and what both rubrics say of it."""

    past: Past
    run: Run
    complete: bool
    before: Fraction | None
    after: Fraction | None
    old: GateReport
    new: GateReport


def recalibrate(
    history: Sequence[Past], new: Rubric, baselines: Mapping[str, Past] | None = None
) -> Recalibration:
    """Weigh a history, in order of time, under a new rubric with the same axes.

    `baselines` are the present ones, by the fingerprint of their exam.
    """
    refused: list[tuple[str, str]] = []
    weighed: list[_Weighed] = []
    for past in history:
        reasons = list(why_not_reusable(past, new))
        if reasons:
            refused.append((past.run.name, "; ".join(reasons)))
        else:
            weighed.append(_weighed(past, new, (baselines or {}).get(past.exam.fingerprint)))
    exams: dict[str, list[_Weighed]] = {}
    for one in weighed:
        exams.setdefault(one.past.exam.fingerprint, []).append(one)
    ranks = {
        exam: (
            _ranks(one.before for one in found if one.complete),
            _ranks(one.after for one in found if one.complete),
        )
        for exam, found in exams.items()
    }
    return Recalibration(
        rubric=new.fingerprint,
        runs=tuple(_rescored(one, ranks[one.past.exam.fingerprint]) for one in weighed),
        rankings=tuple(_ranking(found, ranks[exam]) for exam, found in exams.items()),
        proposals=tuple(
            _proposal(found, new, (baselines or {}).get(exam)) for exam, found in exams.items()
        ),
        refused=tuple(refused),
    )


def why_not_reusable(past: Past, new: Rubric) -> Iterator[str]:
    """Yield every reason why the cells of a run say nothing under the new rubric."""
    if past.run.rubric != past.rubric.fingerprint:
        yield "the rubric it was scored under is not there any more as it was"
    old_axes = {spec.name: spec for spec in past.rubric}
    new_axes = {spec.name: spec for spec in new}
    for name in old_axes.keys() - new_axes.keys():
        yield f"the axis `{name}` is gone"
    for name in new_axes.keys() - old_axes.keys():
        yield f"the axis `{name}` is new: its cells were never judged"
    for name in (name for name in old_axes if name in new_axes):
        yield from _differences(old_axes[name], new_axes[name])


def _differences(old: AxisSpec, new: AxisSpec) -> Iterator[str]:
    if old.axis.kind != new.axis.kind:
        yield f"the axis `{old.name}` was `{old.axis.kind}` and is `{new.axis.kind}`"
        return
    if old.axis.version != new.axis.version:
        yield f"the axis `{old.name}` judges by version {new.axis.version} of its kind now"
    for field in dataclasses.fields(old.axis):  # type: ignore[arg-type]
        was, now = (getattr(spec.axis, field.name) for spec in (old, new))
        if was != now:
            yield f"`{field.name}` of the axis `{old.name}` was {was!r} and is {now!r}"


def reweighed(run: Run, new: Rubric) -> Run:
    """Return a run as one of the new rubric, its cells in the order of that rubric's axes."""
    marks = run.marks.reordered(tuple(spec.name for spec in new))
    return dataclasses.replace(run, rubric=new.fingerprint, marks=marks)


def _weighed(past: Past, new: Rubric, baseline: Past | None) -> _Weighed:
    run = reweighed(past.run, new)
    old_baseline = None if baseline is None else baseline.run
    usable = baseline is not None and not any(why_not_reusable(baseline, new))
    new_baseline = reweighed(baseline.run, new) if baseline and usable else None
    return _Weighed(
        past=past,
        run=run,
        complete=run.marks.complete,
        before=Scale(past.rubric).totals(past.run.marks.counts()).mean,
        after=Scale(new).totals(run.marks.counts()).mean,
        old=judge(past.rubric, past.exam, past.run, old_baseline, details=False),
        new=judge(new, past.exam, run, new_baseline, details=False),
    )


def _rescored(one: _Weighed, ranks: tuple[Ranks, Ranks]) -> Rescored:
    before, after = ranks
    return Rescored(
        run=one.past.run.name,
        exam=one.past.exam.name,
        before=one.before,
        after=one.after,
        rank_before=before.get(one.before) if one.complete else None,
        rank_after=after.get(one.after) if one.complete else None,
        flips=tuple(_flips(one)),
    )


def _ranks(scores: Iterable[Fraction | None]) -> Ranks:
    """Return the place of each score, 1 for the best; equal scores share a place."""
    places: Ranks = {}
    known = [score for score in scores if score is not None]
    for place, score in enumerate(sorted(known, reverse=True), start=1):
        places.setdefault(score, place)
    return places


def _flips(one: _Weighed) -> Iterator[GateFlip]:
    old = {found.gate.name: found.outcome for found in one.old.outcomes}
    new = {found.gate.name: found.outcome for found in one.new.outcomes}
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield GateFlip(gate=name, before=old.get(name), after=new.get(name))


def _ranking(beside: Sequence[_Weighed], ranks: tuple[Ranks, Ranks]) -> Ranking:
    """Count the pairs by sorting (Knight's way): there may be many runs, and more pairs."""
    before, after = ranks
    pairs = sorted((before[one.before], after[one.after]) for one in beside if one.complete)
    every = len(pairs) * (len(pairs) - 1) // 2
    tied_before, tied_after = (_tied(pair[at] for pair in pairs) for at in (0, 1))
    discordant = _inversions([place for _, place in pairs])
    concordant = every - tied_before - tied_after + _tied(pairs) - discordant
    told_apart = (every - tied_before) * (every - tied_after)
    return Ranking(
        exam=beside[0].past.exam.name,
        runs=len(pairs),
        concordant=concordant,
        discordant=discordant,
        tied_before=tied_before,
        tied_after=tied_after,
        tau=(concordant - discordant) / sqrt(told_apart) if told_apart else None,
    )


def _tied(values: Iterable[object]) -> int:
    """Return how many pairs of these are equal."""
    return sum(count * (count - 1) // 2 for count in Counter(values).values())


def _inversions(places: list[int]) -> int:
    """Return how many pairs stand in the wrong order, equal ones not counted."""
    seen: list[int] = []
    found = 0
    for place in places:
        found += len(seen) - bisect_right(seen, place)
        insort(seen, place)
    return found


def _proposal(beside: Sequence[_Weighed], new: Rubric, baseline: Past | None) -> Proposal:
    """Keep the present baseline where it still may be one, else take the latest run that may."""
    exam = beside[0].past.exam
    if baseline is not None and not any(why_not_reusable(baseline, new)):
        run = reweighed(baseline.run, new)
        report = judge(new, exam, run, details=False)
        if report.verdict is Outcome.PASS:
            score = Scale(new).totals(run.marks.counts()).mean
            because = f"it is the baseline now; under the new weights it scores {show(score)}"
            return Proposal(exam=exam.name, run=run.name, score=score, because=because)
    for one in reversed(beside):
        if judge(new, exam, one.run, details=False).verdict is Outcome.PASS:
            because = "it is the latest complete run that meets the gates of the new rubric"
            name = one.past.run.name
            return Proposal(exam=exam.name, run=name, score=one.after, because=because)
    because = "no complete run meets the gates of the new rubric; score one that does"
    return Proposal(exam=exam.name, run=None, score=None, because=because)
