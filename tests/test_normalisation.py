"""Normalisation does what the rubric names and no more; a near miss names one more step."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marking import EAT, TEXTS, TUTOR, cell, value
from markscheme.mark import DEFAULT_STEPS, STEPS, list_unused_steps, mark_answer, normalise
from markscheme.mark.axes import ContainsAll, Equals
from markscheme.read.nfc import to_nfc

# --- the steps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normal"),
    [("  ATE. ", "ate"), ("Ate..", "ate."), ("", ""), (".", ""), ("ate .", "ate "), ("Ate", "ate")],
)
def test_the_seeds_steps_strip_then_lower_then_take_one_full_stop(text: str, normal: str) -> None:
    assert normalise(text, DEFAULT_STEPS) == normal


@given(st.sampled_from([s for s in STEPS.values() if s.name != "strip_trailing_period"]), TEXTS)
def test_every_step_but_the_single_full_stop_is_idempotent(step: Any, text: str) -> None:
    once = step.apply(text)
    assert step.apply(once) == once


@given(TEXTS)
def test_the_seeds_normalisation_is_idempotent_unless_it_leaves_an_end_to_take(text: str) -> None:
    """One full stop is taken, as the seed says: `Ate..` keeps one, and `ate .` keeps a space."""
    once = normalise(text, DEFAULT_STEPS)
    if not once.endswith(".") and once == once.strip():
        assert normalise(once, DEFAULT_STEPS) == once


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


# --- near misses ---------------------------------------------------------------------------------


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
    expected_text = '"comio" lacks the accent of "comió"; it would pass if accents were ignored'
    assert missed.reason == expected_text


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        ("a\u200bte", "strip_invisible", '"a te" differs from "ate" by U+200B ZERO WIDTH SPACE'),
        ("a\u00adte", "strip_invisible", '"a te" differs from "ate" by U+00AD SOFT HYPHEN'),
        (
            "\u0410te",
            "fold_lookalikes",
            '"\u0430te" differs from "ate" by U+0430 CYRILLIC SMALL LETTER A, which looks like "a"',
        ),
        (
            "at\u0395",
            "fold_lookalikes",
            (
                '"at\u03b5" differs from "ate" by U+03B5 GREEK SMALL LETTER EPSILON, '
                'which looks like "e"'
            ),
        ),
    ],
)
def test_a_near_miss_that_cannot_be_seen_names_the_character(
    text: str, step: str, reason: str
) -> None:
    missed = cell(ContainsAll(), f"He {text} it.", expected_contains=["ate"])
    assert (missed.value, missed.near_miss) == (Fraction(0), step)
    assert missed.reason == f"{reason}; it would pass if {STEPS[step].would_pass_if}"


def test_more_than_one_full_stop_is_a_near_miss_where_the_whole_text_counts() -> None:
    assert value(Equals(), "Ate.", expected="ate") == 1
    missed = cell(Equals(), "Ate...", expected="ate")
    assert (missed.value, missed.near_miss) == (Fraction(0), "strip_trailing_periods")


def test_a_rubric_without_the_case_fold_reports_case_as_the_near_miss() -> None:
    missed = cell(ContainsAll(normalise=("strip",)), "ATE", expected_contains=["ate"])
    assert missed.near_miss == "lower"


def test_a_plain_wrong_answer_is_no_near_miss() -> None:
    assert cell(ContainsAll(), "eated", expected_contains=["went"]).near_miss is None


@given(TEXTS, TEXTS.filter(lambda text: normalise(text, DEFAULT_STEPS) != ""))
def test_the_essence_rules_out_no_near_miss(text: str, expected: str) -> None:
    """Trying every step by hand finds a near miss only where the quick look lets it be tried."""
    axis, text, expected = ContainsAll(), to_nfc(text), to_nfc(expected)
    normal, entry = normalise(text, DEFAULT_STEPS), normalise(expected, DEFAULT_STEPS)
    by_hand = [
        step.name
        for step in list_unused_steps(DEFAULT_STEPS)
        if step.apply(entry) and step.apply(entry) in step.apply(normal)
    ]
    judged = cell(axis, text, expected_contains=[expected])
    if judged.value == 0:
        assert judged.near_miss == (by_hand[0] if by_hand else None)
