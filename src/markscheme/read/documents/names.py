"""Names of items, criteria and tags: what is one, and how any text becomes one."""

from __future__ import annotations

import re

from markscheme.read.documents.models import NAME_PATTERN

_MAX_NAME_CHARACTERS = 200


def is_name(text: str) -> bool:
    """Return whether a text can be the name of an item, a criterion or a tag.

    >>> is_name("c1"), is_name("Has a title")
    (True, False)
    """
    return re.fullmatch(NAME_PATTERN, text) is not None and len(text) <= _MAX_NAME_CHARACTERS


def make_name(text: str, default: str) -> str:
    """Return a text as a name: other signs become hyphens.

    >>> make_name("my exam (2).v1", "exam"), make_name("???", "exam")
    ('my-exam-2-.v1', 'exam')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:_MAX_NAME_CHARACTERS] or default
