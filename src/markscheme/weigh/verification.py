"""Recomputing what was published: every number that follows from another must follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import ZERO, mean, number, plain, recovered, show
from markscheme.mark.axes.base import TextAxis
from markscheme.mark.scoring import leading_axis, score_of
from markscheme.read.breakdowns import Field
from markscheme.sentences import sentence
from markscheme.vocabulary import Cell, Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.read.breakdowns import Published
    from markscheme.vocabulary import AxisSpec, Rubric

_ROUNDED_PLACES = 4
_DIGITS_OF_A_DOUBLE = 17


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
    axis was taken as published, because they do not say what was got and expected.
    """

    checked: int
    unscored: int
    not_judged_anew: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A breakdown and what it should say: the leading axis judged anew, and the known values.

    An axis that is out of range has no known value; where the axes are not the rubric's, none has.
    """

    place: Field
    record: Mapping[str, Any]
    cell: Cell | None
    values: Mapping[str, Fraction | None]


Told = tuple[Any, Any, str]
Findings = Iterator[tuple[tuple[str, ...], Told]]


def verify_published(published: Published, rubric: Rubric) -> Verification:
    """Recompute a published document under the rubric."""
    rows = [_row(place, record, rubric) for place, record in published.records]
    found = [
        _finding(published, (*row.place, *field), row.record.get("item"), told)
        for row in rows
        for field, told in _record_findings(row, rubric)
    ]
    found += [
        _finding(published, field, None, told)
        for field, told in _document_findings(published.document, rubric, rows)
    ]
    leading = _leading(rubric)
    return Verification(
        checked=len(rows),
        unscored=published.unscored,
        not_judged_anew=sum(bool(leading and row.values and not row.cell) for row in rows),
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


def _row(place: Field, record: Mapping[str, Any], rubric: Rubric) -> _Row:
    breakdown, leading = record["breakdown"], _leading(rubric)
    if set(breakdown) != set(_names(rubric)):
        return _Row(place=place, record=record, cell=None, values={})
    values = {axis: _fraction(v) for axis, v in breakdown.items() if v is None or 0 <= v <= 1}
    cell = None if leading is None else _judged_anew(record, leading)
    if leading is not None and cell is not None:
        values[leading.name] = cell.value
    return _Row(place=place, record=record, cell=cell, values=values)


def _record_findings(row: _Row, rubric: Rubric) -> Findings:
    breakdown = row.record["breakdown"]
    if set(breakdown) != set(_names(rubric)):
        yield ("breakdown",), _other_axes(breakdown, rubric)
        return
    yield from _cell_findings(row, rubric)
    yield from _weighted_findings(row, rubric)
    if len(row.values) < len(breakdown):
        return
    values = [row.values[spec.name] for spec in rubric]
    score = score_of(rubric, values)
    if not _agrees(row.record["score"], score):
        yield ("score",), (row.record["score"], score, _formula(rubric, values))


def _cell_findings(row: _Row, rubric: Rubric) -> Findings:
    """Yield the values out of range, and the leading one where it was judged otherwise."""
    leading = _leading(rubric)
    for axis, value in row.record["breakdown"].items():
        if axis not in row.values:
            yield ("breakdown", axis), (value, "a value from 0 to 1", "no axis gives more or less")
        elif leading and row.cell and axis == leading.name and not _agrees(value, row.cell.value):
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


def _weighted_findings(row: _Row, rubric: Rubric) -> Findings:
    weighted = row.record.get("weighted")
    if weighted is None:
        return
    if not set(weighted) <= set(_names(rubric)):
        yield ("weighted",), _other_axes(weighted, rubric)
    for spec in rubric:
        if spec.name not in row.values:
            continue
        value, published = row.values[spec.name], weighted.get(spec.name)
        right = None if value is None else Fraction(spec.weight) * value
        if not _agrees(published, right):
            because = sentence(
                "the weight of `{axis}` is {weight}", axis=spec.name, weight=spec.weight
            )
            yield ("weighted", spec.name), (published, right, because)


def _formula(rubric: Rubric, values: list[Fraction | None]) -> str:
    terms = (f"{spec.weight} × {_shown(v)}" for spec, v in zip(rubric, values, strict=True))
    return " + ".join(terms)


def _document_findings(
    document: Mapping[str, Any], rubric: Rubric, rows: Sequence[_Row]
) -> Findings:
    fingerprint = _inside(document, "rubric", "fingerprint")
    if fingerprint is not None and fingerprint != rubric.fingerprint:
        because = sentence("it was scored under another rubric than the one it is checked with")
        yield ("rubric", "fingerprint"), (fingerprint, rubric.fingerprint, because)
        return
    summary = document.get("summary") or {}
    scored = [row for row in rows if row.record["score"] is not None]
    if "n" in summary and summary["n"] != len(scored):
        yield ("summary", "n"), (summary["n"], len(scored), "so many breakdowns have a score")
    axes = summary.get("axes") or {}
    if not set(axes) <= set(_names(rubric)):
        yield ("summary", "axes"), _other_axes(axes, rubric)
    yield from _mean_findings(summary, rubric, [row.values for row in scored])


def _mean_findings(
    summary: Mapping[str, Any], rubric: Rubric, rows: Sequence[Mapping[str, Fraction | None]]
) -> Findings:
    """Recompute the means from the cells, not from scores that may be wrong themselves."""
    names = _names(rubric)
    if any(row.get(name) is None for row in rows for name in names):
        return
    totals = {name: sum((row[name] or ZERO for row in rows), ZERO) for name in names}
    means = {name: mean(total, len(rows)) for name, total in totals.items()}
    score = score_of(rubric, list(means.values()))
    because = sentence("the mean over {n} breakdowns", n=len(rows))
    if len(rows) == 1:
        because = sentence("the mean over {n} breakdown", n=len(rows))
    if "score" in summary and not _agrees(summary["score"], score):
        yield ("summary", "score"), (summary["score"], score, because)
    for axis, was in (summary.get("axes") or {}).items():
        if axis in means and not _agrees(was, means[axis]):
            yield ("summary", "axes", axis), (was, means[axis], because)


def _names(rubric: Rubric) -> list[str]:
    return [spec.name for spec in rubric]


def _other_axes(published: Mapping[str, Any], rubric: Rubric) -> Told:
    return (
        list(published),
        _names(rubric),
        sentence("these are the axes of the rubric `{rubric}`", rubric=rubric.name),
    )


def _inside(document: Mapping[str, Any], *keys: str) -> Any:
    value: Any = document
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _fraction(value: Any) -> Fraction | None:
    return None if value is None else recovered(value)


def _agrees(published: Any, exact: Fraction | None) -> bool:
    """Return whether a published number is the exact one, or it correctly rounded.

    Rounded means to at least four places, or to the nearest double, which never needs more than
    17 digits.
    """
    if published is None or exact is None:
        return published is None and exact is None
    if isinstance(published, bool) or not isinstance(published, int | Decimal):
        return False
    _, digits, exponent = Decimal(published).as_tuple()
    if len(digits) <= _DIGITS_OF_A_DOUBLE and float(published) == number(exact):
        return True
    places = -exponent if isinstance(exponent, int) else 0
    half = Fraction(1, 2 * 10**places) if places >= _ROUNDED_PLACES else ZERO
    return abs(Fraction(published) - exact) <= half


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
