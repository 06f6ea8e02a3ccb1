"""Endpoints: what they are sent, and what of theirs is an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from chat_server import HUGE
from markscheme import __version__
from raw_server import DONE, YES, always, completion, event, http

if TYPE_CHECKING:
    from sittings import Sitting
    from wild_servers import Ask

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


@pytest.mark.parametrize(
    ("content", "got"),
    [
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], "yes"),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}], "yes"),
        ([], ""),
        (["yes"], None),
        ([{"type": "text", "text": 1}], None),
        ({"text": "yes"}, None),
        (False, None),
    ],
)
def test_a_content_in_parts_is_the_text_of_them(ask: Ask, content: Any, got: str | None) -> None:
    done = ask(always(http(completion(content))))
    assert done.json["items"][0]["got"] == got
    assert done.code == (0 if got is not None else 4)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_refusal_that_a_gateway_passes_on_is_read(ask: Ask, *, streamed: bool) -> None:
    message = {"content": None, "provider_specific_fields": {"refusal": "I will not."}}
    events = "\n\n".join([event("", delta=message), event("", "stop"), DONE, ""])
    whole = http(events if streamed else completion("", message=message))
    (row,) = ask(always(whole), *(["--stream"] if streamed else [])).json["items"]
    assert (row["got"], row["asked"]["finish_reason"]) == ("I will not.", "refusal")


@pytest.mark.parametrize("reason", ["sto\0p", "st\x1b[31mop", "stop\n" * 100_000])
def test_a_finish_reason_that_nobody_could_show_is_told_on_one_short_line(
    ask: Ask, reason: str
) -> None:
    done = ask(always(http(completion("yes", finish_reason=reason))))
    (told,) = done.json["live"]["finish_reasons"]
    assert told.isprintable()
    assert len(told) < 100


def test_the_page_tells_how_answers_ended_that_did_not_just_stop(ask: Ask) -> None:
    answers = iter([YES, http(completion("ye", finish_reason="length"))])
    done = ask(lambda *_: (next(answers),), "--format", "text", items=2)
    assert "answers ended with: length 1, stop 1" in done.out
    assert "ended with" not in ask(always(YES), "--format", "text").out
