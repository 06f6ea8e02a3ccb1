"""The list of stored runs as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.tell.language import harmless, say
from markscheme.tell.terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = 24  # so wide is a name in the table at most


def print_runs(document: dict[str, Any]) -> None:
    """Print the list as a table."""
    out = console()
    if not document["runs"]:
        out.print(say("no run is stored that fits"))
        return
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for name in (say("run"), say("started (UTC)")):
        table.add_column(name, no_wrap=True)
    for name in (say("subject"), say("exam"), say("rubric")):
        table.add_column(name, overflow="ellipsis", max_width=_NAME)
    table.add_column(say("score"), justify="right", no_wrap=True)
    table.add_column(say("answers"), justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for run in document["runs"]:
        table.add_row(*map(Text, _cells(run)))
    out.print(table)


def _cells(run: dict[str, Any]) -> list[str]:
    score = "–" if run["score"] is None else f"{run['score']:.4f}"
    answers = "–" if run["answers"] is None else f"{run['answers']:,}"
    return [
        run["id"],
        run["started"][:16].replace("T", " "),
        harmless(run["subject"] or "–"),
        run["exam"]["name"],
        f"{run['rubric']['name']} v{run['rubric']['version']}",
        score,
        answers,
        ", ".join(_notes(run)),
    ]


def _notes(run: dict[str, Any]) -> Iterable[str]:
    if run["status"] == "open":
        yield say("not finished")
    elif not run["complete"]:
        yield say("incomplete")
    if run["baseline"]:
        yield say("baseline")
    if run["rescored_from"]:
        yield say("rescored from {run}", run=run["rescored_from"][:6])
    yield from (say("tag {tag}", tag=tag) for tag in run["tags"])
