"""Secrets: where keys come from, and that they go nowhere else."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.ask.replies import Reply

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_MIN_KEY_LENGTH = 4  # what is shorter stands in any text by chance
_MIN_CERTAIN_LENGTH = 16  # a variable by another name may hold a plain word
_MIN_LIKELY_LENGTH = 8  # so long and with a digit in it, it is most likely no word
_SECRET_NAME_PATTERN = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD)$|(?:^|[^A-Z0-9])(?:KEY|TOKEN|SECRET)(?![A-Z0-9])", re.IGNORECASE
)
_KEY_PLACEHOLDER = "[key]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Keys that must not be seen; a subject may say one back, in an error or an answer."""

    keys: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_keys(cls, keys: Iterable[str | None]) -> Secrets:
        """Return the keys that are long enough to be told from other text, the longest first."""
        found = {key.strip() for key in keys if key and len(key.strip()) >= _MIN_KEY_LENGTH}
        return cls(keys=tuple(sorted(found, key=len, reverse=True)))

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets.from_keys([*self.keys, *other.keys])

    @property
    def certain(self) -> Secrets:
        """The keys that no name and no path holds by chance: that of a server may be `ollama`."""
        return Secrets(keys=tuple(key for key in self.keys if _is_distinctive_key(key)))

    def redact(self, text: str) -> str:
        """Return a text without any of the keys; before it is cut, lest half a key stay."""
        for key in self.keys:
            text = text.replace(key, _KEY_PLACEHOLDER)
        if "\\" in text or "%" in text:
            for key in self.keys:
                text = _compile_escaped_pattern(key).sub(_KEY_PLACEHOLDER, text)
        return text

    def redact_reply(self, reply: Reply) -> Reply:
        """Return a reply without any of the keys."""
        told = (reply.text or "", reply.why, reply.finish_reason or "")
        text, why, reason = (self.redact(one) for one in told)
        if (text, why, reason) == told:
            return reply
        return replace(
            reply,
            text=None if reply.text is None else text,
            why=why,
            finish_reason=None if reply.finish_reason is None else reason,
        )


@cache
def _compile_escaped_pattern(key: str) -> re.Pattern[str]:
    """Return how a key may be written where signs are escaped, as in JSON and in addresses.

    Who marks an answer that is JSON reads it, and would show the key.
    """
    ways = r"(?:\\{{0,8}}{}|\\{{1,8}}u(?i:{:04x})|%(?i:{:02x}))"
    return re.compile("".join(ways.format(re.escape(c), ord(c), ord(c)) for c in key))


def read_api_key(variable: str | None) -> str | None:
    """Return the key in an environment variable; one that is named must be there."""
    value = os.environ.get(variable or DEFAULT_KEY_VARIABLE, "").strip()
    if not value:
        if variable is not None:
            raise UsageError(f"the environment variable `{variable}` holds no key")
        return None
    if not value.isascii() or not value.isprintable() or " " in value:
        told = f"the key in `{variable or DEFAULT_KEY_VARIABLE}` holds signs that no key has"
        raise UsageError(f"{told}; look for a blank, a line break or a quote in it")
    return value


def environment_secrets() -> Secrets:
    """Return the keys of the environment, which a command or a function of one's own could tell."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME_PATTERN.search(name))
    return Secrets.from_keys(
        [os.environ.get(DEFAULT_KEY_VARIABLE), *(value for value in named if _is_likely_key(value))]
    )


def _is_likely_key(value: str) -> bool:
    """Whether a variable that is named like one holds a key: neither a word nor where a file is."""
    there = "/" in value and os.path.exists(value)  # noqa: PTH110 - it may be no path at all
    return len(value) >= _MIN_CERTAIN_LENGTH and not there


def _is_distinctive_key(key: str) -> bool:
    return len(key) >= _MIN_CERTAIN_LENGTH or (
        len(key) >= _MIN_LIKELY_LENGTH and any(map(str.isdigit, key))
    )
