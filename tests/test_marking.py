"""Marking: normalisation, the reading of raw outputs, the axes, and the exact score."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import AxisSpec, Cell, Exam, Item, Reading, Rubric, Status, load_rubric
from markscheme.mark.axes.contract import JsonSchema, is_surely_a_schema
from markscheme.mark.axes.numeric import NumberWithin
from markscheme.mark.axes.pattern import Pattern
from markscheme.mark.axes.size import Length, MaxWords, Unit
from markscheme.mark.axes.text import ContainsAll, Equals, Match, OneOf
from markscheme.mark.columns import Marker
from markscheme.mark.normalise import DEFAULT_STEPS, STEPS, further_steps, normalise
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import mark_answer
from markscheme.read.answers import AnswerBatch
from markscheme.read.composed import composed
from markscheme.vocabulary import Fields

if TYPE_CHECKING:
    from markscheme.vocabulary import Axis


TUTOR = load_rubric("tutor-capstone")
EAT = Item(
    id="e-39-01",
    prompt="Conjugate 'eat' — past simple, 3rd singular.",
    expectations={"expected_contains": ["ate"], "gloss_contains": ["comió"]},
)
HOSTILE = st.one_of(
    st.text(),
    st.text(alphabet=" .ATEateó'\"\t\n\u0301ﬁİſΣς\x1c\x85"),
    st.sampled_from(["Ate.", "  ATE. ", "Ate..", "", "comió", "comio\u0301", "COMIÓ."]),
)


def cell(axis: Axis, text: str, **expectations: Any) -> Cell:
    """Return what the axis says of a text that is the whole response."""
    item = Item(id="x", prompt="p", expectations=expectations)
    assert list(axis.item_problems(item)) == []
    return axis.mark(read_response(text), item)


def number_field(name: str) -> Fields:
    return Fields(accepted={name: NumberWithin.accepts}, numeric=(name,))


def value(axis: Axis, text: str, **expectations: Any) -> int:
    got = cell(axis, text, **expectations).value
    assert got is not None
    return int(got)


# --- normalisation -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normal"),
    [("  ATE. ", "ate"), ("Ate..", "ate."), ("", ""), (".", ""), ("ate .", "ate "), ("Ate", "ate")],
)
def test_the_seeds_steps_strip_then_lower_then_take_one_full_stop(text: str, normal: str) -> None:
    assert normalise(text, DEFAULT_STEPS) == normal


@given(st.sampled_from([s for s in STEPS.values() if s.name != "strip_trailing_period"]), HOSTILE)
def test_every_step_but_the_single_full_stop_is_idempotent(step: Any, text: str) -> None:
    once = step.apply(text)
    assert step.apply(once) == once


@given(HOSTILE)
def test_the_seeds_normalisation_is_idempotent_unless_it_leaves_an_end_to_take(text: str) -> None:
    """One full stop is taken, as the seed says: `Ate..` keeps one, and `ate .` keeps a space."""
    once = normalise(text, DEFAULT_STEPS)
    if not once.endswith(".") and once == once.strip():
        assert normalise(once, DEFAULT_STEPS) == once


# --- reading a raw output ----------------------------------------------------------------------


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


def test_a_schema_that_does_not_ask_for_a_field_is_lost_all_the_same_when_an_axis_misses_it() -> (
    None
):
    lenient = JsonSchema(schema={"type": "object"})
    response = read_response('{"other": "Ate."}', Fields(accepted={"correction": (str,)}))
    missed = lenient.mark(response, EAT)
    assert missed.value == 0
    assert "correction" in missed.reason


@given(HOSTILE, HOSTILE.filter(lambda text: normalise(text, DEFAULT_STEPS) != ""))
def test_the_essence_rules_out_no_near_miss(text: str, expected: str) -> None:
    """Trying every step by hand finds a near miss only where the quick look lets it be tried."""
    axis, text, expected = ContainsAll(), composed(text), composed(expected)
    normal, entry = normalise(text, DEFAULT_STEPS), normalise(expected, DEFAULT_STEPS)
    by_hand = [
        step.name
        for step in further_steps(DEFAULT_STEPS)
        if step.apply(entry) and step.apply(entry) in step.apply(normal)
    ]
    judged = cell(axis, text, expected_contains=[expected])
    if judged.value == 0:
        assert judged.near_miss == (by_hand[0] if by_hand else None)


# --- the seed's example ------------------------------------------------------------------------


def test_the_seeds_example_scores_0_75_not_0_95() -> None:
    output = json.dumps(
        {"correction": "Ate.", "spanish_gloss": "", "explanation": "Irregular past."}
    )
    marked = mark_answer(TUTOR, EAT, output)
    assert marked.score == Fraction(75, 100)
    assert {axis: c.value for axis, c in marked.cells.items()} == {
        "correctness": 1,
        "spanish_gloss": 0,
        "schema": 1,
        "conciseness": 1,
    }
    assert list(marked.weighted.values()) == [
        Fraction(60, 100),
        0,
        Fraction(1, 10),
        Fraction(1, 20),
    ]


@pytest.mark.parametrize(
    ("got", "right"), [("  ATE. ", 1), ("Ate..", 1), ("", 0), ("He ate it.", 1), ("Eat.", 0)]
)
def test_the_seeds_words_about_normalisation_hold(got: str, right: int) -> None:
    assert value(ContainsAll(), got, expected_contains=["ate"]) == right


def test_an_accent_typed_as_two_code_points_is_the_same_accent() -> None:
    decomposed = "comio\u0301"
    assert value(ContainsAll(), decomposed, expected_contains=["comió"]) == 1
    escaped = '{"correction": "ate", "spanish_gloss": "comio\\u0301", "explanation": "x"}'
    assert mark_answer(TUTOR, EAT, escaped).cells["spanish_gloss"].value == 1
    structured = {"correction": "ate", "spanish_gloss": decomposed, "explanation": "x"}
    assert mark_answer(TUTOR, EAT, structured).cells["spanish_gloss"].value == 1


# --- the axes ----------------------------------------------------------------------------------


def test_contains_all_says_what_was_found_where_and_what_is_missing() -> None:
    found = cell(ContainsAll(), "She has Eaten.", expected_contains=["has", "eaten"])
    assert found.reason == 'found "has" at character 5, "eaten" at character 9'
    missing = cell(ContainsAll(), "She has gone.", expected_contains=["has", "eaten"])
    assert missing.reason == '"eaten" is missing from "She has gone."'
    empty = cell(ContainsAll(), " ", expected_contains=["eaten"])
    assert empty.reason == 'the text is empty; "eaten" is expected'


@pytest.mark.parametrize(
    ("text", "entry", "passes"),
    [
        ("eaten", "ate", False),
        ("He ate.", "ate", True),
        ("ate", "ate", True),
        ("(ate)", "ate", True),
        ("ate_", "ate", False),
        ("eaten, then ate", "ate", True),
        ("áte ate", "te", False),
        ("comió", "comi", False),
    ],
)
def test_match_word_wants_the_entry_to_stand_alone(text: str, entry: str, *, passes: bool) -> None:
    axis = ContainsAll(match=Match.WORD)
    assert value(axis, text, expected_contains=[entry]) == passes
    assert value(ContainsAll(), text, expected_contains=[entry]) == 1


@pytest.mark.parametrize(
    ("text", "expected", "step"),
    [
        ("comio", "comió", "ignore_accents"),
        ("don’t", "don't", "ignore_quotes"),
        ("has  eaten", "has eaten", "collapse_whitespace"),
        ("ﬁnd", "find", "compatibility_form"),
        ("co-operate", "cooperate", "ignore_punctuation"),
    ],
)
def test_a_near_miss_names_the_single_step_that_is_lacking(
    text: str, expected: str, step: str
) -> None:
    missed = cell(ContainsAll(), text, expected_contains=[expected])
    assert (missed.value, missed.near_miss) == (Fraction(0), step)
    assert missed.reason.endswith(f"it would pass if {STEPS[step].would_pass_if}")
    exactly = cell(Equals(), text, expected=expected)
    assert exactly.near_miss == step


def test_the_near_miss_of_an_accent_reads_like_a_sentence() -> None:
    missed = cell(ContainsAll(), "Él comio.", expected_contains=["comió"])
    said = '"comio" lacks the accent of "comió"; it would pass if accents were ignored'
    assert missed.reason == said


def test_more_than_one_full_stop_is_a_near_miss_where_the_whole_text_counts() -> None:
    assert value(Equals(), "Ate.", expected="ate") == 1
    missed = cell(Equals(), "Ate...", expected="ate")
    assert (missed.value, missed.near_miss) == (Fraction(0), "strip_trailing_periods")


def test_a_rubric_without_the_case_fold_reports_case_as_the_near_miss() -> None:
    missed = cell(ContainsAll(normalise=("strip",)), "ATE", expected_contains=["ate"])
    assert missed.near_miss == "lower"


def test_a_plain_wrong_answer_is_no_near_miss() -> None:
    assert cell(ContainsAll(), "eated", expected_contains=["went"]).near_miss is None


def test_one_of_wants_the_whole_text_to_be_one_of_the_list() -> None:
    axis = OneOf()
    assert value(axis, " Autumn. ", expected_one_of=["fall", "autumn"]) == 1
    assert value(axis, "in autumn", expected_one_of=["fall", "autumn"]) == 0


def test_pattern_finds_or_says_how_nearly() -> None:
    axis = Pattern(pattern="^h[ae]s$")
    assert cell(axis, "has").reason == "matches `^h[ae]s$` at character 1"
    missed = cell(axis, " HAS")
    assert missed.value == 0
    assert cell(axis, "HAS").near_miss == "lower"
    assert cell(Pattern(pattern="ió"), "él comió").reason.endswith("at character 7")
    assert value(Pattern(), "abc", expected_pattern="b.$") == 1


def test_a_pattern_that_would_take_for_ever_elsewhere_is_quick() -> None:
    assert value(Pattern(pattern="^(a+)+$"), "a" * 50_000 + "!") == 0


@pytest.mark.parametrize(
    ("text", "tolerance", "passes"),
    [
        ("10.1", Decimal("0.1"), True),
        ("10.1000000000000000001", Decimal("0.1"), False),
        ("The answer is 9.9.", Decimal("0.1"), True),
        ("10.2", "2%", True),
        ("10.21", "2%", False),
        ("1e1", Decimal(0), True),
        ("-10", Decimal(0), False),
        ("ten", Decimal(100), False),
        ("10 or 11", Decimal(100), False),
        ("10.5kg", Decimal(100), False),
        ("10,500kg", Decimal(100), False),
        ("10.5e99999999999", Decimal(100), False),
        ("1.2.3", Decimal(100), False),
        ("12,10", Decimal(0), False),
        ("1.2,10", Decimal(0), False),
        (".1e2", Decimal(0), True),
        ("v10", Decimal(100), False),
    ],
)
def test_number_within_is_exact_at_its_ends(text: str, tolerance: Any, *, passes: bool) -> None:
    assert value(NumberWithin(tolerance=tolerance), text, expected_number=10) == passes


def test_number_within_reads_a_number_field_and_thousands() -> None:
    axis = NumberWithin(reads="total", tolerance=Decimal("0.5"))
    item = Item(id="x", prompt="p", expectations={"expected_number": Decimal("1234.1")})
    response = read_response('{"total": 1234.6}', number_field("total"))
    assert response.lacking == ()
    assert axis.mark(response, item).value == 1
    assert axis.judge("1,234.6 in all", item).value == 1


def test_a_number_in_a_field_is_compared_as_it_is_written() -> None:
    axis = NumberWithin(reads="v", tolerance=Decimal("0.5"))
    item = Item(id="x", prompt="p", expectations={"expected_number": Decimal("0.1")})

    def marked(number: str) -> Any:
        return axis.mark(read_response(f'{{"v": {number}}}', number_field("v")), item)

    assert marked("0.6").value == 1
    assert marked("0.6000000000000000000001").value == 0
    assert marked("1e999999999").value == 0
    fenced = read_response('```json\n{"v": 0.60}\n```', number_field("v"))
    assert axis.mark(fenced, item).value == 1


def test_a_minus_sign_of_typographers_is_a_minus_sign() -> None:
    assert value(NumberWithin(), "\N{MINUS SIGN}50", expected_number=50) == 0
    assert value(NumberWithin(), "\N{MINUS SIGN}50", expected_number=-50) == 1


def test_a_word_that_is_there_only_as_part_of_another_is_told_so() -> None:
    missed = cell(ContainsAll(match=Match.WORD), "He has eaten.", expected_contains=["ate"])
    assert missed.reason == '"ate" is only part of a longer word in "He has eaten."'


def test_lengths_are_counted_in_characters_words_or_lines() -> None:
    assert value(Length(at_most=3), "año") == 1
    assert cell(Length(at_most=3), "años").reason == "4 characters, at most 3 allowed"
    assert value(Length(unit=Unit.WORDS, at_least=2), "one") == 0
    assert value(Length(unit=Unit.LINES, at_least=2, at_most=2), "one\ntwo\n") == 1


@pytest.mark.parametrize(("words", "passes"), [(0, True), (30, True), (31, False)])
def test_conciseness_allows_exactly_thirty_words(words: int, *, passes: bool) -> None:
    judged = cell(MaxWords(limit=30), " word\n" * words)
    assert judged.value == passes
    assert judged.reason.startswith(f"{words} word")


def test_the_schema_axis_names_the_first_violations_with_their_paths() -> None:
    output = json.dumps({"correction": 3, "spanish_gloss": "x", "more": 1})
    reason = mark_answer(TUTOR, EAT, output).cells["schema"].reason
    assert "correction" in reason
    assert "explanation" in reason
    broken = mark_answer(TUTOR, EAT, '{"correction": ').cells["schema"].reason
    assert broken.startswith("the response is no JSON object: not JSON (")


# --- cells and scores --------------------------------------------------------------------------


def test_a_cell_has_a_value_exactly_when_it_is_scored() -> None:
    with pytest.raises(ValueError, match="exactly when it is scored"):
        Cell(status=Status.FAILED, value=Fraction(0), reason="x")
    with pytest.raises(ValueError, match="from 0 to 1"):
        Cell(status=Status.SCORED, value=Fraction(2), reason="x")


def test_an_axis_that_raises_gives_a_failed_cell_and_no_score() -> None:
    class Broken(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:
            raise RuntimeError(text + item.id)

    spec = TUTOR.axes[3]
    broken = type(spec)(name=spec.name, weight=spec.weight, axis=Broken(limit=30))
    rubric = Rubric(
        name="r", version=1, axes=(*TUTOR.axes[:3], broken), gates=(), fingerprint="b2:0"
    )
    marked = mark_answer(rubric, EAT, "Ate.")
    assert marked.cells["conciseness"].status is Status.FAILED
    assert marked.cells["conciseness"].reason == "the axis failed: RuntimeError: Ate.e-39-01"
    assert marked.score is None


OUTPUTS = st.one_of(
    HOSTILE,
    st.fixed_dictionaries(
        {},
        optional={
            "correction": st.one_of(HOSTILE, st.integers()),
            "spanish_gloss": st.one_of(HOSTILE, st.none()),
            "explanation": HOSTILE,
            "extra": HOSTILE,
        },
    ).map(json.dumps),
    HOSTILE.map(lambda text: f"```json\n{json.dumps({'correction': text})}\n```"),
)


@given(OUTPUTS)
def test_the_score_is_the_exact_sum_of_weight_times_value(output: str) -> None:
    marked = mark_answer(TUTOR, EAT, output)
    values = [marked.cells[spec.name].value for spec in TUTOR]
    total = sum(Fraction(s.weight) * (v or 0) for s, v in zip(TUTOR, values, strict=True))
    assert marked.score == total == sum(v or 0 for v in marked.weighted.values())


@given(st.permutations(TUTOR.axes), OUTPUTS)
def test_the_score_does_not_depend_on_the_order_of_the_axes(axes: list[Any], output: str) -> None:
    moved = Rubric(name="r", version=1, axes=tuple(axes), gates=(), fingerprint="b2:0")
    one, two = mark_answer(TUTOR, EAT, output), mark_answer(moved, EAT, output)
    assert one.score == two.score
    assert dict(one.cells) == dict(two.cells)


def check_agreement(rubric: Rubric, exam: Exam, rows: list[tuple[str, Any]]) -> None:
    """Compare the columns with the definition cell by cell, the second time from memory."""
    marker, items = Marker(rubric, exam), {item.id: item for item in exam.items}
    batch = AnswerBatch()
    for at, (item, output) in enumerate(rows):
        batch.append(at + 1, (item, output, None, at + 1, None, None, None, None))
    for _ in range(2):
        marked = marker.mark(batch)
        for at, (item, output) in enumerate(rows):
            wanted = mark_answer(rubric, items[item], output)
            got = [marked.cell(axis, at) for axis in range(len(rubric.axes))]
            assert got == list(wanted.cells.values())
            assert marked.got[at] == wanted.got
            assert marked.readings[at] == wanted.reading.value
            values = tuple(found.value for found in wanted.cells.values())
            assert marked.values[marked.vectors[at]] == values


TEXT_FIELDS = st.fixed_dictionaries(
    {}, optional={"word": HOSTILE, "total": st.one_of(HOSTILE, st.integers()), "more": HOSTILE}
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


@pytest.mark.parametrize("depth", [900, 5000])
def test_a_number_beside_deep_or_endless_values_fails_no_run(depth: int) -> None:
    nested = f'{{"v": 3, "c": {"[" * depth}{"]" * depth}}}'
    for output in (nested, '{"v": 1e-99999999999999999999}', {"v": 10**5000}):
        response = read_response(output, number_field("v"))
        item = Item(id="x", prompt="p", expectations={"expected_number": 4})
        assert NumberWithin(reads="v").mark(response, item).value == 0


def test_the_leading_axis_is_the_first_that_expects_something_of_the_item() -> None:
    fixed = AxisSpec(name="p", weight=Decimal("0.5"), axis=Pattern(pattern="a"))
    asks = AxisSpec(name="c", weight=Decimal("0.5"), axis=ContainsAll(reads="correction"))
    rubric = Rubric(name="r", version=1, axes=(fixed, asks), gates=(), fingerprint="b2:0")
    marked = mark_answer(rubric, EAT, '{"correction": "Ate."}')
    assert (marked.got, list(marked.expected)) == ("Ate.", ["ate"])


def test_an_axis_that_gives_no_cell_fails_the_cell_not_the_run() -> None:
    class Silent(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002
            return None  # type: ignore[return-value]

    axes = (AxisSpec(name="a", weight=Decimal(1), axis=Silent(limit=1)),)
    rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
    marked = mark_answer(rubric, EAT, "x")
    assert marked.cells["a"].reason == "the axis gave a NoneType, not a cell"
    assert marked.score is None


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


@given(st.lists(HOSTILE))
def test_words_are_counted_in_columns_as_one_by_one(texts: list[str]) -> None:
    axis, items = MaxWords(limit=30), pl.Series([0] * len(texts), dtype=pl.UInt32)
    (counts,) = axis.column_keys(pl.Series(texts, dtype=pl.String), items).get_columns()
    assert counts.to_list() == list(axis.keys(texts, items.to_list()))


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
    items = (Item(id="x", prompt="p", expectations=wanted), EAT)
    rows = [(item.id, text) for text in texts for item in items]
    check_agreement(rubric, Exam(names=("e",), items=items, fingerprint="b2:0"), rows)


def test_texts_that_differ_share_the_cell_of_what_was_found_where() -> None:
    marker = Marker(TUTOR, Exam(names=("e",), items=(EAT,), fingerprint="b2:0"))
    batch = AnswerBatch()
    for at, text in enumerate(["I ate, comió.", "I ate. Comió!", "He ate"]):
        batch.append(at + 1, (EAT.id, text, None, at + 1, None, None, None, None))
    marked = marker.mark(batch)
    assert marked.codes[0].n_unique() == 2
    assert marked.codes[1].n_unique() == 2


def test_an_item_that_an_axis_cannot_read_fails_its_cell_in_columns_too() -> None:
    bare = Item(id="q", prompt="p", expectations={})
    exam = Exam(names=("e",), items=(bare,), fingerprint="b2:0")
    check_agreement(TUTOR, exam, [("q", "ate"), ("q", '{"correction": "ate"}')])


# --- schemas ---

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
    if is_surely_a_schema(schema):
        assert jsonschema_rs.validator_for(schema) is not None


def test_the_usual_schema_is_surely_one() -> None:
    schemas = [getattr(spec.axis, "schema", None) for spec in load_rubric("tutor-capstone")]
    assert [is_surely_a_schema(schema) for schema in schemas] == [False, False, True, False]
