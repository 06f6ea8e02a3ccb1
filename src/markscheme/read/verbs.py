"""The verb table: the ground truth of the built-in exams and of the bundled tutor.

It has five files: `verbs.csv` (English principal parts and the Spanish infinitive),
`overrides.csv` (English forms that do not follow from the principal parts: am, are, were),
`glosses.csv` (the Spanish form of every verb, tense and person), `variants.csv` (principal parts
that are right as well: traveled, learnt) and `imperfects.csv` (the Spanish imperfect of states).
`load_verbs` reads them once, on the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from markscheme.read.documents import BUILTIN_DIR


class Tense(StrEnum):
    """The tenses of the table."""

    PRESENT_SIMPLE = "present-simple"
    PAST_SIMPLE = "past-simple"
    FUTURE_SIMPLE = "future-simple"
    PRESENT_PERFECT = "present-perfect"
    PRESENT_CONTINUOUS = "present-continuous"

    @property
    def label(self) -> str:
        """The tense as a prompt names it: `past simple`."""
        return self.value.replace("-", " ")


class Person(StrEnum):
    """The persons of the table, without the second plural: see docs/verb-table.md."""

    FIRST_SINGULAR = "1sg"
    SECOND_SINGULAR = "2sg"
    THIRD_SINGULAR = "3sg"
    FIRST_PLURAL = "1pl"
    THIRD_PLURAL = "3pl"

    @property
    def label(self) -> str:
        """The person as a prompt names it: `3rd singular`."""
        ordinal = {"1": "1st", "2": "2nd", "3": "3rd"}[self.value[0]]
        return f"{ordinal} {'singular' if self.value.endswith('sg') else 'plural'}"


_APOSTROPHES = ("'", "\N{RIGHT SINGLE QUOTATION MARK}")
# What stands for an auxiliary behind a pronoun: I'll, he's, we've.
_CONTRACTIONS = {
    "will": "ll",
    "have": "ve",
    "has": "s",
    "am": "m",
    "is": "s",
    "are": "re",
}
_FIRST_PERSONS = ("1sg", "1pl")

VerbForm = tuple[str, Tense, Person]
"""The key of one form in the table: verb, tense, person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """The principal parts of one English verb, and the Spanish infinitive of the sense meant.

    `ambiguous`: another Spanish verb would translate it as well, so a prompt names the sense.
    `stative`: it names a state, so exams do not ask for its present continuous.
    """

    base: str
    third: str
    past: str
    participle: str
    ing: str
    spanish: str
    ambiguous: bool
    stative: bool

    @property
    def regular(self) -> bool:
        """Whether past and participle are the base with -ed."""
        stem = self.base[:-1]
        return (
            self.past == self.participle and self.past.startswith(stem) and self.past[-2:] == "ed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbTable:
    """Every verb with its English and its Spanish forms.

    Example:
        >>> table = load_verbs()
        >>> table.get_english_form("eat", "present-perfect", "3sg")
        'has eaten'
        >>> table.get_spanish_form("eat", "present-perfect", "3sg")
        'ha comido'
    """

    verbs: Mapping[str, Verb]
    overrides: Mapping[VerbForm, str]
    glosses: Mapping[VerbForm, str]
    variants: Mapping[tuple[str, str], str]
    imperfects: Mapping[tuple[str, str], str]

    def get_english_form(self, verb: str, tense: str, person: str) -> str:
        """Return the English form, composed from the principal parts.

        Raises:
            KeyError: the verb is not in the table.
            ValueError: the tense or the person is not in the table.
        """
        parts = self.verbs[verb]
        form = (verb, Tense(tense), Person(person))
        return self.overrides.get(form) or self._compose_form(parts, form[1], form[2])

    def get_spanish_form(self, verb: str, tense: str, person: str) -> str:
        """Return the Spanish form; raises the same errors as `get_english_form`."""
        return self.glosses[verb, Tense(tense), Person(person)]

    def list_english_forms(self, verb: str, tense: str, person: str) -> tuple[str, ...]:
        """Return every English form that is right, first the one of `get_english_form`.

        The others are British and American spellings, contractions and `shall`.

        >>> load_verbs().list_english_forms("travel", "past-simple", "1sg")
        ('travelled', 'traveled')
        """
        first = self.get_english_form(verb, tense, person)
        forms = [first]
        part = _PART_BY_TENSE.get(Tense(tense))
        variant = self.variants.get((verb, part)) if part else None
        if part and variant:
            forms.append(first.removesuffix(getattr(self.verbs[verb], part)) + variant)
        return tuple(dict.fromkeys([*forms, *_list_auxiliary_forms(forms, person)]))

    def list_spanish_forms(self, verb: str, tense: str, person: str) -> tuple[str, ...]:
        """Return every Spanish form that is right, first the one of `get_spanish_form`.

        The past of a state may be an imperfect as well.

        >>> load_verbs().list_spanish_forms("know", "past-simple", "1sg")
        ('supe', 'sabía')
        """
        first = self.get_spanish_form(verb, tense, person)
        imperfect = self.imperfects.get((verb, person))
        return (first, imperfect) if imperfect and tense == Tense.PAST_SIMPLE else (first,)

    def _compose_form(self, verb: Verb, tense: Tense, person: Person) -> str:
        match tense:
            case Tense.PRESENT_SIMPLE:
                return verb.third if person is Person.THIRD_SINGULAR else verb.base
            case Tense.PAST_SIMPLE:
                return verb.past
            case Tense.FUTURE_SIMPLE:
                return f"will {verb.base}"
            case Tense.PRESENT_PERFECT:
                auxiliary = self.get_english_form("have", Tense.PRESENT_SIMPLE, person)
                return f"{auxiliary} {verb.participle}"
            case Tense.PRESENT_CONTINUOUS:
                auxiliary = self.get_english_form("be", Tense.PRESENT_SIMPLE, person)
                return f"{auxiliary} {verb.ing}"


_PART_BY_TENSE = {
    Tense.PAST_SIMPLE: "past",
    Tense.PRESENT_PERFECT: "participle",
    Tense.PRESENT_CONTINUOUS: "ing",
}


def _list_auxiliary_forms(forms: Sequence[str], person: str) -> Iterator[str]:
    """Yield the forms with a contracted auxiliary, and with `shall` in the first person."""
    for form in forms:
        auxiliary, _, rest = form.partition(" ")
        if not rest:
            continue
        for apostrophe in _APOSTROPHES:
            yield f"{apostrophe}{_CONTRACTIONS[auxiliary]} {rest}"
        if auxiliary == "will" and person in _FIRST_PERSONS:
            yield f"shall {rest}"


@cache
def load_verbs() -> VerbTable:
    """Return the built-in verb table, read once."""
    return VerbTable(
        verbs={row["base"]: _parse_verb(row) for row in _read_verb_csv("verbs.csv")},
        overrides={
            _parse_verb_form(row): row["english"] for row in _read_verb_csv("overrides.csv")
        },
        glosses={_parse_verb_form(row): row["spanish"] for row in _read_verb_csv("glosses.csv")},
        variants={
            (row["verb"], row["part"]): row["form"] for row in _read_verb_csv("variants.csv")
        },
        imperfects={
            (row["verb"], row["person"]): row["spanish"] for row in _read_verb_csv("imperfects.csv")
        },
    )


def _read_verb_csv(name: str) -> list[dict[str, str]]:
    import csv  # late, like everything that a run of another subject does not need

    text = (BUILTIN_DIR / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _parse_verb(row: dict[str, str]) -> Verb:
    return Verb(
        base=row["base"],
        third=row["third"],
        past=row["past"],
        participle=row["participle"],
        ing=row["ing"],
        spanish=row["spanish"],
        ambiguous=row["ambiguous"] == "yes",
        stative=row["stative"] == "yes",
    )


def _parse_verb_form(row: dict[str, str]) -> VerbForm:
    return row["verb"], Tense(row["tense"]), Person(row["person"])
