"""Recalibration: history weighed anew under changed weights. No subject is asked again.

Weights are a one-way door: old scores and new ones cannot be compared. But the cells of old runs
stand, as long as the axes that gave them are the same, so every run can be weighed with both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import ClassVar

from markscheme.vocabulary import (
    AxisSpec,
    Exam,
    Level,
    Outcome,
    RecordFields,
    Rubric,
    exact_ratios,
    format_decimal,
    join_messages,
    list_pairs,
    sentence,
)
from markscheme.weigh.gates import GateReport, evaluate_gates
from markscheme.weigh.totals import Marks, Run, WeightScale


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
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
class RescoredRun:
    """One run under both rubrics: scores, ranks among the complete runs of its exam, and gates."""

    run: str
    exam: str
    before: Fraction | None
    after: Fraction | None
    rank_before: int | None
    rank_after: int | None
    flips: tuple[GateFlip, ...]

    record_fields: ClassVar[RecordFields] = (
        "run",
        "exam",
        "before",
        "after",
        exact_ratios("before", "after"),
        "rank_before",
        "rank_after",
        "flips",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
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
class BaselineProposal:
    """The run that should be the baseline of an exam under the new rubric, and why."""

    exam: str
    run: str | None
    score: Fraction | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """A history under a new rubric, exam by exam, each in order of time.

    Runs whose cells cannot be used again are refused by name.
    """

    rubric: str
    runs: tuple[RescoredRun, ...]
    rankings: tuple[RankCorrelation, ...]
    proposals: tuple[BaselineProposal, ...]
    refused: tuple[tuple[str, str], ...]

    record_fields: ClassVar[RecordFields] = (
        "rubric",
        "runs",
        "rankings",
        "proposals",
        list_pairs("refused", "run", "because"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReweighedRun:
    """A run and what both rubrics say of it."""

    past: PastRun
    run: Run
    complete: bool
    before: Fraction | None
    after: Fraction | None
    old: GateReport
    new: GateReport


def recalibrate_history(
    history: Sequence[PastRun], new: Rubric, baselines: Mapping[str, PastRun] | None = None
) -> Recalibration:
    """Weigh a history, in order of time, under a new rubric with the same axes.

    `baselines` are the present ones, by the fingerprint of their exam.
    """
    refused: list[tuple[str, str]] = []
    weighed: list[_ReweighedRun] = []
    for past in history:
        reasons = list(find_reuse_obstacles(past, new))
        if reasons:
            refused.append((past.run.name, join_messages("; ", reasons)))
        else:
            weighed.append(
                _evaluate_under_both(past, new, (baselines or {}).get(past.exam.fingerprint))
            )
    exams: dict[str, list[_ReweighedRun]] = {}
    for one in weighed:
        exams.setdefault(one.past.exam.fingerprint, []).append(one)
    runs = {exam: tuple(_build_rescored_runs(found)) for exam, found in exams.items()}
    return Recalibration(
        rubric=new.fingerprint,
        runs=tuple(run for found in runs.values() for run in found),
        rankings=tuple(_correlate_ranks(found[0].exam, found) for found in runs.values()),
        proposals=tuple(
            _propose_baseline(found, new, (baselines or {}).get(exam))
            for exam, found in exams.items()
        ),
        refused=tuple(refused),
    )


def find_reuse_obstacles(past: PastRun, new: Rubric) -> Iterator[str]:
    """Yield every reason why the cells of a run say nothing under the new rubric."""
    if past.run.rubric != past.rubric.fingerprint:
        yield sentence("the rubric it was scored under is not there any more as it was")
    old_axes = {spec.name: spec for spec in past.rubric}
    new_axes = {spec.name: spec for spec in new}
    for name, spec in old_axes.items():
        if name in new_axes:
            yield from _find_axis_differences(spec, new_axes[name])
        else:
            yield sentence("the axis `{axis}` is gone", axis=name)
    for name in new_axes:
        if name not in old_axes:
            yield sentence("the axis `{axis}` is new: its cells were never judged", axis=name)


def _find_axis_differences(old: AxisSpec, new: AxisSpec) -> Iterator[str]:
    if old.axis.kind != new.axis.kind:
        yield sentence(
            "the axis `{axis}` was `{before}` and is `{after}`",
            axis=old.name,
            before=old.axis.kind,
            after=new.axis.kind,
        )
        return
    if old.axis.version != new.axis.version:
        yield sentence(
            "the axis `{axis}` judges by version {version} of its kind now",
            axis=old.name,
            version=new.axis.version,
        )
    for field in dataclasses.fields(old.axis):  # type: ignore[arg-type]
        was, now = (getattr(spec.axis, field.name) for spec in (old, new))
        if was != now:
            yield sentence(
                "`{field}` of the axis `{axis}` was {before!r} and is {after!r}",
                field=field.name,
                axis=old.name,
                before=was,
                after=now,
            )


def reweigh_run(run: Run, new: Rubric) -> Run:
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


def _evaluate_under_both(past: PastRun, new: Rubric, baseline: PastRun | None) -> _ReweighedRun:
    run = reweigh_run(past.run, new)
    old_baseline = None if baseline is None else baseline.run
    usable = baseline is not None and not any(find_reuse_obstacles(baseline, new))
    new_baseline = reweigh_run(baseline.run, new) if baseline and usable else None
    return _ReweighedRun(
        past=past,
        run=run,
        complete=run.marks.complete,
        before=WeightScale(past.rubric).sum_answers(past.run.marks.counts()).mean,
        after=WeightScale(new).sum_answers(run.marks.counts()).mean,
        old=evaluate_gates(past.rubric, past.exam, past.run, old_baseline, detailed=False),
        new=evaluate_gates(new, past.exam, run, new_baseline, detailed=False),
    )


def _build_rescored_runs(beside: Sequence[_ReweighedRun]) -> Iterator[RescoredRun]:
    """Yield the runs of one exam, each with its place before and after."""
    complete = [one for one in beside if one.complete]
    before = _rank_scores([one.before for one in complete])
    after = _rank_scores([one.after for one in complete])
    for one in beside:
        yield RescoredRun(
            run=one.past.run.name,
            exam=one.past.exam.name,
            before=one.before,
            after=one.after,
            rank_before=before[one.before] if one.complete else None,
            rank_after=after[one.after] if one.complete else None,
            flips=tuple(_find_gate_flips(one)),
        )


def _rank_scores(scores: Sequence[Fraction | None]) -> dict[Fraction | None, int]:
    """Return the place of each score, 1 for the best; equal scores share a place."""
    ordered = sorted((score for score in scores if score is not None), reverse=True)
    places: dict[Fraction | None, int] = {}
    for place, score in enumerate(ordered, 1):
        places.setdefault(score, place)
    return places


def _find_gate_flips(one: _ReweighedRun) -> Iterator[GateFlip]:
    old = {found.gate.name: found.outcome for found in one.old.outcomes}
    new = {found.gate.name: found.outcome for found in one.new.outcomes}
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield GateFlip(gate=name, before=old.get(name), after=new.get(name))


def _correlate_ranks(exam: str, runs: Iterable[RescoredRun]) -> RankCorrelation:
    complete = [
        (run.rank_before, run.rank_after)
        for run in runs
        if run.rank_before is not None and run.rank_after is not None
    ]
    counts = {"concordant": 0, "discordant": 0, "tied_before": 0, "tied_after": 0}
    for one, other in combinations(complete, 2):
        before, after = one[0] - other[0], one[1] - other[1]
        counts["concordant"] += before * after > 0
        counts["discordant"] += before * after < 0
        counts["tied_before"] += not before
        counts["tied_after"] += not after
    pairs = len(complete) * (len(complete) - 1) // 2
    told_apart = (pairs - counts["tied_before"]) * (pairs - counts["tied_after"])
    difference = counts["concordant"] - counts["discordant"]
    return RankCorrelation(
        exam=exam,
        runs=len(complete),
        tau=difference / sqrt(told_apart) if told_apart else None,
        **counts,
    )


def _propose_baseline(
    beside: Sequence[_ReweighedRun], new: Rubric, baseline: PastRun | None
) -> BaselineProposal:
    """Keep the present baseline where it still may be one, else take the latest run that may."""
    exam = beside[0].past.exam
    if baseline is not None and not any(find_reuse_obstacles(baseline, new)):
        run = reweigh_run(baseline.run, new)
        if _can_be_baseline(run, evaluate_gates(new, exam, run, detailed=False)):
            score = WeightScale(new).sum_answers(run.marks.counts()).mean
            because = sentence(
                "it is the baseline now; under the new weights it scores {score}",
                score=format_decimal(score),
            )
            return BaselineProposal(exam=exam.name, run=run.name, score=score, because=because)
    for one in reversed(beside):
        if _can_be_baseline(one.run, evaluate_gates(new, exam, one.run, detailed=False)):
            because = sentence(
                "it is the latest complete run that meets the gates of the new rubric"
            )
            name = one.past.run.name
            return BaselineProposal(exam=exam.name, run=name, score=one.after, because=because)
    because = sentence("no complete run meets the gates of the new rubric; score one that does")
    return BaselineProposal(exam=exam.name, run=None, score=None, because=because)


def _can_be_baseline(run: Run, report: GateReport) -> bool:
    """Return whether a run is complete and meets every hard gate that has a say."""
    hard = {found.outcome for found in report.outcomes if found.gate.level is Level.HARD}
    return run.marks.complete and hard <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
