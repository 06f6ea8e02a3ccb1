"""markscheme: reads back what `markscheme score … -o breakdown.parquet` wrote and printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
from tutor_axes import Marked, contestant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PRINTED = re.compile(r"^score (\d\.(\d+))", re.MULTILINE)


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Return the breakdowns, and their mean if that is what was printed, else what was printed."""
    frame = pl.read_parquet(folder / "breakdown.parquet").filter(pl.col("status") == "scored")
    mean = float(frame.select(pl.col("score").mean()).item())
    printed = _PRINTED.search((folder / "stdout.txt").read_text(encoding="utf-8"))
    if printed is None or abs(float(printed[1]) - mean) > 0.51 / 10 ** len(printed[2]):
        mean = float(printed[1]) if printed else -1.0
    rows = frame.select("item", "attempt", "breakdown", "score").iter_rows()
    return mean, ((item, attempt, cells, score) for item, attempt, cells, score in rows)


if __name__ == "__main__":
    contestant({}, result)
