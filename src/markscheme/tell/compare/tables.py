"""A comparison in tables: rows of text, the header first, for every page."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import format_decimal, format_signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.compare import Comparison, PairedSummary, Query, Sides

TableRows = list[tuple[str, ...]]
_QUERIES_SHOWN = 30


def build_query_rows(found: Comparison) -> TableRows:
    """Return the queries as rows, the header first."""
    header = (
        translate("query"),
        translate("mode"),
        found.baseline,
        found.candidate,
        translate("difference"),
        translate("verdict"),
        *(translate("asked first"),) * bool(found.first.known),
        translate("why"),
    )
    return [header, *(_build_query_row(query, found) for query in found.queries)]


def _build_query_row(query: Query, found: Comparison) -> tuple[str, ...]:
    reasons = [
        *query.reasons,
        *(translate("baseline below the floor"),) * query.baseline_below_floor,
    ]
    if query.meaningful_axes:
        axes = ", ".join(query.meaningful_axes)
        reasons.append(translate("2+ points on {axes}", axes=axes))
    why = "; ".join(reasons) or ("" if query.verdict else translate_stored(query.because))
    return (
        query.item,
        query.mode,
        format_decimal(query.mean.baseline),
        format_decimal(query.mean.candidate),
        format_signed(query.mean.difference),
        query.verdict or "–",
        *(query.first or "–",) * bool(found.first.known),
        why,
    )


def build_aggregate_rows(found: Comparison) -> TableRows:
    """Return the means over all queries and by mode."""
    header = (
        translate("mode"),
        translate("queries"),
        found.baseline,
        found.candidate,
        translate("difference"),
    )
    parts = {translate("all"): found.overall, **found.by_mode}
    return [
        header,
        *(
            (
                mode,
                str(part.n),
                format_decimal(part.mean.baseline),
                format_decimal(part.mean.candidate),
                format_signed(part.mean.difference),
            )
            for mode, part in parts.items()
        ),
    ]


def build_axis_rows(found: Comparison) -> TableRows:
    """Return what each scale shows."""
    header = (
        translate("axis"),
        translate("difference"),
        translate("95 % interval"),
        translate("won / lost / tied"),
        translate("p"),
        translate("p (Holm)"),
    )
    labels = {scale.name: scale.label for scale in found.rubric.scales}
    return [
        header,
        *(
            (
                labels.get(axis.axis, axis.axis),
                format_signed(axis.paired.mean),
                format_interval(axis.paired),
                f"{axis.paired.wins} / {axis.paired.losses} / {axis.paired.ties}",
                format_p_value(axis.p),
                format_p_value(axis.p_holm),
            )
            for axis in found.statistics.axes
        ),
    ]


def build_pair_rows(
    compared: Iterable[tuple[str, str, PairedSummary, Fraction | None, str]], outcome: str
) -> TableRows:
    """Return pairs as rows, the header first: two names, what they show, Holm's p, the outcome."""
    header = (
        translate("baseline"),
        translate("candidate"),
        translate("difference"),
        translate("95 % interval"),
        translate("won / lost / tied"),
        translate("p"),
        translate("p (Holm)"),
        outcome,
    )
    rows: TableRows = [header]
    for baseline, candidate, paired, p_holm, found in compared:
        tally = f"{paired.wins} / {paired.losses} / {paired.ties}"
        p = format_p_value(paired.flips.two_sided if paired.flips else None)
        shown = (
            format_signed(paired.mean),
            format_interval(paired),
            tally,
            p,
            format_p_value(p_holm),
        )
        rows.append((baseline, candidate, *shown, found))
    return rows


def format_p_value(p: Fraction | None, places: int = 4) -> str:
    """Return a p-value; one that is small is not shown as 0."""
    least = Fraction(1, 10**places)
    return (
        f"< {format_decimal(least, places)}"
        if p is not None and p < least
        else format_decimal(p, places)
    )


def format_interval(paired: PairedSummary) -> str:
    """Return a t interval; without a spread there is none."""
    if paired.lower is None or paired.upper is None:
        return "–"
    lower, upper = (f"{bound:+.2f}".replace("-", "−") for bound in (paired.lower, paired.upper))
    return translate("{lower} to {upper}", lower=lower, upper=upper)


def build_check_rows(found: Comparison) -> TableRows:
    """Return the structural checks side by side: how many of the judged answers pass."""
    header = (translate("check"), found.baseline, found.candidate)
    rows = [
        (
            check.axis,
            *(f"{j - f}/{j}" for j, f in zip(check.judged, check.failed, strict=True)),
        )
        for check in found.structural
    ]
    return [header, *rows] if rows else []


def build_metric_rows(found: Comparison) -> TableRows:
    """Return the measured numbers side by side; those that nobody knows are left out."""
    header = (
        translate("measured"),
        found.baseline,
        found.candidate,
        translate("difference"),
        translate("queries"),
    )
    rows = [
        (
            metric.metric,
            format_decimal(metric.mean.baseline, 2),
            format_decimal(metric.mean.candidate, 2),
            format_signed(metric.mean.difference),
            str(metric.n),
        )
        for metric in found.operational
        if metric.n
    ]
    return [header, *rows] if rows else []


def format_side_lines(found: Comparison) -> Iterator[str]:
    """Yield what was checked and measured on each query: the baseline, then the candidate."""
    lines = [line for query in found.queries if (line := _format_side_line(query, found))]
    yield from lines[:_QUERIES_SHOWN]
    if len(lines) > _QUERIES_SHOWN:
        yield translate("… and {n} more queries", n=len(lines) - _QUERIES_SHOWN)


def _format_side_line(query: Query, found: Comparison) -> str:
    checks = [(check.axis, check.pairs.get(query.item)) for check in found.structural]
    metrics = [(metric.metric, metric.pairs.get(query.item)) for metric in found.operational]
    told_of = [
        ", ".join(
            f"{axis} {_format_check_mark(s.baseline)} / {_format_check_mark(s.candidate)}"
            for axis, s in _filter_known(checks)
        ),
        ", ".join(
            f"{metric} {_format_measure(s.baseline)} / {_format_measure(s.candidate)}"
            for metric, s in _filter_known(metrics)
        ),
    ]
    words = "; ".join(filter(None, told_of))
    return f"{query.item} ({query.mode}): {words}" if words else ""


def _filter_known(sides: list[tuple[str, Sides | None]]) -> Iterator[tuple[str, Sides]]:
    """Yield those of which something is known."""
    for name, both in sides:
        if both is not None and (both.baseline, both.candidate) != (None, None):
            yield name, both


def _format_check_mark(value: Fraction | None) -> str:
    return "–" if value is None else "✓" if value == 1 else "✗"


def _format_measure(value: Fraction | None) -> str:
    if value is None or value.denominator != 1:
        return format_decimal(value, 2)
    return f"{value.numerator:,}"
