"""Reading LangChain and LangGraph: messages, states of a graph, updates of its nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

LANGCHAIN = LOGS / "langchain"
MESSAGES = json.loads((LANGCHAIN / "messages.json").read_text(encoding="utf-8"))["messages"]
STATES = json.loads((LANGCHAIN / "states.json").read_text(encoding="utf-8"))
ANSWER = {"type": "ai", "content": "Done.", "id": "last"}


def read(folder: Path, document: Any) -> Transcript:
    path = folder / "thread.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_transcript(path)


def read_message(folder: Path, message: Any) -> Transcript:
    return read(folder, {"messages": [*MESSAGES, message, ANSWER]})


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("messages.json", None),
        ("data.json", None),
        ("states.json", "thread-1"),
        ("updates.jsonl", None),
    ],
)
def test_messages_say_the_same_in_every_shape(name: str, session: str | None) -> None:
    transcript = read_transcript(LANGCHAIN / name)
    assert (transcript.format, transcript.session) == ("langchain", session)
    assert list_calls(transcript) == [
        ("bash", "ok"),
        ("write_file", "error"),
        ("task", "ok"),
        ("bash", "error"),
    ]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("bash", "rm -f old"),
        ("write_file", "b.py"),
    ]
    assert [(d.kind, d.call) for d in transcript.dispatches] == [("scout", 2)]
    assert [prompt.text for prompt in transcript.prompts] == ["Where is the loader?"]
    assert (transcript.final_text, transcript.latency_s) == ("`a.py` is the loader.", None)
    assert (list_tokens(transcript), transcript.models) == ((80, 60, 10, 30, 5), ("model-x",))
    assert transcript.complete, transcript.gaps


def test_states_in_the_other_order_say_the_same(tmp_path: Path) -> None:
    newest_last = read(tmp_path, STATES[::-1])
    assert newest_last.calls == read_transcript(LANGCHAIN / "states.json").calls
    assert newest_last.complete, newest_last.gaps


@pytest.mark.parametrize("order", [1, -1])
def test_messages_without_ids_that_states_repeat_count_once(order: int, tmp_path: Path) -> None:
    bare = [{key: value for key, value in m.items() if key != "id"} for m in MESSAGES]
    states = [{"values": {"messages": bare[:end]}} for end in (3, 5, 8)][::order]
    transcript = read(tmp_path, states)
    assert transcript.calls == read_transcript(LANGCHAIN / "messages.json").calls


def test_calls_of_the_provider_are_read_where_there_are_no_others(tmp_path: Path) -> None:
    function = {"name": "bash", "arguments": '{"command": "rm x"}'}
    new = {"tool_calls": [{"id": "x1", "type": "function", "function": function}]}
    old = {"function_call": function}
    messages = [
        {"type": "human", "content": "Do it."},
        {"type": "ai", "content": "", "additional_kwargs": new},
        {"type": "tool", "content": "", "tool_call_id": "x1"},
        {"type": "ai", "content": "", "additional_kwargs": old},
        {"type": "function", "content": "", "name": "bash"},
        ANSWER,
    ]
    transcript = read(tmp_path, messages)
    assert list_calls(transcript) == [("bash", None), ("bash", None)]
    assert [mutation.target for mutation in transcript.mutations] == ["rm x", "rm x"]
    assert transcript.complete, transcript.gaps


def test_calls_that_the_server_carries_out_are_calls(tmp_path: Path) -> None:
    call = {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"query": "x"}}
    result = {"type": "server_tool_result", "tool_call_id": "s1", "status": "success"}
    transcript = read_message(tmp_path, {"type": "ai", "content": ["So:", call, result]})
    assert list_calls(transcript)[-1] == ("web_search", "ok")
    assert transcript.complete, transcript.gaps


@pytest.mark.parametrize(
    ("message", "doubt"),
    [
        ({"type": "oracle", "content": "x"}, "1 message of the unknown kind `oracle`"),
        ("rm x", "1 message of the unknown kind `text`"),
        ({"type": "tool", "content": "", "tool_call_id": "y"}, "1 result of the unknown kind"),
        ({"type": "ai", "content": "", "tool_calls": "rm x"}, "1 tool call of the unknown kind"),
        ({"type": "ai", "content": "", "tool_calls": [{}]}, "1 tool call of the unknown kind"),
        (
            {"type": "ai", "content": [{"type": "tool_use", "id": "y", "name": "bash"}]},
            "1 content block of the unknown kind `tool_use`",
        ),
        (
            {"type": "ai", "content": [{"type": "non_standard", "value": {}}]},
            "1 content block of the unknown kind `non_standard`",
        ),
        ({"type": "ai", "content": [7]}, "1 content block of the unknown kind `number`"),
        (
            {"type": "AIMessageChunk", "content": "x", "id": "m7"},
            "1 message of the unknown kind `chunk of a stream`",
        ),
        ({"type": "remove", "content": "", "id": "m9"}, "messages were removed from the history"),
    ],
)
def test_messages_that_are_not_understood_are_doubts(
    message: Any, doubt: str, tmp_path: Path
) -> None:
    doubts = read_message(tmp_path, message).doubts
    assert any(found.startswith(doubt) for found in doubts), doubts


def test_a_record_of_another_kind_is_a_doubt(tmp_path: Path) -> None:
    event = {"event": "on_tool_start", "name": "bash", "data": {"input": "rm x"}}
    doubts = read(tmp_path, [{"messages": MESSAGES}, event]).doubts
    assert doubts == ("1 record of the unknown kind `on_tool_start`",)


@pytest.mark.parametrize("changes", [{"next": ["tools"]}, {"interrupts": [{"value": "May I?"}]}])
def test_a_graph_that_has_not_ended_is_incomplete(changes: Any, tmp_path: Path) -> None:
    transcript = read(tmp_path, [{**STATES[0], **changes}, *STATES[1:]])
    assert transcript.gaps == ("the graph was to go on",)


def test_a_stream_that_ends_with_an_interruption_is_incomplete(tmp_path: Path) -> None:
    records = [{"agent": {"messages": MESSAGES}}, {"__interrupt__": []}]
    assert "the graph was to go on" in read(tmp_path, records).gaps


def test_an_answer_that_was_cut_short_is_no_answer(tmp_path: Path) -> None:
    cut = {"type": "ai", "content": "So", "response_metadata": {"finish_reason": "length"}}
    transcript = read(tmp_path, [*MESSAGES, cut])
    assert "the last answer ended with `length`" in transcript.gaps
