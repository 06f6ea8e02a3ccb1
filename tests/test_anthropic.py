"""Reading Anthropic messages: conversations, requests with responses, what is not understood."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens, load_lines, read_lines
from markscheme import read_transcript

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES, REQUESTS = (
    load_lines(LOGS / "anthropic" / name) for name in ("messages.jsonl", "requests.jsonl")
)


def test_calls_of_the_client_the_server_and_mcp_servers_are_read() -> None:
    transcript = read_transcript(LOGS / "anthropic" / "conversation.json")
    assert transcript.format == "anthropic-messages"
    assert list_calls(transcript) == [
        ("bash", "ok"),
        ("str_replace_based_edit_tool", "error"),
        ("web_search", "error"),
        ("mcp__memory__search_nodes", "ok"),
    ]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("str_replace_based_edit_tool", "shop/list.md")
    ]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("The shop is\ntidy.", None)
    assert list_tokens(transcript) == (None, None, None, None, None)
    assert transcript.complete, transcript.gaps


def test_requests_that_repeat_the_history_say_what_its_messages_say() -> None:
    messages = read_transcript(LOGS / "anthropic" / "messages.jsonl")
    requests = read_transcript(LOGS / "anthropic" / "requests.jsonl")
    for transcript in (messages, requests):
        assert transcript.format == "anthropic-messages"
        assert list_calls(transcript) == [("bash", "ok")]
        assert [m.target for m in transcript.mutations] == ["rm shop/old.md"]
        assert (transcript.final_text, len(transcript.prompts)) == ("It is tidy.", 1)
        assert transcript.complete, transcript.gaps
    assert (list_tokens(requests), requests.models) == (
        (14, 100, 120, 12, None),
        ("claude-test-1",),
    )


def test_a_list_of_messages_is_one_conversation(tmp_path: Path) -> None:
    assert list_calls(read_lines(tmp_path, MESSAGES)) == [("bash", "ok")]


def test_a_request_that_dropped_old_messages_adds_only_new_ones(tmp_path: Path) -> None:
    first, second = json.loads(json.dumps(REQUESTS))
    del second["request"]["messages"][0]
    assert list_calls(read_lines(tmp_path, first, second)) == [("bash", "ok")]


def test_another_conversation_in_the_same_log_is_a_gap(tmp_path: Path) -> None:
    other = {"messages": [{"role": "user", "content": "Name this chat."}]}
    assert "the log holds several conversations" in read_lines(tmp_path, *REQUESTS, other).gaps


@pytest.mark.parametrize(
    ("content", "gap"),
    [
        ([{"type": "quantum_use", "id": "q"}], "1 content block of the unknown kind `quantum_use`"),
        ([{"type": ["tool_use"]}], "1 content block of the unknown kind `['tool_use']`"),
        (["rm -r shop"], "1 content block of the unknown kind `str`"),
        ({"type": "tool_use"}, "1 content of the unknown kind `dict`"),
        (None, "1 content of the unknown kind `NoneType`"),
    ],
)
def test_content_that_may_hide_calls_makes_it_incomplete(
    content: Any, gap: str, tmp_path: Path
) -> None:
    unknown = {"role": "assistant", "content": content}
    assert gap in read_lines(tmp_path, *MESSAGES[:3], unknown, MESSAGES[3]).gaps


@pytest.mark.parametrize(
    ("record", "gap"),
    [
        ({"role": "robot", "content": "x"}, "1 role of the unknown kind `robot`"),
        ({"kind": "note"}, "1 record of the unknown kind `(none)`"),
        ({"messages": ["rm"]}, "1 message of the unknown kind `str`"),
        ({"response": {"body_raw": "event: …"}}, "1 response of the unknown kind `(none)`"),
        ({"type": "error", "error": {"type": "x"}}, "the last response is an error of the API"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "else"}]},
            "a result belongs to no call",
        ),
        (
            {"type": "message", "role": "assistant", "content": [], "stop_reason": "max_tokens"},
            "the last response ended with `max_tokens`",
        ),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(record: Any, gap: str, tmp_path: Path) -> None:
    assert gap in read_lines(tmp_path, *MESSAGES, record).gaps


def test_a_program_that_the_server_runs_is_a_doubt(tmp_path: Path) -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "x"}}
    result = {
        "type": "code_execution_tool_result",
        "tool_use_id": "s",
        "content": {"return_code": 1},
    }
    transcript = read_lines(tmp_path, *MESSAGES, {"role": "assistant", "content": [use, result]})
    assert list_calls(transcript)[1] == ("code_execution", "error")
    assert "1 program of the unknown kind `code_execution`" in transcript.gaps


def test_half_a_character_in_an_id_stops_nothing(tmp_path: Path) -> None:
    text = (LOGS / "anthropic" / "messages.jsonl").read_text(encoding="utf-8")
    path = tmp_path / "log.jsonl"
    path.write_text(text.replace("toolu_1", "toolu\\ud83d"), encoding="utf-8")
    transcript = read_transcript(path)
    assert (transcript.calls[0].id, list_calls(transcript)) == ("toolu?", [("bash", "ok")])
    assert transcript.complete
