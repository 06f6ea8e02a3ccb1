"""Check that every lost point has a learner's sentence: all forms of the table, all kinds of error.

Example:
    python scripts/check_feedback.py           the whole table, both rubrics, both languages
    python scripts/check_feedback.py --every 50  every fiftieth form
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Iterator

from markscheme.learn import build_answer, explain_answer, grade_answer
from markscheme.mark import read_response
from markscheme.read.verbs import Person, Tense, VerbForm, VerbTable, load_verbs
from markscheme.tell.language import set_language, translate_stored
from markscheme.vocabulary import Item, Message
from markscheme.workflows.documents import load_rubric

AUTHORS_WORDS = ("at character", "is missing from", "would pass if", "at most {", "se esperaba")
"""Words of the reasons of cells, which are for authors."""


def build_item(table: VerbTable, form: VerbForm) -> Item:
    """Return the item that asks for a form."""
    verb, tense, person = form
    return Item(
        id=f"{verb}-{tense}-{person}",
        prompt=f"Conjugate '{verb}' — {tense.label}, {person.label}.",
        expectations={
            "expected_contains": [list(table.list_english_forms(*form))],
            "gloss_contains": [list(table.list_spanish_forms(*form))],
        },
        tags={"verb": verb, "tense": str(tense), "person": str(person)},
    )


def strip_accents(text: str) -> str:
    """Return a text without its accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def list_mistakes(table: VerbTable, form: VerbForm) -> Iterator[tuple[str, str]]:
    """Yield answers (English, Spanish) with each kind of error: at least one loses something."""
    verb, tense, person = form
    english, spanish = table.get_english_form(*form), table.get_spanish_form(*form)
    yield "", ""
    yield english, ""
    yield "", spanish
    yield english, strip_accents(spanish)
    yield f"é{english}", spanish
    yield english.replace("a", "\N{CYRILLIC SMALL LETTER A}"), spanish
    yield f"{english[:1]}\N{ZERO WIDTH SPACE}{english[1:]}", f"{spanish[:1]}\u200b{spanish[1:]}"
    yield f"{verb}ed", table.verbs[verb].spanish
    yield table.verbs[verb].ing, "xyz"
    other = "drink" if verb != "drink" else "eat"
    yield table.get_english_form(other, tense, person), table.get_spanish_form(other, tense, person)
    for one in Tense:
        yield table.get_english_form(verb, one, person), table.get_spanish_form(verb, one, person)
    for somebody in Person:
        yield (
            table.get_english_form(verb, tense, somebody),
            table.get_spanish_form(verb, tense, somebody),
        )
    yield f"{english} and more of it", f"{spanish} y mucho más de eso"


def find_silent_losses(every: int = 1) -> list[str]:
    """Return what is wrong: a lost point without a sentence, in one of the languages."""
    table, problems, number = load_verbs(), [], 0
    rubrics = [load_rubric(name) for name in ("tutor-capstone", "tutor-capstone-strict")]
    forms = [(verb, tense, person) for verb in table.verbs for tense in Tense for person in Person]
    for form in forms[::every]:
        item = build_item(table, form)
        for typed, gloss in list_mistakes(table, form):
            for rubric in rubrics:
                number += 1
                fields = {"correction": typed, "spanish_gloss": gloss}
                output = build_answer(rubric, fields)
                breakdown = grade_answer(rubric, item, output).breakdown
                response = read_response(output, rubric.fields)
                told = {
                    feedback.axis: feedback.text
                    for feedback in explain_answer(rubric, item, response, breakdown)
                }
                lost = [name for name, cell in breakdown.cells.items() if cell.value != 1]
                for axis in lost:
                    problems += [
                        f"{item.id} {fields} {rubric.name} {axis}: {why}"
                        for why in find_fault(told.get(axis, ""))
                    ]
    if not number:
        problems.append("nothing was checked")
    return problems


def find_fault(text: str) -> Iterator[str]:
    """Yield what is wrong with the sentence of a lost point."""
    if not isinstance(text, Message):
        yield "no sentence"
        return
    if text == "right":
        yield "it says right"
    shown = {}
    for language in ("en", "es"):
        set_language(language)
        shown[language] = translate_stored(text)
    set_language("en")
    if shown["en"] == shown["es"]:
        yield f"no Spanish: {text}"
    if any(words in sentence for sentence in shown.values() for words in AUTHORS_WORDS):
        yield f"an author's word: {text}"


def main() -> int:
    """Check, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    problems = find_silent_losses(parser.parse_args().every)
    print("\n".join(problems[:50]) or "every lost point has a sentence in both languages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
