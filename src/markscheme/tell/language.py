"""The language in which pages and reports speak, by the message catalogues of gettext.

`say` is for words that a page makes itself; `told` is for sentences that were made elsewhere with
`sentences.sentence`, are stored in English, and are translated only where somebody reads them.
"""

from __future__ import annotations

import gettext
import os
import re
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from markscheme.values import dataclass

LANGUAGES = ("en", "es")
DOMAIN = "markscheme"
CATALOGUES = Path(__file__).parent / "catalogues"
# Patterns that are compiled where they are used: English needs hardly any.
_FIELD = r"\{([a-z_]+)(?:![rsa])?(?::[^{}]*)?\}"
_QUOTED = r'"[^"]*"'
_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_HIDDEN = 0xF0000  # private characters stand for what is not to be translated
_LONGEST = 5_000  # characters
_NAME = r"\S+|[^\s:]+: \S+(?:, [^\s:]+: \S+)*"  # a number, a name, tags
_NAMES = frozenset(
    {
        "baseline",
        "exam",
        "field",
        "file",
        "gate",
        "gates",
        "item",
        "rubric",
        "run",
        "status",
        "step",
        "steps",
        "subject",
        "tag",
        "tags",
        "words",
    }
)  # fields that hold names, which are the same in every language
_WORDS = "words"  # the field that holds what somebody else said, whatever that is
_NUMBERS = frozenset({"n", "of", "seen", "limit", "place", "hits", "others", "rest", "over"})
_SEPARATORS = ("; ", ", ")
_WEAK = 8  # letters

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
    return template.format(**_shown(values)) if values else template


def say_many(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the text for one or for many; both may use `{n}`."""
    return _catalogue(spoken()).ngettext(one, many, n).format(n=n, **_shown(values))


def harmless(text: str) -> str:
    """Return a text without characters that would steer a terminal or turn its lines around."""
    return text if text.isprintable() else re.sub(_CONTROL, " ", text)


def _shown(values: dict[str, object]) -> dict[str, object]:
    return {k: harmless(v) if isinstance(v, str) else v for k, v in values.items()}


def told(sentence: str) -> str:
    """Return a stored English sentence in the language that is spoken, or as it is."""
    return sentence if spoken() == "en" else _retold(sentence, spoken())


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, CATALOGUES, [language], fallback=language == "en")


@lru_cache(maxsize=16_384)
def _retold(sentence: str, language: str) -> str:
    """Translate a sentence; what others said in it is foreign, and stays as it is.

    That is what stands in the field for their words, and else in quotation marks.
    """
    if len(sentence) > _LONGEST or max(sentence, default="") >= chr(_HIDDEN):
        return sentence  # not one of ours
    foreign: list[str] = []

    def hide(text: str) -> str:
        foreign.append(text)
        return chr(_HIDDEN + len(foreign) - 1)

    def shown(text: str) -> str:
        return "".join(shown(foreign[ord(c) - _HIDDEN]) if c >= chr(_HIDDEN) else c for c in text)

    start, end = _words_in(sentence, language)
    words = hide(sentence[start:end]) if end else ""
    ours = f"{sentence[:start]}{words}{sentence[end:]}"
    told = _translated(re.sub(_QUOTED, lambda found: hide(found[0]), ours), language)
    return sentence if told is None else shown(told)


def _words_in(sentence: str, language: str) -> tuple[int, int]:
    """Return from where to where somebody else speaks; who says such a sentence speaks on."""
    known = (one.pattern for one in _speeches(language) if one.longest in sentence)
    spans = (found.span(_WORDS) for one in known if (found := one.search(sentence)))
    return min(spans, default=(0, 0))


def _translated(text: str, language: str) -> str | None:
    """Return a known text, a list of known texts, or a known sentence with its parts told."""
    if not text:
        return None
    known = _catalogue(language).gettext(text)
    if known != text or " " not in text:
        return known if known != text else None
    return (
        _unformatted(text, language, lists=True)
        or _listed(text, language)
        or _unformatted(text, language, lists=False)
    )


def _listed(text: str, language: str) -> str | None:
    for separator in _SEPARATORS:
        parts = text.split(separator)
        if len(parts) > 1 and all(" " in part for part in parts):  # a single word may be a name
            told = [_translated(part, language) for part in parts]
            if None not in told:
                return separator.join(filter(None, told))
    return None


def _unformatted(text: str, language: str, *, lists: bool) -> str | None:
    """Return a sentence in translation, the values that were put into it told in turn.

    Sentences with a comma or semicolon of their own come before lists, the others after.
    """
    for known in _templates(language, lists=lists):
        found = known.pattern.fullmatch(text) if known.longest in text else None
        if found is None:
            continue
        values = found.groupdict()
        told = {
            name: None if name in _NAMES else _translated(value, language)
            for name, value in values.items()
        }
        if known.weak and not all(told[name] or _is_name(name, values[name]) for name in told):
            continue
        return known.translation.format(**{name: told[name] or values[name] for name in told})
    return None


def _is_name(field: str, value: str) -> bool:
    return field in _NAMES or re.fullmatch(_NAME, value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    """What a stored sentence looks like; a weak one has hardly a word of its own."""

    pattern: re.Pattern[str]
    translation: str
    longest: str
    weak: bool


@cache
def _templates(language: str, *, lists: bool) -> tuple[_Template, ...]:
    """Return what stored sentences look like, those with the most words of their own first."""
    catalogue = _catalogue(language)
    known: dict[object, str] = getattr(catalogue, "_catalog", {})  # plural forms are pairs
    fitting = [
        text
        for text in known
        if isinstance(text, str)
        and re.search(_FIELD, text)
        and any(separator in _literals(text) for separator in _SEPARATORS) is lists
    ]
    ordered = sorted(fitting, key=lambda text: -len(_literals(text)))
    return tuple(_template(text, known[text]) for text in ordered)


@cache
def _speeches(language: str) -> tuple[_Template, ...]:
    """Return what sentences look like in which somebody else speaks."""
    every = (*_templates(language, lists=True), *_templates(language, lists=False))
    return tuple(
        replace(one, pattern=re.compile(rf"{one.pattern.pattern}\Z", re.DOTALL))
        for one in every
        if _WORDS in one.pattern.groupindex
    )


def _literals(template: str) -> str:
    return re.sub(_FIELD, "", template)


def _template(text: str, translation: str) -> _Template:
    parts, seen, end = [], set(), 0
    for field in re.finditer(_FIELD, text):
        name = field[1]
        parts.append(re.escape(text[end : field.start()]))
        value = ".*" if name == _WORDS else r"\S+?" if name in _NUMBERS else ".+?"
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{value})")
        seen.add(name)
        end = field.end()
    pattern = re.compile("".join((*parts, re.escape(text[end:]))), re.DOTALL)
    pieces = [text[one.end() : other.start()] for one, other in pairwise(re.finditer(_FIELD, text))]
    first, last = text[: text.index("{")], text[text.rindex("}") + 1 :]
    return _Template(
        pattern=pattern,
        translation=re.sub(_FIELD, r"{\1}", translation),
        longest=max(first, *pieces, last, key=len),
        weak=sum(map(str.isalpha, _literals(text))) < _WEAK,
    )
