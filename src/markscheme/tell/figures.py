"""The charts of a run: what each draws, what it says in a sentence, and the same as a table."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from markscheme.exact import number, plain, show
from markscheme.tell import charts, colours
from markscheme.tell.item_rows import tag_link
from markscheme.tell.language import say, say_many
from markscheme.values import dataclass
from markscheme.vocabulary import Level
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.tell.reports import Report
    from markscheme.vocabulary import Group
    from markscheme.weigh.distribution import Estimate

_WORST = 12
_PAIRS = 3
_VALUES = 60
_DRAWN = 16
_POINTS = 2
_ALMOST = Fraction(99, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, what it shows in a sentence, and the same as a table where that helps."""

    name: str
    svg: Markup
    says: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


def axes(report: Report) -> list[dict[str, Any]]:
    """Return each axis: weight, colour, and on how many items it lost something."""
    return [
        {
            "name": spec.name,
            "weight": str(spec.weight),
            "colour": at % len(colours.AXES),
            "lost": sum(n for means, n in report.means if (means[spec.name] or 0) < 1),
        }
        for at, spec in enumerate(report.past.rubric)
    ]


def bars(report: Report) -> Figure | None:
    """Draw the weighted axis scores of every item."""
    if not report.items:
        return None
    weights = {spec.name: float(spec.weight) for spec in report.past.rubric}
    values = [
        [weight * (number(item.axes[axis]) or 0) for axis, weight in weights.items()]
        if item.score is not None
        else [0.0] * len(weights)
        for item in report.items
    ]
    full = sum(item.score == 1 for item in report.items)
    lost = "; ".join(
        say_many("{axis}: {n} item", "{axis}: {n} items", axis["lost"], axis=axis["name"])
        for axis in axes(report)
        if axis["lost"]
    )
    says = [say("{full} of {n} items have full marks.", full=f"{full:,}", n=f"{len(values):,}")]
    if lost:
        says.append(say("Points are lost on {axes}.", axes=lost))
    return Figure(
        name=say("Items: weighted axis scores"),
        svg=charts.stacked_bars(values),
        says=" ".join(says),
    )


def axis_means(report: Report) -> Figure | None:
    """Draw the mean of each axis with its interval."""
    known = report.distribution
    if known is None:
        return None
    found = [
        charts.Mean(name=axis, mean=number(one.mean) or 0.0, lower=one.lower, upper=one.upper)
        for axis, one in known.axes.items()
    ]
    return Figure(
        name=say("Mean of each axis"),
        svg=charts.means(found),
        says=say("The mean of each axis over the items, with its 95 % interval."),
        columns=(say("axis"), say("weight"), say("mean"), "95 %"),
        rows=tuple(
            (spec.name, str(spec.weight), show(one.mean), _bounds(one))
            for spec, one in zip(report.past.rubric, known.axes.values(), strict=True)
        ),
    )


def _bounds(found: Estimate) -> str:
    if found.lower is None or found.upper is None:
        return "–"
    return f"{found.lower:.3f} – {found.upper:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """The mean score of every pair of two tags' values, as a chart and as a table with links."""

    key: str
    name: str
    svg: Markup
    says: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str, int], ...]], ...]
    left_out: str


def heat_maps(report: Report, tags: Mapping[str, Sequence[str]]) -> list[HeatMap]:
    """Draw the pairs of tags whose groups differ most, worst values first."""
    known = report.distribution
    if known is None:
        return []
    order: dict[str, list[str]] = {tag: [] for tag in tags if _groups(report, len(tags[tag]))}
    for group in known.groups:
        if group.tag in order:
            order[group.tag].append(group.value)
    found = [_pair(report, *_long_first(pair, order)) for pair in combinations(order, 2)]
    found.sort(key=lambda pair: -pair.spread)
    return [_heat_map(pair, order) for pair in found[:_PAIRS]]


def _groups(report: Report, values: int) -> bool:
    """Whether a tag with so many values puts items together at all."""
    return values > 1 and 3 * values <= 2 * len(report.items)


def _long_first(pair: tuple[str, str], order: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    first, second = pair
    return pair if len(order[first]) >= len(order[second]) else (second, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two tags, the mean of every pair of their values, and how far these are apart."""

    down: str
    across: str
    means: Mapping[tuple[str, str], Fraction]
    spread: float


def _pair(report: Report, down: str, across: str) -> _Pair:
    members: dict[tuple[str, str], list[str]] = {}
    for item in report.past.exam.items:
        if down in item.tags and across in item.tags:
            members.setdefault((item.tags[down], item.tags[across]), []).append(item.id)
    scale, marks = Scale(report.past.rubric), report.past.run.marks
    found = {key: scale.totals(marks.counts(ids)) for key, ids in members.items()}
    means = {key: totals.mean for key, totals in found.items() if totals.mean is not None}
    middle = sum(map(float, means.values())) / max(1, len(means))
    spread = sum(found[key].n * (float(mean) - middle) ** 2 for key, mean in means.items())
    return _Pair(down=down, across=across, means=means, spread=spread)


def _heat_map(pair: _Pair, order: Mapping[str, Sequence[str]]) -> HeatMap:
    down, across = pair.down, pair.across
    rows, columns = order[down][:_VALUES], order[across][:_VALUES]
    cells = {
        (r, c): number(mean) or 0.0
        for r, row in enumerate(rows)
        for c, column in enumerate(columns)
        if (mean := pair.means.get((row, column))) is not None
    }
    hidden = sum(max(0, len(order[tag]) - _DRAWN) for tag in (down, across))
    return HeatMap(
        key=f"{down} × {across}",
        name=say("Mean score by {down} and {across}", down=down, across=across),
        svg=charts.heat_map(rows[:_DRAWN], columns[:_DRAWN], _few(cells)),
        says=_worst(rows, columns, cells),
        columns=tuple(columns),
        rows=tuple((row, tuple(_linked(pair, row, column) for column in columns)) for row in rows),
        left_out=say("{n} further values are not drawn.", n=hidden) if hidden else "",
    )


def _linked(pair: _Pair, row: str, column: str) -> tuple[str, str, int]:
    """Return a cell of the table: its mean, where it leads, and its step."""
    mean = pair.means.get((row, column))
    if mean is None:
        return "", "", -1
    shown, step = _graded(mean)
    return shown, tag_link({pair.down: row, pair.across: column}), step


def _few(cells: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Return the cells that are drawn: a chart is for the eye, the table has more."""
    return {at: value for at, value in cells.items() if max(at) < _DRAWN}


def _worst(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], float]
) -> str:
    below = sorted((value, at) for at, value in cells.items() if value < 1)
    if not below:
        return say("Every pair has full marks.")
    worst = ", ".join(f"{rows[r]} × {columns[c]} {value:.2f}" for value, (r, c) in below[:3])
    return say(
        "{n} of {all} pairs lose points; the worst are {worst}.",
        n=len(below),
        all=len(cells),
        worst=worst,
    )


def by_tag(report: Report) -> list[dict[str, Any]]:
    """Return for each tag its worst values, with the mean of each axis."""
    known = report.distribution
    tags: dict[str, list[Group]] = {}
    for group in known.groups if known else ():
        tags.setdefault(group.tag, []).append(group)
    return [_tag(tag, groups) for tag, groups in tags.items() if _groups(report, len(groups))]


def _tag(tag: str, groups: Sequence[Group]) -> dict[str, Any]:
    shown = groups[:_WORST]
    more = len(groups) - len(shown)
    return {
        "tag": tag,
        "rows": [
            (
                group.value,
                tag_link({tag: group.value}),
                group.n,
                [_graded(group.score), *(_graded(value) for value in group.axes.values())],
            )
            for group in shown
        ],
        "more": say("{n} more, none below {score}.", n=more, score=show(groups[len(shown)].score))
        if more
        else "",
    }


def _graded(value: Fraction) -> tuple[str, int]:
    """Return a mean with two places, and no 1 that is not one, with its step."""
    shown = "1" if value == 1 else show(min(value, _ALMOST), 2)
    return shown, charts.step_of(number(value) or 0.0)


def latency(report: Report) -> Figure | None:
    """Draw how long the answers took, where that was recorded."""
    measures = report.past.run.measures
    if not measures.latency_ms:
        return None
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    limits = [
        charts.Limit(at=number(median) or 0.0, label=f"p50 {_ms(median)}", colour=colours.INK)
    ]
    for found in report.gates.outcomes:
        gate = found.gate
        if gate.metric.startswith("latency") and gate.at_most is not None:
            label = say("{gate}: at most {limit}", gate=gate.name, limit=plain(gate.at_most))
            colour = colours.BAD if gate.level is Level.HARD else colours.WARN
            limits.append(charts.Limit(at=float(gate.at_most), label=label, colour=colour))
    return Figure(
        name=say("Latency"),
        svg=charts.histogram(measures.latency_ms, limits, say("milliseconds")),
        says=say(
            "Of {n} answers half took at most {median} ms, and 95 % at most {slow} ms.",
            n=f"{measures.latencies:,}",
            median=_ms(median),
            slow=_ms(slow),
        ),
    )


def _ms(value: Fraction | None) -> str:
    return f"{number(value) or 0.0:,.1f}".removesuffix(".0")
