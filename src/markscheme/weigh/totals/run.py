"""A run in exact numbers, small enough to keep: gates, baselines and history rest on it."""

from __future__ import annotations

from dataclasses import dataclass

from markscheme.vocabulary import join_messages, sentence
from markscheme.weigh.totals.marks import Marks
from markscheme.weigh.totals.measures import Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One subject over one exam under one rubric.

    `name` is how messages call it. `rubric` and `exam` are the fingerprints it was scored under;
    `None` where its source does not say, and then it is never compared with another run.
    """

    name: str
    rubric: str | None
    exam: str | None
    marks: Marks
    measures: Measures
    subject: str | None = None


def explain_incomplete(marks: Marks, whose: str = "") -> str:
    """Say what a run lacks."""
    whose = whose or sentence("the run")
    if not marks.answers:
        return sentence("{whose} holds no answer; nothing was scored", whose=whose)
    one = marks.errors == 1
    parts = {
        sentence("{n:,} missing"): len(marks.missing),
        sentence("{n:,} unscored"): marks.unscored,
        sentence("{n:,} error") if one else sentence("{n:,} errors"): marks.errors,
    }
    lacks = join_messages(", ", (what.format(n=count) for what, count in parts.items() if count))
    return sentence(
        "{whose} is incomplete ({lacks}); it can be judged when every item is scored",
        whose=whose,
        lacks=lacks,
    )
