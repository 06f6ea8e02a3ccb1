"""A judged run as Markdown: a comment on a pull request, or the summary of a CI job.

What models and files say is text, never markup: it stands in code spans, where no HTML, link,
mention or reference is alive. The length is bounded, because comments are.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from markscheme.exact import plain, show, signed
from markscheme.tell.bad_rows import name_of, reason_of
from markscheme.tell.language import say, told
from markscheme.tell.reports import (
    EVIDENCE,
    FIRST,
    LEVELS,
    OUTCOMES,
    ItemStatus,
    item_line,
    lost_axes,
    reason,
)
from markscheme.vocabulary import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markscheme.tell.reports import Report, Row
    from markscheme.vocabulary import Gate
    from markscheme.weigh.outcomes import BaselineReport, GateOutcome, ItemChange

_ITEMS_SHOWN = 20
_NAMES_SHOWN = 50
_BAD_ROWS = 5
_LONGEST = 300
_SIGNS = {
    Outcome.PASS: "✅",
    Outcome.WARN: "⚠️",
    Outcome.FAIL: "❌",
    Outcome.UNDECIDED: "❔",
    Outcome.NOT_APPLICABLE: "⚪",
}
_MARKUP = re.compile(r"([\\`*_\[\]<>#!|~&$])")
_ALIVE = re.compile(r"(?<=@)|(?<=://)|(?<=www)(?=\.)|(?<=\\#)", re.IGNORECASE)


def markdown(report: Report) -> str:
    """Return the whole comment."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    sign = _SIGNS[report.gates.verdict]
    yield f"### {sign} markscheme: {sentence(report.verdict)}"
    yield ""
    yield sentence(report.title)
    if report.gates.outcomes:
        yield ""
        heads = (say("observed"), say("limit"), say("margin"), say("why"))
        yield f"| {say('gate')} | | {' | '.join(heads)} |"
        yield "|---|---|--:|--:|--:|---|"
        yield from map(_gate, report.gates.outcomes)
    for found in report.comparisons:
        yield from _comparison(found, report)
    yield from _patterns(report)
    yield from _bad_rows(report)
    yield from _failing(report)


def _patterns(report: Report) -> Iterator[str]:
    if report.patterns:
        yield f"\n#### {say('What to look at first')}\n"
        for number, found in enumerate(report.patterns[:FIRST], start=1):
            yield f"{number}. {sentence(told(found.sentence))} → {sentence(told(found.action))}"


def _bad_rows(report: Report) -> Iterator[str]:
    total, shown = report.past.run.marks.errors, report.bad_rows[:_BAD_ROWS]
    if not shown:
        return
    what = name_of(total, live=report.is_live)
    yield f"\n**{what} ({say('not scored')}):**\n"
    for row in shown:
        said = f" {code(row.excerpt)}" if row.excerpt else ""
        yield f"- {sentence(reason_of(row, live=report.is_live))}{said}"
    if total > len(shown):
        yield f"- {say('… and {n:,} more', n=total - len(shown))}"


def _gate(found: GateOutcome) -> str:
    gate = found.gate
    cells = (
        f"{code(gate.name, cell=True)} ({told(LEVELS[gate.level])})",
        f"{_SIGNS[found.outcome]} {told(OUTCOMES[found.outcome])}",
        show(found.observed),
        sentence(limit_of(gate)),
        signed(found.margin),
        sentence(told(found.because)),
    )
    return f"| {' | '.join(cells)} |"


def limit_of(gate: Gate) -> str:
    """Return the limit of a gate in short."""
    if gate.baseline is not None:
        return say("a drop of {limit}", limit=gate.baseline.max_drop)
    limits = (("≥", gate.at_least), ("≤", gate.at_most))
    said = [f"{sign} {plain(limit)}" for sign, limit in limits if limit is not None]
    return f" {say('and')} ".join(said)


def _comparison(found: BaselineReport, report: Report) -> Iterator[str]:
    yield ""
    yield "#### " + say("Since the baseline {baseline}", baseline=code(found.baseline))
    yield ""
    yield f"| | {say('baseline')} | {say('now')} | {say('change')} |"
    yield "|---|--:|--:|--:|"
    before, after = show(found.before), show(found.after)
    yield f"| **{say('score')}** | {before} | {after} | {signed(found.change)} |"
    for moved in found.axes:
        axis = code(moved.axis, cell=True)
        before, after = show(moved.before), show(moved.after)
        yield f"| {axis} | {before} | {after} | {signed(moved.change)} |"
    if found.evidence is not None:
        outcome, because = EVIDENCE[found.evidence.outcome], found.evidence.because
        yield f"\n**{say('Evidence')}:** {sentence(f'{told(outcome)} ({told(because)})')}"
    if found.warning:
        yield f"\n**⚠️ {say('Suspicious rise')}:** {sentence(told(found.warning))}"
        yield from _changes(say("Items that moved"), found.moved, None)
    yield from _changes(say("Items that went from pass to fail"), found.regressed, report)
    yield from _changes(say("Items that went from fail to pass"), found.recovered, None)
    new, gone = say("New items"), say("Items that are gone")
    for what, names in ((new, found.added), (gone, found.removed)):
        if names:
            yield f"\n**{what} ({len(names):,}):** {_named(names)}"


def _changes(what: str, changes: Sequence[ItemChange], report: Report | None) -> Iterator[str]:
    """Yield items that moved, with the reasons of what they lost where the report has them."""
    if not changes:
        return
    yield f"\n**{what} ({len(changes):,}):**\n"
    for change in changes[:_ITEMS_SHOWN]:
        axes = ", ".join(f"{code(axis)} {signed(by)}" for axis, by in change.axes.items())
        yield f"- {code(change.item)}: {show(change.before)} → {show(change.after)} ({axes})"
        item = report.item(change.item) if report else None
        yield from _reasons(item.answers if item else (), report)
    if len(changes) > _ITEMS_SHOWN:
        yield f"- {say('… and {n:,} more', n=len(changes) - _ITEMS_SHOWN)}"


def _failing(report: Report) -> Iterator[str]:
    """Yield the items that do not pass and are not told as regressed already, folded away."""
    known = {change.item for found in report.comparisons for change in found.regressed}
    failing = [
        item
        for item in report.items
        if item.status is not ItemStatus.PASSED and item.item not in known
    ]
    if not failing:
        return
    n = len(failing)
    what = (
        say("Not passing: {n:,} other items", n=n)
        if known
        else say("Not passing: {n:,} items", n=n)
    )
    yield f"\n<details><summary>{what}</summary>\n"
    for item in failing[:_ITEMS_SHOWN]:
        yield f"- {code(item.item)}: {sentence(item_line(item, report.past.rubric))}"
        yield from _reasons(item.answers, report)
    if len(failing) > _ITEMS_SHOWN:
        yield f"- {say('… and {n:,} more', n=len(failing) - _ITEMS_SHOWN)}"
    yield "\n</details>"


def _reasons(answers: Iterable[Row], report: Report | None) -> Iterator[str]:
    """Yield why the first of the answers lost its points."""
    if report is None:
        return
    for row in islice(answers, 1):
        for axis in lost_axes(row, report.past.rubric):
            yield f"  - {code(axis)}: {code(reason(row, axis))}"


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(map(code, names[:_NAMES_SHOWN]))
    more = len(names) - _NAMES_SHOWN
    return f"{shown} {say('and {n:,} more', n=more)}" if more > 0 else shown


def code(text: str, *, cell: bool = False) -> str:
    """Return foreign text as a code span on one line, in which nothing is alive."""
    flat = _flat(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    edge = " " if flat.startswith("`") or flat.endswith("`") else ""
    span = f"{fence}{edge}{flat or '–'}{edge}{fence}"
    return span.replace("|", "\\|") if cell else span


def sentence(text: str) -> str:
    """Return a sentence of ours, which may name foreign things, with no markup alive in it."""
    return _ALIVE.sub("\u200b", _MARKUP.sub(r"\\\1", _flat(text)))


def _flat(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
