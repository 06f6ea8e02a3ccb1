"""The axis that counts tokens, with a named tokenizer that needs no network."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from math import floor
from typing import Any, ClassVar

from markscheme.mark.axes.base import TextAxis
from markscheme.mark.axes.number import parse_tolerance
from markscheme.mark.axes.tag_limits import check_limit_tag, check_limits, get_limit
from markscheme.vocabulary import Cell, Item, UsageError, format_value, sentence

# No token has more bytes, so a text of n bytes has at least n / 128 tokens.
_MAX_TOKEN_BYTES = 128


class Tokenizer(StrEnum):
    """Whose tokens are counted; both are of the package bpe-openai."""

    O200K = "o200k_base"
    CL100K = "cl100k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget(TextAxis):
    """At most so many tokens and a tolerance, for all items or by the value of a tag."""

    kind: ClassVar[str] = "token_budget"
    budgets: Mapping[str, Any] | int
    by: str | None = None
    tolerance: Decimal | str = Decimal(0)
    tokenizer: Tokenizer = Tokenizer.O200K

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse budgets below 1, and an invalid tolerance."""
        yield from check_limits("budgets", self.by, self.budgets, 1)
        if parse_tolerance(self.tolerance) is None:
            allowed = "a number of tokens from 0 on, or a percentage such as 20%"
            yield "tolerance", f"{format_value(self.tolerance)} is no tolerance; {allowed}"

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse an item without the tag that the budget goes by."""
        yield from check_limit_tag(self.by, self.budgets, item)

    def judge(self, text: str, item: Item) -> Cell:
        """Give the count, the tokenizer, and how many are allowed."""
        budget, tag = get_limit(self.by, self.budgets, item)
        share = parse_tolerance(self.tolerance) or Fraction(0)
        limit = budget + (share * budget if isinstance(self.tolerance, str) else share)
        values = {
            "tokenizer": self.tokenizer.value,
            "limit": f"{floor(limit):,}",
            "budget": f": {budget:,} + {self.tolerance}{tag}" if share else tag,
        }
        size = len(text.encode(errors="replace"))
        if size > limit * _MAX_TOKEN_BYTES:
            return Cell.missed(
                sentence(
                    "{size} bytes, more tokens ({tokenizer}) than the {limit} allowed{budget}",
                    size=f"{size:,}",
                    **values,
                )
            )
        count = load_token_counter(self.tokenizer.value)(text)
        reason = sentence(
            "{count} tokens ({tokenizer}), at most {limit} allowed{budget}",
            count=f"{count:,}",
            **values,
        )
        return Cell.passed(reason) if count <= limit else Cell.missed(reason)


def has_token_counter() -> bool:
    """Return whether the package with the tokenizers is installed; it is an extra."""
    return find_spec("bpe_openai") is not None


@cache
def load_token_counter(name: str) -> Callable[[str], int]:
    """Load a tokenizer and return a function that counts tokens; loading is slow, so cached.

    Raises:
        UsageError: the package with the tokenizers is not installed; it is an extra.
    """
    with warnings.catch_warnings():
        # The package opens its own data in a deprecated way.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            from bpe_openai import get_encoding  # type: ignore[import-untyped]
        except ImportError as error:
            message = "tokens are counted with the package bpe-openai, which is an extra"
            raise UsageError(f"{message}: pip install 'markscheme[tokens]'") from error
        encoding = get_encoding(name)
    return lambda text: len(encoding.encode_ordinary(text))
