"""Checks E017 to E021: what stands in the expectations of an exam.

Forms of verbs are compared with the verb table. Texts are searched for what a reader overlooks:
invisible characters, look-alike letters, alternatives in one text, punctuation at the end.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from markscheme.mark import find_invisible, find_lookalike, normalise
from markscheme.mark.axes import ComparingAxis, iterate_texts, quote_excerpt
from markscheme.prove.lint.findings import LintFinding, locate_item_field, make_finding
from markscheme.read.documents import FieldPath
from markscheme.read.json_fields import split_words
from markscheme.read.verbs import Person, Tense, load_verbs
from markscheme.vocabulary import Item, describe_character

# From so many items on, the language of most is that of the key, whatever the key is called.
_MIN_SAME_LANGUAGE = 3
_JOINERS = "\u200c\u200d"
# Words on both sides of a slash or a bar; `and/or` is one expression.
_ALTERNATIVES = re.compile(r"[^\W\d_]{2,}(?: [^\W\d_]+)* ?[/|] ?[^\W\d_]{2,}(?: [^\W\d_]+)*")
_SLASH_WORDS = {"and/or"}
_END_MARKS = ".,;:!?…"
_OPENING_MARKS = "¿¡"
_AUXILIARIES = split_words("has have had did does do will shall would am is are was were been")
_LANGUAGES = ("English", "Spanish")


def iterate_expected_texts(item: Item, axis: ComparingAxis) -> Iterator[tuple[FieldPath, str]]:
    """Yield each text that an axis expects of an item, with its path in the item."""
    value = item.expectations[axis.expects]
    if isinstance(value, str):
        yield (axis.expects,), value
    else:
        for path, text in iterate_texts(value):
            yield (axis.expects, *path), text


def check_expectation_texts(item: Item, axis: ComparingAxis) -> Iterator[LintFinding]:
    """Yield what is odd in the texts that an axis expects of an item."""
    for path, text in iterate_expected_texts(item, axis):
        location, quoted = locate_item_field(item, *path), quote_excerpt(text)
        if found := _find_stray_character(text):
            message = f"{quoted} has the invisible character {describe_character(found)}"
            yield make_finding("E018", location, message)
        if found := _find_stray_letter(text, item):
            message = f"{quoted} has {describe_character(found)}, which looks like a Latin letter"
            yield make_finding("E019", location, message)
        if _ALTERNATIVES.fullmatch(text) and text.lower() not in _SLASH_WORDS:
            mark = "|" if "|" in text else "/"
            message = f"{quoted} is looked for as one text, with its `{mark}`"
            if not text.isupper():
                yield make_finding("E020", location, message)
        if _ends_in_mark(compared := normalise(text, axis.normalise)):
            message = f"{quoted} asks for its `{compared[-1]}`; an answer without it misses"
            yield make_finding("E021", location, message)


def _find_stray_character(text: str) -> str:
    """Return an invisible character; joiners belong in some scripts and in emoji."""
    found = find_invisible(text)
    if found in _JOINERS or unicodedata.category(found or " ") == "Mn":
        before = text[: text.index(found)][-1:]
        return "" if before and not before.isascii() else found
    return found


def _find_stray_letter(text: str, item: Item) -> str:
    """Return a look-alike letter that no text in its alphabet explains."""
    for word in re.findall(r"[^\W\d_]+", text):
        found = find_lookalike(word)
        if found and (any(map(_is_latin, word)) or not _has_own_letter(f"{text} {item.prompt}")):
            return found
    return ""


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN")


def _has_own_letter(text: str) -> bool:
    """Return whether a text has a Cyrillic or Greek letter that looks like no Latin one."""
    names = (unicodedata.name(c, "") for c in text if not find_lookalike(c))
    return any(name.startswith(("CYRILLIC", "GREEK")) for name in names)


def _ends_in_mark(text: str) -> bool:
    words = text.rstrip(_END_MARKS)
    # `p.m.` and `¿Qué tal?` end in a mark of their own.
    return words not in {text, ""} and "." not in words and words[0] not in _OPENING_MARKS


# Forms of verbs (E017)


def check_table_forms(items: Sequence[Item], axis: ComparingAxis) -> Iterator[LintFinding]:
    """Yield the expectations that the verb table contradicts."""
    forms = {item.id: found for item in items if (found := _read_form(item)) is not None}
    language = _find_language(items, axis)
    for item in items:
        if item.id not in forms:
            continue
        verb, tense, person = forms[item.id]
        right = _list_accepted(language, axis)(verb, tense, person)
        for path, text in iterate_expected_texts(item, axis):
            why = _explain_wrong_form(text, axis, verb, right, language)
            if why:
                shown = " or ".join(map(quote_excerpt, right[:2]))
                rule = f"{tense}, {person} of `{verb}` is {shown}"
                message = f"{quote_excerpt(text)} is {why}; {rule}"
                yield make_finding("E017", locate_item_field(item, *path), message)


def _read_form(item: Item) -> tuple[str, Tense, Person] | None:
    """Return the form that the tags of an item name, if the verb table has it."""
    verb, tense, person = (item.tags.get(name, "") for name in ("verb", "tense", "person"))
    known = verb in load_verbs().verbs and tense in list(Tense) and person in list(Person)
    return (verb, Tense(tense), Person(person)) if known else None


def _list_accepted(
    language: str, axis: ComparingAxis
) -> Callable[[str, Tense, Person], tuple[str, ...]]:
    """Return the function that lists the right forms as an axis compares them."""
    table = load_verbs()
    list_forms = table.list_english_forms if language == "English" else table.list_spanish_forms

    def list_normalised(verb: str, tense: Tense, person: Person) -> tuple[str, ...]:
        return tuple(normalise(form, axis.normalise) for form in list_forms(verb, tense, person))

    return list_normalised


def _list_all_forms(verb: str, language: str, axis: ComparingAxis) -> dict[str, str]:
    """Map every form of a verb to the tense and person that it is first found for."""
    forms: dict[str, str] = {}
    for tense in Tense:
        for person in Person:
            for form in _list_accepted(language, axis)(verb, tense, person):
                forms.setdefault(form, f"{tense}, {person}")
    return forms


def _find_language(items: Sequence[Item], axis: ComparingAxis) -> str:
    """Return the language that the expectations of an axis are in.

    A few items may all be wrong, so for them the name of the key decides.
    """
    counts: Counter[str] = Counter()
    for item in items:
        form = _read_form(item)
        texts = [normalise(text, axis.normalise) for _, text in iterate_expected_texts(item, axis)]
        for language in _LANGUAGES if form else ():
            counts[language] += bool({*texts} & {*_list_accepted(language, axis)(*form)})  # type: ignore[misc]
    named = "Spanish" if "gloss" in axis.expects or "spanish" in axis.expects else "English"
    other = next(language for language in _LANGUAGES if language != named)
    return other if counts[other] >= max(_MIN_SAME_LANGUAGE, counts[named] + 1) else named


def _holds_words(text: str, words: str) -> bool:
    return f" {words} " in f" {text} "


def _explain_wrong_form(
    text: str, axis: ComparingAxis, verb: str, right: tuple[str, ...], language: str
) -> str:
    """Return what a text is instead of a right form, or an empty text if it may be right."""
    compared = normalise(text, axis.normalise)
    if any(_holds_words(form, compared) for form in right):
        return ""
    held = [form for form in right if _holds_words(compared, form)]
    if held:
        # `has ate` holds the past simple, but as no form of it.
        added = set(compared.split()).difference(*map(str.split, held))
        is_wrong = language == "English" and not _AUXILIARIES.isdisjoint(added)
        return "no form of the verb" if is_wrong else ""
    own = _list_all_forms(verb, language, axis)
    if compared in own:
        return f"the form for {own[compared]}"
    other = next(name for name in _LANGUAGES if name != language)
    if compared in _list_all_forms(verb, other, axis):
        return other
    words = {word for form in own for word in form.split()}
    base = load_verbs().verbs[verb].base
    words |= {base, f"{base}ed", f"{base}d"} if language == "English" else set()
    return "no form of the verb" if set(compared.split()) <= words else ""
