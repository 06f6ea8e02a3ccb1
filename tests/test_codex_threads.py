"""Codex threads that others have started: nested by the parent that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_logs import list_calls
from codex_rollouts import THREAD, call_function, make_event, run_code, write_rollout
from markscheme import Transcript, read_transcript
from markscheme.read.transcripts import read_transcripts

if TYPE_CHECKING:
    from pathlib import Path

PARENT = THREAD.format(1)
SPAWN = "await tools.collaboration__spawn_agent({task_name: 'look', message: 'Look.'})"


def spawned(path: str = "/root/look", parent: str = PARENT, **more: Any) -> dict[str, Any]:
    """Return the fields of the first line of a thread that another has started."""
    spawn = {"parent_thread_id": parent, "depth": 1, "agent_path": path, **more}
    return {"parent_thread_id": parent, "source": {"subagent": {"thread_spawn": spawn}}}


def write_family(folder: Path, code: str, **child: Any) -> Transcript:
    path = write_rollout(folder, *run_code(code))
    calls = call_function("exec_command", {"cmd": "rm x"})
    write_rollout(folder, *calls, thread=2, **(child or spawned()))
    return read_transcript(path)


def test_a_thread_is_nested_under_the_parent_that_it_names(tmp_path: Path) -> None:
    found = write_family(tmp_path, SPAWN)
    assert [(d.kind, d.agent) for d in found.dispatches] == [("look", THREAD.format(2))]
    (child,) = found.subagents
    assert [mutation.target for mutation in child.mutations] == ["rm x"]
    assert found.unseen == 0
    assert [thread.session for _, thread in read_transcripts(tmp_path)] == [PARENT]


def test_a_thread_that_no_call_explains_is_a_dispatch(tmp_path: Path) -> None:
    found = write_family(tmp_path, "text('nothing')", **spawned(agent_role="explorer"))
    assert [(d.kind, d.agent, d.call) for d in found.dispatches] == [
        ("explorer", THREAD.format(2), None)
    ]
    assert [list_calls(child) for child in found.subagents] == [[("exec_command", None)]]


def test_threads_are_matched_by_the_names_of_their_tasks(tmp_path: Path) -> None:
    code = "for (const n of ['one', 'two']) tools.agents__spawn_agent({task_name: n, message: n})"
    path = write_rollout(tmp_path, *run_code(code))
    write_rollout(tmp_path, thread=2, **spawned("/root/two"))
    write_rollout(tmp_path, thread=3, **spawned("/root/one"))
    found = {dispatch.kind: dispatch.agent for dispatch in read_transcript(path).dispatches}
    assert found == {"one": THREAD.format(3), "two": THREAD.format(2)}


def test_a_thread_that_is_not_there_stays_unseen(tmp_path: Path) -> None:
    activity = make_event(
        "sub_agent_activity",
        event_id="exec-1",
        kind="started",
        agent_thread_id=THREAD.format(9),
        agent_path="/root/look",
    )
    call, output = run_code(SPAWN)
    found = read_transcript(write_rollout(tmp_path, call, activity, output))
    assert [dispatch.agent for dispatch in found.dispatches] == [THREAD.format(9)]
    assert (found.subagents, found.unseen) == ((), 1)


def test_a_failed_dispatch_started_no_thread(tmp_path: Path) -> None:
    failed = call_function("spawn_agent", {"message": "a"}, {"success": False}, id_="1")
    second = call_function("spawn_agent", {"message": "b"}, id_="2")
    path = write_rollout(tmp_path, *failed, *second)
    write_rollout(tmp_path, thread=2, **spawned())
    assert [d.agent for d in read_transcript(path).dispatches] == [None, THREAD.format(2)]


def test_forks_and_threads_of_others_are_not_nested(tmp_path: Path) -> None:
    path = write_rollout(tmp_path)
    write_rollout(tmp_path, thread=2, forked_from_id=PARENT)
    write_rollout(tmp_path, thread=3, source={"subagent": "review"}, parent_thread_id=PARENT)
    write_rollout(tmp_path, thread=4, **spawned(parent=THREAD.format(7)))
    write_rollout(tmp_path, thread=5, **spawned(parent=THREAD.format(5)))
    assert read_transcript(path).dispatches == ()
    assert len(read_transcripts(tmp_path)) == 5


def test_threads_that_name_each_other_as_parents_end(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, **spawned(parent=THREAD.format(2)))
    write_rollout(tmp_path, thread=2, **spawned())
    assert [child.session for child in read_transcript(path).subagents] == [THREAD.format(2)]
