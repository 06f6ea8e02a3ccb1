"""What the page of a run shows above its items: verdict, score, gates, what to fix, charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from markscheme.exact import number, plain, show
from markscheme.tell import charts
from markscheme.tell.item_rows import link, status_word, tag_link
from markscheme.tell.language import say, say_many, told
from markscheme.tell.reports import ItemStatus
from markscheme.tell.verdicts import signed
from markscheme.vocabulary import Level, Outcome
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.tell.reports import Pattern, Report
    from markscheme.vocabulary import Gate, Group
    from markscheme.weigh.distribution import Estimate
    from markscheme.weigh.outcomes import BaselineReport, GateOutcome, ItemChange

_LOSSES = 8
_CHANGES = 30
_GROUPS = 12
_PAIRS = 3
_VALUES = 60
_DRAWN = 16
_POINTS = 2
_SMALL = Fraction(1, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, what it shows in a sentence, and the same as a table where that helps."""

    name: str
    svg: Markup
    says: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    left_out: str = ""


def verdict(report: Report) -> dict[str, str]:
    """Return what follows from all gates, in a word and a sentence."""
    words = {
        Outcome.PASS: say("PASS"),
        Outcome.FAIL: say("FAIL"),
        Outcome.UNDECIDED: say("CANNOT TELL"),
    }
    found = report.gates
    return {
        "kind": found.verdict.value,
        "word": words[found.verdict],
        "because": told(found.because),
    }


def heading(report: Report) -> str:
    """Say in short what was examined."""
    past = report.past
    who = past.run.subject or say("run {run}", run=past.run.name)
    return say("{subject} on {exam}", subject=who, exam=past.exam.name)


def facts(report: Report) -> list[tuple[str, str]]:
    """Return which run it is, as pairs of a term and what it is."""
    past, stored, beside = report.past, report.stored, report.baseline
    missing = sum(item.status is ItemStatus.MISSING for item in report.items)
    found = [
        (say("run"), past.run.name),
        (say("rubric"), f"{past.rubric.name} v{past.rubric.version}"),
        (say("items"), f"{len(past.exam.items):,}"),
    ]
    if missing:
        found.append((say("no answer"), f"{missing:,}"))
    if stored is not None:
        found.append((say("when"), f"{stored.started:%Y-%m-%d %H:%M} UTC"))
    if beside is not None:
        found.append((say("baseline"), beside.id))
    return found


def score(report: Report) -> dict[str, Any] | None:
    """Return the score with its interval, beside the limits that it is held against."""
    known = report.distribution
    if known is None:
        return None
    mean = Scale(report.past.rubric).totals(report.past.run.marks.counts()).mean or Fraction(0)
    limits = list(_score_limits(report))
    bounds = None
    if known.score.lower is not None and known.score.upper is not None:
        bounds = (known.score.lower, known.score.upper)
    met = all(mean >= Fraction(str(limit.at)) for limit in limits[:1])
    return {
        "shown": show(mean),
        "interval": _interval(known.score),
        "svg": charts.score_strip(number(mean) or 0.0, bounds, limits, met=met),
        "says": "; ".join(
            (
                say("Score {score}", score=show(mean)),
                _interval(known.score),
                *(limit.label for limit in limits),
            )
        ),
        "passed": say(
            "{passed} of {n} items pass",
            passed=f"{int(known.passed.mean * known.items):,}",
            n=f"{known.items:,}",
        ),
    }


def _score_limits(report: Report) -> Iterator[charts.Limit]:
    for found in report.gates.outcomes:
        gate = found.gate
        if gate.metric == "score" and not gate.axis and not gate.tags and gate.at_least is not None:
            label = say("{gate}: at least {limit}", gate=gate.name, limit=plain(gate.at_least))
            hard = gate.level is Level.HARD
            colour = charts.BAD if hard else charts.WARN
            yield charts.Limit(at=float(gate.at_least), label=label, colour=colour)
            if gate.target is not None:
                told_ = say("target {limit}", limit=plain(gate.target))
                yield charts.Limit(at=float(gate.target), label=told_, colour=charts.GOOD)


def _interval(found: Estimate) -> str:
    if found.lower is None or found.upper is None:
        return say("no interval: one item")
    return say(
        "95 % interval {lower} to {upper}",
        lower=f"{found.lower:.3f}",
        upper=f"{found.upper:.3f}",
    )


def gates(report: Report) -> list[dict[str, str]]:
    """Return each gate: met or not, what was seen, its limit, and why."""
    return [_gate(found) for found in report.gates.outcomes]


def _gate(found: GateOutcome) -> dict[str, str]:
    words = {
        Outcome.PASS: say("met"),
        Outcome.WARN: say("not met, a warning"),
        Outcome.FAIL: say("not met"),
        Outcome.UNDECIDED: say("cannot tell"),
        Outcome.NOT_APPLICABLE: say("does not apply"),
    }
    gate = found.gate
    return {
        "name": gate.name,
        "level": say("hard") if gate.level is Level.HARD else say("soft"),
        "kind": found.outcome.value.split()[0],
        "word": words[found.outcome],
        "observed": show(found.observed),
        "limit": limit_of(gate),
        "margin": signed(found.margin),
        "because": told(found.because),
    }


def limit_of(gate: Gate) -> str:
    """Return the limit of a gate in short."""
    if gate.baseline is not None:
        return say("a drop of {drop}", drop=gate.baseline.max_drop)
    limits = (("≥", gate.at_least), ("≤", gate.at_most))
    return ", ".join(f"{sign} {plain(limit)}" for sign, limit in limits if limit is not None)


def patterns(report: Report) -> list[dict[str, Any]]:
    """Return the faults that show in many items, with their evidence."""
    return [_pattern(found) for found in report.patterns]


def _pattern(found: Pattern) -> dict[str, Any]:
    luck = ""
    if found.p is not None:
        p = "< 0.0001" if found.p < _SMALL else f"{float(found.p):.2g}"
        luck = say("chance of seeing this by luck: {p}", p=p)
    state = {"axis": found.axis} if found.axis else {}
    return {
        "sentence": told(found.sentence),
        "action": told(found.action),
        "evidence": [told(line) for line in found.evidence],
        "count": say("{hits} of {of}", hits=f"{found.hits:,}", of=f"{found.of:,}"),
        "luck": luck,
        "href": tag_link(found.tags, **state) if found.tags or state else "",
        "items": [(item, link(open=item)) for item in found.items[:_LOSSES]],
        "more": max(0, len(found.items) - _LOSSES),
    }


def losses(report: Report) -> list[dict[str, Any]]:
    """Return the items that cost most, the worst first: without a score, then by what they lose."""
    lossy = [item for item in report.items if item.score != 1]
    lossy.sort(key=lambda item: -1.0 if item.score is None else float(item.score))
    return [
        {
            "item": item.item,
            "href": link(open=item.item),
            "lost": "–" if item.score is None else f"−{show(1 - item.score)}",
            "axes": status_word(item.status)
            if item.score is None
            else ", ".join(axis for axis, value in item.axes.items() if value != 1),
        }
        for item in lossy[:_LOSSES]
    ]


def comparisons(report: Report) -> list[dict[str, Any]]:
    """Return what moved since the baseline."""
    return [_comparison(found) for found in report.comparisons]


def _comparison(found: BaselineReport) -> dict[str, Any]:
    evidence = found.evidence
    return {
        "baseline": found.baseline,
        "rows": [
            (say("score"), show(found.before), show(found.after), signed(found.change)),
            *(
                (moved.axis, show(moved.before), show(moved.after), signed(moved.change))
                for moved in found.axes
            ),
        ],
        "evidence": told(evidence.because) if evidence else "",
        "warning": told(found.warning) if found.warning else "",
        "lists": [
            (told_, len(changes), [_change(change) for change in changes[:_CHANGES]])
            for told_, changes in (
                (say("Went from pass to fail"), found.regressed),
                (say("Went from fail to pass"), found.recovered),
            )
            if changes
        ],
        "moved": len(found.moved),
        "href": link(show="changed"),
    }


def _change(change: ItemChange) -> tuple[str, str, str]:
    return change.item, link(open=change.item), f"{show(change.before)} → {show(change.after)}"


def axes(report: Report) -> list[dict[str, Any]]:
    """Return each axis: weight, colour, and on how many items it lost something."""
    return [
        {
            "name": spec.name,
            "weight": plain(spec.weight),
            "colour": at % len(charts.AXES),
            "lost": sum(
                item.score is not None and (item.axes[spec.name] or 0) < 1 for item in report.items
            ),
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
    told_ = say("{full} of {n} items have full marks.", full=f"{full:,}", n=f"{len(values):,}")
    return Figure(
        name=say("Items: weighted axis scores"),
        svg=charts.stacked_bars(values),
        says=f"{told_} {say('Points are lost on {axes}.', axes=lost)}" if lost else told_,
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
            (spec.name, plain(spec.weight), show(one.mean), _bounds(one))
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
    return *_graded(mean)[:1], tag_link({pair.down: row, pair.across: column}), _graded(mean)[1]


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
    shown = groups[:_GROUPS]
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
    return show(value, 2) if value != 1 else "1", charts.step_of(number(value) or 0.0)


def latency(report: Report) -> Figure | None:
    """Draw how long the answers took, where that was recorded."""
    measures = report.past.run.measures
    if not measures.latency_ms:
        return None
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    limits = [
        charts.Limit(at=number(median) or 0.0, label=f"p50 {show(median, 0)}", colour=charts.INK)
    ]
    for found in report.gates.outcomes:
        gate = found.gate
        if gate.metric.startswith("latency") and gate.at_most is not None:
            label = say("{gate}: at most {limit}", gate=gate.name, limit=plain(gate.at_most))
            colour = charts.BAD if gate.level is Level.HARD else charts.WARN
            limits.append(charts.Limit(at=float(gate.at_most), label=label, colour=colour))
    return Figure(
        name=say("Latency"),
        svg=charts.histogram(measures.latency_ms, limits, say("milliseconds")),
        says=say(
            "Of {n} answers half took at most {median} ms, and 95 % at most {slow} ms.",
            n=f"{measures.latencies:,}",
            median=show(median, 1),
            slow=show(slow, 1),
        ),
    )


def trend(report: Report) -> Figure | None:
    """Draw the means over the last runs, where there are some."""
    known = report.distribution
    if known is None or len(known.trend) < _POINTS:
        return None
    points = known.trend
    lines = {
        say("score"): [number(point.score) or 0.0 for point in points],
        **{axis: [number(point.axes[axis]) or 0.0 for point in points] for axis in known.axes},
    }
    drifting = [
        say(
            "{axis} is trending down: {first} → {last}.",
            axis=drift.axis,
            first=show(drift.first),
            last=show(drift.last),
        )
        for drift in known.drifts
    ]
    told_ = say(
        "Score over the last {n} runs: {first} → {last}.",
        n=len(points),
        first=show(points[0].score),
        last=show(points[-1].score),
    )
    return Figure(
        name=say("Trend over runs"),
        svg=charts.trend([point.run for point in points], lines),
        says=" ".join((told_, *drifting)),
        columns=(say("run"), say("score"), *known.axes),
        rows=tuple(
            (point.run, show(point.score), *(show(point.axes[axis]) for axis in known.axes))
            for point in points
        ),
    )
