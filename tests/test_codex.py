"""Reading Codex sessions: threads are nested without repeated lines, usage is counted once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from backports import zstd

from agent_logs import LOGS, list_calls, list_tokens
from markscheme import read_transcript
from markscheme.read.transcripts import read_transcripts

if TYPE_CHECKING:
    from pathlib import Path

CODEX = LOGS / "codex" / "rollout-2026-03-01T11-00-00-aaaa1111-0000-7000-8000-000000000001.jsonl"


def test_a_spawned_thread_is_nested_without_the_history_that_it_repeats() -> None:
    transcript = read_transcript(CODEX)
    assert [(dispatch.kind, dispatch.status) for dispatch in transcript.dispatches] == [
        ("explorer", "ok"),
        (None, "ok"),
    ]
    first, second = transcript.subagents
    assert list_calls(first) == [("shell", "ok")]
    assert (first.tokens.output, second.tokens.output) == (10, 10)
    assert (first.tokens.cache_read, second.tokens.cache_read) == (100, 25)
    assert [prompt.text for prompt in second.prompts] == ["Look again."]
    assert second.calls == ()


def test_codex_says_how_calls_went_in_several_ways() -> None:
    assert list_calls(read_transcript(CODEX)) == [
        ("shell", "ok"),
        ("exec_command", "error"),
        ("apply_patch", "denied"),
        ("spawn_agent", "ok"),
        ("wait_agent", None),
        ("spawn_agent", "ok"),
        ("mcp__memory__search", "error"),
        ("web_search", "ok"),
    ]


def test_a_patch_names_its_files() -> None:
    (mutation,) = read_transcript(CODEX).mutations
    assert (mutation.target, mutation.status) == ("src/a.rs, src/b.rs", "denied")


def test_usage_that_is_told_twice_or_starts_anew_is_summed_right() -> None:
    transcript = read_transcript(CODEX)
    assert list_tokens(transcript) == (75, 75, None, 20, 8)
    naive = 100 + 100 + 50
    assert (transcript.tokens.input_uncached or 0) + (transcript.tokens.cache_read or 0) != naive


def test_threads_in_a_folder_are_listed_once() -> None:
    transcripts = read_transcripts(LOGS / "codex")
    assert sorted(transcript.format for _, transcript in transcripts) == [
        "codex-exec",
        "codex-rollout",
        "codex-rollout",
    ]


def test_the_oldest_rollouts_have_bare_lines() -> None:
    transcript = read_transcript(LOGS / "codex" / "bare.jsonl")
    assert (transcript.session, list_calls(transcript), transcript.final_text) == (
        "old-1",
        [("shell", "ok")],
        "Old.",
    )


def test_a_packed_rollout_is_unpacked_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"{CODEX.name}.zst"
    packer = zstd.ZstdCompressor()
    lines = CODEX.read_bytes().splitlines(keepends=True)
    packed = [
        packer.compress(line) + packer.flush(zstd.ZstdCompressor.FLUSH_BLOCK) for line in lines
    ]
    path.write_bytes(b"".join(packed) + packer.flush())
    transcript = read_transcript(path)
    assert transcript.complete
    assert list_calls(transcript) == list_calls(read_transcript(CODEX))
    path.write_bytes(b"".join(packed[:20]))
    cut = read_transcript(path)
    assert "the log is cut off" in cut.gaps
    assert list_calls(cut)[:3] == list_calls(transcript)[:3]


def test_codex_exec_has_no_times() -> None:
    transcript = read_transcript(LOGS / "codex" / "exec.jsonl")
    assert transcript.format == "codex-exec"
    assert list_calls(transcript) == [
        ("command_execution", "denied"),
        ("mcp__memory__search", "ok"),
        ("spawn_agent", "ok"),
        ("file_change", "error"),
        ("command_execution", "error"),
        ("web_search", "ok"),
        ("command_execution", "none"),
    ]
    assert (transcript.latency_s, list_tokens(transcript)) == (None, (60, 40, None, 7, 3))
    assert [mutation.target for mutation in transcript.mutations] == ["files.txt", "/repo/a"]
    assert [dispatch.agent for dispatch in transcript.dispatches] == ["th-2"]
    assert transcript.gaps == ("a call has no result",)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "tool.completed", "command": "rm x"},
        {"type": "item.completed", "item": {"id": "1", "type": "remote_command"}},
        {"type": "item.completed", "item": {"id": "1"}},
        {"type": "item.completed"},
    ],
)
def test_codex_exec_doubts_events_and_items_of_unknown_kinds(
    line: dict[str, object], tmp_path: Path
) -> None:
    answer = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
    harmless = [
        {"type": "item.updated", "item": {"id": "t", "type": "todo_list", "items": []}},
        {"type": "item.completed", "item": {"id": "e", "type": "error", "message": "slow"}},
        {"type": "error", "message": "again"},
    ]
    path = tmp_path / "log.jsonl"
    lines = [{"type": "thread.started", "thread_id": "t"}, *harmless]
    path.write_text("\n".join(map(json.dumps, [*lines, answer])), encoding="utf-8")
    assert read_transcript(path).complete
    path.write_text("\n".join(map(json.dumps, [*lines, line, answer])), encoding="utf-8")
    assert read_transcript(path).doubts
