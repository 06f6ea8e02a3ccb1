"""Statuses of HTTP: what one means for who asks, and when a server wants to be asked again.

What is raised instead of an answer, by a library that anybody may have written.

A status says what an error means. Where there is none its kind does, by the names on which the
libraries of the makers agree; none of them is imported.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from markscheme.ask.replies import Fault, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

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


_HTTP_ERROR_STATUSES = range(300, 600)
_STATUS_ATTRIBUTES = ("status_code", "status", "code")  # most; aiohttp; urllib and Google
_TYPE_NAME_FAULTS = {
    "RateLimit|TooManyRequests|Overloaded|Throttl|ResourceExhausted": Fault.BUSY,
    "Timeout|DeadlineExceeded": Fault.TIMEOUT,
    "ConnectionReset|ConnectionAborted|BrokenPipe|Disconnected": Fault.BROKEN_OFF,
    "^(Read|Write|Close|RemoteProtocol|ChunkedEncoding)Error$|^IncompleteRead": Fault.BROKEN_OFF,
    "Connect|^URLError$|^gaierror$": Fault.UNREACHABLE,
    "InternalServer|ServiceUnavailable|BadGateway": Fault.SERVER,
    "^NeedsKey|^(Authentication|PermissionDenied|BadRequest|NotFound)Error$": Fault.REJECTED,
}
_NETWORK_MODULES = {"asyncio", "http", "socket", "urllib"}  # of the standard library
_STATUS_PATTERN = re.compile(
    r"(?i)(?:^\W*|(?:http(?:/[\d.]+)?|error|status|code)\W{1,3})([345]\d\d)\b"
)
_BUSY_PATTERN = re.compile(r"(?i)too many requests|rate.?limit|overloaded")


def build_exception_reply(error: Exception) -> Reply:
    """Return the reply that an error is: busy, may pass, a rejection, or else one that failed."""
    told = f"{type(error).__name__}: {error}"
    for one in _iter_exception_chain(error):
        status = _find_exception_status(one)
        if status is not None:
            return build_status_reply(status, told, _find_retry_after(one))
    known = (_classify_by_type(one) for one in _iter_exception_chain(error))
    return Reply.from_fault(next(filter(None, known), None) or _classify_by_message(error), told)


def _iter_exception_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and, where `llm` wrapped another one in it, that one."""
    yield error
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and _is_llm_error(error):
        yield cause


def _is_llm_error(error: BaseException) -> bool:
    kinds = type(error).__mro__
    return any(one.__name__ == "ModelError" and one.__module__ == "llm.errors" for one in kinds)


def _find_exception_status(error: BaseException) -> int | None:
    """Return the status that it or its response has."""
    for thing in (error, _get_attribute_safely(error, "response")):
        for place in _STATUS_ATTRIBUTES:
            found = _get_attribute_safely(thing, place)
            if isinstance(found, int) and found in _HTTP_ERROR_STATUSES:
                return int(found)
    return None


def _find_retry_after(error: BaseException) -> str | None:
    """Return what a header of its response says, or its own, in whatever case."""
    found = _read_headers(error) | _read_headers(_get_attribute_safely(error, "response"))
    return found.get("retry-after")


def _read_headers(thing: Any) -> dict[str, str]:
    try:
        return {str(name).lower(): str(value) for name, value in thing.headers.items()}
    except Exception:  # noqa: BLE001 - a property may be anybody's
        return {}


def _get_attribute_safely(thing: Any, name: str) -> Any:
    """Return what something has by a name; to look must not raise another error."""
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - a property may be anybody's
        return None


def _classify_by_type(error: BaseException) -> Fault | None:
    """Look for a name that is known, its own first and then those of its parents."""
    for kind in filter(_is_trusted_type, type(error).__mro__):
        for word, fault in _TYPE_NAME_FAULTS.items():
            if re.search(word, kind.__name__):
                return fault
    return None


def _is_trusted_type(kind: type) -> bool:
    """Whether its name can be trusted: a file that is not found says nothing of an API."""
    home = kind.__module__.partition(".")[0]
    own = home in sys.stdlib_module_names and home not in _NETWORK_MODULES
    return not own or issubclass(kind, ConnectionError | TimeoutError)


def _classify_by_message(error: BaseException) -> Fault:
    """Read the text of an error of `llm`, which often is all that is left of a status."""
    if not _is_llm_error(error):
        return Fault.FAILED
    text = str(error)
    status = _STATUS_PATTERN.search(text)
    if status is not None:
        return classify_status(int(status[1]))
    return Fault.BUSY if _BUSY_PATTERN.search(text) else Fault.FAILED
