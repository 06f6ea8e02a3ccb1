"""Axes that count: words, characters, lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from markscheme.mark.axes.base import TextAxis
from markscheme.vocabulary import Cell, Item, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


# Whitespace in ASCII other than the space.
_OTHER_SPACE = r"[\x09-\x0d\x1c-\x1f]"


class Unit(StrEnum):
    """What a length is counted in."""

    CHARACTERS = "characters"
    WORDS = "words"
    LINES = "lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxWords(TextAxis):
    """At most `limit` words, separated by whitespace."""

    kind: ClassVar[str] = "max_words"
    limit: int

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse a negative limit."""
        if self.limit < 0:
            yield "limit", f"{self.limit} is below 0; a whole number from 0 on is needed"

    def column_keys(self, texts: pl.Series, items: pl.Series) -> pl.DataFrame:  # noqa: ARG002
        """Return the number of words, on which alone a cell depends."""
        import polars as pl

        if texts.null_count():
            has_text = texts.is_not_null().arg_true()
            nulls = pl.Series([None], dtype=pl.UInt32).new_from_index(0, len(texts))
            counts = nulls.scatter(has_text, _count_words(texts[has_text]))
        else:
            counts = _count_words(texts)
        return pl.DataFrame([counts.alias("words")])

    def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002 - the same for every item
        """Give the count, and how much it is over."""
        count = len(text.split())
        what = {"count": _format_unit_count(count, Unit.WORDS), "limit": self.limit}
        if count <= self.limit:
            return Cell.passed(sentence("{count}, at most {limit} allowed", **what))
        over = count - self.limit
        return Cell.missed(
            sentence("{count}, at most {limit} allowed: {over} too many", **what, over=over)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(TextAxis):
    """A text of at least and at most so many characters, words or lines."""

    kind: ClassVar[str] = "length"
    unit: Unit = Unit.CHARACTERS
    at_least: int = 0
    at_most: int | None = None

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse bounds that no text, or every text, can meet."""
        if self.at_least < 0:
            yield "at_least", f"{self.at_least} is below 0; a whole number from 0 on is needed"
        if self.at_most is None:
            if self.at_least == 0:
                yield "at_most", "is missing, so every text would pass; give at_least or at_most"
        elif self.at_most < self.at_least:
            yield "at_most", f"{self.at_most} is below at_least, {self.at_least}: no text can pass"

    def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002 - the same for every item
        """Give the count and the bound that it crosses."""
        count = _count_units(text, self.unit)
        told, low, high = _format_unit_count(count, self.unit), self.at_least, self.at_most
        if count < low:
            return Cell.missed(sentence("{count}, at least {low} needed", count=told, low=low))
        if high is None:
            return Cell.passed(sentence("{count}, within {low} or more", count=told, low=low))
        if count > high:
            return Cell.missed(sentence("{count}, at most {limit} allowed", count=told, limit=high))
        within = sentence("{count}, within {low} to {high}", count=told, low=low, high=high)
        return Cell.passed(within)


def _count_words(texts: pl.Series) -> pl.Series:
    """Count the words of each text as `len(text.split())` does, most of them in columns.

    Where single spaces separate the words, there is one word more than there are spaces. Texts in
    which that is not certain are split by Python.
    """
    import polars as pl

    texts = texts.rechunk()
    text_bytes = texts.cast(pl.Binary).cast(pl.List(pl.UInt8))
    counts = text_bytes.list.eval(pl.element() == ord(" ")).list.sum() + 1
    uncertain = (
        texts.str.contains("  ", literal=True)
        | texts.str.starts_with(" ")
        | texts.str.ends_with(" ")
        | (texts == "")
    )
    all_bytes = text_bytes.explode()
    lowest: int = all_bytes.min() or 0  # type: ignore[assignment]
    highest: int = all_bytes.max() or 0  # type: ignore[assignment]
    if lowest < ord(" ") or highest > ord("~"):
        uncertain |= texts.str.contains(_OTHER_SPACE)
        # Outside ASCII, Unicode has further spaces.
        uncertain |= texts.str.len_bytes() != texts.str.len_chars()
    if uncertain.any():
        positions = uncertain.arg_true()
        split_counts = [len(text.split()) for text in texts[positions]]
        counts = counts.scatter(positions, pl.Series(split_counts, dtype=pl.UInt32))
    return counts


def _format_unit_count(count: int, unit: Unit) -> str:
    """Return a count with its noun: 1 word, 2 words."""
    match unit, count == 1:
        case Unit.WORDS, True:
            return sentence("{n} word", n=count)
        case Unit.WORDS, False:
            return sentence("{n} words", n=count)
        case Unit.CHARACTERS, True:
            return sentence("{n} character", n=count)
        case Unit.CHARACTERS, False:
            return sentence("{n} characters", n=count)
        case _, True:
            return sentence("{n} line", n=count)
        case _:
            return sentence("{n} lines", n=count)


def _count_units(text: str, unit: Unit) -> int:
    match unit:
        case Unit.CHARACTERS:
            return len(text)
        case Unit.WORDS:
            return len(text.split())
        case Unit.LINES:
            return len(text.splitlines())
