"""TODO compare."""

from markscheme.tell.compare.html import render_comparison_html
from markscheme.tell.compare.plan import PlanPage, build_plan_record, render_plan_markdown
from markscheme.tell.compare.runs import RunsPage, render_runs_markdown
from markscheme.tell.compare.runs_html import render_runs_html
from markscheme.tell.compare.text import ComparisonPage, render_comparison_markdown
from markscheme.tell.compare.variants import VariantsPage, render_variants_markdown
from markscheme.tell.compare.variants_html import render_variants_html
from markscheme.workflows.compare_runs import AnswerRow, RunsReport, select_shown_items

__all__ = [
    "AnswerRow",
    "ComparisonPage",
    "PlanPage",
    "RunsPage",
    "RunsReport",
    "VariantsPage",
    "build_plan_record",
    "render_comparison_html",
    "render_comparison_markdown",
    "render_plan_markdown",
    "render_runs_html",
    "render_runs_markdown",
    "render_variants_html",
    "render_variants_markdown",
    "select_shown_items",
]
