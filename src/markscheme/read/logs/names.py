"""What the name of a log says: the item, the variant, the attempt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import PurePath

_LOG_SUFFIXES = re.compile(
    r"(?:\.(?:jsonl|ndjson|json|zst|db|sqlite|eval|traj|log))+$", re.IGNORECASE
)
_ATTEMPT_PATTERN = re.compile(
    r"(?:--|#|(?:^|[-_. ]+)(?:attempt|run|try)[-_. #]*)(?P<number>[0-9]{1,9})$", re.IGNORECASE
)
_SEPARATOR_CHARACTERS = "-_. #"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogName:
    """What a name says; `items` holds every item that it could mean.

    `rest` is what is left of the file's name, the variant where folders do not tell it.
    """

    items: tuple[str, ...] = ()
    variant: str | None = None
    attempt: int = 1
    remainder: str = ""


def parse_log_name(path: PurePath, items: Collection[str]) -> LogName:
    """Return what the path of a log says, told from the folder of logs.

    An item's id stands for itself, apart from letters and digits. A folder is the variant, else
    what is left of the name is. An attempt is written `--2`, `#2`, `attempt-2`, `run2` or `try2`.
    """
    *folders, name = path.parts
    stem = _LOG_SUFFIXES.sub("", name)
    found, rest = _extract_items(stem, items)
    if not found:
        places = [(at, _extract_items(folder, items)) for at, folder in enumerate(folders)]
        for at, (inside, left) in places:
            if inside:
                found, folders[at] = inside, left.strip(_SEPARATOR_CHARACTERS)
                break
        else:
            return LogName(variant=_choose_variant(folders, ""))
    attempt = _ATTEMPT_PATTERN.search(rest)
    if attempt is not None:
        rest = rest[: attempt.start()]
    rest = rest.strip(_SEPARATOR_CHARACTERS)
    return LogName(
        items=found,
        variant=_choose_variant(folders, rest),
        attempt=int(attempt["number"]) if attempt is not None else 1,
        remainder=rest,
    )


def _choose_variant(folders: Sequence[str], rest: str) -> str | None:
    return next((folder for folder in reversed(folders) if folder), rest or None)


def _extract_items(text: str, items: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return the items that a text names and the rest; of ids inside each other, the longest."""
    spans: dict[str, tuple[int, int]] = {}
    for item in items:
        pattern = rf"(?<![A-Za-z0-9]){re.escape(item)}(?![A-Za-z0-9])"
        match = re.search(pattern, text, re.IGNORECASE)
        if match is not None:
            spans[item] = match.span()
    found = [one for one in spans if not any(_is_within(spans[one], spans[two]) for two in spans)]
    if len(found) != 1:
        return tuple(found), text
    start, end = spans[found[0]]
    return (found[0],), f"{text[:start].rstrip(_SEPARATOR_CHARACTERS)}{text[end:]}"


def _is_within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]
