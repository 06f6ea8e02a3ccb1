"""A judged run as Markdown: a comment on a pull request, or the summary of a CI job.

What models and files say is text, never markup: it stands in code spans, where no HTML, link,
mention or reference is alive. The length is bounded, because comments are.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from markscheme.tell.bad_rows import format_bad_row_count, format_bad_row_reason
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.words import (
    EVIDENCE_WORDS,
    LEVEL_WORDS,
    OUTCOME_WORDS,
    PATTERNS_SHOWN,
    find_lost_axes,
    format_cell_reason,
    format_item_line,
    format_run_title,
    format_verdict,
)
from markscheme.vocabulary import ItemStatus, Outcome, format_decimal, format_plain, format_signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markscheme.vocabulary import Gate, Row
    from markscheme.weigh.gates import BaselineReport, GateOutcome, ItemChange
    from markscheme.workflows.run_report import RunReport

_MARKDOWN_ITEMS_SHOWN = 20
_NAMES_SHOWN = 50
_BAD_ROWS_SHOWN = 5
_MARKDOWN_TEXT_LENGTH = 300
_OUTCOME_SIGNS = {
    Outcome.PASS: "✅",
    Outcome.WARN: "⚠️",
    Outcome.FAIL: "❌",
    Outcome.UNDECIDED: "❔",
    Outcome.NOT_APPLICABLE: "⚪",
}
_MARKUP_CHARACTERS = re.compile(r"([\\`*_\[\]<>#!|~&$])")
_AUTOLINK_POINTS = re.compile(r"(?<=@)|(?<=://)|(?<=www)(?=\.)|(?<=\\#)", re.IGNORECASE)


def render_run_markdown(report: RunReport) -> str:
    """Return the whole comment."""
    return "\n".join(_format_report_lines(report)) + "\n"


def _format_report_lines(report: RunReport) -> Iterator[str]:
    sign = _OUTCOME_SIGNS[report.gates.verdict]
    yield f"### {sign} markscheme: {escape_markdown(format_verdict(report.gates))}"
    yield ""
    yield escape_markdown(format_run_title(report.past, report.stored))
    if report.gates.outcomes:
        yield ""
        heads = (translate("observed"), translate("limit"), translate("margin"), translate("why"))
        yield f"| {translate('gate')} | | {' | '.join(heads)} |"
        yield "|---|---|--:|--:|--:|---|"
        yield from map(_format_gate_row, report.gates.outcomes)
    for found in report.comparisons:
        yield from _format_baseline_section(found, report)
    yield from _format_patterns(report)
    yield from _format_bad_rows(report)
    yield from _format_failing_items(report)


def _format_patterns(report: RunReport) -> Iterator[str]:
    if report.patterns:
        yield f"\n#### {translate('What to look at first')}\n"
        for number, found in enumerate(report.patterns[:PATTERNS_SHOWN], start=1):
            yield f"{number}. {escape_markdown(translate_stored(found.sentence))} → {escape_markdown(translate_stored(found.action))}"


def _format_bad_rows(report: RunReport) -> Iterator[str]:
    total, shown = report.past.run.marks.errors, report.bad_rows[:_BAD_ROWS_SHOWN]
    if not shown:
        return
    what = format_bad_row_count(total, live=report.is_live)
    yield f"\n**{what} ({translate('not scored')}):**\n"
    for row in shown:
        said = f" {format_code_span(row.excerpt)}" if row.excerpt else ""
        yield f"- {escape_markdown(format_bad_row_reason(row, live=report.is_live))}{said}"
    if total > len(shown):
        yield f"- {translate('… and {n:,} more', n=total - len(shown))}"


def _format_gate_row(found: GateOutcome) -> str:
    gate = found.gate
    cells = (
        f"{format_code_span(gate.name, cell=True)} ({translate_stored(LEVEL_WORDS[gate.level])})",
        f"{_OUTCOME_SIGNS[found.outcome]} {translate_stored(OUTCOME_WORDS[found.outcome])}",
        format_decimal(found.observed),
        escape_markdown(format_gate_limit(gate)),
        format_signed(found.margin),
        escape_markdown(translate_stored(found.because)),
    )
    return f"| {' | '.join(cells)} |"


def format_gate_limit(gate: Gate) -> str:
    """Return the limit of a gate in short."""
    if gate.baseline is not None:
        return translate("a drop of {limit}", limit=gate.baseline.max_drop)
    limits = (("≥", gate.at_least), ("≤", gate.at_most))
    said = [f"{sign} {format_plain(limit)}" for sign, limit in limits if limit is not None]
    return f" {translate('and')} ".join(said)


def _format_baseline_section(found: BaselineReport, report: RunReport) -> Iterator[str]:
    yield ""
    yield "#### " + translate(
        "Since the baseline {baseline}", baseline=format_code_span(found.baseline)
    )
    yield ""
    yield f"| | {translate('baseline')} | {translate('now')} | {translate('change')} |"
    yield "|---|--:|--:|--:|"
    before, after = format_decimal(found.before), format_decimal(found.after)
    yield f"| **{translate('score')}** | {before} | {after} | {format_signed(found.change)} |"
    for moved in found.axes:
        axis = format_code_span(moved.axis, cell=True)
        before, after = format_decimal(moved.before), format_decimal(moved.after)
        yield f"| {axis} | {before} | {after} | {format_signed(moved.change)} |"
    if found.evidence is not None:
        outcome, because = EVIDENCE_WORDS[found.evidence.outcome], found.evidence.because
        yield f"\n**{translate('Evidence')}:** {escape_markdown(f'{translate_stored(outcome)} ({translate_stored(because)})')}"
    if found.warning:
        yield f"\n**⚠️ {translate('Suspicious rise')}:** {escape_markdown(translate_stored(found.warning))}"
        yield from _format_item_changes(translate("Items that moved"), found.moved, None)
    yield from _format_item_changes(
        translate("Items that went from pass to fail"), found.regressed, report
    )
    yield from _format_item_changes(
        translate("Items that went from fail to pass"), found.recovered, None
    )
    new, gone = translate("New items"), translate("Items that are gone")
    for what, names in ((new, found.added), (gone, found.removed)):
        if names:
            yield f"\n**{what} ({len(names):,}):** {_format_item_names(names)}"


def _format_item_changes(
    what: str, changes: Sequence[ItemChange], report: RunReport | None
) -> Iterator[str]:
    """Yield items that moved, with the reasons of what they lost where the report has them."""
    if not changes:
        return
    yield f"\n**{what} ({len(changes):,}):**\n"
    for change in changes[:_MARKDOWN_ITEMS_SHOWN]:
        axes = ", ".join(
            f"{format_code_span(axis)} {format_signed(by)}" for axis, by in change.axes.items()
        )
        yield f"- {format_code_span(change.item)}: {format_decimal(change.before)} → {format_decimal(change.after)} ({axes})"
        item = report.find_item(change.item) if report else None
        yield from _format_loss_reasons(item.answers if item else (), report)
    if len(changes) > _MARKDOWN_ITEMS_SHOWN:
        yield f"- {translate('… and {n:,} more', n=len(changes) - _MARKDOWN_ITEMS_SHOWN)}"


def _format_failing_items(report: RunReport) -> Iterator[str]:
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
        translate("Not passing: {n:,} other items", n=n)
        if known
        else translate("Not passing: {n:,} items", n=n)
    )
    yield f"\n<details><summary>{what}</summary>\n"
    for item in failing[:_MARKDOWN_ITEMS_SHOWN]:
        yield f"- {format_code_span(item.item)}: {escape_markdown(format_item_line(item, report.past.rubric))}"
        yield from _format_loss_reasons(item.answers, report)
    if len(failing) > _MARKDOWN_ITEMS_SHOWN:
        yield f"- {translate('… and {n:,} more', n=len(failing) - _MARKDOWN_ITEMS_SHOWN)}"
    yield "\n</details>"


def _format_loss_reasons(answers: Iterable[Row], report: RunReport | None) -> Iterator[str]:
    """Yield why the first of the answers lost its points."""
    if report is None:
        return
    for row in islice(answers, 1):
        for axis in find_lost_axes(row, report.past.rubric):
            yield f"  - {format_code_span(axis)}: {format_code_span(format_cell_reason(row, axis))}"


def _format_item_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(format_code_span, names[:_NAMES_SHOWN]))
    more = len(names) - _NAMES_SHOWN
    return f"{shown} {translate('and {n:,} more', n=more)}" if more > 0 else shown


def format_code_span(text: str, *, cell: bool = False) -> str:
    """Return foreign text as a code span on one line, in which nothing is alive."""
    flat = _flatten_text(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    edge = " " if flat.startswith("`") or flat.endswith("`") else ""
    span = f"{fence}{edge}{flat or '–'}{edge}{fence}"
    return span.replace("|", "\\|") if cell else span


def escape_markdown(text: str) -> str:
    """Return a sentence of ours, which may name foreign things, with no markup alive in it."""
    return _AUTOLINK_POINTS.sub("\u200b", _MARKUP_CHARACTERS.sub(r"\\\1", _flatten_text(text)))


def _flatten_text(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _MARKDOWN_TEXT_LENGTH else f"{flat[: _MARKDOWN_TEXT_LENGTH - 1]}…"
