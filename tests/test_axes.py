"""What each axis on text, numbers and sizes says of a response, and why."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from marking import cell, value
from markscheme import Item
from markscheme.mark import read_response
from markscheme.mark.axes import (
    ContainsAll,
    Length,
    Match,
    MaxWords,
    NumberWithin,
    OneOf,
    PatternAxis,
    Unit,
)
from markscheme.vocabulary import ResponseFields

# --- text ----------------------------------------------------------------------------------------


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


def test_a_word_that_is_there_only_as_part_of_another_is_told_so() -> None:
    missed = cell(ContainsAll(match=Match.WORD), "He has eaten.", expected_contains=["ate"])
    assert missed.reason == '"ate" is only part of a longer word in "He has eaten."'


def test_one_of_wants_the_whole_text_to_be_one_of_the_list() -> None:
    axis = OneOf()
    assert value(axis, " Autumn. ", expected_one_of=["fall", "autumn"]) == 1
    assert value(axis, "in autumn", expected_one_of=["fall", "autumn"]) == 0


def test_pattern_finds_or_says_how_nearly() -> None:
    axis = PatternAxis(pattern="^h[ae]s$")
    assert cell(axis, "has").reason == "matches `^h[ae]s$` at character 1"
    missed = cell(axis, " HAS")
    assert missed.value == 0
    assert cell(axis, "HAS").near_miss == "lower"
    assert cell(PatternAxis(pattern="ió"), "él comió").reason.endswith("at character 7")
    assert value(PatternAxis(), "abc", expected_pattern="b.$") == 1


def test_a_pattern_that_would_take_for_ever_elsewhere_is_quick() -> None:
    assert value(PatternAxis(pattern="^(a+)+$"), "a" * 50_000 + "!") == 0


# --- numbers -------------------------------------------------------------------------------------


def number_field(name: str) -> ResponseFields:
    return ResponseFields(accepted={name: NumberWithin.accepts}, numeric=(name,))


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


@pytest.mark.parametrize("depth", [900, 5000])
def test_a_number_beside_deep_or_endless_values_fails_no_run(depth: int) -> None:
    nested = f'{{"v": 3, "c": {"[" * depth}{"]" * depth}}}'
    for output in (nested, '{"v": 1e-99999999999999999999}', {"v": 10**5000}):
        response = read_response(output, number_field("v"))
        item = Item(id="x", prompt="p", expectations={"expected_number": 4})
        assert NumberWithin(reads="v").mark(response, item).value == 0


# --- sizes ---------------------------------------------------------------------------------------


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
