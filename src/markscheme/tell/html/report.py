"""A judged run as one HTML file: no other file, no network, and what models said is only text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.html import dashboard, figures
from markscheme.tell.html.item_rows import build_item_listing
from markscheme.tell.html.templates import render_page
from markscheme.tell.html.trends import build_trend_figures
from markscheme.tell.language import translate
from markscheme.tell.words import format_run_title

if TYPE_CHECKING:
    from markscheme.workflows.run_report import RunReport


def render_run_html(report: RunReport, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    items = build_item_listing(report)
    return render_page(
        "run.html",
        {**items.data, "words": build_script_words()},
        version=version,
        title=format_run_title(report.past, report.stored),
        heading=dashboard.format_heading(report),
        verdict=dashboard.build_verdict_view(report),
        facts=dashboard.build_facts_view(report),
        score=dashboard.build_score_view(report),
        gates=dashboard.build_gate_views(report),
        patterns=dashboard.build_pattern_views(report),
        losses=dashboard.build_loss_views(report),
        bad_rows=dashboard.build_bad_rows_view(report),
        comparisons=dashboard.build_baseline_views(report),
        axes=figures.build_axis_views(report),
        bars=figures.draw_item_bars(report),
        means=figures.build_axis_means_figure(report),
        latency=figures.draw_latency(report),
        trends=list(build_trend_figures(report)),
        heat_maps=figures.build_heat_maps(report, items.tags),
        by_tag=figures.build_tag_views(report),
        listing=items,
        rubric=report.past.rubric,
        exam=report.past.exam,
    )


def build_script_words() -> dict[str, str]:
    """Return what the script of the page says, in the language that is spoken."""
    return {
        "after": translate("now"),
        "answer": translate("answer"),
        "attempt": translate("attempt {n}"),
        "axis": translate("axis"),
        "before": translate("baseline"),
        "cost": translate("cost"),
        "count": translate("{shown} of {all} items"),
        "expected": translate("expected"),
        "got": translate("got"),
        "latency": translate("latency"),
        "missing": translate("There is no answer to this item."),
        "more": translate("{n} more answers are not in this report."),
        "near": translate("near miss"),
        "none": translate("No item is like that."),
        "output": translate("raw output"),
        "prompt": translate("prompt"),
        "reading": translate("read as"),
        "reason": translate("why"),
        "score": translate("score"),
        "tags": translate("tags"),
        "tokens": translate("tokens in and out"),
        "unheld": translate("The raw output is in the store of the run, not in a result file."),
        "untagged": translate("without this tag"),
        "value": translate("value"),
        "weight": translate("weight"),
    }
