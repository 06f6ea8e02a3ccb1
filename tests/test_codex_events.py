"""Codex sessions: calls that only events show, kinds that are not known, and typed text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agent_logs import list_calls
from codex_rollouts import (
    call_function,
    complete_item,
    list_commands,
    make_event,
    make_item,
    run_code,
    write_rollout,
)
from commands import here
from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from pathlib import Path

PAGINATED = {"history_mode": "paginated"}
CHANGES = {"/repo/src/a.py": {"delete": {"content": "x"}}}


def read(folder: Path, *lines: dict[str, Any], **meta: Any) -> Transcript:
    return read_transcript(write_rollout(folder, *lines, **meta))


def run_command(command: str, id_: str = "exec-1", **more: Any) -> dict[str, Any]:
    """Return the item of a command that was run."""
    fields = {"status": "completed", "exit_code": 0, "source": "unified_exec_startup", **more}
    return complete_item("CommandExecution", id=id_, command=["/bin/zsh", "-lc", command], **fields)


def test_a_command_in_the_code_and_in_the_events_counts_once(tmp_path: Path) -> None:
    call, output = run_code('const c = ["ls", "rm x"]; c.map(cmd => tools.exec_command({cmd}))')
    found = read(
        tmp_path,
        call,
        run_command("rm x", "exec-2", exit_code=1, status="failed"),
        run_command("ls", "exec-1"),
        output,
        **PAGINATED,
    )
    assert list_calls(found) == [("exec", "ok"), ("exec_command", "ok"), ("exec_command", "error")]
    assert [mutation.target for mutation in found.mutations] == ["rm x"]
    assert found.complete


def test_events_say_what_computed_commands_were(tmp_path: Path) -> None:
    code = 'for (const f of (await find()).split("\\n")) await tools.exec_command({cmd:`cat ${f}`})'
    call, output = run_code(code)
    events = [run_command("cat a", "exec-1"), run_command("cat b", "exec-2")]
    found = read(tmp_path, call, *events, output, **PAGINATED)
    assert list_commands(found) == ["cat a", "cat b"]
    assert found.complete
    # Without the history mode, the log does not promise an event for each command.
    assert read(tmp_path, call, *events, output).doubts


def test_an_event_of_another_command_explains_nothing(tmp_path: Path) -> None:
    call, output = run_code("await tools.exec_command({cmd: `cat ${load('x')}`})")
    found = read(tmp_path, call, run_command("rm -rf build"), output, **PAGINATED)
    assert list_commands(found) == ["cat ${unknown}", "rm -rf build"]
    assert found.doubts


def test_code_that_is_not_understood_is_explained_by_complete_events(tmp_path: Path) -> None:
    call, output = run_code("class A {}; await new A().run()")
    found = read(tmp_path, call, run_command("ls"), output, **PAGINATED)
    assert list_commands(found) == ["ls"]
    assert found.complete
    assert read(tmp_path, call, output, **PAGINATED).doubts


@pytest.mark.parametrize(
    "event",
    [
        make_event("patch_apply_end", call_id="exec-1", success=True, changes=CHANGES),
        complete_item("FileChange", id="exec-1", status="completed", changes=CHANGES),
        complete_item("fileChange", id="exec-1", status="completed", changes=CHANGES),
    ],
)
@pytest.mark.parametrize("code", ["tools.apply_patch(load('p'))", "text('nothing')"])
def test_changed_files_are_mutations_whether_or_not_the_code_shows_them(
    event: dict[str, Any], code: str, tmp_path: Path
) -> None:
    call, output = run_code(code)
    found = read(tmp_path, call, event, output)
    assert [(m.name, m.target, m.status) for m in found.mutations] == [
        ("apply_patch", "/repo/src/a.py", "ok")
    ]
    assert list_calls(found) == [("exec", "ok"), ("apply_patch", "ok")]


def test_a_patch_is_explained_by_the_call_with_its_id(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch"
    lines = [
        make_item("custom_tool_call", name="apply_patch", call_id="c", input=patch),
        make_event("patch_apply_end", call_id="c", success=True, changes=CHANGES),
        make_item("custom_tool_call_output", call_id="c", output="Success."),
    ]
    assert list_calls(read(tmp_path, *lines)) == [("apply_patch", "ok")]
    heredoc = {"cmd": f"apply_patch <<'E'\n{patch}\nE"}
    call, output = call_function("exec_command", heredoc, id_="c")
    assert list_calls(read(tmp_path, call, lines[1], output)) == [("exec_command", "ok")]


def test_a_change_that_no_command_shows_is_its_own_mutation(tmp_path: Path) -> None:
    call, output = call_function("exec_command", {"cmd": "./do-it.sh"}, id_="c")
    event = make_event("patch_apply_end", call_id="c", success=True, changes=CHANGES)
    found = read(tmp_path, call, event, output)
    assert [mutation.target for mutation in found.mutations] == ["/repo/src/a.py"]


def test_what_was_declined_is_denied(tmp_path: Path) -> None:
    call, output = run_code(
        "tools.apply_patch('*** Delete File: a'); tools.exec_command({cmd:'rm b'})"
    )
    found = read(
        tmp_path,
        call,
        make_event("patch_apply_end", call_id="e1", success=False, status="declined", changes={}),
        run_command("rm b", "e2", status="declined", exit_code=None),
        output,
    )
    assert list_calls(found)[1:] == [("apply_patch", "denied"), ("exec_command", "denied")]


def test_a_rejection_in_the_output_of_code_is_told_from_a_failure(tmp_path: Path) -> None:
    call, _ = run_code("await tools.exec_command({cmd: 'rm b'})")

    def fail(reason: str) -> dict[str, Any]:
        texts = ["Script failed\nWall time 0.1 seconds\nOutput:\n", f"Script error:\n{reason}"]
        blocks = [{"type": "input_text", "text": text} for text in texts]
        return make_item("custom_tool_call_output", call_id="call_1", output=blocks)

    denied = read(tmp_path, call, fail("exec command rejected by user"))
    failed = read(tmp_path, call, fail("no such command"))
    assert list_calls(denied) == [("exec", "error"), ("exec_command", "denied")]
    assert list_calls(failed) == [("exec", "error"), ("exec_command", "error")]


def test_other_items_are_calls_of_their_own(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        complete_item(
            "McpToolCall", id="m", server="memory", tool="delete_entities", status="failed"
        ),
        complete_item("DynamicToolCall", id="d", tool="lookup", arguments={}, success=True),
        complete_item("DynamicToolCall", id="x", tool="exec", arguments={"code": "tools.look({})"}),
        complete_item("WebSearch", id="w", query="q", action={"type": "search"}),
        complete_item("Extension", id="s", kind="web.search", query="r"),
        complete_item("Extension", id="z", kind="clock.sleep"),
        complete_item("ImageView", id="i", path="/a.png"),
        complete_item("CommandExecution", id="u", command="ls", source="user_shell"),
        complete_item("CommandExecution", id="v", command="bash -lc 'rm x'", exit_code=0),
        complete_item("Reasoning", id="r", summary_text=[]),
        **PAGINATED,
    )
    assert list_calls(found) == [
        ("mcp__memory__delete_entities", "error"),
        ("lookup", "ok"),
        ("exec", None),
        ("look", None),
        ("web_search", None),
        ("web_search", None),
        ("view_image", None),
        ("exec_command", "ok"),
    ]
    assert [mutation.target for mutation in found.mutations] == ["rm x"]


UNKNOWN: dict[str, dict[str, Any]] = {
    "record": {"type": "tool_run", "payload": {"command": "rm"}},
    "line without payload": {"type": "response_item", "payload": ["rm"]},
    "item": make_item("computer_call", action={}),
    "item without a kind": {"type": "response_item", "payload": {"action": "rm"}},
    "content block": make_item("message", role="assistant", content=[{"type": "tool_use"}]),
    "event": make_event("remote_command_end", command="rm"),
    "turn item": complete_item("RemoteCommand", id="1"),
    "extension": complete_item("Extension", id="1", kind="shell.run"),
    "result without a call": make_item("function_call_output", call_id="none", output="x"),
    "code of a REPL": call_function("js_repl", {"code": "fs.rmSync('x')"})[0],
    "no code": call_function("exec", {"script": 1})[0],
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_hold_calls_and_is_not_known_is_a_doubt(name: str, tmp_path: Path) -> None:
    assert read(tmp_path).complete
    assert read(tmp_path, UNKNOWN[name]).doubts


def test_the_kinds_of_all_versions_are_known(tmp_path: Path) -> None:
    records = "world_state inter_agent_communication security_risk_score compacted turn_context"
    items = "reasoning ghost_snapshot compaction context_compaction agent_message"
    events = "agent_message thread_rolled_back context_compacted item_started_ agent_reasoning"
    lines = [{"type": kind, "payload": {}} for kind in records.split()]
    lines += [make_item(kind) for kind in items.split()]
    lines += [make_event(kind) for kind in events.split() if not kind.endswith("_")]
    lines.append(make_event("item_started", item={"type": "Reasoning", "id": "r"}))
    assert read(tmp_path, *lines).gaps == ()


def test_the_shell_tools_of_all_models_are_looked_into(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        *call_function("shell_command", {"command": "rm a"}, id_="1"),
        *call_function("shell", {"command": ["bash", "-lc", "rm b"]}, id_="2"),
        *call_function("exec_command", {"cmd": "rm c"}, id_="3", namespace="functions"),
        make_item("local_shell_call", call_id="4", action={"type": "exec", "command": ["rm", "d"]}),
        make_item("function_call_output", call_id="4", output="ok"),
    )
    assert [mutation.target for mutation in found.mutations] == ["rm a", "rm b", "rm c", "rm d"]


def test_text_typed_into_a_shell_is_a_command(tmp_path: Path) -> None:
    start = call_function(
        "exec_command",
        {"cmd": "bash --noprofile", "tty": True},
        "Process running with session ID 7",
    )
    typed = call_function("write_stdin", {"session_id": 7, "chars": "rm x\n"}, id_="2")
    found = read(tmp_path, *start, *typed)
    assert [mutation.target for mutation in found.mutations] == ["rm x"]
    assert found.complete


@pytest.mark.parametrize("program", ["python3 -i", "bash -c python3", "bash script.sh"])
def test_text_typed_into_another_program_is_a_doubt(program: str, tmp_path: Path) -> None:
    start = call_function("exec_command", {"cmd": program}, "Process running with session ID 7")
    typed = call_function("write_stdin", {"session_id": 7, "chars": "os.remove(p)\n"}, id_="2")
    assert read(tmp_path, *start, *typed).doubts
    keys = call_function("write_stdin", {"session_id": 7, "chars": "\x03"}, id_="2")
    assert read(tmp_path, *start, *keys).complete


VERDICTS = {
    "reads": ("tools.mcp__memory__search({q:'x'}); tools.exec_command({cmd:'rg x'})", (1, 1, 1)),
    "deletes": ("tools.mcp__memory__search({q:'x'}); tools.exec_command({cmd:'rm x'})", (1, 1, 0)),
    "searches first": (
        "tools.exec_command({cmd:'rg x'}); tools.mcp__memory__search({q:'x'})",
        (0, 1, 1),
    ),
    "starts agents": (
        "for (const m of [1,2,3]) tools.collaboration__spawn_agent({message:'Go.', task_name:'a'})",
        (0, 0, 1),
    ),
    "hides": ("tools.exec_command({cmd: load('next')})", (None, None, None)),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_checks_of_what_was_done_judge_code_rightly(name: str, tmp_path: Path) -> None:
    code, expected = VERDICTS[name]
    path = write_rollout(tmp_path / "big", *run_code(code))
    path.rename(path.with_name("TQ-1.jsonl"))
    words = ("score", "-r", "context-agent", "-e", "context-queries", "--no-store")
    done = here(*words, "--logs", tmp_path, "--format", "json")
    (row,) = [row for row in done.json["items"] if row["got"]]
    found = tuple(row["breakdown"][check] for check in ("S-04", "S-05", "S-06"))
    assert found == expected, row["reason"]


def test_events_with_values_of_wrong_types_are_read(tmp_path: Path) -> None:
    strange = (["spawn_agent"], {"a": 1}, 7, None)
    lines = [
        complete_item(kind, id=value, tool=value, command=value, changes=value, source=value)
        for kind in ("CollabAgentToolCall", "CommandExecution", "FileChange", "DynamicToolCall")
        for value in strange
    ]
    found = read(tmp_path, *lines, run_code("text(1)")[0], history_mode=["paginated"])
    assert len(found.calls) == 13
