"""Comparisons for people: on the terminal, as Markdown and as an HTML page.

`page` is the model that the terminal (`text`) and Markdown draw; `html` renders templates from the
same `tables` and `words`. Nothing is decided or computed here: verdicts, outcomes and statistics
come from `markscheme.weigh.compare`.
"""

from markscheme.tell.compare.html import render_comparison_html
from markscheme.tell.compare.markdown import render_comparison_markdown
from markscheme.tell.compare.page import AnyComparison
from markscheme.tell.compare.text import print_comparison

__all__ = [
    "AnyComparison",
    "print_comparison",
    "render_comparison_html",
    "render_comparison_markdown",
]
