"""What a learner typed, read as forms of the verb table: which form is it, and of which verb?

Only items whose tags name a verb, a tense and a person of the table are read this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from markscheme.mark import DEFAULT_STEPS, fold, normalise
from markscheme.read.verbs import Person, Tense, VerbForm, VerbTable, load_verbs

if TYPE_CHECKING:
    from markscheme.vocabulary import Item

_ENGLISH_PRONOUNS = ("i", "you", "he", "she", "it", "we", "they")
_SPANISH_PRONOUNS = (
    "yo", "tú", "tu", "vos", "usted", "él", "el", "ella", "ello", "nosotros", "nosotras",
    "vosotros", "vosotras", "ustedes", "ellos", "ellas",
)  # fmt: skip
PRONOUNS = frozenset((*_ENGLISH_PRONOUNS, *_SPANISH_PRONOUNS))
_FIRST_WORD = re.compile(r"([^\W\d_]+)(\s+|(?=['\N{RIGHT SINGLE QUOTATION MARK}]))")
_WORD = re.compile(r"\w+")
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"


class FormReading(Struct, frozen=True, kw_only=True):
    """One way to read a typed form: its verb, and its tense and person unless it is non-finite."""

    verb: str
    tense: Tense | None = None
    person: Person | None = None


def find_item_form(item: Item) -> VerbForm | None:
    """Return the form of the table that an item asks for, or None if its tags name none."""
    verb, tense, person = (item.tags.get(key, "") for key in ("verb", "tense", "person"))
    if verb in load_verbs().verbs and tense in set(Tense) and person in set(Person):
        return verb, Tense(tense), Person(person)
    return None


def strip_pronoun(text: str) -> str:
    """Normalise a typed text as the seed's rubric does, and remove a pronoun in front.

    >>> strip_pronoun(" He ate. "), strip_pronoun("he's eaten"), strip_pronoun("ella comió")
    ('ate', "'s eaten", 'comió')
    """
    plain = " ".join(normalise(text, DEFAULT_STEPS).split())
    first = _FIRST_WORD.match(plain)
    return plain[first.end() :] if first and first[1] in PRONOUNS else plain


def holds_only(text: str, groups: Sequence[Sequence[str]]) -> bool:
    """Whether a text is the expected entries and nothing else but pronouns.

    Each group holds the alternatives of one expected entry, as whole words.

    >>> holds_only("she ate", [["ate"]]), holds_only("eated", [["ate"]])
    (True, False)
    """
    rest = " ".join(normalise(text, DEFAULT_STEPS).split())
    for group in groups:
        found = next(filter(None, (_find_entry(rest, entry) for entry in group)), None)
        if found is None:
            return False
        rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    return all(word in PRONOUNS for word in _WORD.findall(rest))


def _find_entry(text: str, entry: str) -> re.Match[str] | None:
    """Find an entry as a whole word; before an apostrophe a pronoun may stand."""
    plain = " ".join(normalise(entry, DEFAULT_STEPS).split())
    before = "" if plain.startswith(tuple(_APOSTROPHES)) else r"(?<!\w)"
    return re.search(rf"{before}{re.escape(plain)}(?!\w)", text)


def read_english(text: str) -> tuple[FormReading, ...]:
    """Return every way to read a typed English text as one form of the table."""
    return _index_english_forms().get(strip_pronoun(text).removeprefix("to "), ())


def read_spanish(text: str) -> tuple[FormReading, ...]:
    """Return every way to read a typed Spanish text as one form of the table."""
    return _index_spanish_forms().get(strip_pronoun(text), ())


def is_other_spanish_form(text: str, expected: Sequence[str]) -> bool:
    """Whether a typed text is, or holds in place of the expected form, another form of the table.

    In 36 pairs of the table only the accent separates two forms (*tomo*, *tomó*), so an accent
    that is missing there is no slip.
    """
    plain = strip_pronoun(text)
    if plain in _index_spanish_forms() and plain not in expected:
        return True
    wanted = {fold(entry) for entry in expected}
    twins = (form for entry in wanted for form in _index_folded_forms().get(entry, ()))
    return any(form not in expected and _find_entry(plain, form) for form in twins)


@cache
def _index_english_forms() -> Mapping[str, tuple[FormReading, ...]]:
    table = load_verbs()
    index: dict[str, list[FormReading]] = {}
    for verb, tense, person in _list_table_forms(table):
        for form in table.list_english_forms(verb, tense, person):
            reading = FormReading(verb=verb, tense=tense, person=person)
            index.setdefault(form.lower(), []).append(reading)
    for parts in table.verbs.values():
        for form in (parts.base, parts.past, parts.participle, parts.ing):
            index.setdefault(form, []).append(FormReading(verb=parts.base))
    for (base, _), form in table.variants.items():
        index.setdefault(form, []).append(FormReading(verb=base))
    return {form: tuple(readings) for form, readings in index.items()}


@cache
def _index_spanish_forms() -> Mapping[str, tuple[FormReading, ...]]:
    table = load_verbs()
    index: dict[str, list[FormReading]] = {}
    for verb, tense, person in _list_table_forms(table):
        for form in table.list_spanish_forms(verb, tense, person):
            reading = FormReading(verb=verb, tense=tense, person=person)
            index.setdefault(form.lower(), []).append(reading)
    for parts in table.verbs.values():
        index.setdefault(parts.spanish, []).append(FormReading(verb=parts.base))
    return {form: tuple(readings) for form, readings in index.items()}


@cache
def _index_folded_forms() -> Mapping[str, tuple[str, ...]]:
    index: dict[str, list[str]] = {}
    for form in _index_spanish_forms():
        index.setdefault(fold(form), []).append(form)
    return {folded: tuple(forms) for folded, forms in index.items()}


def _list_table_forms(table: VerbTable) -> Iterator[VerbForm]:
    for verb in table.verbs:
        for tense in Tense:
            for person in Person:
                yield verb, tense, person
