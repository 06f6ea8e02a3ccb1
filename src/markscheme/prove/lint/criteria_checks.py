"""Checks J011 to J020: what a rubric and the criteria of an exam ask of people and judges.

The checks of criteria go by their words, which are English in the rubrics that are published. They
look for few and clear signs: a warning that is often wrong is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from markscheme.mark.axes import CriteriaAxis, quote_excerpt
from markscheme.prove.lint.findings import LintFinding, locate_item_field, make_finding
from markscheme.prove.lint.rubric_checks import RubricDocument
from markscheme.read.documents import FieldPath, iterate_mappings
from markscheme.vocabulary import Criteria, Criterion, CriterionGroup, Item

_SPEAKER = (
    r"(?:(?:the|this|its|an?)\s+)?"
    r"(?:answer|response|reply|completion|model|assistant|chatbot|report|student|user)"
)
_LEADING_SPEAKER = re.compile(rf"^(?:{_SPEAKER}|it)\s+", re.IGNORECASE)
# Words with which a criterion says that something went wrong, and that something went right.
_FAULT = re.compile(
    r"(?:fails? to|incorrectly|wrongly|falsely|erroneously|inaccurately|invents?|hallucinates?"
    r"|fabricates?|makes? up|misstates?|misrepresents?|misleads?|overlooks?|forgets?|neglects?"
    r"|confuses?|is (?:wrong|incorrect|inaccurate|misleading|harmful|dangerous|unsafe|rude))\b",
    re.IGNORECASE,
)
_MERIT = re.compile(
    r"(?:(?:correctly|accurately|appropriately|properly|successfully|refrains? from|should|must)\b"
    r"|avoids? (?!answering|responding|the question|the topic|the issue|giving|taking|committing)"
    r"|is (?:correct|accurate|helpful|safe|polite|clear|concise|complete)\b)",
    re.IGNORECASE,
)
_ABSENCE = re.compile(r"(?:does not|doesn't|do not|lacks|omits|never)\b", re.IGNORECASE)
_NEGATIONS = {"not", "no", "never", "without", "doesn't", "don't", "isn't", "does", "do"}
_DENIALS = _NEGATIONS - {"does", "do"}
_SAYING = {"says", "states", "mentions", "notes", "tells", "names", "includes", "contains", "lists"}
_EMPTY_WORDS = {
    *("the", "a", "an", "that", "answer", "response", "reply", "model", "assistant", "it", "its"),
    *("is", "are", "this"),
}
_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:['’]\w+)?|[^\w\s.,;:!?()'\"“”‘’-]")  # noqa: RUF001

_NUMBER = r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)"
_LIMIT = (
    r"(?:at most|at least|no more than|not more than|no longer than|fewer than|less than|more than"
    r"|under|below|up to|within|exactly|a maximum of)"
)
_QUOTE = r"[\"“'‘`«]"  # noqa: RUF001 - typographic quotation marks
_CHECKABLE = {
    "max_words, token_budget or pattern": rf"\b{_LIMIT} {_NUMBER} (?:words?|characters?|tokens?)\b",
    "json_schema": r"\b(?:is|returns|outputs|be|as) (?:a |an )?(?:valid |well-formed )+json\b",
    "contains_all": (
        r"\b(?:contains?|includes?|mentions?|uses?|has|says|states)"
        rf" (?:the )?(?:exact |literal )?(?:words?|phrase|string|text) {_QUOTE}"
    ),
    "pattern": (
        r"\b(?:starts|begins|ends) with (?:the )?"
        rf"(?:(?:exact |literal )?(?:words?|phrase|string|text) )?{_QUOTE}"
    ),
    "equals": rf"\bis (?:exactly|identical to|equal to) {_QUOTE}",
}
_VERB = (
    r"(?:says|states|mentions|notes|tells|names|includes|lists|explains|advises|recommends|asks"
    r"|gives|provides|describes|cites|warns|avoids|suggests|identifies|uses|refers|discusses|offers"
    r"|acknowledges|clarifies|encourages|shows|compares|checks|quotes|calculates|proposes|urges"
    r"|defines|expresses|summarises|summarizes|apologises|apologizes|thanks|points out|addresses)"
)
_TWO_THINGS = (
    re.compile(rf"^{_VERB}\b[^.]*?,? and (?:also |then |it )?{_VERB}\b", re.IGNORECASE),
    re.compile(
        rf"^{_VERB}\b.*[.;]\s*(?:{_SPEAKER} |it |and )?{_VERB}\b", re.IGNORECASE | re.DOTALL
    ),
    re.compile(rf"^{_VERB} both\b.+\band\b|\bas well as\b", re.IGNORECASE | re.DOTALL),
    re.compile(r"\(1\).+\(2\)|\(a\).+\(b\)|\(i\).+\(ii\)", re.IGNORECASE | re.DOTALL),
)
_LEANING = re.compile(
    r"\b(?:the )?(?:previous|preceding|other|next|last) (?:criterion|criteria|entry|rubric item)\b"
    r"|\b(?:criterion|criteria|rubric item) (?:above|below|before|#?\d+|c\d+)\b"
    r"|\b(?:same|as) (?:as )?(?:above|before)\b|^(?:likewise|ditto|idem)\b",
    re.IGNORECASE,
)
_VAGUE_TEXT = """
    good great helpful clear quality high appropriate correct accurate complete relevant useful
    polite professional well written concise comprehensive detailed overall adequate reasonable
    nice of very and or high-quality well-written sufficient proper
"""
_VAGUE_WORDS = set(_VAGUE_TEXT.split())
_LONGEST_TELLING_NOTHING = 1  # characters of the name of an option that tells nothing


class _SignedCriterion(Struct, frozen=True, kw_only=True):
    """A criterion that people or judges decide, its place, and whether meeting it costs points."""

    path: FieldPath
    criterion: Criterion
    costs: bool

    @property
    def statement(self) -> str:
        """What the criterion says, without the speaker with which it may begin."""
        return _LEADING_SPEAKER.sub("", " ".join(self.criterion.says.split()))


def check_criteria(items: Sequence[Item], axis: CriteriaAxis) -> Iterator[LintFinding]:
    """Yield the findings in the criteria that the items hold for an axis."""
    for item in items:
        if axis.expects not in item.expectations or any(axis.item_problems(item)):
            continue
        criteria = axis.get_criteria(item)
        entries = list(_list_entries(criteria, (axis.expects,)))
        for entry in entries:
            yield from _check_entry(item, entry)
        yield from _check_same(item, entries)
        if all(entry.points < 0 for entry in criteria):
            message = "every criterion costs points: an empty answer gets all of them"
            yield make_finding("J017", locate_item_field(item, axis.expects), message)


def _list_entries(
    criteria: Criteria, path: FieldPath, *, costs: bool = False
) -> Iterator[_SignedCriterion]:
    """Yield the criteria that have words, with their places; a group can turn signs round."""
    for at, entry in enumerate(criteria):
        is_costly = costs != (entry.points < 0)
        if isinstance(entry, CriterionGroup):
            yield from _list_entries(entry.criteria, (*path, at, "criteria"), costs=is_costly)
        elif entry.check is None:
            yield _SignedCriterion(path=(*path, at), criterion=entry, costs=is_costly)


def _check_entry(item: Item, entry: _SignedCriterion) -> Iterator[LintFinding]:
    """Yield what the words of one criterion show."""
    says, statement = entry.criterion.says, entry.statement
    shown = f"`{entry.criterion.id}` says {quote_excerpt(says)}"
    location = locate_item_field(item, *entry.path, "says")
    if not entry.costs and (fault := _FAULT.match(statement)):
        message = f"{shown}: points for what begins with {quote_excerpt(fault[0].lower())}"
        yield make_finding("J013", location, message)
    elif entry.costs and (merit := _MERIT.match(statement)):
        message = f"{shown}: a penalty for what begins with {quote_excerpt(merit[0].lower())}"
        yield make_finding("J013", location, message)
    elif entry.costs and _ABSENCE.match(statement):
        yield make_finding("J014", location, f"{shown}: met means that it is not so")
    for kind, pattern in _CHECKABLE.items():
        if re.search(pattern, says, re.IGNORECASE):
            yield make_finding("J016", location, f"{shown}: {kind} can decide that")
            break
    if any(pattern.search(statement) for pattern in _TWO_THINGS):
        yield make_finding("J018", location, f"{shown}: an answer may do one of them only")
    if _LEANING.search(says):
        yield make_finding("J019", location, f"{shown}: a rater may see this criterion alone")
    words = [word.lower() for word in _WORD.findall(statement)]
    if not set(words) - _VAGUE_WORDS - _EMPTY_WORDS:
        yield make_finding("J020", location, f"{shown}: nothing in an answer decides it")


def _check_same(item: Item, entries: Sequence[_SignedCriterion]) -> Iterator[LintFinding]:
    """Report criteria with the same words, and those that deny each other with opposite signs."""
    first: dict[tuple[str, ...], _SignedCriterion] = {}
    affirmed: dict[tuple[str, ...], _SignedCriterion] = {}
    for entry in entries:
        words = _fold_words(entry.statement)
        core = tuple(word for word in words if word not in _NEGATIONS)
        earlier, opposite = first.get(words), affirmed.get(core)
        location = locate_item_field(item, *entry.path, "says")
        if earlier is not None:
            message = f"`{entry.criterion.id}` says the same as `{earlier.criterion.id}`"
            elsewhere = entry.path[:-1] != earlier.path[:-1]
            message += " in another group; a rater does not see groups" if elsewhere else ""
            yield make_finding("J015", location, message)
        elif opposite is not None and _deny_each_other(entry, opposite):
            message = f"`{entry.criterion.id}` is the opposite of `{opposite.criterion.id}`"
            yield make_finding("J015", location, f"{message}: the same thing counts twice")
        first.setdefault(words, entry)
        affirmed.setdefault(core, entry)


def _deny_each_other(entry: _SignedCriterion, other: _SignedCriterion) -> bool:
    """Whether one of two criteria denies the other, and one costs points where the other gives."""
    denies = [
        bool(_DENIALS & set(_fold_words(criterion.statement))) for criterion in (entry, other)
    ]
    return denies[0] != denies[1] and entry.costs != other.costs


def _fold_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that tell criteria apart: numbers, names and signs are kept."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return tuple(_fold_word(word) for word in words if word not in _EMPTY_WORDS)


def _fold_word(word: str) -> str:
    """Return a word without the `s` of plurals and verbs; all verbs of saying are one."""
    if word in _NEGATIONS:
        return word
    return "says" if {word, f"{word}s"} & _SAYING else word.removesuffix("s")


def check_rated_axes(document: RubricDocument) -> Iterator[LintFinding]:
    """Yield the findings in the anchors and options that raters go by."""
    for index, entry in iterate_mappings(document.tree.get("axes")):
        place = ("axes", index)
        name = str(entry.get("name"))
        if entry.get("kind") == "scale":
            yield from _check_anchors(document, place, name)
        elif entry.get("kind") == "choice":
            yield from _check_options(document, place, name)


def _check_anchors(document: RubricDocument, place: FieldPath, name: str) -> Iterator[LintFinding]:
    """Report anchors that are equal, and anchors that say nothing but a number."""
    scale = next((axis for axis in document.rubric.scales if axis.name == name), None)
    seen: dict[tuple[str, ...], int] = {}
    for number, text in scale.anchors.items() if scale else ():
        words = _fold_words(text)
        location = document.locate_written(*place, "anchors", str(number))
        if not any(word.isalpha() and word not in {"score", "point", "level"} for word in words):
            message = f"{number} of `{name}` is anchored as {quote_excerpt(text)}"
            yield make_finding("J011", location, f"{message}, which does not say what it is")
        elif words in seen:
            message = f"{seen[words]} and {number} of `{name}` are anchored alike"
            yield make_finding("J011", location, message)
        seen.setdefault(words, number)


def _check_options(document: RubricDocument, place: FieldPath, name: str) -> Iterator[LintFinding]:
    """Report options that are single letters or numbers, which the question does not explain."""
    choice = next((axis for axis in document.rubric.choices if axis.name == name), None)
    options: Mapping[str, object] = choice.options if choice else {}
    question = choice.question if choice else ""
    unexplained = [
        option
        for option in options
        if (len(option) <= _LONGEST_TELLING_NOTHING or option.isdecimal())
        and not re.search(rf"(?<!\w){re.escape(option)}(?!\w)", question)
    ]
    if unexplained:
        listed = ", ".join(f"`{option}`" for option in unexplained)
        message = f"`{name}` has {listed}, and its question does not say what that means"
        yield make_finding("J012", document.locate_written(*place, "options"), message)
