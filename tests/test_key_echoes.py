"""A key that a server says back is told nowhere, however it says it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from commands import here
from raw_server import completion, http

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wild_servers import Ask

CANARY = "sk-canary/5d41402abc4b2a76+b9719d91="


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


WAYS_TO_TELL: dict[str, Callable[[str], bytes]] = {
    "an answer": lambda key: http(completion(f"yes {key}")),
    "the JSON of an answer": lambda key: http(completion(f'{{"word": "yes {escaped(key)}"}}')),
    "a slash": lambda key: http(completion(json.dumps({"word": f"yes {key}"}).replace("/", r"\/"))),
    "an address": lambda key: http(completion(f"yes {quote(key, safe='')}")),
    "a finish reason": lambda key: http(completion("yes", finish_reason=key)),
    "a cut error": lambda key: http({"error": {"message": "x" * 170 + key}}, "400 No"),
    "a cut error, escaped": lambda key: http(
        f'{{"error": {{"message": "{"x" * 170}{escaped(key)}"}}}}', "400 No"
    ),
    "a cut error after all": lambda key: http(
        f'{{"error": {{"message": "{"x" * 170}{escaped(key)}"}}}}'
    ),
    "an error of a stream": lambda key: http(
        f"data: {json.dumps({'error': {'message': 'x' * 170 + key}})}\n\n"
    ),
    "no HTTP": lambda key: f"{'x' * 440} {key}\r\n\r\n".encode(),
}


@pytest.mark.parametrize("way", WAYS_TO_TELL)
def test_a_key_is_told_nowhere_however_the_server_says_it_back(
    ask: Ask, tmp_path: Path, way: str
) -> None:
    said = tmp_path / "said.jsonl"
    words = ["--record", str(said), *(["--stream"] if "stream" in way else [])]
    done = ask(lambda _, key: (WAYS_TO_TELL[way](key),), *words, OPENAI_API_KEY=CANARY)
    here("report", "latest", "--store", tmp_path / "store.db", "-o", tmp_path / "page.html")
    told = [done.out, done.err, said.read_text(), (tmp_path / "page.html").read_text()]
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.glob("store.db*")]
    written = (CANARY.replace("/", r"\/"), escaped(CANARY), quote(CANARY, safe=""))
    for form in (CANARY, CANARY[:12], *written):
        assert not any(form in text for text in told)
