"""Reading sessions of Goose: exports, session files, the output of runs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens, load_lines, read_lines
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

GOOSE = LOGS / "goose"
EXPORT = json.loads((GOOSE / "export.json").read_text(encoding="utf-8"))
MESSAGES = EXPORT["conversation"]
LINES = load_lines(GOOSE / "session.jsonl")


def check_session(transcript: Transcript) -> None:
    assert transcript.format == "goose"
    assert list_calls(transcript) == [
        ("developer__shell", "error"),
        ("developer__text_editor", "denied"),
        ("memory__retrieve_memories", "error"),
        ("delegate", "ok"),
    ]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("developer__shell", "rm shop/old.md"),
        ("developer__text_editor", "/shop/list.md"),
    ]
    assert [(d.kind, d.status) for d in transcript.dispatches] == [("scout", "ok")]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(9))
    assert transcript.calls[0].seconds == Decimal(1)
    assert transcript.complete, transcript.gaps


def test_an_export_is_read() -> None:
    transcript = read_transcript(GOOSE / "export.json")
    check_session(transcript)
    assert (transcript.session, transcript.models) == ("20260301_1", ("model-g",))
    assert list_tokens(transcript) == (None, None, None, 40, None)


def test_an_older_session_file_does_not_say_how_commands_went() -> None:
    transcript = read_transcript(GOOSE / "session.jsonl")
    assert list_calls(transcript)[:2] == [
        ("developer__shell", None),
        ("developer__text_editor", "denied"),
    ]
    assert (transcript.format, transcript.final_text) == ("goose", "It is tidy.")
    assert list_tokens(transcript) == (None, None, None, 40, None)
    assert transcript.complete, transcript.gaps


def test_the_output_of_a_run_says_the_same(tmp_path: Path) -> None:
    metadata = {"total_tokens": 400, "status": "completed"}
    check_session(read_lines(tmp_path, {"messages": MESSAGES, "metadata": metadata}))
    failed = read_lines(tmp_path, {"messages": MESSAGES, "metadata": {"status": "failed"}})
    assert "the run ended with the status `failed`" in failed.gaps


def test_a_stream_says_the_same_with_its_texts_in_parts(tmp_path: Path) -> None:
    start, last = MESSAGES[:-1], MESSAGES[-1]
    parts = [last | {"content": [{"type": "text", "text": text}]} for text in ("It is", " tidy.")]
    events = [{"type": "message", "message": message} for message in [*start, *parts]]
    notice = {"type": "notification", "extension_id": "x", "message": "…"}
    check_session(read_lines(tmp_path, *events, notice, {"type": "complete", "total_tokens": 400}))
    gap = "there is no result line, so the run was stopped"
    assert gap in read_lines(tmp_path, *events).gaps
    error = {"type": "error", "error": "no credits"}
    assert "the run had an error (no credits)" in read_lines(tmp_path, *events, error).gaps


def test_a_call_that_could_not_be_parsed_is_a_failed_attempt(tmp_path: Path) -> None:
    request = {"type": "toolRequest", "id": "b", "toolCall": {"status": "error", "error": "bad"}}
    answer = {"type": "toolResponse", "id": "b", "toolResult": {"status": "error", "error": "bad"}}
    messages = [LINES[2] | {"content": [request]}, LINES[3] | {"content": [answer]}]
    transcript = read_lines(tmp_path, *LINES[:2], *messages, LINES[-1])
    assert (list_calls(transcript), transcript.complete) == ([("invalid", "error")], True)


@pytest.mark.parametrize(
    ("record", "gap"),
    [
        ({"novelty": 1}, "1 record of the unknown kind `(none)`"),
        ({"role": "system", "content": []}, "1 role of the unknown kind `system`"),
        ({"role": "user", "content": "x"}, "1 content of the unknown kind `str`"),
        ({"role": "assistant", "content": ["x"]}, "1 content block of the unknown kind `str`"),
        (
            {"role": "assistant", "content": [{"type": "toolCall"}]},
            "1 content block of the unknown kind `toolCall`",
        ),
        (
            {"role": "assistant", "content": [{"type": "toolRequest", "id": "x"}]},
            "1 tool call of the unknown kind `(none)`",
        ),
        (
            {"role": "user", "content": [{"type": "toolResponse", "id": "x"}]},
            "a result belongs to no call",
        ),
        ({"conversation": {}}, "1 conversation of the unknown kind `dict`"),
        (
            {"role": "assistant", "content": [{"type": "error", "kind": "other"}]},
            "the last turn ended with an error",
        ),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(record: Any, gap: str, tmp_path: Path) -> None:
    assert gap in read_lines(tmp_path, *LINES, record).gaps


def test_a_program_in_a_call_is_a_doubt(tmp_path: Path) -> None:
    value = {"name": "code_execution__execute_code", "arguments": {"code": "…"}}
    request = {"type": "toolRequest", "id": "p", "toolCall": {"status": "success", "value": value}}
    gaps = read_lines(tmp_path, *LINES, {"role": "assistant", "content": [request]}).gaps
    assert "1 program of the unknown kind `code_execution__execute_code`" in gaps
