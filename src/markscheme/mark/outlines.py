"""The outline of a written answer: its headings in any style, its list items and table rows.

It is not a Markdown parser: it reads lines as people do, since agents write headings as
`## Memory`, as `**Memory**`, as `Memory:`, as `1. Memory`, underlined, or in HTML. What stands in a
code fence is quoted, not said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)"
)
_HASHES = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+|(?=[^\s#]))(?P<text>.*?)[ \t#]*")
_HTML = re.compile(r"\s*<h(?P<level>[1-6])\b[^>]*>(?P<text>.*?)(?:</h[1-6]>.*)?", re.IGNORECASE)
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=|-){2,}[ \t]*|=+|-{3,}")
_BOLD = re.compile(
    r"(?P<number>(?:[0-9]{1,2}|[IVX]{1,4})[.)][ \t]+)?(?P<mark>\*\*\*|\*\*|___|__)"
    r"(?P<text>[^*_][^*]*?)(?P=mark)(?P<rest>[ \t]*:?.*)"
)
_NUMBERED = re.compile(r"(?P<number>(?:[0-9]{1,2}|[IVX]{1,4})[.)])[ \t]+(?P<text>\S.*)")
_RULES = re.compile(r"[=\-~*_]{2,}[ \t]*(?P<text>[^=\-~*_].*?)[ \t]*[=\-~*_]{2,}")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•‣◦–]|[0-9]{1,9}[.)])[ \t]+(?P<text>.*)")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SMALL = frozenset({"a", "an", "and", "of", "the", "for", "in", "on", "to", "or", "from", "with"})
_LOWEST = 7  # the level of headings that show none
_LONGEST = 8  # words of a heading without marks
_LONGEST_NUMBERED = 4
_CELL_MARK = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading: its words, how deep it is (1 is the top), and its line, counted from 1."""

    text: str
    level: int
    line: int

    def names(self, key_word: str) -> bool:
        """Say whether the heading has the key word, its singular, or a word that begins so."""
        key = key_word.casefold()
        words = [word.casefold() for word in _WORD.findall(self.text)]
        single = key.removesuffix("s")
        return any(word.startswith(key) or word == single for word in words) or (
            " " in key and key in " ".join(words)
        )


@dataclass(slots=True, kw_only=True)
class Entry:
    """A list item or a table row, with the lines that go on with it and the items inside it."""

    text: str
    line: int
    indent: int
    inside: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What stands under one heading up to the next one that is not deeper: its entries."""

    heading: Heading
    entries: tuple[Entry, ...]


class Outline:
    """The headings of a text, and what stands under them."""

    def __init__(self, text: str) -> None:
        self._lines = _unquoted(_unwrapped(text.splitlines()))
        self._code = _in_code(self._lines)
        self._at: dict[int, Heading] = dict(self._headings())

    @property
    def headings(self) -> list[Heading]:
        """The headings, in order."""
        return list(self._at.values())

    def named(self, key_word: str) -> list[Heading]:
        """Return the headings with a key word; where there are several, only the topmost."""
        found = [heading for heading in self.headings if heading.names(key_word)]
        top = min((heading.level for heading in found), default=0)
        return [heading for heading in found if heading.level == top]

    def section(self, heading: Heading) -> Section:
        """Return what stands under a heading."""
        end = len(self._lines)
        for at, other in self._at.items():
            if other.line > heading.line and other.level <= heading.level:
                end = at
                break
        return Section(heading=heading, entries=tuple(self._entries(heading.line, end)))

    def _headings(self) -> Iterator[tuple[int, Heading]]:
        for at, line in enumerate(self._lines):
            if self._code[at] or not line.strip():
                continue
            found = _marked(line) or self._underlined(at) or self._plain(at)
            if found is not None and _WORD.search(found[1]):
                yield at, Heading(text=found[1].strip(), level=found[0], line=at + 1)

    def _underlined(self, at: int) -> tuple[int, str] | None:
        """Return the heading that the next line underlines."""
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        line = self._lines[at]
        if self._code[at] or not _UNDERLINE.fullmatch(below) or _CELL_MARK in line:
            return None
        if _ITEM.fullmatch(line) or _UNDERLINE.fullmatch(line):
            return None
        return (1 if "=" in below else 2), line

    def _plain(self, at: int) -> tuple[int, str] | None:
        """Return a heading without marks: a line that ends in a colon, or a number and a name."""
        line = self._lines[at]
        if line[0].isspace() or _CELL_MARK in line:
            return None
        numbered = _NUMBERED.fullmatch(line)
        if numbered is not None:
            text = numbered["text"].rstrip(" :")
            lonely = not self._goes_on_as_list(at)
            named = _is_title(text, _LONGEST_NUMBERED) and not text.endswith((".", ";", ","))
            return (_LOWEST, text) if lonely and named else None
        if line.rstrip().endswith(":") and not _ITEM.fullmatch(line):
            text = line.rstrip()[:-1]
            return (_LOWEST, text) if _is_title(text, _LONGEST) else None
        return None

    def _goes_on_as_list(self, at: int) -> bool:
        """Say whether the next or the last line that is not blank is a numbered item too."""
        for step in (1, -1):
            beside = at + step
            while 0 <= beside < len(self._lines) and not self._lines[beside].strip():
                beside += step
            if 0 <= beside < len(self._lines) and _NUMBERED.fullmatch(self._lines[beside]):
                return True
        return False

    def _entries(self, start: int, end: int) -> Iterator[Entry]:
        """Yield the topmost entries between two lines."""
        open_: list[Entry] = []
        for at in range(start, end):
            line, heading = self._lines[at], self._at.get(at)
            if heading is not None:
                open_ = []
            elif self._code[at]:
                _go_on(open_, line)
            elif _is_row(line):
                if not self._is_head(at) and not _SEPARATOR.fullmatch(line):
                    yield Entry(text=_cells(line), line=at + 1, indent=0)
                open_ = []
            elif (item := _ITEM.fullmatch(line)) is not None:
                entry = Entry(text=item["text"], line=at + 1, indent=_width(item["indent"]))
                open_ = [one for one in open_ if one.indent < entry.indent]
                if open_:
                    open_[-1].inside.append(entry)
                else:
                    yield entry
                open_.append(entry)
            elif not line.strip():
                continue
            elif open_ and (line[0].isspace() or self._lines[at - 1].strip()):
                _go_on(open_, line)
            else:
                open_ = []

    def _is_head(self, at: int) -> bool:
        """Say whether a row is the head of its table: the line below it separates."""
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        return _CELL_MARK in below and _SEPARATOR.fullmatch(below) is not None


def _go_on(open_: Sequence[Entry], line: str) -> None:
    if open_:
        open_[-1].text += f"\n{line}"


def _unwrapped(lines: list[str]) -> list[str]:
    """Return the lines inside a code fence that holds the whole text."""
    said = [at for at, line in enumerate(lines) if line.strip()]
    if len(said) < 2:  # noqa: PLR2004 - a fence opens and closes
        return lines
    first, last = lines[said[0]], lines[said[-1]].strip()
    opening = _FENCE.fullmatch(first)
    if opening is None or not last.startswith(opening["mark"]) or last.strip(opening["mark"][0]):
        return lines
    if opening["info"].strip().lower() not in {"", "markdown", "md", "text", "txt"}:
        return lines
    inner = lines[said[0] + 1 : said[-1]]
    closes = any(line.strip() == opening["mark"] for line in inner)
    # blank lines stand for the fences, so that lines keep their numbers
    return lines if closes else [*[""] * (said[0] + 1), *inner]


def _unquoted(lines: list[str]) -> list[str]:
    """Return the lines without the marks of a quotation around them."""
    return [re.sub(r"^ {0,3}(?:> ?)+", "", line) for line in lines]


def _in_code(lines: Sequence[str]) -> list[bool]:
    """Say of each line whether it is code; a fence that is never closed is none."""
    code = [False] * len(lines)
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        end = _closing(lines, at, opening["mark"]) if opening is not None else None
        if end is None:
            at += 1
            continue
        code[at : end + 1] = [True] * (end + 1 - at)
        at = end + 1
    return code


def _closing(lines: Sequence[str], start: int, mark: str) -> int | None:
    for at in range(start + 1, len(lines)):
        bare = lines[at].strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return at
    return None


def _marked(line: str) -> tuple[int, str] | None:
    """Return the level and the text of a heading that is marked as one."""
    for pattern in (_HASHES, _HTML):
        found = pattern.fullmatch(line)
        if found is not None:
            level = found["level"]
            text = re.sub(r"<[^>]*>", "", found["text"])
            return (int(level) if level.isdigit() else len(level)), text
    bold = _BOLD.fullmatch(line)
    if bold is not None:
        run_in = bold["text"].rstrip().endswith(":") or bold["rest"].lstrip().startswith(
            (":", "–", "—", "(")
        )
        if run_in or not bold["rest"].strip():
            return _LOWEST, bold["text"].rstrip(" :")
    ruled = _RULES.fullmatch(line.strip())
    if ruled is not None and _is_title(ruled["text"], _LONGEST):
        return _LOWEST, ruled["text"]
    return None


def _is_title(text: str, longest: int) -> bool:
    """Say whether words look like a heading: few, and capital letters begin them all, or the first.

    `Memory findings` and `Gaps and Unknowns` do; `Here are the patterns` does not.
    """
    words = [word for word in _WORD.findall(_ASIDE.sub("", text)) if not word.isdigit()]
    if not words or len(words) > longest or not words[0][0].isupper():
        return False
    rest = [word for word in words[1:] if word.casefold() not in _SMALL]
    return all(word[0].isupper() for word in rest) or len(words) <= 2  # noqa: PLR2004 - `Memory findings`


def _is_row(line: str) -> bool:
    bare = line.strip()
    return bare.startswith(_CELL_MARK) and bare.count(_CELL_MARK) > 1


def _cells(line: str) -> str:
    return " | ".join(cell.strip() for cell in line.strip().strip(_CELL_MARK).split(_CELL_MARK))


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))
