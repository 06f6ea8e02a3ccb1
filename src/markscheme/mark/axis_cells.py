"""Judge one axis on one response: whatever an axis does, the result is a cell with a reason."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from markscheme.vocabulary import (
    UNKNOWN_SCORE,
    Axis,
    Cell,
    Item,
    Mark,
    Response,
    ScoreBounds,
    sentence,
)


def mark_cell(axis: Axis, response: Response, item: Item, marks: Sequence[Mark] = ()) -> Cell:
    """Return the cell of one axis; an exception in the axis becomes a failed cell with the reason.

    `marks` are those that people or judges gave; only axes that are made of marks take any.

    The last text of an incomplete log may not be the answer, so axes that read the text fail there.
    """
    doubts = response.transcript.answer_doubts if response.transcript is not None else ()
    if doubts and not getattr(axis, "traces", False):
        reason = sentence(
            "the log is incomplete, so this may not be the answer: {gaps}", gaps="; ".join(doubts)
        )
        return _fail_cell(axis, item, reason)
    combine = getattr(axis, "combine", None)
    if marks and combine is None:
        reason = sentence("the axis computes its score itself, so no marks can be given")
        return _fail_cell(axis, item, reason)
    try:
        cell = axis.mark(response, item) if combine is None else combine(response, item, marks)
    except Exception as error:  # noqa: BLE001 - axes may come from plugins and raise anything
        reason = sentence("the axis failed: {words}", words=_format_error(error))
        return _fail_cell(axis, item, reason)
    if not isinstance(cell, Cell):
        reason = sentence("the axis gave a {kind}, not a cell", kind=type(cell).__name__)
        return _fail_cell(axis, item, reason)
    if cell.value is not None and cell.value < 0 and not getattr(axis, "keeps_negatives", False):
        reason = sentence("the axis gave {value}, which is below 0", value=str(cell.value))
        return _fail_cell(axis, item, reason)
    return cell


def find_bounds(axis: Axis, item: Item) -> ScoreBounds:
    """Return the lowest and the highest value that an axis can give to any answer to an item."""
    get_bounds = getattr(axis, "get_bounds", None)
    bounds = UNKNOWN_SCORE if get_bounds is None else get_bounds(item)
    return bounds if isinstance(bounds, ScoreBounds) else UNKNOWN_SCORE


def _fail_cell(axis: Axis, item: Item, reason: str) -> Cell:
    return structs.replace(Cell.failed(reason), bounds=find_bounds(axis, item))


def _format_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
