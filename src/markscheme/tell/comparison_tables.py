"""A comparison in tables: rows of text, the header first, for every page."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show, signed
from markscheme.tell.language import say, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.comparison import Comparison, Query, Sides
    from markscheme.weigh.figures import Paired

Rows = list[tuple[str, ...]]
_QUERIES_SHOWN = 30


def query_rows(found: Comparison) -> Rows:
    """Return the queries as rows, the header first."""
    header = (
        say("query"),
        say("mode"),
        found.baseline,
        found.candidate,
        say("difference"),
        say("verdict"),
        *(say("asked first"),) * bool(found.first.known),
        say("why"),
    )
    return [header, *(_query_row(query, found) for query in found.queries)]


def _query_row(query: Query, found: Comparison) -> tuple[str, ...]:
    reasons = [*query.reasons, *(say("baseline below the floor"),) * query.baseline_below_floor]
    if query.meaningful_axes:
        axes = ", ".join(query.meaningful_axes)
        reasons.append(say("2+ points on {axes}", axes=axes))
    why = "; ".join(reasons) or ("" if query.verdict else told(query.because))
    return (
        query.item,
        query.mode,
        show(query.mean.baseline),
        show(query.mean.candidate),
        signed(query.mean.difference),
        query.verdict or "–",
        *(query.first or "–",) * bool(found.first.known),
        why,
    )


def aggregate_rows(found: Comparison) -> Rows:
    """Return the means over all queries and by mode."""
    header = (say("mode"), say("queries"), found.baseline, found.candidate, say("difference"))
    parts = {say("all"): found.overall, **found.by_mode}
    return [
        header,
        *(
            (
                mode,
                str(part.n),
                show(part.mean.baseline),
                show(part.mean.candidate),
                signed(part.mean.difference),
            )
            for mode, part in parts.items()
        ),
    ]


def axis_rows(found: Comparison) -> Rows:
    """Return what each scale shows."""
    header = (
        say("axis"),
        say("difference"),
        say("95 % interval"),
        say("won / lost / tied"),
        say("p"),
        say("p (Holm)"),
    )
    labels = {scale.name: scale.label for scale in found.rubric.scales}
    return [
        header,
        *(
            (
                labels.get(axis.axis, axis.axis),
                signed(axis.paired.mean),
                interval(axis.paired),
                f"{axis.paired.wins} / {axis.paired.losses} / {axis.paired.ties}",
                chance(axis.p),
                chance(axis.p_holm),
            )
            for axis in found.statistics.axes
        ),
    ]


def every_two(
    compared: Iterable[tuple[str, str, Paired, Fraction | None, str]], outcome: str
) -> Rows:
    """Return pairs as rows, the header first: two names, what they show, Holm's p, the outcome."""
    header = (
        say("baseline"),
        say("candidate"),
        say("difference"),
        say("95 % interval"),
        say("won / lost / tied"),
        say("p"),
        say("p (Holm)"),
        outcome,
    )
    rows: Rows = [header]
    for baseline, candidate, paired, p_holm, found in compared:
        tally = f"{paired.wins} / {paired.losses} / {paired.ties}"
        p = chance(paired.flips.two_sided if paired.flips else None)
        shown = (signed(paired.mean), interval(paired), tally, p, chance(p_holm))
        rows.append((baseline, candidate, *shown, found))
    return rows


def chance(p: Fraction | None, places: int = 4) -> str:
    """Return a p-value; one that is small is not shown as 0."""
    least = Fraction(1, 10**places)
    return f"< {show(least, places)}" if p is not None and p < least else show(p, places)


def interval(paired: Paired) -> str:
    """Return a t interval; without a spread there is none."""
    if paired.lower is None or paired.upper is None:
        return "–"
    lower, upper = (f"{bound:+.2f}".replace("-", "−") for bound in (paired.lower, paired.upper))
    return say("{lower} to {upper}", lower=lower, upper=upper)


def check_rows(found: Comparison) -> Rows:
    """Return the structural checks side by side: how many of the judged answers pass."""
    header = (say("check"), found.baseline, found.candidate)
    rows = [
        (
            check.axis,
            *(f"{j - f}/{j}" for j, f in zip(check.judged, check.failed, strict=True)),
        )
        for check in found.structural
    ]
    return [header, *rows] if rows else []


def metric_rows(found: Comparison) -> Rows:
    """Return the measured numbers side by side; those that nobody knows are left out."""
    header = (say("measured"), found.baseline, found.candidate, say("difference"), say("queries"))
    rows = [
        (
            metric.metric,
            show(metric.mean.baseline, 2),
            show(metric.mean.candidate, 2),
            signed(metric.mean.difference),
            str(metric.n),
        )
        for metric in found.operational
        if metric.n
    ]
    return [header, *rows] if rows else []


def side_lines(found: Comparison) -> Iterator[str]:
    """Yield what was checked and measured on each query: the baseline, then the candidate."""
    lines = [line for query in found.queries if (line := _side_line(query, found))]
    yield from lines[:_QUERIES_SHOWN]
    if len(lines) > _QUERIES_SHOWN:
        yield say("… and {n} more queries", n=len(lines) - _QUERIES_SHOWN)


def _side_line(query: Query, found: Comparison) -> str:
    checks = [(check.axis, check.pairs.get(query.item)) for check in found.structural]
    metrics = [(metric.metric, metric.pairs.get(query.item)) for metric in found.operational]
    told_of = [
        ", ".join(
            f"{axis} {_mark(s.baseline)} / {_mark(s.candidate)}" for axis, s in _seen(checks)
        ),
        ", ".join(
            f"{metric} {_measure(s.baseline)} / {_measure(s.candidate)}"
            for metric, s in _seen(metrics)
        ),
    ]
    words = "; ".join(filter(None, told_of))
    return f"{query.item} ({query.mode}): {words}" if words else ""


def _seen(sides: list[tuple[str, Sides | None]]) -> Iterator[tuple[str, Sides]]:
    """Yield those of which something is known."""
    for name, both in sides:
        if both is not None and (both.baseline, both.candidate) != (None, None):
            yield name, both


def _mark(value: Fraction | None) -> str:
    return "–" if value is None else "✓" if value == 1 else "✗"


def _measure(value: Fraction | None) -> str:
    if value is None or value.denominator != 1:
        return show(value, 2)
    return f"{value.numerator:,}"
