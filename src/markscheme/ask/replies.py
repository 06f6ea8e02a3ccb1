"""What comes back when a subject is asked: an answer, or the kind of error there was instead."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_single_line(text: str, longest: int) -> str:
    """Return a text that anybody may have written so that it can be shown: one line, and cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= longest else f"{line[:longest]}…"


class Fault(StrEnum):
    """Why there is no answer; the first six may be gone at the next try."""

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
        """Whether it makes sense to ask again."""
        return self not in {Fault.REJECTED, Fault.TOO_LARGE, Fault.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The text of an answer with what is known of it, or a fault and why.

    Times are whole microseconds. `wait` is for how many seconds a busy subject wants to be left
    alone; `crowded` is one that fails where it may have too much to do. `anew` is true where the
    question is to be put again at once: a connection that was kept turned out to be closed, or it
    is to be put in other words. `tries` is how many there were where it was recorded: a recording
    says the same however often it is asked. They say nothing of the answer, and are not kept.
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
        """Return a reply that is no answer."""
        return cls(fault=fault, why=why, wait=wait, anew=anew)

    @property
    def uses_no_retry(self) -> bool:
        """Whether nothing went wrong with the question, so that it uses up no retry."""
        return self.fault is Fault.BUSY or self.anew

    @property
    def is_recorded(self) -> bool:
        """Whether it was said at another time, and tells nothing of who is asked now."""
        return self.tries is not None

    @property
    def is_final(self) -> bool:
        """Whether it would be the same at the next try."""
        if self.fault is None or self.is_recorded:
            return True
        return not (self.fault.transient or self.anew)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data, the cost as it is written."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("wait", "crowded", "anew", "tries"):
            del found[name]
        known = {name: value for name, value in found.items() if value is not None}
        return known if self.cost is None else {**known, "cost": str(self.cost)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """Return the reply that `to_dict` gave as data."""
        known = dict(data)
        if "cost" in known:
            known["cost"] = Decimal(known["cost"])
        if "fault" in known:
            known["fault"] = Fault(known["fault"])
        return cls(**known)
