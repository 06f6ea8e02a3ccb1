"""Names of tools that only read, though a verb of writing is a part: `get_deploy_logs`.

Families know tools by patterns such as `deploy_*`. Some verbs of writing are also nouns, and then a
verb of reading beside them decides. What an agent writes for itself, such as its plan, is no change
either.
"""

from __future__ import annotations

import re
from itertools import pairwise

from markscheme.read.json_fields import split_words

_PARTS = re.compile(r"[^a-z0-9]+")
_READ_VERBS = split_words(
    "describe fetch find get list read search show status history info details log logs diff stats "
    "count"
)
# `resolve_library_id` looks something up; `resolve_thread` changes it.
_RESOLVED_THINGS = split_words("id ids name names path paths url reference references symbol alias")
# What an agent writes for itself, with a tool of no server.
_OWN_VERBS = split_words("append create edit modify save update write")
_OWN_THINGS = split_words(
    "plan plans todo todos thought thoughts thinking reasoning answer response goal goals progress "
    "topic scratchpad subtask subtasks subagent"
)
_OWN_NAMES = split_words("send_input send_followup move_cursor move_mouse")
# They name a thing as often as an act. `copy`, `post` or `archive` do not: `copy_list` copies.
_NOUN_VERBS = split_words("comment commit deploy fork release remember schedule")
_WRITE_VERBS = split_words(
    "add append apply archive assign cancel clear close copy create delete destroy disable drop "
    "duplicate edit enable forget import insert invite kill merge modify move patch pause post "
    "publish purge push put remove rename reopen replace reply reset resolve restore resume revert "
    "revoke save send set stop store submit terminate transfer trash trigger truncate unarchive "
    "unassign update upload upsert write"
)


def is_reading_name(name: str) -> bool:
    """Return whether the name of a tool has a verb of reading, and none that surely writes.

    The verb of reading comes first, or ends the name right behind a verb that is also a noun. What
    an agent writes for itself counts as reading.
    """
    parts = [part for part in _PARTS.split(name.casefold().rpartition("__")[2]) if part]
    if parts[:1] == ["resolve"] and parts[-1] in _RESOLVED_THINGS:
        return True
    if "__" not in name and _is_own_note(parts):
        return True
    if _WRITE_VERBS.intersection(parts):
        return False
    verbs = [part for part in parts if part in _READ_VERBS or part in _NOUN_VERBS]
    if verbs and verbs[0] in _READ_VERBS:
        return True
    last_pair = list(pairwise(parts))[-1:]
    return any(before in _NOUN_VERBS and last in _READ_VERBS for before, last in last_pair)


def _is_own_note(parts: list[str]) -> bool:
    writes_own = parts[:1] and parts[0] in _OWN_VERBS and _OWN_THINGS.intersection(parts[1:])
    return bool(writes_own) or "_".join(parts) in _OWN_NAMES
