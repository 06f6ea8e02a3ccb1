"""The language in which pages and reports speak, by the message catalogues of gettext.

`say` is for words that a page makes itself; `told` is for sentences that were made elsewhere with
`sentences.sentence`, are stored in English, and are translated only where somebody reads them.
"""

from __future__ import annotations

import gettext
import os
import re
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

LANGUAGES = ("en", "es")
DOMAIN = "markscheme"
CATALOGUES = Path(__file__).parent / "catalogues"
# Patterns that are compiled where they are used: English needs hardly any.
_FIELD_PATTERN = r"\{([a-z_]+)(?:![rsa])?(?::[^{}]*)?\}"
_QUOTED_PATTERN = r'"[^"]*"'
_CONTROL_PATTERN = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_FIRST_PLACEHOLDER = 0xF0000  # private characters stand for what is not to be translated
_MAX_SENTENCE_LENGTH = 5_000  # characters
_NAME_PATTERN = r"\S+|[^\s:]+: \S+(?:, [^\s:]+: \S+)*"  # a number, a name, tags
_NAME_FIELDS = frozenset(
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
_QUOTE_FIELD = "words"  # the field that holds what somebody else said, whatever that is
_NUMBER_FIELDS = frozenset({"n", "of", "seen", "limit", "place", "hits", "others", "rest", "over"})
_LIST_SEPARATORS = ("; ", ", ")
_MIN_TEMPLATE_LETTERS = 8  # letters

_language: ContextVar[str] = ContextVar("language", default="en")


def set_language(language: str) -> None:
    """Let everything that is told from here on be in this language."""
    _language.set(language)


def get_language() -> str:
    """Return the language in which things are told."""
    return _language.get()


def detect_language() -> str:
    """Return the language that the environment asks for, or English."""
    asked = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else "en"


def translate(text: str, /, **values: object) -> str:
    """Return a text in the language that is spoken, with its values in place."""
    template = _load_catalogue(get_language()).gettext(text)
    return template.format(**_sanitize_values(values)) if values else template


def translate_plural(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the text for one or for many; both may use `{n}`."""
    return (
        _load_catalogue(get_language())
        .ngettext(one, many, n)
        .format(n=n, **_sanitize_values(values))
    )


def replace_control_characters(text: str) -> str:
    """Return a text without characters that would steer a terminal or turn its lines around."""
    return text if text.isprintable() else re.sub(_CONTROL_PATTERN, " ", text)


def _sanitize_values(values: dict[str, object]) -> dict[str, object]:
    return {
        k: replace_control_characters(v) if isinstance(v, str) else v for k, v in values.items()
    }


def translate_stored(sentence: str) -> str:
    """Return a stored English sentence in the language that is spoken, or as it is."""
    return sentence if get_language() == "en" else _translate_sentence(sentence, get_language())


@cache
def _load_catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, CATALOGUES, [language], fallback=language == "en")


@lru_cache(maxsize=16_384)
def _translate_sentence(sentence: str, language: str) -> str:
    """Translate a sentence; what others said in it is foreign, and stays as it is.

    That is what stands in the field for their words, and else in quotation marks.
    """
    if len(sentence) > _MAX_SENTENCE_LENGTH or max(sentence, default="") >= chr(_FIRST_PLACEHOLDER):
        return sentence  # not one of ours
    foreign: list[str] = []

    def hide(text: str) -> str:
        foreign.append(text)
        return chr(_FIRST_PLACEHOLDER + len(foreign) - 1)

    def shown(text: str) -> str:
        return "".join(
            shown(foreign[ord(c) - _FIRST_PLACEHOLDER]) if c >= chr(_FIRST_PLACEHOLDER) else c
            for c in text
        )

    start, end = _find_quoted_words(sentence, language)
    words = hide(sentence[start:end]) if end else ""
    ours = f"{sentence[:start]}{words}{sentence[end:]}"
    told = _translate_text(re.sub(_QUOTED_PATTERN, lambda found: hide(found[0]), ours), language)
    return sentence if told is None else shown(told)


def _find_quoted_words(sentence: str, language: str) -> tuple[int, int]:
    """Return from where to where somebody else speaks; who says such a sentence speaks on."""
    known = (
        one.pattern for one in _load_quoting_templates(language) if one.longest_literal in sentence
    )
    spans = (found.span(_QUOTE_FIELD) for one in known if (found := one.search(sentence)))
    return min(spans, default=(0, 0))


def _translate_text(text: str, language: str) -> str | None:
    """Return a known text, a list of known texts, or a known sentence with its parts told."""
    if not text:
        return None
    known = _load_catalogue(language).gettext(text)
    if known != text or " " not in text:
        return known if known != text else None
    return (
        _translate_by_template(text, language, lists=True)
        or _translate_list(text, language)
        or _translate_by_template(text, language, lists=False)
    )


def _translate_list(text: str, language: str) -> str | None:
    for separator in _LIST_SEPARATORS:
        parts = text.split(separator)
        if len(parts) > 1 and all(" " in part for part in parts):  # a single word may be a name
            told = [_translate_text(part, language) for part in parts]
            if None not in told:
                return separator.join(filter(None, told))
    return None


def _translate_by_template(text: str, language: str, *, lists: bool) -> str | None:
    """Return a sentence in translation, the values that were put into it told in turn.

    Sentences with a comma or semicolon of their own come before lists, the others after.
    """
    for known in _load_templates(language, lists=lists):
        found = known.pattern.fullmatch(text) if known.longest_literal in text else None
        if found is None:
            continue
        values = found.groupdict()
        told = {
            name: None if name in _NAME_FIELDS else _translate_text(value, language)
            for name, value in values.items()
        }
        if known.is_weak and not all(told[name] or _is_name(name, values[name]) for name in told):
            continue
        return known.translation.format(**{name: told[name] or values[name] for name in told})
    return None


def _is_name(field: str, value: str) -> bool:
    return field in _NAME_FIELDS or re.fullmatch(_NAME_PATTERN, value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceTemplate:
    """What a stored sentence looks like; a weak one has hardly a word of its own."""

    pattern: re.Pattern[str]
    translation: str
    longest_literal: str
    is_weak: bool


@cache
def _load_templates(language: str, *, lists: bool) -> tuple[_SentenceTemplate, ...]:
    """Return what stored sentences look like, those with the most words of their own first."""
    catalogue = _load_catalogue(language)
    known: dict[object, str] = getattr(catalogue, "_catalog", {})  # plural forms are pairs
    fitting = [
        text
        for text in known
        if isinstance(text, str)
        and re.search(_FIELD_PATTERN, text)
        and any(separator in _strip_fields(text) for separator in _LIST_SEPARATORS) is lists
    ]
    ordered = sorted(fitting, key=lambda text: -len(_strip_fields(text)))
    return tuple(_compile_template(text, known[text]) for text in ordered)


@cache
def _load_quoting_templates(language: str) -> tuple[_SentenceTemplate, ...]:
    """Return what sentences look like in which somebody else speaks."""
    every = (*_load_templates(language, lists=True), *_load_templates(language, lists=False))
    return tuple(
        replace(one, pattern=re.compile(rf"{one.pattern.pattern}\Z", re.DOTALL))
        for one in every
        if _QUOTE_FIELD in one.pattern.groupindex
    )


def _strip_fields(template: str) -> str:
    return re.sub(_FIELD_PATTERN, "", template)


def _compile_template(text: str, translation: str) -> _SentenceTemplate:
    parts, seen, end = [], set(), 0
    for field in re.finditer(_FIELD_PATTERN, text):
        name = field[1]
        parts.append(re.escape(text[end : field.start()]))
        value = ".*" if name == _QUOTE_FIELD else r"\S+?" if name in _NUMBER_FIELDS else ".+?"
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{value})")
        seen.add(name)
        end = field.end()
    pattern = re.compile("".join((*parts, re.escape(text[end:]))), re.DOTALL)
    pieces = [
        text[one.end() : other.start()]
        for one, other in pairwise(re.finditer(_FIELD_PATTERN, text))
    ]
    first, last = text[: text.index("{")], text[text.rindex("}") + 1 :]
    return _SentenceTemplate(
        pattern=pattern,
        translation=re.sub(_FIELD_PATTERN, r"{\1}", translation),
        longest_literal=max(first, *pieces, last, key=len),
        is_weak=sum(map(str.isalpha, _strip_fields(text))) < _MIN_TEMPLATE_LETTERS,
    )
