"""A judged run as one HTML file: no other file, no network, and what models said is only text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell import dashboard, figures
from markscheme.tell.item_rows import listing
from markscheme.tell.language import say
from markscheme.tell.templates import page
from markscheme.tell.trends import trends

if TYPE_CHECKING:
    from markscheme.tell.reports import Report


def html(report: Report, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    items = listing(report)
    return page(
        "run.html",
        {**items.data, "words": words()},
        version=version,
        title=report.title,
        heading=dashboard.heading(report),
        verdict=dashboard.verdict(report),
        facts=dashboard.facts(report),
        score=dashboard.score(report),
        gates=dashboard.gates(report),
        patterns=dashboard.patterns(report),
        losses=dashboard.losses(report),
        bad_rows=dashboard.bad_rows(report),
        comparisons=dashboard.comparisons(report),
        axes=figures.axes(report),
        bars=figures.bars(report),
        means=figures.axis_means(report),
        latency=figures.latency(report),
        trends=list(trends(report)),
        heat_maps=figures.heat_maps(report, items.tags),
        by_tag=figures.by_tag(report),
        listing=items,
        rubric=report.past.rubric,
        exam=report.past.exam,
    )


def words() -> dict[str, str]:
    """Return what the script of the page says, in the language that is spoken."""
    return {
        "after": say("now"),
        "answer": say("answer"),
        "attempt": say("attempt {n}"),
        "axis": say("axis"),
        "before": say("baseline"),
        "cost": say("cost"),
        "count": say("{shown} of {all} items"),
        "expected": say("expected"),
        "got": say("got"),
        "latency": say("latency"),
        "missing": say("There is no answer to this item."),
        "more": say("{n} more answers are not in this report."),
        "near": say("near miss"),
        "none": say("No item is like that."),
        "output": say("raw output"),
        "prompt": say("prompt"),
        "reading": say("read as"),
        "reason": say("why"),
        "score": say("score"),
        "tags": say("tags"),
        "tokens": say("tokens in and out"),
        "unheld": say("The raw output is in the store of the run, not in a result file."),
        "untagged": say("without this tag"),
        "value": say("value"),
        "weight": say("weight"),
    }
