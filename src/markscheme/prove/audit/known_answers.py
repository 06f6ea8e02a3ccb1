"""Answers that are known to be right or wrong without asking the rubric, in every form.

Right is what holds the expectation word for word. Wrong is what no reading could take for right:
not even its letters and digits, without case and accents, hold those of the expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.mark import STEPS, fold, get_expectation_key, normalise, read_response
from markscheme.mark.axes import ComparingAxis, Equals, JsonSchema, MaxWords, NumberWithin, OneOf
from markscheme.prove.audit.answer_forms import (
    generate_conforming_forms,
    generate_text_forms,
    generate_unconforming_forms,
    to_json_object,
    wrap_in_fence,
)
from markscheme.vocabulary import Item, Reading, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.read.golden_cases import GoldenCase, GoldenCases
    from markscheme.vocabulary import Axis, AxisSpec, Exam, Rubric

_ACCENT_STEPS = {"ignore_accents", "compatibility_form"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An output that is known to be right or wrong on one axis, and the form it is given in."""

    axis: str
    item: Item
    output: str
    right: bool
    form: str


def generate_known_answers(rubric: Rubric, exam: Exam, cases: GoldenCases) -> Iterator[KnownAnswer]:
    """Yield what is known of the items of the exam, then what golden cases know, in every form."""
    for spec in rubric:
        items = exam.items if get_expectation_key(spec.axis) else exam.items[:1]
        for at, item in enumerate(items):
            for right, text in _generate_labelled_texts(spec.axis, item, exam.items[at - 1]):
                yield from _generate_answer_forms(rubric, spec, item, text, right=right)
        for case in cases.items:
            yield from _generate_case_forms(rubric, spec, case)


def _generate_labelled_texts(axis: Axis, item: Item, other: Item) -> Iterator[tuple[bool, str]]:
    """Yield texts that are surely right and texts that are surely wrong for one axis."""
    for text in list_right_texts(axis, item):
        yield True, text
    wrong = (*_generate_wrong_texts(axis, item), *list_right_texts(axis, other), item.prompt, "")
    yield from (
        (False, text) for text in dict.fromkeys(wrong) if _is_surely_wrong(axis, item, text)
    )


def list_right_texts(axis: Axis, item: Item) -> Sequence[str]:
    """Return texts that an axis must find right; of a kind that we do not know, none."""
    match axis:
        case Equals():
            return (item.expectations[axis.expects],)
        case OneOf():
            entries: Sequence[str] = item.expectations[axis.expects]
            return entries
        case ComparingAxis():
            return (" ".join(item.expectations[axis.expects]),)
        case NumberWithin():
            return (f"{item.expectations[axis.expects]:f}",)
        case MaxWords():
            return (" ".join(["word"] * axis.limit), "")
        case _:
            return ()


def _generate_wrong_texts(axis: Axis, item: Item) -> Iterator[str]:
    """Yield texts that an axis should find wrong; `_surely_wrong` decides."""
    if isinstance(axis, MaxWords):
        yield " ".join(["word"] * (axis.limit + 1))
    if isinstance(axis, ComparingAxis):
        yield from map(STEPS["ignore_accents"].apply, list_right_texts(axis, item))
        if not isinstance(axis, OneOf):
            entries = item.expectations[axis.expects]
            yield from (" ".join((*entries[:n], *entries[n + 1 :])) for n in range(len(entries)))


def _is_surely_wrong(axis: Axis, item: Item, text: str) -> bool:
    """Return whether a text cannot be right, however generously it is read."""
    if isinstance(axis, MaxWords):
        return len(text.split()) > axis.limit
    if isinstance(axis, NumberWithin):
        return not any(character.isdigit() for character in text)
    if not isinstance(axis, ComparingAxis):
        return False
    value: Any = item.expectations[axis.expects]
    entries = (value,) if isinstance(axis, Equals) else value
    short = [_is_lacking_entry(axis, entry, text) for entry in entries]
    return all(short) if isinstance(axis, OneOf) else any(short)


def _is_lacking_entry(axis: ComparingAxis, entry: str, text: str) -> bool:
    """Return whether a text cannot hold an entry: a letter is not there, or an accent."""
    if fold(entry) not in fold(text):
        return True
    if _ACCENT_STEPS & set(axis.normalise):
        return False
    marks = {c for c in normalise(entry, axis.normalise) if not c.isascii() and c.isalpha()}
    return not marks <= set(normalise(text, axis.normalise))


def _generate_answer_forms(
    rubric: Rubric, spec: AxisSpec, item: Item, text: str, *, right: bool
) -> Iterator[KnownAnswer]:
    """Yield a text in its field in every form, in a code fence, and as the whole response."""

    def known(form: str, output: str) -> KnownAnswer:
        return KnownAnswer(axis=spec.name, item=item, output=output, right=right, form=form)

    field: str | None = getattr(spec.axis, "reads", None)
    others = dict.fromkeys(rubric.fields.accepted, "x")
    for form, changed in generate_text_forms(spec.axis, text):
        output = changed if field is None else to_json_object({**others, field: changed})
        yield known(form, output)
    if field is not None:
        yield known(
            sentence("a code fence"), wrap_in_fence(to_json_object({**others, field: text}))
        )
        yield known(sentence("no JSON around it"), text)


def _generate_case_forms(rubric: Rubric, spec: AxisSpec, case: GoldenCase) -> Iterator[KnownAnswer]:
    """Yield the answer of a golden case in forms that cannot change what it says of the axis."""
    value = case.cells.get(spec.name)
    response = read_response(case.answer, rubric.fields)
    if value not in {0, 1} or response.reading is not Reading.OBJECT or response.document is None:
        return
    right = value == 1

    def known(form: str, output: str, *, right: bool = right) -> KnownAnswer:
        return KnownAnswer(axis=spec.name, item=case.item, output=output, right=right, form=form)

    if isinstance(spec.axis, JsonSchema):
        for form, output in generate_conforming_forms(response.document):
            yield known(form, output)
        for form, output in generate_unconforming_forms(response.document):
            yield known(form, output, right=False)
        return
    field: str | None = getattr(spec.axis, "reads", None)
    text = response.document.get(field) if field is not None else None
    if not isinstance(text, str) or field is None:
        return
    for form, changed in generate_text_forms(spec.axis, text):
        yield known(form, to_json_object({**response.document, field: changed}))
