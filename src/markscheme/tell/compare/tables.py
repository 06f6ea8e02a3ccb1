"""The tables of a comparison: rows of text, the header first, for every medium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from markscheme.tell.compare.words import (
    format_decision,
    format_evidence,
    format_interval,
    format_p_value,
)
from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import (
    format_amount,
    format_decimal,
    format_signed,
    format_signed_amount,
)
from markscheme.weigh.compare import (
    CheckSummary,
    Comparison,
    ComparisonPlan,
    PairComparison,
    PairedSummary,
    PairedTag,
    Query,
    RunPair,
    RunsComparison,
    Sides,
    VariantsComparison,
)
from markscheme.weigh.totals import Measures

TableRows = list[tuple[str, ...]]
TAGS_SHOWN = 10
_QUERIES_SHOWN = 30
_MEDIAN, _P95 = Fraction(50), Fraction(95)


def format_sides(sides: Sides, places: int = 4) -> tuple[str, str, str]:
    """Return the baseline value, the candidate value and their difference."""
    return (
        format_decimal(sides.baseline, places),
        format_decimal(sides.candidate, places),
        format_signed(sides.difference, places),
    )


def format_measured_sides(sides: Sides) -> tuple[str, str, str]:
    """Return measured numbers of both sides and their difference; a small cost is not 0.00."""
    return (
        format_amount(sides.baseline),
        format_amount(sides.candidate),
        format_signed_amount(sides.difference),
    )


def _format_tally(summary: PairedSummary) -> str:
    return f"{summary.wins} / {summary.losses} / {summary.ties}"


def build_variant_pair_rows(comparison: VariantsComparison) -> TableRows:
    """Return every two variants, with the decision on each."""
    outcomes = [format_decision(pair.decision.outcome) for pair in comparison.pairs]
    return _build_pair_rows(comparison.pairs, translate("decision"), outcomes)


def build_run_pair_rows(comparison: RunsComparison) -> TableRows:
    """Return every two runs, with the outcome of each."""
    outcomes = [
        format_evidence(pair.statistics.non_inferiority.outcome) for pair in comparison.pairs
    ]
    heading = translate("no worse than {margin} down", margin=comparison.margin)
    return _build_pair_rows(comparison.pairs, heading, outcomes)


def _build_pair_rows(
    pairs: Sequence[PairComparison], heading: str, outcomes: Sequence[str]
) -> TableRows:
    header = (
        translate("baseline"),
        translate("candidate"),
        translate("difference"),
        translate("95 % interval"),
        translate("won / lost / tied"),
        translate("p"),
        translate("p (Holm)"),
        heading,
    )
    rows = [
        (
            pair.baseline,
            pair.candidate,
            format_signed(pair.statistics.paired.mean),
            format_interval(pair.statistics.paired),
            _format_tally(pair.statistics.paired),
            format_p_value(pair.statistics.paired.p),
            format_p_value(pair.p_holm),
            outcome,
        )
        for pair, outcome in zip(pairs, outcomes, strict=True)
    ]
    return [header, *rows]


# Two variants, by ratings


def build_query_rows(comparison: Comparison) -> TableRows:
    """Return the queries with their averages and verdicts."""
    with_order = bool(comparison.first.known)
    header = (
        translate("query"),
        translate("mode"),
        comparison.baseline,
        comparison.candidate,
        translate("difference"),
        translate("verdict"),
        *(translate("asked first"),) * with_order,
        translate("why"),
    )
    rows = [
        (
            query.item,
            query.mode,
            *format_sides(query.mean),
            query.verdict or "–",
            *(query.first or "–",) * with_order,
            _format_reasons(query),
        )
        for query in comparison.queries
    ]
    return [header, *rows]


def _format_reasons(query: Query) -> str:
    reasons = [*(translate("follow-up"),) * query.follow_up, *query.reasons]
    if query.baseline_below_floor:
        reasons.append(translate("baseline below the floor"))
    if query.meaningful_axes:
        reasons.append(translate("2+ points on {axes}", axes=", ".join(query.meaningful_axes)))
    return "; ".join(reasons) or ("" if query.verdict else translate_stored(query.because))


def build_aggregate_rows(comparison: Comparison, places: int = 4) -> TableRows:
    """Return the means over the main round, by mode, and over the follow-up."""
    header = (
        translate("mode"),
        translate("queries"),
        comparison.baseline,
        comparison.candidate,
        translate("difference"),
    )
    parts = {translate("all"): comparison.overall, **comparison.by_mode}
    if comparison.further is not None:
        parts[translate("follow-up")] = comparison.further
    return [
        header,
        *((mode, str(part.n), *format_sides(part.mean, places)) for mode, part in parts.items()),
    ]


def build_scale_rows(comparison: Comparison) -> TableRows:
    """Return the difference on each scale, with its evidence."""
    header = (
        translate("axis"),
        translate("difference"),
        translate("95 % interval"),
        translate("won / lost / tied"),
        translate("p"),
        translate("p (Holm)"),
    )
    labels = {scale.name: scale.label for scale in comparison.rubric.scales}
    rows = [
        (
            labels.get(axis.axis, axis.axis),
            format_signed(axis.paired.mean),
            format_interval(axis.paired),
            _format_tally(axis.paired),
            format_p_value(axis.p),
            format_p_value(axis.p_holm),
        )
        for axis in comparison.statistics.axes
    ]
    return [header, *rows]


def build_check_rows(comparison: Comparison) -> TableRows:
    """Return how many judged answers pass each structural check; empty without checks."""
    header = (translate("check"), comparison.baseline, comparison.candidate)
    rows = [(check.axis, *format_check_counts(check)) for check in comparison.structural]
    return [header, *rows] if rows else []


def format_check_counts(check: CheckSummary) -> tuple[str, str]:
    """Return for each variant how many of the judged answers passed, and how many were not."""
    counts = zip(check.judged, check.failed, check.abstained, strict=True)
    baseline, candidate = (_format_check_count(*count) for count in counts)
    return baseline, candidate


def _format_check_count(judged: int, failed: int, abstained: int) -> str:
    passed = f"{judged - failed}/{judged}"
    if not abstained:
        return passed
    return f"{passed} {translate('({n:,} not judged)', n=abstained)}"


def format_unjudged_checks(comparison: Comparison) -> Iterator[str]:
    """Yield the checks that could not judge an answer, those with the same reason together."""
    checks: dict[tuple[str, str, str], list[str]] = {}
    for check in comparison.structural:
        for (item, variant), reason in check.reasons.items():
            sides = check.pairs.get(item)
            side = "baseline" if variant == comparison.baseline else "candidate"
            if sides is not None and getattr(sides, side) is None:
                checks.setdefault((item, variant, reason), []).append(check.axis)
    lines = [
        f"{item}, {variant}, {', '.join(axes)}: {translate_stored(reason)}"
        for (item, variant, reason), axes in checks.items()
    ]
    yield from lines[:_QUERIES_SHOWN]
    if len(lines) > _QUERIES_SHOWN:
        yield translate("… and {n} more", n=len(lines) - _QUERIES_SHOWN)


def build_metric_rows(comparison: Comparison) -> TableRows:
    """Return the means of the measured numbers; those known for no query are left out."""
    header = (
        translate("measured"),
        comparison.baseline,
        comparison.candidate,
        translate("difference"),
        translate("queries"),
    )
    rows = [
        (
            metric.metric,
            *format_measured_sides(metric.mean),
            str(metric.n),
        )
        for metric in comparison.operational
        if metric.n
    ]
    return [header, *rows] if rows else []


def format_query_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what was checked and measured on each query: the baseline, then the candidate."""
    lines = [line for query in comparison.queries if (line := _format_query(query, comparison))]
    yield from lines[:_QUERIES_SHOWN]
    if len(lines) > _QUERIES_SHOWN:
        yield translate("… and {n} more queries", n=len(lines) - _QUERIES_SHOWN)


def _format_query(query: Query, comparison: Comparison) -> str:
    checks = [
        f"{check.axis} {_format_check_mark(sides.baseline)} / {_format_check_mark(sides.candidate)}"
        for check in comparison.structural
        if (sides := _get_known(check.pairs.get(query.item)))
    ]
    metrics = [
        f"{metric.metric} {_format_measure(sides.baseline)} / {_format_measure(sides.candidate)}"
        for metric in comparison.operational
        if (sides := _get_known(metric.pairs.get(query.item)))
    ]
    words = "; ".join(filter(None, (", ".join(checks), ", ".join(metrics))))
    return f"{query.item} ({query.mode}): {words}" if words else ""


def _get_known(sides: Sides | None) -> Sides | None:
    """Return the sides if at least one of them is known."""
    return None if sides == Sides(baseline=None, candidate=None) else sides


def _format_check_mark(value: Fraction | None) -> str:
    return "–" if value is None else "✓" if value == 1 else "✗"


def _format_measure(value: Fraction | None) -> str:
    if value is None or value.denominator != 1:
        return format_amount(value)
    return f"{value.numerator:,}"


# Two runs


def build_run_axis_rows(pair: RunPair) -> TableRows:
    """Return the score and the axes of two runs."""
    header = (
        translate("axis"),
        pair.baseline,
        pair.candidate,
        translate("difference"),
        translate("won / lost / tied"),
        translate("p (Holm)"),
    )
    tally = _format_tally(pair.statistics.paired)
    rows = [
        (
            axis.axis,
            *format_sides(pair.axes[axis.axis]),
            _format_tally(axis.paired),
            format_p_value(axis.p_holm),
        )
        for axis in pair.statistics.axes
    ]
    return [header, (translate("score"), *format_sides(pair.score), tally, ""), *rows]


def build_tag_rows(pair: RunPair) -> TableRows:
    """Return the groups of items that lost most; empty if none lost."""
    header = (
        translate("tag"),
        translate("items"),
        translate("difference"),
        translate("won / lost / tied"),
        translate("p (Holm)"),
    )
    rows = [
        (
            f"{tag.tag}={tag.value}",
            str(tag.paired.n),
            format_signed(tag.paired.mean),
            _format_tally(tag.paired),
            format_p_value(tag.p_holm),
        )
        for tag in find_lost_tags(pair)[:TAGS_SHOWN]
    ]
    return [header, *rows] if rows else []


def find_lost_tags(pair: RunPair) -> list[PairedTag]:
    """Return the groups of items that lost, the largest loss first."""
    return [tag for tag in pair.tags if tag.paired.mean is not None and tag.paired.mean < 0]


# What runs took: latency, tokens, cost


def build_measured_rows(comparison: RunsComparison) -> TableRows:
    """Return what was measured of each run, with the ratio of two; empty if nothing was."""
    figures = [figure for figure in _list_figures(comparison.measures) if any(figure[2])]
    if not figures:
        return []
    two = len(comparison.runs) == 2  # noqa: PLR2004 - a ratio is of two
    rows: TableRows = [
        (translate("measured"), *comparison.runs, *((translate("ratio"),) if two else ()))
    ]
    for name, values, counts, places in figures:
        cells = [
            _format_figure(value, n, measures.answers, places)
            for value, n, measures in zip(values, counts, comparison.measures, strict=True)
        ]
        ratio = (format_times(*values),) if two else ()
        rows.append((name, *cells, *ratio))
    return rows


def _list_figures(
    measures: Sequence[Measures],
) -> Iterator[tuple[str, list[Fraction | None], list[int], int]]:
    """Yield each figure: its name, its value in each run, of how many answers, and its places."""
    latencies = [run.latencies for run in measures]
    for name, percent in (
        (translate("latency p50, ms"), _MEDIAN),
        (translate("latency p95, ms"), _P95),
    ):
        yield name, [run.latency_percentile(percent) for run in measures], latencies, 1
    for name, totals, places in (
        (translate("tokens in, an answer"), [run.tokens_in for run in measures], 1),
        (translate("tokens out, an answer"), [run.tokens_out for run in measures], 1),
        (translate("cost of an answer"), [run.cost for run in measures], 9),
    ):
        means = [total.sum / total.n if total.n else None for total in totals]
        yield name, means, [total.n for total in totals], places
    costs = [run.cost for run in measures]
    yield translate("cost in all"), [cost.sum for cost in costs], [cost.n for cost in costs], 9


def _format_figure(value: Fraction | None, n: int, answers: int, places: int) -> str:
    """Format a figure; one that is not known for every answer says for how many it is."""
    if value is None or not n:
        return "–"
    shown = format_amount(value, places)
    if n == answers:
        return shown
    return translate("{value} ({n} of {of})", value=shown, n=n, of=answers)


def format_times(baseline: Fraction | None, candidate: Fraction | None) -> str:
    """Return how many times the baseline's number the candidate's is."""
    if not baseline or candidate is None:
        return "–"
    return f"× {format_decimal(candidate / baseline, 2)}"


# Plans


def build_repeat_rows(plan: ComparisonPlan) -> TableRows:
    """Return how many queries a plan needs, by the number of runs of each query."""
    header = (
        translate("runs of each query"),
        translate("noise"),
        translate("queries"),
        translate("answers"),
    )
    rows = [
        (
            str(row.repeats),
            f"{row.noise:.3f}",
            "–" if row.queries is None else f"{row.queries:,}",
            "–" if row.answers is None else f"{row.answers:,}",
        )
        for row in plan.by_repeats
    ]
    return [header, *rows]


def build_ladder_rows(plan: ComparisonPlan) -> TableRows:
    """Return what growing numbers of queries can show."""
    header = (
        translate("queries"),
        translate("chance to show it"),
        translate("smallest loss ruled out"),
    )
    rows = [(str(r.queries), f"{r.power:.0%}", f"{r.detectable:.2f}") for r in plan.ladder]
    return [header, *rows]
