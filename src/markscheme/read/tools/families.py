"""Families of tools: which calls read memory, search the codebase, start agents, change something.

The defaults cover the supported agents and common MCP servers. A rubric replaces a family with a
list of its own, or adds entries and removes entries. An entry is a pattern for the name of a tool,
or a mapping of patterns that must all match.

`find_attempts` lists what an agent attempted with the tools of some families: its calls, dispatches
and mutations, in one order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from markscheme.read.tools.commands import iter_call_commands
from markscheme.read.tools.harmless_tools import is_harmless_tool
from markscheme.read.tools.memory_writes import MEMORY_WRITES
from markscheme.read.tools.mutations import find_mutation
from markscheme.read.tools.reading_names import is_reading_name
from markscheme.read.tools.tool_names import get_tool_kind, runs_commands
from markscheme.vocabulary import (
    MAIN_AGENT,
    Call,
    CallStatus,
    Dispatch,
    FrozenDict,
    Transcript,
    format_value,
)

MEMORY, SEARCH, DISPATCH, MUTATION = "memory", "search", "dispatch", "mutation"
MEMORY_WRITE, EXPLORE, OTHER_AGENTS = "memory_write", "explore", "other_agents"
# A call of the second family is none of the first: a write is no check of the memory.
_EXCEPTIONS = {MEMORY: MEMORY_WRITE, EXPLORE: OTHER_AGENTS}
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ENTRY_KEYS = ("tool", "path", "argument", "argument_name", "command")
# The values of these keys may be several patterns with `|` between them, of which one must match.
_CHOICE_KEYS = ("argument_name", "command")
_CHANGE_KEYS = ("add", "remove")
_MEMORY_FILES = (
    "*/memory/*.md",
    "*/memories/*",
    "*/memory.md",
    "memory.md",
    "memory/*.md",
    "*/.serena/memories*",
    "*/.claude/*memory*",
    ".serena/memories*",
    ".claude/*memory*",
)
_READ_TOOLS = ("read*", "view", "grep", "glob", "ls", "list*")
_READ_PROGRAMS = (
    "cat bat batcat tac head tail less more nl sed gsed awk gawk mawk ls eza exa tree find fd "
    "fdfind rg grep egrep fgrep zgrep ag ack ug ugrep jq yq strings xxd hexdump od "
    "zcat ast-grep sg get-content gc get-childitem gci select-string sls findstr"
)
# Programs that show what is in a file, or that it is there; `echo memory.md` reads no memory.
_MEMORY_PROGRAMS = "|".join(
    [
        *_READ_PROGRAMS.split(),
        *("view", "glow", "mdcat", "type", "git grep", "git show"),
    ]
)
# Where a dispatch has the kind of its agent.
_AGENT_KEYS = "*agent*|name|type|kind|role|mode"


def _split_names(text: str) -> list[str]:
    return text.split()


_DISPATCH_TOOLS = (
    *_split_names("task agent workflow spawn_agent dispatch_agent run_subagent new_task"),
    *_split_names("delegate_task transfer_to_* delegate_to_* delegate_work_to_*"),
)
_WRITE_VERBS = _split_names(
    "add append apply archive assign cancel clear close comment commit copy create delete deploy "
    "destroy disable drop duplicate edit enable fork import insert invite kill merge modify move "
    "patch pause post publish purge push put remove rename reopen replace reply reset resolve "
    "restore resume revert revoke save schedule send set stop store submit terminate transfer "
    "trash trigger truncate unarchive unassign update upload upsert write"
)
# Verbs with which the name of a tool of no server begins. Those of `add_numbers` and `set_mode` say
# too little.
_FIRST_VERBS = _split_names(
    "append approve archive assign cancel commit create delete deploy destroy drop edit grant "
    "insert install invite merge migrate modify move overwrite patch post provision publish purge "
    "push remove rename restart revert revoke rollback save schedule send terminate trash "
    "trigger truncate uninstall update upload upsert wipe write"
)
# Verbs that are hardly ever the last word of a tool that reads.
_LAST_VERBS = _split_names(
    "write create update delete remove save insert upload append edit publish send add upsert post"
)
_SERVERS = _split_names(
    "slack notion linear jira confluence gitlab github gmail airtable asana hubspot trello discord "
    "supabase stripe sentry calendar drive sheets docs outlook teams zendesk shopify figma vercel "
    "netlify cloudflare kubernetes k8s docker aws gcp azure postgres mysql mongodb redis neon "
    "prisma "
    "filesystem obsidian todoist clickup monday bitbucket telegram whatsapp twitter atlassian"
)
_MEMORY_VERBS = _split_names(
    "save update delete store write add create append remove insert set put edit rename forget "
    "clear "
    "upsert replace import"
)
_MEMORY_NOUNS = _split_names("memory memories observations entities relations nodes")


DEFAULT_FAMILIES: Mapping[str, tuple[Any, ...]] = {
    MEMORY: (
        # memory, mcp__memory__search_nodes, serena_read_memory
        "*memor*",
        "*mem0*",
        "*claude-mem*",
        "*claude_mem*",
        "mem-search",
        "mem_search",
        "*graphiti*",
        {"tool": "skill", "argument": "*mem*"},
        *({"tool": tool, "path": path} for tool in _READ_TOOLS for path in _MEMORY_FILES),
        *({"command": _MEMORY_PROGRAMS, "path": path} for path in _MEMORY_FILES),
    ),
    SEARCH: (
        # Claude Code, OpenCode, Codex, Gemini CLI, and agents with tools of the same names
        *_split_names("glob grep ls list read notebookread read_file read_files read_many_files"),
        *_split_names(
            "list_dir list_directory list_files grep_files grep_search search_file_content"
        ),
        *_split_names("file_search search_files codebase_search codesearch find_file find_files"),
        *_split_names("search_file search_dir open view lsp view_file"),
        *_split_names("semsearch search_codebase read_files"),
        *({"tool": tool, "command": "view"} for tool in ("str_replace_*", "text_editor")),
        # MCP servers for files, symbols and code hosts; OpenCode writes the names without `mcp__`
        *_split_names("mcp__*__read_* mcp__*__list_dir* mcp__*__search_files mcp__*__search_code"),
        *_split_names("mcp__*__directory_tree mcp__*__get_file_contents mcp__*__find_file"),
        *_split_names(
            "mcp__*__find_symbol mcp__*__find_referencing_* mcp__*__get_symbols_overview"
        ),
        *_split_names("mcp__*__search_for_pattern filesystem_read_* filesystem_list_*"),
        *_split_names(
            "filesystem_search_files filesystem_directory_tree serena_find_* serena_list_dir"
        ),
        *_split_names("serena_search_for_pattern serena_get_symbols_overview serena_read_file"),
        *({"command": program} for program in _split_names(_READ_PROGRAMS)),
        *({"command": f"git {verb}"} for verb in ("grep", "ls-files", "ls-tree", "show", "blame")),
    ),
    DISPATCH: _DISPATCH_TOOLS,
    # An agent explores unless it is known for something else.
    EXPLORE: _DISPATCH_TOOLS,
    OTHER_AGENTS: (
        *(
            {"argument_name": _AGENT_KEYS, "argument": kind}
            for kind in _split_names(
                "statusline-setup output-style-setup memory memory-* *:memory-* mem-search "
                "test-runner tester writer code-writer"
            )
        ),
        *_split_names("transfer_to_memory* delegate_to_memory*"),
    ),
    MEMORY_WRITE: MEMORY_WRITES,
    MUTATION: (
        # Tools of MCP servers that write; OpenCode writes the names without `mcp__`
        *(f"mcp__*__{verb}_*" for verb in _WRITE_VERBS),
        *(f"mcp__*__{verb}-*" for verb in _WRITE_VERBS),
        *(f"mcp__*__{verb}" for verb in _WRITE_VERBS),
        *(f"mcp__*__*_{verb}" for verb in _LAST_VERBS),
        *(f"{verb}_*" for verb in _FIRST_VERBS),
        *(f"{verb}-*" for verb in _FIRST_VERBS),
        *_split_names("cron_create cron_delete remote_trigger"),
        # Servers that begin each name with their own: slack_post_message
        *(f"*{server}_{verb}_*" for server in _SERVERS for verb in _WRITE_VERBS),
        *(f"*{server}-{verb}-*" for server in _SERVERS for verb in _WRITE_VERBS),
        *_split_names("issue_write sub_issue_write *__merge_pull_request *_apply_migration"),
        *_split_names("apply_migration deploy_* *_deploy_* send_email send_message post_message"),
        *_split_names("*_write_file *_edit_file *_create_file *_delete_file *_move_file"),
        *_split_names(
            "*_create_directory *_create_text_file *_replace_symbol_body *_insert_*_symbol"
        ),
        *_split_names(
            "github_create_* github_update_* github_push_* github_delete_* github_merge_*"
        ),
        # Memory servers, with the verb before the noun or after it
        *(f"*{noun}_{verb}*" for noun in ("memory", "memories") for verb in _MEMORY_VERBS),
        *(f"*{verb}_{noun}" for noun in _MEMORY_NOUNS for verb in _MEMORY_VERBS),
        *(
            f"{noun}{sign}{verb}"
            for noun in ("mem0", "mem")
            for sign in "_-"
            for verb in _MEMORY_VERBS
        ),
        *_split_names("remember forget remember_* *__remember *__forget *graphiti*__add_*"),
    ),
}


class CallMatcher(Struct, frozen=True, kw_only=True):
    """Patterns that a call must match: its tool, a path, an argument, a shell command.

    With `skips_known_tools`, no pattern matches a tool whose name says that it reads, or which is
    known, so that its arguments are judged.
    """

    tool: re.Pattern[str] | None = None
    path: re.Pattern[str] | None = None
    argument: re.Pattern[str] | None = None
    argument_name: re.Pattern[str] | None = None
    command: re.Pattern[str] | None = None
    skips_known_tools: bool = False

    def matches_call(self, call: Call) -> bool:
        """Return whether a call matches all patterns that are set."""
        if not self._matches_tool(call.name) or not self._matches_argument(call.arguments):
            return False
        if self.command is None:
            return self.path is None or _matches_any(self.path, call.paths)
        return self.find_command(call) is not None

    def find_command(self, call: Call) -> int | None:
        """Return which simple command of a call is the first that matches."""
        if call.command is None or (self.tool is None and not runs_commands(call.name)):
            return None
        commands = enumerate(iter_call_commands(call))
        return next((at for at, words in commands if self._matches_command(words)), None)

    def _matches_tool(self, name: str) -> bool:
        if self.tool is None:
            return True
        spelt = [name.casefold()]
        # `deleteFile` is `delete_file`; the names of agents' own tools stay as they are.
        if not is_harmless_tool(name):
            spelt.append(_CAPITAL.sub("_", name).casefold())
        if not any(map(self.tool.fullmatch, spelt)):
            return False
        return not (self.skips_known_tools and _is_known_tool(name, spelt))

    def _matches_argument(self, arguments: Mapping[str, str]) -> bool:
        """Return whether one argument matches both patterns, `argument` and `argument_name`."""
        if self.argument is None and self.argument_name is None:
            return True
        return any(
            (self.argument_name is None or _matches_any(self.argument_name, [name]))
            and (self.argument is None or _matches_any(self.argument, [value]))
            for name, value in arguments.items()
        )

    def _matches_command(self, words: list[str]) -> bool:
        """Return whether a simple command matches `command` and, with any of its words, `path`."""
        names = (words[0], " ".join(words[:2]))
        if self.command is None or not _matches_any(self.command, names):
            return False
        return self.path is None or _matches_any(self.path, words[1:])


def _is_known_tool(name: str, spelt: Iterable[str]) -> bool:
    return get_tool_kind(name) is not None or any(map(is_reading_name, spelt))


def _matches_any(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.fullmatch(text.casefold().replace("\\", "/")) for text in texts)


def is_in_family(family: str, overrides: Mapping[str, Any], call: Call) -> bool:
    """Return whether a call is of a family; `overrides` is what the rubric says about families.

    A call that writes to a memory or changes something is no reading of a memory.
    """
    if not _matches_family(family, overrides, call):
        return False
    if family in _EXCEPTIONS and _matches_family(_EXCEPTIONS[family], overrides, call):
        return False
    return family != MEMORY or find_mutation(call) is None


def find_first_family(
    families: Sequence[str], overrides: Mapping[str, Any], call: Call
) -> str | None:
    """Return the family of a call; if it is of several, the one whose command it runs first.

    `rg x src; cat .claude/memory/a.md` is a search before it is a check of the memory. Between
    families whose commands cannot be told apart, the first that is named counts.
    """
    found = [family for family in families if is_in_family(family, overrides, call)]
    if len(found) > 1 and call.command is not None:
        return min(found, key=lambda family: _find_first_command(family, overrides, call))
    return found[0] if found else None


def _find_first_command(family: str, overrides: Mapping[str, Any], call: Call) -> int:
    """Return the number of the simple command that makes a call one of a family, or -1."""
    matchers = _build_matchers(family, FrozenDict.freeze(overrides.get(family)))
    commands = [
        -1 if matcher.command is None else matcher.find_command(call)
        for matcher in matchers
        if matcher.matches_call(call)
    ]
    return min((command for command in commands if command is not None), default=-1)


def _matches_family(family: str, overrides: Mapping[str, Any], call: Call) -> bool:
    return any(
        matcher.matches_call(call)
        for matcher in _build_matchers(family, FrozenDict.freeze(overrides.get(family)))
    )


def list_families(overrides: Mapping[str, Any]) -> list[str]:
    """Return the names of all families: the default ones, and those of the rubric."""
    return list(dict.fromkeys(chain(DEFAULT_FAMILIES, overrides)))


@lru_cache(maxsize=256)
def _build_matchers(family: str, override: Any) -> tuple[CallMatcher, ...]:
    defaults, added = _resolve_entries(family, override)
    # What a rubric names counts, whatever the name says.
    return (
        *_build_entry_matchers(defaults, skips_known_tools=family == MUTATION),
        *_build_entry_matchers(added),
    )


def _build_entry_matchers(
    entries: Iterable[Any], *, skips_known_tools: bool = False
) -> Iterator[CallMatcher]:
    """Yield matchers for entries; most only name a tool, and one for all of them is much faster."""
    folded = [_fold_entry(entry) for entry in entries]
    names = [entry["tool"] for entry in folded if entry.keys() == {"tool"}]
    if names:
        yield CallMatcher(tool=_compile_choices(names), skips_known_tools=skips_known_tools)
    for entry in folded:
        if entry.keys() != {"tool"}:
            patterns = {key: _compile_entry(key, text) for key, text in entry.items()}
            yield replace(CallMatcher(), **patterns)


def _compile_entry(key: str, text: str) -> re.Pattern[str]:
    return _compile_choices(text.split("|") if key in _CHOICE_KEYS else [text])


def _compile_choices(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{translate(pattern)})" for pattern in patterns))


def _resolve_entries(family: str, override: Any) -> tuple[Iterable[Any], Iterable[Any]]:
    """Return the entries of a family: the default ones that are left, and those of the rubric."""
    defaults = DEFAULT_FAMILIES.get(family, ())
    if override is None:
        return defaults, ()
    if not isinstance(override, Mapping):
        return (), tuple(override)
    removed = [_fold_entry(entry) for entry in override.get("remove", ())]
    kept = [entry for entry in defaults if _fold_entry(entry) not in removed]
    return kept, override.get("add", ())


def _fold_entry(entry: Any) -> dict[str, str]:
    """Return an entry as a mapping of patterns in lower case."""
    if isinstance(entry, str):
        return {"tool": entry.casefold()}
    return {key: str(value).casefold() for key, value in entry.items()}


def find_family_problems(overrides: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield (path, message) for each mistake in what a rubric says about families."""
    if not isinstance(overrides, Mapping):
        yield (), f"must be a mapping of families to lists of tools, not {format_value(overrides)}"
        return
    for family, override in overrides.items():
        if not isinstance(override, Mapping):
            yield from _find_entry_problems(override, (family,))
            continue
        for key, entries in override.items():
            if key not in _CHANGE_KEYS:
                yield (family, key), "unknown key; a family is a list, or has `add` and `remove`"
            else:
                yield from _find_entry_problems(entries, (family, key))
                if key == "remove":
                    yield from _find_absent_entries(family, entries)


def _find_entry_problems(entries: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    if not isinstance(entries, list | tuple):
        needed = "must be a list of tools"
        yield path, f"{needed}, not {format_value(entries)}; for example [Grep, Glob]"
        return
    for index, entry in enumerate(entries):
        if isinstance(entry, str) and entry:
            continue
        if not isinstance(entry, Mapping) or not entry:
            allowed = f"must be the name of a tool, or a mapping with {', '.join(ENTRY_KEYS)}"
            yield (*path, index), f"{allowed}; not {format_value(entry)}"
            continue
        for key, text in entry.items():
            if key not in ENTRY_KEYS:
                yield (*path, index, key), f"unknown key; allowed: {', '.join(ENTRY_KEYS)}"
            elif not isinstance(text, str) or not text:
                needed = "must be a text with * for anything"
                yield (*path, index, key), f"{needed}, not {format_value(text)}"


def _find_absent_entries(family: str, entries: Any) -> Iterator[tuple[Any, str]]:
    """Yield the entries to remove that are no default entries: a typo would change nothing."""
    defaults = [_fold_entry(entry) for entry in DEFAULT_FAMILIES.get(family, ())]
    for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        if isinstance(entry, str | Mapping) and entry and _fold_entry(entry) not in defaults:
            message = f"{format_value(entry)} is no usual entry of `{family}`"
            yield (family, "remove", index), message


_MAX_LINE_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAttempt:
    """One attempt: the tool, its target, the status, and the call and agent that made it.

    Its text is the evidence that a cell quotes; there, calls are counted from 1 as in the timeline.
    """

    name: str
    target: str | None = None
    status: CallStatus | None = None
    call: int | None = None
    agent: str = MAIN_AGENT
    at: datetime | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" {_shorten_line(self.target)}"
        details = [
            None if self.call is None else f"call {self.call + 1}",
            None if self.at is None else f"at {self.at:%H:%M:%S}",
            "status unknown" if self.status is None else self.status.value,
            None if self.agent == MAIN_AGENT else f"agent {self.agent}",
        ]
        return f"{_shorten_line(self.name)}{target} ({', '.join(filter(None, details))})"


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"


def iter_calls(transcript: Transcript, *, nested: bool) -> Iterator[Call]:
    """Yield the calls of an agent in order; `nested`: those of a sub-agent after its dispatch."""
    inner = {child.agent: child for child in transcript.subagents} if nested else {}
    started = {dispatch.call: dispatch.agent for dispatch in transcript.dispatches}
    for call in transcript.calls:
        yield call
        child = inner.pop(started.get(call.index) or "", None)
        if child is not None:
            yield from iter_calls(child, nested=True)
    # Sub-agents that no call of the log has started come last.
    for child in inner.values():
        yield from iter_calls(child, nested=True)


def build_attempt(call: Call) -> ToolAttempt:
    """Return a call as an attempt."""
    target = ", ".join(call.paths) or call.command or None
    return _build_call_attempt(call, call.name, target)


def find_attempts(
    transcript: Transcript, families: Sequence[str], overrides: Mapping[str, Any]
) -> list[ToolAttempt]:
    """Return what an agent attempted with tools of these families, in the order of its calls.

    The families `dispatch` and `mutation` hold the dispatches and mutations of the transcript, and
    the calls whose tool is in the family. `overrides` is what the rubric says about families.
    """
    attempts: dict[object, ToolAttempt] = {}
    if DISPATCH in families:
        for position, dispatch in enumerate(transcript.dispatches):
            key = ("dispatch", position) if dispatch.call is None else dispatch.call
            attempts[key] = _build_dispatch_attempt(transcript, dispatch)
    if MUTATION in families:
        for change in transcript.mutations:
            call = transcript.calls[change.call]
            attempts.setdefault(change.call, _build_call_attempt(call, change.name, change.target))
    for call in transcript.calls:
        if call.index not in attempts and any(
            is_in_family(family, overrides, call) for family in families
        ):
            attempts[call.index] = build_attempt(call)
    return sorted(
        attempts.values(), key=lambda attempt: -1 if attempt.call is None else attempt.call
    )


def _build_dispatch_attempt(transcript: Transcript, dispatch: Dispatch) -> ToolAttempt:
    agent, status = transcript.agent, dispatch.status
    if dispatch.call is None:
        return ToolAttempt(name=dispatch.kind or "sub-agent", status=status, agent=agent)
    call = transcript.calls[dispatch.call]
    return ToolAttempt(
        name=call.name,
        target=dispatch.kind,
        status=status,
        call=dispatch.call,
        agent=agent,
        at=call.started,
    )


def _build_call_attempt(call: Call, name: str, target: str | None) -> ToolAttempt:
    return ToolAttempt(
        name=name,
        target=target,
        status=call.status,
        call=call.index,
        agent=call.agent,
        at=call.started,
    )
