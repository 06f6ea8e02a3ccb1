"""What a call's arguments say of its kind: files, a shell command, short texts. Not the bulk."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import clean
from markscheme.vocabulary import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATHS = (
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "file",
    "filename",
    "file_name",
    "target_file",
    "dir_path",
)
COMMANDS = ("command", "cmd")
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_TEXT = 200
_TEXTS = 16
_PATCHED = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)
_EMPTY: Mapping[str, str] = Frozen()


def described(name: str, given: Any) -> tuple[tuple[str, ...], str | None, Mapping[str, str]]:
    """Return the files, the shell command and the short texts in a call's arguments."""
    if isinstance(given, str):
        return (patched(given) if "patch" in name else ()), None, _short({"input": given})
    if not isinstance(given, dict):
        return (), None, _EMPTY
    return tuple(_files(given)), _command(given), _short(given)


def patched(text: str) -> tuple[str, ...]:
    """Return the files that a patch of Codex's own format names."""
    return tuple(clean((a or b).strip()) for a, b in _PATCHED.findall(text))


def _files(given: dict[str, Any]) -> Iterator[str]:
    for key in PATHS:
        value = given.get(key)
        if isinstance(value, str) and value:
            yield clean(value)
    for key in ("input", "patch", "patchText"):
        value = given.get(key)
        if isinstance(value, str) and "*** " in value:
            yield from patched(value)
    changes = given.get("changes")
    if isinstance(changes, list):
        paths = (change.get("path") for change in changes if isinstance(change, dict))
        yield from (clean(path) for path in paths if isinstance(path, str))


def _command(given: dict[str, Any]) -> str | None:
    for key in COMMANDS:
        value = given.get(key)
        if isinstance(value, str) and value:
            return clean(value)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return clean(_script(value))
    return None


def _script(words: list[str]) -> str:
    """Return what a shell is told to run, or the words as one would type them."""
    if PurePosixPath(words[0]).name in SHELLS:
        for flag, script in itertools.pairwise(words):
            if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
                return script
    return shlex.join(words)


def _short(given: dict[str, Any]) -> Mapping[str, str]:
    kept: dict[str, str] = {}
    for key, value in given.items():
        if key in COMMANDS and key not in kept and not _is_word(value):
            continue
        if isinstance(value, str):
            kept[key] = value if len(value) <= _TEXT else f"{value[: _TEXT - 1]}…"
        elif isinstance(value, bool | int):
            kept[key] = str(value)
        if len(kept) == _TEXTS:
            break
    return Frozen({clean(key): clean(value) for key, value in kept.items()}) if kept else _EMPTY


def _is_word(value: Any) -> bool:
    """Say whether a command is one word, as the action of an editor tool is."""
    return isinstance(value, str) and value.replace("_", "").isalpha()
