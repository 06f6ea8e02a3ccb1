"""Reading the stream that Cursor's agent prints."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens, load_lines, read_lines
from markscheme import read_transcript

if TYPE_CHECKING:
    from pathlib import Path

STREAM = LOGS / "cursor" / "stream.jsonl"
EVENTS = load_lines(STREAM)


def tool_call(subtype: str, tool: str, **details: Any) -> dict[str, Any]:
    call = {tool: details}
    return {"type": "tool_call", "subtype": subtype, "call_id": "new", "tool_call": call}


def test_a_stream_is_read_with_its_sub_agent() -> None:
    transcript = read_transcript(STREAM)
    assert (transcript.format, transcript.session) == ("cursor-stream", "cur-1")
    assert list_calls(transcript) == [
        ("shell", "denied"),
        ("read", "error"),
        ("edit", "ok"),
        ("mcp__memory__search_nodes", "ok"),
        ("task", "ok"),
    ]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("shell", "rm shop/old.md"),
        ("edit", "/shop/list.md"),
    ]
    assert transcript.calls[3].arguments == {"query": "shop"}
    assert [(d.kind, d.agent, d.status) for d in transcript.dispatches] == [
        ("scout", "exec-1", "ok")
    ]
    scout = find_subagent(transcript, "scout")
    assert (list_calls(scout), scout.final_text) == ([("shell", "error")], "Two.")
    assert [m.target for m in scout.mutations] == ["mkdir counts"]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(9))
    assert [call.seconds for call in transcript.calls[:2]] == [Decimal(1), Decimal("0.5")]
    assert (list_tokens(transcript), transcript.models) == ((4, 280, 11, 117, None), ("Model C",))
    assert transcript.complete, transcript.gaps


def test_partial_output_says_the_same(tmp_path: Path) -> None:
    def say(text: str, **fields: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        return {"type": "assistant", "message": message, **fields}

    first = [say("I look ", timestamp_ms=1), say("first.", timestamp_ms=2), EVENTS[4]]
    last = [say("It is", timestamp_ms=3), say(" tidy.", timestamp_ms=4), EVENTS[-2]]
    transcript = read_lines(tmp_path, *EVENTS[:4], *first, *EVENTS[5:-2], *last, EVENTS[-1])
    assert transcript.final_text == "It is tidy."
    assert transcript.complete, transcript.gaps


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ({"success": {"exitCode": 0}}, "ok"),
        ({"success": {"exitCode": 2}}, "error"),
        ({"success": {"isBackground": True}}, None),
        ({"failure": {"exitCode": 1}}, "error"),
        ({"permissionDenied": {}}, "denied"),
        ({"novelty": {}}, None),
        ("<redacted>", None),
    ],
)
def test_the_key_of_a_result_says_how_a_call_went(
    result: Any, status: str | None, tmp_path: Path
) -> None:
    details = {"args": {"command": "ls"}, "result": result}
    call = tool_call("completed", "shellToolCall", **details)
    transcript = read_lines(tmp_path, *EVENTS[:4], call, *EVENTS[-2:])
    assert list_calls(transcript) == [("shell", status)]


def test_events_that_are_written_twice_count_once(tmp_path: Path) -> None:
    started = tool_call("started", "deleteToolCall", args={"path": "a"})
    completed = tool_call("completed", "deleteToolCall", args={"path": "a"}, result={"success": {}})
    again = [started, EVENTS[2], started, completed, EVENTS[2], completed]
    transcript = read_lines(tmp_path, *EVENTS[:4], *again, *EVENTS[-2:])
    assert list_calls(transcript) == [("delete", "ok")]
    assert [m.target for m in transcript.mutations] == ["a"]


def test_calls_that_share_an_id_all_count(tmp_path: Path) -> None:
    calls = [tool_call("started", "deleteToolCall", args={"path": path}) for path in "ab"]
    transcript = read_lines(tmp_path, *EVENTS[:4], *calls, *EVENTS[-2:])
    assert [m.target for m in transcript.mutations] == ["a", "b"]
    ended = {"args": {"path": "a"}, "result": {"success": {}}}
    calls = [tool_call("completed", tool, **ended) for tool in ("deleteToolCall", "editToolCall")]
    transcript = read_lines(tmp_path, *EVENTS[:4], *calls, *EVENTS[-2:])
    assert list_calls(transcript) == [("delete", "ok"), ("edit", "ok")]
    del calls[0]["call_id"]
    assert "a call has no id" in read_lines(tmp_path, *EVENTS[:4], calls[0], *EVENTS[-2:]).gaps


def test_a_stream_without_its_start_or_its_end_is_incomplete(tmp_path: Path) -> None:
    stopped = "there is no result line, so the run was stopped"
    assert stopped in read_lines(tmp_path, *EVENTS[:-1]).gaps
    assert stopped in read_lines(tmp_path, *EVENTS, *EVENTS[1:5]).gaps
    only_result = read_lines(tmp_path, EVENTS[-1])
    assert only_result.format == "cursor-stream"
    assert "the start of the run is missing, so calls may be" in only_result.gaps


@pytest.mark.parametrize(
    ("event", "gap"),
    [
        ({"type": "hologram"}, "1 event of the unknown kind `hologram`"),
        ({"type": {}}, "1 event of the unknown kind `{}`"),
        ({"type": "system", "subtype": "x"}, "1 system event of the unknown kind `x`"),
        ({"type": "interaction_query"}, "1 query of the unknown kind `(none)`"),
        (tool_call("progress", "shellToolCall"), "1 call event of the unknown kind `progress`"),
        (tool_call("started", "writeShellStdinToolCall"), "1 tool of the unknown kind `writeShel"),
        (tool_call("started", "program"), "1 tool of the unknown kind `program`"),
        (
            {"type": "assistant", "message": {"content": [{"type": "tool_use"}]}},
            "1 content block of the unknown kind `tool_use`",
        ),
        ({"type": "assistant", "message": "x"}, "1 content of the unknown kind `NoneType`"),
        (
            {"type": "result", "subtype": "error", "is_error": True},
            "the run ended with an error (error)",
        ),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(event: Any, gap: str, tmp_path: Path) -> None:
    gaps = read_lines(tmp_path, *EVENTS[:-1], event, EVENTS[-1]).gaps
    assert any(found.startswith(gap) for found in gaps), gaps
