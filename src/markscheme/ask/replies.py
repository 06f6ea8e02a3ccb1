"""Replies: what comes back when a subject is asked, an answer or a fault.

HTTP statuses and exceptions become faults here. Exceptions come from functions and plugins that use
any client library. A status of the exception decides what it means; without one, the name of its
class does, by words on which the libraries of the model makers agree. None of them is imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from msgspec import MsgspecError, convert, to_builtins

from markscheme.vocabulary import Transcript

# Fields that matter only while a question is asked; they are not stored.
_TRANSIENT_FIELDS = ("wait", "crowded", "anew", "tries")


def to_single_line(text: str, max_length: int) -> str:
    """Make an untrusted text safe to show: printable, on one line, and shortened."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= max_length else f"{line[:max_length]}…"


class Fault(StrEnum):
    """Why there is no answer; the first six are transient."""

    BUSY = "busy"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    BROKEN_OFF = "broken-off"
    GARBLED = "garbled"
    SERVER = "server-error"
    REJECTED = "rejected"
    TOO_LARGE = "too-large"
    FAILED = "failed"

    @property
    def transient(self) -> bool:
        """Whether another try may succeed."""
        return self not in {Fault.REJECTED, Fault.TOO_LARGE, Fault.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The text of an answer with its figures, or a fault and the reason.

    `transcript` is what an agent did for the answer, if its log was handed over. `served` is the
    model that the server says it used, which may be another than the one that was asked for.

    Times are whole microseconds. These fields steer the runner and are not stored:

    - `wait`: for how many seconds the subject asked not to be asked.
    - `crowded`: the subject failed in a way in which overloaded servers fail.
    - `anew`: ask again at once, without using up a retry: a kept connection was closed, or the
      question will be put with other parameters.
    - `tries`: how many tries a recorded reply took; asking a recording again changes nothing.
    """

    text: str | None = None
    fault: Fault | None = None
    why: str = ""
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    latency_us: int | None = None
    first_token_us: int | None = None
    cached: bool = False
    transcript: Transcript | None = None
    served: str | None = None
    wait: float | None = None
    crowded: bool = False
    anew: bool = False
    tries: int | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.fault is None):
            raise ValueError("a reply has a text or a fault")

    @classmethod
    def from_fault(
        cls, fault: Fault, why: str, *, wait: float | None = None, anew: bool = False
    ) -> Reply:
        """Build a reply that is no answer."""
        return cls(fault=fault, why=why, wait=wait, anew=anew)

    @property
    def uses_no_retry(self) -> bool:
        """Whether the question itself did not fail, so that another try uses up no retry."""
        return self.fault is Fault.BUSY or self.anew

    @property
    def is_recorded(self) -> bool:
        """Whether it comes from a recording, and says nothing about a live subject."""
        return self.tries is not None

    @property
    def is_final(self) -> bool:
        """Whether another try would give the same."""
        if self.fault is None or self.is_recorded:
            return True
        return not (self.fault.transient or self.anew)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are known as plain data, the cost as exact text."""
        names = (field.name for field in fields(self) if field.name not in _TRANSIENT_FIELDS)
        values = {name: getattr(self, name) for name in names}
        known = {name: value for name, value in values.items() if value is not None}
        if self.transcript is not None:
            known["transcript"] = to_builtins(self.transcript)
        return known if self.cost is None else {**known, "cost": str(self.cost)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """Build a reply from what `to_dict` returned."""
        known = dict(data)
        if "cost" in known:
            known["cost"] = Decimal(known["cost"])
        if "fault" in known:
            known["fault"] = Fault(known["fault"])
        if "transcript" in known:
            known["transcript"] = restore_transcript(known["transcript"])
        return cls(**known)


def restore_transcript(data: Any) -> Transcript:
    """Build a transcript from what was stored with a reply; a `ValueError` if it is damaged."""
    try:
        return convert(data, Transcript)
    except MsgspecError as error:
        raise ValueError(f"a stored transcript cannot be read: {error}") from error


_BUSY_STATUSES = {429, 529}  # too many requests; overloaded
_RETRY_STATUSES = {408, 409, 425}
_OVERLOAD_STATUSES = {503, 504}  # the server or a proxy before it may have too much to do
_FIRST_SERVER_STATUS = 500


def build_status_reply(status: int, why: str, after: str | None = None) -> Reply:
    """Build the reply for a status; `after` is the value of `Retry-After`, if there is one."""
    return Reply(
        fault=classify_status(status),
        why=why,
        wait=parse_retry_after(after),
        crowded=status in _OVERLOAD_STATUSES,
    )


def classify_status(status: int) -> Fault:
    """Classify a status that is no success as busy, a passing server error, or a rejection."""
    if status in _BUSY_STATUSES:
        return Fault.BUSY
    if status in _RETRY_STATUSES or status >= _FIRST_SERVER_STATUS:
        return Fault.SERVER
    return Fault.REJECTED


def parse_retry_after(after: str | None) -> float | None:
    """Parse `Retry-After`, which is a number of seconds or a date; return seconds."""
    if not after:
        return None
    try:
        return max(0.0, float(after))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few servers send a date

    try:
        return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


_HTTP_ERROR_STATUSES = range(300, 600)
_STATUS_ATTRIBUTES = ("status_code", "status", "code")  # most; aiohttp; urllib and Google
# Patterns of class names; the first that matches decides.
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
    """Build the reply for an exception: by its status, else its class, else its message."""
    why = f"{type(error).__name__}: {error}"
    for link in _iter_exception_chain(error):
        status = _find_exception_status(link)
        if status is not None:
            return build_status_reply(status, why, _find_retry_after(link))
    faults = (_classify_by_type(link) for link in _iter_exception_chain(error))
    return Reply.from_fault(next(filter(None, faults), None) or _classify_by_message(error), why)


def _iter_exception_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and, if it is one of `llm` that wraps another, the wrapped one."""
    yield error
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and _is_llm_error(error):
        yield cause


def _is_llm_error(error: BaseException) -> bool:
    return any(
        kind.__name__ == "ModelError" and kind.__module__ == "llm.errors"
        for kind in type(error).__mro__
    )


def _find_exception_status(error: BaseException) -> int | None:
    """Return the HTTP status of an exception or of its response."""
    for owner in (error, _get_attribute_safely(error, "response")):
        for name in _STATUS_ATTRIBUTES:
            status = _get_attribute_safely(owner, name)
            if isinstance(status, int) and status in _HTTP_ERROR_STATUSES:
                return int(status)
    return None


def _find_retry_after(error: BaseException) -> str | None:
    """Return the header `Retry-After` of an exception or of its response, in whatever case."""
    headers = _read_headers(error) | _read_headers(_get_attribute_safely(error, "response"))
    return headers.get("retry-after")


def _read_headers(owner: Any) -> dict[str, str]:
    try:
        return {str(name).lower(): str(value) for name, value in owner.headers.items()}
    except Exception:  # noqa: BLE001 - a property may be anybody's
        return {}


def _get_attribute_safely(owner: Any, name: str) -> Any:
    """Return an attribute or None, also where a property raises."""
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001 - a property may be anybody's
        return None


def _classify_by_type(error: BaseException) -> Fault | None:
    """Classify an exception by the name of its class, then by those of its base classes."""
    for kind in filter(_is_trusted_type, type(error).__mro__):
        for pattern, fault in _TYPE_NAME_FAULTS.items():
            if re.search(pattern, kind.__name__):
                return fault
    return None


def _is_trusted_type(kind: type) -> bool:
    """Whether the name of a class tells something about an API.

    Most exceptions of the standard library do not: `FileNotFoundError` is about a file.
    """
    package = kind.__module__.partition(".")[0]
    is_stdlib = package in sys.stdlib_module_names and package not in _NETWORK_MODULES
    return not is_stdlib or issubclass(kind, ConnectionError | TimeoutError)


def _classify_by_message(error: BaseException) -> Fault:
    """Classify an exception of `llm` by its text, in which a status often survives."""
    if not _is_llm_error(error):
        return Fault.FAILED
    text = str(error)
    status = _STATUS_PATTERN.search(text)
    if status is not None:
        return classify_status(int(status[1]))
    return Fault.BUSY if _BUSY_PATTERN.search(text) else Fault.FAILED
