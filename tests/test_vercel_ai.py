"""Reading the Vercel AI SDK: model messages, messages of the UI, results with steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

VERCEL = LOGS / "vercel-ai"
MODEL = json.loads((VERCEL / "model-messages.json").read_text(encoding="utf-8"))
ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}


def read(folder: Path, document: Any) -> Transcript:
    path = folder / "chat.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_transcript(path)


def read_ui_part(folder: Path, **part: Any) -> Transcript:
    """Read a chat of the UI with this part before the answer."""
    text = {"type": "text", "text": "Done."}
    messages = [
        {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Do it."}]},
        {"id": "m2", "role": "assistant", "parts": [part, text]},
    ]
    return read(folder, messages)


@pytest.mark.parametrize("name", ["model-messages.json", "ui-messages.json"])
def test_messages_of_model_and_ui_say_the_same(name: str) -> None:
    transcript = read_transcript(VERCEL / name)
    assert (transcript.format, list_calls(transcript)) == (
        "vercel-ai",
        [("bash", "ok"), ("readFile", "error"), ("writeFile", "denied")],
    )
    assert [(m.name, m.target) for m in transcript.mutations] == [
        ("bash", "rm -f old"),
        ("writeFile", "b.py"),
    ]
    assert [prompt.text for prompt in transcript.prompts] == ["Where is the loader?"]
    assert (transcript.final_text, transcript.latency_s) == ("`a.py` is\nthe loader.", None)
    assert transcript.complete, transcript.gaps


def test_a_message_of_the_ui_that_is_written_again_replaces_the_earlier_one() -> None:
    transcript = read_transcript(VERCEL / "ui-v4.jsonl")
    assert list_calls(transcript) == [("bash", None), ("readFile", "error")]
    assert (transcript.final_text, transcript.complete) == ("`a.py` is the loader.", True)


def test_steps_have_a_usage_and_a_model() -> None:
    transcript = read_transcript(VERCEL / "result.json")
    assert list_calls(transcript) == [("bash", "ok"), ("readFile", "error")]
    assert (list_tokens(transcript), transcript.models) == ((60, 160, 0, 30, 5), ("model-x",))
    assert (transcript.final_text, transcript.complete) == ("`a.py` is the loader.", True)


def test_steps_of_version_4_do_not_say_how_calls_went() -> None:
    transcript = read_transcript(VERCEL / "steps-v4.jsonl")
    assert list_calls(transcript) == [("bash", None)]
    assert list_tokens(transcript) == (220, None, None, 30, None)
    assert transcript.complete, transcript.gaps


def test_a_request_that_repeats_the_history_adds_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    requests = [{"messages": MODEL[:4]}, {"messages": MODEL}]
    path.write_text("".join(f"{json.dumps(request)}\n" for request in requests), encoding="utf-8")
    transcript = read_transcript(path)
    assert transcript.calls == read_transcript(VERCEL / "model-messages.json").calls


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("input-available", "none"),
        ("approval-requested", "none"),
        ("output-available", "ok"),
        ("output-error", "error"),
        ("output-denied", "denied"),
    ],
)
def test_the_state_of_a_part_is_the_status(state: str, status: str, tmp_path: Path) -> None:
    part = {"type": "tool-bash", "toolCallId": "c", "input": '{"command": "rm x"}'}
    transcript = read_ui_part(tmp_path, **part, state=state)
    assert list_calls(transcript) == [("bash", status)]
    assert [mutation.target for mutation in transcript.mutations] == ["rm x"]
    assert transcript.complete == (status != "none")


@pytest.mark.parametrize("reason", ["length", "content-filter", "error"])
def test_a_run_that_was_cut_short_is_incomplete(reason: str, tmp_path: Path) -> None:
    step = {"content": [{"type": "text", "text": "So"}], "finishReason": reason}
    transcript = read(tmp_path, {"steps": [step]})
    assert f"the last step ended with `{reason}`" in transcript.gaps


@pytest.mark.parametrize(
    ("part", "doubt"),
    [
        ({"type": "custom", "kind": "acme.shell"}, "1 part of the unknown kind `acme.shell`"),
        ({"type": "server-tool"}, "1 part of the unknown kind `server-tool`"),
        ({"type": 7}, "1 part of the unknown kind `(none)`"),
        (
            {"type": "tool-bash", "state": "teleported"},
            "call of the unknown kind `teleported`",
        ),
        ({"type": "dynamic-tool", "state": "result"}, "1 tool call of the unknown kind `(none)`"),
        ({"type": "tool-approval-response", "approvalId": "z"}, "1 approval of the unknown kind"),
        ({"type": "tool-approval-request", "approvalId": "z"}, "1 approval of the unknown kind"),
        ({"type": "tool-result", "toolName": "x"}, "1 result of the unknown kind `without its"),
    ],
)
def test_parts_that_are_not_understood_are_doubts(part: Any, doubt: str, tmp_path: Path) -> None:
    messages = [*MODEL, {"role": "assistant", "content": [part]}, ANSWER]
    doubts = read(tmp_path, messages).doubts
    assert any(doubt in found for found in doubts), doubts


@pytest.mark.parametrize(
    ("message", "doubt"),
    [
        ({"role": "robot", "content": []}, "1 message of the unknown kind `robot`"),
        ("rm x", "1 message of the unknown kind `text`"),
        ({"role": "assistant", "content": {"rm": 1}}, "1 part of the unknown kind `object`"),
        (
            {"role": "assistant", "content": "", "toolInvocations": ["rm x"]},
            "1 tool invocation of the unknown kind `text`",
        ),
    ],
)
def test_messages_that_are_not_understood_are_doubts(
    message: Any, doubt: str, tmp_path: Path
) -> None:
    assert doubt in read(tmp_path, {"messages": [*MODEL, message, ANSWER]}).doubts


def test_a_text_that_was_being_written_is_no_answer(tmp_path: Path) -> None:
    transcript = read_ui_part(tmp_path, type="text", text="So", state="streaming")
    assert "a text was still being written" in transcript.gaps
