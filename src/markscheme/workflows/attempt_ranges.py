"""Which attempts a stretch of answers holds, as runs of consecutive ones.

Attempts are counted up in practice, so a stretch of a file holds a short run of them for each item,
and the whole file one long run: what the engines compare and keep stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markscheme.read.answers import AttemptRanges

_ATTEMPT_BITS = 40  # of an attempt in a packed key; the rest tells subject and item
_MAX_PAIRS = 1 << (62 - _ATTEMPT_BITS)


def find_attempt_ranges(sheets: Sequence[pl.DataFrame], ids: Sequence[str]) -> AttemptRanges:
    """Return the attempts in the rows of sheets, each once; `ids` are the exam's items."""
    if not sheets:
        return []
    columns = ("subject", "item", "attempt")
    rows = pl.concat(
        [pl.DataFrame([s[c] for c in columns if c in s.columns]) for s in sheets], how="diagonal"
    )
    subjects: list[str | None] = [None]
    if "subject" in rows.columns:
        subjects = rows["subject"].unique().to_list()
    largest: int = rows["attempt"].max()  # type: ignore[assignment]
    if largest >> _ATTEMPT_BITS or len(subjects) * len(ids) > _MAX_PAIRS:
        return _list_single_attempts(rows, ids)
    pairs = rows["item"].cast(pl.Int64)
    if len(subjects) > 1:
        codes = rows["subject"].replace_strict(
            subjects, range(len(subjects)), return_dtype=pl.Int64
        )
        pairs = codes * len(ids) + pairs
    keys = (pairs * (1 << _ATTEMPT_BITS) + rows["attempt"]).sort()
    gaps = (keys[1:] - keys[:-1] > 1).arg_true()  # 0 where one comes twice
    firsts, lasts = keys[:1].append(keys[1:][gaps]), keys[:-1][gaps].append(keys[-1:])
    runs = (
        firsts // (1 << _ATTEMPT_BITS),
        firsts % (1 << _ATTEMPT_BITS),
        lasts % (1 << _ATTEMPT_BITS),
    )
    return [
        (subjects[at // len(ids)], ids[at % len(ids)], first, last)
        for at, first, last in zip(*map(pl.Series.to_list, runs), strict=True)
    ]


def _list_single_attempts(rows: pl.DataFrame, ids: Sequence[str]) -> AttemptRanges:
    """Return attempts whose numbers are too large to be packed."""
    if "subject" not in rows.columns:
        rows = rows.with_columns(pl.lit(None, pl.String).alias("subject"))
    distinct = rows.select("subject", "item", "attempt").unique(maintain_order=True)
    return [(who, ids[item], attempt, attempt) for who, item, attempt in distinct.iter_rows()]


def merge_attempt_ranges(attempts: Iterable[tuple[str | None, str, int, int]]) -> AttemptRanges:
    """Return the same attempts in as few runs as possible."""
    runs: dict[tuple[str | None, str], list[list[int]]] = {}
    for subject, item, first, last in sorted(attempts, key=lambda run: run[2]):
        known = runs.setdefault((subject, item), [])
        if known and known[-1][1] + 1 == first:
            known[-1][1] = last
        else:
            known.append([first, last])
    return [(*pair, first, last) for pair, found in runs.items() for first, last in found]


def count_attempts(attempts: AttemptRanges) -> int:
    """Return how many attempts there are."""
    return sum(last + 1 - first for _, _, first, last in attempts)
