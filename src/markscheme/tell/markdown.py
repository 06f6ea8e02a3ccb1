"""A judged run as Markdown: a comment on a pull request, or the summary of a CI job.

What models and files say is text, never markup: it stands in code spans, in which no HTML, link,
mention or reference has an effect. The length is limited, because comments are.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from markscheme.tell.language import translate, translate_plural
from markscheme.tell.page import (
    PATTERNS_SHOWN,
    BadRowsView,
    BaselineView,
    ChangeView,
    GateView,
    build_report_page,
)
from markscheme.tell.words import find_lost_axes, format_cell_reason, format_item_line
from markscheme.vocabulary import ItemStatus, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markscheme.vocabulary import Row
    from markscheme.workflows.report import RunReport

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
    page = build_report_page(report)
    sign = _OUTCOME_SIGNS[page.verdict.outcome]
    yield f"### {sign} markscheme: {escape_markdown(str(page.verdict))}"
    yield ""
    yield escape_markdown(page.title)
    if page.gates:
        yield ""
        heads = (translate("observed"), translate("limit"), translate("margin"), translate("why"))
        yield f"| {translate('gate')} | | {' | '.join(heads)} |"
        yield "|---|---|--:|--:|--:|---|"
        yield from map(_format_gate_row, page.gates)
    for view in page.baselines:
        yield from _format_baseline_section(view, report)
    if page.patterns:
        yield f"\n#### {translate('What to look at first')}\n"
        for number, pattern in enumerate(page.patterns[:PATTERNS_SHOWN], start=1):
            action = escape_markdown(pattern.action)
            yield f"{number}. {escape_markdown(pattern.sentence)} → {action}"
    yield from _format_bad_rows(page.bad_rows)
    yield from _format_failing_items(report)


def _format_gate_row(view: GateView) -> str:
    cells = (
        f"{format_code_span(view.name, cell=True)} ({view.level_word})",
        f"{_OUTCOME_SIGNS[view.outcome]} {view.outcome_word}",
        view.observed,
        escape_markdown(view.limit),
        view.margin,
        escape_markdown(view.because),
    )
    return f"| {' | '.join(cells)} |"


def _format_bad_rows(view: BadRowsView | None) -> Iterator[str]:
    if view is None or not view.rows:
        return
    shown = view.rows[:_BAD_ROWS_SHOWN]
    yield f"\n**{view.title} ({translate('not scored')}):**\n"
    for row in shown:
        excerpt = f" {format_code_span(row.excerpt)}" if row.excerpt else ""
        yield f"- {escape_markdown(row.line)}{excerpt}"
    if view.total > len(shown):
        yield f"- {translate('… and {n:,} more', n=view.total - len(shown))}"


def _format_baseline_section(view: BaselineView, report: RunReport) -> Iterator[str]:
    yield ""
    yield "#### " + translate(
        "Since the baseline {baseline}", baseline=format_code_span(view.baseline)
    )
    yield ""
    yield f"| | {translate('baseline')} | {translate('now')} | {translate('change')} |"
    yield "|---|--:|--:|--:|"
    score = view.score
    yield f"| **{score.name}** | {score.before} | {score.after} | {score.change} |"
    for moved in view.axes:
        axis = format_code_span(moved.name, cell=True)
        yield f"| {axis} | {moved.before} | {moved.after} | {moved.change} |"
    if view.evidence:
        yield f"\n**{translate('Evidence')}:** {escape_markdown(view.evidence)}"
    if view.warning:
        yield f"\n**⚠️ {translate('Suspicious rise')}:** {escape_markdown(view.warning)}"
        yield from _format_item_changes(translate("Items that moved"), view.moved, None)
    yield from _format_item_changes(
        translate("Items that went from pass to fail"), view.regressed, report
    )
    yield from _format_item_changes(
        translate("Items that went from fail to pass"), view.recovered, None
    )
    new, gone = translate("New items"), translate("Items that are gone")
    for title, names in ((new, view.added), (gone, view.removed)):
        if names:
            yield f"\n**{title} ({len(names):,}):** {_format_item_names(names)}"


def _format_item_changes(
    title: str, changes: Sequence[ChangeView], report: RunReport | None
) -> Iterator[str]:
    """Yield items that moved; with a report, also why the points of each item were lost."""
    if not changes:
        return
    yield f"\n**{title} ({len(changes):,}):**\n"
    for change in changes[:_MARKDOWN_ITEMS_SHOWN]:
        axes = ", ".join(f"{format_code_span(axis)} {by}" for axis, by in change.axes)
        yield f"- {format_code_span(change.item)}: {change.scores} ({axes})"
        item = report.find_item(change.item) if report else None
        yield from _format_loss_reasons(item.answers if item else (), report)
    if len(changes) > _MARKDOWN_ITEMS_SHOWN:
        yield f"- {translate('… and {n:,} more', n=len(changes) - _MARKDOWN_ITEMS_SHOWN)}"


_FINE_STATUSES = frozenset({ItemStatus.PASSED, ItemStatus.NOT_APPLICABLE})


def _format_failing_items(report: RunReport) -> Iterator[str]:
    """Yield a folded list of the items that do not pass, without the regressed ones shown above."""
    known = {change.item for found in report.comparisons for change in found.regressed}
    failing = [
        item
        for item in report.items
        if item.status not in _FINE_STATUSES and item.item not in known
    ]
    if not failing:
        return
    n = len(failing)
    title = (
        translate_plural("Not passing: {n:,} other item", "Not passing: {n:,} other items", n)
        if known
        else translate_plural("Not passing: {n:,} item", "Not passing: {n:,} items", n)
    )
    yield f"\n<details><summary>{title}</summary>\n"
    for item in failing[:_MARKDOWN_ITEMS_SHOWN]:
        line = escape_markdown(format_item_line(item, report.past.rubric))
        yield f"- {format_code_span(item.item)}: {line}"
        yield from _format_loss_reasons(item.answers, report)
    if len(failing) > _MARKDOWN_ITEMS_SHOWN:
        yield f"- {translate('… and {n:,} more', n=len(failing) - _MARKDOWN_ITEMS_SHOWN)}"
    yield "\n</details>"


def _format_loss_reasons(answers: Iterable[Row], report: RunReport | None) -> Iterator[str]:
    """Yield why the first of the answers lost its points, axis by axis."""
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
    """Return foreign text as a code span on one line, in which no markup has an effect."""
    flat = _flatten_text(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    edge = " " if flat.startswith("`") or flat.endswith("`") else ""
    span = f"{fence}{edge}{flat or '–'}{edge}{fence}"
    return span.replace("|", "\\|") if cell else span


def escape_markdown(text: str) -> str:
    """Escape all markup in a sentence of ours, which may name foreign things."""
    return _AUTOLINK_POINTS.sub("\u200b", _MARKUP_CHARACTERS.sub(r"\\\1", _flatten_text(text)))


def _flatten_text(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _MARKDOWN_TEXT_LENGTH else f"{flat[: _MARKDOWN_TEXT_LENGTH - 1]}…"
