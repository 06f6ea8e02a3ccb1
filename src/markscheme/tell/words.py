"""Words that every page of a run shares: outcomes, the run's title, items, answers, bad rows.

The terminal page of `score` imports this module, so it imports neither gates nor patterns nor
reports; what only judged runs need is in `page`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.vocabulary import (
    UNKNOWN_SCORE,
    ItemStatus,
    Level,
    Outcome,
    describe_tag,
    describe_tag_key,
    format_decimal,
    format_short,
    sentence,
    to_fraction,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from markscheme.keep import StoredRun
    from markscheme.vocabulary import AxisSpec, Item, ItemReport, RowError, Rubric, ScoreBounds
    from markscheme.weigh.recalibrate import PastRun

    Row = Mapping[str, Any]

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


def format_subject(subject: str | None) -> str:
    """Return the name of a subject, or the words for a subject without a name."""
    return subject or translate("no subject")


def format_axis_title(spec: AxisSpec) -> str:
    """Return the title of an axis in the reader's language, or its name if it has no title."""
    return translate(spec.title) if spec.title else spec.name


def format_tag(key: str, value: str) -> str:
    """Return the value of a tag in the reader's language, if it is one of the verb table."""
    return translate_stored(describe_tag(key, value))


def format_tag_key(key: str) -> str:
    """Return the name of a tag in the reader's language, if it is one of the verb table."""
    return translate_stored(describe_tag_key(key))


def format_run_title(past: PastRun, stored: StoredRun | None) -> str:
    """Return a line that names the run, its subject, exam and rubric, and when it began."""
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


def format_mean(mean: Fraction | None, bounds: ScoreBounds | None, places: int = 4) -> str:
    """Return a mean; if it is not known, the bounds between which it is: `0.25 … 0.75`."""
    if bounds is None or mean is not None:
        return format_decimal(mean, places)
    return f"{format_decimal(bounds.low, places)} … {format_decimal(bounds.high, places)}"


def format_item_line(item: ItemReport, rubric: Rubric) -> str:
    """Return the score of an item in one line, or why it has none."""
    match item.status:
        case ItemStatus.MISSING:
            return translate("no answer")
        case ItemStatus.UNSCORED:
            if item.bounds is not None and item.bounds != UNKNOWN_SCORE:
                between = format_mean(None, item.bounds)
                return translate("an answer could not be scored; {score}", score=between)
            return translate("an answer could not be scored")
        case ItemStatus.NOT_APPLICABLE:
            return translate("no axis applies")
        case ItemStatus.PASSED:
            return translate("score {score}", score=format_decimal(item.score))
        case ItemStatus.FAILED:
            return translate(
                "score {score}, below the pass mark {mark}",
                score=format_decimal(item.score),
                mark=rubric.pass_mark,
            )


def format_answer_lines(row: Row, rubric: Rubric, item: Item | None = None) -> Iterator[str]:
    """Yield the lines of one answer: what was got and expected, then each cell with its reason.

    With the `item`, also each criterion with its verdict, and who marked it and why.
    """
    score = format_row_score(row)
    yield translate("attempt {n}: score {score}", n=row.get("attempt") or 1, score=score)
    yield f"  {translate('got')}: {row.get('got')}"
    expected = row.get("expected") or []
    if expected:
        entries = expected if isinstance(expected, list | tuple) else [expected]
        yield f"  {translate('expected')}: {', '.join(map(str, entries))}"
    for spec in rubric:
        value = row["breakdown"].get(spec.name)
        reason = format_cell_reason(row, spec.name)
        yield f"  {spec.name} {format_row_number(value)} × {spec.weight}: {reason}"
        if item is not None:
            yield from _format_criterion_lines(spec, item, row)


def _format_criterion_lines(spec: AxisSpec, item: Item, row: Row) -> Iterator[str]:
    # Late, because the page of `score` shows no criteria.
    from markscheme.tell.criteria import list_criterion_lines

    for line in list_criterion_lines(spec.axis, item, row, spec.name):
        if line.name:
            yield f"    {line.name} ({line.points}) {line.verdict}: {line.says}"
        yield from (f"      {mark}" for mark in line.marks)


def format_row_score(row: Row) -> str:
    """Return the score of a row, or the bounds between which it is."""
    bounds = row.get("bounds")
    if row["score"] is not None or not bounds:
        return format_row_number(row["score"])
    return " … ".join(map(format_row_number, bounds))


def format_row_number(value: float | Decimal | None) -> str:
    """Return a score or the value of an axis as rows hold it: a double, or an exact decimal."""
    exact = to_fraction(value) if isinstance(value, float) else value
    return format_short(None if exact is None else Fraction(exact))


def find_lost_axes(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield the axes on which an answer lost points, the heaviest first."""
    for spec in sorted(rubric, key=lambda spec: -spec.weight):
        value = row["breakdown"].get(spec.name)
        if value is None or value < 1:
            yield spec.name


def format_cell_reason(row: Row, axis: str) -> str:
    """Return why a cell has its value, if the row says so."""
    reason = (row.get("reason") or {}).get(axis)
    return translate_stored(reason) if reason else translate("no reason is recorded")


def format_bad_row_count(total: int, *, live: bool) -> str:
    """Return how many rows were no answers; in a live run they are questions without one."""
    if live:
        return translate_plural(
            "{n:,} question without an answer", "{n:,} questions without an answer", total
        )
    return translate_plural("{n:,} bad row", "{n:,} bad rows", total)


def get_bad_row_place(error: RowError, *, live: bool) -> str:
    """Return the place of a bad row: its file and line, or its item if the run was live."""
    return error.item or "" if live else error.place


def format_bad_row_reason(error: RowError, *, live: bool) -> str:
    """Return the place of a bad row and why it is no answer."""
    reason, place = translate_stored(error.reason), get_bad_row_place(error, live=live)
    # The reasons of a live run begin with the item already.
    is_named = live and (not place or reason.startswith(place))
    return reason if is_named else f"{place}: {reason}"
