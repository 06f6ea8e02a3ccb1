"""Extract files, the shell command and short texts from the arguments of a call; drop the bulk."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from markscheme.read.json_fields import clean_text, parse_json, split_words
from markscheme.read.tools.carried_texts import (
    find_carried_texts,
    is_damaged_json,
    join_program,
    read_damaged_json,
)
from markscheme.read.tools.harmless_tools import is_harmless_tool
from markscheme.read.tools.tool_names import (
    ToolKind,
    get_tool_kind,
    is_ordinary_word,
    may_lack_command,
)
from markscheme.vocabulary import FrozenDict

PATH_KEYS = split_words(
    "file_path filePath path absolute_path notebook_path file filename file_name target_file "
    "dir_path absolutePath"
)
COMMAND_KEYS = split_words("command cmd")
# The key of the action of an editor tool, and where other tools have their command, code or SQL.
EDITOR_ACTION_KEY = "command"
_SHELL_KEYS = (
    *("command", "cmd", "CommandLine", "commandLine", "command_line", "shell_command", "script"),
    *("commands", "argv", "input", "text", "bash", "code", "cmdline"),
)
_CODE_KEYS = {
    ToolKind.SHELL: _SHELL_KEYS,
    ToolKind.POWERSHELL: _SHELL_KEYS,
    ToolKind.TERMINAL_INPUT: ("chars", "input", "text", "keys", "data", "command"),
    ToolKind.SQL: ("sql", "query", "statement", "sql_query", "queries", "command"),
    ToolKind.QUERY: ("sql", "query", "statement"),
    ToolKind.PYTHON: (
        *("code", "script", "python_code", "source", "python", "input", "command"),
        *("query", "__arg1"),
    ),
    ToolKind.NOTEBOOK: ("code", "cell", "source", "script", "input", "command"),
    ToolKind.JAVASCRIPT: ("code", "script", "source", "input", "command", "function"),
    ToolKind.OTHER: ("script", "code", "command", "input"),
}
# Where a tool that is not known may have a command.
_UNKNOWN_TOOL_KEYS = ("script", "commands", "argv", "bash", "cmdline", "code")
_LIST_OF_COMMANDS_KEY = "commands"
_SHELL_KINDS = frozenset({ToolKind.SHELL, ToolKind.POWERSHELL})
_PATCH_KEYS = split_words("input patch patchText")
SHELL_PROGRAMS = split_words("bash sh zsh dash ksh fish")
_MAX_TEXT_LENGTH = 200
_MAX_TEXTS = 16
_NO_ARGUMENTS: Mapping[str, str] = FrozenDict()
_PATCHED_FILE = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)


class CallDetails(NamedTuple):
    """What is kept of a call's arguments. Logs have many calls, and a tuple is built fastest."""

    paths: tuple[str, ...] = ()
    command: str | None = None
    arguments: Mapping[str, str] = _NO_ARGUMENTS


_NO_DETAILS = CallDetails()


def extract_call_details(name: str, arguments: Any) -> CallDetails:
    """Return the files, the shell command and the short texts in a call's arguments.

    Details that were extracted before are returned as they are.
    """
    if isinstance(arguments, CallDetails):
        return arguments
    kind = get_tool_kind(name)
    if isinstance(arguments, str):
        arguments = _read_text_arguments(arguments)
    if isinstance(arguments, str):
        return _extract_text_details(name, kind, arguments)
    command = _find_command(arguments, kind, name) if isinstance(arguments, dict) else None
    is_unknown = _is_unknown_tool(name, kind) or (command is None and is_ordinary_word(name))
    if isinstance(arguments, list) and is_unknown:
        arguments = {"arguments": arguments}
    if not isinstance(arguments, dict) or not arguments:
        return _NO_DETAILS
    if is_unknown:
        texts = find_carried_texts(arguments)
    else:
        texts = dict(islice(_find_short_texts(arguments), _MAX_TEXTS))
    return CallDetails(
        tuple(_find_paths(arguments)),
        command,
        FrozenDict(texts) if texts else _NO_ARGUMENTS,
    )


def _is_unknown_tool(name: str, kind: ToolKind | None) -> bool:
    return kind is None and bool(name) and not is_harmless_tool(name)


def _read_text_arguments(text: str) -> Any:
    """Return arguments that were written as JSON once more, else the text."""
    if text.lstrip()[:1] not in {"{", "[", '"'}:
        return text
    parsed = parse_json(text)
    inner = parse_json(parsed) if isinstance(parsed, str) else parsed
    return inner if isinstance(inner, dict | list) else text


def _extract_text_details(name: str, kind: ToolKind | None, text: str) -> CallDetails:
    """Return the details of a call whose arguments are one text, such as a patch or a command."""
    paths = find_patched_files(text) if "patch" in name else ()
    if _is_unknown_tool(name, kind):
        pairs = read_damaged_json(text) if is_damaged_json(text) else None
        return CallDetails(paths, None, FrozenDict(find_carried_texts(pairs or text)))
    if kind in _CODE_KEYS and is_damaged_json(text):
        command = _find_command(dict(read_damaged_json(text)), kind, name)
    else:
        is_command = kind in _CODE_KEYS and not may_lack_command(name)
        command = clean_text(text) if is_command and text else None
    return CallDetails(paths, command, FrozenDict(input=_shorten_text(text)))


def _find_command(arguments: dict[str, Any], kind: ToolKind | None, name: str) -> str | None:
    """Return the command of a shell tool, or the code or SQL of another tool that runs it."""
    joined = join_program(arguments) if kind in _SHELL_KINDS else None
    if joined is not None:
        return clean_text(joined)
    for key in _CODE_KEYS.get(kind, ()) if kind is not None else ():
        command = _parse_command(arguments[key], key) if key in arguments else None
        if command is not None or arguments.get(key) == "":
            return command or ""
    is_unknown = _is_unknown_tool(name, kind)
    for key in (*COMMAND_KEYS, *_UNKNOWN_TOOL_KEYS) if is_unknown else COMMAND_KEYS:
        command = _parse_command(arguments[key], key) if key in arguments else None
        if command is not None:
            return command
    return None


def _find_paths(arguments: dict[str, Any]) -> Iterator[str]:
    for key, value in arguments.items():
        if key in PATH_KEYS and isinstance(value, str) and value:
            yield clean_text(value)
        elif key in _PATCH_KEYS and isinstance(value, str) and "*** " in value:
            yield from find_patched_files(value)
        elif key == "changes" and isinstance(value, list):
            changed = (change.get("path") for change in value if isinstance(change, dict))
            yield from (clean_text(path) for path in changed if isinstance(path, str))


def _find_short_texts(arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in arguments.items():
        if isinstance(value, str):
            # The `command` of an editor tool is one word: the action. Others are shell commands.
            if key not in COMMAND_KEYS or value.replace("_", "").isalpha():
                yield clean_text(key), _shorten_text(value)
        elif isinstance(value, int):
            yield clean_text(key), str(value)


def find_patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch in the format of Codex names."""
    return tuple(clean_text((a or b).strip()) for a, b in _PATCHED_FILE.findall(text))


def _parse_command(value: Any, key: str) -> str | None:
    if isinstance(value, str) and value:
        return clean_text(value)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        joined = _join_command_words(value)
        if key != _LIST_OF_COMMANDS_KEY or joined in value:
            return clean_text(joined)
        return clean_text(_join_commands(value, joined))
    if isinstance(value, list) and key == _LIST_OF_COMMANDS_KEY:
        lines = filter(None, map(_parse_listed_command, value))
        return "\n".join(lines) or None
    return None


def _parse_listed_command(value: Any) -> str | None:
    """Return one command of a list: a text, its words, or a mapping that holds it."""
    if not isinstance(value, dict):
        return _parse_command(value, "")
    keys = (key for key in _SHELL_KEYS if key in value)
    return next(filter(None, (_parse_command(value[key], "") for key in keys)), None)


def _join_commands(commands: list[str], joined: str) -> str:
    """Return a list of commands, one in a line; it may also be the words of one command."""
    lines = "\n".join(commands)
    if len(commands) == 1 or any(character.isspace() for character in commands[0]):
        return lines
    return joined if commands[1].startswith("-") else f"{joined}\n{lines}"


def _join_command_words(words: list[str]) -> str:
    """Return the script of `bash -lc SCRIPT`, else the words quoted as one would type them."""
    if words[0].rpartition("/")[2] in SHELL_PROGRAMS:
        for flag, script in itertools.pairwise(words):
            if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
                return script
    return shlex.join(words)


def _shorten_text(value: str) -> str:
    return clean_text(
        value if len(value) <= _MAX_TEXT_LENGTH else f"{value[: _MAX_TEXT_LENGTH - 1]}…"
    )
