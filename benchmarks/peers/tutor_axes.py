"""The four axes of the rubric `tutor-capstone` in plain Python, for every contestant alike.

Standard library only: each Python peer imports this module in its own environment, so a race
measures the frameworks and not different ways to judge. It shares no code with markscheme, and is
therefore also the oracle that every result is checked against, markscheme's own included.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

WEIGHTS = {"correctness": 60, "spanish_gloss": 25, "schema": 10, "conciseness": 5}  # hundredths
FIELDS = ("correction", "spanish_gloss", "explanation")
MAX_WORDS = 30
_FENCED = re.compile(r"```[^\n`{]*(\{.*?)```", re.DOTALL)

Cells = dict[str, int]
Marked = tuple[str, int, Cells, float]  # item, attempt, cells, score


class Recorded(NamedTuple):
    """One recorded answer beside what its item expects."""

    item: str
    attempt: int
    prompt: str
    expected: list[str]
    gloss: list[str]
    output: str

    @property
    def name(self) -> str:
        """Return the name of the answer: its item and attempt."""
        return f"{self.item}/{self.attempt}"


def recorded(exam: Path, answers: Path) -> Iterator[Recorded]:
    """Yield every answer of a JSONL file with the expectations of its item from a JSON exam."""
    items = {item["id"]: item for item in json.loads(exam.read_bytes())["items"]}
    with answers.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            item = items[row["item"]]
            yield Recorded(
                item=row["item"],
                attempt=row["attempt"],
                prompt=item["prompt"],
                expected=item["expected_contains"],
                gloss=item["gloss_contains"],
                output=row["output"],
            )


def judged(output: str, expected: Iterable[str], gloss: Iterable[str]) -> Cells:
    """Return 1 or 0 for each axis of one raw output."""
    document, bare = _read(output)
    text = unicodedata.normalize("NFC", output)
    correction, translation, explanation = (_field(document, name, text) for name in FIELDS)
    return {
        "correctness": _contains_all(correction, expected),
        "spanish_gloss": _contains_all(translation, gloss),
        "schema": int(bare and _conforms(document)),
        "conciseness": int(len(explanation.split()) <= MAX_WORDS),
    }


def score_of(cells: Cells) -> float:
    """Return the weighted sum, divided last."""
    return sum(weight * cells[name] for name, weight in WEIGHTS.items()) / 100


def split_name(name: str) -> tuple[str, int]:
    """Return the item and the attempt that a name of an answer is made of."""
    item, _, attempt = name.rpartition("/")
    return item, int(attempt)


def _read(output: str) -> tuple[dict[str, Any], bool]:
    """Return the object that the output is (bare), or holds in its only fence, or nothing."""
    document = _object(output)
    if document is not None:
        return document, True
    fenced = [found for found in map(_object, _FENCED.findall(output)) if found is not None]
    return (fenced[0] if len(fenced) == 1 else {}), False


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _field(document: dict[str, Any], name: str, text: str) -> str:
    """Return a field in NFC, or the whole text where the field is missing or not a text."""
    value = document.get(name)
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else text


def _contains_all(text: str, entries: Iterable[str]) -> int:
    normal = _normal(text)
    return int(all(_normal(entry) in normal for entry in entries))


def _normal(text: str) -> str:
    return text.strip().lower().removesuffix(".")


def _conforms(document: dict[str, Any]) -> bool:
    return len(document) == len(FIELDS) and all(isinstance(document.get(n), str) for n in FIELDS)


def contestant(
    ways: Mapping[str, Callable[[Path, Path, Path], None]],
    result: Callable[[Path], tuple[float, Iterable[Marked]]],
) -> None:
    """Be the command line of a contestant: `WAY EXAM ANSWERS FOLDER`, or `result FOLDER FILE`.

    A way is timed: it leaves in FOLDER what the tool itself writes. `result` is not timed: it
    reads that back as the mean and every answer's cells and score, and writes them as JSON.
    """
    verb, *paths = sys.argv[1:]
    if verb in ways:
        ways[verb](*map(Path, paths))
        return
    folder, file = map(Path, paths)
    mean, rows = result(folder)
    file.write_text(json.dumps({"mean": mean, "rows": list(rows)}), encoding="utf-8")
