"""Limits that depend on a tag of the item: so much for `quick`, so much for `thorough`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.vocabulary import Item


def check_limits(
    field: str, by: str | None, limits: Mapping[str, Any] | int, least: int
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one limit, or with the limits by tag."""
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
    """Yield that an item lacks the tag, or has a value that there is no limit for."""
    if by is None or isinstance(limits, int):
        return
    allowed = ", ".join(limits)
    if by not in item.tags:
        yield "tags", f"must have `{by}`; allowed: {allowed}"
    elif item.tags[by] not in limits:
        yield "tags", f"`{by}: {item.tags[by]}` has no limit; allowed: {allowed}"


def get_limit(by: str | None, limits: Mapping[str, Any] | int, item: Item) -> tuple[int, str]:
    """Return the limit for an item, and the tag that it follows from, for people."""
    if by is None or isinstance(limits, int):
        return int(limits), ""  # type: ignore[arg-type]
    return limits[item.tags[by]], f" ({by}: {item.tags[by]})"
