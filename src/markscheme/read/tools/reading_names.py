"""Names of tools that only read, though a verb of writing is a part: `get_deploy_logs`.

Families know tools of servers by patterns such as `deploy_*`. Some verbs of writing are also nouns,
and then a verb of reading beside them decides.
"""

from __future__ import annotations

import re
from itertools import pairwise

from markscheme.read.json_fields import split_words

_PARTS = re.compile(r"[^a-z0-9]+")
_READ_VERBS = split_words("describe fetch find get list read search show status")
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

    The verb of reading comes first, or ends the name right behind a verb that is also a noun.
    """
    parts = [part for part in _PARTS.split(name.casefold().rpartition("__")[2]) if part]
    if _WRITE_VERBS.intersection(parts):
        return False
    verbs = [part for part in parts if part in _READ_VERBS or part in _NOUN_VERBS]
    if verbs and verbs[0] in _READ_VERBS:
        return True
    last_pair = list(pairwise(parts))[-1:]
    return any(before in _NOUN_VERBS and last in _READ_VERBS for before, last in last_pair)
