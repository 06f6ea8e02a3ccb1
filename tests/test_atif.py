"""Reading trajectories of Harbor (ATIF)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

ATIF = LOGS / "atif"


def read_changed(folder: Path, **changes: Any) -> Transcript:
    document = json.loads((ATIF / "trajectory.json").read_text(encoding="utf-8"))
    path = folder / "trajectory.json"
    path.write_text(json.dumps({**document, **changes}), encoding="utf-8")
    return read_transcript(path)


def read_step(folder: Path, **step: Any) -> Transcript:
    """Read a trajectory of a prompt, this step of the agent, and an answer."""
    steps = [
        {"source": "user", "message": "Do it."},
        {"source": "agent", "message": "", **step},
        {"source": "agent", "message": "Done."},
    ]
    return read_changed(folder, steps=steps, subagent_trajectories=None)


def test_steps_hold_calls_with_their_results() -> None:
    transcript = read_transcript(ATIF / "trajectory.json")
    assert (transcript.format, transcript.session) == ("atif", "run-1")
    assert list_calls(transcript) == [("bash", "ok"), ("Edit", "error"), ("Task", None)]
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("bash", "rm -f old"),
        ("Edit", "/w/a.py"),
    ]
    assert [prompt.text for prompt in transcript.prompts] == ["Where is the loader?"]
    assert (transcript.final_text, transcript.latency_s) == ("`a.py` is the loader.", Decimal(8))
    assert list_tokens(transcript) == (30 + 100 + 100, 60, 10, 50, 5)
    assert (transcript.models, transcript.complete) == (("model-y",), True)


def test_sub_agents_in_the_document_are_nested() -> None:
    transcript = read_transcript(ATIF / "trajectory.json")
    assert [(d.kind, d.agent, d.call) for d in transcript.dispatches] == [("scout", "sub-1", 2)]
    child = find_subagent(transcript, "scout")
    assert (list_calls(child), child.final_text) == ([("Read", None)], "Found.")
    assert find_subagent(transcript, "summarizer").internal
    assert not child.internal


def test_what_is_typed_into_a_terminal_is_a_command() -> None:
    transcript = read_transcript(ATIF / "terminal.json")
    assert [(call.name, call.command, call.status) for call in transcript.calls] == [
        ("bash_command", "ls\n", None),
        ("bash_command", "echo hi > hello.txt\n", None),
        ("bash_command", "cat hello.txt\n", None),
        ("mark_task_complete", None, None),
    ]
    assert [mutation.target for mutation in transcript.mutations] == ["hello.txt"]
    assert (transcript.final_text, transcript.complete) == ("It is created.", True)
    assert list_tokens(transcript) == (6000, 391, None, 1204, None)


@pytest.mark.parametrize(
    ("message", "commands"),
    [
        ("<commands><keystrokes duration='1'>rm x\n</keystrokes></commands>", ["rm x\n"]),
        ('Well: {"commands": [{"keystrokes": "ls"}]} so', ["ls"]),
        ('{"commands": []}', []),
    ],
)
def test_commands_in_the_text_of_a_step_are_calls(
    message: str, commands: list[str], tmp_path: Path
) -> None:
    transcript = read_step(tmp_path, message=message, observation={"results": [{"content": "x"}]})
    assert [call.command for call in transcript.calls] == commands
    assert transcript.complete, transcript.gaps


@pytest.mark.parametrize(
    ("step", "doubt"),
    [
        ({"source": "tool"}, "1 step of the unknown kind `tool`"),
        ({"actions": []}, "1 field of a step of the unknown kind `actions`"),
        (
            {"extra": {"tool_calls": [{"function_name": "bash", "arguments": {}}]}},
            "1 tool container of the unknown kind `tool_calls`",
        ),
        ({"tool_calls": "rm x"}, "1 tool call of the unknown kind `text`"),
        ({"tool_calls": [{"name": "bash"}]}, "1 tool call of the unknown kind `(none)`"),
        ({"observation": ["x"]}, "1 observation of the unknown kind `no object`"),
        (
            {"message": "I run it.", "observation": {"results": [{"content": "x"}]}},
            "1 result of the unknown kind `without its call`",
        ),
        (
            {"message": '{"commands": ["rm"]}', "observation": {"results": [{"content": "x"}]}},
            "1 result of the unknown kind `without its call`",
        ),
        (
            {"message": [{"type": "tool_use"}]},
            "1 content part of the unknown kind `tool_use`",
        ),
    ],
)
def test_steps_that_are_not_understood_are_doubts(step: Any, doubt: str, tmp_path: Path) -> None:
    assert doubt in read_step(tmp_path, **step).doubts


@pytest.mark.parametrize(
    ("changes", "gap"),
    [
        ({"schema_version": "ATIF-v2.0"}, "1 version of the unknown kind `ATIF-v2.0`"),
        ({"continued_trajectory_ref": "next.json"}, "the trajectory goes on in another file"),
        ({"final_metrics": {"total_steps": 9}}, "the log has 7 of 9 steps"),
        ({"steps": {}}, "1 step of the unknown kind `object`"),
        (
            {"subagent_trajectories": [{"trajectory_id": "x", "steps": []}]},
            "1 sub-agent of the unknown kind `without its call`",
        ),
    ],
)
def test_documents_that_are_not_whole_are_incomplete(
    changes: Any, gap: str, tmp_path: Path
) -> None:
    assert gap in read_changed(tmp_path, **changes).gaps


def test_a_call_that_no_result_answers_has_none(tmp_path: Path) -> None:
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": '{"command": "rm x"}'}
    transcript = read_step(tmp_path, tool_calls=[call])
    assert (list_calls(transcript), transcript.complete) == ([("bash", "none")], False)
    assert [mutation.target for mutation in transcript.mutations] == ["rm x"]
