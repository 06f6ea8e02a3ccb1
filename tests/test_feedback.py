"""What a learner reads: every lost point has a sentence, in both languages."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from markscheme import load_exam, load_rubric
from markscheme.learn import (
    GradedReview,
    build_answer,
    classify_review,
    explain_answer,
    explain_schedule,
    fold_reviews,
    grade_answer,
    list_answer_fields,
    list_hints,
    review_card,
)
from markscheme.mark import read_response
from markscheme.tell.language import set_language, translate_stored

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import check_feedback

RUBRIC = load_rubric("tutor-capstone")
STRICT = load_rubric("tutor-capstone-strict")
ITEMS = {item.id: item for item in load_exam("capstone", "practice", rubric=RUBRIC).items}


def told(form: str, gloss: str, item: str = "e-39-01", *, strict: bool = False) -> list[str]:
    rubric = STRICT if strict else RUBRIC
    output = build_answer(rubric, {"correction": form, "spanish_gloss": gloss})
    breakdown = grade_answer(rubric, ITEMS[item], output).breakdown
    response = read_response(output, rubric.fields)
    return [
        f"{one.title}: {translate_stored(one.text)}"
        for one in explain_answer(rubric, ITEMS[item], response, breakdown)
    ]


@pytest.mark.parametrize(
    ("form", "gloss", "english", "spanish"),
    [
        ("ate", "comió", "right", "right"),
        (
            "eat ate",
            "él comió",
            "right, and you wrote more than the form, which is “ate”",
            "right",
        ),
        (
            "eated",
            "comio",
            "counted as right because “eated” contains the form; the form is “ate”",
            "the accent is missing: “comió”",
        ),
        (
            "eats",
            "comimos",
            "that is the present simple, “eats”; the past simple is “ate”",
            "that is the 1st person plural, “comimos”; the 3rd person singular is “comió”",
        ),
        (
            "drank",
            "bebió",
            "“drank” is a form of drink, not of eat; it is “ate”",
            "“bebió” is a form of beber, not of comer; it is “comió”",
        ),
        (
            "zzz",
            "",
            "not a form of eat; it is “ate”",
            "nothing written; it is “comió”",
        ),
        (
            "áte",
            "como",
            "the accents are not right: “ate”",
            "that is the present simple, “como”; the past simple is “comió”",
        ),
    ],
)
def test_each_mistake_has_its_sentence(form: str, gloss: str, english: str, spanish: str) -> None:
    assert told(form, gloss) == [f"English form: {english}", f"Spanish meaning: {spanish}"]


def test_an_accent_that_makes_another_form_is_told_as_that_form() -> None:
    assert list(ITEMS["p-41-090"].expectations["gloss_contains"]) == ["tomó"]
    assert told("took", "tomo", "p-41-090")[1] == (
        "Spanish meaning: that is the present simple, “tomo”; the past simple is “tomó”"
    )


def test_the_strict_rubric_says_which_word_only_contains_the_form() -> None:
    sentences = told("eated", "como comes come comió", strict=True)
    assert sentences == [
        "English form: not a form of eat; it is “ate”",
        "Spanish meaning: right, and you wrote more than the form, which is “comió”",
        "One Spanish form: too long: at most 3 words count",
    ]


def test_the_sentences_are_spanish_for_a_spanish_reader() -> None:
    set_language("es")
    try:
        assert told("eats", "comio") == [
            "English form: eso es presente simple, «eats»; en pasado simple es «ate»",
            "Spanish meaning: falta la tilde: «comió»",
        ]
    finally:
        set_language("en")


def test_every_lost_point_of_a_sample_of_the_table_has_a_sentence_in_both_languages() -> None:
    assert check_feedback.find_silent_losses(every=37) == []


def explain(*reviews: tuple[int, int]) -> str:
    """Return what is said after the last of some reviews of (days after the start, grade)."""
    start = date(2026, 3, 2)
    graded = [GradedReview(day=start + timedelta(days=days), grade=q) for days, q in reviews]
    before = fold_reviews(graded[:-1])
    last = graded[-1]
    kind = classify_review(before, last.day)
    return explain_schedule(kind, before, review_card(before, last), last.day, last.grade)


@pytest.mark.parametrize(
    ("reviews", "expected"),
    [
        ([(0, 5)], "It comes again tomorrow: the first step is one day."),
        ([(0, 5), (1, 5)], "It comes again in 6 days: you recalled it 2 times in a row."),
        ([(0, 2)], "It comes once more today, until you have it, and then tomorrow."),
        (
            [(0, 5), (1, 3)],
            "It comes once more today, because not all of it was right, and then in 6 days.",
        ),
        ([(0, 2), (0, 4)], "You have it now. It comes again tomorrow, as planned."),
        ([(0, 5), (0, 5)], "It was not due yet, so this was practice. It comes tomorrow."),
        (
            [(0, 5), (1, 5), (9, 5)],
            (
                "It comes again in 17 days. It was 2 days late; the interval grows from the"
                " planned 6 days."
            ),
        ),
    ],
)
def test_each_answer_says_when_the_card_comes_again_and_why(
    reviews: list[tuple[int, int]], expected: str
) -> None:
    assert explain(*reviews) == expected


def test_hints_come_in_two_stages_and_never_give_the_form_away() -> None:
    assert list_hints(ITEMS["e-39-01"], RUBRIC) == ("a··", "a·e")
    for item in ITEMS.values():
        for hint in list_hints(item, RUBRIC):
            assert "·" in hint, item


def test_the_fields_of_a_form_are_those_of_the_schema_with_titles() -> None:
    fields = list_answer_fields(RUBRIC)
    assert [(field.name, field.title, field.leads) for field in fields] == [
        ("correction", "English form", True),
        ("spanish_gloss", "Spanish meaning", True),
        ("explanation", "Short explanation", False),
    ]


def test_a_rubric_that_reads_the_whole_text_has_one_field(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("rubric: r\naxes: [{name: a, kind: contains_all, weight: 1}]\n")
    rubric = load_rubric(path)
    (field,) = list_answer_fields(rubric)
    assert field.name == ""
    assert build_answer(rubric, {"": "some text"}) == "some text"
