"""Marks as records in the rows of a run: who gave which score or verdict to what, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import polars as pl

from markscheme.mark.axes import NOT_APPLICABLE_MARK
from markscheme.vocabulary import Mark, MarkSource, simplest_fraction, to_float

MET, NOT_MET, PARTLY_MET, NOT_READ = "met", "not met", "partly met", "not read"
MARKS_TYPE = pl.List(
    pl.Struct(
        {
            "criterion": pl.String,
            "score": pl.Float64,
            "verdict": pl.String,
            "source": pl.String,
            "by": pl.String,
            "why": pl.String,
        }
    )
)


def build_mark_record(mark: Mark) -> dict[str, Any]:
    """Return a mark as a record.

    `score` is a number, or null. `verdict` says in a word what a number of a scale says itself.
    """
    score = mark.score if isinstance(mark.score, Fraction) else None
    return {
        "criterion": mark.criterion or None,
        "score": to_float(score),
        "verdict": _describe_verdict(mark),
        "source": mark.source.value,
        "by": mark.by,
        "why": mark.why or None,
    }


def _describe_verdict(mark: Mark) -> str | None:
    if mark.score is None:
        return NOT_READ
    if isinstance(mark.score, str):
        return mark.score
    if not mark.criterion:
        return None
    return {Fraction(1): MET, Fraction(0): NOT_MET}.get(mark.score, PARTLY_MET)


def restore_marks(records: Iterable[Mapping[str, Any]] | None) -> tuple[Mark, ...]:
    """Return the marks of records; a record that cannot be one is a mark that was not read."""
    return tuple(map(_restore_mark, records or ()))


def _restore_mark(record: Mapping[str, Any]) -> Mark:
    source = record.get("source")
    return Mark(
        score=_restore_score(record),
        source=MarkSource(source) if source in list(MarkSource) else MarkSource.PERSON,
        by=str(record.get("by") or ""),
        criterion=str(record.get("criterion") or ""),
        why=str(record.get("why") or ""),
    )


def _restore_score(record: Mapping[str, Any]) -> Fraction | str | None:
    score, verdict = record.get("score"), record.get("verdict")
    if isinstance(score, int | float | Decimal):
        return simplest_fraction(Decimal(str(score)))
    if record.get("criterion"):
        return verdict if verdict == NOT_APPLICABLE_MARK else None
    return verdict if isinstance(verdict, str) and verdict != NOT_READ else None
