"""Recomputing what was published: every number that follows from another must follow."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, plain, show
from markscheme.mark.axes.base import TextAxis
from markscheme.mark.scoring import leading_axis, score_of
from markscheme.vocabulary import Item

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.read.breakdowns import Field, Published
    from markscheme.vocabulary import AxisSpec, Rubric

_ROUNDED_PLACES = 4


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
        told = f"{self.published} is published, {self.computed} is right: {self.because}"
        return f"{self.file}:{self.line}: {item}{self.field}: {told}"


def verify_published(published: Published, rubric: Rubric) -> list[Finding]:
    """Return everything that is wrong with a published document under the rubric."""
    found: list[Finding] = []
    for place, record in published.records:
        for field, told in _record_findings(record, rubric):
            found.append(_finding(published, (*place, *field), record.get("item"), told))
    for field, told in _summary_findings(published, rubric):
        found.append(_finding(published, field, None, told))
    return found


Told = tuple[Any, Any, str]


def _finding(published: Published, field: Field, item: Any, told: Told) -> Finding:
    was, right, because = told
    return Finding(
        file=published.file,
        line=published.line(field),
        item=None if item is None else str(item),
        field=".".join(map(str, field)),
        published=_shown(was),
        computed=_shown(right),
        because=because,
    )


def _record_findings(
    record: Mapping[str, Any], rubric: Rubric
) -> Iterator[tuple[tuple[str, ...], Told]]:
    breakdown = record["breakdown"]
    names = [spec.name for spec in rubric]
    if set(breakdown) != set(names):
        yield ("breakdown",), (list(breakdown), names, "these are the axes of the rubric")
        return
    yield from _range_findings(breakdown)
    yield from _leading_findings(record, rubric)
    values = [_fraction(breakdown[spec.name]) for spec in rubric]
    for spec, value in zip(rubric, values, strict=True):
        yield from _weighted_findings(record, spec, value)
    score = score_of(rubric, values)
    if not _agrees(record["score"], score):
        yield ("score",), (record["score"], score, _formula(rubric, values))


def _range_findings(
    breakdown: Mapping[str, Any],
) -> Iterator[tuple[tuple[str, ...], Told]]:
    for axis, value in breakdown.items():
        if value is not None and not 0 <= value <= 1:
            yield ("breakdown", axis), (value, "a value from 0 to 1", "no axis gives more or less")


def _leading_findings(
    record: Mapping[str, Any], rubric: Rubric
) -> Iterator[tuple[tuple[str, ...], Told]]:
    """Judge the leading axis anew where the record says what was got and expected."""
    spec = next((spec for spec in rubric if spec.axis is leading_axis(rubric)), None)
    got, expected = record.get("got"), record.get("expected")
    if spec is None or not isinstance(spec.axis, TextAxis) or not isinstance(got, str):
        return
    item = _item_with(spec, expected)
    if next(spec.axis.item_problems(item), None) is not None:
        return
    cell = spec.axis.judge(got, item)
    if not _agrees(record["breakdown"][spec.name], cell.value):
        yield ("breakdown", spec.name), (record["breakdown"][spec.name], cell.value, cell.reason)


def _item_with(spec: AxisSpec, expected: Any) -> Item:
    """Return an item that expects this, as a list or as the one text in the list."""
    name = getattr(spec.axis, "expects", "")
    item = Item(id="", prompt="", expectations={name: expected})
    one = isinstance(expected, list) and len(expected) == 1
    if one and next(spec.axis.item_problems(item), None) is not None:
        return Item(id="", prompt="", expectations={name: expected[0]})
    return item


def _weighted_findings(
    record: Mapping[str, Any], spec: AxisSpec, value: Fraction | None
) -> Iterator[tuple[tuple[str, ...], Told]]:
    if "weighted" not in record:
        return
    published = record["weighted"].get(spec.name)
    right = None if value is None else Fraction(spec.weight) * value
    if not _agrees(published, right):
        because = f"the weight of `{spec.name}` is {spec.weight}"
        yield ("weighted", spec.name), (published, right, because)


def _formula(rubric: Rubric, values: list[Fraction | None]) -> str:
    terms = (f"{spec.weight} × {_shown(v)}" for spec, v in zip(rubric, values, strict=True))
    return " + ".join(terms)


def _summary_findings(
    published: Published, rubric: Rubric
) -> Iterator[tuple[tuple[str, ...], Told]]:
    document = published.document
    fingerprint = _inside(document, "rubric", "fingerprint")
    if fingerprint is not None and fingerprint != rubric.fingerprint:
        because = "it was scored under another rubric than the one it is checked with"
        yield ("rubric", "fingerprint"), (fingerprint, rubric.fingerprint, because)
        return
    if not isinstance(document.get("summary"), dict):
        return
    scored = [record for _, record in published.records if record["score"] is not None]
    if document["summary"].get("n") != len(scored):
        because = "so many breakdowns have a score"
        yield ("summary", "n"), (document["summary"].get("n"), len(scored), because)
    yield from _mean_findings(document["summary"], rubric, [r["breakdown"] for r in scored])


def _mean_findings(
    summary: Mapping[str, Any], rubric: Rubric, breakdowns: list[Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, ...], Told]]:
    """Recompute the means from the cells, not from scores that may be wrong themselves."""
    axes = [spec.name for spec in rubric]
    rows = [[_fraction(row[axis]) for axis in axes] for row in breakdowns if set(row) == set(axes)]
    if len(rows) != len(breakdowns) or any(None in row for row in rows):
        return
    columns: list[list[Fraction]] = [
        [row[i] or Fraction(0) for row in rows] for i in range(len(axes))
    ]
    means = [sum(column) / Fraction(len(column)) if column else None for column in columns]
    score = score_of(rubric, list(means))
    because = f"the mean over {len(rows)} breakdowns"
    if not _agrees(summary.get("score"), score):
        yield ("summary", "score"), (summary.get("score"), score, because)
    for axis, right in zip(axes, means, strict=True):
        was = _inside(summary, "axes", axis)
        if not _agrees(was, right):
            yield ("summary", "axes", axis), (was, right, because)


def _inside(document: Mapping[str, Any], *keys: str) -> Any:
    value: Any = document
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _fraction(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


def _agrees(published: Any, exact: Fraction | None) -> bool:
    """Return whether a published number is the exact one, or it correctly rounded.

    Rounded means to at least four places, or to the nearest double.
    """
    if published is None or exact is None:
        return published is None and exact is None
    if not isinstance(published, int | Decimal):
        return False
    if Fraction(published) == exact or float(published) == number(exact):
        return True
    exponent = Decimal(published).as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    half = Fraction(1, 2 * 10 ** max(places, 0))
    return places >= _ROUNDED_PLACES and abs(Fraction(published) - exact) <= half


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case Fraction():
            return show(value, places=6) if value.denominator != 1 else str(value.numerator)
        case Decimal():
            return plain(value)
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)
