"""Find the texts in the arguments of a tool that is not known: at any depth, in any field.

Such a tool may run what it is handed. The name of a field says whether its text is a command, code
or anything else; `unknown_tools` judges what was found.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from markscheme.read.json_fields import clean_text, parse_json, split_words

# Fields whose text is a command of a shell, or code of any language.
COMMAND_FIELDS = split_words(
    "command commands cmd cmdline script scripts argv bash shell command_line commandLine "
    "CommandLine shell_command shellCommand keystrokes"
)
CODE_FIELDS = split_words(
    "code run exec execute sql statement python python_code javascript js source expression "
    "snippet cell program function"
)
# Fields that name a program, and those that hold its words.
_PROGRAM_FIELDS = ("command", "cmd", "program", "executable", "binary", "tool", "bin")
_WORD_FIELDS = ("args", "arguments", "argv", "parameters", "params", "options", "flags")
_MAX_TEXTS = 200
_MAX_CODE_LENGTH = 100_000
_MAX_TEXT_LENGTH = 1_000
# A pair of a key and a text in JSON that is damaged or cut off, or that Python has written.
_PAIR = re.compile(
    r"""(["'])(?P<key>\w{1,60})\1\s*:\s*(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)""",
    re.DOTALL,
)
_DAMAGED_JSON = re.compile(r"\s*[{\[]\s*[\"'{\[]")


def is_damaged_json(text: str) -> bool:
    """Return whether a text that is no valid JSON looks like an object or a list of it."""
    return _DAMAGED_JSON.match(text) is not None


def read_damaged_json(text: str) -> dict[str, str]:
    """Return the texts of damaged JSON by their keys."""
    return {match["key"]: match["text"] for match in _PAIR.finditer(text[:_MAX_CODE_LENGTH])}


def get_field(path: str) -> str:
    """Return the name of the field in which a text was found."""
    return path.rpartition(".")[2].partition("#")[0]


def find_carried_texts(arguments: Any) -> dict[str, str]:
    """Return the texts in arguments by the path of their field: `args.command`.

    Several texts of one path are numbered: `steps.run#2`.
    """
    found: dict[str, str] = {}
    for path, text in _iter_texts(arguments):
        if len(found) >= _MAX_TEXTS:
            break
        number, unique = 1, path
        while unique in found:
            number += 1
            unique = f"{path}#{number}"
        limit = _MAX_CODE_LENGTH if get_field(path) in COMMAND_FIELDS | CODE_FIELDS else None
        found[clean_text(unique)] = clean_text(text[: limit or _MAX_TEXT_LENGTH])
    return found


def _iter_texts(arguments: Any) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, Any]] = [("input", arguments)]
    if isinstance(arguments, Mapping):
        waiting = [("", arguments)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            inner = parse_json(value) if value.lstrip()[:1] in {"{", "["} else None
            if isinstance(inner, dict | list):
                waiting.append((path, inner))
            elif value:
                yield path, value
        elif isinstance(value, bool | int):
            yield path, str(value)
        elif isinstance(value, Mapping):
            command = join_program(value)
            if command is not None:
                yield _join_path(path, "command"), command
            fields = [(_join_path(path, str(key)), item) for key, item in value.items()]
            waiting += reversed(fields)
        elif isinstance(value, list):
            yield from _join_words(path, value)
            waiting += reversed([(path, item) for item in value])


def _join_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def join_program(value: Mapping[Any, Any]) -> str | None:
    """Return the command that stands in two fields, such as `program` and `args`."""
    program = next((value[key] for key in _PROGRAM_FIELDS if isinstance(value.get(key), str)), None)
    words = next((value[key] for key in _WORD_FIELDS if isinstance(value.get(key), list)), None)
    if not program or not words or not all(isinstance(word, str) for word in words):
        return None
    return f"{program} {shlex.join(words)}"


def _join_words(path: str, value: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield a list of words as the command that they may be, beside each of them."""
    if len(value) > 1 and all(isinstance(word, str) for word in value):
        yield path, shlex.join(value)
