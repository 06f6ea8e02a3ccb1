"""Compute the metric that a gate limits: an exact number, its bounds, or why there is none.

Answers that are missing or not scored widen a metric to bounds, and never move it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from markscheme.mark import may_not_apply
from markscheme.vocabulary import (
    ZERO,
    Attempts,
    Exam,
    FrozenDict,
    Gate,
    NotApplicable,
    Rubric,
    ScoreBounds,
    format_amount,
    format_distinct,
    sentence,
)
from markscheme.weigh.gates.outcomes import ItemLoss, find_range
from markscheme.weigh.totals import (
    AxisValues,
    Marks,
    Run,
    ScoreTotals,
    Total,
    UnknownAnswers,
    WeightScale,
    is_unscored,
)

_COUNT_METRICS = frozenset({"failures", "errors", "missing"})
_COST_METRICS = ("cost", "cost_per_answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricObservation:
    """The value of a metric and the items that cost it most; `why` says why there is no value.

    `bounds` are there if what is missing could still change the value; without a score of every
    answer there is no value.
    """

    value: Fraction | None
    why: str = ""
    losses: tuple[ItemLoss, ...] = ()
    bounds: ScoreBounds | None = None

    @property
    def range(self) -> ScoreBounds | None:
        """The lowest and the highest value that the metric can have; None if it has none."""
        return find_range(self.value, self.bounds)


class GateContext:
    """One run to judge, with its rubric, exam and weights; if `detailed`, with losses by item."""

    def __init__(self, rubric: Rubric, exam: Exam, run: Run, *, detailed: bool = True) -> None:
        self.detailed = detailed
        self.rubric = rubric
        self.exam = exam
        self.run = run
        self.scale = WeightScale(rubric)
        self.unknown = UnknownAnswers(rubric, exam)
        self.pass_mark = Fraction(rubric.pass_mark)

    @cached_property
    def filled(self) -> Marks:
        """The marks of the run, with missing items as answers of which nothing is known."""
        return self.unknown.fill(self.run.marks)

    def observe_metric(self, gate: Gate) -> MetricObservation:
        """Return the value of the gate's metric in this run, the worst losses first."""
        wanted = gate.tags.items()
        items = [item.id for item in self.exam.items if wanted <= item.tags.items()]
        if not items:
            return MetricObservation(
                value=None,
                why=sentence("no item has the tags {tags}", tags=_format_gate_tags(gate)),
            )
        observer = _METRIC_OBSERVERS.get(gate.metric)
        if observer is None:
            # `latency_p95` is observed by "latency".
            observer = _METRIC_OBSERVERS[gate.metric.partition("_")[0]]
        observation = observer(self, gate, items)
        worst = sorted(observation.losses, key=lambda loss: -loss.lost)
        return replace(observation, losses=tuple(worst))

    def sum_answers(self, items: Sequence[str]) -> ScoreTotals:
        """Return the totals of the answers to these items."""
        return self.scale.sum_answers(self.run.marks.counts(items))

    def sum_items(self, items: Sequence[str]) -> ScoreTotals:
        """Return the totals of these items, with all that is not known."""
        errors = self.unknown.list_errors(self.run.marks)
        return self.scale.sum_answers([*self.filled.counts(items), *errors])

    def sum_item(self, item: str) -> ScoreTotals:
        """Return the totals of the answers to one item that has any."""
        return self.scale.sum_item(self.run.marks.items[item])


_NOTHING_SCORED = MetricObservation(value=None, why=sentence("nothing was scored"))


def _build_observation(
    given: Total, whole: Total, losses: tuple[ItemLoss, ...]
) -> MetricObservation:
    """Return the mean of the answers, with its bounds over all that is not known."""
    known = [bounds for bounds, _ in given.unknown if not may_not_apply(bounds)]
    # What may turn out not to apply to any answer has no mean.
    if not given.n and not known:
        return _NOTHING_SCORED
    return MetricObservation(value=given.mean, bounds=whole.bounds, losses=losses)


def _observe_score(context: GateContext, _: Gate, items: list[str]) -> MetricObservation:
    totals = context.sum_answers(items)
    each = {item: context.sum_item(item) for item in items} if context.detailed else {}
    losses = (
        _compute_item_loss(item, of, totals.n) for item, of in each.items() if of.overall.sum < of.n
    )
    return _build_observation(totals.overall, context.sum_items(items).overall, tuple(losses))


def _compute_item_loss(item: str, totals: ScoreTotals, n: int) -> ItemLoss:
    """Return what an item takes from a mean over n answers, in total and by axis."""
    by_axis = FrozenDict({axis: lost / n for axis, lost in totals.lost.items()})
    return ItemLoss(item=item, lost=(totals.n - totals.overall.sum) / n, axes=by_axis)


def _observe_axis_mean(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    axis = gate.axis or ""
    total, whole = context.sum_answers(items).axes[axis], context.sum_items(items).axes[axis]
    each = {item: context.sum_item(item).axes[axis] for item in items}
    lost = {item: (own.n - own.sum) / total.n for item, own in each.items() if own.n}
    return _build_observation(total, whole, _build_losses(lost))


def _observe_pass_share(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    if gate.attempts is not None:
        return _observe_attempts_passed(gate.attempts, context, items)
    totals = {item: context.scale.sum_item(context.filled.items[item]) for item in items}
    ranges = {
        item: find_range(total.overall.mean, total.overall.bounds) for item, total in totals.items()
    }
    return _build_pass_share(
        {item: bounds for item, bounds in ranges.items() if bounds is not None},
        context.pass_mark,
        context.run.marks.errors,
    )


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
    passes = {item: _count_passes(context, counts[item]) for item in items}
    return _build_pass_share(passes, Fraction(attempts.at_least), context.run.marks.errors)


def _count_passes(context: GateContext, counts: Mapping[AxisValues, int]) -> ScoreBounds:
    """Return how many answers pass for certain, and how many may pass."""
    totals = ((context.scale.weigh_answer(values), n) for values, n in counts.items())
    each = ((find_range(total.mean, total.bounds), n) for total, n in totals)
    known = [(bounds, n) for bounds, n in each if bounds is not None]
    return ScoreBounds(
        low=Fraction(sum(n for bounds, n in known if bounds.low >= context.pass_mark)),
        high=Fraction(sum(n for bounds, n in known if bounds.high >= context.pass_mark)),
    )


def _observe_failures(context: GateContext, gate: Gate, items: list[str]) -> MetricObservation:
    """Count the answers to which the axis did not give full marks."""
    at = context.scale.axes.index(gate.axis or "")
    surely, perhaps = Counter[str](), context.run.marks.errors
    for item in items:
        for values, n in context.filled.items[item].items():
            value = values[at]
            if isinstance(value, ScoreBounds) and value.high == 1:
                perhaps += n
            elif value != 1 and not isinstance(value, NotApplicable):
                surely[item] += n
    return _build_counted(surely.total(), perhaps, _build_losses(surely))


def _observe_not_applicable(
    context: GateContext, gate: Gate, items: list[str]
) -> MetricObservation:
    """Observe the share of the answers to which the axis does not apply."""
    total = context.sum_items(items).axes[gate.axis or ""]
    perhaps = sum(n for bounds, n in total.unknown if may_not_apply(bounds))
    answers = total.n + total.not_applicable + sum(n for _, n in total.unknown)
    if not answers:
        return _NOTHING_SCORED
    counted = _build_counted(total.not_applicable, perhaps, ())
    known = counted.range or ScoreBounds(low=ZERO, high=ZERO)
    if counted.value is not None:
        return replace(counted, value=counted.value / answers)
    return replace(counted, bounds=ScoreBounds(low=known.low / answers, high=known.high / answers))


def _build_counted(surely: int, perhaps: int, losses: tuple[ItemLoss, ...]) -> MetricObservation:
    """Return a number of answers, of which some may or may not count."""
    low, high = Fraction(surely), Fraction(surely + perhaps)
    if not perhaps:
        return MetricObservation(value=low, losses=losses)
    return MetricObservation(value=None, bounds=ScoreBounds(low=low, high=high), losses=losses)


def _observe_errors(context: GateContext, _gate: Gate, _items: list[str]) -> MetricObservation:
    """Count the rows that were no answers and the answers that could not be scored."""
    marks = context.run.marks
    counts = {
        item: sum(n for values, n in value_counts.items() if is_unscored(values))
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


# By the metric's name, or by the first word of it.
_METRIC_OBSERVERS: Mapping[str, Callable[[GateContext, Gate, list[str]], MetricObservation]] = {
    "score": _observe_score,
    "axis": _observe_axis_mean,
    "passed": _observe_pass_share,
    "failures": _observe_failures,
    "not_applicable": _observe_not_applicable,
    "errors": _observe_errors,
    "missing": _observe_missing,
    "latency": _observe_latency,
    "cost": _observe_cost,
}


def _build_losses(lost: Mapping[str, Fraction | int]) -> tuple[ItemLoss, ...]:
    return tuple(ItemLoss(item=item, lost=Fraction(n)) for item, n in lost.items() if n)


def _build_pass_share(
    ranges: Mapping[str, ScoreBounds], pass_mark: Fraction, errors: int
) -> MetricObservation:
    """Return the share of items that pass, from the lowest and the highest result of each.

    A row that was no answer may have been one that decides about an item.
    """
    items = len(ranges)
    if not items:
        return _NOTHING_SCORED
    passed = sum(bounds.low >= pass_mark for bounds in ranges.values())
    failed = [item for item, bounds in ranges.items() if bounds.high < pass_mark]
    failed.sort(key=lambda item: ranges[item].high)
    losses = _build_losses(dict.fromkeys(failed, Fraction(1, items)))
    low = Fraction(max(0, passed - errors), items)
    high = Fraction(min(items, items - len(failed) + errors), items)
    if low == high:
        return MetricObservation(value=low, losses=losses)
    return MetricObservation(value=None, bounds=ScoreBounds(low=low, high=high), losses=losses)


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
        case "not", _, _:
            return sentence("share of answers to which `{axis}` does not apply", axis=gate.axis)
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
