"""`markscheme transcript`: the timeline, the JSON document, and refused input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOGS = Path(__file__).parent / "logs"
AGENTS = LOGS / "claude-code" / "agents"
KEYS = [
    "format",
    "complete",
    "final_text",
    "calls",
    "dispatches",
    "mutations",
    "latency_s",
    "last_turn_latency_s",
    "tokens",
    "prompts",
    "subagents",
]


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "markscheme", "transcript", *map(str, words)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def document(*words: str | Path) -> Any:
    done = run(*words, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_the_document_has_the_keys_that_scripts_rely_on() -> None:
    found = document(AGENTS)
    assert list(found)[: len(KEYS)] == KEYS
    assert found["calls"][0]["name"] == "mcp__memory__search_nodes"
    assert list(found["calls"][0])[:3] == ["name", "status", "agent"]
    assert found["calls"][0]["agent"] == "main"
    assert found["dispatches"][0]["kind"] == "Explore"
    assert list(found["mutations"][0])[:3] == ["name", "target", "status"]
    assert list(found["tokens"])[:5] == [
        "input_uncached",
        "cache_read",
        "cache_write",
        "output",
        "output_is_lower_bound",
    ]
    assert (found["prompts"], found["latency_s"], found["last_turn_latency_s"]) == (2, 102.0, 12.0)
    assert list(found["subagents"][0])[: len(KEYS)] == KEYS
    assert found["subagents"][0]["calls"][0]["agent"] == "a1b2c3"


def test_what_is_not_known_is_null() -> None:
    found = document(LOGS / "openai" / "chat.json")
    assert found["latency_s"] is None
    assert found["tokens"]["input_uncached"] is None
    assert {call["status"] for call in found["calls"]} == {None}


def test_a_folder_of_several_sessions_is_a_list_of_them() -> None:
    found = document(LOGS / "claude-code" / "fork")
    assert [Path(each["file"]).name for each in found["transcripts"]] == ["a.jsonl", "b.jsonl"]
    one = document(
        LOGS / "claude-code" / "fork", "--session", "5e551000-0000-4000-8000-00000000000a"
    )
    assert one["final_text"] == "Begun."


def test_an_incomplete_log_is_read_and_said_to_be_so() -> None:
    found = document(LOGS / "claude-stream" / "killed.jsonl")
    assert found["complete"] is False
    assert "there is no result line, so the run was stopped" in found["gaps"]


def test_the_timeline_can_be_followed() -> None:
    done = run(AGENTS)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for wanted in (
        "complete",
        "10:00:10 > Where is the parser, and what do we know of it?",
        "10:00:13 1 ok 1.0 s mcp__memory__search_nodes parser",
        "sub-agent a1b2c3 (Explore)",
        "sub-agent d44d (Deeper)",
        "client's own acompact-77 (compaction)",
        "The parser is in `src/p.py:1`.",
        "6 calls (4 ok, 1 denied, 1 error); 2 dispatches; 1 attempt to change something",
        "latency 102.0 s, last turn 12.0 s; 2 prompts",
        "tokens: input 19, cache read 6,300, cache write 650, output at least 140",
    ):
        assert wanted in lines, done.stdout
    inner = next(line for line in done.stdout.splitlines() if "sub-agent d44d" in line)
    assert inner.startswith("        sub-agent")


def test_a_refusal_names_the_file_and_what_was_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"hello": "there"}', encoding="utf-8")
    done = run(path)
    assert done.returncode == 3
    assert "notes.json:1: no log format is recognised; looked for" in done.stderr
    assert "claude-code: lines with `type`" in done.stderr
    done = run(path, "--log-format", "klingon")
    assert done.returncode == 2
    assert "`klingon` is no log format" in done.stderr
    done = run(tmp_path / "missing.jsonl", "--format", "json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["exit_code"] == 3


def test_a_forced_format_is_used() -> None:
    found = document(LOGS / "codex" / "bare.jsonl", "--log-format", "openai-responses")
    assert found["format"] == "openai-responses"
