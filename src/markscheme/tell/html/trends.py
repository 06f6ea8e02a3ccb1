"""The trends of a run: how the runs before it scored, and whose runs they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.charts import drawing as charts
from markscheme.tell.html.figures import Figure
from markscheme.tell.language import translate, translate_plural
from markscheme.tell.runs import format_subject
from markscheme.vocabulary import format_decimal, to_float

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.distribution import ScoreDistribution, TrendPoint
    from markscheme.workflows.run_report import RunReport

_MIN_TREND_RUNS = 2
_SUBJECT_LABEL_LENGTH, _RUN_LABEL_LENGTH = (
    14,
    4,
)  # so many characters of a subject and of an id make a label


def build_trend_figures(report: RunReport) -> Iterator[Figure]:
    """Yield the means over the last runs, where there are some.

    It is one figure, unless several subjects have several runs: then there is a line for each
    subject, and the axes are drawn of the subject of the run alone.
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
    """Draw score and axes over the runs that are followed, whoever they are of."""
    points = known.drift_points
    subjects = {point.subject for point in points}
    lines: list[tuple[str, list[float | None]]] = [
        (translate("score"), [to_float(point.score) for point in points]),
        *((axis, [to_float(point.axes[axis]) for point in points]) for axis in known.axes),
    ]
    mixed = len(subjects) > 1
    labels = [_format_point_label(point) if mixed else point.run for point in points]
    return Figure(
        name=translate("Trend over runs")
        if mixed or subjects == {None}
        else translate("Trend over runs of {subject}", subject=points[0].subject),
        svg=charts.draw_trend(labels, lines),
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
        yield translate("The runs are of {n} subjects, which the labels name.", n=subjects)
    yield translate("The thick line is the score.")
    for drift in known.drifts:
        yield translate(
            "{axis} is trending down: {first} → {last}.",
            axis=drift.axis,
            first=format_decimal(drift.first),
            last=format_decimal(drift.last),
        )


def _draw_subject_trend(known: ScoreDistribution, subject: str | None) -> Figure:
    """Draw the score of every subject as a line of its own, that of the run first."""
    by_subject = known.by_subject
    order = sorted(by_subject, key=lambda who: who != subject)
    lines: list[tuple[str, list[float | None]]] = [
        (
            format_subject(who),
            [to_float(p.score) if p.subject == who else None for p in known.trend],
        )
        for who in order
    ]
    told = [translate("One line for each subject, over the last {n} runs.", n=len(known.trend))]
    if subject in by_subject:
        told.append(translate("The thick line is {subject}.", subject=format_subject(subject)))
    told += [
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
        svg=charts.draw_trend([point.run for point in known.trend], lines, legend=True),
        says=" ".join(told),
        columns=(translate("run"), translate("subject"), translate("score")),
        rows=tuple(
            (p.run, format_subject(p.subject), format_decimal(p.score)) for p in known.trend
        ),
    )


def _format_point_label(point: TrendPoint) -> str:
    """Return a label that says whose run it is, and which."""
    who = format_subject(point.subject)
    short = who if len(who) <= _SUBJECT_LABEL_LENGTH else f"{who[: _SUBJECT_LABEL_LENGTH - 1]}…"
    return f"{short} {point.run[:_RUN_LABEL_LENGTH]}"
