"""The schema axis names what breaks its schema, and what it takes for surely a schema is one."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from marking import EAT, TUTOR
from markscheme import load_rubric
from markscheme.mark import mark_answer, read_response
from markscheme.mark.axes import JsonSchema, is_simple_schema
from markscheme.vocabulary import ResponseFields


def test_a_schema_that_does_not_ask_for_a_field_is_lost_all_the_same_when_an_axis_misses_it() -> (
    None
):
    lenient = JsonSchema(schema={"type": "object"})
    response = read_response('{"other": "Ate."}', ResponseFields(accepted={"correction": (str,)}))
    missed = lenient.mark(response, EAT)
    assert missed.value == 0
    assert "correction" in missed.reason


def test_the_schema_axis_names_the_first_violations_with_their_paths() -> None:
    output = json.dumps({"correction": 3, "spanish_gloss": "x", "more": 1})
    reason = mark_answer(TUTOR, EAT, output).cells["schema"].reason
    assert "correction" in reason
    assert "explanation" in reason
    broken = mark_answer(TUTOR, EAT, '{"correction": ').cells["schema"].reason
    assert broken.startswith("the response is no JSON object: not JSON (")


ANYTHING: st.SearchStrategy[Any] = st.sampled_from(
    ["string", "object", "words", "", True, False, None, 1, (), [], {}]
)
KEYWORD = st.sampled_from(["type", "required", "additionalProperties", "enum", "title", "$ref"])
STATED: st.SearchStrategy[Any] = st.dictionaries(
    KEYWORD, ANYTHING | st.lists(ANYTHING, max_size=3), max_size=3
)
SCHEMAS = st.recursive(
    ANYTHING | STATED,
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from("ab"), inner)},
        optional={"type": ANYTHING, "required": st.lists(st.sampled_from("ab"))},
    ),
    max_leaves=4,
)


@given(SCHEMAS)
def test_what_is_surely_a_schema_is_one_by_the_validator(schema: Any) -> None:
    if is_simple_schema(schema):
        assert jsonschema_rs.validator_for(schema) is not None


def test_the_usual_schema_is_surely_one() -> None:
    schemas = [getattr(spec.axis, "schema", None) for spec in load_rubric("tutor-capstone")]
    assert [is_simple_schema(schema) for schema in schemas] == [False, False, True, False]
