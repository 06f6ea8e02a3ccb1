"""Reading tasks of Cline and Roo Code: calls in blocks and in XML, results in texts."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import LOGS, list_calls, list_tokens
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

CLINE = LOGS / "cline"


def read(folder: Path, document: Any) -> Transcript:
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_transcript(path)


def load(name: str) -> Any:
    return json.loads((CLINE / name).read_text(encoding="utf-8"))


def test_calls_in_blocks_are_paired_with_results_in_texts() -> None:
    transcript = read_transcript(CLINE / "api_conversation_history.json")
    assert transcript.format == "cline"
    assert list_calls(transcript) == [
        ("read_file", "ok"),
        ("execute_command", "error"),
        ("write_to_file", "denied"),
        ("use_subagents", "ok"),
        ("attempt_completion", "ok"),
    ]
    assert [(m.name, m.target, m.status) for m in transcript.mutations] == [
        ("execute_command", "rm shop/old.md", "error"),
        ("write_to_file", "shop/list.md", "denied"),
    ]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop."]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal(9))
    assert [call.seconds for call in transcript.calls[:2]] == [Decimal(2), Decimal(2)]
    assert list_tokens(transcript) == (400, None, None, 40, None)
    assert transcript.models == ("model-c",)
    assert transcript.complete, transcript.gaps


def test_each_prompt_for_a_sub_agent_is_a_dispatch() -> None:
    transcript = read_transcript(CLINE / "api_conversation_history.json")
    assert [(d.call, d.status) for d in transcript.dispatches] == [(3, "ok"), (None, "ok")]


def test_calls_in_xml_are_read_with_their_results() -> None:
    transcript = read_transcript(CLINE / "xml.json")
    assert transcript.format == "cline"
    assert list_calls(transcript) == [
        ("read_file", "ok"),
        ("write_to_file", "denied"),
        ("execute_command", "ok"),
        ("mcp__memory__search_nodes", "ok"),
        ("new_task", "error"),
        ("attempt_completion", "ok"),
    ]
    assert transcript.calls[0].paths == ("shop/a.md", "shop/b.md")
    assert transcript.calls[3].arguments == {"query": "shop"}
    assert [(d.kind, d.status) for d in transcript.dispatches] == [("ask", "error")]
    assert [m.target for m in transcript.mutations] == ["shop/list.md", "shop/list.md"]
    assert [prompt.text for prompt in transcript.prompts] == ["Tidy the shop.", "Use a command."]
    assert transcript.final_text == "Done with it.\nIt is tidy."
    assert (transcript.latency_s, transcript.last_turn_latency_s) == (Decimal(12), Decimal(8))
    assert transcript.complete, transcript.gaps


def test_a_session_of_the_sdk_is_read() -> None:
    transcript = read_transcript(CLINE / "session.messages.json")
    assert (transcript.format, transcript.session) == ("cline", "cline-1")
    assert list_calls(transcript) == [
        ("run_commands", "error"),
        ("read_files", "ok"),
        ("editor", "ok"),
    ]
    assert transcript.calls[1].paths == ("/shop/a.md",)
    assert [m.target for m in transcript.mutations] == ["rm shop/old.md", "/shop/list.md"]
    assert (transcript.final_text, transcript.latency_s) == ("It is tidy.", Decimal("6.5"))
    assert list_tokens(transcript) == (45, 300, 5, 22, None)
    assert transcript.complete, transcript.gaps


def test_cached_tokens_of_a_provider_make_its_input_unknown(tmp_path: Path) -> None:
    document = load("api_conversation_history.json")
    document[1]["metrics"]["tokens"]["cached"] = 30
    assert list_tokens(read(tmp_path, document)) == (None, None, None, 40, None)


def test_a_result_without_a_call_shows_that_a_call_was_not_understood(tmp_path: Path) -> None:
    document = load("xml.json")
    text = document[1]["content"][0]["text"].replace("read_file>", "quantum_read>")
    document[1]["content"][0]["text"] = text
    transcript = read(tmp_path, document)
    assert "1 call of the unknown kind `read_file`" in transcript.gaps


def test_a_call_in_xml_that_is_cut_off_is_an_attempt_without_a_result(tmp_path: Path) -> None:
    document = load("xml.json")[:4]
    document[3]["content"][0]["text"] = "<write_to_file>\n<path>shop/list.md</path>\n<content>x"
    transcript = read(tmp_path, document)
    assert list_calls(transcript)[1] == ("write_to_file", "none")
    assert [m.target for m in transcript.mutations] == ["shop/list.md"]
    assert not transcript.complete


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Skipping tool [write_to_file for 'a'] due to user rejecting a previous tool.", "denied"),
        ("Tool [write_to_file] was not executed because a tool has already been used.", "error"),
        ('[write_to_file for \'a\'] Result:\n{"status": "denied", "feedback": "no"}', "denied"),
        ("[write_to_file for 'a'] Result:\nAccess to a is blocked by the .clineignore", "denied"),
        ("[write_to_file for 'a'] Result:\nFailed to write to 'a'", "error"),
        ("[write_to_file for 'a'] Result:\nSaved. It says: The user denied this.", "ok"),
    ],
)
def test_the_text_of_a_result_says_how_the_call_went(
    text: str, status: str, tmp_path: Path
) -> None:
    document = load("xml.json")[:5]
    document[4]["content"] = [{"type": "text", "text": text}]
    assert list_calls(read(tmp_path, document))[1] == ("write_to_file", status)


def test_an_older_command_without_an_exit_code_has_no_status(tmp_path: Path) -> None:
    document = load("xml.json")
    document[6]["content"][1]["text"] = "Command executed.\nOutput:\nx"
    assert list_calls(read(tmp_path, document))[2] == ("execute_command", None)


def test_an_interrupted_answer_is_a_gap(tmp_path: Path) -> None:
    document = load("xml.json")
    document[-1]["content"] = "I look\n\n[Response interrupted by user]"
    assert "the last turn was interrupted" in read(tmp_path, document).gaps


def test_a_summary_for_the_model_is_neither_a_prompt_nor_an_answer(tmp_path: Path) -> None:
    document = load("xml.json")
    document.insert(5, {"role": "user", "isSummary": True, "content": "So far: tidy.", "ts": 1})
    document.append({"role": "assistant", "isSummary": True, "content": "All: tidy.", "ts": 1})
    document.insert(1, {"type": "reasoning", "encrypted_content": "…", "summary": [], "ts": 1})
    transcript = read(tmp_path, document)
    assert (len(transcript.prompts), transcript.complete) == (2, True)
    assert transcript.final_text == "Done with it.\nIt is tidy."


def test_unknown_blocks_make_it_incomplete(tmp_path: Path) -> None:
    document = load("api_conversation_history.json")
    document[1]["content"].append({"type": "hologram"})
    gap = "1 content block of the unknown kind `hologram`"
    assert gap in read(tmp_path, document).gaps
