"""Each log is recognised by its own reader, and no reader takes a log of another format."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from agent_logs import LOGS
from markscheme import MarkschemeError, read_transcript
from markscheme.read.transcripts import list_format_names
from markscheme.tell.transcript import dump_transcripts

if TYPE_CHECKING:
    from pathlib import Path

OWN_FORMATS = {
    "anthropic/conversation.json": "anthropic-messages",
    "anthropic/messages.jsonl": "anthropic-messages",
    "anthropic/requests.jsonl": "anthropic-messages",
    "claude-code/inline.jsonl": "claude-code",
    "claude-stream/agents.jsonl": "claude-stream",
    "claude-stream/execution.json": "claude-stream",
    "claude-stream/result.json": "claude-stream",
    "cline/api_conversation_history.json": "cline",
    "cline/session.messages.json": "cline",
    "cline/xml.json": "cline",
    "codex/exec.jsonl": "codex-exec",
    "copilot/events.jsonl": "copilot",
    "cursor/stream.jsonl": "cursor-stream",
    "gemini/session.json": "gemini",
    "gemini/session.jsonl": "gemini",
    "gemini/stream.jsonl": "gemini-stream",
    "goose/export.json": "goose",
    "goose/session.jsonl": "goose",
    "openai/chat.json": "openai-chat",
    "openai/requests.jsonl": "openai-chat",
    "openai/responses.jsonl": "openai-responses",
    "opencode/events.jsonl": "opencode-events",
    "opencode/run.jsonl": "opencode-run",
    "qwen/chat.jsonl": "qwen",
}
# Formats whose logs are lines, and what holds the kind of a line.
KINDS = {
    "copilot/events.jsonl": "type",
    "cursor/stream.jsonl": "type",
    "gemini/stream.jsonl": "type",
    "qwen/chat.jsonl": "type",
    "anthropic/messages.jsonl": "role",
    "goose/session.jsonl": "role",
}

# Formats whose logs are one document.
DOCUMENTS = [
    "anthropic/conversation.json",
    "cline/api_conversation_history.json",
    "cline/session.messages.json",
    "goose/export.json",
]


@pytest.mark.parametrize(("name", "expected"), OWN_FORMATS.items())
def test_each_log_is_recognised_by_its_own_reader(name: str, expected: str) -> None:
    assert read_transcript(LOGS / name).format == expected


@pytest.mark.parametrize("name", [*KINDS, "cline/xml.json", "goose/export.json"])
def test_every_line_that_is_cut_off_makes_a_log_incomplete(name: str, tmp_path: Path) -> None:
    content = (LOGS / name).read_bytes()
    whole = read_transcript(LOGS / name)
    path = tmp_path / "log.json"
    chance = random.Random(name)  # noqa: S311 - the same cuts in every run
    for _ in range(40):
        path.write_bytes(content[: chance.randrange(1, len(content) - 2)])
        with suppress(MarkschemeError):
            transcript = read_transcript(path)
            assert not transcript.complete
            assert len(transcript.calls) <= len(whole.calls)


@pytest.mark.parametrize(("name", "key"), KINDS.items())
def test_a_line_of_an_unknown_kind_is_named_wherever_it_stands(
    name: str, key: str, tmp_path: Path
) -> None:
    lines = (LOGS / name).read_bytes().splitlines()
    unknown = orjson.dumps({key: "hologram", "content": "x", "sessionId": "s", "data": {}})
    path = tmp_path / "log.jsonl"
    for at in range(1, len(lines) + 1):
        path.write_bytes(b"\n".join([*lines[:at], unknown, *lines[at:]]))
        transcript = read_transcript(path)
        assert transcript.format == OWN_FORMATS[name]
        assert any("unknown kind `hologram`" in gap for gap in transcript.gaps), (at, transcript)


def replace_kinds(value: Any, chance: random.Random) -> Any:
    """Return the value with the types of some records, blocks and parts made unknown."""
    if isinstance(value, list):
        return [replace_kinds(element, chance) for element in value]
    if not isinstance(value, dict):
        return value
    changed = {key: replace_kinds(inner, chance) for key, inner in value.items()}
    if isinstance(changed.get("type"), str) and chance.random() < 0.3:
        changed["type"] = "hologram"
    return changed


@pytest.mark.parametrize("name", [*KINDS, *DOCUMENTS])
def test_no_log_with_unknown_kinds_is_complete(name: str, tmp_path: Path) -> None:
    content = (LOGS / name).read_text(encoding="utf-8")
    is_document = name.endswith(".json")
    lines = [content] if is_document else content.splitlines()
    records = [json.loads(line) for line in lines]
    path = tmp_path / "log.jsonl"
    chance = random.Random(name)  # noqa: S311 - the same changes in every run
    for _ in range(60):
        changed = [replace_kinds(record, chance) for record in records]
        if "hologram" not in json.dumps(changed):
            continue
        path.write_text("\n".join(map(json.dumps, changed)), encoding="utf-8")
        with suppress(MarkschemeError):
            transcript = read_transcript(path)
            own = transcript.format == OWN_FORMATS[name]
            assert not (own and transcript.complete), changed


@pytest.mark.parametrize("name", list_format_names())
def test_ids_with_half_a_character_stop_no_reader(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for log in (LOGS / file for file in OWN_FORMATS if OWN_FORMATS[file] == name):
        records = log.read_text(encoding="utf-8").replace('"id":"', '"id":"\\ud83d')
        path.write_text(records.replace('"id": "', '"id": "\\ud83d'), encoding="utf-8")
        transcript = read_transcript(path)
        assert transcript.format == name
        json.loads(dump_transcripts([(path, transcript)]))
