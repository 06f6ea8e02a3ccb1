"""Limits of axes: one for all items, or one for each value of a tag such as `depth: quick`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markscheme.vocabulary import Item, format_value


def check_limits(
    field: str, by: str | None, limits: Mapping[str, Any] | int, least: int
) -> Iterator[tuple[str, str]]:
    """Yield the problems of one limit, or of the limits by tag."""
    wanted = f"a whole number from {least} on"
    if isinstance(limits, int):
        if by is not None:
            yield field, f"must say the limit of each value of `{by}`, not one limit for all"
        if isinstance(limits, bool) or limits < least:
            yield field, f"must be {wanted}, not {format_value(limits)}"
        return
    if by is None:
        yield "by", f"is missing; name the tag that `{field}` goes by, or give one number"
    if not limits:
        yield field, "is empty; give the limit of each value of the tag"
    for value, limit in limits.items():
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
            yield f"{field}.{value}", f"must be {wanted}, not {format_value(limit)}"


def check_limit_tag(
    by: str | None, limits: Mapping[str, Any] | int, item: Item
) -> Iterator[tuple[str, str]]:
    """Yield a problem if an item lacks the tag, or has a value without a limit."""
    if by is None or isinstance(limits, int):
        return
    allowed = ", ".join(limits)
    if by not in item.tags:
        yield "tags", f"must have `{by}`; allowed: {allowed}"
    elif item.tags[by] not in limits:
        yield "tags", f"`{by}: {item.tags[by]}` has no limit; allowed: {allowed}"


def get_limit(by: str | None, limits: Mapping[str, Any] | int, item: Item) -> tuple[int, str]:
    """Return the limit for an item, and its tag as a note for the reason."""
    if by is None or isinstance(limits, int):
        return int(limits), ""  # type: ignore[arg-type]
    return limits[item.tags[by]], f" ({by}: {item.tags[by]})"
