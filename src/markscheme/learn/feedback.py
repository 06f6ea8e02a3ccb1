"""What a learner reads about an answer: each axis in the learner's words, and when it comes again.

Reasons of cells are for authors ("found at character 1"). Here the cell, its near miss and the verb
table make a sentence that helps: which form was typed, and which was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from msgspec import Struct

from markscheme.learn.recall import (
    get_typed_text,
    has_full_marks,
    is_padded,
    list_expected,
    split_axes,
)
from markscheme.learn.scheduling import PASS_GRADE, CardState, ReviewKind
from markscheme.learn.verb_forms import (
    FormReading,
    find_item_form,
    read_english,
    read_spanish,
    strip_pronoun,
)
from markscheme.learn.wording import count_days, describe_when
from markscheme.mark import find_leading_axis, get_expectation_key
from markscheme.read.verbs import VerbForm, load_verbs
from markscheme.vocabulary import (
    AxisSpec,
    Breakdown,
    Cell,
    Item,
    Response,
    Rubric,
    describe_tag,
    join_messages,
    sentence,
)

_MAX_QUOTED = 40


class AxisFeedback(Struct, frozen=True, kw_only=True):
    """One axis of an answer, for the learner. `lost` says whether points were lost."""

    axis: str
    title: str
    text: str
    lost: bool


def explain_answer(
    rubric: Rubric, item: Item, response: Response, breakdown: Breakdown
) -> tuple[AxisFeedback, ...]:
    """Return the feedback for each axis: first those that expect something of the item.

    Every axis that lost points has a sentence. Axes that only check the outer form of an answer say
    nothing while they are met.
    """
    lead, supports = split_axes(rubric, item)
    told = [
        AxisFeedback(
            axis=spec.name,
            title=spec.title or spec.name.replace("_", " "),
            text=_explain_axis(rubric, spec, item, response, breakdown.cells[spec.name]),
            lost=not has_full_marks(breakdown.cells[spec.name]),
        )
        for spec in (lead, *supports, *(s for s in rubric if s not in {lead, *supports}))
    ]
    named = {lead.name, *(spec.name for spec in supports)}
    return tuple(feedback for feedback in told if feedback.lost or feedback.axis in named)


def _explain_axis(
    rubric: Rubric, spec: AxisSpec, item: Item, response: Response, cell: Cell
) -> str:
    if get_expectation_key(spec.axis) not in item.expectations:
        return _explain_outer_form(spec, cell)
    text = get_typed_text(spec, response)
    groups = list_expected(spec, item)
    if cell.value is None:
        return sentence("this part is not marked yet")
    if not all(groups):
        return sentence("right") if has_full_marks(cell) else sentence("not what was asked for")
    form = _quote_expected(groups)
    if has_full_marks(cell):
        return _explain_full_marks(spec, item, text, form)
    if not text.strip():
        return sentence("nothing written; it is {form}", form=form)
    asked = find_item_form(item)
    if asked is None:
        return _explain_loss(text, form, cell)
    is_english = find_leading_axis(rubric) is spec.axis
    readings = read_english(text) if is_english else read_spanish(text)
    name_verb = str if is_english else _name_in_spanish
    told = _explain_form(text, form, cell, readings, asked, name_verb)
    return told or _explain_loss(text, form, cell, verb=name_verb(asked[0]))


def _name_in_spanish(verb: str) -> str:
    return load_verbs().verbs[verb].spanish


def _explain_full_marks(spec: AxisSpec, item: Item, text: str, form: str) -> str:
    if not is_padded(spec, item, text):
        return sentence("right")
    word = _find_longer_word(text, list_expected(spec, item))
    if word is None:
        return sentence("right, and you wrote more than the form, which is {form}", form=form)
    return sentence(
        "counted as right because {word} contains the form; the form is {form}",
        word=_quote(word),
        form=form,
    )


def _find_longer_word(text: str, groups: Sequence[Sequence[str]]) -> str | None:
    """Return the word that holds an expected entry only as a part, if it stands nowhere alone."""
    for group in groups:
        if any(_stands_alone(text, entry) for entry in group):
            continue
        words: list[str] = re.findall(r"[\w'\N{RIGHT SINGLE QUOTATION MARK}]+", text)
        for word in words:
            if any(entry.lower() in word.lower() for entry in group):
                return word
    return None


def _stands_alone(text: str, entry: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(entry)}(?!\w)", text, re.IGNORECASE) is not None


def _explain_form(
    text: str,
    form: str,
    cell: Cell,
    readings: Sequence[FormReading],
    asked: VerbForm,
    name_verb: Callable[[str], str],
) -> str | None:
    """Say which form of the table was typed, if it is one."""
    own = [reading for reading in readings if reading.verb == asked[0]]
    if own:
        return _explain_own_form(text, form, _choose_reading(own, asked), asked)
    # An accent that is missing may make a form of another verb, which was hardly meant.
    if readings and cell.near_miss is None:
        return sentence(
            "{typed} is a form of {other}, not of {verb}; it is {form}",
            typed=_quote(strip_pronoun(text)),
            other=name_verb(readings[0].verb),
            verb=name_verb(asked[0]),
            form=form,
        )
    return None


def _choose_reading(readings: Sequence[FormReading], asked: VerbForm) -> FormReading:
    """Return the reading that is nearest to what was asked for."""
    _, tense, person = asked
    return max(
        readings, key=lambda one: (one.tense == tense, one.person == person, one.tense or "")
    )


def _explain_own_form(text: str, form: str, reading: FormReading, asked: VerbForm) -> str:
    typed = _quote(strip_pronoun(text))
    tense, person = describe_tag("tense", asked[1]), describe_tag("person", asked[2])
    if reading.tense is None or reading.person is None:
        return sentence(
            "{typed} is another form of the verb; the {tense} is {form}",
            typed=typed,
            tense=tense,
            form=form,
        )
    typed_tense = describe_tag("tense", reading.tense)
    typed_person = describe_tag("person", reading.person)
    if reading.tense != asked[1]:
        return sentence(
            "that is the {typed_tense}, {typed}; the {tense} is {form}",
            typed_tense=typed_tense,
            typed=typed,
            tense=tense,
            form=form,
        )
    return sentence(
        "that is the {typed_person}, {typed}; the {person} is {form}",
        typed_person=typed_person,
        typed=typed,
        person=person,
        form=form,
    )


def _explain_loss(text: str, form: str, cell: Cell, *, verb: str | None = None) -> str:
    match cell.near_miss:
        case "ignore_accents" if _has_fewer_accents(text, form):
            return sentence("the accent is missing: {form}", form=form)
        case "ignore_accents":
            return sentence("the accents are not right: {form}", form=form)
        case "strip_invisible":
            return sentence("an invisible character is in it; type it again: {form}", form=form)
        case "fold_lookalikes":
            return sentence("a letter of another alphabet is in it: {form}", form=form)
        case str():
            return sentence("nearly; it is {form}", form=form)
        case None if verb is not None:
            return sentence("not a form of {verb}; it is {form}", verb=verb, form=form)
        case _:
            return sentence("not what was asked for; it is {form}", form=form)


def _has_fewer_accents(text: str, form: str) -> bool:
    return _count_accents(strip_pronoun(text)) < _count_accents(form)


def _count_accents(text: str) -> int:
    return sum(letter.isalpha() and not letter.isascii() for letter in text)


def _explain_outer_form(spec: AxisSpec, cell: Cell) -> str:
    if has_full_marks(cell):
        return sentence("right")
    limit = getattr(spec.axis, "limit", None)
    if spec.axis.kind == "max_words" and limit is not None:
        return sentence("too long: at most {n} words count", n=limit)
    if spec.axis.kind == "json_schema":
        return sentence("the answer does not have all of its fields")
    if cell.value is None:
        return sentence("this part is not marked yet")
    return sentence("this part is not met")


def _quote_expected(groups: Sequence[Sequence[str]]) -> str:
    """Quote what was expected, of several alternatives the first."""
    return join_messages(", ", [_quote(group[0]) for group in groups])


def _quote(text: str) -> str:
    short = text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 1]}…"
    return sentence("“{text}”", text=short)


def explain_schedule(
    kind: ReviewKind, before: CardState, after: CardState, today: date, grade: int
) -> str:
    """Say when a card comes again, and why then."""
    days = (after.due - today).days if after.due else 0
    when = describe_when(days)
    if after.is_leech and kind is ReviewKind.SCHEDULED:
        return sentence(
            "You forgot it {n} times, so it is not asked any more. Find another way to learn it,"
            " such as a sentence of your own.",
            n=after.lapses,
        )
    if after.needs_repeat(today):
        if kind is ReviewKind.SCHEDULED and grade >= PASS_GRADE:
            return sentence(
                "It comes once more today, because not all of it was right, and then {when}.",
                when=when,
            )
        return sentence("It comes once more today, until you have it, and then {when}.", when=when)
    if kind is ReviewKind.REPEAT:
        return sentence("You have it now. It comes again {when}, as planned.", when=when)
    if kind is ReviewKind.PRACTICE:
        return sentence("It was not due yet, so this was practice. It comes {when}.", when=when)
    late = (today - before.due).days if before.due else 0
    if late > 0 and after.passes > 2:  # noqa: PLR2004 - the first two intervals are fixed
        return sentence(
            "It comes again {when}. It was {late} late; the interval grows from the planned"
            " {interval}.",
            when=when,
            late=count_days(late),
            interval=count_days(before.interval_days),
        )
    if after.passes == 1:
        return sentence("It comes again {when}: the first step is one day.", when=when)
    return sentence(
        "It comes again {when}: you recalled it {n} times in a row.", when=when, n=after.passes
    )


def list_hints(item: Item, rubric: Rubric) -> tuple[str, ...]:
    """Return the hints of a card in two stages: the length and first letter, then more letters."""
    lead, _ = split_axes(rubric, item)
    groups = list_expected(lead, item)
    if not groups or not groups[0]:
        return ()
    return tuple(_mask(groups[0][0], share) for share in (0, 2))


def _mask(form: str, share: int) -> str:
    """Return a form with the first letter of each word, and of the rest one in `share`."""
    return " ".join(_mask_words(form.split(), share))


def _mask_words(words: Sequence[str], share: int) -> Iterator[str]:
    for word in words:
        yield "".join(
            letter if at == 0 or (share and at % share == 0) else "·"
            for at, letter in enumerate(word)
        )
