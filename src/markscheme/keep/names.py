"""How a run is called: by its id, as git calls commits, by `latest`, or by a tag."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from markscheme.errors import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN_NAME_FORMS = "an id (at least 4 of its characters), `latest`, `latest~1`, or a tag"
# Patterns that are compiled where they are used: most commands name no run.
_LATEST_PATTERN = r"latest(?:~([0-9]{1,9}))?"
_ID_PREFIX_PATTERN = r"[0-9a-f]{4,12}"
_TAG_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ID_BYTES = 6
RESULT_FILE_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
)  # what ends like this is the name of a result file


def generate_id() -> str:
    """Return twelve random hexadecimal digits: a few of them are enough to type."""
    return os.urandom(_ID_BYTES).hex()


def parse_latest(name: str) -> int | None:
    """Return 0 for `latest`, 2 for `latest~2`, nothing for any other name."""
    found = re.fullmatch(_LATEST_PATTERN, name)
    return int(found[1] or 0) if found else None


def parse_id_prefix(name: str) -> str | None:
    """Return the name as the beginning of an id, if it can be one."""
    return name.lower() if re.fullmatch(_ID_PREFIX_PATTERN, name.lower()) else None


def check_tag(name: str) -> None:
    """Refuse a tag that could be taken for something else."""
    if not re.fullmatch(_TAG_PATTERN, name):
        allowed = "1 to 100 of the characters A-Z a-z 0-9 . _ -, the first a letter or a digit"
        raise UsageError(f"{format_value(name)} cannot be a tag; allowed are {allowed}")
    if parse_latest(name.lower()) is not None or parse_id_prefix(name) is not None:
        raise UsageError(
            f"the tag {format_value(name)} would look like an id or `latest`; take another"
        )
    if name.lower().endswith(RESULT_FILE_SUFFIXES):
        raise UsageError(
            f"the tag {format_value(name)} would look like a result file; take another"
        )


def build_unknown_run_error(name: str, known: Sequence[str]) -> UsageError:
    """Return the error that says which names there are: the nearest, else the newest."""
    from difflib import get_close_matches

    if not known:
        return UsageError(f"there is no run {format_value(name)}: the store holds no run yet")
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    told = ", ".join(f"`{one}`" for one in near)
    return UsageError(
        f"there is no run {format_value(name)}; there is {told}; name a run by {RUN_NAME_FORMS}"
    )
