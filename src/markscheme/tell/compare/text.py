"""Prints the page of a comparison on the terminal; the outcome comes last, where the eye rests."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.tell.compare.page import AnyComparison, Medium, Section, SummaryLine, build_page
from markscheme.tell.language import replace_control_characters
from markscheme.tell.text import create_console


def print_comparison(comparison: AnyComparison, out: Console | None = None) -> None:
    """Print any comparison, or a plan for one."""
    out = out or create_console()
    page = build_page(comparison, Medium.TERMINAL)
    _print_line(out, page.title, style="bold")
    for section in page.sections:
        if not section.leads:
            _print_line(out, f"\n{section.heading}" if section.heading else "", style="bold")
        if section.rows:
            out.print(_build_table(section))
        indent = "  " if section.heading else ""
        for line in section.lines:
            _print_line(out, f"{indent}{line}")
    for summary_line in page.summary:
        _print_summary_line(out, summary_line)


def _print_line(out: Console, text: str, *, style: str = "") -> None:
    """Print one line without wrapping it, however long."""
    out.print(Text(replace_control_characters(text), style=style), soft_wrap=True)


def _print_summary_line(out: Console, line: SummaryLine) -> None:
    text = Text(replace_control_characters(line.label))
    text.append(replace_control_characters(line.text), line.style)
    out.print(text.append(replace_control_characters(line.remark)), soft_wrap=True)


def _build_table(section: Section) -> Table:
    header, *rows = section.rows or [()]
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for at, name in enumerate(header):
        table.add_column(
            Text(replace_control_characters(name)),
            justify="left" if at in section.text_columns else "right",
            no_wrap=at < len(header) - 1,
        )
    for row in rows:
        table.add_row(*(Text(replace_control_characters(cell)) for cell in row))
    return table
