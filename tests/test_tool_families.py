"""Families of tools: what their names and arguments say, and which command of a call came first."""

from __future__ import annotations

from typing import Any

import pytest

from markscheme import Item, Response, Transcript
from markscheme.mark import mark_cell
from markscheme.mark.axes import CallOrder
from markscheme.read.tools import DEFAULT_FAMILIES, is_in_family
from markscheme.read.transcripts import Draft
from markscheme.vocabulary import CallStatus, Reading

PROTOCOL = CallOrder(first="memory", then=("search", "explore"))
RECALL: tuple[str, Any] = ("mcp__memory__search_nodes", {})


def run_calls(*calls: tuple[str, Any]) -> Transcript:
    draft = Draft()
    draft.add_prompt("Where is it?")
    for name, arguments in calls:
        draft.add_call(name, arguments).set_outcome(CallStatus.OK)
    draft.add_text("There.")
    return draft.build_transcript("made-up")


def list_families_of(tool: str, **arguments: Any) -> set[str]:
    (call,) = run_calls((tool, arguments)).calls
    return {family for family in DEFAULT_FAMILIES if is_in_family(family, {}, call)}


def checks_memory_first(*calls: tuple[str, Any]) -> bool:
    response = Response(reading=Reading.TEXT, text="There.", transcript=run_calls(*calls))
    return mark_cell(PROTOCOL, response, Item(id="a", prompt="Where is it?")).value == 1


@pytest.mark.parametrize(
    "name",
    [
        *("deploy_status", "get_deploy_logs", "mcp__vercel__list_deploy_hooks"),
        *("mcp__linear__comment_list", "remember_search", "mcp__github__list_commits"),
    ],
)
def test_a_tool_that_is_named_for_reading_is_no_mutation(name: str) -> None:
    assert "mutation" not in list_families_of(name)


@pytest.mark.parametrize(
    "name",
    [
        *("mcp__trello__create_list", "mcp__trello__copy_list", "mcp__x__status_update"),
        *("deploy_search_service", "mcp__x__post_status", "mcp__x__delete_search", "deploy_app"),
        *("mcp__linear__comment_on_list", "remember_this"),
    ],
)
def test_a_tool_that_is_named_for_writing_first_is_a_mutation(name: str) -> None:
    assert "mutation" in list_families_of(name)


def test_what_a_rubric_names_is_a_mutation_whatever_the_name_says() -> None:
    (call,) = run_calls(("deploy_status", {})).calls
    assert is_in_family("mutation", {"mutation": {"add": ["deploy_*"]}}, call)
    assert is_in_family("mutation", {"mutation": ["deploy_*"]}, call)


def test_only_the_kind_of_an_agent_says_what_it_is_for() -> None:
    described = {"subagent_type": "Explore", "description": "writer"}
    assert list_families_of("Task", **described) == {"dispatch", "explore"}
    for key in ("subagent_type", "agent_type", "agentName", "name"):
        assert list_families_of("Task", **{key: "writer"}) == {"dispatch", "other_agents"}
    assert not checks_memory_first(("Task", described), RECALL)


def test_only_the_action_of_a_memory_tool_says_that_it_writes() -> None:
    assert list_families_of("mcp__memory__search_nodes", query="commit") == {"memory"}
    assert list_families_of("memory", command="view") == {"memory"}
    for key in ("command", "action", "operation"):
        assert list_families_of("memory", **{key: "create"}) == {"memory_write"}


@pytest.mark.parametrize("program", ["cat", "head -5", "rg auth", "git show HEAD:", "Get-Content"])
def test_a_program_that_reads_a_file_of_the_memory_reads_the_memory(program: str) -> None:
    assert "memory" in list_families_of("Bash", command=f"{program} .claude/memory/a.md")


@pytest.mark.parametrize("command", ["echo memory.md", "true memory.md", "make memory.md"])
def test_a_program_that_reads_no_file_reads_no_memory(command: str) -> None:
    assert "memory" not in list_families_of("Bash", command=command)


def test_within_one_call_the_first_command_counts() -> None:
    look, recall = "rg foo src", "cat .claude/memory/a.md"
    assert not checks_memory_first(("Bash", {"command": f"{look}; {recall}"}))
    assert not checks_memory_first(("Bash", {"command": f"bash -c '{look} && {recall}'"}))
    assert checks_memory_first(("Bash", {"command": f"{recall}; {look}"}))
    assert checks_memory_first(("Bash", {"command": recall}))


def test_a_pattern_may_name_the_argument_and_several_programs() -> None:
    (call,) = run_calls(("Lookup", {"scope": "notes", "query": "code"})).calls
    for scope, expected in (("notes", True), ("code", False)):
        entry = {"tool": "lookup", "argument_name": "scope|area", "argument": scope}
        assert is_in_family("wiki", {"wiki": [entry]}, call) is expected
    (call,) = run_calls(("Bash", {"command": "rg foo"})).calls
    assert is_in_family("look", {"look": [{"command": "ag|rg"}]}, call)
