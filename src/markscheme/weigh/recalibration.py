"""Recalibration: history weighed anew under changed weights. No subject is asked again.

Weights are a one-way door: old scores and new ones cannot be compared. But the cells of old runs
stand, as long as the axes that gave them are the same, so every run can be weighed with both.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.vocabulary import Exam, Level, Outcome, Rubric
from markscheme.weigh.gates import judge
from markscheme.weigh.marks import Marks
from markscheme.weigh.outcomes import GateReport
from markscheme.weigh.runs import Run
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.vocabulary import AxisSpec


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
    return Recalibration(
        rubric=new.fingerprint,
        runs=tuple(_rescored(one, exams[one.past.exam.fingerprint]) for one in weighed),
        rankings=tuple(map(_ranking, exams.values())),
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
    for name, spec in old_axes.items():
        if name in new_axes:
            yield from _differences(spec, new_axes[name])
        else:
            yield f"the axis `{name}` is gone"
    for name in new_axes:
        if name not in old_axes:
            yield f"the axis `{name}` is new: its cells were never judged"


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
    axes = tuple(spec.name for spec in new)
    if axes == run.marks.axes:
        return dataclasses.replace(run, rubric=new.fingerprint)
    order = [run.marks.axes.index(axis) for axis in axes]
    items = {
        item: {tuple(values[at] for at in order): n for values, n in counts.items()}
        for item, counts in run.marks.items.items()
    }
    marks = Marks(axes=axes, items=items, errors=run.marks.errors)
    return dataclasses.replace(run, rubric=new.fingerprint, marks=marks)


def _weighed(past: Past, new: Rubric, baseline: Past | None) -> _Weighed:
    run = reweighed(past.run, new)
    old_baseline = None if baseline is None else baseline.run
    usable = baseline is not None and not any(why_not_reusable(baseline, new))
    new_baseline = reweighed(baseline.run, new) if baseline and usable else None
    return _Weighed(
        past=past,
        run=run,
        before=Scale(past.rubric).totals(past.run.marks.counts()).mean,
        after=Scale(new).totals(run.marks.counts()).mean,
        old=judge(past.rubric, past.exam, past.run, old_baseline),
        new=judge(new, past.exam, run, new_baseline),
    )


def _rescored(one: _Weighed, beside: Sequence[_Weighed]) -> Rescored:
    ranked = one.run.marks.complete
    complete = [other for other in beside if other.run.marks.complete]
    return Rescored(
        run=one.past.run.name,
        exam=one.past.exam.name,
        before=one.before,
        after=one.after,
        rank_before=_rank(one.before, [c.before for c in complete]) if ranked else None,
        rank_after=_rank(one.after, [c.after for c in complete]) if ranked else None,
        flips=tuple(_flips(one)),
    )


def _rank(score: Fraction | None, scores: Sequence[Fraction | None]) -> int | None:
    """Return the place of a score, 1 for the best; equal scores share a place."""
    if score is None:
        return None
    return 1 + sum(other > score for other in scores if other is not None)


def _flips(one: _Weighed) -> Iterator[GateFlip]:
    old = {found.gate.name: found.outcome for found in one.old.outcomes}
    new = {found.gate.name: found.outcome for found in one.new.outcomes}
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield GateFlip(gate=name, before=old.get(name), after=new.get(name))


def _ranking(beside: Sequence[_Weighed]) -> Ranking:
    complete = [one for one in beside if one.run.marks.complete]
    counts = {"concordant": 0, "discordant": 0, "tied_before": 0, "tied_after": 0}
    for one, other in combinations(complete, 2):
        before = _sign(one.before, other.before)
        after = _sign(one.after, other.after)
        counts["concordant"] += before * after > 0
        counts["discordant"] += before * after < 0
        counts["tied_before"] += not before
        counts["tied_after"] += not after
    pairs = len(complete) * (len(complete) - 1) // 2
    told_apart = (pairs - counts["tied_before"]) * (pairs - counts["tied_after"])
    difference = counts["concordant"] - counts["discordant"]
    return Ranking(
        exam=beside[0].past.exam.name,
        runs=len(complete),
        tau=difference / sqrt(told_apart) if told_apart else None,
        **counts,
    )


def _sign(one: Fraction | None, other: Fraction | None) -> int:
    difference = (one or 0) - (other or 0)
    return (difference > 0) - (difference < 0)


def _proposal(beside: Sequence[_Weighed], new: Rubric, baseline: Past | None) -> Proposal:
    """Keep the present baseline where it still may be one, else take the latest run that may."""
    exam = beside[0].past.exam
    if baseline is not None and not any(why_not_reusable(baseline, new)):
        run = reweighed(baseline.run, new)
        if _may_be_baseline(run, judge(new, exam, run)):
            score = Scale(new).totals(run.marks.counts()).mean
            because = f"it is the baseline now; under the new weights it scores {show(score)}"
            return Proposal(exam=exam.name, run=run.name, score=score, because=because)
    for one in reversed(beside):
        if _may_be_baseline(one.run, judge(new, exam, one.run)):
            because = "it is the latest complete run that meets the gates of the new rubric"
            name = one.past.run.name
            return Proposal(exam=exam.name, run=name, score=one.after, because=because)
    because = "no complete run meets the gates of the new rubric; score one that does"
    return Proposal(exam=exam.name, run=None, score=None, because=because)


def _may_be_baseline(run: Run, report: GateReport) -> bool:
    """Return whether a run is complete and meets every hard gate that has a say."""
    hard = {found.outcome for found in report.outcomes if found.gate.level is Level.HARD}
    return run.marks.complete and hard <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
