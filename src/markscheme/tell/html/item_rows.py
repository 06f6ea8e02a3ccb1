"""The list of items on a page: a row for each item, and the JSON that a row shows when opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markscheme.mark.axes import ALTERNATIVE_BAR, CriteriaAxis, format_expected
from markscheme.tell.criteria import list_criterion_lines
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.words import (
    format_axis_title,
    format_mean,
    format_row_number,
    format_row_score,
    format_tag,
    format_tag_key,
)
from markscheme.vocabulary import ZERO, ItemStatus, format_decimal, to_float

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markscheme.tell.criteria import CriterionLine
    from markscheme.vocabulary import AxisSpec, Item, ItemReport, Row, Rubric, ScoreBounds
    from markscheme.weigh.gates import ItemChange
    from markscheme.workflows.report import RunReport

_BAR_WIDTH = 1000
_EXCERPT_LENGTH = 90
_MAX_DRAWN_ROWS = 2_000
_PAGE_TEXT_BUDGET = 3_000_000  # characters of all answers together, so that a page stays small
_MIN_TEXT_LENGTH, _MAX_TEXT_LENGTH = 500, 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """A row of the list before it is opened; `bar` is the position of its bar in the listing.

    `why` is the first reason for which the item lost points.
    """

    item: str
    status: str
    word: str
    score: str
    got: str
    expected: str
    why: str
    bar: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemListing:
    """The rows, the distinct bars in them, and the data of each item for the script of the page."""

    rows: tuple[ItemRow, ...]
    bars: tuple[tuple[tuple[int, int, int], ...], ...]
    tags: Mapping[str, tuple[str, ...]]
    data: dict[str, Any]

    @property
    def is_long(self) -> bool:
        """Whether rows are drawn only when they come into view."""
        return len(self.rows) > _MAX_DRAWN_ROWS


def build_items_link(**state: str) -> str:
    """Return a link within the page that sets a state of the list, such as the open item."""
    return f"#{urlencode(state)}"


def build_tag_link(tags: Mapping[str, str], **state: str) -> str:
    """Return a link within the page that shows only the items with these tags."""
    return (
        f"#{urlencode([*(('tag.' + tag, value) for tag, value in tags.items()), *state.items()])}"
    )


def build_item_listing(report: RunReport) -> ItemListing:
    """Build the list of the items of a report, in the order of the exam."""
    items = {item.id: item for item in report.past.exam.items}
    tags = _collect_tag_values(items.values())
    changes = {change.item: change for found in report.comparisons for change in found.moved}
    texts, displays = _ValueIndex(), _ItemDisplayCache(report)
    answers = sum(len(found.answers) for found in report.items)
    limit = max(_MIN_TEXT_LENGTH, min(_MAX_TEXT_LENGTH, _PAGE_TEXT_BUDGET // max(answers, 1)))
    records = _ItemRecordBuilder(report, items, tags, texts, limit)
    rows = tuple(records.build_row(found, displays.get_display(found)) for found in report.items)
    data = {
        "axes": [
            [spec.name, str(spec.weight), format_axis_title(spec)] for spec in report.past.rubric
        ],
        "tags": [
            [tag, list(values), format_tag_key(tag), [format_tag(tag, value) for value in values]]
            for tag, values in tags.items()
        ],
        "items": [
            records.build_item(found, displays.get_display(found), changes.get(found.item))
            for found in report.items
        ],
        "texts": list(texts),
    }
    return ItemListing(rows=rows, bars=tuple(displays.bars), tags=tags, data=data)


def translate_status(status: ItemStatus) -> str:
    """Return the word for the status of an item."""
    match status:
        case ItemStatus.PASSED:
            return translate("passed")
        case ItemStatus.FAILED:
            return translate("failed")
        case ItemStatus.UNSCORED:
            return translate("not scored")
        case ItemStatus.NOT_APPLICABLE:
            return translate("does not apply")
        case ItemStatus.MISSING:
            return translate("no answer")


class _ValueIndex(dict[Any, int]):
    """Numbers values in the order of their first use; equal values share a number."""

    def get_number(self, value: Any) -> int:
        return self.setdefault(value, len(self))


def _collect_tag_values(items: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for item in items:
        for tag, value in item.tags.items():
            found.setdefault(tag, {})[value] = None
    return {tag: tuple(values) for tag, values in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemDisplay:
    """How the means of an item are shown: its score, its bar, and the axes that lost points."""

    score: str
    number: float | None
    bar: int | None
    lost: list[int]


class _ItemDisplayCache:
    """Builds the display of an item once for all items that share their means."""

    def __init__(self, report: RunReport) -> None:
        self._rubric = report.past.rubric
        self._displays: dict[tuple[int, Fraction | ScoreBounds | None], _ItemDisplay] = {}
        self.bars = _ValueIndex()

    def get_display(self, found: ItemReport) -> _ItemDisplay:
        """Return how the means of an item are shown."""
        key = (id(found.axes), found.score if found.bounds is None else found.bounds)
        if key not in self._displays:
            self._displays[key] = self._build_display(found)
        return self._displays[key]

    def _build_display(self, found: ItemReport) -> _ItemDisplay:
        scored, axes = found.score is not None, found.axes
        return _ItemDisplay(
            score=format_mean(found.score, found.bounds, 2)
            if found.bounds
            else format_decimal(found.score),
            number=to_float(found.score),
            bar=self.bars.get_number(_build_bar_segments(self._rubric, axes)) if scored else None,
            lost=[at for at, s in enumerate(self._rubric) if scored and _is_lost(axes[s.name])],
        )


def _is_lost(value: Fraction | None) -> bool:
    """Return whether an axis of a scored item lost points; one that does not apply has not."""
    return value is not None and value < 1


def _find_first_reason(answer: Row) -> str:
    """Return the axis on which an answer first lost points, and why; none if it lost nothing."""
    reasons = answer.get("reason") or {}
    for axis, value in (answer.get("breakdown") or {}).items():
        if value != 1 and axis in reasons:
            return f"{axis}: {translate_stored(reasons[axis])}"
    return ""


def _build_bar_segments(
    rubric: Rubric, axes: Mapping[str, Fraction | None]
) -> tuple[tuple[int, int, int], ...]:
    """Return the segments of a bar: the colour number of the axis, the start and the width."""
    weights = {spec.name: Fraction(spec.weight) for spec in rubric}
    parts, end = [], 0
    for at, part in enumerate(compute_bar_parts(weights, axes)):
        width = round(part * _BAR_WIDTH)
        if width:
            parts.append((at % 8, end, width))
        end += width
    return tuple(parts)


def compute_bar_parts(
    weights: Mapping[str, Fraction], axes: Mapping[str, Fraction | None]
) -> list[Fraction]:
    """Return what each axis adds to the score of an item; nothing where it is below 0.

    The weights of axes that do not apply go to the others.
    """
    applying = sum((weight for axis, weight in weights.items() if axes[axis] is not None), ZERO)
    return [
        weight * max(axes[axis] or ZERO, ZERO) / applying if applying else ZERO
        for axis, weight in weights.items()
    ]


def _shorten_excerpt(text: str) -> str:
    line = " ".join(text[: 4 * _EXCERPT_LENGTH].split())
    return line if len(line) <= _EXCERPT_LENGTH else f"{line[: _EXCERPT_LENGTH - 1]}…"


class _ItemRecordBuilder:
    """Builds the data that a row shows when opened; keys are short, because there are thousands."""

    def __init__(
        self,
        report: RunReport,
        items: Mapping[str, Item],
        tags: Mapping[str, Sequence[str]],
        texts: _ValueIndex,
        limit: int,
    ) -> None:
        self._rubric = report.past.rubric
        # The criteria of an item are shown with their verdicts, in the cell of their axis.
        self._criteria_keys = {
            spec.axis.expects for spec in self._rubric if isinstance(spec.axis, CriteriaAxis)
        }
        self._items = items
        self._places = {
            tag: {value: at for at, value in enumerate(values)} for tag, values in tags.items()
        }
        self._texts = texts
        self._limit = limit

    def build_row(self, found: ItemReport, display: _ItemDisplay) -> ItemRow:
        """Return the row of an item: the first answer, what is expected first, the first loss."""
        answer: Row = found.answers[0] if found.answers else {}
        expected = next(iter(self._list_expected(self._items[found.item])), ("", []))[1]
        return ItemRow(
            item=found.item,
            status=found.status.value,
            word=translate_status(found.status),
            score=display.score,
            got=_shorten_excerpt(str(answer.get("got") or "")),
            expected=_shorten_excerpt(
                ", ".join(entry.partition(ALTERNATIVE_BAR)[0] for entry in expected)
            ),
            why=_shorten_excerpt(_find_first_reason(answer)),
            bar=display.bar,
        )

    def _list_expected(self, item: Item) -> list[tuple[str, list[str]]]:
        """Return what is expected of an item, by key; its criteria are shown with the verdicts."""
        return [
            (key, format_expected(value))
            for key, value in item.expectations.items()
            if value and key not in self._criteria_keys
        ]

    def build_item(
        self, found: ItemReport, display: _ItemDisplay, change: ItemChange | None
    ) -> dict[str, Any]:
        """Return the data of one item: its prompt, expectations, result and answers."""
        item = self._items[found.item]
        record: dict[str, Any] = {
            "i": found.item,
            "s": found.status.value,
            "v": display.number,
            "l": display.lost,
            "t": [places.get(item.tags.get(tag, ""), -1) for tag, places in self._places.items()],
            "p": item.prompt,
            "e": [*map(list, self._list_expected(item))],
            "a": [self._build_answer(row, item) for row in found.answers],
        }
        if found.more:
            record["m"] = found.more
        if change is not None:
            record["c"] = [format_decimal(change.before), format_decimal(change.after)]
        return record

    def _build_answer(self, row: Row, item: Item) -> dict[str, Any]:
        record: dict[str, Any] = {
            "g": self._truncate(row.get("got")),
            "v": None if row.get("score") is row.get("bounds") else format_row_score(row),
        }
        if row.get("output") is not None:
            record["o"] = self._truncate(row["output"])
        record["c"] = [self._build_cell(row, spec, item) for spec in self._rubric]
        known = {
            "n": row.get("attempt"),
            "r": row.get("reading"),
            "ms": _to_json_number(row.get("latency_ms")),
            "in": row.get("tokens_in"),
            "out": row.get("tokens_out"),
            "cost": _to_json_number(row.get("cost")),
        }
        return {**record, **{key: value for key, value in known.items() if value is not None}}

    def _build_cell(self, row: Row, spec: AxisSpec, item: Item) -> list[Any]:
        """Return a cell: value, reason, near miss, criteria; without the last ones if it has none.

        Its texts are numbers of texts.
        """
        axis = spec.name
        value = row["breakdown"].get(axis)
        reason = (row.get("reason") or {}).get(axis) or translate("no reason is recorded")
        near = (row.get("near_miss") or {}).get(axis)
        cell: list[Any] = [
            format_cell_value(value),
            self._texts.get_number(self._truncate(translate_stored(reason))),
        ]
        if near:
            cell.append(self._texts.get_number(self._truncate(translate_stored(near))))
        lines = list_criterion_lines(spec.axis, item, row, axis)
        if lines:
            cell += [None] * (3 - len(cell))
            cell.append([self._build_criterion(line) for line in lines])
        return cell

    def _build_criterion(self, line: CriterionLine) -> list[Any]:
        texts = (line.name, line.points, line.says, line.verdict, *line.marks)
        numbers = [self._texts.get_number(self._truncate(text)) for text in texts]
        return [line.outcome, *numbers]

    def _truncate(self, text: Any) -> str:
        return truncate_text(text, self._limit)


def truncate_text(text: Any, limit: int) -> str:
    """Cut a text to `limit` characters, and say how many characters are left out."""
    whole = "" if text is None else str(text)
    if len(whole) <= limit:
        return whole
    more = translate("({n} more characters)", n=f"{len(whole) - limit:,}")
    return f"{whole[:limit]}… {more}"


def _to_json_number(value: Any) -> Any:
    """Return a number that JSON can hold; result files give exact decimals."""
    return float(value) if isinstance(value, Decimal) else value


def format_cell_value(value: Any) -> str | None:
    """Format the value of an axis or a score for the page."""
    return None if value is None else format_row_number(value)
