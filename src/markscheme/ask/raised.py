"""What is raised instead of an answer, by a library that anybody may have written.

A status says what an error means. Where there is none its kind does, by the names on which the
libraries of the makers agree; none of them is imported.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from markscheme.ask.replies import Fault, Reply
from markscheme.ask.statuses import failed_with, fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUSES = range(300, 600)
_PLACES = ("status_code", "status", "code")  # most; aiohttp; urllib and Google
_WORDS = {
    "RateLimit|TooManyRequests|Overloaded|Throttl|ResourceExhausted": Fault.BUSY,
    "Timeout|DeadlineExceeded": Fault.TIMEOUT,
    "ConnectionReset|ConnectionAborted|BrokenPipe|Disconnected": Fault.BROKEN_OFF,
    "^(Read|Write|Close|RemoteProtocol|ChunkedEncoding)Error$|^IncompleteRead": Fault.BROKEN_OFF,
    "Connect|^URLError$|^gaierror$": Fault.UNREACHABLE,
    "InternalServer|ServiceUnavailable|BadGateway": Fault.SERVER,
    "^NeedsKey|^(Authentication|PermissionDenied|BadRequest|NotFound)Error$": Fault.REJECTED,
}
_NETWORK = {"asyncio", "http", "socket", "urllib"}  # of the standard library
_SAID = re.compile(r"(?i)(?:^\W*|(?:http(?:/[\d.]+)?|error|status|code)\W{1,3})([345]\d\d)\b")
_SAID_BUSY = re.compile(r"(?i)too many requests|rate.?limit|overloaded")


def reply_to(error: Exception) -> Reply:
    """Return the reply that an error is: busy, may pass, a rejection, or else one that failed."""
    told = f"{type(error).__name__}: {error}"
    for one in _looked_at(error):
        status = _status_of(one)
        if status is not None:
            return failed_with(status, told, _retry_after(one))
    known = (_kind_of(one) for one in _looked_at(error))
    return Reply.failed(next(filter(None, known), None) or _fault_said(error), told)


def _looked_at(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and, where `llm` wrapped another one in it, that one."""
    yield error
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and _is_of_llm(error):
        yield cause


def _is_of_llm(error: BaseException) -> bool:
    kinds = type(error).__mro__
    return any(one.__name__ == "ModelError" and one.__module__ == "llm.errors" for one in kinds)


def _status_of(error: BaseException) -> int | None:
    """Return the status that it or its response has."""
    for thing in (error, _has(error, "response")):
        for place in _PLACES:
            found = _has(thing, place)
            if isinstance(found, int) and found in _STATUSES:
                return int(found)
    return None


def _retry_after(error: BaseException) -> str | None:
    """Return what a header of its response says, or its own, in whatever case."""
    found = _headers_of(error) | _headers_of(_has(error, "response"))
    return found.get("retry-after")


def _headers_of(thing: Any) -> dict[str, str]:
    try:
        return {str(name).lower(): str(value) for name, value in thing.headers.items()}
    except Exception:  # noqa: BLE001 - it has none, or none that are as usual
        return {}


def _has(thing: Any, name: str) -> Any:
    """Return what something has by a name; to look must not raise another error."""
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - a property may be anybody's
        return None


def _kind_of(error: BaseException) -> Fault | None:
    """Look for a name that is known, its own first and then those of its parents."""
    for kind in filter(_may_mean_a_server, type(error).__mro__):
        for word, fault in _WORDS.items():
            if re.search(word, kind.__name__):
                return fault
    return None


def _may_mean_a_server(kind: type) -> bool:
    """Whether its name can be trusted: a file that is not found says nothing of an API."""
    home = kind.__module__.partition(".")[0]
    own = home in sys.stdlib_module_names and home not in _NETWORK
    return not own or issubclass(kind, ConnectionError | TimeoutError)


def _fault_said(error: BaseException) -> Fault:
    """Read the text of an error of `llm`, which often is all that is left of a status."""
    if not _is_of_llm(error):
        return Fault.FAILED
    text = str(error)
    status = _SAID.search(text)
    if status is not None:
        return fault_of(int(status[1]))
    return Fault.BUSY if _SAID_BUSY.search(text) else Fault.FAILED
