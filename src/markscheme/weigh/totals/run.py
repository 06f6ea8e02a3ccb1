"""A run in exact numbers: what gates, baselines and the history of a store work with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from markscheme.vocabulary import FrozenDict, JudgedAxis, join_messages, sentence
from markscheme.weigh.totals.marks import Marks
from markscheme.weigh.totals.measures import Measures


class Run(Struct, frozen=True, kw_only=True):
    """One subject over one exam under one rubric.

    `name` is the name that messages use. `rubric` and `exam` are the fingerprints it was scored
    under. They are `None` if its source does not say; such a run is compared with no other.
    `started` is known of stored runs only. `judged` holds the axes that judges marked, by name.
    """

    name: str
    rubric: str | None
    exam: str | None
    marks: Marks
    measures: Measures
    subject: str | None = None
    started: datetime | None = None
    judged: Mapping[str, JudgedAxis] = FrozenDict()


_NOT_LOOKED_UP = sentence(
    "no calibration was looked up; `markscheme gate` looks in the store of the run"
)


def parse_judging_records(records: Mapping[str, Mapping[str, Any]]) -> dict[str, JudgedAxis]:
    """Return the records of who marked the axes of a run; no calibration was looked up yet."""
    return {
        axis: JudgedAxis(
            judge=str(record.get("judge")),
            fingerprint=record.get("fingerprint"),
            axis_fingerprint=record.get("axis_fingerprint"),
            call_fingerprint=record.get("call_fingerprint"),
            served=tuple(record.get("served") or ()),
            canaries=tuple(record.get("canaries") or ()),
            doubt=_NOT_LOOKED_UP,
        )
        for axis, record in records.items()
    }


def explain_incomplete(marks: Marks, whose: str = "") -> str:
    """Say why a run is incomplete: missing items, unscored answers and errors."""
    whose = whose or sentence("the run")
    if not marks.answers:
        return sentence("{whose} holds no answer; nothing was scored", whose=whose)
    counts = {
        sentence("{n:,} missing"): len(marks.missing),
        sentence("{n:,} unscored"): marks.unscored,
        sentence("{n:,} error") if marks.errors == 1 else sentence("{n:,} errors"): marks.errors,
    }
    parts = (template.format(n=count) for template, count in counts.items() if count)
    lacks = join_messages(", ", parts)
    return sentence(
        "{whose} is incomplete ({lacks}); it can be judged when every item is scored",
        whose=whose,
        lacks=lacks,
    )
