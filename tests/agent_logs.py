"""Helpers for the synthetic logs of `tests/logs` and the transcripts read from them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from markscheme import Transcript, read_transcript

LOGS = Path(__file__).parent / "logs"


def list_calls(transcript: Transcript) -> list[tuple[str, str | None]]:
    """Return name and status of each call."""
    return [(call.name, call.status) for call in transcript.calls]


def list_tokens(transcript: Transcript) -> tuple[int | None, ...]:
    """Return input, cache read, cache write, output, reasoning."""
    tokens = transcript.tokens
    read, write = tokens.cache_read, tokens.cache_write
    return tokens.input_uncached, read, write, tokens.output, tokens.reasoning


def load_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a log with one record per line."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def read_lines(folder: Path, *records: Any) -> Transcript:
    """Write the records into a log, one per line, and read it."""
    path = folder / "log.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return read_transcript(path)


def find_subagent(transcript: Transcript, kind: str) -> Transcript:
    """Return the sub-agent of this kind."""
    return next(agent for agent in transcript.subagents if agent.kind == kind)


def write_database(folder: Path) -> Path:
    """Write the sessions of the storage folder into a database as OpenCode keeps it."""
    storage, path = LOGS / "opencode" / "storage", folder / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT)")
        connection.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        connection.execute(
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)"
        )
        for file in storage.rglob("ses_*.json"):
            info = json.loads(file.read_text(encoding="utf-8"))
            row = (info["id"], info.get("parentID"), info["title"])
            connection.execute("INSERT INTO session VALUES (?, ?, ?)", row)
        for file in storage.rglob("msg_*.json"):
            info = json.loads(file.read_text(encoding="utf-8"))
            row = (info.pop("id"), info.pop("sessionID"), json.dumps(info))
            connection.execute("INSERT INTO message VALUES (?, ?, ?)", row)
        for file in storage.rglob("prt_*.json"):
            part = json.loads(file.read_text(encoding="utf-8"))
            ids = (part.pop("id"), part.pop("messageID"), part.pop("sessionID"))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (*ids, json.dumps(part)))
        connection.commit()
    return path
