"""Replies that hand over the log of what an agent did.

A command may print one JSON object with `transcript`, the path of a session log, and beside it
`output`, `latency_ms`, `tokens_in`, `tokens_out` and `cost`. What it does not say is taken from the
log. A log that cannot be read leaves an incomplete transcript, on which no check passes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from markscheme.ask.replies import Fault, Reply
from markscheme.read.session_logs import measure_transcript
from markscheme.read.transcripts import Draft, read_transcripts
from markscheme.vocabulary import InputError, Transcript, UsageError, format_value

_LOG_KEY, _TEXT_KEY = "transcript", "output"
_COUNT_KEYS = ("tokens_in", "tokens_out")
_NUMBER_KEYS = ("latency_ms", *_COUNT_KEYS, "cost")
_MICROSECONDS = 1_000_000


def read_transcript_reply(reply: Reply) -> Reply:
    """Return a reply with its transcript, if its text names one; else the reply as it is."""
    named = _parse_named_log(reply.text)
    if named is None:
        return reply
    if why := _find_problem(named):
        return Reply.from_fault(Fault.GARBLED, why)
    transcript = _read_log(str(named[_LOG_KEY]))
    metrics = measure_transcript(transcript)
    seconds = metrics.latency_s
    latency = None if seconds is None else int(seconds * _MICROSECONDS)
    if named.get("latency_ms") is not None:
        latency = int(Decimal(str(named["latency_ms"])) * 1000)
    counts = {
        key: getattr(metrics, key) if named.get(key) is None else named[key] for key in _COUNT_KEYS
    }
    return replace(
        reply,
        text=str(named.get(_TEXT_KEY, transcript.final_text or "")),
        latency_us=reply.latency_us if latency is None else latency,
        cost=None if named.get("cost") is None else Decimal(str(named["cost"])),
        transcript=transcript,
        **counts,
    )


def _parse_named_log(text: str | None) -> Mapping[str, Any] | None:
    """Return the object that names a log; an object with other keys is an answer."""
    if text is None or not text.lstrip().startswith("{") or f'"{_LOG_KEY}"' not in text:
        return None
    try:
        named = json.loads(text)
    except (ValueError, RecursionError):
        return None
    allowed = {_LOG_KEY, _TEXT_KEY, *_NUMBER_KEYS}
    is_named = isinstance(named, dict) and _LOG_KEY in named and named.keys() <= allowed
    return named if is_named else None


def _find_problem(named: Mapping[str, Any]) -> str:
    """Return what is wrong with the values beside the log, or an empty text."""
    for key in (_LOG_KEY, _TEXT_KEY):
        if key in named and not isinstance(named[key], str):
            return f"`{key}` of the reply must be a text, not {format_value(named[key])}"
    for key in _NUMBER_KEYS:
        value = named.get(key)
        if value is not None and not _is_amount(value, whole=key in _COUNT_KEYS):
            return f"`{key}` of the reply must be a number from 0 on, not {format_value(value)}"
    return ""


def _is_amount(value: object, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    try:
        amount = Decimal(str(value))
    except (InvalidOperation, ValueError):
        return False
    return amount.is_finite() and amount >= 0


def _read_log(path: str) -> Transcript:
    """Read the log of one session; what is wrong with it becomes a gap."""
    try:
        transcripts = [transcript for _, transcript in read_transcripts(path)]
    except (InputError, UsageError, OSError, ValueError) as error:
        return _build_unread(f"the log `{path}` cannot be read: {' '.join(str(error).split())}")
    if len(transcripts) != 1:
        return _build_unread(f"the log `{path}` holds {len(transcripts)} sessions, not one")
    return transcripts[0]


def _build_unread(gap: str) -> Transcript:
    draft = Draft()
    draft.add_gap(gap)
    return draft.build_transcript("unread")
