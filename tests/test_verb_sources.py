"""Compare the verb table with two libraries that were not used to make it.

English: `lemminflect`. Spanish: `verbecc`, with its guessing of unknown verbs switched off. A form
differs where the source's first form is another one; every difference is judged by hand and
recorded in `verb_differences.csv`. One that is not recorded, or is no longer there, fails.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import warnings
from pathlib import Path
from typing import Any

import pytest

from markscheme.read.verbs import Person, Tense, load_verbs

DIFFERENCES = Path(__file__).with_name("verb_differences.csv")
Difference = tuple[str, str, str, str]
TAGS = {"third": "VBZ", "past": "VBD", "participle": "VBN", "ing": "VBG"}
SIMPLE = {
    Tense.PRESENT_SIMPLE: "presente",
    Tense.PAST_SIMPLE: "pretérito-perfecto-simple",
    Tense.FUTURE_SIMPLE: "futuro",
    Tense.PRESENT_PERFECT: "pretérito-perfecto-compuesto",
}
PLACES = {"1sg": 0, "2sg": 1, "3sg": 2, "1pl": 3, "3pl": 5}


def library(name: str) -> Any:
    """A third-party library, without the warnings of its import; skips where it is absent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is a source for development only")


def recorded(language: str) -> set[Difference]:
    """The differences judged by hand: verb, form, the table's, the source's."""
    with DIFFERENCES.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["language"] == language]
    return {(row["verb"], row["form"], row["table"], row["source"]) for row in rows}


@pytest.fixture(scope="module")
def lemminflect() -> Any:
    return library("lemminflect")


@pytest.fixture(scope="module")
def conjugate(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with contextlib.chdir(tmp_path_factory.mktemp("verbecc")):  # its import leaves a log file
        verbecc = library("verbecc")
    importlib.import_module("verbecc.config").ml = False  # type: ignore[attr-defined]
    return verbecc.Conjugator(lang="es").conjugate


def spanish_form(conjugate: Any, infinitive: str, tense: Tense, person: Person) -> str:
    """What the source says, without the pronoun that it puts first."""
    if tense is Tense.PRESENT_CONTINUOUS:
        gerund = conjugate(infinitive)["moods"]["gerundio"]["gerundio"][0]
        return f"{spanish_form(conjugate, 'estar', Tense.PRESENT_SIMPLE, person)} {gerund}"
    forms = conjugate(infinitive)["moods"]["indicativo"][SIMPLE[tense]]
    return str(forms[PLACES[person]]).partition(" ")[2]


def test_english_parts_differ_from_the_source_only_as_recorded(lemminflect: Any) -> None:
    found = {
        (verb.base, part, getattr(verb, part), source)
        for verb in load_verbs().verbs.values()
        for part, tag in TAGS.items()
        for source in lemminflect.getInflection(verb.base, tag, inflect_oov=False)[:1] or [""]
        if source != getattr(verb, part)
    }
    assert found == recorded("en")


def test_the_persons_of_be_are_those_of_the_source(lemminflect: Any) -> None:
    table = load_verbs()
    present = {table.get_english_form("be", Tense.PRESENT_SIMPLE, person) for person in Person}
    past = {table.get_english_form("be", Tense.PAST_SIMPLE, person) for person in Person}
    assert present == {"is", *lemminflect.getInflection("be", "VBP")}
    assert past == {*lemminflect.getInflection("be", "VBD")}


def test_spanish_forms_differ_from_the_source_only_as_recorded(conjugate: Any) -> None:
    table = load_verbs()
    found = {
        (verb.base, f"{tense} {person}", table.get_spanish_form(verb.base, tense, person), source)
        for verb in table.verbs.values()
        for tense in Tense
        for person in Person
        for source in [spanish_form(conjugate, verb.spanish, tense, person)]
        if source != table.get_spanish_form(verb.base, tense, person)
    }
    assert found == recorded("es")


def test_every_second_spelling_is_one_that_the_source_knows(lemminflect: Any) -> None:
    found = {
        key: form
        for key, form in load_verbs().variants.items()
        if form not in lemminflect.getInflection(key[0], TAGS[key[1]], inflect_oov=False)
    }
    # The source has it as a past only; dictionaries of British English have it as both.
    assert found == {("learn", "participle"): "learnt"}


def test_the_imperfects_of_states_are_those_of_the_source(conjugate: Any) -> None:
    table = load_verbs()
    found = {
        key: source
        for key, form in table.imperfects.items()
        for moods in [conjugate(table.verbs[key[0]].spanish)["moods"]["indicativo"]]
        for source in [moods["pretérito-imperfecto"][PLACES[Person(key[1])]].partition(" ")[2]]
        if source != form
    }
    assert found == {}


def test_every_recorded_difference_gives_its_reason() -> None:
    with DIFFERENCES.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert rows
    assert all(row["why"].endswith(".") for row in rows)
