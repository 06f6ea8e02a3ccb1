"""Comparisons for people: on the terminal, as Markdown and as an HTML page.

`page` builds and draws the page of the terminal and of Markdown; `html` renders templates from the
same `tables` and `words`. Nothing is decided or computed here: verdicts, outcomes and statistics
come from `markscheme.weigh.compare`.
"""

from markscheme.tell.compare.html import build_comparison_page, render_comparison_html
from markscheme.tell.compare.page import AnyComparison, print_comparison, render_comparison_markdown

__all__ = [
    "AnyComparison",
    "build_comparison_page",
    "print_comparison",
    "render_comparison_html",
    "render_comparison_markdown",
]
