"""Reading the events of GitHub Copilot CLI."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens, load_lines, read_lines
from markscheme import read_transcript

if TYPE_CHECKING:
    from pathlib import Path

LOG = LOGS / "copilot" / "events.jsonl"
EVENTS = load_lines(LOG)


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "timestamp": "2026-03-01T11:00:20.000Z"}


def test_a_session_is_read_with_its_sub_agent() -> None:
    transcript = read_transcript(LOG)
    assert (transcript.format, transcript.session) == ("copilot", "cop-1")
    assert list_calls(transcript) == [
        ("bash", "error"),
        ("create", "denied"),
        ("mcp__memory__search_nodes", "ok"),
        ("task", "ok"),
    ]
    assert [(m.name, m.target, m.status) for m in transcript.mutations] == [
        ("bash", "rm shop/old.md", "error"),
        ("create", "/shop/list.md", "denied"),
    ]
    assert [(d.kind, d.agent, d.status, d.call) for d in transcript.dispatches] == [
        ("explore", "agent-9", "ok", 3)
    ]
    explore = find_subagent(transcript, "explore")
    assert (list_calls(explore), explore.final_text) == ([("bash", "ok")], "Two.")
    assert [m.target for m in explore.mutations] == ["mkdir counts"]
    assert [prompt.text for prompt in explore.prompts] == ["Count them."]
    assert explore.complete, explore.gaps
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(8))
    assert transcript.calls[0].seconds == Decimal("0.5")
    assert list_tokens(transcript) == (100, 600, 300, 44, 7)
    assert transcript.tokens.with_subagents
    assert transcript.models == ("model-p",)
    assert transcript.complete, transcript.gaps


def test_an_older_log_names_only_the_call_of_a_sub_agent(tmp_path: Path) -> None:
    events = json.loads(json.dumps(EVENTS))
    for record in events:
        record.pop("agentId", None)
    explore = find_subagent(read_lines(tmp_path, *events), "explore")
    assert (explore.agent, list_calls(explore)) == ("c4", [("bash", "ok")])


def test_a_call_whose_arguments_were_changed_is_a_doubt(tmp_path: Path) -> None:
    changed = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "rm -r /"}}
    transcript = read_lines(tmp_path, *EVENTS[:-1], event("tool.execution_start", **changed))
    assert "a call was started with other arguments than it was asked for" in transcript.gaps


def test_without_a_shutdown_only_the_output_is_known(tmp_path: Path) -> None:
    transcript = read_lines(tmp_path, *EVENTS[:-1])
    assert list_tokens(transcript) == (None, None, None, 34, None)
    assert transcript.complete, transcript.gaps


def test_an_agent_in_the_background_has_a_status_of_its_own(tmp_path: Path) -> None:
    events = [record for record in EVENTS if record["type"] != "subagent.completed"]
    assert [d.status for d in read_lines(tmp_path, *events).dispatches] == ["none"]
    failed = event("subagent.failed", toolCallId="c4", agentName="explore", error="x")
    assert [d.status for d in read_lines(tmp_path, *events, failed).dispatches] == ["error"]


def test_text_that_is_typed_into_a_running_shell_is_a_command(tmp_path: Path) -> None:
    typed = {"toolCallId": "w", "toolName": "write_bash", "arguments": {"input": "rm -r x{enter}"}}
    transcript = read_lines(
        tmp_path, *EVENTS[:4], event("tool.execution_start", **typed), *EVENTS[-6:]
    )
    assert [m.target for m in transcript.mutations] == ["rm -r x"]
    assert "a call has no result" in transcript.gaps


def test_prompts_of_the_client_are_none_of_the_user(tmp_path: Path) -> None:
    extra = event("user.message", content="…", source="skill-pdf")
    assert len(read_lines(tmp_path, *EVENTS[:3], extra, *EVENTS[3:]).prompts) == 1


def test_a_log_without_its_start_or_the_end_of_its_last_turn_is_incomplete(tmp_path: Path) -> None:
    start = "the start of the session is missing, so calls may be"
    assert start in read_lines(tmp_path, *EVENTS[2:]).gaps
    assert "the last turn has no end" in read_lines(tmp_path, *EVENTS[:-5]).gaps


@pytest.mark.parametrize(
    ("record", "gap"),
    [
        (event("hologram.shown"), "1 event of the unknown kind `hologram.shown`"),
        (event("tool.teleported"), "1 event of the unknown kind `tool.teleported`"),
        (event("session.handoff"), "1 event of the unknown kind `session.handoff`"),
        ({"type": ["x"], "data": {}}, "1 event of the unknown kind `['x']`"),
        (
            event("tool.execution_complete", toolCallId="z"),
            "1 tool call of the unknown kind `(none)`",
        ),
        (
            event("assistant.message", content="x", toolRequests=["rm"]),
            "1 tool request of the unknown kind `str`",
        ),
        (
            event("assistant.message", content="x", serverTools={"provider": "p", "items": [1]}),
            "1 server tools of the unknown kind `p`",
        ),
        (event("assistant.message", content=[]), "1 content of the unknown kind `list`"),
        (event("session.error", message="x"), "the last turn ended with an error"),
        (event("abort", reason="user"), "the last turn was interrupted"),
        (event("session.snapshot_rewind"), "events were removed from the log"),
        (event("session.shutdown", shutdownType="error"), "the session ended with an error"),
        ({"type": "result", "exitCode": 2}, "the run ended with exit code 2"),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(record: Any, gap: str, tmp_path: Path) -> None:
    transcript = read_lines(tmp_path, *EVENTS[:-1], record)
    assert gap in transcript.gaps
