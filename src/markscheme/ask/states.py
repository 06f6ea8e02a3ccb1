"""How a subject does while it is asked, for those who look on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markscheme.ask.replies import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """What a subject is asked now, whether it says that it is busy, and what has failed so far.

    `failed` counts tries that ended with what may pass; `again` are the seconds until it is asked.
    """

    subject: str
    running: int
    busy: bool
    seconds_until_retry: float
    failed: Mapping[Fault, int]
