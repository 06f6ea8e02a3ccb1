"""Logs with records, blocks or places of calls that no reader knows: they are never complete."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_logs import LOGS, write_database
from markscheme import Transcript, read_transcript
from markscheme.read.transcripts import Draft

HIDDEN = {"toolCallId": "h1", "toolName": "bash", "args": {"command": "rm -rf src"}}
LINES = {
    "claude-code": "claude-code/inline.jsonl",
    "claude-stream": "claude-stream/agents.jsonl",
    "codex-exec": "codex/exec.jsonl",
    "gemini": "gemini/session.jsonl",
    "openai-chat": "openai/requests.jsonl",
    "openai-responses": "openai/responses.jsonl",
    "opencode-events": "opencode/events.jsonl",
    "opencode-run": "opencode/run.jsonl",
    "otel": "otel/otlp.jsonl",
}


def lines_of(name: str) -> list[Any]:
    text = (LOGS / LINES[name]).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def read_lines(folder: Path, lines: list[Any]) -> Transcript:
    log = folder / "log.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return read_transcript(log)


def read_document(folder: Path, document: Any) -> Transcript:
    log = folder / "log.json"
    log.write_text(json.dumps(document), encoding="utf-8")
    return read_transcript(log)


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_record_of_an_unknown_kind_is_a_doubt_of_every_format(name: str, tmp_path: Path) -> None:
    lines = lines_of(name)
    assert read_lines(tmp_path, lines).doubts == ()
    found = read_lines(tmp_path, [*lines, {"type": "from-the-future", "name": "bash"}])
    assert found.format == name
    assert not found.complete
    assert any("unknown kind" in doubt for doubt in found.doubts), found.gaps


@pytest.mark.parametrize("name", ["claude-code", "claude-stream"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_block_of_an_unknown_kind_is_a_doubt_in_both_formats_of_claude(
    name: str, role: str, tmp_path: Path
) -> None:
    lines = lines_of(name)
    line = next(line for line in lines if line.get("type") == role)
    line["message"]["content"] = [{"type": "tool_use_v2", "name": "Bash"}]
    found = read_lines(tmp_path, lines)
    doubts = [doubt for agent in found.agents() for doubt in agent.doubts]
    assert "1 content block of the unknown kind `tool_use_v2`" in doubts


@pytest.mark.parametrize(
    "content", [{"type": "tool_use"}, [[{"type": "tool_use"}]], [7], True, 3.5]
)
def test_content_that_is_neither_text_nor_a_list_of_blocks_is_a_doubt(
    content: Any, tmp_path: Path
) -> None:
    lines = lines_of("claude-stream")
    line = next(line for line in lines if line.get("type") == "assistant")
    line["message"]["content"] = content
    found = [doubt for agent in read_lines(tmp_path, lines).agents() for doubt in agent.doubts]
    assert any("content block of the unknown kind" in doubt for doubt in found)


@pytest.mark.parametrize("name", sorted(set(LINES) - {"codex-exec", "opencode-events", "otel"}))
def test_a_call_beside_what_is_read_is_a_doubt(name: str, tmp_path: Path) -> None:
    lines = lines_of(name)
    kinds = ("user", "text", "message")
    line = next((e for e in lines if e.get("type") in kinds or "messages" in e), lines[0])
    line["toolInvocations"] = [HIDDEN]
    found = [doubt for agent in read_lines(tmp_path, lines).agents() for doubt in agent.doubts]
    assert "1 tool container of the unknown kind `toolInvocations`" in found


def test_what_a_tool_returned_may_quote_anything(tmp_path: Path) -> None:
    quoted = {"type": "tool_use", "id": "q", "name": "Bash", "input": {"command": "rm -rf /"}}
    lines = lines_of("claude-code")
    for line in lines:
        for block in line.get("message", {}).get("content", []):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                block["content"] = [quoted, {"type": "from-the-future"}]
                line["toolUseResult"] = {"tool_calls": [quoted]}
    assert read_lines(tmp_path, lines).doubts == ()
    chat = json.loads((LOGS / "openai/chat.json").read_text(encoding="utf-8"))
    messages = chat["messages"] if isinstance(chat, dict) else chat
    for message in messages:
        if message["role"] == "tool":
            message["content"] = [{"type": "from-the-future"}]
            message["artifact"] = {"tool_calls": [quoted]}
    assert read_document(tmp_path, chat).doubts == ()


@pytest.mark.parametrize(
    "kind",
    [
        *("ai-title", "last-prompt", "mode", "permission-mode", "cost-state", "file-history-delta"),
        *("worktree-state", "pr-link", "agent-name", "content-replacement", "atis-latch"),
        *("attachment", "system", "summary", "queue-operation", "bridge-session", "tag"),
    ],
)
def test_what_claude_code_writes_about_a_session_is_no_doubt(kind: str, tmp_path: Path) -> None:
    record = {"type": kind, "sessionId": "s", "attachment": {"type": "hook_success", "stdout": "x"}}
    assert read_lines(tmp_path, [*lines_of("claude-code"), record]).doubts == ()


def test_calls_that_only_the_progress_of_an_agent_shows_are_a_doubt(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "p", "name": "Bash", "input": {"command": "rm x"}}
    message = {"type": "assistant", "message": {"content": [call]}}
    data = {"type": "agent_progress", "agentId": "gone", "message": message}
    record = {"type": "progress", "parentToolUseID": "t", "data": data}
    found = read_lines(tmp_path, [*lines_of("claude-code"), record])
    assert found.doubts == ("1 tool container of the unknown kind `progress`",)


def test_gemini_tells_the_person_things_that_are_no_doubt(tmp_path: Path) -> None:
    notices = [{"id": kind, "type": kind, "content": "x"} for kind in ("info", "error", "warning")]
    changes = [{"$set": {"lastUpdated": "x", "summary": "s"}}, {"$rewindTo": "99"}]
    assert read_lines(tmp_path, [*lines_of("gemini"), *notices, *changes]).doubts == ()


def test_a_call_in_the_content_of_gemini_that_is_in_no_list_of_calls_is_a_doubt(
    tmp_path: Path,
) -> None:
    part = {"functionCall": {"id": "x", "name": "shell_of_the_future", "args": {}}}
    message = {"id": "90", "type": "gemini", "content": [part, {"text": "Well."}]}
    found = read_lines(tmp_path, [*lines_of("gemini"), message])
    assert found.doubts == ("1 tool container of the unknown kind `functionCall`",)
    message["toolCalls"] = [{"id": "x", "name": "shell_of_the_future", "status": "success"}]
    # The call is listed, and its message follows the last text no more.
    found = read_lines(tmp_path, [*lines_of("gemini"), message, {**message, "id": "91"}])
    assert not any("functionCall" in doubt for doubt in found.doubts)


def inspect_log() -> Any:
    return json.loads((LOGS / "inspect/log.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "kind", ["anchor", "approval", "checkpoint", "compaction", "info", "sandbox", "store", "logger"]
)
def test_events_of_inspect_without_calls_are_no_doubt(kind: str, tmp_path: Path) -> None:
    log = inspect_log()
    log["samples"][0]["events"].append({"event": kind, "data": {"tool_calls": [HIDDEN]}})
    assert read_document(tmp_path, log).doubts == ()


def test_what_inspect_holds_beyond_its_events_is_a_doubt(tmp_path: Path) -> None:
    log = inspect_log()
    sample = log["samples"][0]
    sample["events"].append({"event": "from-the-future"})
    sample["events"].append({"event": "subtask", "events": [{"event": "tool", "function": "rm"}]})
    call = {"id": "lost", "function": "bash", "arguments": {"cmd": "rm x"}}
    sample["messages"].append({"role": "assistant", "content": "", "tool_calls": [call]})
    assert read_document(tmp_path, log).doubts == (
        "1 event of the unknown kind `from-the-future`",
        "1 tool container of the unknown kind `events`",
        "1 tool call without an event of the unknown kind `bash`",
    )


def test_calls_that_a_server_carried_out_for_inspect_are_calls(tmp_path: Path) -> None:
    log = inspect_log()
    block = {
        "type": "tool_use",
        "tool_type": "mcp_call",
        "id": "srv",
        "context": "files",
        "name": "delete_file",
        "arguments": '{"path": "a"}',
        "result": "",
        "error": None,
    }
    log["samples"][0]["messages"].append({"role": "assistant", "content": [block]})
    found = read_document(tmp_path, log)
    assert found.calls[-1].name == "mcp__files__delete_file"
    assert found.calls[-1].paths == ("a",)


@pytest.mark.parametrize(
    "event",
    [
        *("server.connected", "session.idle", "session.diff", "lsp.updated", "todo.updated"),
        *("permission.asked", "file.edited", "custom.recorder_started", "session.next.step.ended"),
    ],
)
def test_other_events_of_opencode_are_no_doubt(event: str, tmp_path: Path) -> None:
    record = {"type": event, "properties": {}}
    assert read_lines(tmp_path, [*lines_of("opencode-events"), record]).doubts == ()


def test_a_call_of_the_next_opencode_that_is_no_part_is_a_doubt(tmp_path: Path) -> None:
    record = {"type": "session.next.tool.called", "properties": {"callID": "new", "tool": "bash"}}
    found = read_lines(tmp_path, [*lines_of("opencode-events"), record])
    assert found.doubts == ("1 record of the unknown kind `session.next`",)


@pytest.mark.parametrize("kind", ["snapshot", "patch", "agent", "retry", "file"])
def test_parts_of_opencode_without_calls_are_no_doubt(kind: str, tmp_path: Path) -> None:
    export = json.loads((LOGS / "opencode/exports/child.json").read_text(encoding="utf-8"))
    export["messages"][-1]["parts"].append({"id": "prt_new", "type": kind, "files": ["a"]})
    assert read_document(tmp_path, export).doubts == ()
    export["messages"][-1]["parts"].append({"id": "prt_future", "type": "tool-v2"})
    assert read_document(tmp_path, export).doubts == ("1 part of the unknown kind `tool-v2`",)


def test_sessions_that_only_the_next_tables_of_opencode_hold_are_a_doubt(tmp_path: Path) -> None:
    path = write_database(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE session_message (id TEXT, session_id TEXT, data TEXT)")
        connection.execute("INSERT INTO session_message VALUES ('m', 'ses_parent', '{}')")
        connection.commit()
        assert read_transcript(path).doubts == ()
        connection.execute("INSERT INTO session_message VALUES ('n', 'ses_other', '{}')")
        connection.commit()
    assert read_transcript(path).doubts == ("1 record of the unknown kind `session_message`",)


def test_an_item_that_has_begun_in_a_stream_and_never_ended_is_a_call(tmp_path: Path) -> None:
    item = {"type": "shell_call", "id": "i1", "call_id": "c1", "action": {"commands": ["rm a"]}}
    event = {"type": "response.output_item.added", "sequence_number": 1, "item": item}
    done = {"type": "response.completed", "response": {"output": []}}
    found = read_lines(tmp_path, [event, done])
    assert [(call.name, call.command) for call in found.calls] == [("shell", "rm a")]
    assert not found.complete


@pytest.mark.parametrize(
    ("item", "doubt"),
    [
        ({"type": "robot_call", "id": "r"}, "1 item of the unknown kind `robot_call`"),
        (
            {"type": "response.robot.moved", "sequence_number": 3},
            "1 event of the unknown kind `response.robot.moved`",
        ),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "tool-call"}]},
            "1 content block of the unknown kind `tool-call`",
        ),
    ],
)
def test_unknown_items_of_the_responses_api_are_doubts(
    item: Any, doubt: str, tmp_path: Path
) -> None:
    assert doubt in read_lines(tmp_path, [*lines_of("openai-responses"), item]).doubts


def span(id_: str, parent: str | None = None, **attributes: Any) -> dict[str, Any]:
    listed = [
        {"key": key.replace("__", "."), "value": {"stringValue": value}}
        for key, value in attributes.items()
    ]
    times = {"startTimeUnixNano": "1000000000", "endTimeUnixNano": "2000000000"}
    ids = {"traceId": "t", "spanId": id_, **({"parentSpanId": parent} if parent else {})}
    return {**ids, "name": id_, "attributes": listed, **times}


def read_spans(folder: Path, *spans: dict[str, Any]) -> Transcript:
    said = '[{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]'
    root = span("root", gen_ai__operation__name="invoke_agent", gen_ai__output__messages=said)
    scopes = [{"spans": [root, *spans]}]
    return read_document(folder, {"resourceSpans": [{"scopeSpans": scopes}]})


ASKED = '[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "rm_all"}]}]'


@pytest.mark.parametrize(
    ("attributes", "doubt"),
    [
        ({"gen_ai__operation__name": "embeddings"}, None),
        ({"openinference__span__kind": "RETRIEVER"}, None),
        ({"traceloop__span__kind": "workflow"}, None),
        (
            {"gen_ai__operation__name": "delete_memory"},
            "1 span operation of the unknown kind `delete_memory`",
        ),
        ({"openinference__span__kind": "ROBOT"}, "1 span kind of the unknown kind `ROBOT`"),
        ({"traceloop__span__kind": "tool"}, "1 tool span of the unknown kind `tool`"),
        ({"ai__operationId": "ai.toolCall"}, "1 tool span of the unknown kind `ai.toolCall`"),
        ({"gen_ai__tool__name": "rm_all"}, "1 tool span of the unknown kind `rm_all`"),
        (
            {"gen_ai__operation__name": "chat", "gen_ai__output__messages": ASKED},
            "1 tool call without a span of the unknown kind `rm_all`",
        ),
        (
            {"gen_ai__completion__0__tool_calls__0__name": "rm_all", "llm__request__type": "chat"},
            "1 tool call without a span of the unknown kind `rm_all`",
        ),
    ],
)
def test_spans_that_may_hide_calls_are_doubts(
    attributes: dict[str, str], doubt: str | None, tmp_path: Path
) -> None:
    found = read_spans(tmp_path, span("inner", "root", **attributes))
    assert found.doubts == (() if doubt is None else (doubt,))


def test_a_call_that_a_model_asked_for_and_a_span_shows_is_no_doubt(tmp_path: Path) -> None:
    asked = span("m", "root", gen_ai__operation__name="chat", gen_ai__output__messages=ASKED)
    ran = span("c", "root", gen_ai__operation__name="execute_tool", gen_ai__tool__name="rm_all")
    assert read_spans(tmp_path, asked, ran).doubts == ()


def test_a_call_in_an_event_of_a_span_is_a_doubt(tmp_path: Path) -> None:
    asked = span("m", "root", gen_ai__operation__name="chat")
    calls = '{"tool_calls": [{"id": "c", "function": {"name": "rm_all"}}]}'
    attribute = {"key": "gen_ai.event.content", "value": {"stringValue": calls}}
    asked["events"] = [{"name": "gen_ai.choice", "attributes": [attribute]}]
    found = read_spans(tmp_path, asked)
    assert found.doubts == ("1 tool call without a span of the unknown kind `rm_all`",)


def test_a_call_without_a_name_is_a_doubt() -> None:
    draft = Draft()
    draft.add_call("?", {"command": "rm x"})
    draft.add_text("Done.")
    assert "1 tool call of the unknown kind `(none)`" in draft.build_transcript("x").doubts


def test_many_unknown_kinds_make_one_short_sentence() -> None:
    draft = Draft()
    for number in range(6):
        for _ in range(6 - number):
            draft.add_unknown_kind("record", f"kind-{number}")
    draft.add_unknown_kind("record", "a\x1b[31m`b\n")
    draft.add_text("Done.")
    assert draft.build_transcript("x").doubts == (
        "22 records of 7 unknown kinds: `kind-0`, `kind-1`, `kind-2`, `kind-3` and 3 more",
    )


def test_a_call_of_which_a_stream_shows_only_the_beginning_is_a_doubt(tmp_path: Path) -> None:
    lines = lines_of("claude-stream")
    begun = {"type": "tool_use", "id": "only-begun", "name": "Bash", "input": {}}
    event = {"type": "content_block_start", "index": 0, "content_block": begun}
    record = {"type": "stream_event", "session_id": "s", "event": event}
    transcript = read_lines(tmp_path, [*lines[:-1], record, lines[-1]])
    assert "1 part of a call of the unknown kind `Bash`" in transcript.doubts


@pytest.mark.parametrize("kind", ["meta", "turn", "state"])
def test_a_call_beside_the_facts_about_a_codex_thread_is_a_doubt(kind: str, tmp_path: Path) -> None:
    text = (LOGS / "codex/bare.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert read_lines(tmp_path, lines).doubts == ()
    turn = {"timestamp": lines[0]["timestamp"], "type": "turn_context", "payload": {"model": "m"}}
    lines.insert(1, turn)
    state = next(line for line in lines if line.get("record_type") == "state")
    holder = {"meta": lines[0], "turn": turn["payload"], "state": state}[kind]
    holder["toolInvocations"] = [HIDDEN]
    assert any("toolInvocations" in doubt for doubt in read_lines(tmp_path, lines).doubts)


ASK = {"role": "user", "content": "Tidy up."}
DONE = {"role": "assistant", "content": "Done."}


def test_a_result_whose_call_is_not_shown_is_a_doubt(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "c9", "content": "Removed 3 files."}
    assert read_document(tmp_path, [ASK, result, DONE]).doubts
    output = {"type": "function_call_output", "call_id": "c9", "output": "Removed 3 files."}
    lines = lines_of("openai-responses")
    assert read_lines(tmp_path, [*lines, {"type": "response", "input": [output]}]).doubts
    block = {"type": "tool_result", "tool_use_id": "c9", "content": "Removed 3 files."}
    for name in ("claude-code", "claude-stream"):
        lines = lines_of(name)
        line = next(line for line in lines if line.get("type") == "user")
        message = {"role": "user", "content": [block]}
        assert read_lines(tmp_path, [*lines, line | {"uuid": "u9", "message": message}]).doubts


@pytest.mark.parametrize("reason", ["tool_calls", "function_call", "length", "content_filter"])
def test_a_response_that_ended_otherwise_than_it_shows_is_a_doubt(
    reason: str, tmp_path: Path
) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": DONE}
    record = {"request": {"messages": [ASK]}, "response": {"choices": [choice]}}
    assert read_document(tmp_path, record).complete
    choice["finish_reason"] = reason
    assert read_document(tmp_path, record).doubts


def test_items_of_the_server_alone_are_read_as_responses(tmp_path: Path) -> None:
    call = {
        "type": "web_search_call",
        "id": "w1",
        "status": "completed",
        "action": {"type": "search", "query": "how to remove a file"},
    }
    text = [{"type": "output_text", "text": "Done."}]
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Find."}]},
        call,
        {"type": "message", "role": "assistant", "content": text},
    ]
    found = read_lines(tmp_path, items)
    assert (found.format, found.complete) == ("openai-responses", True)
    assert [(each.name, each.status) for each in found.calls] == [("web_search", "ok")]


def make_span(id_: str, name: str, **attributes: Any) -> dict[str, Any]:
    """Return a span of a trace; of an attribute's name `__` stands for a dot."""
    values = [
        {"key": key.replace("__", "."), "value": {"stringValue": text}}
        for key, text in attributes.items()
    ]
    times = {"startTimeUnixNano": "1772000000000000000", "endTimeUnixNano": "1772000001000000000"}
    return {"traceId": "t1", "spanId": id_, "name": name, "attributes": values, **times}


def read_trace(folder: Path, *spans: dict[str, Any]) -> Transcript:
    answer = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}])
    last = make_span("z", "chat m", gen_ai__operation__name="chat", gen_ai__output__messages=answer)
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [*spans, last]}]}]}
    return read_document(folder, document)


def state_calls(*ids: str) -> str:
    parts = [{"type": "tool_call", "id": id_, "name": "bash"} for id_ in ids]
    return json.dumps([{"role": "assistant", "parts": parts}])


def test_calls_that_a_model_made_but_no_span_shows_are_a_doubt(tmp_path: Path) -> None:
    chat = {"gen_ai__operation__name": "chat"}
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "bash"}
    listing = tool | {"gen_ai__tool__call__arguments": '{"command": "ls"}'}
    assert read_trace(tmp_path).complete
    reasons = '["tool_calls"]'
    ended = make_span("c", "chat m", **chat, gen_ai__response__finish_reasons=reasons)
    assert read_trace(tmp_path, ended).doubts
    asked = make_span("c", "chat m", **chat, gen_ai__output__messages=state_calls("1", "2"))
    one, two = (make_span(id_, "execute_tool bash", **listing) for id_ in "ab")
    assert read_trace(tmp_path, asked, one).doubts
    assert read_trace(tmp_path, asked, one, two).complete
    told = make_span("c", "chat m", **chat, gen_ai__input__messages=state_calls("1"))
    assert read_trace(tmp_path, told).doubts
    assert read_trace(tmp_path, told, one).complete


RUN: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"]},
    {
        "type": "assistant",
        "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        "session_id": "s",
    },
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 6,
        "num_turns": 1,
        "result": "Done.",
        "session_id": "s",
    },
]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "system", "subtype": "task_started", "tool_use_id": "b9", "task_type": "bash"},
        {"type": "tool_use_summary", "summary": "Removed it.", "preceding_tool_use_ids": ["b9"]},
        {"type": "system", "subtype": "ran", "tool_name": "Bash", "input": {"command": "rm a"}},
        {"type": "result", "num_turns": 14},
    ],
    ids=["a task", "a summary", "a notice that is a call", "more turns than are shown"],
)
def test_a_stream_that_tells_of_calls_it_does_not_show_is_a_doubt(
    record: dict[str, Any], tmp_path: Path
) -> None:
    assert read_lines(tmp_path, RUN).complete
    first, text, result = RUN
    more = (
        [result | record] if record["type"] == "result" else [record | {"session_id": "s"}, result]
    )
    assert read_lines(tmp_path, [first, text, *more]).doubts
