"""The list of stored runs, as plain data and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.tell.language import say
from markscheme.tell.terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.keep import Baseline, Run, Tag


_NAME = 24  # so wide is a name in the table at most


def run_record(run: Run) -> dict[str, Any]:
    """Return what is known of one stored run without reading what it holds."""
    counts = run.counts or {}
    return {
        "id": run.id,
        "status": run.status.value,
        "started": run.started.isoformat(),
        "finished": None if run.finished is None else run.finished.isoformat(),
        "subject": run.subject,
        "rubric": {
            "name": run.rubric.name,
            "version": run.rubric.version,
            "fingerprint": run.rubric.fingerprint,
        },
        "exam": {"name": run.exam.name, "fingerprint": run.exam.fingerprint},
        "source": None if run.source is None else run.source.name,
        "rescored_from": run.rescored_from,
        "tool_version": run.tool_version,
        "score": counts.get("score"),
        "answers": counts.get("answers"),
        "missing": counts.get("missing"),
        "errors": counts.get("errors"),
        "complete": counts.get("complete", False),
    }


def runs_record(
    runs: Iterable[Run], tags: Iterable[Tag], baselines: Iterable[Baseline]
) -> dict[str, Any]:
    """Return the list of runs, each with its tags and whether it is a baseline now."""
    names: dict[str, list[str]] = {}
    for tag in tags:
        names.setdefault(tag.run, []).append(tag.name)
    is_baseline = {baseline.run for baseline in baselines}
    return {
        "runs": [
            {**run_record(run), "tags": names.get(run.id, []), "baseline": run.id in is_baseline}
            for run in runs
        ]
    }


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
        run["subject"] or "–",
        run["exam"]["name"],
        f"{run['rubric']['name']} v{run['rubric']['version']}",
        score,
        answers,
        ", ".join(_notes(run)),
    ]


def _notes(run: dict[str, Any]) -> Iterable[str]:
    if run["status"] == "open":
        yield say("broke off")
    elif not run["complete"]:
        yield say("incomplete")
    if run["baseline"]:
        yield say("baseline")
    if run["rescored_from"]:
        yield say("rescored from {run}", run=run["rescored_from"][:6])
    yield from (say("tag {tag}", tag=tag) for tag in run["tags"])
