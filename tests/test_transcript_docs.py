"""The documentation of log formats names every format that is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme.read.transcripts import list_format_names

TEXT = (Path(__file__).parent.parent / "docs" / "transcripts.md").read_text(encoding="utf-8")
TABLE = TEXT.partition("\n| format |")[2].partition("\n\n")[0].splitlines()[2:]


@pytest.mark.parametrize("name", list_format_names())
def test_every_format_has_its_row_and_its_section(name: str) -> None:
    rows = [row for row in TABLE if row.startswith(f"| [{name}](#{name}) |")]
    assert len(rows) == 1, f"one row of the table must begin with `| [{name}](#{name}) |`"
    cells = [cell.strip() for cell in rows[0].strip("|").split(" | ")]
    assert len(cells) == 4
    assert all(cells)
    assert f"\n## {name}\n" in TEXT


def test_the_table_names_no_format_that_is_not_read() -> None:
    assert len(TABLE) == len(list_format_names())
