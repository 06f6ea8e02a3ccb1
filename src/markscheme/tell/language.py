"""The language in which pages and reports speak, by the message catalogues of gettext.

`say` is for words that a page makes itself; `told` is for sentences that were made elsewhere with
`sentences.sentence`, are stored in English, and are translated only where somebody reads them.
"""

from __future__ import annotations

import gettext
import os
import re
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path

LANGUAGES = ("en", "es")
DOMAIN = "markscheme"
CATALOGUES = Path(__file__).parent / "catalogues"
_FIELD = re.compile(r"\{([a-z_]+)(?:![rsa])?(?::[^{}]*)?\}")

_spoken: ContextVar[str] = ContextVar("language", default="en")


def speak(language: str) -> None:
    """Let everything that is told from here on be in this language."""
    _spoken.set(language)


def spoken() -> str:
    """Return the language in which things are told."""
    return _spoken.get()


def language_of_the_locale() -> str:
    """Return the language that the environment asks for, or English."""
    asked = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else "en"


def say(text: str, /, **values: object) -> str:
    """Return a text in the language that is spoken, with its values in place."""
    template = _catalogue(spoken()).gettext(text)
    return template.format(**values) if values else template


def say_many(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the text for one or for many; both may use `{n}`."""
    return _catalogue(spoken()).ngettext(one, many, n).format(n=n, **values)


def told(sentence: str) -> str:
    """Return a stored English sentence in the language that is spoken, or as it is."""
    return sentence if spoken() == "en" else _retold(sentence, spoken())


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, CATALOGUES, [language], fallback=language == "en")


@lru_cache(maxsize=4096)
def _retold(sentence: str, language: str) -> str:
    known = _catalogue(language).gettext(sentence) if sentence else sentence
    if known != sentence:
        return known
    for pattern, template in _templates(language):
        found = pattern.fullmatch(sentence)
        if found:
            return template.format(**found.groupdict())
    return sentence


@cache
def _templates(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what stored sentences look like, those with the most words of their own first."""
    catalogue = _catalogue(language)
    known: dict[object, str] = getattr(catalogue, "_catalog", {})  # plural forms are pairs
    single = {text: known[text] for text in known if isinstance(text, str)}
    found = [
        (_pattern(text), _FIELD.sub(r"{\1}", translation))
        for text, translation in single.items()
        if _FIELD.search(text)
    ]
    return tuple(sorted(found, key=lambda pair: -len(pair[0].pattern)))


def _pattern(template: str) -> re.Pattern[str]:
    parts, seen, end = [], set(), 0
    for field in _FIELD.finditer(template):
        name = field[1]
        parts.append(re.escape(template[end : field.start()]))
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
        seen.add(name)
        end = field.end()
    return re.compile("".join((*parts, re.escape(template[end:]))), re.DOTALL)
