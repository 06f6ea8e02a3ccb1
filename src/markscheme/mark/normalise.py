"""Normalisation: a closed list of named steps, each with one definition.

A rubric lists the steps in the order in which they run, on both the answer and the expectation. By
default these are `strip`, `lower` and `strip_trailing_period`. The steps that a rubric does not use
are tried to find near misses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from markscheme.mark.look_alikes import fold_lookalikes, strip_invisible
from markscheme.vocabulary import sentence

_SPACE = re.compile(r"\s+")
_QUOTES = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›′″"))  # noqa: RUF001 - quotation marks


def _strip_trailing_period(text: str) -> str:
    """Remove one final full stop."""
    return text.removesuffix(".")


def _strip_trailing_periods(text: str) -> str:
    """Remove all final full stops, ellipses and the spaces between them."""
    return text.rstrip(". …")


def _is_accent(character: str) -> bool:
    return unicodedata.category(character) == "Mn"


def _ignore_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text)
    bare = "".join(c for c in decomposed if not _is_accent(c))
    return unicodedata.normalize("NFC", bare)


class _CharacterTable(dict[int, str]):
    """A table for `str.translate` that calls a function once for each character."""

    def __init__(self, convert: Callable[[str], str]) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, code: int) -> str:
        self[code] = self._convert(chr(code))
        return self[code]


def _drop_punctuation(character: str) -> str:
    return "" if unicodedata.category(character).startswith("P") else character


_PUNCTUATION = _CharacterTable(_drop_punctuation)


def _ignore_punctuation(text: str) -> str:
    return text.translate(_PUNCTUATION)


def _ignore_quotes(text: str) -> str:
    return text.translate(_QUOTES)


def _collapse_whitespace(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _to_compatibility_form(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


class NormalisationStep(NamedTuple):
    """A named step: the function, and how the reason of a near miss describes it."""

    name: str
    apply: Callable[[str], str]
    would_pass_if: str


_ALL_STEPS = (
    NormalisationStep(
        "strip",
        str.strip,
        sentence("whitespace at the ends were ignored"),
    ),
    NormalisationStep(
        "lower",
        str.lower,
        sentence("upper and lower case were the same"),
    ),
    NormalisationStep(
        "strip_trailing_period",
        _strip_trailing_period,
        sentence("a final full stop were ignored"),
    ),
    NormalisationStep(
        "strip_trailing_periods",
        _strip_trailing_periods,
        sentence("several full stops were ignored"),
    ),
    NormalisationStep(
        "ignore_accents",
        _ignore_accents,
        sentence("accents were ignored"),
    ),
    NormalisationStep(
        "ignore_quotes",
        _ignore_quotes,
        sentence("quotation marks were ignored"),
    ),
    NormalisationStep(
        "collapse_whitespace",
        _collapse_whitespace,
        sentence("runs of whitespace counted as one space"),
    ),
    NormalisationStep(
        "compatibility_form",
        _to_compatibility_form,
        sentence("another Unicode form counted as the same"),
    ),
    NormalisationStep(
        "ignore_punctuation",
        _ignore_punctuation,
        sentence("punctuation were ignored"),
    ),
    NormalisationStep(
        "strip_invisible",
        strip_invisible,
        sentence("invisible characters were ignored"),
    ),
    NormalisationStep(
        "fold_lookalikes",
        fold_lookalikes,
        sentence("letters of other alphabets counted as the Latin letters that they look like"),
    ),
)
STEPS: dict[str, NormalisationStep] = {step.name: step for step in _ALL_STEPS}
DEFAULT_STEPS = ("strip", "lower", "strip_trailing_period")


def normalise(text: str, steps: Iterable[str]) -> str:
    """Apply the named steps in order.

    >>> normalise("  ATE. ", DEFAULT_STEPS)
    'ate'
    """
    for name in steps:
        text = STEPS[name].apply(text)
    return text


def _fold_character(character: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", character) if not _is_accent(c))
    decomposed = unicodedata.normalize("NFKD", bare.casefold())
    letters = "".join(c for c in decomposed if c.isalnum() and not _is_accent(c))
    return fold_lookalikes(letters)


_FOLDED = _CharacterTable(_fold_character)
_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_OTHERS = bytes(code for code in range(128) if not chr(code).isalnum())


def fold(text: str) -> str:
    """Return the letters and digits of a text, without case, accents and compatibility forms.

    Letters of other alphabets that look like Latin ones are replaced by those. No single step
    removes any of what is left. So if one text contains another after some step, its fold contains
    the other's fold. Texts for which that is not so cannot be a near miss, and the steps need not
    be tried.
    """
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_OTHERS).decode()
    return text.translate(_FOLDED)


@cache
def list_unused_steps(steps: tuple[str, ...]) -> tuple[NormalisationStep, ...]:
    """Return the steps that are not used, in the order in which a near miss tries them."""
    return tuple(step for step in _ALL_STEPS if step.name not in steps)
