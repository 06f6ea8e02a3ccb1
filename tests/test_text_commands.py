"""Conversations whose texts hold the commands: they are no conversations without calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from markscheme import Transcript, read_transcript

CALL = '{"name": "bash", "arguments": {"command": "rm x"}}'


def read(folder: Path, messages: list[Any]) -> Transcript:
    path = folder / "log.json"
    path.write_text(json.dumps(messages))
    return read_transcript(path)


def read_chat(folder: Path, *texts: str, answer: str = "It is in a.py:3.") -> Transcript:
    """Read a conversation in which the user answers each text of the agent."""
    messages = [{"role": "user", "content": "Where is it?"}]
    for text in texts:
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": "OUTPUT:\ndone"})
    return read(folder, [*messages, {"role": "assistant", "content": answer}])


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_use>\n{CALL}\n</tool_use>",
        f"[TOOL_CALLS][{CALL}]",
        f"<|tool_call|>[{CALL}]",
        f"<|tool_calls_section_begin|>{CALL}",
        f"<\uff5ctool\u2581calls\u2581begin\uff5c>{CALL}",
        "<|python_tag|>import os; os.remove('x')",
        '<|channel|>commentary to=functions.bash <|message|>{"command": "rm x"}',
        '<x:tool_call>\n<invoke name="bash">',
        "```tool_code\nbash('rm x')\n```",
        "<execute>\nimport os\n</execute>",
        "<bash>\nrm x\n</bash>",
        "<run_command>rm x</run_command>",
        '<write_file path="x">a</write_file>',
        'Action:\n```json\n{"action": "bash", "action_input": "rm x"}\n```',
        'Action: ```json\n[{"tool_name": "bash"}]\n```',
        "a.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE",
        '>>>bash\n{"command": "rm x"}',
        '[bash(command="rm x")]',
        "[ToolUseBlock(id='1', input={'command': 'rm x'}, name='bash')]",
        CALL,
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        '{"tool": "bash", "args": {"command": "rm x"}}',
        '{"thoughts": {}, "command": {"name": "delete_file", "args": {}}}',
        '[{"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "rm x"}}]',
    ],
)
def test_a_call_that_stands_in_a_text_is_a_doubt(text: str, tmp_path: Path) -> None:
    for transcript in (read_chat(tmp_path, text), read_chat(tmp_path, answer=text)):
        assert not transcript.complete
        assert "text command" in transcript.doubts[0]


@pytest.mark.parametrize(
    "text",
    [
        "THOUGHT: remove it\n\n```bash\nrm -rf x\n```",
        "Code:\n```py\nimport os\nos.remove('x')\n```<end_code>",
        "<code>\nimport os\nos.remove('x')\n</code>",
        '{"command": "rm x"}',
        '{"analysis": "x", "commands": [{"keystrokes": "rm x\\n"}]}',
    ],
)
def test_a_block_that_changes_something_is_a_doubt_if_somebody_answered_it(
    text: str, tmp_path: Path
) -> None:
    assert read_chat(tmp_path, text).doubts
    assert read_chat(tmp_path, answer=text).complete


@pytest.mark.parametrize(
    "text",
    [
        "Run it with\n\n```bash\nls -la | grep x\n```",
        "It says `<bash>` somewhere, and [this](a.md) is a link.",
        '{"answer": "in a.py", "lines": [3]}',
        "[1]",
        "[a.py:3](a.py)",
        '```json\n{"name": "app", "version": "1"}\n```',
    ],
)
def test_other_texts_are_no_commands(text: str, tmp_path: Path) -> None:
    assert read_chat(tmp_path, text).complete
    assert read_chat(tmp_path, answer=text).complete


def test_blocks_are_only_words_of_an_agent_that_has_calls(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    transcript = read(
        tmp_path,
        [
            {"role": "user", "content": "Where is it?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "a.py"},
            {"role": "assistant", "content": "```bash\nrm -rf x\n```"},
            {"role": "user", "content": "No, do not."},
            {"role": "assistant", "content": "It is in a.py:3."},
        ],
    )
    assert transcript.complete


def test_a_call_in_a_further_choice_is_a_doubt(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    answers = [
        {"index": 0, "message": {"role": "assistant", "content": "There."}},
        {"index": 1, "message": {"role": "assistant", "tool_calls": [call]}},
    ]
    request = {"messages": [{"role": "user", "content": "Where is it?"}]}
    assert read(tmp_path, [{"request": request, "response": {"choices": answers}}]).doubts
    one = [{"request": request, "response": {"choices": answers[:1]}}]
    assert read(tmp_path, one).complete


def test_an_object_with_a_tool_and_its_arguments_is_a_call_in_any_field(tmp_path: Path) -> None:
    for action in (
        {"tool": "bash", "input": {"command": "rm x"}},
        {"name": "bash", "parameters": {"command": "rm x"}},
    ):
        message = {"role": "assistant", "content": "There.", "actions": [action]}
        assert read(tmp_path, [{"role": "user", "content": "Where?"}, message]).doubts
    schema = {"name": "bash", "parameters": {"type": "object", "properties": {}}}
    message = {"role": "assistant", "content": "There.", "known": [schema]}
    assert read(tmp_path, [{"role": "user", "content": "Where?"}, message]).complete
