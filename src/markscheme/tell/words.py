"""The words in which a judged run is described, shared by every medium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import (
    Evidence,
    ItemStatus,
    Level,
    Outcome,
    format_decimal,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.keep import StoredRun
    from markscheme.vocabulary import ItemReport, Rubric
    from markscheme.weigh.gates import GateReport
    from markscheme.weigh.recalibrate import PastRun

    Row = Mapping[str, Any]


PATTERNS_SHOWN = 3  # where patterns stand beside other things, so many are shown


VERDICT_WORDS = {
    Outcome.PASS: sentence("PASS"),
    Outcome.FAIL: sentence("FAIL"),
    Outcome.UNDECIDED: sentence("CANNOT TELL"),
}


OUTCOME_WORDS = {
    Outcome.PASS: sentence("pass"),
    Outcome.WARN: sentence("warn"),
    Outcome.FAIL: sentence("fail"),
    Outcome.UNDECIDED: sentence("undecided"),
    Outcome.NOT_APPLICABLE: sentence("not applicable"),
}


LEVEL_WORDS = {Level.HARD: sentence("hard"), Level.SOFT: sentence("soft")}


# By the values of `weigh.gates.Evidence`: a page without gates does not load them.
EVIDENCE_WORDS = {
    "pass": sentence("pass"),
    "fail": sentence("fail"),
    "inconclusive": sentence("inconclusive"),
}


def format_verdict(gates: GateReport) -> str:
    """Return the verdict that follows from all gates, with its reason."""
    return f"{translate_stored(VERDICT_WORDS[gates.verdict])} ({translate_stored(gates.because)})"


def format_run_title(past: PastRun, stored: StoredRun | None) -> str:
    """Say which run it is."""
    when = f", {stored.started:%Y-%m-%d %H:%M} UTC" if stored else ""
    what = {
        "run": past.run.name,
        "exam": past.exam.name,
        "rubric": f"{past.rubric.name} v{past.rubric.version}",
    }
    if past.run.subject:
        who = past.run.subject
        return translate("run {run} of {who} on {exam} under {rubric}", **what, who=who) + when
    return translate("run {run} on {exam} under {rubric}", **what) + when


def format_item_line(item: ItemReport, rubric: Rubric) -> str:
    """Say in one line what became of an item."""
    match item.status:
        case ItemStatus.MISSING:
            return translate("no answer")
        case ItemStatus.UNSCORED:
            return translate("an answer could not be scored")
        case ItemStatus.PASSED:
            return translate("score {score}", score=format_decimal(item.score))
        case ItemStatus.FAILED:
            return translate(
                "score {score}, below the pass mark {mark}",
                score=format_decimal(item.score),
                mark=rubric.pass_mark,
            )


def format_answer_lines(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield one answer as text: what was got and expected, then each cell with its reason."""
    score = "–" if row["score"] is None else f"{float(row['score']):.4g}"
    yield translate("attempt {n}: score {score}", n=row.get("attempt") or 1, score=score)
    yield f"  {translate('got')}: {row.get('got')}"
    expected = row.get("expected") or []
    if expected:
        entries = expected if isinstance(expected, list | tuple) else [expected]
        yield f"  {translate('expected')}: {', '.join(map(str, entries))}"
    for spec in rubric:
        yield f"  {spec.name} {_format_axis_value(row, spec.name)} × {spec.weight}: {format_cell_reason(row, spec.name)}"


def find_lost_axes(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield the axes on which an answer lost points, the heaviest first."""
    for spec in sorted(rubric, key=lambda spec: -spec.weight):
        value = row["breakdown"].get(spec.name)
        if value is None or value < 1:
            yield spec.name


def format_cell_reason(row: Row, axis: str) -> str:
    """Return why a cell has its value, where the row says it."""
    found = (row.get("reason") or {}).get(axis)
    return translate_stored(found) if found else translate("no reason is recorded")


def _format_axis_value(row: Row, axis: str) -> str:
    value = row["breakdown"].get(axis)
    return "–" if value is None else f"{float(value):.4g}"
