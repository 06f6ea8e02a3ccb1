"""How a stored run keeps the messages of its texts: templates and values beside the English.

The cells of a chunk have a column `message` of the same shape as `reason`. It holds a message only
in the first row with each reason, so that a reason of 10,000 rows is kept once; `fill_messages`
copies it to the other rows. Texts that are kept as JSON (bad rows, and why a live run stopped) have
their messages in one further entry of the summary. Runs that an earlier version stored have
neither, so their texts stay English.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from markscheme.vocabulary import MESSAGE_COLUMN, RowError, encode_message, restore_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # A run is opened before polars is loaded, so the functions that need it load it.
    import polars as pl


def thin_messages(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells that keep each message once, in the first row that has its reason."""
    return _replace_messages(
        cells, lambda reason, message: message.set(~reason.is_first_distinct(), None)
    )


def fill_messages(cells: pl.DataFrame) -> pl.DataFrame:
    """Return stored cells with a message in every row whose reason has one."""
    if MESSAGE_COLUMN not in cells.columns:
        return cells
    return _replace_messages(cells, _fill_axis)


def _replace_messages(
    cells: pl.DataFrame, replace_axis: Callable[[pl.Series, pl.Series], pl.Series]
) -> pl.DataFrame:
    """Replace the messages of each axis by a function of its reasons and its messages."""
    import polars as pl

    reasons = cells["reason"].struct.unnest()
    messages = cells[MESSAGE_COLUMN].struct.unnest()
    columns = [replace_axis(reasons[column.name], column) for column in messages.iter_columns()]
    return cells.with_columns(pl.DataFrame(columns).to_struct(MESSAGE_COLUMN))


def _fill_axis(reason: pl.Series, message: pl.Series) -> pl.Series:
    import polars as pl

    kept = pl.DataFrame({"reason": reason, "message": message}).drop_nulls().unique("reason")
    every = reason.to_frame("reason").join(kept, on="reason", how="left", maintain_order="left")
    return every["message"].alias(message.name)


def build_message_records(errors: Sequence[RowError], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the messages in the summary of a run: of its bad rows, and of its live record."""
    live = more.get("live") or {}
    return {
        "bad_rows": [encode_message(error.reason) for error in errors],
        "stopped": encode_message(live.get("stopped") or ""),
    }


def restore_bad_rows(summary: Mapping[str, Any]) -> tuple[RowError, ...]:
    """Return the bad rows of a stored summary, their reasons as messages where they are kept."""
    rows = [RowError(**row) for row in summary.get("bad_rows", ())]
    kept = summary.get("messages", {}).get("bad_rows", [None] * len(rows))
    return tuple(
        structs.replace(row, reason=restore_message(row.reason, encoded))
        for row, encoded in zip(rows, kept, strict=True)
    )


def restore_live_record(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the live record of a stored summary, why it stopped as a message where it is kept."""
    live: dict[str, Any] | None = summary.get("live")
    if live is None or live.get("stopped") is None:
        return live
    encoded = summary.get("messages", {}).get("stopped")
    return {**live, "stopped": restore_message(live["stopped"], encoded)}
