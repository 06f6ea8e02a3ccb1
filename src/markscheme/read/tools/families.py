"""Families of tools: which calls read memory, search the codebase, start agents, change something.

The defaults cover the supported agents and common MCP servers. A rubric replaces a family with a
list of its own, or adds entries and removes entries. An entry is a pattern for the name of a tool,
or a mapping of patterns that must all match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from markscheme.read.tools.commands import iter_call_commands
from markscheme.read.tools.default_families import (
    DEFAULT_FAMILIES,
    EXPLORE,
    MEMORY,
    MEMORY_WRITE,
    MUTATION,
    OTHER_AGENTS,
)
from markscheme.read.tools.harmless_tools import is_harmless_tool
from markscheme.read.tools.mutations import find_mutation
from markscheme.read.tools.reading_names import is_reading_name
from markscheme.read.tools.tool_names import get_tool_kind, runs_commands
from markscheme.vocabulary import Call, FrozenDict, format_value

# A call of the second family is none of the first: a write is no check of the memory.
_EXCEPTIONS = {MEMORY: MEMORY_WRITE, EXPLORE: OTHER_AGENTS}
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ENTRY_KEYS = ("tool", "path", "argument", "argument_name", "command")
# The values of these keys may be several patterns with `|` between them, of which one must match.
_CHOICE_KEYS = ("argument_name", "command")
_CHANGE_KEYS = ("add", "remove")


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
