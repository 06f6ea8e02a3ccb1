"""The items of a run as a page lists them: a row for each, and as data what opens under it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markscheme.exact import number, show
from markscheme.tell.language import say, told
from markscheme.tell.reports import ItemStatus
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from markscheme.tell.reports import ItemReport, Report, Row
    from markscheme.vocabulary import Item, Rubric
    from markscheme.weigh.outcomes import ItemChange

_BAR = 1000
_GLANCE = 90
_TEXTS = 3_000_000  # characters of all answers together, so that a page stays small
_LEAST, _MOST = 500, 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """One line of the list: what can be seen before it is opened. `bar` is which of the bars."""

    item: str
    status: str
    word: str
    score: str
    got: str
    bar: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The rows, the different bars in them, and what the page's script reads of each item."""

    rows: tuple[ItemRow, ...]
    bars: tuple[tuple[tuple[int, int, int], ...], ...]
    tags: Mapping[str, tuple[str, ...]]
    data: dict[str, Any]


def link(**state: str) -> str:
    """Return the address, within the page, of a state of the list of items."""
    return f"#{urlencode(state)}"


def tag_link(tags: Mapping[str, str], **state: str) -> str:
    """Return the address of the items that have these tags."""
    return (
        f"#{urlencode([*(('tag.' + tag, value) for tag, value in tags.items()), *state.items()])}"
    )


def listing(report: Report) -> Listing:
    """Return the items of a report, in the order of the exam."""
    items = {item.id: item for item in report.past.exam.items}
    tags = _tags(items.values())
    changes = {change.item: change for found in report.comparisons for change in found.moved}
    texts, looks = _Numbered(), _Looks(report)
    answers = sum(len(found.answers) for found in report.items)
    limit = max(_LEAST, min(_MOST, _TEXTS // max(answers, 1)))
    records = _Records(report, items, tags, texts, limit)
    rows = tuple(_row(found, looks.of(found)) for found in report.items)
    data = {
        "axes": [[spec.name, str(spec.weight)] for spec in report.past.rubric],
        "tags": [[tag, list(values)] for tag, values in tags.items()],
        "items": [
            records.item(found, looks.of(found), changes.get(found.item)) for found in report.items
        ],
        "texts": list(texts),
    }
    return Listing(rows=rows, bars=tuple(looks.bars), tags=tags, data=data)


def status_word(status: ItemStatus) -> str:
    """Say what became of an item."""
    match status:
        case ItemStatus.PASSED:
            return say("passed")
        case ItemStatus.FAILED:
            return say("failed")
        case ItemStatus.UNSCORED:
            return say("not scored")
        case ItemStatus.MISSING:
            return say("no answer")


class _Numbered(dict[Any, int]):
    """Numbers values in the order in which they are met; equal ones share a number."""

    def of(self, value: Any) -> int:
        return self.setdefault(value, len(self))


def _tags(items: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for item in items:
        for tag, value in item.tags.items():
            found.setdefault(tag, {})[value] = None
    return {tag: tuple(values) for tag, values in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What is shown of the means of an item: its score, which bar, and where it lost points."""

    score: str
    number: float | None
    bar: int | None
    lost: list[int]


class _Looks:
    """Knows the look of every item; those that share their means share it."""

    def __init__(self, report: Report) -> None:
        self._rubric = report.past.rubric
        self._known: dict[tuple[int, Fraction | None], _Look] = {}
        self.bars = _Numbered()

    def of(self, found: ItemReport) -> _Look:
        """Return what is shown of the means of an item."""
        key = (id(found.axes), found.score)
        if key not in self._known:
            self._known[key] = self._look(found)
        return self._known[key]

    def _look(self, found: ItemReport) -> _Look:
        scored, axes = found.score is not None, found.axes
        return _Look(
            score=show(found.score),
            number=number(found.score),
            bar=self.bars.of(_bar(self._rubric, axes)) if scored else None,
            lost=[at for at, s in enumerate(self._rubric) if scored and (axes[s.name] or 0) < 1],
        )


def _row(found: ItemReport, look: _Look) -> ItemRow:
    got = found.answers[0].get("got") if found.answers else None
    return ItemRow(
        item=found.item,
        status=found.status.value,
        word=status_word(found.status),
        score=look.score,
        got=_glance(str(got or "")),
        bar=look.bar,
    )


def _bar(rubric: Rubric, axes: Mapping[str, Fraction | None]) -> tuple[tuple[int, int, int], ...]:
    """Return the parts of a bar: which axis, from where, how wide."""
    parts, end = [], 0
    for at, spec in enumerate(rubric):
        width = round(float(spec.weight) * (number(axes[spec.name]) or 0) * _BAR)
        if width:
            parts.append((at % 8, end, width))
        end += width
    return tuple(parts)


def _glance(text: str) -> str:
    line = " ".join(text[: 4 * _GLANCE].split())
    return line if len(line) <= _GLANCE else f"{line[: _GLANCE - 1]}…"


class _Records:
    """Makes what opens under a row; keys are short, because there may be thousands."""

    def __init__(
        self,
        report: Report,
        items: Mapping[str, Item],
        tags: Mapping[str, Sequence[str]],
        texts: _Numbered,
        limit: int,
    ) -> None:
        self._rubric = report.past.rubric
        self._items = items
        self._places = {
            tag: {value: at for at, value in enumerate(values)} for tag, values in tags.items()
        }
        self._texts = texts
        self._limit = limit

    def item(self, found: ItemReport, look: _Look, change: ItemChange | None) -> dict[str, Any]:
        """Return one item: its question, how it did, and its answers."""
        item = self._items[found.item]
        record: dict[str, Any] = {
            "i": found.item,
            "s": found.status.value,
            "v": look.number,
            "l": look.lost,
            "t": [places.get(item.tags.get(tag, ""), -1) for tag, places in self._places.items()],
            "p": item.prompt,
            "e": [[key, entries(value)] for key, value in item.expectations.items()],
            "a": [self._answer(row) for row in found.answers],
        }
        if found.more:
            record["m"] = found.more
        if change is not None:
            record["c"] = [show(change.before), show(change.after)]
        return record

    def _answer(self, row: Row) -> dict[str, Any]:
        record: dict[str, Any] = {"g": self._cut(row.get("got")), "v": shown(row.get("score"))}
        if row.get("output") is not None:
            record["o"] = self._cut(row["output"])
        record["c"] = [self._cell(row, spec.name) for spec in self._rubric]
        known = {
            "n": row.get("attempt"),
            "r": row.get("reading"),
            "ms": _number(row.get("latency_ms")),
            "in": row.get("tokens_in"),
            "out": row.get("tokens_out"),
            "cost": _number(row.get("cost")),
        }
        return {**record, **{key: value for key, value in known.items() if value is not None}}

    def _cell(self, row: Row, axis: str) -> list[Any]:
        value = row["breakdown"].get(axis)
        reason = (row.get("reason") or {}).get(axis) or say("no reason is recorded")
        near = (row.get("near_miss") or {}).get(axis)
        cell: list[Any] = [shown(value), self._texts.of(self._cut(told(reason)))]
        return [*cell, self._texts.of(self._cut(told(near)))] if near else cell

    def _cut(self, text: Any) -> str:
        return cut(text, self._limit)


def cut(text: Any, limit: int) -> str:
    """Return a text of at most so many characters, with how many more there are."""
    whole = "" if text is None else str(text)
    if len(whole) <= limit:
        return whole
    more = say("({n} more characters)", n=f"{len(whole) - limit:,}")
    return f"{whole[:limit]}… {more}"


def entries(expected: Any) -> list[str]:
    """Return what an item expects, as texts."""
    return list(map(str, expected if isinstance(expected, list | tuple) else [expected]))


def _number(value: Any) -> Any:
    """Return a number as a page holds it; a result file has exact ones."""
    return float(value) if isinstance(value, Decimal) else value


def shown(value: Any) -> str | None:
    """Return a value of an axis or a score as a page shows it."""
    return None if value is None else f"{float(value):.4g}"
