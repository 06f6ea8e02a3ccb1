"""Recalibration: weigh a history of runs again under changed weights. No subject is asked again.

Scores under old and new weights cannot be compared. But the cells of old runs stay valid as long as
the axes that gave them are the same, so every run can be weighed under both rubrics.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any, ClassVar

from msgspec import structs

from markscheme.vocabulary import (
    AxisSpec,
    Exam,
    Level,
    Outcome,
    RecordFields,
    Rubric,
    ScoreBounds,
    exact_ratios,
    format_decimal,
    if_known,
    join_messages,
    list_pairs,
    sentence,
)
from markscheme.weigh.gates import GateReport, evaluate_gates
from markscheme.weigh.totals import Marks, Run, ScoreTotals, WeightScale


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run of the history, with the rubric and the exam that it was scored under."""

    run: Run
    rubric: Rubric
    exam: Exam


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFlip:
    """A gate with another outcome under the new rubric; `None` if one rubric lacks the gate."""

    gate: str
    before: Outcome | None
    after: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredRun:
    """One run under both rubrics: scores, ranks among the complete runs of its exam, gate flips.

    The bounds of a score are there if some of its answers have none.
    """

    run: str
    exam: str
    before: Fraction | None
    after: Fraction | None
    rank_before: int | None
    rank_after: int | None
    flips: tuple[GateFlip, ...]
    bounds_before: ScoreBounds | None = None
    bounds_after: ScoreBounds | None = None

    record_fields: ClassVar[RecordFields] = (
        "run",
        "exam",
        "before",
        "after",
        exact_ratios("before", "after", known=("bounds_before", "bounds_after")),
        "rank_before",
        "rank_after",
        "flips",
        if_known("bounds_before"),
        if_known("bounds_after"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """How far the order of the complete runs of one exam stays the same.

    Pairs of runs are counted exactly. `tau` is Kendall's tau-b: 1 if no two runs change places, and
    None if one of the rubrics gives all runs the same score.
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
    """The run that should be the baseline of an exam under the new rubric, and why.

    `is_baseline` says whether that run is the baseline now.
    """

    exam: str
    run: str | None
    score: Fraction | None
    is_baseline: bool
    because: str

    def name_rescored_run(self, run: str) -> BaselineProposal:
        """Return the proposal with the run that was rescored from the proposed one."""
        if not self.is_baseline:
            return dataclasses.replace(self, run=run)
        because = sentence(
            "it has the answers of the present baseline {baseline}; under the new weights it "
            "scores {score}",
            baseline=self.run,
            score=format_decimal(self.score),
        )
        return dataclasses.replace(self, run=run, is_baseline=False, because=because)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """A history under a new rubric, exam by exam, each in order of time.

    `refused` names the runs whose cells cannot be used again, with the reasons.
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
    """A run with its scores and gates under both rubrics."""

    past: PastRun
    run: Run
    complete: bool
    before: ScoreTotals
    after: ScoreTotals
    old: GateReport
    new: GateReport


def recalibrate_history(
    history: Sequence[PastRun], new: Rubric, baselines: Mapping[str, PastRun] | None = None
) -> Recalibration:
    """Weigh a history, in order of time, under a new rubric with the same axes.

    `baselines` are the present baselines, by the fingerprint of their exam.
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
    for reweighed in weighed:
        exams.setdefault(reweighed.past.exam.fingerprint, []).append(reweighed)
    runs = {exam: tuple(_build_rescored_runs(of_exam)) for exam, of_exam in exams.items()}
    return Recalibration(
        rubric=new.fingerprint,
        runs=tuple(run for of_exam in runs.values() for run in of_exam),
        rankings=tuple(_correlate_ranks(of_exam[0].exam, of_exam) for of_exam in runs.values()),
        proposals=tuple(
            _propose_baseline(of_exam, new, (baselines or {}).get(exam))
            for exam, of_exam in exams.items()
        ),
        refused=tuple(refused),
    )


def find_reuse_obstacles(past: PastRun, new: Rubric) -> Iterator[str]:
    """Yield every reason why the cells of a run cannot be used under the new rubric."""
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
                "`{field}` of the axis `{axis}` was {before} and is {after}",
                field=field.name,
                axis=old.name,
                before=_format_parameter(was),
                after=_format_parameter(now),
            )


def _format_parameter(value: Any) -> str:
    """Return a parameter of an axis as a rubric writes it."""
    return json.dumps(value, ensure_ascii=False, default=_convert_parameter)


def _convert_parameter(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


def reweigh_run(run: Run, new: Rubric) -> Run:
    """Return a run with its cells in the order of the new rubric's axes."""
    axes = tuple(spec.name for spec in new)
    if axes == run.marks.axes:
        return structs.replace(run, rubric=new.fingerprint)
    order = [run.marks.axes.index(axis) for axis in axes]
    items = {
        item: {tuple(values[at] for at in order): n for values, n in counts.items()}
        for item, counts in run.marks.items.items()
    }
    marks = Marks(axes=axes, items=items, errors=run.marks.errors)
    return structs.replace(run, rubric=new.fingerprint, marks=marks)


def _evaluate_under_both(past: PastRun, new: Rubric, baseline: PastRun | None) -> _ReweighedRun:
    run = reweigh_run(past.run, new)
    old_baseline = None if baseline is None else baseline.run
    usable = baseline is not None and not any(find_reuse_obstacles(baseline, new))
    new_baseline = reweigh_run(baseline.run, new) if baseline and usable else None
    return _ReweighedRun(
        past=past,
        run=run,
        complete=run.marks.complete,
        before=WeightScale(past.rubric).sum_answers(past.run.marks.counts()),
        after=WeightScale(new).sum_answers(run.marks.counts()),
        old=evaluate_gates(past.rubric, past.exam, past.run, old_baseline, detailed=False),
        new=evaluate_gates(new, past.exam, run, new_baseline, detailed=False),
    )


def _build_rescored_runs(reweighed_runs: Sequence[_ReweighedRun]) -> Iterator[RescoredRun]:
    """Yield the runs of one exam, each with its rank before and after."""
    complete = [reweighed for reweighed in reweighed_runs if reweighed.complete]
    before = _rank_scores([reweighed.before.mean for reweighed in complete])
    after = _rank_scores([reweighed.after.mean for reweighed in complete])
    for reweighed in reweighed_runs:
        yield RescoredRun(
            run=reweighed.past.run.name,
            exam=reweighed.past.exam.name,
            before=reweighed.before.mean,
            after=reweighed.after.mean,
            rank_before=before[reweighed.before.mean] if reweighed.complete else None,
            rank_after=after[reweighed.after.mean] if reweighed.complete else None,
            flips=tuple(_find_gate_flips(reweighed)),
            bounds_before=reweighed.before.bounds,
            bounds_after=reweighed.after.bounds,
        )


def _rank_scores(scores: Sequence[Fraction | None]) -> dict[Fraction | None, int]:
    """Return the rank of each score, 1 for the best; equal scores share a rank."""
    ordered = sorted((score for score in scores if score is not None), reverse=True)
    ranks: dict[Fraction | None, int] = {}
    for rank, score in enumerate(ordered, 1):
        ranks.setdefault(score, rank)
    return ranks


def _find_gate_flips(reweighed: _ReweighedRun) -> Iterator[GateFlip]:
    old = {result.gate.name: result.outcome for result in reweighed.old.outcomes}
    new = {result.gate.name: result.outcome for result in reweighed.new.outcomes}
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
    for (before, after), (other_before, other_after) in combinations(complete, 2):
        before_gap, after_gap = before - other_before, after - other_after
        counts["concordant"] += before_gap * after_gap > 0
        counts["discordant"] += before_gap * after_gap < 0
        counts["tied_before"] += not before_gap
        counts["tied_after"] += not after_gap
    pairs = len(complete) * (len(complete) - 1) // 2
    distinct_pairs = (pairs - counts["tied_before"]) * (pairs - counts["tied_after"])
    difference = counts["concordant"] - counts["discordant"]
    return RankCorrelation(
        exam=exam,
        runs=len(complete),
        tau=difference / sqrt(distinct_pairs) if distinct_pairs else None,
        **counts,
    )


def _propose_baseline(
    reweighed_runs: Sequence[_ReweighedRun], new: Rubric, baseline: PastRun | None
) -> BaselineProposal:
    """Propose the present baseline if it still qualifies, else the latest run that does."""
    exam = reweighed_runs[0].past.exam
    if baseline is not None and not any(find_reuse_obstacles(baseline, new)):
        run = reweigh_run(baseline.run, new)
        if _can_be_baseline(run, evaluate_gates(new, exam, run, detailed=False)):
            score = WeightScale(new).sum_answers(run.marks.counts()).mean
            because = sentence(
                "it is the baseline now; under the new weights it scores {score}",
                score=format_decimal(score),
            )
            return BaselineProposal(
                exam=exam.name, run=run.name, score=score, is_baseline=True, because=because
            )
    for reweighed in reversed(reweighed_runs):
        if _can_be_baseline(
            reweighed.run, evaluate_gates(new, exam, reweighed.run, detailed=False)
        ):
            because = sentence(
                "it is the latest complete run that meets the gates of the new rubric"
            )
            name = reweighed.past.run.name
            return BaselineProposal(
                exam=exam.name,
                run=name,
                score=reweighed.after.mean,
                is_baseline=False,
                because=because,
            )
    because = sentence("no complete run meets the gates of the new rubric; score one that does")
    return BaselineProposal(
        exam=exam.name, run=None, score=None, is_baseline=False, because=because
    )


def _can_be_baseline(run: Run, report: GateReport) -> bool:
    """Return whether a run is complete and passes every hard gate that applies."""
    hard = {result.outcome for result in report.outcomes if result.gate.level is Level.HARD}
    return run.marks.complete and hard <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
