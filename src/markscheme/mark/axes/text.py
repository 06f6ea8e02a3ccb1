"""Axes that compare a text with what the item expects, after normalisation."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.mark.axes.base import (
    TextAxis,
    check_alternatives,
    check_expected_text,
    check_expected_texts,
    describe_near_miss,
    iterate_texts,
    list_alternatives,
    quote_excerpt,
)
from markscheme.mark.look_alikes import find_invisible, find_lookalike
from markscheme.mark.normalise import (
    DEFAULT_STEPS,
    NormalisationStep,
    fold,
    list_unused_steps,
    normalise,
)
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import Cell, Item, describe_character, join_messages, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Match(StrEnum):
    """How an entry is looked for: anywhere (the default), or as a whole word."""

    SUBSTRING = "substring"
    WORD = "word"


@lru_cache(maxsize=65536)
def _prepare_entries(entries: tuple[str, ...], steps: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(normalise(to_nfc(entry), steps) for entry in entries)


@lru_cache(maxsize=65536)
def _apply_step(entries: tuple[str, ...], step: NormalisationStep) -> tuple[str, ...]:
    return tuple(map(step.apply, entries))


@lru_cache(maxsize=65536)
def _prepare_groups(
    groups: tuple[tuple[str, ...], ...], steps: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    return tuple(_prepare_entries(group, steps) for group in groups)


def _freeze_entries(entries: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    return tuple([list_alternatives(entry) for entry in entries])


def _flatten(groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(groups))


def _regroup(
    entries: tuple[str, ...], groups: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...]:
    """Return the entries in groups of the same sizes."""
    rest = iter(entries)
    return tuple(tuple(islice(rest, len(group))) for group in groups)


@lru_cache(maxsize=65536)
def _quote_groups(groups: tuple[tuple[str, ...], ...]) -> str:
    return join_messages(", ", list(map(_join_alternatives, groups)))


@lru_cache(maxsize=65536)
def _fold_entries(entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(fold, entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparingAxis(TextAxis):
    """A text axis whose expectation stands in the item under the key `expects`."""

    expects: str
    normalise: tuple[str, ...] = DEFAULT_STEPS

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse a missing or ill-typed expectation, and one that every answer would meet."""
        value: Any = item.expectations.get(self.expects)
        problems = check_expected_texts(self.expects, value)
        return iter(problems or self._find_empty_entries(value))

    def _find_empty_entries(self, value: Sequence[Any]) -> list[tuple[str, str]]:
        """Return a problem for each text of which normalisation leaves nothing."""
        message = "is empty after normalisation, so it tells nothing apart"
        return [
            (field, f"{quote_excerpt(text)} {message}")
            for path, text in iterate_texts(value)
            for field in [".".join(map(str, (self.expects, *path)))]
            if not all(self.prepare_entries((text,)))
        ]

    def prepare_entries(self, entries: tuple[str, ...]) -> tuple[str, ...]:
        """Return the entries as they are compared with a text."""
        return _prepare_entries(entries, self.normalise)

    def _get_wanted(self, item: Item) -> tuple[str, ...]:
        # A mutant of a rubric may read alternatives here, of which each is one more text.
        return self.prepare_entries(_flatten(_freeze_entries(item.expectations[self.expects])))

    def _find_near_miss(
        self,
        text: str,
        wanted: tuple[str, ...],
        passes: Callable[[str, Sequence[str]], bool],
    ) -> NormalisationStep | None:
        """Return the first single further step after which the text would pass."""
        # Most texts are no near miss; comparing folds is faster than trying every step.
        folded = fold(text)
        if not any(map(folded.__contains__, _fold_entries(wanted))):
            return None
        for step in list_unused_steps(self.normalise):
            changed, entries = step.apply(text), _apply_step(wanted, step)
            if (changed, entries) == (text, wanted) or not all(entries):
                continue
            if passes(changed, entries):
                return step
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainsAll(ComparingAxis):
    """Every expected entry must occur in the text; of a list of alternatives, one must."""

    kind: ClassVar[str] = "contains_all"
    expects: str = "expected_contains"
    match: Match = Match.SUBSTRING

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse what is no list of texts or of alternatives, and what every answer would meet."""
        value: Any = item.expectations.get(self.expects)
        problems = check_alternatives(self.expects, value)
        return iter(problems or self._find_empty_entries(value))

    def judge(self, text: str, item: Item) -> Cell:
        """Say which entry was found where, or which is missing and how nearly."""
        normal, groups = normalise(text, self.normalise), self._get_groups(item)
        found = [self._find_one(normal, group) for group in groups]
        if all(found):
            return Cell.passed(_format_found([place for place in found if place]))
        missing = tuple([group for group, place in zip(groups, found, strict=True) if not place])
        step = self._find_near_miss(
            normal,
            _flatten(groups),
            lambda changed, entries: self._has_all(changed, _regroup(tuple(entries), groups)),
        )
        if step is None:
            return Cell.missed(self._explain_miss(text, normal, missing))
        entry = self._choose_nearest(normal, missing[0], step)
        return Cell.missed(
            describe_near_miss(_describe_difference(normal, entry, step), step), step.name
        )

    def _get_groups(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """Return the alternatives of each entry, as they are compared."""
        return _prepare_groups(_freeze_entries(item.expectations[self.expects]), self.normalise)

    def _find_place(self, normal: str, entry: str) -> int:
        return normal.find(entry) if self.match is Match.SUBSTRING else _find_word(normal, entry)

    def _find_one(self, normal: str, group: tuple[str, ...]) -> tuple[str, int] | None:
        """Return the first alternative that occurs, with its place."""
        for entry in group:
            place = self._find_place(normal, entry)
            if place >= 0:
                return entry, place
        return None

    def _choose_nearest(self, normal: str, group: tuple[str, ...], step: NormalisationStep) -> str:
        """Return the alternative that the step lets pass."""
        changed = step.apply(normal)
        near = (entry for entry in group if self._find_place(changed, step.apply(entry)) >= 0)
        return next(near, group[0])

    def _explain_miss(self, text: str, normal: str, missing: tuple[tuple[str, ...], ...]) -> str:
        entries, one, got = _quote_groups(missing), len(missing) == 1, quote_excerpt(text)
        if not normal:
            if one:
                return sentence("the text is empty; {entries} is expected", entries=entries)
            return sentence("the text is empty; {entries} are expected", entries=entries)
        is_part = all(any(entry in normal for entry in group) for group in missing)
        if self.match is Match.WORD and is_part:
            what = {"entries": entries, "got": got}
            if one:
                return sentence("{entries} is only part of a longer word in {got}", **what)
            return sentence("{entries} are only part of a longer word in {got}", **what)
        if one:
            return sentence("{entries} is missing from {got}", entries=entries, got=got)
        return sentence("{entries} are missing from {got}", entries=entries, got=got)

    def _has_all(self, text: str, groups: tuple[tuple[str, ...], ...]) -> bool:
        return all(self._find_one(text, group) for group in groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(ComparingAxis):
    """The text must be one of the expected texts."""

    kind: ClassVar[str] = "one_of"
    expects: str = "expected_one_of"

    def judge(self, text: str, item: Item) -> Cell:
        """Say which text it equals, or how nearly."""
        normal, wanted = normalise(text, self.normalise), self._get_wanted(item)
        if normal in wanted:
            equal = sentence(
                "{got} equals {entry}", got=quote_excerpt(text), entry=quote_excerpt(normal)
            )
            return Cell.passed(equal)
        reason = sentence(
            "{got} is not {entries}", got=quote_excerpt(text), entries=_join_alternatives(wanted)
        )
        step = self._find_near_miss(normal, wanted, lambda got, entries: got in entries)
        if step is None:
            return Cell.missed(reason)
        return Cell.missed(describe_near_miss(reason, step), step.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals(OneOf):
    """The text must be the expected text."""

    kind: ClassVar[str] = "equals"
    expects: str = "expected"

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse a missing or ill-typed expectation; an empty one may be meant."""
        return iter(check_expected_text(self.expects, item.expectations.get(self.expects)))

    def _get_wanted(self, item: Item) -> tuple[str, ...]:
        return self.prepare_entries((item.expectations[self.expects],))


def _find_word(text: str, entry: str) -> int:
    """Return where an entry occurs as a whole word, or -1."""
    place = text.find(entry)
    while place >= 0:
        end = place + len(entry)
        neighbours = text[max(place - 1, 0) : place] + text[end : end + 1]
        if not any(
            character.isalnum() or character == "_" or unicodedata.combining(character)
            for character in neighbours
        ):
            return place
        place = text.find(entry, place + 1)
    return place


def _format_found(found: Sequence[tuple[str, int]]) -> str:
    if len(found) == 1:
        entry, place = found[0]
        return sentence(
            "found {entry} at character {place}", entry=quote_excerpt(entry), place=place + 1
        )
    matches = [
        sentence("{entry} at character {place}", entry=quote_excerpt(entry), place=place + 1)
        for entry, place in found
    ]
    return sentence("found {places}", places=join_messages(", ", matches))


def _join_alternatives(entries: Sequence[str]) -> str:
    alternatives = quote_excerpt(entries[-1])
    for entry in reversed(entries[:-1]):
        alternatives = sentence("{one} or {other}", one=quote_excerpt(entry), other=alternatives)
    return alternatives


def _describe_difference(text: str, entry: str, step: NormalisationStep) -> str:
    """Describe how the text differs from the entry, quoting the part that would match."""
    part = _find_matching_part(text, entry, step)
    if step.name == "ignore_accents" and entry != step.apply(entry) and part == step.apply(part):
        return sentence(
            "{part} lacks the accent of {entry}",
            part=quote_excerpt(part),
            entry=quote_excerpt(entry),
        )
    what = {"part": quote_excerpt(part), "entry": quote_excerpt(entry)}
    # These differences cannot be seen, so the character is named.
    if step.name == "strip_invisible" and (found := find_invisible(part) or find_invisible(entry)):
        character = describe_character(found)
        return sentence("{part} differs from {entry} by {character}", character=character, **what)
    if step.name == "fold_lookalikes" and (found := find_lookalike(part) or find_lookalike(entry)):
        character, latin = describe_character(found), step.apply(found)
        return sentence(
            "{part} differs from {entry} by {character}, which looks like {latin}",
            character=character,
            latin=quote_excerpt(latin),
            **what,
        )
    return sentence("{part} differs from {entry}", **what)


def _find_matching_part(text: str, entry: str, step: NormalisationStep) -> str:
    """Return the part of the text that the step turns into the entry, or the whole text.

    The part can only be found if the step works character by character.
    """
    plain = step.apply(entry)
    pieces = [step.apply(character) for character in text]
    if "".join(pieces) != step.apply(text):
        return text
    start = "".join(pieces).find(plain)
    if start < 0:
        return text
    ends, total = [], 0
    for piece in pieces:
        total += len(piece)
        ends.append(total)
    first = next(i for i, end in enumerate(ends) if end > start)
    last = next(i for i, end in enumerate(ends) if end >= start + len(plain))
    if text[first : last + 1] == entry:
        # As a whole word it is not there: what makes the word longer is part of the difference.
        while first > 0 and not text[first - 1].isspace():
            first -= 1
        while last + 1 < len(text) and not text[last + 1].isspace():
            last += 1
    return text[first : last + 1]
