"""Recomputing what was published: every number that follows from another must follow."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import format_decimal, format_plain, simplest_fraction
from markscheme.mark.axes.base import TextAxis
from markscheme.mark.scoring import compute_score, find_leading_axis
from markscheme.sentences import sentence
from markscheme.vocabulary import Cell, Item
from markscheme.weigh.published_totals import PublishedTotals
from markscheme.weigh.recomputing import (
    RecomputedRow,
    build_axes_mismatch,
    is_correctly_rounded,
    list_axis_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.read.breakdowns import PublishedField, PublishedResult
    from markscheme.vocabulary import AxisSpec, Exam, Rubric
    from markscheme.weigh.recomputing import FieldMismatches, Mismatch


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
        was, right = _add_verb(self.published), _add_verb(self.computed)
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
    published: PublishedResult, rubric: Rubric, exam: Exam | None = None
) -> Verification:
    """Recompute a published document under the rubric, and its groups by the tags of the exam."""
    rows = [_recompute_row(place, record, rubric) for place, record in published.records]
    found = [
        _build_finding(published, (*row.place, *field), row.record.get("item"), told)
        for row in rows
        for field, told in _find_record_mismatches(row, rubric)
    ]
    totals = PublishedTotals(published=published, rubric=rubric, exam=exam, rows=rows)
    found += [
        _build_finding(published, field, None, told) for field, told in totals.find_mismatches()
    ]
    leading = _find_leading_spec(rubric)
    return Verification(
        checked=len(rows),
        unscored=published.unscored_count,
        not_judged_anew=sum(bool(leading and row.values and not row.cell) for row in rows),
        groups_not_checked=totals.groups_not_checked,
        findings=tuple(found),
    )


def _build_finding(
    published: PublishedResult, field: PublishedField, item: Any, told: Mismatch
) -> Finding:
    was, right, because = told
    return Finding(
        file=published.file,
        line=published.find_line(field),
        item=None if item is None else str(item),
        field=published.format_field(field),
        published=_format_published_value(was),
        computed=_format_published_value(right),
        because=because,
    )


def _recompute_row(
    place: PublishedField, record: Mapping[str, Any], rubric: Rubric
) -> RecomputedRow:
    breakdown, leading = record["breakdown"], _find_leading_spec(rubric)
    if set(breakdown) != set(list_axis_names(rubric)):
        return RecomputedRow(place=place, record=record, cell=None, values={})
    values = {axis: _to_fraction(v) for axis, v in breakdown.items() if v is None or 0 <= v <= 1}
    cell = None if leading is None else _rejudge_leading_cell(record, leading)
    if leading is not None and cell is not None:
        values[leading.name] = cell.value
    return RecomputedRow(place=place, record=record, cell=cell, values=values)


def _find_record_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    breakdown = row.record["breakdown"]
    if set(breakdown) != set(list_axis_names(rubric)):
        yield ("breakdown",), build_axes_mismatch(breakdown, rubric)
        return
    yield from _find_cell_mismatches(row, rubric)
    yield from _find_weighted_mismatches(row, rubric)
    if len(row.values) < len(breakdown):
        return
    values = [row.values[spec.name] for spec in rubric]
    score = compute_score(rubric, values)
    if not is_correctly_rounded(row.record["score"], score):
        yield ("score",), (row.record["score"], score, _format_score_formula(rubric, values))


def _find_cell_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    """Yield the values out of range, and the leading one where it was judged otherwise."""
    leading = _find_leading_spec(rubric)
    for axis, value in row.record["breakdown"].items():
        if axis not in row.values:
            yield ("breakdown", axis), (value, "a value from 0 to 1", "no axis gives more or less")
        elif (
            leading
            and row.cell
            and axis == leading.name
            and not is_correctly_rounded(value, row.cell.value)
        ):
            yield ("breakdown", axis), (value, row.cell.value, row.cell.reason)


def _find_leading_spec(rubric: Rubric) -> AxisSpec | None:
    return next((spec for spec in rubric if spec.axis is find_leading_axis(rubric)), None)


def _rejudge_leading_cell(record: Mapping[str, Any], leading: AxisSpec) -> Cell | None:
    """Judge the leading axis where the record says what was got and expected."""
    got = record.get("got")
    if not isinstance(leading.axis, TextAxis) or not isinstance(got, str):
        return None
    item = _build_expecting_item(leading, record.get("expected"))
    if next(leading.axis.item_problems(item), None) is not None:
        return None
    return leading.axis.judge(got, item)


def _build_expecting_item(spec: AxisSpec, expected: Any) -> Item:
    """Return an item that expects this, as a list or as the one text in the list."""
    name = getattr(spec.axis, "expects", "")
    item = Item(id="", prompt="", expectations={name: expected})
    one = isinstance(expected, list) and len(expected) == 1
    if one and next(spec.axis.item_problems(item), None) is not None:
        return Item(id="", prompt="", expectations={name: expected[0]})
    return item


def _find_weighted_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    weighted = row.record.get("weighted")
    if weighted is None:
        return
    if not set(weighted) <= set(list_axis_names(rubric)):
        yield ("weighted",), build_axes_mismatch(weighted, rubric)
    for spec in rubric:
        if spec.name not in row.values:
            continue
        value, published = row.values[spec.name], weighted.get(spec.name)
        right = None if value is None else Fraction(spec.weight) * value
        if not is_correctly_rounded(published, right):
            because = sentence(
                "the weight of `{axis}` is {weight}", axis=spec.name, weight=spec.weight
            )
            yield ("weighted", spec.name), (published, right, because)


def _format_score_formula(rubric: Rubric, values: list[Fraction | None]) -> str:
    terms = (
        f"{spec.weight} × {_format_published_value(v)}"
        for spec, v in zip(rubric, values, strict=True)
    )
    return " + ".join(terms)


def _to_fraction(value: Any) -> Fraction | None:
    return None if value is None else simplest_fraction(value)


def _add_verb(shown: str) -> str:
    return f"{shown} {'are' if ', ' in shown else 'is'}"


def _format_published_value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case Fraction():
            return (
                format_decimal(value, places=6) if value.denominator != 1 else str(value.numerator)
            )
        case Decimal():
            return format_plain(value)
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)
