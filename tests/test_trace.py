"""Axes on what was done: the order of calls, limits, what is forbidden; and families of tools."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import here
from made_up import EDIT, GREP, PACKAGE, READ, RECALL, TASK, Session
from markscheme import Cell, Item, Response, load_exam, load_rubric, read_transcript
from markscheme.mark import mark_cell
from markscheme.mark.axes import Agents, CallLimit, CallOrder, ForbiddenCalls, MaxWords
from markscheme.read.tools import DEFAULT_FAMILIES, is_in_family
from markscheme.read.transcripts import Draft, read_transcripts
from markscheme.vocabulary import (
    Axis,
    CallStatus,
    DocumentError,
    FrozenDict,
    Reading,
    Status,
    Transcript,
)

ORDER = CallOrder(first="memory", then="search")
LIMIT = CallLimit(family="dispatch", by="mode", limits=FrozenDict(quick=0, medium=1, thorough=2))
NOTHING_CHANGED = ForbiddenCalls(families=("mutation",))
LOGS = Path(__file__).parent / "logs"
REAL = Path(__file__).parent.parent.parent / "shared" / "logs"


def done(*calls: Any, gap: str = "", said: str = "Done.") -> Transcript:
    """Return a session of calls: names, or names with their arguments."""
    draft = Draft()
    draft.add_prompt("Ask.")
    for number, call in enumerate(calls):
        name, given_ = (call, {}) if isinstance(call, str) else call
        draft.add_call(name, given_, id_=str(number))
        draft.add_result(str(number), CallStatus.OK)
    draft.add_text(said)
    if gap:
        draft.add_gap(gap)
    return draft.build_transcript("made-up")


def cell(axis: Axis, transcript: Transcript | None, mode: str = "quick") -> Cell:
    item = Item(id="q", prompt="Ask.", tags=FrozenDict(mode=mode))
    return mark_cell(axis, Response(reading=Reading.TEXT, text="x", transcript=transcript), item)


PROTOCOL = CallOrder(first="memory", then=("search", "explore"))


@pytest.mark.parametrize(
    "write",
    [
        "save_memory",
        "memory_save",
        "memory_update",
        "memory_delete",
        "mcp__memory__create_entities",
        "mcp__memory__add_observations",
        "mcp__mem0__add-memory",
        "mcp__openmemory__add_memories",
        "mcp__serena__write_memory",
        "serena_delete_memory",
        "createMemory",
        "remember",
        ("memory", {"command": "create", "path": "/memories/a.md"}),
        ("memory", {"action": "add", "content": "x"}),
        ("Skill", {"skill": "remember"}),
        ("Bash", {"command": "echo x >> .claude/memory/a.md"}),
        ("Bash", {"command": "rm .claude/memory/a.md"}),
        ("Write", {"file_path": "/u/.claude/memory/a.md"}),
    ],
)
def test_a_memory_write_is_no_memory_check(write: Any) -> None:
    assert cell(PROTOCOL, done(write, GREP)).value == 0
    assert cell(PROTOCOL, done(write, RECALL, GREP)).value == 1


@pytest.mark.parametrize(
    "read",
    [
        "mcp__memory__search_nodes",
        "mcp__memory__open_nodes",
        "mcp__memory_store__search_nodes",
        "memory",
        "memory_search",
        "get_saved_memories",
        "search_memories",
        "recall_memory",
        "mcp__serena__read_memory",
        ("memory", {"command": "view", "path": "/memories"}),
        ("Read", {"file_path": "/u/.claude/memory/a.md"}),
        ("Bash", {"command": "cat .claude/memory/a.md"}),
    ],
)
def test_a_memory_read_is_a_memory_check(read: Any) -> None:
    assert cell(PROTOCOL, done(read, GREP)).value == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Explore", 0),
        ("general-purpose", 0),
        (None, 0),
        ("statusline-setup", 1),
        ("memory-agent", 1),
    ],
)
def test_an_exploring_dispatch_before_the_memory_check_fails(kind: str | None, value: int) -> None:
    task = ("Task", {} if kind is None else {"subagent_type": kind, "description": "look"})
    found = cell(PROTOCOL, done(task, RECALL, GREP))
    assert found.value == value
    assert value or found.reason.startswith("explore came first: Task")
    assert cell(PROTOCOL, done(RECALL, task)).value == 1
    assert cell(PROTOCOL, done(task)).value == value


def test_a_dispatch_by_a_tool_of_any_name_counts() -> None:
    draft = Draft()
    draft.add_prompt("Ask.")
    draft.add_dispatch("explorer", draft.add_call("orchestrate", {}, id_="1"))
    draft.add_result("1", CallStatus.OK)
    draft.add_call("memory_search", {}, id_="2")
    draft.add_result("2", CallStatus.OK)
    draft.add_text("Done.")
    assert cell(PROTOCOL, draft.build_transcript("made-up")).value == 0


def test_a_dispatch_without_a_call_leaves_the_order_open() -> None:
    draft = Draft()
    draft.add_prompt("Ask.")
    draft.add_dispatch("explorer", None)
    draft.add_call("memory_search", {}, id_="2")
    draft.add_result("2", CallStatus.OK)
    draft.add_text("Done.")
    assert cell(PROTOCOL, draft.build_transcript("made-up")).status is Status.FAILED


def test_no_order_passes_on_an_incomplete_log() -> None:
    gap = "1 content block of the unknown kind `x`"
    assert cell(PROTOCOL, done(RECALL, GREP, gap=gap)).status is Status.FAILED
    assert cell(PROTOCOL, done(GREP, gap=gap)).value == 0


@pytest.mark.parametrize("axis", [ORDER, LIMIT, NOTHING_CHANGED])
def test_without_a_transcript_an_axis_abstains(axis: Axis) -> None:
    found = cell(axis, None)
    assert found.status is Status.ABSTAINED
    assert found.reason == "there is no transcript of what was done"


def test_memory_before_search_passes_and_says_which_call_came_first() -> None:
    found = cell(ORDER, done("TodoWrite", RECALL, GREP))
    assert found.value == 1
    assert found.reason == "memory came first: mcp__memory__search_nodes (call 2, ok)"


def test_search_before_memory_is_told_with_both_calls(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(Session("Ask.").calls(READ, RECALL).say(PACKAGE).text())
    found = cell(ORDER, read_transcript(log))
    assert found.value == 0
    assert found.reason == (
        "search came first: Read /repo/src/settings.py (call 1, at 10:00:01, ok); "
        "memory only then: mcp__memory__search_nodes (call 2, at 10:00:03, ok)"
    )


def test_search_without_memory_misses_and_no_search_passes() -> None:
    assert cell(ORDER, done(GREP)).reason == "no call of memory, but of search: Grep (call 1, ok)"
    assert cell(ORDER, done(GREP)).value == 0
    assert cell(ORDER, done("TodoWrite")).value == 1
    assert cell(ORDER, done()).reason == "no call of memory, and none of search"


def test_a_search_that_was_seen_first_decides_and_no_order_passes_on_an_incomplete_log() -> None:
    cut = "the log is cut off"
    assert cell(ORDER, done(RECALL, GREP, gap=cut)).status is Status.FAILED
    assert cell(ORDER, done(GREP, gap=cut)).value == 0
    assert cell(ORDER, done(gap=cut)).status is Status.FAILED


def test_a_line_that_cannot_be_read_may_hide_the_first_call(tmp_path: Path) -> None:
    lines = Session("Ask.").calls(RECALL, GREP).say(PACKAGE).text().splitlines(keepends=True)
    log = tmp_path / "s.jsonl"
    log.write_text("".join([lines[0], "{broken\n", *lines[1:]]))
    found = cell(ORDER, read_transcript(log))
    assert found.status is Status.FAILED
    assert "1 line could not be read" in found.reason


@pytest.mark.parametrize(
    ("dispatches", "mode", "value"),
    [(0, "quick", 1), (1, "quick", 0), (1, "medium", 1), (2, "medium", 0), (2, "thorough", 1)],
)
def test_dispatches_are_counted_by_mode(dispatches: int, mode: str, value: int) -> None:
    found = cell(LIMIT, done(*[TASK] * dispatches), mode)
    assert found.value == value
    assert f"{dispatches} dispatch attempt" in found.reason
    assert f"(mode: {mode})" in found.reason


def test_too_many_is_too_many_even_in_half_a_log_but_few_are_not_yet_few() -> None:
    assert cell(LIMIT, done(TASK, TASK, gap="the log is cut off"), "medium").value == 0
    assert cell(LIMIT, done(TASK, gap="the log is cut off"), "medium").status is Status.FAILED


def test_a_sub_agent_that_is_not_in_the_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(Session("Ask.").calls(TASK).say(PACKAGE).text())
    found = cell(NOTHING_CHANGED, read_transcript(log))
    assert found.value == 1
    told = "no mutation attempt; what the sub-agents of 1 dispatch did is not in the log"
    assert found.reason == told


@pytest.mark.parametrize("result", ["done", "denied", None])
def test_an_attempt_to_change_something_counts_whatever_became_of_it(
    result: str | None, tmp_path: Path
) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(Session("Ask.").call(*EDIT, result).say(PACKAGE).text())
    found = cell(NOTHING_CHANGED, read_transcript(log))
    assert found.value == 0
    status = {"done": "ok", "denied": "denied", None: "none"}[result]
    told = f"1 mutation attempt: Edit /repo/src/settings.py (call 1, at 10:00:01, {status})"
    assert found.reason == told


def test_a_call_without_a_result_hides_nothing(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(Session("Ask.").call(*GREP, None).say(PACKAGE).text())
    transcript = read_transcript(log)
    assert not transcript.complete
    shown = here("transcript", log, "--format", "json").json
    assert shown["doubts"] == list(transcript.doubts)
    assert cell(NOTHING_CHANGED, transcript).value == 1


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("rg x 2>/dev/null", 1),
        ("rg 'a > b' src", 1),
        ("cat <<'E'\nrm -rf /\nE", 1),
        ("rg x > found.txt", 0),
        ("git commit -m x", 0),
        ("bash -c 'rm x'", 0),
    ],
)
def test_shell_commands_are_told_apart_by_what_they_would_write(command: str, value: int) -> None:
    assert cell(NOTHING_CHANGED, done(("Bash", {"command": command}))).value == value


def test_agents_says_whose_calls_are_looked_at() -> None:
    path = LOGS / "claude-code" / "agents"
    ((_, transcript),) = read_transcripts(path)
    every = CallLimit(family="search", limits=0)
    own = CallLimit(family="search", limits=0, agents=Agents.MAIN)
    inner = [call.name for agent in transcript.subagents for call in agent.calls]
    assert inner
    seen = cell(every, transcript).reason
    assert "agent a1b2c3" in seen
    assert "agent a1b2c3" not in cell(own, transcript).reason


@pytest.mark.parametrize(
    ("name", "given_", "families"),
    [
        ("mcp__memory__search_nodes", {}, {"memory"}),
        ("mcp__plugin_claude-mem_mcp-search__search", {}, {"memory"}),
        ("mcp__serena__read_memory", {}, {"memory", "search"}),
        ("serena_read_memory", {}, {"memory"}),
        ("save_memory", {}, {"memory_write", "mutation"}),
        ("Skill", {"skill": "claude-mem:mem-search"}, {"memory"}),
        ("Skill", {"skill": "pdf"}, set()),
        ("Read", {"file_path": "/u/.claude/projects/x/memory/a.md"}, {"memory", "search"}),
        ("Read", {"file_path": "src/memory/heap.c"}, {"search"}),
        ("Bash", {"command": "cat ~/.claude/projects/x/memory/a.md"}, {"memory", "search"}),
        ("Grep", {"pattern": "x", "path": "/u/.claude/memory"}, {"memory", "search"}),
        ("Grep", {"pattern": "x", "path": "src/memory"}, {"search"}),
        ("Bash", {"command": "ls .claude/memory"}, {"memory", "search"}),
        ("Glob", {}, {"search"}),
        ("grep", {}, {"search"}),
        ("read_many_files", {}, {"search"}),
        ("search_file_content", {}, {"search"}),
        ("list_directory", {}, {"search"}),
        ("mcp__filesystem__read_text_file", {}, {"search"}),
        ("filesystem_list_directory", {}, {"search"}),
        ("mcp__serena__find_symbol", {}, {"search"}),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, {"search"}),
        ("shell", {"command": ["bash", "-lc", "cd x && rg foo | head"]}, {"search"}),
        ("exec_command", {"cmd": "sudo ls -la"}, {"search"}),
        ("run_shell_command", {"command": "git grep foo"}, {"search"}),
        ("Bash", {"command": "npm test | tail -5"}, set()),
        ("Bash", {"command": "npm test |& grep fail"}, set()),
        ("Bash", {"command": "true || grep x y"}, {"search"}),
        ("Bash", {"command": "echo 'grep'"}, set()),
        ("Bash", {"command": "git log"}, set()),
        ("Task", {}, {"dispatch", "explore"}),
        ("spawn_agent", {}, {"dispatch", "explore"}),
        ("transfer_to_billing", {}, {"dispatch", "explore"}),
        ("TaskCreate", {}, set()),
        ("mcp__github__create_issue", {}, {"mutation"}),
        ("mcp__memory__create_entities", {}, {"memory_write", "mutation"}),
        ("github_push_files", {}, {"mutation"}),
        ("WebFetch", {}, set()),
    ],
)
def test_the_usual_families_know_the_tools_of_the_supported_agents(
    name: str, given_: dict[str, Any], families: set[str]
) -> None:
    (call,) = done((name, given_)).calls
    assert {family for family in DEFAULT_FAMILIES if is_in_family(family, {}, call)} == families


@pytest.mark.parametrize(
    ("families", "value"),
    [
        ({"memory": ("Recall",)}, 1),
        ({"memory": {"add": ["rec*"]}}, 1),
        ({"memory": {"add": [{"tool": "recall", "argument": "*x*"}]}}, 0),
        ({"search": ["Nothing"]}, 1),
        ({"search": {"remove": ["grep"]}}, 1),
        ({}, 0),
    ],
)
def test_a_rubric_replaces_or_changes_a_family(families: dict[str, Any], value: int) -> None:
    axis = CallOrder(first="memory", then="search", tool_families=FrozenDict.freeze(families))
    assert cell(axis, done("recall", "Grep")).value == value
    plain = CallOrder(first="memory", then="search", tool_families=families)
    assert cell(plain, done("recall", "Grep")).value == value


def test_a_rubric_may_have_families_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(
        "rubric: r\ntool_families: {web: [WebFetch, 'web*']}\n"
        "axes: [{name: offline, kind: forbidden_calls, families: [web]}]\n"
    )
    (spec,) = load_rubric(path)
    assert cell(spec.axis, done("Grep")).value == 1
    found = cell(spec.axis, done("Grep", "websearch"))
    assert found.reason == "1 web attempt: websearch (call 2, ok)"


def test_families_change_the_fingerprint(tmp_path: Path) -> None:
    texts = ["", "tool_families: {memory: [x]}\n", "tool_families: {memory: [y]}\n"]
    prints = set()
    for text in texts:
        path = tmp_path / "rubric.yaml"
        axes = "axes: [{name: a, kind: call_order, first: memory, then: search}]"
        path.write_text(f"rubric: r\n{text}{axes}\n")
        prints.add(load_rubric(path).fingerprint)
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("families", "said"),
    [
        ("[]", "tool_families: must be a mapping of families"),
        ("{memory: Grep}", "tool_families.memory: must be a list of tools"),
        ("{memory: [1]}", "tool_families.memory.0: must be the name of a tool"),
        ("{memory: [{tol: x}]}", "tool_families.memory.0.tol: unknown key; allowed: tool, path"),
        ("{memory: [{tool: 1}]}", "tool_families.memory.0.tool: must be a text"),
        ("{memory: {ad: [x]}}", "tool_families.memory.ad: unknown key"),
        ("{memory: {remove: [typo]}}", "tool_families.memory.remove.0: `typo` is no usual entry"),
    ],
)
def test_what_is_wrong_with_families_is_told_once_with_its_place(
    families: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "rubric.yaml"
    order = "kind: call_order, first: memory, then: search"
    path.write_text(
        f"rubric: r\ntool_families: {families}\naxes: [{{name: a, {order}}}, {{name: b, {order}}}]"
    )
    with pytest.raises(DocumentError, match=re.escape(f"rubric.yaml:2: {said}")) as caught:
        load_rubric(path)
    assert len(caught.value.problems) == 1


def test_an_item_without_the_mode_is_refused_with_its_place(tmp_path: Path) -> None:
    exam = tmp_path / "exam.yaml"
    exam.write_text(
        "exam: e\nitems:\n- {id: a, prompt: p}\n- {id: b, prompt: q, tags: {mode: slow}}\n"
    )
    with pytest.raises(DocumentError) as caught:
        load_exam(exam, rubric="context-agent")
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == 4  # two axes go by the mode
    assert "exam.yaml:3: items.0.tags: must have `mode`; allowed: quick, medium" in told[0]
    assert "exam.yaml:4: items.1.tags: `mode: slow` has no limit" in told[2]


@given(st.lists(st.sampled_from(["memory", "Grep", "TodoWrite", "Task"]), max_size=8))
def test_the_order_is_that_of_the_first_calls(names: list[str]) -> None:
    found = cell(ORDER, done(*names))
    firsts = [name for name in names if name in {"memory", "Grep"}]
    assert found.value == (0 if firsts[:1] == ["Grep"] else 1)


def claude_samples() -> list[tuple[str, dict[str, Any]]]:
    if not (REAL / "expected.json").is_file():
        return []
    found = json.loads((REAL / "expected.json").read_text(encoding="utf-8"))
    return [(name, one["main"]) for name, one in found.items() if "main" in one]


@pytest.mark.skipif(not claude_samples(), reason="the folder with real logs is not there")
def count_wanted_mutations(name: str, wanted: dict[str, Any]) -> int:
    # The list that was made by hand leaves out one `mix format`, which rewrites files.
    formatted = "ae4a77f8" in name
    return len(wanted["mutations"]) + len(wanted["bash_mutations"]) + formatted


def test_real_logs_have_the_dispatches_and_mutations_that_were_counted_by_hand() -> None:
    for name, wanted in claude_samples():
        transcript = read_transcript(REAL / "samples" / name)
        dispatched = cell(CallLimit(family="dispatch", limits=0, agents=Agents.MAIN), transcript)
        changed = cell(ForbiddenCalls(families=("mutation",), agents=Agents.MAIN), transcript)
        for found, what, count in (
            (dispatched, "dispatch", len(wanted["dispatch"])),
            (changed, "mutation", count_wanted_mutations(name, wanted)),
        ):
            if count:
                assert found.value == 0
                assert found.reason.startswith(f"{count} {what} attempt"), name
            else:
                assert found.value != 0, (name, found.reason)
                assert (found.value == 1) is not bool(transcript.doubts), (name, found.reason)


def test_calls_in_messages_of_the_anthropic_api_are_seen(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm -rf src"}}
    messages = [
        {"role": "user", "content": "tidy up"},
        {"role": "assistant", "content": [{"type": "text", "text": "Working."}, block]},
        {"role": "assistant", "content": "Done."},
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    found = cell(NOTHING_CHANGED, read_transcript(log))
    assert found.value == 0
    assert "rm -rf src" in found.reason


@pytest.mark.parametrize(
    "block",
    [
        {"type": "call_of_a_tool", "name": "bash", "command": "rm x"},
        {"type": "something_new"},
        {"type": ["text"]},
    ],
)
def test_a_chat_log_with_blocks_of_unknown_kinds_is_incomplete(
    block: dict[str, object], tmp_path: Path
) -> None:
    messages = [
        {"role": "user", "content": "tidy up"},
        {"role": "assistant", "content": [{"type": "text", "text": "Working."}, block]},
        {"role": "assistant", "content": "Done."},
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    transcript = read_transcript(log)
    assert not transcript.complete
    shown = here("transcript", log, "--format", "json").json
    assert shown["doubts"] == list(transcript.doubts)
    assert any("content block of the unknown kind" in doubt for doubt in transcript.doubts)


def test_an_answer_without_its_calls_is_scored_and_no_check_of_calls_passes() -> None:
    transcript = read_transcript(LOGS / "claude-stream" / "result.json")
    assert cell(MaxWords(limit=10), transcript).value == 1
    for axis in (ORDER, CallLimit(family="dispatch", limits=9)):
        found = cell(axis, transcript)
        assert found.status is Status.FAILED
        assert "the log holds the answer only, not the calls before it" in found.reason
