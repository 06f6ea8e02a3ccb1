"""The charts on the page of a run, each with a sentence that describes it and with a table.

Charts carry no labels for screen readers, so the sentence and the table must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from markscheme.tell import charts
from markscheme.tell.html.item_rows import build_items_link, build_tag_link, compute_bar_parts
from markscheme.tell.language import translate, translate_plural
from markscheme.tell.words import (
    format_axis_title,
    format_mean,
    format_subject,
    format_tag,
    format_tag_key,
)
from markscheme.vocabulary import (
    ZERO,
    ItemStatus,
    Level,
    format_decimal,
    format_fixed,
    format_plain,
    to_float,
    to_fraction,
)
from markscheme.weigh.totals import WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.vocabulary import ScoreBounds, TagGroup
    from markscheme.weigh.distribution import MeanEstimate, ScoreDistribution, TrendPoint
    from markscheme.workflows.report import RunReport

_TAG_VALUES_SHOWN = 12
_HEAT_MAPS_SHOWN = 3
_HEAT_TABLE_VALUES = 60
_HEAT_CHART_VALUES = 16
_ALMOST_ONE = Fraction(99, 100)
_MIN_TREND_RUNS = 2
# How many characters of a subject and of a run's id make the label of a point.
_SUBJECT_LABEL_LENGTH, _RUN_LABEL_LENGTH = 14, 4


_FINE_STATUSES = frozenset({ItemStatus.PASSED, ItemStatus.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, a sentence that describes it (`says`), and the same data as a table."""

    name: str
    svg: Markup
    says: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


def build_axis_views(report: RunReport) -> list[dict[str, Any]]:
    """Return each axis: its weight, its colour, and on how many items it lost points."""
    return [
        {
            "name": spec.name,
            "title": format_axis_title(spec),
            "weight": str(spec.weight),
            "colour": at % len(charts.AXIS_COLOURS),
            "href": build_items_link(axis=spec.name),
            "lost": sum(n for means, n in report.means if (means[spec.name] or 0) < 1),
        }
        for at, spec in enumerate(report.past.rubric)
    ]


def draw_item_bars(report: RunReport) -> Figure | None:
    """Draw the weighted axis scores of every item."""
    if not report.items:
        return None
    weights = {spec.name: Fraction(spec.weight) for spec in report.past.rubric}
    values = [
        [to_float(part) or 0.0 for part in compute_bar_parts(weights, item.axes)]
        if item.score is not None
        else [0.0] * len(weights)
        for item in report.items
    ]
    full = sum(item.score == 1 for item in report.items)
    lost = "; ".join(
        translate_plural("{axis}: {n} item", "{axis}: {n} items", axis["lost"], axis=axis["name"])
        for axis in build_axis_views(report)
        if axis["lost"]
    )
    says = [
        translate("{full} of {n} items have full marks.", full=f"{full:,}", n=f"{len(values):,}")
    ]
    if lost:
        says.append(translate("Points are lost on {axes}.", axes=lost))
    return Figure(
        name=translate("Items: weighted axis scores"),
        svg=charts.draw_stacked_bars(
            values, [item.status not in _FINE_STATUSES for item in report.items]
        ),
        says=" ".join(says),
    )


def build_axis_means_figure(report: RunReport) -> Figure | None:
    """Draw the mean of each axis with its interval."""
    known = report.distribution
    if known is None or not known.axes:
        return None
    titles = {spec.name: format_axis_title(spec) for spec in report.past.rubric}
    found = [
        charts.AxisMean(
            name=titles[axis], mean=to_float(one.mean) or 0.0, lower=one.lower, upper=one.upper
        )
        for axis, one in known.axes.items()
    ]
    return Figure(
        name=translate("Mean of each axis"),
        svg=charts.draw_axis_means(found),
        says=translate("The mean of each axis over the items, with its 95 % interval."),
        columns=(translate("axis"), translate("weight"), translate("mean"), "95 %"),
        rows=tuple(
            (titles[spec.name], str(spec.weight), format_decimal(one.mean), _format_bounds(one))
            for spec in report.past.rubric
            if (one := known.axes.get(spec.name)) is not None
        ),
    )


def _format_bounds(found: MeanEstimate) -> str:
    if found.lower is None or found.upper is None:
        return "–"
    return f"{found.lower:.3f} – {found.upper:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """The mean score for each pair of values of two tags, as a chart and as a table with links."""

    key: str
    name: str
    svg: Markup
    says: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str, int], ...]], ...]
    left_out: str


def build_heat_maps(report: RunReport, tags: Mapping[str, Sequence[str]]) -> list[HeatMap]:
    """Build heat maps for the pairs of tags whose groups differ most, worst values first."""
    known = report.distribution
    if known is None:
        return []
    order: dict[str, list[str]] = {
        tag: [] for tag in tags if _is_grouping_tag(report, len(tags[tag]))
    }
    for group in known.groups:
        if group.tag in order:
            order[group.tag].append(group.value)
    # Of two tags, the one with more values goes down the page.
    ordered = (sorted(pair, key=lambda tag: -len(order[tag])) for pair in combinations(order, 2))
    found = [_build_tag_pair(report, down, across) for down, across in ordered]
    found.sort(key=lambda pair: -pair.spread)
    return [_build_heat_map(pair, order) for pair in found[:_HEAT_MAPS_SHOWN]]


def _is_grouping_tag(report: RunReport, values: int) -> bool:
    """Whether a tag with so many values groups the items: some values must have several items."""
    return values > 1 and 3 * values <= 2 * len(report.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TagPair:
    """Two tags, the mean for each pair of their values, and the spread of these means."""

    down: str
    across: str
    means: Mapping[tuple[str, str], Fraction]
    spread: float


def _build_tag_pair(report: RunReport, down: str, across: str) -> _TagPair:
    members: dict[tuple[str, str], list[str]] = {}
    for item in report.past.exam.items:
        if down in item.tags and across in item.tags:
            members.setdefault((item.tags[down], item.tags[across]), []).append(item.id)
    scale, marks = WeightScale(report.past.rubric), report.past.run.marks
    found = {key: scale.sum_answers(marks.counts(ids)) for key, ids in members.items()}
    means = {key: totals.mean for key, totals in found.items() if totals.mean is not None}
    middle = sum(map(float, means.values())) / max(1, len(means))
    spread = sum(found[key].n * (float(mean) - middle) ** 2 for key, mean in means.items())
    return _TagPair(down=down, across=across, means=means, spread=spread)


def _build_heat_map(pair: _TagPair, order: Mapping[str, Sequence[str]]) -> HeatMap:
    down, across = pair.down, pair.across
    rows, columns = order[down][:_HEAT_TABLE_VALUES], order[across][:_HEAT_TABLE_VALUES]
    cells = {
        (r, c): to_float(mean) or 0.0
        for r, row in enumerate(rows)
        for c, column in enumerate(columns)
        if (mean := pair.means.get((row, column))) is not None
    }
    hidden = sum(max(0, len(order[tag]) - _HEAT_CHART_VALUES) for tag in (down, across))
    row_labels = [format_tag(down, row) for row in rows]
    column_labels = [format_tag(across, column) for column in columns]
    names = {"down": format_tag_key(down), "across": format_tag_key(across)}
    return HeatMap(
        key="{down} × {across}".format(**names),
        name=translate("Mean score by {down} and {across}", **names),
        svg=charts.draw_heat_map(
            row_labels[:_HEAT_CHART_VALUES],
            column_labels[:_HEAT_CHART_VALUES],
            {at: value for at, value in cells.items() if max(at) < _HEAT_CHART_VALUES},
        ),
        says=_describe_worst_pairs(row_labels, column_labels, cells),
        columns=tuple(column_labels),
        rows=tuple(
            (label, tuple(_build_heat_cell(pair, row, column) for column in columns))
            for label, row in zip(row_labels, rows, strict=True)
        ),
        left_out=translate_plural(
            "{n} further value is not drawn.", "{n} further values are not drawn.", hidden
        )
        if hidden
        else "",
    )


def _build_heat_cell(pair: _TagPair, row: str, column: str) -> tuple[str, str, int]:
    """Return a cell of the table: its mean, its link, and its step on the colour scale."""
    mean = pair.means.get((row, column))
    if mean is None:
        return "", "", -1
    shown, step = _format_graded_mean(mean)
    return shown, build_tag_link({pair.down: row, pair.across: column}), step


def _describe_worst_pairs(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], float]
) -> str:
    below = sorted((value, at) for at, value in cells.items() if value < 1)
    if not below:
        return translate("Every pair has full marks.")
    worst = ", ".join(
        f"{rows[r]} × {columns[c]} {format_fixed(to_fraction(value), 2)}"
        for value, (r, c) in below[:3]
    )
    return translate(
        "{n} of {all} pairs lose points; the worst are {worst}.",
        n=len(below),
        all=len(cells),
        worst=worst,
    )


def build_tag_views(report: RunReport) -> list[dict[str, Any]]:
    """Return the worst values of each tag, with the mean of each axis."""
    known = report.distribution
    tags: dict[str, list[TagGroup]] = {}
    for group in known.groups if known else ():
        tags.setdefault(group.tag, []).append(group)
    return [
        _build_tag_view(tag, groups)
        for tag, groups in tags.items()
        if _is_grouping_tag(report, len(groups))
    ]


def _build_tag_view(tag: str, groups: Sequence[TagGroup]) -> dict[str, Any]:
    shown = groups[:_TAG_VALUES_SHOWN]
    more = len(groups) - len(shown)
    return {
        "tag": format_tag_key(tag),
        "rows": [
            (
                format_tag(tag, group.value),
                build_tag_link({tag: group.value}),
                group.n,
                [
                    _format_group_mean(group.score, group.bounds),
                    *(
                        _format_group_mean(value, group.axis_bounds.get(axis))
                        for axis, value in group.axes.items()
                    ),
                ],
            )
            for group in shown
        ],
        "more": translate(
            "{n} more, none below {score}.",
            n=more,
            score=format_decimal(min(map(_get_lowest, groups[len(shown) :]))),
        )
        if more
        else "",
    }


def _get_lowest(group: TagGroup) -> Fraction:
    lowest = group.score if group.bounds is None else group.bounds.low
    return ZERO if lowest is None else lowest


def _format_group_mean(mean: Fraction | None, bounds: ScoreBounds | None) -> tuple[str, int]:
    """Return a mean and its step on the colour scale; bounds and what is n/a have no colour."""
    if mean is not None:
        return _format_graded_mean(mean)
    return format_mean(mean, bounds, 2), -1


def _format_graded_mean(value: Fraction) -> tuple[str, int]:
    """Return a mean with two decimals and its step; only a mean of exactly 1 is shown as 1."""
    shown = "1" if value == 1 else format_decimal(min(value, _ALMOST_ONE), 2)
    return shown, charts.find_heat_step(to_float(value) or 0.0)


def draw_latency(report: RunReport) -> Figure | None:
    """Draw a histogram of the latencies, if they were recorded."""
    measures = report.past.run.measures
    if not measures.latency_ms:
        return None
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    limits = [
        charts.ChartLimit(
            at=to_float(median) or 0.0,
            label=f"p50 {_format_milliseconds(median)}",
            colour=charts.INK,
        )
    ]
    for found in report.gates.outcomes:
        gate = found.gate
        if gate.metric.startswith("latency") and gate.at_most is not None:
            label = translate(
                "{gate}: at most {limit}", gate=gate.name, limit=format_plain(gate.at_most)
            )
            colour = charts.BAD if gate.level is Level.HARD else charts.WARN
            limits.append(charts.ChartLimit(at=float(gate.at_most), label=label, colour=colour))
    return Figure(
        name=translate("Latency"),
        svg=charts.draw_histogram(measures.latency_ms, limits, translate("milliseconds")),
        says=translate(
            "Of {n} answers half took at most {median} ms, and 95 % at most {slow} ms.",
            n=f"{measures.latencies:,}",
            median=_format_milliseconds(median),
            slow=_format_milliseconds(slow),
        ),
    )


def _format_milliseconds(value: Fraction | None) -> str:
    return f"{to_float(value) or 0.0:,.1f}".removesuffix(".0")


def build_trend_figures(report: RunReport) -> Iterator[Figure]:
    """Yield the means over the last runs, if there are several.

    It is one figure if all runs are of one subject, or each of another one, such as releases. Else
    the first figure has a line for each subject, and the second shows the axes of this run's
    subject only.
    """
    known = report.distribution
    if known is None or len(known.trend) < _MIN_TREND_RUNS:
        return
    if not known.has_subject_trends:
        yield _draw_mean_trend(known)
        return
    yield _draw_subject_trend(known, report.past.run.subject)
    if len(known.own_trend) >= _MIN_TREND_RUNS:
        yield _draw_mean_trend(known)


def _draw_mean_trend(known: ScoreDistribution) -> Figure:
    """Draw score and axes over the runs in which drifts are looked for."""
    points = known.drift_points
    subjects = {point.subject for point in points}
    lines: list[tuple[str, list[float | None]]] = [
        (translate("score"), [to_float(point.score) for point in points]),
        *((axis, [to_float(point.axes[axis]) for point in points]) for axis in known.axes),
    ]
    mixed = len(subjects) > 1
    labels = [_format_point_label(point, with_subject=mixed) for point in points]
    return Figure(
        name=translate("Trend over runs")
        if mixed or subjects == {None}
        else translate("Trend over runs of {subject}", subject=points[0].subject),
        svg=charts.draw_trend(labels, lines, joined=not mixed),
        says=" ".join(_describe_mean_trend(known)),
        columns=(
            translate("run"),
            *([translate("subject")] if mixed else []),
            translate("score"),
            *known.axes,
        ),
        rows=tuple(
            (
                point.run,
                *([format_subject(point.subject)] if mixed else []),
                format_decimal(point.score),
                *(format_decimal(point.axes[axis]) for axis in known.axes),
            )
            for point in points
        ),
    )


def _describe_mean_trend(known: ScoreDistribution) -> Iterator[str]:
    points = known.drift_points
    yield translate(
        "Score over the last {n} runs: {first} → {last}.",
        n=len(points),
        first=format_decimal(points[0].score),
        last=format_decimal(points[-1].score),
    )
    subjects = len({point.subject for point in points})
    if subjects > 1:
        yield translate(
            "The runs are of {n} subjects, which the labels name, so no line joins them.",
            n=subjects,
        )
    else:
        yield translate("The thick line is the score.")
    for drift in known.drifts:
        yield translate(
            "{axis} is trending down: {first} → {last}.",
            axis=drift.axis,
            first=format_decimal(drift.first),
            last=format_decimal(drift.last),
        )


def _draw_subject_trend(known: ScoreDistribution, subject: str | None) -> Figure:
    """Draw a line of scores for each subject; the subject of this run comes first."""
    by_subject = known.by_subject
    order = sorted(by_subject, key=lambda who: who != subject)
    lines: list[tuple[str, list[float | None]]] = [
        (
            format_subject(who),
            [to_float(p.score) if p.subject == who else None for p in known.trend],
        )
        for who in order
    ]
    sentences = [
        translate("One line for each subject, over the last {n} runs.", n=len(known.trend))
    ]
    if subject in by_subject:
        sentences.append(translate("The thick line is {subject}.", subject=format_subject(subject)))
    sentences += [
        translate_plural(
            "{subject}: {first} → {last} ({n} run).",
            "{subject}: {first} → {last} ({n} runs).",
            len(by_subject[who]),
            subject=format_subject(who),
            first=format_decimal(by_subject[who][0].score),
            last=format_decimal(by_subject[who][-1].score),
        )
        for who in order
    ]
    return Figure(
        name=translate("Trend by subject"),
        svg=charts.draw_trend([*map(_format_point_label, known.trend)], lines, legend=True),
        says=" ".join(sentences),
        columns=(translate("run"), translate("subject"), translate("score")),
        rows=tuple(
            (p.run, format_subject(p.subject), format_decimal(p.score)) for p in known.trend
        ),
    )


def _format_point_label(point: TrendPoint, *, with_subject: bool = False) -> str:
    """Return the day of a run and the beginning of its id, and of its subject if wanted."""
    day = "" if point.started is None else f"{point.started:%m-%d} "
    label = f"{day}{point.run[:_RUN_LABEL_LENGTH]}"
    if not with_subject:
        return label
    who = format_subject(point.subject)
    short = who if len(who) <= _SUBJECT_LABEL_LENGTH else f"{who[: _SUBJECT_LABEL_LENGTH - 1]}…"
    return f"{short} {label}"
