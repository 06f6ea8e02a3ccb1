"""Compute the metric that a gate limits: an exact number, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from markscheme.vocabulary import (
    ZERO,
    Attempts,
    Exam,
    FrozenDict,
    Gate,
    Rubric,
    format_amount,
    format_distinct,
    sentence,
)
from markscheme.weigh.gates.outcomes import ItemLoss
from markscheme.weigh.totals import Run, ScoreTotals, WeightScale

_COUNT_METRICS = frozenset({"failures", "errors", "missing"})
_COST_METRICS = ("cost", "cost_per_answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricObservation:
    """The value of a metric and the items that cost it most; `why` says why there is no value."""

    value: Fraction | None
    why: str = ""
    losses: tuple[ItemLoss, ...] = ()


class GateContext:
    """One run to judge, with its rubric, exam and weights; if `detailed`, with losses by item."""

    def __init__(self, rubric: Rubric, exam: Exam, run: Run, *, detailed: bool = True) -> None:
        self.detailed = detailed
        self.rubric = rubric
        self.exam = exam
        self.run = run
        self.scale = WeightScale(rubric)
        self.pass_mark = Fraction(rubric.pass_mark)

    def observe_metric(self, gate: Gate) -> MetricObservation:
        """Return the value of the gate's metric in this run, the worst losses first."""
        wanted = gate.tags.items()
        items = [item.id for item in self.exam.items if wanted <= item.tags.items()]
        if not items:
            return MetricObservation(
                value=None,
                why=sentence("no item has the tags {tags}", tags=_format_gate_tags(gate)),
            )
        observation = _METRIC_OBSERVERS[gate.metric.partition("_")[0]](self, gate, items)
        worst = sorted(observation.losses, key=lambda loss: -loss.lost)
        return MetricObservation(value=observation.value, why=observation.why, losses=tuple(worst))

    def compute_totals(self, *items: str) -> ScoreTotals:
        """Return the sums over the answers to these items."""
        return self.scale.sum_answers(self.run.marks.counts(items))


_NOTHING_SCORED = MetricObservation(value=None, why=sentence("nothing was scored"))


def _observe_score(context: GateContext, _: Gate, items: list[str]) -> MetricObservation:
    totals = context.compute_totals(*items)
    if totals.mean is None:
        return _NOTHING_SCORED
    each = {item: context.compute_totals(item) for item in items} if context.detailed else {}
    losses = (
        _compute_item_loss(context, item, of, totals.n)
        for item, of in each.items()
        if of.score != of.n
    )
    return MetricObservation(value=totals.mean, losses=tuple(losses))


def _compute_item_loss(context: GateContext, item: str, totals: ScoreTotals, n: int) -> ItemLoss:
    """Return what an item takes from a mean over n answers, in total and by axis."""
    axes = {
        spec.name: Fraction(spec.weight) * (totals.n - totals.axes[spec.name]) / n
        for spec in context.rubric
    }
    by_axis = FrozenDict({axis: lost for axis, lost in axes.items() if lost})
    return ItemLoss(item=item, lost=(totals.n - totals.score) / n, axes=by_axis)


def _observe_axis_mean(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    axis, totals = gate.axis or "", context.compute_totals(*items)
    value = totals.axis_means[axis]
    if value is None:
        return _NOTHING_SCORED
    each = {item: context.compute_totals(item) for item in items}
    lost = {item: (own.n - own.axes[axis]) / totals.n for item, own in each.items()}
    return MetricObservation(value=value, losses=_build_losses(lost))


def _observe_pass_share(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    if gate.attempts is not None:
        return _observe_attempts_passed(gate.attempts, context, items)
    means = context.scale.compute_item_means(context.run.marks)
    if not means.keys() & set(items):
        return _NOTHING_SCORED
    failed = [item for item in items if means.get(item, ZERO) < context.pass_mark]
    return _build_pass_share(sorted(failed, key=lambda item: means.get(item, ZERO)), len(items))


def _observe_attempts_passed(
    attempts: Attempts, context: GateContext, items: list[str]
) -> MetricObservation:
    """Observe the share of items that pass k of n attempts; None if an item has not n attempts."""
    counts = context.run.marks.items
    tried = {item: sum(counts[item].values()) for item in items}
    deviating = [item for item, count in tried.items() if count != attempts.of]
    if deviating:
        values = {"of": attempts.of, "item": deviating[0], "n": tried[deviating[0]]}
        if len(deviating) == 1:
            why = sentence("not every item has {of} attempts: {item} has {n:,}", **values)
        else:
            why = sentence(
                "not every item has {of} attempts: {item} has {n:,}, {others:,} more differ",
                **values,
                others=len(deviating) - 1,
            )
        return MetricObservation(value=None, why=why)
    scores = {
        item: [(context.scale.score(values) or ZERO, n) for values, n in counts[item].items()]
        for item in items
    }
    passes = {
        item: sum(n for score, n in attempts_of_item if score >= context.pass_mark)
        for item, attempts_of_item in scores.items()
    }
    failed = [item for item in items if passes[item] < attempts.at_least]
    return _build_pass_share(sorted(failed, key=lambda item: passes[item]), len(items))


def _observe_failures(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    """Count the answers to which the axis did not give full marks."""
    at = context.scale.axes.index(gate.axis or "")
    counts = {
        item: sum(n for values, n in context.run.marks.items[item].items() if values[at] != 1)
        for item in items
    }
    return MetricObservation(value=Fraction(sum(counts.values())), losses=_build_losses(counts))


def _observe_errors(context: GateContext, _gate: Gate, _items: list[str]) -> MetricObservation:
    """Count the rows that were no answers and the answers that could not be scored."""
    marks = context.run.marks
    counts = {
        item: sum(n for values, n in value_counts.items() if None in values)
        for item, value_counts in marks.items.items()
    }
    return MetricObservation(
        value=Fraction(marks.errors + marks.unscored), losses=_build_losses(counts)
    )


def _observe_missing(context: GateContext, _gate: Gate, _items: list[str]) -> MetricObservation:
    missing = context.run.marks.missing
    return MetricObservation(
        value=Fraction(len(missing)), losses=_build_losses(dict.fromkeys(missing, 1))
    )


def _observe_latency(context: GateContext, gate: Gate, _: list[str]) -> MetricObservation:
    measures, which = context.run.measures, gate.metric.removeprefix("latency_")
    lacking = _explain_incomplete_measure(sentence("latency"), measures.latencies, measures.answers)
    if lacking:
        return MetricObservation(value=None, why=lacking)
    percent = Fraction(100) if which == "max" else Fraction(which.removeprefix("p"))
    return MetricObservation(value=measures.latency_percentile(percent))


def _observe_cost(context: GateContext, gate: Gate, _: list[str]) -> MetricObservation:
    cost, answers = context.run.measures.cost, context.run.measures.answers
    lacking = _explain_incomplete_measure(sentence("cost"), cost.n, answers)
    if lacking:
        return MetricObservation(value=None, why=lacking)
    return MetricObservation(value=cost.sum if gate.metric == "cost" else cost.sum / answers)


# By the first word of the metric's name: `latency_p95` is observed by "latency".
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
    """Return why a measure cannot be judged, or "" if it is known of every answer.

    A part of the answers could look better than all of them.
    """
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
    """Return the metric of a gate in words, with the tags it is restricted to."""
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
    """Format a value of the gate's metric with enough digits to differ from `beside`."""
    if gate.metric in _COUNT_METRICS:
        return str(value)
    if is_cost_metric(gate) and format_amount(value, 4) != format_amount(beside, 4):
        return format_amount(value, 4)
    return format_distinct(value, beside)


def is_cost_metric(gate: Gate) -> bool:
    """Whether the metric of a gate is an amount of money, which may be far below 0.01."""
    return gate.metric in _COST_METRICS
