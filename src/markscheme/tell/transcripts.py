"""Transcripts as one JSON document, for scripts."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markscheme.transcript import Transcript

_JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z


def dump_transcripts(found: Sequence[tuple[Path, Transcript]]) -> bytes:
    """Return one transcript as a document, several as a list in one."""
    records = [
        {**_build_transcript_record(transcript), "file": str(file)} for file, transcript in found
    ]
    document = records[0] if len(records) == 1 else {"transcripts": records}
    return orjson.dumps(document, default=_encode_number, option=_JSON_OPTIONS)


def _build_transcript_record(transcript: Transcript) -> dict[str, Any]:
    """Return the keys that scripts rely on, then what else is known."""
    return {
        "format": transcript.format,
        "complete": transcript.complete,
        "final_text": transcript.final_text,
        "calls": transcript.calls,
        "dispatches": transcript.dispatches,
        "mutations": transcript.mutations,
        "latency_s": transcript.latency_s,
        "last_turn_latency_s": transcript.last_turn_latency_s,
        "tokens": transcript.tokens,
        "prompts": len(transcript.prompts),
        "subagents": [_build_transcript_record(inner) for inner in transcript.subagents],
        "agent": transcript.agent,
        "kind": transcript.kind,
        "internal": transcript.internal,
        "session": transcript.session,
        "models": transcript.models,
        "gaps": transcript.gaps,
        "skipped_lines": transcript.skipped_lines,
        "turns": transcript.prompts,
    }


def _encode_number(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"`{type(value).__name__}` is no part of a transcript")
