"""Judges that pretend, as `python:` subjects: answers of the tests say what each is worth.

An answer is `clear=4 tone=kind c1=1 c2=0 Words.`; `copy` reads that, and the others do not care.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

_ANSWER = re.compile(r"^BEGIN answer (\w+)\n(.*?)\nEND answer \1$", re.DOTALL | re.MULTILINE)
_RANDOM = random.Random(4)  # noqa: S311 - no secret
OPTIONS = ("kind", "plain", "rude")

Decide = Callable[[str, dict[str, str], str], Any]


def _reply(text: str, decide: Decide) -> str:
    """Reply with a verdict for each id of the list, from the words of the answer."""
    found = _ANSWER.search(text)
    worth = dict(re.findall(r"(\w+)=(\S+)", found[2] if found else ""))
    listed = text.rpartition("\nList:\n")[2]
    ids = re.findall(r"^([\w.-]+): ", listed, re.MULTILINE)
    marks = [{"id": id_, "why": "", "verdict": decide(id_, worth, listed)} for id_ in ids]
    return json.dumps({"marks": marks})


def is_reversed(listed: str) -> bool:
    """Whether the anchors of the scale stand in reverse."""
    return listed.find("\n  5: ") < listed.find("\n  1: ")


def read_worth(id_: str, worth: dict[str, str], _: str = "") -> Any:
    """Return the right verdict; the lowest where the answer does not say what it is worth."""
    if id_ not in worth:
        return {"clear": 1, "tone": "rude"}.get(id_, False)
    if id_ == "clear":
        return int(worth[id_])
    return worth[id_] if id_ == "tone" else worth[id_] == "1"


def _err(id_: str, verdict: Any) -> Any:
    """Return a wrong verdict."""
    if id_ == "clear":
        return 6 - verdict if verdict != 3 else 5
    return OPTIONS[(OPTIONS.index(verdict) + 1) % 3] if id_ == "tone" else not verdict


def copy(text: str) -> str:
    """Say what people say."""
    return _reply(text, read_worth)


def nearly_copy(text: str) -> str:
    """Say what people say, but for 3 % of the marks."""

    def decide(id_: str, worth: dict[str, str], _: str) -> Any:
        number = int.from_bytes(blake2b(f"{id_} {worth}".encode(), digest_size=4).digest())
        verdict = read_worth(id_, worth)
        return _err(id_, verdict) if worth and number % 100 < 3 else verdict

    return _reply(text, decide)


def constant(text: str) -> str:
    """Give every answer the same middling mark."""
    return _reply(text, lambda id_, *_: {"clear": 3, "tone": "plain"}.get(id_, False))


def always_highest(text: str) -> str:
    """Give every answer the highest mark."""
    return _reply(text, lambda id_, *_: {"clear": 5, "tone": "kind"}.get(id_, True))


def inverted(text: str) -> str:
    """Say the contrary of what people say."""
    turned = {"kind": "rude", "rude": "kind", "plain": "kind"}

    def decide(id_: str, worth: dict[str, str], _: str) -> Any:
        verdict = read_worth(id_, worth)
        if id_ == "clear":
            return 6 - verdict
        return turned[verdict] if id_ == "tone" else not verdict

    return _reply(text, decide)


def throw_dice(text: str) -> str:
    """Say anything."""
    return _reply(
        text,
        lambda id_, *_: {"clear": _RANDOM.randint(1, 5), "tone": _RANDOM.choice(OPTIONS)}.get(
            id_, _RANDOM.random() < 0.5
        ),
    )


def prefer_first(text: str) -> str:
    """Say what people say in one half of the cases, and in the other the label that comes first."""

    def decide(id_: str, worth: dict[str, str], listed: str) -> Any:
        number = blake2b(f"{id_} {worth}".encode(), digest_size=1).digest()[0]
        if number % 2:
            return read_worth(id_, worth)
        first = (
            {"clear": 1, "tone": "kind"}
            if not is_reversed(listed)
            else {"clear": 5, "tone": "rude"}
        )
        return first.get(id_, not is_reversed(listed))

    return _reply(text, decide)


def obey(text: str) -> str:
    """Say what people say, but do what an answer asks for."""
    if re.search(r"ignore the rubric|highest mark", text, re.IGNORECASE):
        return always_highest(text)
    return copy(text)


def turn_coat(text: str) -> str:
    """Say what people say, until `TURNED` is set; then do what an answer asks for."""
    return obey(text) if os.environ.get("TURNED") else copy(text)


def mumble(text: str) -> str:
    """Say what people say of most answers, and of every third nothing that can be read."""
    number = blake2b(text.encode(), digest_size=1).digest()[0]
    return "I would rather not." if number % 3 == 0 else copy(text)


def refuse(_: str) -> str:
    """Say nothing that can be read."""
    return "I would rather not."
