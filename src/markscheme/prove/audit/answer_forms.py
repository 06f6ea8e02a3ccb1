"""Other forms of the same answer: what must not change its cell.

A form is used on an axis only where the axis's own steps take it away, so that the cell must stay
whatever it was: the steps decide that, not the axis.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

from markscheme.mark import normalise
from markscheme.mark.axes import MaxWords, NumberWithin
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from markscheme.vocabulary import Axis

    Document = Mapping[str, Any]


def _decompose_text(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _pad_text(text: str) -> str:
    return f"  {text}\t\n"


def _append_period(text: str) -> str:
    return text if text.rstrip().endswith(".") else f"{text}."


_TEXT_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("as it is", str),
    ("upper case", str.upper),
    ("title case", str.title),
    ("whitespace around it", _pad_text),
    ("a period behind it", _append_period),
    ("accents as two code points", _decompose_text),
    ("upper case, a period and whitespace", lambda text: _pad_text(_append_period(text).upper())),
)


def generate_text_forms(axis: Axis, text: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a text that mean the same to an axis with these steps, each once."""
    seen = set()
    for name, form in _TEXT_FORMS:
        changed = form(text)
        if changed not in seen and _reduce_text(axis, changed) == _reduce_text(axis, text):
            seen.add(changed)
            yield name, changed


def _reduce_text(axis: Axis, text: str) -> object:
    """Return what is left of a text after what the axis declares to ignore."""
    text = to_nfc(text)
    steps = getattr(axis, "normalise", None)
    if isinstance(steps, tuple):
        return normalise(text, steps)
    if isinstance(axis, MaxWords):
        return len(text.split())
    return text.strip() if isinstance(axis, NumberWithin) else text


def to_json_object(document: Document) -> str:
    """Return a response as one JSON object."""
    return json.dumps(document, ensure_ascii=False, default=str)


def wrap_in_fence(output: str) -> str:
    """Return the response as models like to give it: in a code fence."""
    return f"```json\n{output}\n```"


def generate_conforming_forms(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the ways to write an object that a JSON reader cannot tell apart."""
    yield sentence("as it is"), to_json_object(document)
    yield sentence("indented"), json.dumps(document, ensure_ascii=False, indent=2, default=str)
    yield sentence("keys in another order"), to_json_object(dict(reversed(list(document.items()))))
    yield sentence("whitespace around it"), _pad_text(to_json_object(document))


def generate_unconforming_forms(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the ways to give an object that are read, but are no bare object."""
    yield sentence("a code fence"), wrap_in_fence(to_json_object(document))
    yield sentence("words before it"), f"Here it is: {to_json_object(document)}"
