"""Renders the page of a comparison as Markdown; the outcome comes first."""

from __future__ import annotations

from collections.abc import Iterator

from markscheme.tell.compare.page import (
    AnyComparison,
    Medium,
    Page,
    Section,
    build_page,
)
from markscheme.tell.markdown import escape_markdown, format_code_span


def render_comparison_markdown(comparison: AnyComparison) -> str:
    """Return any comparison, or a plan for one, as Markdown."""
    return "\n".join(_render_page(build_page(comparison, Medium.MARKDOWN))) + "\n"


def _render_page(page: Page) -> Iterator[str]:
    outcome = f"{escape_markdown(page.outcome)}: " if page.outcome else ""
    yield f"### {outcome}{escape_markdown(page.title)}"
    for line in page.summary:
        label = f"**{escape_markdown(line.label)}:** " if line.label else ""
        yield ""
        yield f"{label}{escape_markdown(line.text)}"
    for section in page.sections:
        yield from _render_section(section)
    for part in page.parts:
        yield ""
        yield from _render_page(part)


def _render_section(section: Section) -> Iterator[str]:
    yield f"\n#### {escape_markdown(section.heading)}\n" if section.heading else ""
    if section.rows:
        header, *rows = section.rows
        yield _render_row(header)
        yield f"|{'---|' * len(header)}"
        yield from map(_render_row, rows)
    for line in section.lines:
        yield f"- {format_code_span(line) if section.quoted else escape_markdown(line)}"


def _render_row(row: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escape_markdown, row))} |"
