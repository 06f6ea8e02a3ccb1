"""A plan for a comparison: as data, and for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from markscheme.tell.comparisons import ComparisonPage, markdown_table
from markscheme.tell.language import say, told
from markscheme.tell.markdown import sentence as safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.planning import Plan


def plan_record(plan: Plan) -> dict[str, Any]:
    """Return the document that `markscheme compare --plan --format json` prints."""
    repeats = [{**asdict(one), "answers": one.answers} for one in plan.by_repeats]
    return {"plan": {**asdict(plan), "by_repeats": repeats}}


def _repeat_rows(plan: Plan) -> Rows:
    header = (say("runs of each query"), say("noise"), say("queries"), say("answers"))
    rows = [
        (
            str(one.repeats),
            f"{one.noise:.3f}",
            "–" if one.queries is None else f"{one.queries:,}",
            "–" if one.answers is None else f"{one.answers:,}",
        )
        for one in plan.by_repeats
    ]
    return [header, *rows]


def _ladder_rows(plan: Plan) -> Rows:
    header = (say("queries"), say("chance to show it"), say("smallest loss ruled out"))
    rows = [(str(r.queries), f"{r.power:.0%}", f"{r.detectable:.2f}") for r in plan.ladder]
    return [header, *rows]


def _head(plan: Plan) -> str:
    return say(
        "margin {margin}, noise {noise} per query ({source}), of which {within} comes anew with "
        "every run",
        margin=f"{plan.margin:g}",
        noise=f"{plan.noise:.4g}",
        source=told(plan.source),
        within=f"{plan.within:.4g}",
    )


class PlanPage(ComparisonPage):
    """Prints a plan."""

    def plan(self, plan: Plan) -> None:
        """Print all of it."""
        self.line(_head(plan), style="bold")
        self.table(_repeat_rows(plan), left=())
        self.section(say("With one run of each query"))
        self.table(_ladder_rows(plan), left=())
        self.line("")
        for line in plan.plain:
            self.line(told(line))


def plan_markdown(plan: Plan) -> str:
    """Return a plan as Markdown."""
    return "\n".join(_markdown(plan)) + "\n"


def _markdown(plan: Plan) -> Iterator[str]:
    yield f"### {safe(_head(plan))}"
    yield from markdown_table(say("Repeats"), _repeat_rows(plan))
    yield from markdown_table(say("With one run of each query"), _ladder_rows(plan))
    yield ""
    yield from (f"- {safe(told(line))}" for line in plan.plain)
