"""What a call's arguments say of its kind: files, a shell command, short texts. Not the bulk."""

from __future__ import annotations

import itertools
import re
import shlex
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from markscheme.frozen import Frozen
from markscheme.read.transcripts.values import clean, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATHS = table(
    "file_path filePath path absolute_path notebook_path file filename file_name target_file "
    "dir_path"
)
COMMANDS = table("command cmd")
_PATCHES = table("input patch patchText")
SHELLS = table("bash sh zsh dash ksh fish")
_TEXT = 200
_TEXTS = 16
_EMPTY: Mapping[str, str] = Frozen()
_PATCHED = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)


class Described(NamedTuple):
    """What is kept of a call's arguments; logs have many calls, and a tuple is made fastest."""

    paths: tuple[str, ...] = ()
    command: str | None = None
    arguments: Mapping[str, str] = _EMPTY


_NOTHING = Described()


def described(name: str, given: Any) -> Described:
    """Return the files, the shell command and the short texts in a call's arguments."""
    if isinstance(given, dict) and given:
        kept = dict(islice(_texts(given), _TEXTS))
        return Described(tuple(_files(given)), _shell(given), Frozen(kept) if kept else _EMPTY)
    if isinstance(given, str):
        paths = patched(given) if "patch" in name else ()
        return Described(paths, None, Frozen(input=_cut(given)))
    return given if isinstance(given, Described) else _NOTHING


def _shell(given: dict[str, Any]) -> str | None:
    for key in COMMANDS:
        command = _command(given[key]) if key in given else None
        if command is not None:
            return command
    return None


def _files(given: dict[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if key in PATHS and isinstance(value, str) and value:
            yield clean(value)
        elif key in _PATCHES and isinstance(value, str) and "*** " in value:
            yield from patched(value)
        elif key == "changes":
            yield from _changed(value)


def _texts(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if isinstance(value, str):
            if key not in COMMANDS or _is_word(value):
                yield clean(key), _cut(value)
        elif isinstance(value, int):
            yield clean(key), str(value)


def patched(text: str) -> tuple[str, ...]:
    """Return the files that a patch of Codex's own format names."""
    return tuple(clean((a or b).strip()) for a, b in _PATCHED.findall(text))


def _changed(changes: Any) -> Iterator[str]:
    """Yield the files of a list of changes."""
    if isinstance(changes, list):
        paths = (change.get("path") for change in changes if isinstance(change, dict))
        yield from (clean(path) for path in paths if isinstance(path, str))


def _command(value: Any) -> str | None:
    if isinstance(value, str) and value:
        return clean(value)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return clean(_script(value))
    return None


def _script(words: list[str]) -> str:
    """Return what a shell is told to run, or the words as one would type them."""
    if words[0].rpartition("/")[2] in SHELLS:
        for flag, script in itertools.pairwise(words):
            if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
                return script
    return shlex.join(words)


def _cut(value: str) -> str:
    return clean(value if len(value) <= _TEXT else f"{value[: _TEXT - 1]}…")


def _is_word(value: Any) -> bool:
    """Say whether a command is one word, as the action of an editor tool is."""
    return isinstance(value, str) and value.replace("_", "").isalpha()
