"""Metrics: what a gate looks at. Each gives an exact number, or says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import ZERO, FrozenDict, format_distinct, sentence
from markscheme.weigh.gates.outcomes import ItemLoss
from markscheme.weigh.totals import WeightScale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from markscheme.vocabulary import Attempts, Exam, Gate, Rubric
    from markscheme.weigh.totals import Run, ScoreTotals

_COUNT_METRICS = frozenset({"failures", "errors", "missing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricObservation:
    """The value of a metric and what costs it most; without a value, why there is none."""

    value: Fraction | None
    why: str = ""
    losses: tuple[ItemLoss, ...] = ()


class GateContext:
    """One run to be judged, with what is needed to weigh it; where detailed, item by item."""

    def __init__(self, rubric: Rubric, exam: Exam, run: Run, *, detailed: bool = True) -> None:
        self.detailed = detailed
        self.rubric = rubric
        self.exam = exam
        self.run = run
        self.scale = WeightScale(rubric)
        self.pass_mark = Fraction(rubric.pass_mark)

    def observe_metric(self, gate: Gate) -> MetricObservation:
        """Return what the metric of the gate is in this run, the worst losses first."""
        wanted = gate.tags.items()
        items = [item.id for item in self.exam.items if wanted <= item.tags.items()]
        if not items:
            return MetricObservation(
                value=None,
                why=sentence("no item has the tags {tags}", tags=_format_gate_tags(gate)),
            )
        seen = _METRIC_OBSERVERS[gate.metric.partition("_")[0]](self, gate, items)
        worst = sorted(seen.losses, key=lambda loss: -loss.lost)
        return MetricObservation(value=seen.value, why=seen.why, losses=tuple(worst))

    def compute_totals(self, *items: str) -> ScoreTotals:
        """Return the sums over the answers to these items."""
        return self.scale.sum_answers(self.run.marks.counts(items))


_NOTHING_SCORED = MetricObservation(value=None, why=sentence("nothing was scored"))


def _observe_score(case: GateContext, _: Gate, items: list[str]) -> MetricObservation:
    totals = case.compute_totals(*items)
    if totals.mean is None:
        return _NOTHING_SCORED
    each = {item: case.compute_totals(item) for item in items} if case.detailed else {}
    losses = (
        _compute_item_loss(case, item, of, totals.n)
        for item, of in each.items()
        if of.score != of.n
    )
    return MetricObservation(value=totals.mean, losses=tuple(losses))


def _compute_item_loss(case: GateContext, item: str, totals: ScoreTotals, n: int) -> ItemLoss:
    """Return what an item takes from a mean over n answers, in all and by axis."""
    axes = {
        spec.name: Fraction(spec.weight) * (totals.n - totals.axes[spec.name]) / n
        for spec in case.rubric
    }
    by_axis = FrozenDict({axis: lost for axis, lost in axes.items() if lost})
    return ItemLoss(item=item, lost=(totals.n - totals.score) / n, axes=by_axis)


def _observe_axis_mean(case: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    axis, totals = gate.axis or "", case.compute_totals(*items)
    value = totals.axis_means[axis]
    if value is None:
        return _NOTHING_SCORED
    each = {item: case.compute_totals(item) for item in items}
    lost = {item: (found.n - found.axes[axis]) / totals.n for item, found in each.items()}
    return MetricObservation(value=value, losses=_build_losses(lost))


def _observe_pass_share(case: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    if gate.attempts is not None:
        return _observe_attempts_passed(gate.attempts, case, items)
    means = case.scale.compute_item_means(case.run.marks)
    if not means.keys() & set(items):
        return _NOTHING_SCORED
    failed = [item for item in items if means.get(item, ZERO) < case.pass_mark]
    return _build_pass_share(sorted(failed, key=lambda item: means.get(item, ZERO)), len(items))


def _observe_attempts_passed(
    attempts: Attempts, case: GateContext, items: list[str]
) -> MetricObservation:
    """Observe the share of items that pass k of n attempts; an item of others cannot tell."""
    counts = case.run.marks.items
    tried = {item: sum(counts[item].values()) for item in items}
    other = [item for item, count in tried.items() if count != attempts.of]
    if other:
        what = {"of": attempts.of, "item": other[0], "n": tried[other[0]]}
        if len(other) == 1:
            why = sentence("not every item has {of} attempts: {item} has {n:,}", **what)
        else:
            why = sentence(
                "not every item has {of} attempts: {item} has {n:,}, {others:,} more differ",
                **what,
                others=len(other) - 1,
            )
        return MetricObservation(value=None, why=why)
    scores = {
        item: [(case.scale.score(values) or ZERO, n) for values, n in counts[item].items()]
        for item in items
    }
    passes = {
        item: sum(n for score, n in found if score >= case.pass_mark)
        for item, found in scores.items()
    }
    failed = [item for item in items if passes[item] < attempts.at_least]
    return _build_pass_share(sorted(failed, key=lambda item: passes[item]), len(items))


def _observe_failures(case: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    """Observe how many answers the axis did not give full marks."""
    at = case.scale.axes.index(gate.axis or "")
    counts = {
        item: sum(n for values, n in case.run.marks.items[item].items() if values[at] != 1)
        for item in items
    }
    return MetricObservation(value=Fraction(sum(counts.values())), losses=_build_losses(counts))


def _observe_errors(case: GateContext, _gate: Gate, _items: list[str]) -> MetricObservation:
    """Observe how many rows were no answers, and how many answers could not be scored."""
    marks = case.run.marks
    counts = {
        item: sum(n for values, n in found.items() if None in values)
        for item, found in marks.items.items()
    }
    return MetricObservation(
        value=Fraction(marks.errors + marks.unscored), losses=_build_losses(counts)
    )


def _observe_missing(case: GateContext, _gate: Gate, _items: list[str]) -> MetricObservation:
    missing = case.run.marks.missing
    return MetricObservation(
        value=Fraction(len(missing)), losses=_build_losses(dict.fromkeys(missing, 1))
    )


def _observe_latency(case: GateContext, gate: Gate, _: list[str]) -> MetricObservation:
    measures, which = case.run.measures, gate.metric.removeprefix("latency_")
    lacking = _explain_incomplete_measure(sentence("latency"), measures.latencies, measures.answers)
    if lacking:
        return MetricObservation(value=None, why=lacking)
    percent = Fraction(100) if which == "max" else Fraction(which.removeprefix("p"))
    return MetricObservation(value=measures.latency_percentile(percent))


def _observe_cost(case: GateContext, gate: Gate, _: list[str]) -> MetricObservation:
    cost, answers = case.run.measures.cost, case.run.measures.answers
    lacking = _explain_incomplete_measure(sentence("cost"), cost.n, answers)
    if lacking:
        return MetricObservation(value=None, why=lacking)
    return MetricObservation(value=cost.sum if gate.metric == "cost" else cost.sum / answers)


# By the first word of the metric's name.
_METRIC_OBSERVERS: Mapping[str, Callable[[GateContext, Gate, list[str]], MetricObservation]] = {
    "score": _observe_score,
    "axis": _observe_axis_mean,
    "passed": _observe_pass_share,
    "failures": _observe_failures,
    "errors": _observe_errors,
    "missing": _observe_missing,
    "latency": _observe_latency,
    "cost": _observe_cost,
}


def _build_losses(lost: Mapping[str, Fraction | int]) -> tuple[ItemLoss, ...]:
    return tuple(ItemLoss(item=item, lost=Fraction(n)) for item, n in lost.items() if n)


def _build_pass_share(failed: list[str], items: int) -> MetricObservation:
    share = Fraction(items - len(failed), items)
    return MetricObservation(
        value=share, losses=_build_losses(dict.fromkeys(failed, Fraction(1, items)))
    )


def _explain_incomplete_measure(what: str, known: int, answers: int) -> str:
    """Say that a measure is not known of every answer; a part of them would flatter."""
    if known and known == answers:
        return ""
    if not known:
        return sentence("no {what} was recorded", what=what)
    return sentence(
        "the {what} of {n:,} of {of:,} answers was not recorded",
        what=what,
        n=answers - known,
        of=answers,
    )


def describe_gate_metric(gate: Gate) -> str:
    """Return what a gate looks at, in words."""
    what = _describe_metric(gate)
    return (
        sentence("{what} of {tags}", what=what, tags=_format_gate_tags(gate)) if gate.tags else what
    )


def _describe_metric(gate: Gate) -> str:
    match gate.metric.partition("_"):
        case "axis", _, _:
            return sentence("mean of `{axis}`", axis=gate.axis)
        case "passed", _, _ if gate.attempts:
            tries = {"k": gate.attempts.at_least, "n": gate.attempts.of}
            return sentence("share of items that pass {k} of {n} attempts", **tries)
        case "passed", _, _:
            return sentence("share of items that pass")
        case "failures", _, _:
            return sentence("number of `{axis}` failures", axis=gate.axis)
        case "latency", _, which:
            return sentence("{which} latency in ms", which=which)
        case "errors", _, _:
            return sentence("number of errors")
        case "missing", _, _:
            return sentence("number of missing items")
        case "cost", _, _:
            each = gate.metric != "cost"
            return sentence("cost per answer") if each else sentence("cost")
        case _:
            return sentence("score")


def _format_gate_tags(gate: Gate) -> str:
    return ", ".join(f"{tag}: {value}" for tag, value in gate.tags.items())


def format_metric_value(gate: Gate, value: Fraction, beside: Fraction | Decimal) -> str:
    """Return a value of the gate's metric as a message shows it, told apart from another."""
    return str(value) if gate.metric in _COUNT_METRICS else format_distinct(value, beside)
