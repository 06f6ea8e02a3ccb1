"""Reading Claude Code sessions: sub-agents are nested, and each message is counted once."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens
from made_up import GREP, Session
from markscheme import CallStatus, read_transcript
from markscheme.read.transcripts import read_transcripts

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = LOGS / "claude-code" / "agents" / "5e551000-0000-4000-8000-000000000001.jsonl"


# Claude Code


def test_agents_of_claude_code_are_nested_where_they_were_started() -> None:
    transcript = read_transcript(AGENTS)
    assert transcript.format == "claude-code"
    assert transcript.complete
    assert list_calls(transcript) == [
        ("mcp__memory__search_nodes", "ok"),
        ("Grep", "ok"),
        ("Agent", "ok"),
        ("Agent", "ok"),
        ("Write", "denied"),
        ("Bash", "error"),
    ]
    assert [
        (dispatch.kind, dispatch.agent, dispatch.call) for dispatch in transcript.dispatches
    ] == [
        ("Explore", "a1b2c3", 2),
        ("Research", "ffee01", 3),
    ]
    explore = find_subagent(transcript, "Explore")
    assert list_calls(explore) == [("Glob", "ok"), ("Agent", "ok")]
    assert {call.agent for call in explore.calls} == {"a1b2c3"}
    assert find_subagent(explore, "Deeper").final_text == "Nothing deeper."
    assert find_subagent(transcript, "Research").latency_s == 16


def test_compaction_is_no_dispatch_and_its_tokens_are_real() -> None:
    compaction = find_subagent(read_transcript(AGENTS), "compaction")
    assert compaction.internal
    assert list_tokens(compaction) == (9, 6, 7, 8, None)


def test_only_what_a_person_asked_is_a_prompt() -> None:
    transcript = read_transcript(AGENTS)
    first, second = transcript.prompts
    assert first.text == "Where is the parser, and what do we know of it?"
    assert "/review" in (second.text or "")
    assert second.before == 6
    assert (transcript.latency_s, transcript.last_turn_latency_s) == (Decimal(102), Decimal(12))


def test_one_message_in_several_lines_is_counted_once() -> None:
    transcript = read_transcript(AGENTS)
    assert list_tokens(transcript) == (19, 6300, 650, 140, None)
    assert transcript.tokens.output_is_lower_bound
    lines = [json.loads(line) for line in AGENTS.read_text(encoding="utf-8").splitlines()]
    naive = sum(
        line["message"]["usage"]["cache_read_input_tokens"]
        for line in lines
        if line["type"] == "assistant"
    )
    assert naive != transcript.tokens.cache_read


def test_what_stands_in_quotes_or_goes_to_nowhere_is_no_mutation() -> None:
    (mutation,) = read_transcript(AGENTS).mutations
    assert (mutation.name, mutation.target) == ("Write", "/repo/notes.md")
    assert mutation.status is CallStatus.DENIED


def test_a_call_knows_what_its_kind_can_be_told_by() -> None:
    memory, grep, *_, write, bash = read_transcript(AGENTS).calls
    assert memory.arguments["query"] == "parser"
    assert (grep.paths, grep.arguments["pattern"]) == (("/repo/src",), "parser")
    assert write.paths == ("/repo/notes.md",)
    assert bash.command is not None
    assert bash.command.startswith("grep -rn")
    assert memory.started is not None
    assert memory.started.isoformat() == "2026-03-01T10:00:13.500000+00:00"
    assert memory.seconds == 1


def test_inline_agents_with_the_same_prompt_stay_apart() -> None:
    transcript = read_transcript(LOGS / "claude-code" / "inline.jsonl")
    assert [dispatch.status for dispatch in transcript.dispatches] == ["ok", "ok", "error"]
    assert [len(agent.calls) for agent in transcript.subagents] == [2, 1]
    assert [dispatch.agent for dispatch in transcript.dispatches[:2]] == [
        a.agent for a in transcript.subagents
    ]


def test_an_inline_agent_whose_line_is_lost_is_not_given_to_another(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = (LOGS / "claude-code" / "inline.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if '"xt0"' not in line), "utf-8")
    transcript = read_transcript(path)
    assert [len(agent.calls) for agent in transcript.subagents] == [0, 1, 1]


def test_an_agent_beside_its_session_is_found_by_its_id() -> None:
    transcript = read_transcript(LOGS / "claude-code" / "beside")
    assert [agent.final_text for agent in transcript.subagents] == ["Planned."]
    assert transcript.subagents[0].kind == "Plan"


def test_a_fork_does_not_count_again_what_it_repeats() -> None:
    folder = LOGS / "claude-code" / "fork"
    first, second = (transcript for _, transcript in read_transcripts(folder))
    assert (first.tokens.output, second.tokens.output) == (10, 7)
    alone = read_transcript(folder / "b.jsonl")
    assert (alone.tokens.output, len(alone.prompts)) == (17, 2)


def test_sessions_that_only_number_their_lines_alike_are_no_forks(tmp_path: Path) -> None:
    for name, answer in (("a", "One."), ("b", "Two.")):
        session = Session("Begin.", session="1").call(*GREP).say(answer)
        (tmp_path / f"{name}.jsonl").write_text(session.text(), encoding="utf-8")
    transcripts = [transcript for _, transcript in read_transcripts(tmp_path)]
    assert [t.final_text for t in transcripts] == ["One.", "Two."]
    assert [(len(t.prompts), len(t.calls), t.complete) for t in transcripts] == [(1, 1, True)] * 2


@pytest.mark.parametrize("name", ["claude-code/agents", "claude-stream/agents.jsonl"])
def test_redacted_ids_of_lines_hide_no_line(name: str, tmp_path: Path) -> None:
    given = next((LOGS / name).rglob("*.jsonl")) if (LOGS / name).is_dir() else LOGS / name
    plain = given.read_text(encoding="utf-8")
    redacted = tmp_path / "log.jsonl"
    redacted.write_text(re.sub(r'"uuid": ?"[^"]*"', '"uuid":"<redacted>"', plain), "utf-8")
    assert '"uuid":"<redacted>"' in redacted.read_text(encoding="utf-8")
    (tmp_path / "plain.jsonl").write_text(plain, "utf-8")
    one, other = read_transcript(redacted), read_transcript(tmp_path / "plain.jsonl")
    assert (one.final_text, len(one.calls)) == (other.final_text, len(other.calls))


def test_an_agent_whose_end_was_not_reported_has_no_result(tmp_path: Path) -> None:
    lines = AGENTS.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = tmp_path / "log.jsonl"
    cut.write_text("".join(line for line in lines if "task-notification" not in line), "utf-8")
    transcript = read_transcript(cut)
    assert [dispatch.status for dispatch in transcript.dispatches] == ["ok", "none"]


# claude -p


@pytest.mark.parametrize("name", ["agents.jsonl", "execution.json"])
def test_the_result_of_a_stream_goes_before_its_messages(name: str) -> None:
    transcript = read_transcript(LOGS / "claude-stream" / name)
    assert transcript.format == "claude-stream"
    assert list_calls(transcript) == [("Agent", "ok"), ("Bash", "denied")]
    assert list_tokens(transcript) == (51, 73, 84, 62, None)
    assert transcript.tokens.with_subagents
    assert transcript.tokens.output_is_lower_bound is False
    assert (transcript.latency_s, transcript.final_text) == (Decimal("61.25"), "All is well.")
    assert transcript.prompts[0].text == "Is all well?"
    assert list_calls(find_subagent(transcript, "Explore")) == [("Read", "ok")]
    assert [mutation.target for mutation in transcript.mutations] == ["/repo/out.txt"]
    assert transcript.complete


def test_a_stream_without_a_result_is_incomplete() -> None:
    transcript = read_transcript(LOGS / "claude-stream" / "killed.jsonl")
    assert not transcript.complete
    assert transcript.latency_s is None
    assert list_calls(transcript) == [("Agent", "none")]
    assert [dispatch.status for dispatch in transcript.dispatches] == ["none"]


def test_a_run_that_ended_with_an_error_is_incomplete() -> None:
    transcript = read_transcript(LOGS / "claude-stream" / "max-turns.jsonl")
    assert any("error_max_turns" in gap for gap in transcript.gaps)


def test_a_result_alone_says_what_it_can() -> None:
    transcript = read_transcript(LOGS / "claude-stream" / "result.json")
    assert transcript.final_text == "All is well."
    assert list_calls(transcript) == [("Bash", "denied")]
    assert transcript.doubts == (
        "the log holds the answer only, not the calls before it",
        "call 1 (Bash) cannot be judged: its command is not in the log",
    )
    assert transcript.answer_doubts == ()


def test_a_result_of_one_turn_alone_is_complete(tmp_path: Path) -> None:
    result = json.loads((LOGS / "claude-stream" / "result.json").read_text(encoding="utf-8"))
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**result, "num_turns": 1, "permission_denials": []}), "utf-8")
    assert read_transcript(path).complete


def test_lines_of_an_agent_that_nobody_started_are_not_the_main_agents(tmp_path: Path) -> None:
    lines = (LOGS / "claude-stream" / "agents.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(line for line in lines if '"Explore"' not in line), "utf-8")
    transcript = read_transcript(path)
    assert list_calls(transcript) == [("Bash", "denied")]
    assert [(agent.kind, len(agent.calls)) for agent in transcript.subagents] == [(None, 1)]
