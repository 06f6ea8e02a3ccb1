"""Self-contained HTML pages: the report of a run, and what the pages of comparisons share.

`report` builds the page of a run, `figures` its charts and `item_rows` its list of items;
`tell.templates` renders them. Nothing here decides anything about a run.
"""

from markscheme.tell.html.item_rows import format_cell_value, truncate_text
from markscheme.tell.html.report import build_run_page, render_run_html

__all__ = [
    "build_run_page",
    "format_cell_value",
    "render_run_html",
    "truncate_text",
]
