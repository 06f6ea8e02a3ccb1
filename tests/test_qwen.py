"""Reading sessions of Qwen Code."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens, load_lines, read_lines
from markscheme import read_transcript

if TYPE_CHECKING:
    from pathlib import Path

LOG = LOGS / "qwen" / "chat.jsonl"
RECORDS = load_lines(LOG)


def copy_records() -> Any:
    return json.loads(json.dumps(RECORDS))


def test_a_session_is_read_with_its_sub_agent() -> None:
    transcript = read_transcript(LOG)
    assert (transcript.format, transcript.session) == ("qwen", "qwen-1")
    assert list_calls(transcript) == [
        ("run_shell_command", "error"),
        ("write_file", "denied"),
        ("agent", "ok"),
    ]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("run_shell_command", "rm shop/old.md"),
        ("write_file", "/shop/list.md"),
    ]
    assert [(d.kind, d.agent, d.status) for d in transcript.dispatches] == [("Explore", "c3", "ok")]
    explore = find_subagent(transcript, "Explore")
    assert list_calls(explore) == [("run_shell_command", "error"), ("glob", "ok")]
    assert [m.target for m in explore.mutations] == ["mkdir counts"]
    assert (explore.final_text, explore.complete) == ("Two.", True)
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(8))
    assert (transcript.calls[0].seconds, transcript.models) == (Decimal(1), ("qwen-test",))
    assert transcript.complete, transcript.gaps


def test_the_total_shows_whether_the_output_includes_the_thoughts() -> None:
    # 30 with 10 in it (total 130), 5 + 4 (total 129), and 6 without thoughts.
    assert list_tokens(read_transcript(LOG)) == (310, 40, None, 30 + 9 + 6, 14)


def test_results_without_an_id_belong_to_the_earliest_call_of_their_name(tmp_path: Path) -> None:
    records = copy_records()
    for record in records:
        for part in record.get("message", {}).get("parts", []):
            for value in part.values():
                if isinstance(value, dict):
                    value.pop("id")
    assert list_calls(read_lines(tmp_path, *records)) == list_calls(read_transcript(LOG))


def test_a_sub_agent_in_the_background_has_the_outcome_of_its_notification(tmp_path: Path) -> None:
    records = copy_records()
    records[7]["toolCallResult"]["resultDisplay"]["status"] = "background"
    transcript = read_lines(tmp_path, *records)
    assert ([d.status for d in transcript.dispatches], transcript.subagents) == (["none"], ())
    task = {"toolUseId": "c3", "status": "failed", "taskId": "t", "kind": "agent"}
    records[8]["systemPayload"] = {"displayText": "…", "backgroundTask": task}
    assert [d.status for d in read_lines(tmp_path, *records).dispatches] == ["error"]


def test_the_log_of_a_sub_agent_names_it(tmp_path: Path) -> None:
    records = copy_records()
    for record in records:
        record |= {"isSidechain": True, "agentId": "explore-7", "agentName": "Explore"}
    records[1]["subtype"] = "agent_launch_prompt"
    transcript = read_lines(tmp_path, *records)
    assert (transcript.agent, transcript.kind, len(transcript.prompts)) == (
        "explore-7",
        "Explore",
        1,
    )


def test_calls_of_a_sub_agent_that_were_left_out_are_a_gap(tmp_path: Path) -> None:
    records = copy_records()
    del records[7]["toolCallResult"]["resultDisplay"]["toolCalls"][0]
    explore = find_subagent(read_lines(tmp_path, *records), "Explore")
    assert explore.gaps == ("calls of the sub-agent are not in the log",)


@pytest.mark.parametrize(
    ("record", "gap"),
    [
        ({"type": "hologram"}, "1 record of the unknown kind `hologram`"),
        ({"type": None}, "1 record of the unknown kind `(none)`"),
        ({"type": "system", "subtype": "x"}, "1 system record of the unknown kind `x`"),
        ({"type": "system", "subtype": []}, "1 system record of the unknown kind `[]`"),
        (
            {"type": "assistant", "message": {"parts": [{"executableCode": {}}]}},
            "1 part of the unknown kind `executableCode`",
        ),
        ({"type": "assistant", "message": {"parts": ["x"]}}, "1 part of the unknown kind `str`"),
        ({"type": "assistant", "message": "x"}, "1 content of the unknown kind `NoneType`"),
        (
            {"type": "user", "subtype": "y", "message": {"parts": []}},
            "1 message of the unknown kind `y`",
        ),
        ({"type": "tool_result", "toolCallResult": {"callId": "z"}}, "a result belongs to no call"),
        (
            {"type": "system", "subtype": "turn_result", "systemPayload": {"state": "cancelled"}},
            "the last turn was not finished",
        ),
    ],
)
def test_what_is_not_understood_makes_it_incomplete(record: Any, gap: str, tmp_path: Path) -> None:
    assert gap in read_lines(tmp_path, *RECORDS, record).gaps
