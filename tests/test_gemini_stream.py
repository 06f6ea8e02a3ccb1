"""Reading the stream that Gemini CLI prints."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens, load_lines, read_lines
from markscheme import read_transcript

if TYPE_CHECKING:
    from pathlib import Path

STREAM = LOGS / "gemini" / "stream.jsonl"
EVENTS = load_lines(STREAM)


def test_a_stream_is_read_with_its_times() -> None:
    transcript = read_transcript(STREAM)
    assert (transcript.format, transcript.session) == ("gemini-stream", "gem-2")
    assert list_calls(transcript) == [
        ("run_shell_command", None),
        ("write_file", "denied"),
        ("run_shell_command", "error"),
        ("invoke_agent", "ok"),
    ]
    assert [(m.target, m.status) for m in transcript.mutations] == [
        ("shop/list.md", "denied"),
        ("rm shop/old.md", "error"),
    ]
    assert [(d.kind, d.status) for d in transcript.dispatches] == [("codebase_investigator", "ok")]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(10))
    assert (transcript.calls[0].seconds, transcript.models) == (Decimal(1), ("gemini-test",))
    assert list_tokens(transcript) == (70, 50, None, 20, None)
    assert transcript.tokens.output_is_lower_bound
    assert transcript.tokens.with_subagents
    assert transcript.complete, transcript.gaps


def test_a_stream_without_its_result_line_was_stopped(tmp_path: Path) -> None:
    gap = "there is no result line, so the run was stopped"
    assert gap in read_lines(tmp_path, *EVENTS[:-1]).gaps
    assert gap in read_lines(tmp_path, *EVENTS, *EVENTS[2:4]).gaps


@pytest.mark.parametrize(
    ("event", "gap"),
    [
        ({"type": "thought"}, "1 event of the unknown kind `thought`"),
        ({"type": ["tool_use"]}, "1 event of the unknown kind `['tool_use']`"),
        ({"type": "message", "role": "tool", "content": "x"}, "1 role of the unknown kind `tool`"),
        (
            {"type": "message", "role": "assistant", "content": [{"functionCall": {}}]},
            "1 content of the unknown kind `list`",
        ),
        ({"type": "tool_result", "tool_id": "else"}, "a result belongs to no call"),
        (
            {"type": "error", "severity": "error", "message": "no text\nagain"},
            "the run had an error (no text)",
        ),
        ({"type": "result", "status": "error"}, "the run ended with an error (error)"),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(event: Any, gap: str, tmp_path: Path) -> None:
    assert gap in read_lines(tmp_path, *EVENTS[:-1], event, EVENTS[-1]).gaps


def test_a_warning_counts_if_nothing_follows(tmp_path: Path) -> None:
    warning = {"type": "error", "severity": "warning", "message": "Loop detected"}
    assert read_lines(tmp_path, *EVENTS[:2], warning, *EVENTS[2:]).complete
    gaps = read_lines(tmp_path, *EVENTS[:-1], warning, EVENTS[-1]).gaps
    assert gaps == ("the run ended after a warning (Loop detected)",)


def test_calls_that_only_the_result_counts_are_a_doubt(tmp_path: Path) -> None:
    end = {**EVENTS[-1], "stats": {**EVENTS[-1]["stats"], "tool_calls": 6}}
    (doubt,) = read_lines(tmp_path, *EVENTS[:-1], end).doubts
    assert doubt == "the result counts 2 more calls than the log shows"
