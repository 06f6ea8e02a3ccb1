"""The test cases of another tool as items: each of its assertions becomes a criterion.

What an axis of ours decides becomes a `check`. What only a model or a program of the other tool
can decide becomes `says`, for people or a judge to mark, so nothing passes because it was left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from markscheme.read.documents import is_name, make_name
from markscheme.read.foreign.imported import CRITERIA_AXIS, ImportedDocuments, Row, build_rubric
from markscheme.read.foreign.source import ForeignSource
from markscheme.vocabulary import Problem

_REGEX_SIGNS = re.compile(r"([\\.^$|?*+()\[\]{}&~#-])")


def escape_pattern(text: str) -> str:
    """Return a regular expression that matches exactly this text."""
    return _REGEX_SIGNS.sub(r"\\\1", text)


def build_contains(texts: Sequence[Any], *, ignores_case: bool, needs_all: bool) -> Row | None:
    """Return the check that some or all texts are in the answer; None if they are not texts."""
    if not texts or not all(isinstance(text, str) and text for text in texts):
        return None
    return {
        "kind": "contains_all",
        "normalise": ["lower"] if ignores_case else [],
        "expected_contains": list(texts) if needs_all or len(texts) == 1 else [list(texts)],
    }


def build_equals(text: Any) -> Row | None:
    """Return the check that the answer is exactly this text; None if it is no text."""
    if not isinstance(text, str) or not text:
        return None
    return {"kind": "equals", "normalise": [], "expected": text}


class ItemIds:
    """Chooses the id of each item: the first candidate that is free, as a name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def choose(self, candidates: Sequence[Any], fallback: str) -> str:
        """Return the id, which no earlier item has."""
        texts = [str(value) for value in candidates if type(value) in {str, int} and value != ""]
        names = [text if is_name(text) else make_name(text, fallback) for text in texts]
        chosen = next((name for name in (*names, fallback) if name not in self._taken), fallback)
        number = 2
        while chosen in self._taken:
            chosen, number = f"{fallback}-{number}", number + 1
        self._taken.add(chosen)
        return chosen


def build_criterion(
    number: int, points: int | Decimal, check: Row | None, says: str, tags: Mapping[str, str]
) -> Row:
    """Return a criterion: decided by a check if there is one, else by people or a judge."""
    decided: Row = {"says": says} if check is None else {"check": check}
    return {"id": f"c{number}", "points": points, **decided, **({"tags": tags} if tags else {})}


def build_documents(source: ForeignSource, name: str, items: Sequence[Row]) -> ImportedDocuments:
    """Return the documents of test cases: a rubric with one axis, and the exam.

    Raises:
        InputError: with every mistake of the file.
    """
    source.raise_problems()
    axis = {"name": CRITERIA_AXIS, "kind": "criteria", "weight": 1}
    remarks: tuple[Problem, ...] = source.list_remarks()
    return ImportedDocuments(
        rubric=build_rubric(name, [axis]), exam={"exam": name, "items": items}, remarks=remarks
    )
