"""Reading OpenHands: trajectories, evaluations, events of the SDK, folders of event files."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, find_subagent, list_calls, list_tokens
from markscheme import Transcript, read_transcript
from markscheme.read.transcripts import read_transcripts

if TYPE_CHECKING:
    from pathlib import Path

OPENHANDS = LOGS / "openhands"
TRAJECTORY = json.loads((OPENHANDS / "trajectory.json").read_text(encoding="utf-8"))
SDK = [
    json.loads(line)
    for line in (OPENHANDS / "sdk-events.jsonl").read_text(encoding="utf-8").splitlines()
]


def read_events(folder: Path, events: Any) -> Transcript:
    path = folder / "events.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    return read_transcript(path)


def write_folder(folder: Path, events: list[Any], names: str) -> Path:
    """Write a conversation with a file for each event, as the client keeps it."""
    (folder / "conversation" / "events").mkdir(parents=True)
    for number, event in enumerate(events):
        path = folder / "conversation" / "events" / names.format(number)
        path.write_text(json.dumps(event), encoding="utf-8")
    return folder / "conversation"


CALLS = [
    ("execute_bash", "ok"),
    ("execute_ipython_cell", None),
    ("str_replace_editor", "ok"),
    ("str_replace_editor", "error"),
    ("fetch_fetch", "ok"),
    ("write", "denied"),
    ("delegate_to_browsing_agent", None),
    ("finish", None),
]


def test_actions_are_paired_with_observations_by_their_cause() -> None:
    transcript = read_transcript(OPENHANDS / "trajectory.json")
    assert (transcript.format, list_calls(transcript)) == ("openhands", CALLS)
    assert [prompt.text for prompt in transcript.prompts] == ["Where is the loader?"]
    assert (transcript.final_text, transcript.latency_s) == (
        "`src/loader.py` is the loader.",
        Decimal(24),
    )
    assert {call.seconds for call in transcript.calls[:6]} == {Decimal(1)}
    assert (transcript.models, list_tokens(transcript)) == (("model-x",), (300, 600, 100, 80, None))
    assert transcript.complete, transcript.gaps


def test_commands_cells_and_edits_of_openhands_are_mutations() -> None:
    transcript = read_transcript(OPENHANDS / "trajectory.json")
    assert [(m.name, m.target, m.status) for m in transcript.mutations] == [
        ("execute_bash", "rm -f src/old.py", "ok"),
        ("execute_ipython_cell", "touch notes.txt", None),
        ("str_replace_editor", "/w/src/loader.py", "error"),
        ("write", "/w/a.txt", "denied"),
    ]


def test_what_stands_between_a_delegation_and_its_end_is_the_other_agents() -> None:
    transcript = read_transcript(OPENHANDS / "trajectory.json")
    assert [(d.kind, d.agent, d.call) for d in transcript.dispatches] == [
        ("BrowsingAgent", "delegate 19", 6)
    ]
    child = find_subagent(transcript, "BrowsingAgent")
    assert list_calls(child) == [("browse_interactive", "ok"), ("finish", None)]
    assert (child.final_text, child.complete) == ("It is there.", True)
    assert transcript.tokens.with_subagents


def test_each_record_of_an_evaluation_is_a_session() -> None:
    found = [transcript for _, transcript in read_transcripts(OPENHANDS / "output.jsonl")]
    assert [transcript.session for transcript in found] == ["acme__loader-1", "acme__loader-0"]
    assert list_calls(found[0]) == CALLS
    assert list_calls(found[1]) == [("run", "error"), ("finish", None)]
    assert (found[1].final_text, found[1].complete) == ("It is broken.", True)
    assert found[0].subagents == ()
    assert found[0].unseen == 1


def test_events_of_the_sdk_are_paired_by_the_id_of_the_call() -> None:
    transcript = read_transcript(OPENHANDS / "sdk-events.jsonl")
    assert (transcript.format, list_calls(transcript)) == (
        "openhands",
        [
            ("terminal", "ok"),
            ("file_editor", "denied"),
            ("file_editor", "ok"),
            ("nothing", "error"),
            ("delegate", None),
            ("fetch_fetch", "error"),
            ("finish", "ok"),
        ],
    )
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("terminal", "mkdir out"),
        ("file_editor", "/w/a.txt"),
    ]
    assert [(d.kind, d.call) for d in transcript.dispatches] == [("scout", 4), ("tester", 4)]
    assert (transcript.final_text, transcript.latency_s) == (
        "`src/loader.py` is the loader.",
        Decimal(15),
    )
    assert list_tokens(transcript) == (350, 600, 100, 85, 7)
    assert transcript.complete, transcript.gaps


@pytest.mark.parametrize(
    ("events", "names"), [(SDK, "event-{:05d}-ab12.json"), (TRAJECTORY, "{}.json")]
)
def test_a_folder_of_event_files_is_one_session(
    events: list[Any], names: str, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path, events, names)
    whole = read_events(tmp_path, events)
    transcript = read_transcript(folder)
    assert (transcript.session, transcript.complete) == ("conversation", True)
    assert (transcript.calls, transcript.tokens) == (whole.calls, whole.tokens)
    (folder / "events" / names.format(3)).unlink()
    assert "1 of the event files are missing" in read_transcript(folder).gaps


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("!rm -rf build", "rm -rf build"),
        ("out = !mv a b", "mv a b"),
        ("%pip install x", "pip install x"),
        ("%%bash\nls\nrm x", "rm x"),
        ("%%writefile notes.md\ntext", "notes.md"),
        ("edit_file_by_replace(\n  'src/a.py', to_replace='a', new_content='b')", "src/a.py"),
        ("create_file('a.py')", "a.py"),
        ("open_file('a.py')\nprint('rm x')", None),
        ("%%bash\nls > /dev/null", None),
    ],
)
def test_cells_are_looked_into(code: str, change: str | None, tmp_path: Path) -> None:
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Do it."}},
        {"id": 1, "source": "agent", "action": "run_ipython", "args": {"code": code}},
    ]
    targets = [mutation.target for mutation in read_events(tmp_path, events).mutations]
    assert targets == ([] if change is None else [change])


def test_an_edit_whose_command_is_not_in_the_log_is_an_edit(tmp_path: Path) -> None:
    events = json.loads(json.dumps(TRAJECTORY))
    for event in events:
        event.get("tool_call_metadata", {}).pop("model_response", None)
    transcript = read_events(tmp_path, events)
    assert (transcript.calls[3].name, len(transcript.mutations)) == ("edit", 4)


UNKNOWN: list[tuple[list[Any], Any, str]] = [
    (TRAJECTORY, {"source": "agent", "action": "teleport", "args": {}}, "action"),
    (TRAJECTORY, {"source": "agent", "observation": "aura", "extras": {}}, "observation"),
    (TRAJECTORY, {"source": "robot", "action": "run", "args": {"command": "ls"}}, "source"),
    (TRAJECTORY, {"source": "agent", "action": "run", "args": "rm x"}, "arguments"),
    (TRAJECTORY, {"cause": 99, "observation": "run", "extras": {}}, "result"),
    (TRAJECTORY, {"source": "agent"}, "event"),
    (SDK, {"kind": "ACPToolCallEvent", "source": "agent"}, "event"),
    (SDK, {"kind": "ActionEvent", "tool_name": "x", "action": "rm x"}, "arguments"),
    (SDK, {"kind": "ObservationEvent", "tool_call_id": "lost"}, "result"),
    (SDK, {"kind": None}, "event"),
    (
        SDK,
        {"kind": "MessageEvent", "source": "agent", "llm_message": {"tool_calls": [{}]}},
        "tool call",
    ),
    (
        SDK,
        {"kind": "MessageEvent", "llm_message": {"content": [{"type": "tool_use"}]}},
        "content block",
    ),
]


@pytest.mark.parametrize(("events", "event", "what"), UNKNOWN)
def test_unknown_events_of_openhands_are_doubts(
    events: list[Any], event: Any, what: str, tmp_path: Path
) -> None:
    doubts = read_events(tmp_path, [*events[:3], event, *events[3:]]).doubts
    assert any(doubt.startswith(f"1 {what} of the unknown kind") for doubt in doubts), doubts


@pytest.mark.parametrize("state", ["error", "running", "awaiting_user_confirmation"])
def test_a_session_that_ends_in_an_open_state_is_incomplete(state: str, tmp_path: Path) -> None:
    event = {"source": "environment", "observation": "agent_state_changed", "content": ""}
    events = [*TRAJECTORY, {**event, "extras": {"agent_state": state}}]
    assert f"the session ended in the state `{state}`" in read_events(tmp_path, events).gaps


def test_an_evaluation_with_an_error_is_incomplete(tmp_path: Path) -> None:
    record = {"instance_id": "x", "history": TRAJECTORY, "error": "Agent reached its maximum"}
    assert "the evaluation states an error" in read_events(tmp_path, record).gaps


@pytest.mark.parametrize("events", [TRAJECTORY, SDK])
def test_a_session_without_its_last_events_is_incomplete(events: list[Any], tmp_path: Path) -> None:
    ends = range(1, len(events) - 4)
    assert [end for end in ends if read_events(tmp_path, events[:end]).complete] == []
