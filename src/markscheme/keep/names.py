"""How a run is called: by its id, as git calls commits, by `latest`, or by a tag."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMS = "an id (at least 4 of its characters), `latest`, `latest~1`, or a tag"
# Patterns that are compiled where they are used: most commands name no run.
_LATEST = r"latest(?:~([0-9]{1,9}))?"
_PREFIX = r"[0-9a-f]{4,12}"
_TAG = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ID_BYTES = 6
RESULTS = (".json", ".jsonl", ".ndjson")  # what ends like this is the name of a result file


def new_id() -> str:
    """Return twelve random hexadecimal digits: a few of them are enough to type."""
    return os.urandom(_ID_BYTES).hex()


def steps_back(name: str) -> int | None:
    """Return 0 for `latest`, 2 for `latest~2`, nothing for any other name."""
    found = re.fullmatch(_LATEST, name)
    return int(found[1] or 0) if found else None


def id_prefix(name: str) -> str | None:
    """Return the name as the beginning of an id, if it can be one."""
    return name.lower() if re.fullmatch(_PREFIX, name.lower()) else None


def check_tag(name: str) -> None:
    """Refuse a tag that could be taken for something else."""
    if not re.fullmatch(_TAG, name):
        allowed = "1 to 100 of the characters A-Z a-z 0-9 . _ -, the first a letter or a digit"
        raise UsageError(f"{shown(name)} cannot be a tag; allowed are {allowed}")
    if steps_back(name.lower()) is not None or id_prefix(name) is not None:
        raise UsageError(f"the tag {shown(name)} would look like an id or `latest`; take another")
    if name.lower().endswith(RESULTS):
        raise UsageError(f"the tag {shown(name)} would look like a result file; take another")


def unknown(name: str, known: Sequence[str]) -> UsageError:
    """Return the error that says which names there are: the nearest, else the newest."""
    from difflib import get_close_matches

    if not known:
        return UsageError(f"there is no run {shown(name)}: the store holds no run yet")
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    told = ", ".join(f"`{one}`" for one in near)
    return UsageError(f"there is no run {shown(name)}; there is {told}; name a run by {FORMS}")
