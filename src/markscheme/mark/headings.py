"""Find the headings of a written answer, in any style, and the entries under them.

This is not a Markdown parser. It reads lines as people do, because agents write headings as
`## Memory`, `**Memory**`, `Memory:`, `1. Memory`, `- **Memory**`, underlined, in HTML, or as XML
tags. Text in a code fence is a quotation and has no headings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from markscheme.mark.answer_lines import AnswerLine, read_lines
from markscheme.mark.entries import (
    CELL_MARK,
    OutlineEntry,
    looks_like_title,
    parse_entries,
)
from markscheme.mark.section_tags import split_tags

_HASHES = re.compile(r" {0,3}(?P<level>#{1,6})(?:\s+|(?=[^\W\d]|[*`]))(?P<text>.*?)[ \t#]*")
_EQUALS = re.compile(r"(?P<level>={1,6})[ \t]+(?P<text>[^=\s].*?)(?:[ \t]+=+)?")
_HTML_HEADING = re.compile(
    r"\s*<h(?P<level>[1-6])\b[^>]*>(?P<text>.*?)(?:</h[1-6]>(?P<rest>.*))?", re.IGNORECASE
)
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=|-){2,}[ \t]*|=+|-{3,}")
_BOLD = re.compile(r"(?P<mark>\*\*\*|\*\*|___|__)(?P<text>[^*_][^*]*?)(?P=mark)(?P<rest>.*)")
_ITALIC = re.compile(r"(?P<mark>[*_])(?P<text>[^*_\s][^*_]*?)(?P=mark)(?P<rest>[ \t]*:?)")
_TAGGED = re.compile(
    r"(?:<details[^>]*>\s*)?<(?P<mark>summary|strong|b|u|em|i)\b[^>]*>(?P<text>.*?)</(?P=mark)>"
    r"(?:<br */?>)?(?P<rest>.*)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?P<mark>[\[【])(?P<text>[^\[\]【】]*)[\]】](?P<rest>[ \t]*:?)")
_NUMBERED = re.compile(
    r"(?P<number>\(?(?:[0-9]{1,2}(?:\.[0-9]{1,2})?|[IVX]{1,4}|[A-Ha-h])[.)]"
    r"|(?:Section|Part|Step)[ \t]+[0-9A-Z]{1,3}[ \t]?[.:)–—-])[ \t]+(?P<text>\S.*)"
)
_BULLET = re.compile(r"(?:[-*+•]|\(?[0-9]{1,2}[.)])[ \t]+(?P<text>\S.*)")
_COMMAND = re.compile(r"\s*\\(?:sub){0,2}section\*?\{(?P<text>[^{}]*)\}\s*")
_RULES = re.compile(r"[=\-~*_─━═]{2,}[ \t]*(?P<text>[^=\-~*_─━═].*?)[ \t]*[=\-~*_─━═]{2,}")
_PICTURES = re.compile(
    r"\A(?:(?:[\u25a0-\u27bf\U0001f000-\U0001faff][\ufe0f\u200d]*)+|:[a-z0-9_+-]{2,40}:)[ \t]*"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Above all marked levels: tags hold all that is between them.
_TAG_LEVEL = 0
# Below all marked levels: for headings that do not show their level.
_UNKNOWN_LEVEL = 7
_MAX_TITLE_WORDS = 8
_MAX_NUMBERED_WORDS = 4
# A longer line is no heading; the limit also bounds the time of the patterns.
_MAX_LINE_LENGTH = 300
_SHORT = 2
_SENTENCE_ENDS = (".", "!", "?", ";", ",")
_AFTER_BOLD = (":", "–", "—", "(", "- ")
_BEFORE_TEXT = " \t:–—-\\"
_MAX_ASIDE_WORDS = 6
_MIN_LABELS = 3
# A number or a bullet, and hashes.
_LONGEST_MARK = 12


class Heading(Struct, frozen=True, kw_only=True):
    """A heading: its words, how deep it is (0 is a tag, 1 the top), and its line, counted from 1.

    `text` is what stands behind it on the same line; `at` is its place among the lines read.
    """

    words: tuple[str, ...]
    level: int
    line: int
    at: int
    text: str = ""

    def has_key_word(self, key_word: str) -> bool:
        """Return whether the heading has the key word, its singular, or a word starting with it."""
        key = key_word.casefold()
        single = key.removesuffix("s")
        return any(word.startswith(key) or word == single for word in self.words) or (
            " " in key and key in " ".join(self.words)
        )


class Outline:
    """The headings of a text, and the entries under them.

    A line with heading marks is a heading. A line that only looks like one, because it is bold or
    has a colon or a number, is a heading if it contains one of the `keys`; otherwise it is as
    likely a label or an item.
    """

    def __init__(self, text: str, keys: Sequence[str]) -> None:
        self._keys = keys
        self._folded_keys = {key.casefold() for key in keys}
        self._stems = [key.removesuffix("s") for key in self._folded_keys]
        parts = list(split_tags(read_lines(text), self._has_key_word))
        self._lines = [line for line, _ in parts]
        self._tags = [tag for _, tag in parts]
        self._closings = [at for at, tag in enumerate(self._tags) if tag and tag.closes]
        self.headings = list(self._parse_headings())
        if not any(map(self._has_key, self.headings)):
            self.headings = list(self._parse_labelled_items()) or self.headings
        self._places = {heading.at: place for place, heading in enumerate(self.headings)}

    def find_by_key_word(self, key_word: str) -> list[Heading]:
        """Return the headings with a key word: of several levels, the topmost; and all tags."""
        named = (heading for heading in self.headings if heading.has_key_word(key_word))
        headings = [heading for heading in named if not self._is_document_title(heading)]
        levels = (heading.level for heading in headings if heading.level != _TAG_LEVEL)
        return [
            heading for heading in headings if heading.level in {_TAG_LEVEL, min(levels, default=0)}
        ]

    def read_entries(self, heading: Heading) -> list[OutlineEntry]:
        """Return the entries under a heading, up to the next one that is not deeper."""
        later = (other.at for other in self._iter_later(heading) if other.level <= heading.level)
        end = next(later, len(self._lines))
        closing = bisect_left(self._closings, heading.at)
        if closing < len(self._closings):
            end = min(end, self._closings[closing])
        lines = map(self._get_section_line, range(heading.at + 1, end))
        return parse_entries([AnswerLine(heading.line, heading.text), *lines])

    def _get_section_line(self, at: int) -> AnswerLine:
        """Return a line of a section; a heading with marks inside it is a blank line."""
        place = self._places.get(at)
        is_title = place is not None and self.headings[place].level < _UNKNOWN_LEVEL
        return self._lines[at]._replace(text="") if is_title or self._tags[at] else self._lines[at]

    def _iter_later(self, heading: Heading) -> Iterator[Heading]:
        later = range(self._places[heading.at] + 1, len(self.headings))
        return map(self.headings.__getitem__, later)

    def _has_key(self, heading: Heading) -> bool:
        return any(map(heading.has_key_word, self._keys))

    def _has_key_word(self, text: str) -> bool:
        words = tuple(_WORD.findall(text.casefold()))
        return self._has_key(Heading(words=words, level=_TAG_LEVEL, line=0, at=0))

    def _is_document_title(self, heading: Heading) -> bool:
        """Return whether a heading of several words is a title above the sections."""
        if len(heading.words) <= _SHORT or heading.level == _TAG_LEVEL:
            return False
        deeper = takewhile(lambda other: other.level > heading.level, self._iter_later(heading))
        under = list(deeper)
        others = (key for key in self._keys if not heading.has_key_word(key))
        return sum(any(other.has_key_word(key) for other in under) for key in others) >= _SHORT

    def _parse_headings(self) -> Iterator[Heading]:
        for at, line in enumerate(self._lines):
            tag = self._tags[at]
            if tag is not None:
                if not tag.closes:
                    yield self._build(at, _TAG_LEVEL, tag.title)
                continue
            if line.code or not line.text.strip() or len(line.text) > _MAX_LINE_LENGTH:
                continue
            parsed = _parse_marked_heading(line.text) or self._parse_underlined(at)
            # Most lines are prose; only one with a key word can be a heading without marks.
            if parsed is None and self._may_have_key(line.text):
                parsed = _UNKNOWN_LEVEL, *self._parse_unmarked(at)
            if parsed is not None and parsed[1]:
                heading = self._build(at, *parsed)
                if heading.words and (parsed[0] < _UNKNOWN_LEVEL or self._has_key(heading)):
                    yield heading

    def _may_have_key(self, text: str) -> bool:
        folded = text.casefold()
        return any(stem in folded for stem in self._stems)

    def _parse_labelled_items(self) -> Iterator[Heading]:
        """Yield `- **Memory**: text` as headings, if the items of a list name several sections."""
        labels = []
        for at, line in enumerate(self._lines):
            if line.code or len(line.text) > _MAX_LINE_LENGTH or not self._may_have_key(line.text):
                continue
            item = _BULLET.fullmatch(line.text)
            bold = None if item is None else _BOLD.fullmatch(item["text"])
            if bold is not None and _is_bold_heading(bold):
                labels.append(self._build(at, _UNKNOWN_LEVEL, bold["text"], _read_behind(bold)))
        named = [label for label in labels if self._has_key(label)]
        keys = {key for key in self._keys if any(label.has_key_word(key) for label in named)}
        if len(keys) >= _MIN_LABELS:
            yield from named

    def _build(self, at: int, level: int, text: str, behind: str = "") -> Heading:
        words = tuple(_WORD.findall(text.casefold()))
        return Heading(words=words, level=level, line=self._lines[at].number, at=at, text=behind)

    def _parse_underlined(self, at: int) -> tuple[int, str, str] | None:
        """Return a heading that the next line underlines; not a sentence before a rule."""
        below = self._lines[at + 1].text if at + 1 < len(self._lines) else ""
        line = self._lines[at].text.strip()
        if not _UNDERLINE.fullmatch(below) or CELL_MARK in line or line.endswith(_SENTENCE_ENDS):
            return None
        if _BULLET.fullmatch(line) or _UNDERLINE.fullmatch(line):
            return None
        return (1 if "=" in below else 2), line, ""

    def _parse_unmarked(self, at: int) -> tuple[str, str]:
        """Return a line that looks like a heading, and the text behind it; or two empty texts."""
        line = _PICTURES.sub("", self._lines[at].text.rstrip(" \t\\"))
        if not line or line[0].isspace() or CELL_MARK in line:
            return "", ""
        numbered = _NUMBERED.fullmatch(line)
        if numbered is not None:
            return self._parse_numbered(at, numbered["text"].rstrip(" :")), ""
        bullet = _BULLET.fullmatch(line)
        if bullet is not None:
            return _parse_bullet(bullet["text"]), ""
        for pattern in (_BOLD, _ITALIC, _TAGGED, _BRACKETS, _RULES):
            found = pattern.fullmatch(line)
            if found is not None and pattern is _RULES:
                return found["text"], ""
            if found is not None:
                return (found["text"], _read_behind(found)) if _is_bold_heading(found) else ("", "")
        text = line.removesuffix(":")
        if text != line:
            fits = looks_like_title(text, _MAX_TITLE_WORDS) or text.casefold() in self._folded_keys
            return (text if fits else ""), ""
        return self._parse_plain(at, line)

    def _parse_numbered(self, at: int, inner: str) -> str:
        """Return the heading behind a number, unless it is an item of a numbered list."""
        bold = _BOLD.fullmatch(inner)
        text = bold["text"] if bold is not None and not bold["rest"].strip(" :") else inner
        fits = looks_like_title(text, _MAX_NUMBERED_WORDS) and not text.endswith(_SENTENCE_ENDS)
        return text if fits and not self._is_in_numbered_list(at) else ""

    def _parse_plain(self, at: int, line: str) -> tuple[str, str]:
        """Return a heading without marks: in capitals, or a key word that opens a paragraph."""
        if line.isupper() and looks_like_title(line, _MAX_NUMBERED_WORDS):
            return line, ""
        name, _, behind = line.partition(":")
        opens = at == 0 or not self._lines[at - 1].text.strip() or self._tags[at - 1] is not None
        is_key = name.casefold() in self._folded_keys
        return (name, behind.strip()) if opens and is_key and name[0].isupper() else ("", "")

    def _is_in_numbered_list(self, at: int) -> bool:
        """Return whether the next or the previous line that is not blank is a numbered item too."""
        for step in (1, -1):
            near = at + step
            while 0 <= near < len(self._lines) and not self._lines[near].text.strip():
                near += step
            if 0 <= near < len(self._lines) and _NUMBERED.fullmatch(self._lines[near].text):
                return True
        return False


def _parse_marked_heading(line: str) -> tuple[int, str, str] | None:
    """Return the level and the text of a heading with heading marks, and what is behind it."""
    bare = line.lstrip()
    if "#" in bare[:_LONGEST_MARK]:
        bullet = _BULLET.fullmatch(line)
        found = _HASHES.fullmatch(line if bullet is None else bullet["text"])
    elif bare.startswith("="):
        found = _EQUALS.fullmatch(line)
    elif bare.startswith("<"):
        found = _HTML_HEADING.fullmatch(line)
    elif bare.startswith("\\"):
        command = _COMMAND.fullmatch(line)
        return None if command is None else (1 + line.count("sub", 0, 12), command["text"], "")
    else:
        return None
    if found is None:
        return None
    level = found["level"]
    title = re.sub(r"<[^>]*>", "", found["text"])
    behind = found.groupdict().get("rest") or ""
    return (int(level) if level.isdigit() else len(level)), title, behind.strip()


def _parse_bullet(text: str) -> str:
    """Return the heading in a list item that is bold and nothing else, as `- **Memory**`."""
    for pattern in (_BOLD, _TAGGED):
        found = pattern.fullmatch(_PICTURES.sub("", text))
        if found is not None and not found["rest"].strip(_BEFORE_TEXT):
            title = found["text"].rstrip(": ")
            return title if looks_like_title(title, _MAX_NUMBERED_WORDS) else ""
    return ""


def _is_bold_heading(bold: re.Match[str]) -> bool:
    """Return whether bold words at the start of a line are a heading: alone, or with a colon.

    `**Memory.** None.` opens a paragraph with its heading; a longer bold sentence is a statement.
    """
    title, behind = bold["text"].rstrip(), bold["rest"].lstrip()
    if title.endswith(_SENTENCE_ENDS):
        return len(title.split()) <= _SHORT
    return not behind or title.endswith(":") or behind.startswith(_AFTER_BOLD)


def _read_behind(found: re.Match[str]) -> str:
    """Return the text behind a heading on its line, unless it is a short aside to it."""
    behind = found["rest"].strip().lstrip(_BEFORE_TEXT)
    is_aside = behind.startswith("(") and behind.rstrip(": ").endswith(")")
    return "" if is_aside and len(behind.split()) <= _MAX_ASIDE_WORDS else behind
