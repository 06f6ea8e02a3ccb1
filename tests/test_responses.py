"""Raw outputs are read by the first rule that fits: an object, one in a fence, or plain text."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from marking import EAT, TUTOR
from markscheme import Reading
from markscheme.mark import mark_answer, read_response


@pytest.mark.parametrize(
    ("output", "reading"),
    [
        ('{"correction": "Ate."}', Reading.OBJECT),
        (' \n{"correction": "Ate."}\n ', Reading.OBJECT),
        ("{}", Reading.OBJECT),
        ({"correction": "Ate."}, Reading.OBJECT),
        ('```json\n{"correction": "Ate."}\n```', Reading.FENCED),
        ('Sure!\n\n```\n{"correction": "Ate."}\n```\nHope it helps.', Reading.FENCED),
        ('Sure: ```json {"correction": "Ate."} ```', Reading.FENCED),
        ('~~~\n{"correction": "Ate."}\n~~~', Reading.FENCED),
        ('> ```json\n> {"correction": "Ate."}\n> ```', Reading.FENCED),
        ('- ~~~json\n  {"correction": "Ate."}\n  ~~~', Reading.FENCED),
        ('~~~json\r{"correction": "Ate."}\r~~~', Reading.FENCED),
        ('Answer: ```json5 {"correction": "Ate."}```', Reading.FENCED),
        ('```json\n{"correction": "Ate."}', Reading.FENCED),
        ('```sh\nls\n```\n```json\n{"correction": "Ate."}\n```', Reading.FENCED),
        ('  ```json\r\n  {"correction": "Ate."}\r\n  ```', Reading.FENCED),
        ('```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', Reading.TEXT),
        ('```json\n["Ate."]\n```', Reading.TEXT),
        ('{"correction": "Ate."} trailing', Reading.TEXT),
        ('{"correction": "Ate."', Reading.TEXT),
        ('["Ate."]', Reading.TEXT),
        ('"Ate."', Reading.TEXT),
        ("NaN", Reading.TEXT),
        ('{"a": NaN}', Reading.TEXT),
        ("[" * 5000, Reading.TEXT),
        ("```" * 500, Reading.TEXT),
        ("", Reading.TEXT),
    ],
)
def test_a_raw_output_is_read_by_the_first_rule_that_fits(output: Any, reading: Reading) -> None:
    assert read_response(output).reading is reading


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_only_a_newline_ends_a_line_of_a_fence(separator: str) -> None:
    inside = json.dumps({"correction": f"a{separator}b"}, ensure_ascii=False)
    assert read_response(f"```json\n{inside}\n```").reading is Reading.FENCED


def test_backticks_in_prose_do_not_swallow_the_fence_after_them() -> None:
    response = read_response('Use ``` to fence.\n```json\n{"correction": "Ate."}\n```')
    assert response.reading is Reading.FENCED
    assert response.text_of("correction") == "Ate."


@pytest.mark.parametrize(
    "extra", ['["\\ud800"]', '{"\\ud800": 1}', "[" + "9" * 5000 + "]", "[" * 300 + "]" * 300]
)
def test_what_is_hard_to_hold_costs_the_schema_and_not_the_score(extra: str) -> None:
    fields = '"correction": "Ate.", "spanish_gloss": "comió", "explanation": "x"'
    marked = mark_answer(TUTOR, EAT, f'{{{fields}, "extra": {extra}}}')
    assert marked.cells["schema"].value == 0
    assert marked.score == Fraction(90, 100)


@pytest.mark.parametrize(
    "value", ["1e99999999999999999999", "1e400", "9" * 400, '"\\ud800"', "1E-99999999"]
)
def test_an_object_that_is_json_but_hard_to_hold_is_still_an_object(value: str) -> None:
    response = read_response(f'{{"correction": "Ate.", "n": {value}}}')
    assert response.reading is Reading.OBJECT
    assert response.text_of("correction") == "Ate."


def test_a_byte_order_mark_before_the_object_costs_nothing() -> None:
    assert read_response('\ufeff{"correction": "Ate."}').reading is Reading.OBJECT


def test_an_empty_object_in_a_fence_is_an_object_in_a_fence() -> None:
    assert read_response("```json\n{}\n```").reading is Reading.FENCED


def test_fields_are_read_from_the_fenced_object_but_the_schema_is_lost() -> None:
    output = (
        '```json\n{"correction": "Ate.", "spanish_gloss": "Comió.", "explanation": "Past."}\n```'
    )
    marked = mark_answer(TUTOR, EAT, output)
    assert marked.got == "Ate."
    assert marked.score == Fraction(90, 100)
    assert "code fence" in marked.cells["schema"].reason


def test_plain_text_is_read_whole_and_costs_the_schema() -> None:
    marked = mark_answer(TUTOR, EAT, "He ate. Él comió.")
    assert marked.reading is Reading.TEXT
    assert marked.got == "He ate. Él comió."
    assert marked.score == Fraction(90, 100)


@pytest.mark.parametrize("gloss", [None, 3, ["comió"], {"es": "comió"}, True])
def test_a_field_that_is_missing_or_no_text_lets_the_axis_read_the_whole_text(gloss: Any) -> None:
    document = {"correction": "Ate.", "spanish_gloss": gloss, "explanation": "comió is meant"}
    if gloss is None:
        del document["spanish_gloss"]
    marked = mark_answer(TUTOR, EAT, json.dumps(document, ensure_ascii=False))
    assert marked.cells["spanish_gloss"].value == 1
    assert "so the whole text was read" in marked.cells["spanish_gloss"].reason
    assert marked.cells["schema"].value == 0
