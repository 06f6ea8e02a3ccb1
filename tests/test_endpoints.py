"""Endpoints: what they are sent, and what of theirs is an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chat_server import HUGE
from markscheme import __version__

if TYPE_CHECKING:
    from sittings import Sitting

SCHEMA_RUBRIC = """\
rubric: objects
version: 1
axes:
  - {name: right, kind: contains_all, weight: 0.9, reads: word, expects: expected_contains}
  - name: shape
    kind: json_schema
    weight: 0.1
    schema:
      type: object
      required: [word]
      properties: {word: {type: string}}
      additionalProperties: false
"""


def test_the_schema_of_the_rubric_is_in_the_prompt_and_asked_for(sitting: Sitting) -> None:
    sitting.write("rubric.yaml", SCHEMA_RUBRIC)
    sitting.server.answer = '{"word": "yes"}'
    assert sitting.asks("fine 1").json()["summary"]["score"] == 1.0
    assert sitting.json("--no-structured")["summary"]["score"] == 1.0
    held, free = sitting.server.bodies
    assert held["response_format"]["json_schema"]["strict"] is True
    assert held["response_format"]["json_schema"]["schema"]["required"] == ["word"]
    assert '"required": ["word"]' in held["messages"][0]["content"]
    assert "response_format" not in free


def test_a_parameter_that_an_endpoint_does_not_know_is_left_out(sitting: Sitting) -> None:
    sitting.asks(*(f"strict {n}" for n in range(12)))
    words = ("--stream", "--retries", "0", "--concurrency", "4")
    done = sitting.run(*words, "--format", "json")
    asked = len(sitting.server.bodies)
    assert done.code == 0
    assert done.json["live"]["tries"] == asked
    assert 13 <= asked <= 16
    assert done.err.count("openai:m does not take stream_options: it is left out") == 1
    assert sitting.run(*words, "--resume").code == 0
    assert len(sitting.server.bodies) == asked


def test_a_model_that_wants_another_name_for_the_most_tokens_gets_it(sitting: Sitting) -> None:
    done = sitting.asks("reasoner 1", "reasoner 2").run("--max-tokens", "50", "--concurrency", "1")
    assert done.code == 0
    told = "openai:m does not take max_tokens: max_completion_tokens is sent in its place"
    assert done.err.count(told) == 1
    limits = [(b.get("max_tokens"), b.get("max_completion_tokens")) for b in sitting.server.bodies]
    assert limits == [(50, None), (None, 50), (None, 50)]


def test_a_server_is_told_who_asks(sitting: Sitting) -> None:
    sitting.asks("fine 1").run()
    (headers,) = sitting.server.headers
    assert headers["user-agent"] == f"markscheme/{__version__}"


def test_an_answer_of_five_megabytes_is_an_answer(sitting: Sitting) -> None:
    done = sitting.asks("huge 1").run("--record", sitting.folder / "said.jsonl")
    assert done.code == 0
    (row,) = (sitting.folder / "said.jsonl").read_text().splitlines()
    assert len(json.loads(row)["output"]) == HUGE


def test_a_refusal_is_an_answer_that_is_scored(sitting: Sitting) -> None:
    document = sitting.asks("refuse 1").json()
    (row,) = document["items"]
    assert row["got"] == "I cannot help with that."
    assert row["score"] == 0.03
    assert document["summary"]["complete"] is True


def test_a_packed_answer_is_read(sitting: Sitting) -> None:
    assert sitting.asks("packed 1").json()["items"][0]["got"] == "yes"
