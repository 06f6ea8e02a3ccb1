"""Tables for pipes are the lines that rich draws."""

from __future__ import annotations

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.tell.lines import lines_of
from markscheme.tell.terminal import _line

WIDTH = 60
LETTERS = "ab é…–✓ 日\u0301"
CELL = st.text(LETTERS, max_size=30).map(_line)
ROWS = st.lists(st.tuples(CELL, CELL, CELL, CELL), max_size=5)


def table(rows: list[tuple[str, ...]], widest: int) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    made.add_column("item", no_wrap=True, min_width=min(6, widest))
    made.add_column("got", overflow="ellipsis", no_wrap=True, max_width=12)
    made.add_column("axis", justify="center", no_wrap=True)
    made.add_column("score", justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*map(Text, row))
    return made


def printed(what: Table | Text, width: int = WIDTH) -> str:
    out = StringIO()
    Console(file=out, width=width, no_color=True).print(what)
    return out.getvalue()


@given(rows=ROWS, widest=st.integers(0, 10))
def test_a_table_that_fits_is_drawn_as_rich_draws_it(
    rows: list[tuple[str, ...]], widest: int
) -> None:
    lines = lines_of(table(rows, widest), WIDTH)
    if lines is not None:
        assert printed(lines) == printed(table(rows, widest))


def test_most_tables_fit_and_what_does_not_is_left_to_rich() -> None:
    row = ("t-001", "an answer that is long", "✓", "1.00")
    assert lines_of(table([row], 5), 40) is not None
    assert lines_of(table([row], 5), 20) is None
