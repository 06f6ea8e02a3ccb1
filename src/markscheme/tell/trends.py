"""The trends of a run: how the runs before it scored, and whose runs they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.exact import number, show
from markscheme.tell import charts
from markscheme.tell.figures import Figure
from markscheme.tell.language import say, say_many
from markscheme.tell.stored import whose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.reports import Report
    from markscheme.weigh.distribution import Distribution, Point

_POINTS = 2
_WHO, _WHICH = 14, 4  # so many characters of a subject and of an id make a label


def trends(report: Report) -> Iterator[Figure]:
    """Yield the means over the last runs, where there are some.

    It is one figure, unless several subjects have several runs: then there is a line for each
    subject, and the axes are drawn of the subject of the run alone.
    """
    known = report.distribution
    if known is None or len(known.trend) < _POINTS:
        return
    if not known.apart:
        yield _means(known)
        return
    yield _subjects(known, report.past.run.subject)
    if len(known.own) >= _POINTS:
        yield _means(known)


def _means(known: Distribution) -> Figure:
    """Draw score and axes over the runs that are followed, whoever they are of."""
    points = known.followed
    subjects = {point.subject for point in points}
    lines: list[tuple[str, list[float | None]]] = [
        (say("score"), [number(point.score) for point in points]),
        *((axis, [number(point.axes[axis]) for point in points]) for axis in known.axes),
    ]
    mixed = len(subjects) > 1
    labels = [_label(point) if mixed else point.run for point in points]
    return Figure(
        name=say("Trend over runs")
        if mixed or subjects == {None}
        else say("Trend over runs of {subject}", subject=points[0].subject),
        svg=charts.trend(labels, lines),
        says=" ".join(_means_say(known)),
        columns=(say("run"), *([say("subject")] if mixed else []), say("score"), *known.axes),
        rows=tuple(
            (
                point.run,
                *([whose(point.subject)] if mixed else []),
                show(point.score),
                *(show(point.axes[axis]) for axis in known.axes),
            )
            for point in points
        ),
    )


def _means_say(known: Distribution) -> Iterator[str]:
    points = known.followed
    yield say(
        "Score over the last {n} runs: {first} → {last}.",
        n=len(points),
        first=show(points[0].score),
        last=show(points[-1].score),
    )
    subjects = len({point.subject for point in points})
    if subjects > 1:
        yield say("The runs are of {n} subjects, which the labels name.", n=subjects)
    yield say("The thick line is the score.")
    for drift in known.drifts:
        yield say(
            "{axis} is trending down: {first} → {last}.",
            axis=drift.axis,
            first=show(drift.first),
            last=show(drift.last),
        )


def _subjects(known: Distribution, subject: str | None) -> Figure:
    """Draw the score of every subject as a line of its own, that of the run first."""
    by_subject = known.by_subject
    order = sorted(by_subject, key=lambda who: who != subject)
    lines: list[tuple[str, list[float | None]]] = [
        (whose(who), [number(p.score) if p.subject == who else None for p in known.trend])
        for who in order
    ]
    told = [say("One line for each subject, over the last {n} runs.", n=len(known.trend))]
    if subject in by_subject:
        told.append(say("The thick line is {subject}.", subject=whose(subject)))
    told += [
        say_many(
            "{subject}: {first} → {last} ({n} run).",
            "{subject}: {first} → {last} ({n} runs).",
            len(by_subject[who]),
            subject=whose(who),
            first=show(by_subject[who][0].score),
            last=show(by_subject[who][-1].score),
        )
        for who in order
    ]
    return Figure(
        name=say("Trend by subject"),
        svg=charts.trend([point.run for point in known.trend], lines, legend=True),
        says=" ".join(told),
        columns=(say("run"), say("subject"), say("score")),
        rows=tuple((p.run, whose(p.subject), show(p.score)) for p in known.trend),
    )


def _label(point: Point) -> str:
    """Return a label that says whose run it is, and which."""
    who = whose(point.subject)
    short = who if len(who) <= _WHO else f"{who[: _WHO - 1]}…"
    return f"{short} {point.run[:_WHICH]}"
