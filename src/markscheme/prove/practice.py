"""Material for the exercise: an exam and answers in which every rule of the rubric has work to do.

It is the given exam as careless people would write it, and the bundled tutor's answers to it as a
careless model would give them: capitals, spaces, full stops, half an answer. Under the whole rubric
only the half answers lose points.
"""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from markscheme.frozen import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markscheme.vocabulary import Exam, Item

_MAX_HALVES = 5  # so few that the whole rubric still meets its gate
_FIELD_BY_EXPECTATION = {"expected_contains": "correction", "gloss_contains": "spanish_gloss"}


def build_practice(
    exam: Exam, answer: Callable[[str], str], seed: int | None = None
) -> tuple[Exam, list[dict[str, str]]]:
    """Return the exam and the answers; tense by tense careless in a way, which a seed shuffles."""
    tenses = list(dict.fromkeys(item.tags.get("tense", "") for item in exam.items))
    ways = [_write_capitals, _add_spaces, _add_full_stops, _cut_to_half, _keep_plain]
    if seed is not None:
        Random(seed).shuffle(ways)  # noqa: S311 - an exercise, not a secret
    dress = dict(zip(tenses, ways, strict=False))
    left = _MAX_HALVES
    pairs = []
    for item in exam.items:
        way = dress.get(item.tags.get("tense", ""), _keep_plain)
        if way is _cut_to_half:
            left, way = left - 1, way if left > 0 else _keep_plain
        pairs.append(way(item, json.loads(answer(item.prompt))))
    rows = [{"item": i.id, "output": json.dumps(a, ensure_ascii=False)} for i, a in pairs]
    items = tuple(item for item, _ in pairs)
    return replace(exam, items=items, fingerprint="practice"), rows


def _keep_plain(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, answer


def _write_capitals(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, _change_fields(answer, str.upper)


def _add_spaces(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Leave a space around each expectation, and none around the answer."""
    return _change_expectations(item, lambda entries: [f" {entry} " for entry in entries]), answer


def _add_full_stops(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Put a full stop behind each expectation, and none behind the answer."""
    stopped = _change_expectations(item, lambda entries: [f"{entry}." for entry in entries])
    return stopped, _change_fields(answer, lambda text: text.removesuffix("."))


def _cut_to_half(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Expect each word by itself, and answer the last one only where there are several."""
    single = _change_expectations(
        item, lambda entries: [w for entry in entries for w in entry.split()]
    )
    return single, _change_fields(answer, lambda text: text.split()[-1])


def _change_fields(answer: dict[str, str], change: Callable[[str], str]) -> dict[str, str]:
    return {
        key: change(text) if key in _FIELD_BY_EXPECTATION.values() else text
        for key, text in answer.items()
    }


def _change_expectations(item: Item, change: Callable[[Sequence[str]], list[str]]) -> Item:
    changed = {
        key: tuple(change(value)) if key in _FIELD_BY_EXPECTATION else value
        for key, value in item.expectations.items()
    }
    return replace(item, expectations=FrozenDict(changed))
