"""Marking in columns agrees with the definition cell by cell, whatever axes share."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from marking import EAT, OUTPUTS, TEXTS, TUTOR
from markscheme import AxisSpec, Cell, Exam, Item, Rubric, Status
from markscheme.mark import mark_answer
from markscheme.mark.axes import ContainsAll, Equals, JsonSchema, Match, MaxWords, NumberWithin
from markscheme.mark.batch import BatchMarker
from markscheme.read.answers import AnswerBatch

if TYPE_CHECKING:
    from markscheme.vocabulary import Axis


def check_agreement(rubric: Rubric, exam: Exam, rows: list[tuple[str, Any]]) -> None:
    """Compare the columns with the definition cell by cell, the second time from memory."""
    marker, items = BatchMarker(rubric, exam), {item.id: item for item in exam.items}
    batch = AnswerBatch()
    for at, (item, output) in enumerate(rows):
        batch.append(at + 1, (item, output, None, at + 1, None, None, None, None))
    for _ in range(2):
        marked = marker.mark_batch(batch)
        for at, (item, output) in enumerate(rows):
            wanted = mark_answer(rubric, items[item], output)
            got = [marked.get_cell(axis, at) for axis in range(len(rubric.axes))]
            assert got == list(wanted.cells.values())
            assert marked.got[at] == wanted.got
            assert marked.readings[at] == wanted.reading.value
            values = tuple(found.axis_value for found in wanted.cells.values())
            assert marked.values[marked.vectors[at]] == values


TEXT_FIELDS = st.fixed_dictionaries(
    {}, optional={"word": TEXTS, "total": st.one_of(TEXTS, st.integers()), "more": TEXTS}
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "required": st.lists(st.sampled_from(["word", "total", "gone"]), unique=True),
        "properties": st.dictionaries(
            st.sampled_from(["word", "total", "type"]),
            st.sampled_from([True, False, {}, {"type": "string"}, {"type": "number"}]),
        ),
        "additionalProperties": st.sampled_from([True, False, {"type": "number"}, {}]),
        "maxProperties": st.integers(0, 3),
    },
)


@given(
    schema=SCHEMAS,
    outputs=st.lists(TEXT_FIELDS.map(json.dumps), min_size=1, max_size=6),
    numeric=st.booleans(),
)
def test_columns_agree_with_the_definition_under_any_schema(
    schema: dict[str, Any], outputs: list[str], *, numeric: bool
) -> None:
    total: Axis = NumberWithin(reads="total") if numeric else MaxWords(reads="total", limit=1)
    kinds: list[Axis] = [Equals(reads="word"), total, JsonSchema(schema=schema), MaxWords(limit=3)]
    axes = tuple(
        AxisSpec(name=f"a{at}", weight=Decimal("0.25"), axis=axis) for at, axis in enumerate(kinds)
    )
    rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
    item = Item(id="q", prompt="p", expectations={"expected": "ate", "expected_number": 2})
    check_agreement(
        rubric, Exam(names=("e",), items=(item,), fingerprint="b2:0"), [("q", o) for o in outputs]
    )


def test_an_axis_that_judges_otherwise_than_its_parent_does_not_share_its_cells() -> None:
    class Shouting(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:
            return Cell.passed(text) if text.isupper() else Cell.missed(f"{text} {item.id}")

    axes = (AxisSpec(name="loud", weight=Decimal(1), axis=Shouting(limit=1)),)
    rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
    exam = Exam(names=("e",), items=(EAT,), fingerprint="b2:0")
    check_agreement(rubric, exam, [(EAT.id, "ATE"), (EAT.id, "ate"), (EAT.id, "WENT")])


def test_the_order_of_two_axes_on_one_field_changes_nothing() -> None:
    text = AxisSpec(name="text", weight=Decimal("0.5"), axis=ContainsAll(reads="b"))
    number = AxisSpec(name="number", weight=Decimal("0.3"), axis=NumberWithin(reads="b"))
    schema = JsonSchema(schema={"type": "object"})
    form = AxisSpec(name="form", weight=Decimal("0.2"), axis=schema)
    item = Item(id="q", prompt="p", expectations={"expected_contains": ["3"], "expected_number": 3})
    exam = Exam(names=("e",), items=(item,), fingerprint="b2:0")
    found = []
    for axes in ((text, number, form), (number, text, form)):
        rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
        found.append(mark_answer(rubric, item, '{"b": 3, "c": 5}').score)
        check_agreement(rubric, exam, [("q", '{"b": 3, "c": 5}'), ("q", '{"b": "3"}'), ("q", "3")])
    assert found[0] == found[1] == Fraction(8, 10)


def test_axes_with_many_different_values_are_told_apart() -> None:
    class Partial(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:
            value = Fraction(int(text), 1000)
            return Cell(status=Status.SCORED, value=value, reason=f"{text} {item.id}")

    spec = [AxisSpec(name=f"a{n}", weight=Decimal("0.1"), axis=Partial(limit=1)) for n in range(10)]
    rubric = Rubric(name="r", version=1, axes=tuple(spec), gates=(), fingerprint="b2:0")
    exam = Exam(names=("e",), items=(EAT,), fingerprint="b2:0")
    check_agreement(rubric, exam, [(EAT.id, str(n)) for n in range(200)])


@given(st.lists(st.tuples(st.sampled_from(["e-39-01", "x"]), OUTPUTS), min_size=1, max_size=8))
def test_marking_in_columns_agrees_with_the_definition(rows: list[tuple[str, str]]) -> None:
    other = Item(
        id="x", prompt="p", expectations={"expected_contains": ["a", "e"], "gloss_contains": ["ó"]}
    )
    check_agreement(TUTOR, Exam(names=("e",), items=(EAT, other), fingerprint="b2:0"), rows)


@given(st.lists(TEXTS))
def test_words_are_counted_in_columns_as_one_by_one(texts: list[str]) -> None:
    axis, items = MaxWords(limit=30), pl.Series([0] * len(texts), dtype=pl.UInt32)
    (counts,) = axis.column_keys(pl.Series(texts, dtype=pl.String), items).get_columns()
    assert counts.to_list() == [len(text.split()) for text in texts]


PIECES = st.sampled_from(["ate", "ATE ", "Comió", "comio", "late", "a", "e", "x", ". ", '{"', "\n"])


@given(st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=1, max_size=8))
def test_texts_with_the_same_found_in_them_agree_with_the_definition(texts: list[str]) -> None:
    axes = tuple(
        AxisSpec(name=f"a{at}", weight=Decimal("0.5"), axis=ContainsAll(expects=key, match=match))
        for at, (key, match) in enumerate(
            [("expected_contains", Match.SUBSTRING), ("gloss_contains", Match.WORD)]
        )
    )
    rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
    wanted = {"expected_contains": ["a", "e"], "gloss_contains": ["comió"]}
    either = {"expected_contains": [["late", "x"], "a"], "gloss_contains": [["comió", "ate"]]}
    items = (
        Item(id="x", prompt="p", expectations=wanted),
        Item(id="y", prompt="p", expectations=either),
        EAT,
    )
    rows = [(item.id, text) for text in texts for item in items]
    check_agreement(rubric, Exam(names=("e",), items=items, fingerprint="b2:0"), rows)


def test_texts_that_differ_share_the_cell_of_what_was_found_where() -> None:
    marker = BatchMarker(TUTOR, Exam(names=("e",), items=(EAT,), fingerprint="b2:0"))
    batch = AnswerBatch()
    for at, text in enumerate(["I ate, comió.", "I ate. Comió!", "He ate"]):
        batch.append(at + 1, (EAT.id, text, None, at + 1, None, None, None, None))
    marked = marker.mark_batch(batch)
    assert marked.codes[0].n_unique() == 2
    assert marked.codes[1].n_unique() == 2


def test_an_item_that_an_axis_cannot_read_fails_its_cell_in_columns_too() -> None:
    bare = Item(id="q", prompt="p", expectations={})
    exam = Exam(names=("e",), items=(bare,), fingerprint="b2:0")
    check_agreement(TUTOR, exam, [("q", "ate"), ("q", '{"correction": "ate"}')])
