"""What a call's arguments say of its kind: files, a shell command, short texts. Not the bulk."""

from __future__ import annotations

import itertools
import re
import shlex
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from markscheme.read.json_fields import clean_text, split_words
from markscheme.vocabulary import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH_KEYS = split_words(
    "file_path filePath path absolute_path notebook_path file filename file_name target_file "
    "dir_path"
)
COMMAND_KEYS = split_words("command cmd")
_PATCH_KEYS = split_words("input patch patchText")
SHELL_PROGRAMS = split_words("bash sh zsh dash ksh fish")
_MAX_TEXT_LENGTH = 200
_MAX_TEXTS = 16
_NO_ARGUMENTS: Mapping[str, str] = FrozenDict()
_PATCHED_FILE = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)


class CallDetails(NamedTuple):
    """What is kept of a call's arguments; logs have many calls, and a tuple is made fastest."""

    paths: tuple[str, ...] = ()
    command: str | None = None
    arguments: Mapping[str, str] = _NO_ARGUMENTS


_NO_DETAILS = CallDetails()


def extract_call_details(name: str, given: Any) -> CallDetails:
    """Return the files, the shell command and the short texts in a call's arguments."""
    if isinstance(given, dict) and given:
        kept = dict(islice(_find_short_texts(given), _MAX_TEXTS))
        return CallDetails(
            tuple(_find_paths(given)),
            _find_command(given),
            FrozenDict(kept) if kept else _NO_ARGUMENTS,
        )
    if isinstance(given, str):
        paths = find_patched_files(given) if "patch" in name else ()
        return CallDetails(paths, None, FrozenDict(input=_shorten_text(given)))
    return given if isinstance(given, CallDetails) else _NO_DETAILS


def _find_command(given: dict[str, Any]) -> str | None:
    for key in COMMAND_KEYS:
        command = _parse_command(given[key]) if key in given else None
        if command is not None:
            return command
    return None


def _find_paths(given: dict[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if key in PATH_KEYS and isinstance(value, str) and value:
            yield clean_text(value)
        elif key in _PATCH_KEYS and isinstance(value, str) and "*** " in value:
            yield from find_patched_files(value)
        elif key == "changes":
            yield from _find_changed_files(value)


def _find_short_texts(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if isinstance(value, str):
            if key not in COMMAND_KEYS or _is_single_word(value):
                yield clean_text(key), _shorten_text(value)
        elif isinstance(value, int):
            yield clean_text(key), str(value)


def find_patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch of Codex's own format names."""
    return tuple(clean_text((a or b).strip()) for a, b in _PATCHED_FILE.findall(text))


def _find_changed_files(changes: Any) -> Iterator[str]:
    """Yield the files of a list of changes."""
    if isinstance(changes, list):
        paths = (change.get("path") for change in changes if isinstance(change, dict))
        yield from (clean_text(path) for path in paths if isinstance(path, str))


def _parse_command(value: Any) -> str | None:
    if isinstance(value, str) and value:
        return clean_text(value)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return clean_text(_join_command_words(value))
    return None


def _join_command_words(words: list[str]) -> str:
    """Return what a shell is told to run, or the words as one would type them."""
    if words[0].rpartition("/")[2] in SHELL_PROGRAMS:
        for flag, script in itertools.pairwise(words):
            if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
                return script
    return shlex.join(words)


def _shorten_text(value: str) -> str:
    return clean_text(
        value if len(value) <= _MAX_TEXT_LENGTH else f"{value[: _MAX_TEXT_LENGTH - 1]}…"
    )


def _is_single_word(value: Any) -> bool:
    """Say whether a command is one word, as the action of an editor tool is."""
    return isinstance(value, str) and value.replace("_", "").isalpha()
