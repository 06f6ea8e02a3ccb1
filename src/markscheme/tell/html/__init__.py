"""Self-contained HTML pages: the report of a run, and what the pages of comparisons share.

`templates` fills a Jinja template under a strict content policy, `report` builds the page of a run,
`figures` its charts and `item_rows` its list of items. Nothing here decides anything about a run.
"""

from markscheme.tell.html.item_rows import format_cell_value, truncate_text
from markscheme.tell.html.report import render_run_html
from markscheme.tell.html.templates import (
    build_stylesheet,
    create_environment,
    embed_json,
    mark_up_code,
    read_script,
    render_page,
)

__all__ = [
    "build_stylesheet",
    "create_environment",
    "embed_json",
    "format_cell_value",
    "mark_up_code",
    "read_script",
    "render_page",
    "render_run_html",
    "truncate_text",
]
