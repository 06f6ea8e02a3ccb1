"""Logs of agents that no reader here knows, or read as the wrong format: never complete."""

from __future__ import annotations

import json
import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from agent_logs import LOGS
from commands import here
from made_up import GREP, PACKAGE, RECALL, TASK, Session
from markscheme import InputError, Transcript, read_transcript, score
from markscheme.read.transcripts import list_format_names, read_transcripts

ROOT = Path(__file__).parent.parent
ASK = {"role": "user", "content": "Tidy up."}
DONE = {"role": "assistant", "content": "Done."}
COMMAND = {"command": "rm -rf build"}


def chat(*messages: dict[str, Any], **document: Any) -> dict[str, Any]:
    return {"messages": [ASK, *messages, DONE], **document}


FOREIGN: dict[str, list[Any]] = {
    "SWE-agent, commands in the text": [
        {
            "environment": "main",
            "trajectory": [{"action": "rm -rf build", "observation": "", "response": "Removing."}],
            "history": [
                ASK,
                {"role": "assistant", "content": "Removing.", "action": "rm -rf build"},
                DONE,
            ],
            "info": {"exit_status": "submitted"},
        }
    ],
    "SWE-agent, without its own fields in the messages": [
        {
            "trajectory": [{"action": "rm -rf build", "observation": ""}],
            "history": [ASK, {"role": "assistant", "content": "```\nrm -rf build\n```"}, DONE],
        }
    ],
    "mini-swe-agent": [
        chat(
            {"role": "assistant", "content": "THOUGHT: go\n\n```bash\nrm -rf build\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\n</output>"},
            info={"mini_version": "1.1"},
            trajectory_format="mini-swe-agent-1",
        )
    ],
    "mini-swe-agent, messages only": [
        [
            ASK,
            {"role": "assistant", "content": "Go.\n\n```mswea_bash_command\nrm -rf build\n```"},
            DONE,
        ]
    ],
    "calls as text in tags": [
        chat({"role": "assistant", "content": '<tool_call>\n{"name": "bash"}\n</tool_call>'})
    ],
    "a loop of thought, action and observation": [
        chat(
            {"role": "assistant", "content": "Thought: x\nAction: bash\nAction Input: rm -rf x"},
            {"role": "user", "content": "Observation: gone"},
        )
    ],
    "messages of Anthropic": [
        chat(
            {"role": "assistant", "content": [{"type": "tool_use", "input": COMMAND}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
        )
    ],
    "parts of the Vercel AI SDK": [
        chat({"role": "assistant", "content": [{"type": "tool-call", "input": COMMAND}]})
    ],
    "messages of a page of the Vercel AI SDK": [
        chat(
            {
                "role": "assistant",
                "content": "",
                "parts": [{"type": "tool-bash", "toolCallId": "t", "input": COMMAND}],
            }
        )
    ],
    "Goose": [
        {"working_dir": "/repo", "description": "d"},
        ASK,
        {"role": "assistant", "content": [{"type": "toolRequest", "toolCall": {}}]},
        DONE,
    ],
    "Cursor": [
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "tool_call", "subtype": "started", "session_id": "s", "tool_call": {"x": {}}},
        {"type": "assistant", "session_id": "s", "message": {"content": [{"type": "text"}]}},
        {"type": "result", "session_id": "s", "duration_ms": 1, "result": "Done.", "num_turns": 1},
    ],
    "the stream of Gemini": [
        {"type": "init", "session_id": "s"},
        {"type": "message", "role": "user", "content": "Tidy up."},
        {"type": "tool_use", "tool_name": "run_shell_command", "parameters": COMMAND},
        {"type": "message", "role": "assistant", "content": "Done."},
        {"type": "result", "status": "success", "stats": {}},
    ],
    "a conversation of Qwen Code": [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": {"parts": [{"text": "x"}]}},
        {
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "message": {"parts": [{"functionCall": {"name": "bash", "args": COMMAND}}]},
        },
    ],
    "a call of a type that the API may have one day": [
        chat({"role": "assistant", "tool_calls": [{"type": "robot", "robot": COMMAND}]})
    ],
    "calls as JSON in a text": [chat({"role": "assistant", "tool_calls": '[{"id": 1}]'})],
    "pieces of a stream": [
        ASK,
        {"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [{}]}}]},
        DONE,
    ],
}


def write_lines(folder: Path, lines: list[Any]) -> Path:
    log = folder / "log.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return log


def read_if_recognised(log: Path, name: str | None = None) -> list[Transcript]:
    """Return the transcripts of a log; none if it is refused with a reason."""
    try:
        return [transcript for _, transcript in read_transcripts(log, name)]
    except InputError:
        return []


@pytest.mark.parametrize("name", FOREIGN)
def test_the_log_of_another_agent_is_never_read_as_complete_without_its_calls(
    name: str, tmp_path: Path
) -> None:
    for found in read_if_recognised(write_lines(tmp_path, FOREIGN[name])):
        assert found.calls or found.doubts
        assert found.mutations or not found.complete, found


@pytest.mark.parametrize(
    "text",
    [
        "Run this:\n\n```bash\nrm -rf build\n```",
        "The tag <tool_call> begins a call, and `<function=x>` too.",
        "Observation: the build is slow.",
        "Action: restart it.",
    ],
)
def test_an_answer_that_only_speaks_of_commands_is_complete(text: str, tmp_path: Path) -> None:
    log = write_lines(tmp_path, [ASK, {"role": "assistant", "content": text}])
    assert read_transcript(log).complete


SOURCES = [
    path
    for path in sorted(LOGS.rglob("*"))
    if path.suffix in {".json", ".jsonl"}
    and "storage" not in path.parts
    and not path.name.endswith(".meta.json")
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "-".join(path.relative_to(LOGS).parts))
def test_a_log_that_is_read_as_another_format_is_not_complete_with_fewer_calls(path: Path) -> None:
    own = read_transcripts(path)
    calls = sum(len(agent.calls) for _, found in own for agent in found.agents())
    for name in list_format_names():
        agents = [agent for found in read_if_recognised(path, name) for agent in found.agents()]
        if agents and all(agent.complete for agent in agents):
            assert sum(len(agent.calls) for agent in agents) >= calls, name


@pytest.mark.parametrize("name", list_format_names())
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"a": 1}\n{"b": 2}\n', "null"])
def test_a_log_in_which_nothing_is_understood_is_never_complete(
    name: str, content: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(content, encoding="utf-8")
    assert not any(found.complete for found in read_if_recognised(log, name))


def test_a_log_without_a_session_of_the_forced_format_is_refused(tmp_path: Path) -> None:
    log = write_lines(tmp_path, [ASK, DONE])
    for name in ("otel", "opencode-export"):
        with pytest.raises(InputError, match=f"no session in it that can be read as `{name}`"):
            read_transcripts(log, name)


def test_half_a_surrogate_pair_in_ids_is_read_and_shown(tmp_path: Path) -> None:
    half = "id\ud83d"
    text = Session("Ask.", session=half).calls(TASK).say(PACKAGE).text()
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        for block in line["message"]["content"]:
            for key in {"id", "tool_use_id"} & (block.keys() if isinstance(block, dict) else set()):
                block[key] = half
        line["toolUseResult"] = {"agentId": half}
    log = write_lines(tmp_path, lines)
    shown = here("transcript", log, "--format", "json")
    assert shown.code == 0
    assert shown.json["session"] == "id?"
    assert shown.json["calls"][0]["id"] == "id?"
    assert here("transcript", log).code == 0


def write_doubtful_logs(folder: Path) -> Path:
    """Write one session in which only a sub-agent has something of an unknown kind."""
    text = Session("Ask.", session="s-1").calls(RECALL, GREP, TASK).say(PACKAGE).text()
    logs = folder / "logs"
    (logs / "TQ-1" / "subagents").mkdir(parents=True)
    (logs / "TQ-1.jsonl").write_text(text, encoding="utf-8")
    task = next(
        block["id"]
        for line in text.splitlines()
        for block in json.loads(line)["message"]["content"]
        if isinstance(block, dict) and block.get("name") == "Task"
    )
    agent = Session("Look around.", session="s-1").say("Seen.").text()
    unknown = '{"type": "from-the-future"}\n'
    (logs / "TQ-1" / "subagents" / "agent-a1.jsonl").write_text(agent + unknown, encoding="utf-8")
    meta = json.dumps({"toolUseId": task, "agentType": "explore"})
    (logs / "TQ-1" / "subagents" / "agent-a1.meta.json").write_text(meta, encoding="utf-8")
    return logs


def test_doubts_of_a_sub_agent_reach_the_score_and_its_words(tmp_path: Path) -> None:
    logs = write_doubtful_logs(tmp_path)
    found = read_transcript(logs / "TQ-1.jsonl")
    assert found.doubts == ()
    assert found.subagents[0].doubts == ("1 record of the unknown kind `from-the-future`",)
    (row,) = (
        row
        for row in score("context-agent", "context-queries", logs=logs).to_dict()["items"]
        if row["got"]
    )
    told = "more may have been done than it shows: 1 record of the unknown kind `from-the-future`"
    assert row["breakdown"]["S-06"] is None
    assert told in row["reason"]["S-06"]


def fuzzer() -> Any:
    spec = util.spec_from_file_location("fuzz_logs", ROOT / "scripts/fuzz_logs.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_two_hundred_changed_logs_are_read_without_a_crash(tmp_path: Path) -> None:
    fuzz = fuzzer()
    sources = fuzz.load_sources()
    assert {source.format for source in sources} >= {"claude-code", "gemini", "otel"}
    for mutant in fuzz.generate_mutants(sources, 200, seed=7):
        found = fuzz.find_failure(mutant, tmp_path)
        assert found == "", f"{mutant.source.path.name}:\n{mutant.content.decode(errors='replace')}"
