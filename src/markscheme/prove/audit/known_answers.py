"""Known answers: texts that are right or wrong whatever the rubric says (metamorphic tests).

A text is right if it holds the expectation word for word. It is wrong if nobody could take it for
right: not even its letters and digits, without case and accents, hold those of the expectation.
Each text is also given in other forms (capitals, spaces, a period, a code fence). A form is used
on an axis only if the axis's own normalisation undoes it, so that the cell must stay the same.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.mark import STEPS, fold, get_expectation_key, normalise, read_response
from markscheme.mark.axes import (
    ComparingAxis,
    ContainsAll,
    Equals,
    JsonSchema,
    MaxWords,
    NumberWithin,
    OneOf,
    list_alternatives,
)
from markscheme.read.golden_cases import GoldenCase, GoldenCases
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import Axis, AxisSpec, Exam, Item, Reading, Rubric, sentence

Document = Mapping[str, Any]
"""A response that is a JSON object."""

_ACCENT_STEPS = {"ignore_accents", "compatibility_form"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An output that is known to be right or wrong on one axis, and its form."""

    axis: str
    item: Item
    output: str
    right: bool
    form: str


def generate_known_answers(rubric: Rubric, exam: Exam, cases: GoldenCases) -> Iterator[KnownAnswer]:
    """Yield the known answers to the items of the exam, then those made from golden cases."""
    for spec in rubric:
        items = exam.items if get_expectation_key(spec.axis) else exam.items[:1]
        for index, item in enumerate(items):
            # The right answer to another item is a good wrong answer to this one.
            for right, text in _generate_labelled_texts(spec.axis, item, exam.items[index - 1]):
                yield from _generate_answer_forms(rubric, spec, item, text, right=right)
        for case in cases.items:
            yield from _generate_case_forms(rubric, spec, case)


def _generate_labelled_texts(axis: Axis, item: Item, other: Item) -> Iterator[tuple[bool, str]]:
    """Yield (is right, text) for texts that are surely right or surely wrong for one axis."""
    for text in list_right_texts(axis, item):
        yield True, text
    wrong = (*_generate_wrong_texts(axis, item), *list_right_texts(axis, other), item.prompt, "")
    yield from (
        (False, text) for text in dict.fromkeys(wrong) if _is_surely_wrong(axis, item, text)
    )


def list_right_texts(axis: Axis, item: Item) -> Sequence[str]:
    """Return texts that an axis must pass; none for an axis kind that is not built in."""
    match axis:
        case Equals():
            return (item.expectations[axis.expects],)
        case OneOf():
            entries: Sequence[str] = item.expectations[axis.expects]
            return entries
        case ContainsAll():
            return _join_entries(item.expectations[axis.expects])
        case NumberWithin():
            return (f"{item.expectations[axis.expects]:f}",)
        case MaxWords():
            return (" ".join(["word"] * axis.limit), "")
        case _:
            return ()


def _join_entries(entries: Sequence[Any]) -> tuple[str, ...]:
    """Return texts that hold every entry, and each of its alternatives at least once."""
    groups = [list_alternatives(entry) for entry in entries]
    count = max(map(len, groups), default=1)
    return tuple(" ".join(group[min(n, len(group) - 1)] for group in groups) for n in range(count))


def _generate_wrong_texts(axis: Axis, item: Item) -> Iterator[str]:
    """Yield candidates for wrong texts; `_is_surely_wrong` filters them."""
    if isinstance(axis, MaxWords):
        yield " ".join(["word"] * (axis.limit + 1))
    if isinstance(axis, ContainsAll | OneOf):
        yield from map(STEPS["ignore_accents"].apply, list_right_texts(axis, item))
        if isinstance(axis, ContainsAll):
            entries = item.expectations[axis.expects]
            for n in range(len(entries)):
                yield _join_entries((*entries[:n], *entries[n + 1 :]))[0]


def _is_surely_wrong(axis: Axis, item: Item, text: str) -> bool:
    """Return whether a text cannot be right in any reading."""
    if isinstance(axis, MaxWords):
        return len(text.split()) > axis.limit
    if isinstance(axis, NumberWithin):
        return not any(character.isdigit() for character in text)
    if not isinstance(axis, ContainsAll | OneOf):
        return False
    value: Any = item.expectations[axis.expects]
    entries = (value,) if isinstance(axis, Equals) else value
    lacking = [
        all(_is_lacking_entry(axis, text_of_entry, text) for text_of_entry in list_alternatives(e))
        for e in entries
    ]
    return all(lacking) if isinstance(axis, OneOf) else any(lacking)


def _is_lacking_entry(axis: ComparingAxis, entry: str, text: str) -> bool:
    """Return whether a text surely lacks an entry: letters are missing, or an accent is."""
    if fold(entry) not in fold(text):
        return True
    if _ACCENT_STEPS & set(axis.normalise):
        return False
    accented = {c for c in normalise(entry, axis.normalise) if not c.isascii() and c.isalpha()}
    return not accented <= set(normalise(text, axis.normalise))


def _generate_answer_forms(
    rubric: Rubric, spec: AxisSpec, item: Item, text: str, *, right: bool
) -> Iterator[KnownAnswer]:
    """Yield a text in its field in every form, in a code fence, and as the whole response."""

    def build(form: str, output: str) -> KnownAnswer:
        return KnownAnswer(axis=spec.name, item=item, output=output, right=right, form=form)

    field: str | None = getattr(spec.axis, "reads", None)
    others = dict.fromkeys(rubric.fields.accepted, "x")
    for form, changed in _generate_text_forms(spec.axis, text):
        output = changed if field is None else to_json_object({**others, field: changed})
        yield build(form, output)
    if field is not None:
        document = to_json_object({**others, field: text})
        yield build(sentence("a code fence"), _wrap_in_fence(document))
        yield build(sentence("no JSON around it"), text)


def _generate_case_forms(rubric: Rubric, spec: AxisSpec, case: GoldenCase) -> Iterator[KnownAnswer]:
    """Yield the answer of a golden case in forms that cannot change the cell of the axis."""
    value = case.cells.get(spec.name)
    response = read_response(case.answer, rubric.fields)
    if value not in {0, 1} or response.reading is not Reading.OBJECT or response.document is None:
        return
    right = value == 1

    def build(form: str, output: str, *, right: bool = right) -> KnownAnswer:
        return KnownAnswer(axis=spec.name, item=case.item, output=output, right=right, form=form)

    if isinstance(spec.axis, JsonSchema):
        for form, output in _generate_conforming_forms(response.document):
            yield build(form, output)
        for form, output in _generate_unconforming_forms(response.document):
            yield build(form, output, right=False)
        return
    field: str | None = getattr(spec.axis, "reads", None)
    text = response.document.get(field) if field is not None else None
    if not isinstance(text, str) or field is None:
        return
    for form, changed in _generate_text_forms(spec.axis, text):
        yield build(form, to_json_object({**response.document, field: changed}))


# Forms: other ways to write the same answer.


def _decompose_text(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _pad_text(text: str) -> str:
    return f"  {text}\t\n"


def _append_period(text: str) -> str:
    return text if text.rstrip().endswith(".") else f"{text}."


_TEXT_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (sentence("as it is"), str),
    (sentence("upper case"), str.upper),
    (sentence("title case"), str.title),
    (sentence("whitespace around it"), _pad_text),
    (sentence("a period behind it"), _append_period),
    (sentence("accents as two code points"), _decompose_text),
    (
        sentence("upper case, a period and whitespace"),
        lambda text: _pad_text(_append_period(text).upper()),
    ),
)


def _generate_text_forms(axis: Axis, text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) for each form that the axis cannot tell from the original."""
    seen = set()
    for name, change in _TEXT_FORMS:
        changed = change(text)
        if changed not in seen and _reduce_text(axis, changed) == _reduce_text(axis, text):
            seen.add(changed)
            yield name, changed


def _reduce_text(axis: Axis, text: str) -> object:
    """Return what is left of a text without the differences that the axis declares to ignore."""
    text = to_nfc(text)
    steps = getattr(axis, "normalise", None)
    if isinstance(steps, tuple):
        return normalise(text, steps)
    if isinstance(axis, MaxWords):
        return len(text.split())
    return text.strip() if isinstance(axis, NumberWithin) else text


def to_json_object(document: Document) -> str:
    """Return a response as the text of one JSON object."""
    return json.dumps(document, ensure_ascii=False, default=str)


def _wrap_in_fence(output: str) -> str:
    """Return a response in a code fence, as models like to write it."""
    return f"```json\n{output}\n```"


def _generate_conforming_forms(document: Document) -> Iterator[tuple[str, str]]:
    """Yield ways to write an object that are equal to a JSON parser."""
    yield sentence("as it is"), to_json_object(document)
    yield sentence("indented"), json.dumps(document, ensure_ascii=False, indent=2, default=str)
    yield sentence("keys in another order"), to_json_object(dict(reversed(list(document.items()))))
    yield sentence("whitespace around it"), _pad_text(to_json_object(document))


def _generate_unconforming_forms(document: Document) -> Iterator[tuple[str, str]]:
    """Yield ways to write an object that are read, but do not conform to a JSON Schema axis."""
    yield sentence("a code fence"), _wrap_in_fence(to_json_object(document))
    yield sentence("words before it"), f"Here it is: {to_json_object(document)}"
