"""From a breakdown to a quality of recall: the rule recall-1."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from markscheme import Exam, Item, load_exam, load_rubric
from markscheme.learn import RecallFacts, Support, compute_quality, grade_answer
from markscheme.read.verbs import Person, Tense, load_verbs

RUBRIC = load_rubric("tutor-capstone")


@cache
def whole_exam() -> Exam:
    return load_exam("capstone", "capstone-extra", "regression", rubric=RUBRIC)


def item_of(verb: str, tense: str = "past-simple", person: str = "3sg") -> Item:
    table = load_verbs()
    return Item(
        id=f"{verb}-{tense}-{person}",
        prompt=f"Conjugate '{verb}'.",
        expectations={
            "expected_contains": [list(table.list_english_forms(verb, tense, person))],
            "gloss_contains": [list(table.list_spanish_forms(verb, tense, person))],
        },
        tags={"verb": verb, "tense": tense, "person": person},
    )


def quality(
    form: str, gloss: str, item: Item | None = None, *, ms: int | None = 3_000, hint: bool = False
) -> int:
    answer = {"correction": form, "spanish_gloss": gloss, "explanation": ""}
    return grade_answer(RUBRIC, item or item_of("eat"), answer, first_key_ms=ms, hint=hint).quality


@pytest.mark.parametrize(
    ("form", "gloss", "expected"),
    [
        ("ate", "comió", 5),
        ("He ate.", "Ella comió", 5),
        ("ate", "comio", 4),
        ("ate", "", 3),
        ("eat ate eaten", "comió", 3),
        ("eated", "comió", 3),
        ("I hate it", "comió", 3),
        ("áte", "comió", 2),
        ("eats", "comió", 1),
        ("eat", "como", 1),
        ("drank", "bebió", 0),
        ("", "", 0),
    ],
)
def test_the_published_examples(form: str, gloss: str, expected: int) -> None:
    assert quality(form, gloss) == expected


def test_hesitation_and_a_hint_cost_their_share() -> None:
    assert quality("ate", "comió", ms=14_000) == 4
    assert quality("ate", "comió", ms=10_000) == 5
    assert quality("ate", "comió", ms=None) == 5
    assert quality("ate", "comió", hint=True) == 3


def test_hesitation_can_be_switched_off() -> None:
    answer = {"correction": "ate", "spanish_gloss": "comió", "explanation": ""}
    graded = grade_answer(RUBRIC, item_of("eat"), answer, first_key_ms=60_000, hesitation=False)
    assert graded.quality == 5


def test_a_missing_accent_is_no_slip_where_it_makes_another_form() -> None:
    assert quality("threw", "lanzo", item_of("throw")) == 3
    assert quality("threw", "ella lanzo", item_of("throw")) == 3
    assert quality("took", "tomo", item_of("take")) == 3


def test_contracted_forms_stand_by_themselves_behind_a_pronoun() -> None:
    item = item_of("eat", "future-simple", "1sg")
    for form in ("I'll eat", "’ll eat", "I shall eat", "will eat"):
        assert quality(form, "comeré", item) == 5


def test_every_form_typed_into_both_fields_is_capped() -> None:
    table = load_verbs()
    every = " ".join(table.get_english_form("eat", t, p) for t in Tense for p in Person)
    spanish = " ".join(table.get_spanish_form("eat", t, p) for t in Tense for p in Person)
    answer = {"correction": every, "spanish_gloss": spanish, "explanation": ""}
    graded = grade_answer(RUBRIC, item_of("eat"), answer)
    assert graded.breakdown.score == 1
    assert graded.quality == 3


def list_reachable_facts() -> list[RecallFacts]:
    """Return every combination of facts that an answer can have."""
    flags = (False, True)
    return [
        RecallFacts(
            lead=lead,
            lead_near=near,
            support=support,
            has_support=has,
            other_form=other,
            hint=hint,
            padded=padded,
            slow=slow,
        )
        for lead, near, support, has, other, hint, padded, slow in product(
            flags, flags, Support, flags, flags, flags, flags, flags
        )
        if not (lead and near) and (has or support is Support.FULL)
    ]


def test_the_quality_is_at_least_3_exactly_where_the_form_is_right() -> None:
    facts = list_reachable_facts()
    assert len(facts) == 192
    for fact in facts:
        assert (compute_quality(fact) >= 3) is fact.lead
        assert 0 <= compute_quality(fact) <= 5


def test_the_quality_never_rises_with_a_hint_or_when_slow_and_never_falls_when_more_is_right() -> (
    None
):
    def better_or_equal(a: RecallFacts, b: RecallFacts) -> bool:
        return (
            a.has_support == b.has_support
            and a.lead >= b.lead
            and (a.lead or a.lead_near >= b.lead_near)
            and a.support <= b.support
            and (a.lead or a.other_form >= b.other_form)
            and a.hint <= b.hint
            and a.padded <= b.padded
            and a.slow <= b.slow
        )

    facts = list_reachable_facts()
    for a, b in product(facts, facts):
        if better_or_equal(a, b):
            assert compute_quality(a) >= compute_quality(b), (a, b)


def test_over_random_answers_the_quality_is_3_exactly_where_correctness_is_1() -> None:
    table, rng = load_verbs(), random.Random(25)  # noqa: S311 - a seed
    verbs = list(table.verbs)
    forms = [table.get_english_form(v, t, p) for v in verbs[:20] for t in Tense for p in Person]
    glosses = [table.get_spanish_form(v, t, p) for v in verbs[:20] for t in Tense for p in Person]
    noise = ["", "he ", "zzz ", "x", "É", "'"]
    for _ in range(3_000):
        item = rng.choice(whole_exam().items)
        right = [str(next(iter(rng.choice(item.expectations["expected_contains"]))))]
        form = rng.choice(noise) + rng.choice(forms + right * 50) + rng.choice(noise)
        answer = {
            "correction": form,
            "spanish_gloss": rng.choice(glosses),
            "explanation": rng.choice(noise),
        }
        graded = grade_answer(RUBRIC, item, answer, first_key_ms=rng.randrange(20_000))
        assert (graded.quality >= 3) is (graded.breakdown.cells["correctness"].value == 1)


def test_a_rubric_without_a_second_text_is_graded_by_its_leading_axis(tmp_path: Path) -> None:
    path = tmp_path / "capitals.yaml"
    path.write_text(
        "rubric: capitals\nversion: 1\n"
        "axes: [{name: capital, kind: equals, weight: 1, reads: capital, expects: expected}]\n"
    )
    rubric = load_rubric(path)
    item = Item(id="c", prompt="The capital of France?", expectations={"expected": "Paris"})
    grades = [grade_answer(rubric, item, {"capital": text}).quality for text in ("Paris", "Rome")]
    assert grades == [5, 0]
