"""Statuses of HTTP: what one means for who asks, and when a server wants to be asked again."""

from __future__ import annotations

from datetime import UTC, datetime

from markscheme.ask.replies import Fault, Reply

_BUSY_STATUSES = {429, 529}  # too many requests; overloaded
_RETRY_STATUSES = {408, 409, 425}
_OVERLOAD_STATUSES = {503, 504}  # of a server, or one before it, that has too much to do
_FIRST_SERVER_STATUS = 500


def build_status_reply(status: int, why: str, after: str | None = None) -> Reply:
    """Return the reply that a status is, with what `Retry-After` says, if it does."""
    crowded = status in _OVERLOAD_STATUSES
    return Reply(
        fault=classify_status(status), why=why, wait=parse_retry_after(after), crowded=crowded
    )


def classify_status(status: int) -> Fault:
    """Say whether a server that does not answer is busy, may answer later, or never will."""
    if status in _BUSY_STATUSES:
        return Fault.BUSY
    return (
        Fault.SERVER
        if status in _RETRY_STATUSES or status >= _FIRST_SERVER_STATUS
        else Fault.REJECTED
    )


def parse_retry_after(after: str | None) -> float | None:
    """Read `Retry-After`: seconds, or a date."""
    if not after:
        return None
    try:
        return max(0.0, float(after))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few servers say a date

    try:
        return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
