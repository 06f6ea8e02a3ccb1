"""The axis that searches for a regular expression, in an engine that runs in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from threading import Thread
from typing import ClassVar

from markscheme.mark.axes.base import (
    TextAxis,
    check_expected_text,
    describe_near_miss,
    quote_excerpt,
)
from markscheme.mark.normalise import STEPS
from markscheme.vocabulary import Cell, Item, format_value, sentence

# Time grows with the length of the text times the size of the compiled pattern, because the engine
# gives up its fast automaton where that would be too large: `a{100}{100}` takes 23 s for 1 MB.
_MAX_PATTERN_BYTES = 2**22
_MAX_WORK = 2**35
# A near miss tries the pattern once more for each step, so it gets an eighth of the work.
_MAX_NEAR_MISS_WORK = 2**32
_MIN_PATTERN_BYTES = 2**10
# Longer texts are searched in a thread, so that Ctrl-C is heard meanwhile.
_MAX_FOREGROUND_CHARACTERS = 50_000
_SIGNAL_CHECK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternAxis(TextAxis):
    """The text matches the pattern somewhere; anchor it with ^ and $ to match the whole.

    The pattern stands in the rubric (`pattern`) or in each item (`expects`). The engine is Rust's:
    no look-around and no back-references, and therefore no text that takes for ever.
    """

    kind: ClassVar[str] = "pattern"
    pattern: str | None = None
    expects: str = "expected_pattern"

    @property
    def expectation(self) -> str | None:
        """The key of the item that holds the pattern, unless the rubric holds it."""
        return self.expects if self.pattern is None else None

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse a pattern that the engine cannot compile, with its message."""
        if self.pattern is not None and (why := explain_refusal(self.pattern)):
            yield "pattern", why

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse an item with a bad pattern, or without one if the rubric has none."""
        if self.pattern is not None:
            return
        value = item.expectations.get(self.expects)
        yield from check_expected_text(self.expects, value)
        if isinstance(value, str) and (why := explain_refusal(value)):
            yield self.expects, why

    def judge(self, text: str, item: Item) -> Cell:
        """Give the place of the match, or the step that would make it match."""
        pattern = item.expectations[self.expects] if self.pattern is None else self.pattern
        work = _estimate_work(pattern, text)
        if work > _MAX_WORK:
            return Cell.failed(
                sentence(
                    "the text of {n} characters is too long for {pattern}",
                    n=len(text),
                    pattern=format_value(pattern),
                )
            )
        place = find_match(pattern, text)
        if place is not None:
            where = {"pattern": format_value(pattern), "place": place + 1}
            return Cell.passed(sentence("matches {pattern} at character {place}", **where))
        reason = sentence(
            "{got} does not match {pattern}", got=quote_excerpt(text), pattern=format_value(pattern)
        )
        steps = STEPS.values() if work <= _MAX_NEAR_MISS_WORK else ()
        for step in steps:
            if find_match(pattern, step.apply(text)) is not None:
                return Cell.missed(describe_near_miss(reason, step), step.name)
        return Cell.missed(reason)


def _estimate_work(pattern: str, text: str) -> int:
    """Return the length of the text times the size of the pattern, where that may be too much."""
    if len(text) * _MAX_PATTERN_BYTES <= _MAX_NEAR_MISS_WORK:
        return 0
    return len(text) * _measure_pattern(pattern)


def find_match(pattern: str, text: str) -> int | None:
    """Return the character at which the pattern first matches the text, or `None`."""
    if len(text) <= _MAX_FOREGROUND_CHARACTERS:
        return _search_text(pattern, text)
    from concurrent.futures import Future

    search: Future[int | None] = Future()

    def run_search() -> None:
        try:
            search.set_result(_search_text(pattern, text))
        except BaseException as error:  # noqa: BLE001 - raised where the result is taken
            search.set_exception(error)

    # A daemon, because the interpreter waits for all other threads when it ends.
    Thread(target=run_search, daemon=True).start()
    while not search.done():
        with suppress(TimeoutError):
            search.exception(_SIGNAL_CHECK_SECONDS)
    return search.result()


def _search_text(pattern: str, text: str) -> int | None:
    import polars as pl

    offset = pl.Series([text]).str.find(pattern, literal=False, strict=True).item()
    return None if offset is None else len(text.encode()[:offset].decode())


@lru_cache(maxsize=4096)
def _measure_pattern(pattern: str) -> int:
    """Return the bytes of the compiled pattern, as a power of two; too many are `2**24`."""
    size = _MIN_PATTERN_BYTES
    while size <= _MAX_PATTERN_BYTES and not _fits_size(pattern, size):
        size *= 2
    return size


def _fits_size(pattern: str, size: int) -> bool:
    """Return whether a pattern compiles to at most so many bytes.

    polars has no such limit, but the JSON Schema validator has, and the same engine.
    """
    import jsonschema_rs

    options = jsonschema_rs.RegexOptions(size_limit=size)
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def explain_refusal(pattern: str) -> str:
    """Return why the engine refuses the pattern, or an empty text if it accepts it."""
    import polars as pl

    try:
        find_match(pattern, "")
    except pl.exceptions.ComputeError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        messages = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        why = messages[0] if messages else "it is too large or cannot be compiled"
        limits = "linear-time engine: no look-around, no back-references"
        return f"{format_value(pattern)} is refused: {why} ({limits})"
    # The validator cannot tell a bad pattern from a large one, so polars is asked first.
    if not _fits_size(pattern, _MAX_PATTERN_BYTES):
        most = _MAX_PATTERN_BYTES // 2**20
        return f"{format_value(pattern)} is refused: it compiles to more than {most} MB"
    return ""
