"""Secrets: reads keys from the environment, and redacts them wherever they could be shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache

from markscheme.ask.replies import Reply
from markscheme.vocabulary import UsageError

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_MIN_KEY_LENGTH = 4  # shorter texts occur anywhere by chance
_MIN_CERTAIN_LENGTH = 16  # so long a value is no plain word
_MIN_LIKELY_LENGTH = 8  # so long a value with a digit in it is most likely no word
_SECRET_NAME_PATTERN = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD)$|(?:^|[^A-Z0-9])(?:KEY|TOKEN|SECRET)(?![A-Z0-9])", re.IGNORECASE
)
_KEY_PLACEHOLDER = "[key]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Keys that must not be shown; a subject may echo one in an error or an answer."""

    keys: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_keys(cls, keys: Iterable[str | None]) -> Secrets:
        """Keep the keys that are long enough to be recognised, the longest first."""
        known = {key.strip() for key in keys if key and len(key.strip()) >= _MIN_KEY_LENGTH}
        return cls(keys=tuple(sorted(known, key=len, reverse=True)))

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets.from_keys([*self.keys, *other.keys])

    @property
    def certain(self) -> Secrets:
        """The keys that occur in no name or path by chance; that of a server may be `ollama`."""
        return Secrets(keys=tuple(key for key in self.keys if _is_distinctive_key(key)))

    def redact(self, text: str) -> str:
        """Replace every key in a text. Do so before cutting it: half a key would not be found."""
        for key in self.keys:
            text = text.replace(key, _KEY_PLACEHOLDER)
        if "\\" in text or "%" in text:
            for key in self.keys:
                text = _compile_escaped_pattern(key).sub(_KEY_PLACEHOLDER, text)
        return text

    def redact_reply(self, reply: Reply) -> Reply:
        """Replace every key in the texts of a reply."""
        texts = (reply.text or "", reply.why, reply.finish_reason or "", reply.served or "")
        text, why, reason, served = map(self.redact, texts)
        if (text, why, reason, served) == texts:
            return reply
        return replace(
            reply,
            text=None if reply.text is None else text,
            why=why,
            finish_reason=None if reply.finish_reason is None else reason,
            served=None if reply.served is None else served,
        )


@cache
def _compile_escaped_pattern(key: str) -> re.Pattern[str]:
    """Return a pattern of a key whose characters may be escaped, as in JSON and in URLs.

    Marking an answer that is JSON decodes it, and would show the key.
    """
    forms = r"(?:\\{{0,8}}{}|\\{{1,8}}u(?i:{:04x})|%(?i:{:02x}))"
    return re.compile("".join(forms.format(re.escape(c), ord(c), ord(c)) for c in key))


def read_api_key(variable: str | None) -> str | None:
    """Return the key in an environment variable; a variable that the user names must be set."""
    value = os.environ.get(variable or DEFAULT_KEY_VARIABLE, "").strip()
    if not value:
        if variable is not None:
            raise UsageError(f"the environment variable `{variable}` holds no key")
        return None
    if not value.isascii() or not value.isprintable() or " " in value:
        why = f"the key in `{variable or DEFAULT_KEY_VARIABLE}` holds signs that no key has"
        raise UsageError(f"{why}; look for a blank, a line break or a quote in it")
    return value


def environment_secrets() -> Secrets:
    """Return the keys in the environment: commands and functions see them, and may echo them."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME_PATTERN.search(name))
    likely = (value for value in named if _is_likely_key(value))
    return Secrets.from_keys([os.environ.get(DEFAULT_KEY_VARIABLE), *likely])


def _is_likely_key(value: str) -> bool:
    """Whether the value of a variable with a telling name is a key, not a word or a path."""
    is_path = "/" in value and os.path.exists(value)  # noqa: PTH110 - it may be no path at all
    return len(value) >= _MIN_CERTAIN_LENGTH and not is_path


def _is_distinctive_key(key: str) -> bool:
    return len(key) >= _MIN_CERTAIN_LENGTH or (
        len(key) >= _MIN_LIKELY_LENGTH and any(map(str.isdigit, key))
    )
