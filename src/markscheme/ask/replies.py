"""Replies: what comes back when a subject is asked, an answer or a kind of error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any

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
        return known if self.cost is None else {**known, "cost": str(self.cost)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """Build a reply from what `to_dict` returned."""
        known = dict(data)
        if "cost" in known:
            known["cost"] = Decimal(known["cost"])
        if "fault" in known:
            known["fault"] = Fault(known["fault"])
        return cls(**known)
