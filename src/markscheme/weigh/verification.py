"""Recomputing what was published: every number that follows from another must follow."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import plain, recovered, show
from markscheme.mark.axes.base import TextAxis
from markscheme.mark.scoring import leading_axis, score_of
from markscheme.sentences import sentence
from markscheme.values import dataclass
from markscheme.vocabulary import Cell, Item
from markscheme.weigh.published_totals import PublishedTotals
from markscheme.weigh.recomputing import Row, agrees, names, other_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.read.breakdowns import Field, Published
    from markscheme.vocabulary import AxisSpec, Exam, Rubric
    from markscheme.weigh.recomputing import Findings, Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One published value that is wrong: where it stands, what it says, what it must be."""

    file: str
    line: int
    item: str | None
    field: str
    published: str
    computed: str
    because: str

    def __str__(self) -> str:
        item = f"{self.item}: " if self.item else ""
        was, right = _with_verb(self.published), _with_verb(self.computed)
        told = f"{was} published, {right} right: {self.because}"
        return f"{self.file}:{self.line}: {item}{self.field}: {told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a published document: how much was checked, and what is wrong.

    `unscored` rows hold no breakdown to check. In `not_judged_anew` of the checked ones the leading
    axis was taken as published, because they do not say what was got and expected. Of the groups by
    tag, `groups_not_checked` were not, because the exam is not known.
    """

    checked: int
    unscored: int
    not_judged_anew: int
    groups_not_checked: int
    findings: tuple[Finding, ...]


def verify_published(
    published: Published, rubric: Rubric, exam: Exam | None = None
) -> Verification:
    """Recompute a published document under the rubric, and its groups by the tags of the exam."""
    rows = [_row(place, record, rubric) for place, record in published.records]
    found = [
        _finding(published, (*row.place, *field), row.record.get("item"), told)
        for row in rows
        for field, told in _record_findings(row, rubric)
    ]
    totals = PublishedTotals(published=published, rubric=rubric, exam=exam, rows=rows)
    found += [_finding(published, field, None, told) for field, told in totals.findings()]
    leading = _leading(rubric)
    return Verification(
        checked=len(rows),
        unscored=published.unscored,
        not_judged_anew=sum(bool(leading and row.values and not row.cell) for row in rows),
        groups_not_checked=totals.groups_not_checked,
        findings=tuple(found),
    )


def _finding(published: Published, field: Field, item: Any, told: Told) -> Finding:
    was, right, because = told
    return Finding(
        file=published.file,
        line=published.line(field),
        item=None if item is None else str(item),
        field=published.name(field),
        published=_shown(was),
        computed=_shown(right),
        because=because,
    )


def _row(place: Field, record: Mapping[str, Any], rubric: Rubric) -> Row:
    breakdown, leading = record["breakdown"], _leading(rubric)
    if set(breakdown) != set(names(rubric)):
        return Row(place=place, record=record, cell=None, values={})
    values = {axis: _fraction(v) for axis, v in breakdown.items() if v is None or 0 <= v <= 1}
    cell = None if leading is None else _judged_anew(record, leading)
    if leading is not None and cell is not None:
        values[leading.name] = cell.value
    return Row(place=place, record=record, cell=cell, values=values)


def _record_findings(row: Row, rubric: Rubric) -> Findings:
    breakdown = row.record["breakdown"]
    if set(breakdown) != set(names(rubric)):
        yield ("breakdown",), other_axes(breakdown, rubric)
        return
    yield from _cell_findings(row, rubric)
    yield from _weighted_findings(row, rubric)
    if len(row.values) < len(breakdown):
        return
    values = [row.values[spec.name] for spec in rubric]
    score = score_of(rubric, values)
    if not agrees(row.record["score"], score):
        yield ("score",), (row.record["score"], score, _formula(rubric, values))


def _cell_findings(row: Row, rubric: Rubric) -> Findings:
    """Yield the values out of range, and the leading one where it was judged otherwise."""
    leading = _leading(rubric)
    for axis, value in row.record["breakdown"].items():
        if axis not in row.values:
            yield ("breakdown", axis), (value, "a value from 0 to 1", "no axis gives more or less")
        elif leading and row.cell and axis == leading.name and not agrees(value, row.cell.value):
            yield ("breakdown", axis), (value, row.cell.value, row.cell.reason)


def _leading(rubric: Rubric) -> AxisSpec | None:
    return next((spec for spec in rubric if spec.axis is leading_axis(rubric)), None)


def _judged_anew(record: Mapping[str, Any], leading: AxisSpec) -> Cell | None:
    """Judge the leading axis where the record says what was got and expected."""
    got = record.get("got")
    if not isinstance(leading.axis, TextAxis) or not isinstance(got, str):
        return None
    item = _item_with(leading, record.get("expected"))
    if next(leading.axis.item_problems(item), None) is not None:
        return None
    return leading.axis.judge(got, item)


def _item_with(spec: AxisSpec, expected: Any) -> Item:
    """Return an item that expects this, as a list or as the one text in the list."""
    name = getattr(spec.axis, "expects", "")
    item = Item(id="", prompt="", expectations={name: expected})
    one = isinstance(expected, list) and len(expected) == 1
    if one and next(spec.axis.item_problems(item), None) is not None:
        return Item(id="", prompt="", expectations={name: expected[0]})
    return item


def _weighted_findings(row: Row, rubric: Rubric) -> Findings:
    weighted = row.record.get("weighted")
    if weighted is None:
        return
    if not set(weighted) <= set(names(rubric)):
        yield ("weighted",), other_axes(weighted, rubric)
    for spec in rubric:
        if spec.name not in row.values:
            continue
        value, published = row.values[spec.name], weighted.get(spec.name)
        right = None if value is None else Fraction(spec.weight) * value
        if not agrees(published, right):
            because = sentence(
                "the weight of `{axis}` is {weight}", axis=spec.name, weight=spec.weight
            )
            yield ("weighted", spec.name), (published, right, because)


def _formula(rubric: Rubric, values: list[Fraction | None]) -> str:
    terms = (f"{spec.weight} × {_shown(v)}" for spec, v in zip(rubric, values, strict=True))
    return " + ".join(terms)


def _fraction(value: Any) -> Fraction | None:
    return None if value is None else recovered(value)


def _with_verb(shown: str) -> str:
    return f"{shown} {'are' if ', ' in shown else 'is'}"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case Fraction():
            return show(value, places=6) if value.denominator != 1 else str(value.numerator)
        case Decimal():
            return plain(value)
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)
