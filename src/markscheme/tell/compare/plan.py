"""A plan for a comparison: as data, and for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from markscheme.tell.compare.text import ComparisonPage, render_markdown_table
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.markdown import escape_markdown as safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import ComparisonPlan


def build_plan_record(plan: ComparisonPlan) -> dict[str, Any]:
    """Return the document that `markscheme compare --plan --format json` prints."""
    repeats = [{**asdict(one), "answers": one.answers} for one in plan.by_repeats]
    return {"plan": {**asdict(plan), "by_repeats": repeats}}


def _build_repeat_rows(plan: ComparisonPlan) -> TableRows:
    header = (
        translate("runs of each query"),
        translate("noise"),
        translate("queries"),
        translate("answers"),
    )
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


def _build_ladder_rows(plan: ComparisonPlan) -> TableRows:
    header = (
        translate("queries"),
        translate("chance to show it"),
        translate("smallest loss ruled out"),
    )
    rows = [(str(r.queries), f"{r.power:.0%}", f"{r.detectable:.2f}") for r in plan.ladder]
    return [header, *rows]


def _format_plan_heading(plan: ComparisonPlan) -> str:
    return translate(
        "margin {margin}, noise {noise} per query ({source}), of which {within} comes anew with "
        "every run",
        margin=f"{plan.margin:g}",
        noise=f"{plan.noise:.4g}",
        source=translate_stored(plan.source),
        within=f"{plan.within:.4g}",
    )


class PlanPage(ComparisonPage):
    """Prints a plan."""

    def print_plan(self, plan: ComparisonPlan) -> None:
        """Print all of it."""
        self.print_line(_format_plan_heading(plan), style="bold")
        self.print_table(_build_repeat_rows(plan), left=())
        self.print_section(translate("With one run of each query"))
        self.print_table(_build_ladder_rows(plan), left=())
        self.print_line("")
        for line in plan.plain:
            self.print_line(translate_stored(line))


def render_plan_markdown(plan: ComparisonPlan) -> str:
    """Return a plan as Markdown."""
    return "\n".join(_build_plan_markdown(plan)) + "\n"


def _build_plan_markdown(plan: ComparisonPlan) -> Iterator[str]:
    yield f"### {safe(_format_plan_heading(plan))}"
    yield from render_markdown_table(translate("Repeats"), _build_repeat_rows(plan))
    yield from render_markdown_table(
        translate("With one run of each query"), _build_ladder_rows(plan)
    )
    yield ""
    yield from (f"- {safe(translate_stored(line))}" for line in plan.plain)
