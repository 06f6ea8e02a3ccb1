"""Reading OpenCode sessions: each format gives the same transcript."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from agent_logs import LOGS, list_calls, list_tokens, write_database
from markscheme import Transcript, read_transcript
from markscheme.read.transcripts import read_transcripts

if TYPE_CHECKING:
    from pathlib import Path


def in_every_shape(folder: Path) -> dict[str, Transcript]:
    opencode = LOGS / "opencode"
    exports = read_transcripts(opencode / "exports")
    return {
        "export": next(transcript for _, transcript in exports),
        "storage": read_transcript(opencode / "storage"),
        "events": read_transcript(opencode / "events.jsonl"),
        "db": read_transcript(write_database(folder)),
    }


def test_opencode_says_the_same_in_every_shape(tmp_path: Path) -> None:
    for shape, transcript in in_every_shape(tmp_path).items():
        assert transcript.format == f"opencode-{shape}"
        assert list_calls(transcript) == [
            ("task", "ok"),
            ("bash", "error"),
            ("edit", "denied"),
            ("invalid", "error"),
        ], shape
        assert [(d.kind, d.agent, d.status) for d in transcript.dispatches] == [
            ("explore", "ses_child", "ok")
        ]
        assert [mutation.name for mutation in transcript.mutations] == ["edit"]
        assert [prompt.text for prompt in transcript.prompts] == ["Who renders it?"]
        assert (transcript.final_text, transcript.latency_s) == (
            "`a.ts` renders it.",
            Decimal(30),
        ), shape
        assert list_tokens(transcript) == (111, 1004, 15, 50, 13), shape
        assert transcript.complete, transcript.gaps
        (child,) = transcript.subagents
        assert (child.kind, child.agent, list_calls(child)) == (
            "explore",
            "ses_child",
            [("read", "ok")],
        )
        assert child.latency_s == Decimal("12.499")


def test_reasoning_is_added_to_the_output_unless_the_total_shows_it_is_in_it() -> None:
    # Steps of 20 + 5 (total 1135), 20 with 5 in it (total 30), and 2 + 3 without a total.
    assert read_transcript(LOGS / "opencode" / "storage").tokens.output == 25 + 20 + 5


def test_what_opencode_run_prints_has_no_prompt_and_no_child() -> None:
    transcript = read_transcript(LOGS / "opencode" / "run.jsonl")
    assert transcript.format == "opencode-run"
    assert [prompt.text for prompt in transcript.prompts] == [None]
    assert (transcript.latency_s, transcript.subagents, transcript.complete) == (None, (), True)
    assert transcript.dispatches[0].agent == "ses_child"


def test_an_export_ends_where_it_was_cut(tmp_path: Path) -> None:
    whole = (LOGS / "opencode" / "exports" / "parent.json").read_bytes()
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: len(whole) // 2])
    transcript = read_transcript(cut)
    assert "the log is cut off" in transcript.gaps
    assert transcript.calls[0].name == "task"
