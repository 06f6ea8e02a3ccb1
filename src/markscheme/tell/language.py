"""The language in which pages and reports speak: English, or another by its message catalogue.

`translate` and `translate_plural` are for words that a page makes itself. `translate_stored` is for
messages that other packages made with `sentence`: it fills the translation of their template with
their values. A text that is no message (what a subject said, a reason from a result file) is shown
as it is. docs/language.md says how to change a sentence in both languages.
"""

from __future__ import annotations

import gettext
import os
import re
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from markscheme.vocabulary import Message

LANGUAGES = ("en", "es")
DOMAIN = "markscheme"
CATALOGUES = Path(__file__).parent / "catalogues"
# Compiled where it is used: most texts are printable, and English starts faster without `re`.
_CONTROL_PATTERN = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"

_language: ContextVar[str] = ContextVar("language", default="en")


def set_language(language: str) -> None:
    """Set the language of every page that is drawn from now on."""
    _language.set(language)


def get_language() -> str:
    """Return the language of the pages that are drawn now."""
    return _language.get()


def detect_language() -> str:
    """Return the language that the environment asks for, or English."""
    asked = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else "en"


def translate(text: str, /, **values: object) -> str:
    """Return a template in the current language, filled with its values."""
    template = _load_catalogue(get_language()).gettext(text)
    return template.format(**_sanitize_values(values)) if values else template


def translate_plural(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the template for one or for many, filled; both may use `{n}`."""
    return (
        _load_catalogue(get_language())
        .ngettext(one, many, n)
        .format(n=n, **_sanitize_values(values))
    )


def replace_control_characters(text: str) -> str:
    """Replace control characters, which could steer a terminal or reverse its lines, by spaces."""
    return text if text.isprintable() else re.sub(_CONTROL_PATTERN, " ", text)


def _sanitize_values(values: dict[str, object]) -> dict[str, object]:
    return {
        k: replace_control_characters(v) if isinstance(v, str) else v for k, v in values.items()
    }


def translate_stored(text: str) -> str:
    """Return a message in the current language, and any other text as it is."""
    if not isinstance(text, Message) or get_language() == "en":
        return text
    return text.fill(_load_catalogue(get_language()).gettext(text.template), translate_stored)


@cache
def _load_catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, CATALOGUES, [language], fallback=language == "en")
