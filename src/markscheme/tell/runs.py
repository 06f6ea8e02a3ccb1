"""Stored runs as plain data: one of them, and the list.

The list of stored runs as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.tell.language import replace_control_characters, translate
from markscheme.tell.text import create_console

if TYPE_CHECKING:
    from collections.abc import Iterable


def format_subject(subject: str | None) -> str:
    """Return how a subject is called, also one without a name."""
    return subject or translate("no subject")


_NAME_WIDTH = 24  # so wide is a name in the table at most


def print_run_list(document: dict[str, Any]) -> None:
    """Print the list as a table."""
    out = create_console()
    if not document["runs"]:
        out.print(translate("no run is stored that fits"))
        return
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for name in (translate("run"), translate("started (UTC)")):
        table.add_column(name, no_wrap=True)
    for name in (translate("subject"), translate("exam"), translate("rubric")):
        table.add_column(name, overflow="ellipsis", max_width=_NAME_WIDTH)
    table.add_column(translate("score"), justify="right", no_wrap=True)
    table.add_column(translate("answers"), justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for run in document["runs"]:
        table.add_row(*map(Text, _build_run_cells(run)))
    out.print(table)


def _build_run_cells(run: dict[str, Any]) -> list[str]:
    score = "–" if run["score"] is None else f"{run['score']:.4f}"
    answers = "–" if run["answers"] is None else f"{run['answers']:,}"
    return [
        run["id"],
        run["started"][:16].replace("T", " "),
        replace_control_characters(run["subject"] or "–"),
        run["exam"]["name"],
        f"{run['rubric']['name']} v{run['rubric']['version']}",
        score,
        answers,
        ", ".join(_list_run_notes(run)),
    ]


def _list_run_notes(run: dict[str, Any]) -> Iterable[str]:
    if run["status"] == "open":
        yield translate("not finished")
    elif not run["complete"]:
        yield translate("incomplete")
    if run["baseline"]:
        yield translate("baseline")
    if run["rescored_from"]:
        yield translate("rescored from {run}", run=run["rescored_from"][:6])
    yield from (translate("tag {tag}", tag=tag) for tag in run["tags"])
