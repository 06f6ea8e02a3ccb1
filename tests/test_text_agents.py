"""Reading SWE-agent and mini-swe-agent: commands that agents write as text."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

MINI, SWE = LOGS / "mini-swe-agent", LOGS / "swe-agent"


def read_changed(folder: Path, document: Any) -> Transcript:
    path = folder / "run.traj.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_transcript(path)


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# mini-swe-agent


def test_commands_of_mini_swe_agent_have_exit_codes_and_times() -> None:
    transcript = read_transcript(MINI / "text.traj.json")
    assert (transcript.format, transcript.session) == ("mini-swe-agent", "acme__loader-1")
    assert list_calls(transcript) == [("bash", "ok"), ("bash", "error"), ("bash", None)]
    assert [call.seconds for call in transcript.calls] == [Decimal("1.5"), Decimal(1), None]
    assert [mutation.target for mutation in transcript.mutations] == ["rm -f src/old.py"]
    assert [prompt.text for prompt in transcript.prompts] == [
        "Please solve this issue: the loader fails."
    ]
    assert list_tokens(transcript) == (120, 180, None, 60, 15)
    assert (transcript.models, transcript.latency_s) == (("model-x",), None)


def test_what_was_submitted_is_the_answer() -> None:
    transcript = read_transcript(MINI / "text.traj.json")
    assert transcript.final_text == "The loader reads the file twice.\n"
    assert transcript.complete, transcript.gaps


def test_commands_that_a_person_rejects_or_types_are_told_apart() -> None:
    transcript = read_transcript(MINI / "tools.traj.json")
    assert list_calls(transcript) == [
        ("bash", "denied"),
        ("bash", "denied"),
        ("bash", "ok"),
        ("bash", None),
    ]
    assert [(m.target, m.status) for m in transcript.mutations] == [
        ("sed -i s/a/b/ a.py", "denied")
    ]
    assert len(transcript.prompts) == 2
    assert (transcript.final_text, transcript.complete) == ("It is line 3.", True)


def test_a_bare_list_of_messages_is_read_by_its_command_blocks() -> None:
    transcript = read_transcript(MINI / "bare.traj.json")
    assert list_calls(transcript) == [("bash", "ok"), ("bash", "ok"), ("bash", None)]
    assert [mutation.target for mutation in transcript.mutations] == ["fix.py"]
    assert (transcript.final_text, transcript.complete) == (
        "diff --git a/fix.py b/fix.py\n",
        True,
    )


@pytest.mark.parametrize("status", ["LimitsExceeded", "", None])
def test_a_run_of_mini_swe_agent_without_submission_is_incomplete(
    status: str | None, tmp_path: Path
) -> None:
    document = load(MINI / "text.traj.json")
    document["info"]["exit_status"] = status
    del document["messages"][-1]
    transcript = read_changed(tmp_path, document)
    reason = f"the run ended with `{status}`" if status else "there is no exit status"
    assert not transcript.complete
    assert any(gap.startswith(reason) for gap in transcript.gaps)


def test_a_bare_list_that_submits_nothing_is_incomplete(tmp_path: Path) -> None:
    assert not read_changed(tmp_path, load(MINI / "bare.traj.json")[:-2]).complete


@pytest.mark.parametrize("text", ["I run it.", "```python\nrm()\n```", "<run>rm -rf x</run>"])
def test_a_result_without_a_command_that_was_found_is_a_doubt(text: str, tmp_path: Path) -> None:
    messages = load(MINI / "bare.traj.json")
    messages[2]["content"] = text
    transcript = read_changed(tmp_path, messages)
    assert "1 command of the unknown kind `not found in the turn`" in transcript.doubts


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({"role": "critic", "content": "x"}, "1 message of the unknown kind `critic`"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
            "1 content block of the unknown kind `tool_use`",
        ),
        (
            {"role": "assistant", "content": "x", "tool_calls": "rm -rf /"},
            "1 tool call of the unknown kind `text`",
        ),
        (
            {"role": "assistant", "content": "x", "extra": {"actions": [{"script": "rm x"}]}},
            "1 action of the unknown kind `without a command`",
        ),
        (
            {"object": "response", "output": [{"type": "shell_call"}]},
            "1 output item of the unknown kind `shell_call`",
        ),
        ({"role": "tool", "tool_call_id": "x"}, "1 result of the unknown kind `without its call`"),
        (
            {"role": "user", "content": "x", "extra": {"interrupt_type": "Hook"}},
            "1 interruption of the unknown kind `Hook`",
        ),
    ],
)
def test_unknown_parts_of_mini_swe_agent_are_doubts(
    change: Any, doubt: str, tmp_path: Path
) -> None:
    document = load(MINI / "text.traj.json")
    document["messages"].insert(2, change)
    transcript = read_changed(tmp_path, document)
    assert doubt in transcript.doubts


def test_calls_of_the_responses_api_are_read(tmp_path: Path) -> None:
    document = load(MINI / "text.traj.json")
    command = {"type": "function_call", "call_id": "c1", "name": "bash"}
    arguments = json.dumps({"command": "rm a"})
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    document["messages"][2:4] = [
        {
            "object": "response",
            "output": [{"type": "reasoning"}, {**command, "arguments": arguments}],
            "model": "model-y",
            "usage": usage,
            "extra": {"actions": [{"command": "rm a", "tool_call_id": "c1"}]},
        },
        {"type": "function_call_output", "call_id": "c1", "extra": {"returncode": 1}},
    ]
    transcript = read_changed(tmp_path, document)
    assert (transcript.calls[0].command, transcript.calls[0].status) == ("rm a", "error")
    assert list_tokens(transcript)[:2] == (80 + 5, 120 + 4)
    assert transcript.models == ("model-y", "model-x")


# SWE-agent


def test_commands_of_swe_agent_are_named_by_its_own_tools() -> None:
    transcript = read_transcript(SWE / "text.traj")
    assert transcript.format == "swe-agent"
    assert [call.name for call in transcript.calls] == [
        "create",
        "edit",
        "bash",
        "find_file",
        "bash",
        "str_replace_editor",
        "submit",
    ]
    assert {call.status for call in transcript.calls} == {None}
    assert [prompt.text for prompt in transcript.prompts] == ["Fix the loader."]
    assert (transcript.models, list_tokens(transcript)) == (
        ("model-x",),
        (7141, None, None, 243, None),
    )


def test_edits_and_shell_commands_beside_them_are_mutations() -> None:
    transcript = read_transcript(SWE / "text.traj")
    assert [(mutation.name, mutation.target) for mutation in transcript.mutations] == [
        ("create", "reproduce.py"),
        ("edit", "/repo/reproduce.py"),
        ("bash", "rm reproduce.py"),
        ("str_replace_editor", "/repo/src/loader.py"),
    ]


def test_a_submitted_run_is_complete_and_its_patch_is_the_answer() -> None:
    transcript = read_transcript(SWE / "text.traj")
    assert transcript.final_text == "\ndiff --git a/src/loader.py b/src/loader.py\n"
    assert transcript.complete, transcript.gaps


def test_a_history_of_text_says_the_same_as_the_trajectory() -> None:
    steps, history = read_transcript(SWE / "text.traj"), read_transcript(SWE / "history.traj")
    assert list_calls(history) == list_calls(steps)
    assert [m.name for m in history.mutations] == [m.name for m in steps.mutations]
    assert (history.final_text, history.complete) == (steps.final_text, True)


@pytest.mark.parametrize("status", ["submitted (exit_cost)", "exit_forfeit", None])
def test_a_run_of_swe_agent_that_did_not_submit_is_incomplete(
    status: str | None, tmp_path: Path
) -> None:
    document = load(SWE / "text.traj")
    document["info"]["exit_status"] = status
    assert not read_changed(tmp_path, document).complete


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({"action": "", "observation": "removed"}, "1 command of the unknown kind `not found in"),
        ({"action": ["rm", "x"], "observation": "x"}, "1 action of the unknown kind `no text`"),
        ("rm -rf /", "1 step of the unknown kind `text`"),
    ],
)
def test_steps_that_are_not_understood_are_doubts(change: Any, doubt: str, tmp_path: Path) -> None:
    document = load(SWE / "text.traj")
    document["trajectory"].append(change)
    transcript = read_changed(tmp_path, document)
    assert any(found.startswith(doubt) for found in transcript.doubts), transcript.doubts


@pytest.mark.parametrize(
    ("message", "doubt"),
    [
        ({"toolInvocations": [{}]}, "1 tool container of the unknown kind `toolInvocations`"),
        ({"content": [{"type": "tool_use"}]}, "1 content block of the unknown kind `tool_use`"),
        ({"role": "critic"}, "1 message of the unknown kind `critic`"),
        ({}, "1 turn of the unknown kind `without its step`"),
    ],
)
def test_messages_that_no_step_shows_are_doubts(message: Any, doubt: str, tmp_path: Path) -> None:
    document = load(SWE / "text.traj")
    turn = {"role": "assistant", "action": "rm x", "agent": "main", "content": "x"}
    document["history"] += [turn, {**turn, **message}]
    assert doubt in read_changed(tmp_path, document).doubts


def test_attempts_that_are_not_read_are_a_doubt(tmp_path: Path) -> None:
    document = load(SWE / "text.traj")
    document["attempts"] = [{"trajectory": []}]
    transcript = read_changed(tmp_path, document)
    assert transcript.doubts == ("1 container of calls of the unknown kind `attempts`",)


def test_a_call_without_its_observation_has_no_result(tmp_path: Path) -> None:
    document = load(SWE / "text.traj")
    del document["trajectory"][0]["observation"]
    transcript = read_changed(tmp_path, document)
    assert (transcript.calls[0].status, transcript.complete) == ("none", False)
