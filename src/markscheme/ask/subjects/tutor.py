"""The bundled tutor as a subject: it answers from the verb table.

It reads the item's prompt and nothing else; what an item expects never reaches it. It can be given
faults, each a realistic way for a tutor to lose points.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.read.verbs import Person, Tense, Verb, VerbTable, load_verbs
from markscheme.vocabulary import UsageError, format_value


class TutorFault(StrEnum):
    """A fault that the tutor can be given.

    `upper_case` costs no points, because normalisation removes case; it is there to show that.
    """

    NO_GLOSS_IN_PAST_SIMPLE = "no_gloss_in_past_simple"
    ONE_VERB_LEARNT_WRONG = "one_verb_learnt_wrong"
    UPPER_CASE = "upper_case"
    RAMBLING = "rambling"


FLAWED: frozenset[TutorFault] = frozenset(TutorFault)
"""Every fault at once."""

_UNKNOWN_RESPONSE = (
    "I do not know.",
    "No lo sé.",
    "I only conjugate the verbs of my table, in the tense and person that you name.",
)
_PRONOUNS = {
    Person.FIRST_SINGULAR: ("I", "yo"),
    Person.SECOND_SINGULAR: ("you", "tú"),
    Person.THIRD_SINGULAR: ("he", "él"),
    Person.FIRST_PLURAL: ("we", "nosotros"),
    Person.THIRD_PLURAL: ("they", "ellos"),
}
_TENSES = {tense.label: tense for tense in Tense}
_PERSONS = {person.label: person for person in Person}
_PROMPT_PATTERN = re.compile(
    r"conjugate ['‘\"](?P<verb>[a-z]+)['’\"](?: \((?P<sense>\w+)\))?"  # noqa: RUF001 - quotes
    r" ?[—–:-] (?P<tense>[a-z]+ [a-z]+), (?P<person>\w+ \w+)\.?",
    re.IGNORECASE,
)
_RAMBLING_TENSES = {Tense.PRESENT_PERFECT, Tense.PRESENT_CONTINUOUS}
_RAMBLING_TEXT = (
    " Many learners find this hard at first, and that is perfectly normal, so do take your time,"
    " read the example aloud a few times, and come back to it again tomorrow morning."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tutor:
    """Conjugates English verbs for speakers of Spanish.

    Example:
        >>> answer = Tutor().answer("Conjugate 'eat' — past simple, 3rd singular.")
        >>> print(answer[:55])
        {"correction": "He ate.", "spanish_gloss": "Él comió.",
    """

    faults: frozenset[TutorFault] = frozenset()

    def can_answer(self, prompt: str) -> bool:
        """Whether the prompt asks for a form of the verb table."""
        return _parse_tutor_prompt(prompt, load_verbs()) is not None

    def answer(self, prompt: str) -> str:
        """Return the answer to one prompt, as JSON text of the built-in rubrics' schema."""
        question = _parse_tutor_prompt(prompt, load_verbs())
        values = _UNKNOWN_RESPONSE if question is None else self._conjugate(*question)
        response = zip(("correction", "spanish_gloss", "explanation"), values, strict=True)
        return json.dumps(dict(response), ensure_ascii=False)

    def _conjugate(self, verb: str, tense: Tense, person: Person) -> tuple[str, str, str]:
        table = load_verbs()
        if TutorFault.ONE_VERB_LEARNT_WRONG in self.faults:
            go = table.verbs["go"]
            go = replace(go, third="gos", past="goed", participle="goed", ing="goeing")
            table = replace(table, verbs={**table.verbs, "go": go})
        english = table.get_english_form(verb, tense, person)
        spanish = table.get_spanish_form(verb, tense, person)
        pronoun, pronombre = _PRONOUNS[person]
        correction, gloss = _format_sentence(pronoun, english), _format_sentence(pronombre, spanish)
        explanation = _explain(table.verbs[verb], tense, pronoun, english)
        if TutorFault.UPPER_CASE in self.faults:
            correction, gloss = correction.upper(), gloss.upper()
        if TutorFault.NO_GLOSS_IN_PAST_SIMPLE in self.faults and tense is Tense.PAST_SIMPLE:
            gloss = ""
        if TutorFault.RAMBLING in self.faults and tense in _RAMBLING_TENSES:
            explanation += _RAMBLING_TEXT
        return correction, gloss, explanation


def _parse_tutor_prompt(prompt: str, table: VerbTable) -> tuple[str, Tense, Person] | None:
    match = _PROMPT_PATTERN.fullmatch(prompt.strip())
    if match is None:
        return None
    verb, sense, tense, person = (text and text.lower() for text in match.groups())
    known = table.verbs.get(verb)
    if known is None or tense not in _TENSES or person not in _PERSONS:
        return None
    if sense not in {None, known.spanish}:
        return None
    return verb, _TENSES[tense], _PERSONS[person]


def _format_sentence(pronoun: str, form: str) -> str:
    return f"{pronoun[0].upper()}{pronoun[1:]} {form}."


def _explain(verb: Verb, tense: Tense, pronoun: str, form: str) -> str:
    auxiliary, _, main = form.partition(" ")
    match tense:
        case Tense.PRESENT_SIMPLE:
            if verb.base in {"be", "have"}:
                return (
                    f"In the present simple '{verb.base}' is irregular: '{pronoun}' takes '{form}'."
                )
            if form == verb.base:
                return f"In the present simple '{pronoun}' takes the base form, '{verb.base}'."
            rule = "In the present simple the third person singular ends in -s"
            return f"{rule}: '{verb.base}', '{form}'."
        case Tense.PAST_SIMPLE:
            if verb.base == "be":
                return f"The past simple of 'be' is 'was' or 'were': '{pronoun}' takes '{form}'."
            if verb.regular:
                rule = "is regular: its past simple ends in -ed"
            else:
                rule = f"is irregular: its past simple is '{form}'"
            return f"The verb '{verb.base}' {rule} in every person."
        case Tense.FUTURE_SIMPLE:
            return f"The future simple is 'will' and the base form, '{verb.base}', in every person."
        case Tense.PRESENT_PERFECT:
            kind = "regular" if verb.regular else "irregular"
            return (
                "The present perfect is 'have' or 'has' and the past participle:"
                f" '{pronoun}' takes '{auxiliary}', and the {kind} participle is '{main}'."
            )
        case Tense.PRESENT_CONTINUOUS:
            return (
                "The present continuous is 'am', 'is' or 'are' and the -ing form:"
                f" '{pronoun}' takes '{auxiliary}', and '{verb.base}' becomes '{main}'."
            )


class TutorSubject(BaseSubject):
    """Asks the tutor, without faults or with all of them."""

    def __init__(self, *, flawed: bool) -> None:
        self.name = "flawed-tutor" if flawed else "tutor"
        self.parameters: dict[str, Any] = {}
        self._tutor = Tutor(faults=FLAWED if flawed else frozenset())

    async def ask(self, question: Question) -> Reply:
        """Answer from the verb table."""
        watch = Stopwatch()
        text = self._tutor.answer(question.prompt)
        return Reply(text=text, finish_reason="stop", latency_us=watch())


def create_tutor_subject(rest: str, options: SubjectOptions) -> TutorSubject:
    """Create the subject of `tutor` or `tutor:flawed`."""
    del options
    if rest not in {"", "flawed"}:
        raise UsageError(
            f"{format_value(f'tutor:{rest}')} is no tutor; allowed are `tutor`, `tutor:flawed`"
        )
    return TutorSubject(flawed=rest == "flawed")
