"""Find the headings, list items and table rows of a written answer, in any style.

This is not a Markdown parser. It reads lines as people do, because agents write headings as
`## Memory`, `**Memory**`, `Memory:`, `1. Memory`, underlined, or in HTML. Text in a code fence is a
quotation and has no headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct, field

_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)"
)
_HASHES = re.compile(r" {0,3}(?P<level>#{1,6})(?:\s+|(?=[^\s#]))(?P<text>.*?)[ \t#]*")
_EQUALS = re.compile(r"(?P<level>={1,6})[ \t]+(?P<text>[^=\s].*?)(?:[ \t]+=+)?")
_HTML_HEADING = re.compile(
    r"\s*<h(?P<level>[1-6])\b[^>]*>(?P<text>.*?)(?:</h[1-6]>.*)?", re.IGNORECASE
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
_NUMBERED = re.compile(r"(?P<number>\(?(?:[0-9]{1,2}|[IVX]{1,4}|[A-Ha-h])[.)])[ \t]+(?P<text>\S.*)")
_RULES = re.compile(r"[=\-~*_─━═]{2,}[ \t]*(?P<text>[^=\-~*_─━═].*?)[ \t]*[=\-~*_─━═]{2,}")
_PICTURES = re.compile(r"\A(?:[\u2600-\u27bf\U0001f000-\U0001faff][\ufe0f\u200d]*)+[ \t]*")
_INVISIBLE = re.compile(r"[\ufeff\u200b\u2060]")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•‣◦–]|[0-9]{1,9}[.)])[ \t]+(?P<text>.*)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_BARE_FILE_NAMES = (
    "makefile|dockerfile|gemfile|rakefile|procfile|jenkinsfile|vagrantfile|justfile|license|readme"
)
# A path has a folder, a suffix, or a known name without both; a colon and a line number follow.
# A name such as `example.com:80` is a host with a port, not a file with a line.
_PATH_AND_LINE = re.compile(
    r"(?<![\w/.:@-])(?:[A-Za-z]:)?(?:"
    r"[~.\w@+-]{0,200}[/\\][\w.@+()\[\]/\\-]{0,400}[\w)\]]|"
    r"[\w.@+-]{0,200}\.(?!(?:com|net|io):)[A-Za-z]\w{0,9}|"
    rf"\.[A-Za-z]\w{{0,50}}|(?:{_BARE_FILE_NAMES})):[L#]?[0-9]+",
    re.IGNORECASE,
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://\S+", re.IGNORECASE)
_EMPTY_ITEM = re.compile(
    r"[\W_]*(?:none|n/?a|nil|nothing)(?:\b|_).*|[\W_]*|[\W_]*empty[\W_]*",
    re.IGNORECASE | re.DOTALL,
)
_NEGATIVE_ITEM = re.compile(
    r"[\W_]*(?:no|not (?:applicable|available|dispatched|found|needed|required|used)|"
    r"(?:0|zero) (?:agents?|dispatch(?:es)?|hits?|matches|memories|results?|sub-?agents?))\b.*",
    re.IGNORECASE,
)
# An item that says that there is nothing has at most so many words.
_MAX_NEGATIVE_WORDS = 10
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "of", "the", "for", "in", "on", "to", "or", "from", "with"}
)
# Below all marked levels: for headings that do not show their level.
_UNKNOWN_LEVEL = 7
_MAX_TITLE_WORDS = 8
_MAX_NUMBERED_WORDS = 4
# A longer line is no heading; the limit also bounds the time of the patterns.
_MAX_LINE_LENGTH = 300
_SHORT = 2
_CELL_MARK = "|"
_SENTENCE_ENDS = (".", "!", "?", ";", ",")
_AFTER_BOLD = (":", "–", "—", "(")


class Heading(Struct, frozen=True, kw_only=True):
    """A heading: its words, how deep it is (1 is the top), and its line, counted from 1."""

    words: tuple[str, ...]
    level: int
    line: int

    def has_key_word(self, key_word: str) -> bool:
        """Return whether the heading has the key word, its singular, or a word starting with it."""
        key = key_word.casefold()
        single = key.removesuffix("s")
        return any(word.startswith(key) or word == single for word in self.words) or (
            " " in key and key in " ".join(self.words)
        )


class OutlineEntry(Struct, kw_only=True):
    """A list item or a table row, with its continuation lines and the items nested in it."""

    text: str
    line: int
    indent: int
    inside: list[OutlineEntry] = field(default_factory=list)

    @property
    def bare_text(self) -> str:
        """The text without code marks, bold marks and URLs."""
        return _URL.sub(" ", self.text.replace("`", "").replace("**", ""))

    @property
    def names_line(self) -> bool:
        """Whether the text names a line of a file, as `path:line`."""
        return _PATH_AND_LINE.search(self.bare_text) is not None

    @property
    def is_empty_statement(self) -> bool:
        """Whether the text only says that there is nothing, such as `None found.`."""
        if _EMPTY_ITEM.fullmatch(self.text):
            return True
        return bool(_NEGATIVE_ITEM.fullmatch(self.text)) and (
            len(self.text.split()) <= _MAX_NEGATIVE_WORDS
        )


class Outline:
    """The headings of a text, and the entries under them.

    A line with heading marks is a heading. A line that only looks like one, because it is bold or
    has a colon or a number, is a heading if it contains one of the `keys`; otherwise it is as
    likely a label or an item.
    """

    def __init__(self, text: str, keys: Sequence[str]) -> None:
        self._keys = keys
        self._lines = _strip_quote_marks(_unwrap_fence(_INVISIBLE.sub("", text).splitlines()))
        self._code_lines = _find_code_lines(self._lines)
        self.headings = list(self._parse_headings())
        self._heading_positions = {
            heading.line: place for place, heading in enumerate(self.headings)
        }

    def find_by_key_word(self, key_word: str) -> list[Heading]:
        """Return the headings with a key word; of several levels, only the topmost."""
        named = (heading for heading in self.headings if heading.has_key_word(key_word))
        headings = [heading for heading in named if not self._is_document_title(heading)]
        top = min((heading.level for heading in headings), default=0)
        return [heading for heading in headings if heading.level == top]

    def read_entries(self, heading: Heading) -> Iterator[OutlineEntry]:
        """Yield the top-level entries under a heading, up to the next one that is not deeper."""
        later = range(self._heading_positions[heading.line] + 1, len(self.headings))
        others = map(self.headings.__getitem__, later)
        ends = (other.line - 1 for other in others if other.level <= heading.level)
        return _EntryParser().parse_lines(
            [
                (
                    at + 1,
                    "" if at + 1 in self._heading_positions else self._lines[at],
                    self._code_lines[at],
                )
                for at in range(heading.line, next(ends, len(self._lines)))
            ]
        )

    def _is_document_title(self, heading: Heading) -> bool:
        """Return whether a heading of several words is a title above the sections."""
        if len(heading.words) <= _SHORT:
            return False
        later = self.headings[self._heading_positions[heading.line] + 1 :]
        under = list(takewhile(lambda other: other.level > heading.level, later))
        others = (key for key in self._keys if not heading.has_key_word(key))
        return sum(any(other.has_key_word(key) for other in under) for key in others) >= _SHORT

    def _parse_headings(self) -> Iterator[Heading]:
        for at, line in enumerate(self._lines):
            if self._code_lines[at] or not line.strip() or len(line) > _MAX_LINE_LENGTH:
                continue
            level, text = (
                _parse_marked_heading(line)
                or self._parse_underlined(at)
                or (_UNKNOWN_LEVEL, self._parse_unmarked(at))
            )
            words = tuple(_WORD.findall(text.casefold()))
            heading = Heading(words=words, level=level, line=at + 1)
            if words and (level < _UNKNOWN_LEVEL or any(map(heading.has_key_word, self._keys))):
                yield heading

    def _parse_underlined(self, at: int) -> tuple[int, str] | None:
        """Return a heading that the next line underlines; not a sentence before a rule."""
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        line = self._lines[at].strip()
        if not _UNDERLINE.fullmatch(below) or _CELL_MARK in line or line.endswith(_SENTENCE_ENDS):
            return None
        if _ITEM.fullmatch(line) or _UNDERLINE.fullmatch(line):
            return None
        return (1 if "=" in below else 2), line

    def _parse_unmarked(self, at: int) -> str:
        """Return the text of a line that looks like a heading, or an empty text."""
        line = _PICTURES.sub("", self._lines[at].rstrip())
        if not line or line[0].isspace() or _CELL_MARK in line:
            return ""
        numbered = _NUMBERED.fullmatch(line)
        if numbered is not None:
            inner = numbered["text"].rstrip(" :")
            bold = _BOLD.fullmatch(inner)
            text = bold["text"] if bold is not None and not bold["rest"].strip(" :") else inner
            fits = _is_title_like(text, _MAX_NUMBERED_WORDS) and not text.endswith(_SENTENCE_ENDS)
            return text if fits and not self._is_in_numbered_list(at) else ""
        for pattern in (_BOLD, _ITALIC, _TAGGED, _BRACKETS, _RULES):
            found = pattern.fullmatch(line)
            if found is not None:
                return found["text"] if pattern is _RULES or _is_bold_heading(found) else ""
        text = line.removesuffix(":")
        if text != line:
            return text if _is_title_like(text, _MAX_TITLE_WORDS) else ""
        return self._parse_plain(at, line)

    def _parse_plain(self, at: int, line: str) -> str:
        """Return a heading without marks: in capitals, or a key word that opens a paragraph."""
        if line.isupper() and _is_title_like(line, _MAX_NUMBERED_WORDS):
            return line
        name = line.partition(":")[0]
        opens = at == 0 or not self._lines[at - 1].strip()
        is_key = name.casefold() in {key.casefold() for key in self._keys}
        return name if opens and is_key and name[0].isupper() else ""

    def _is_in_numbered_list(self, at: int) -> bool:
        """Return whether the next or the previous line that is not blank is a numbered item too."""
        for step in (1, -1):
            near = at + step
            while 0 <= near < len(self._lines) and not self._lines[near].strip():
                near += step
            if 0 <= near < len(self._lines) and _NUMBERED.fullmatch(self._lines[near]):
                return True
        return False


class _EntryParser:
    """Parses the lines under a heading into nested list items and table rows."""

    def __init__(self) -> None:
        self._open_entries: list[OutlineEntry] = []
        self._in_table = False
        self._last_line = ""

    def parse_lines(self, lines: Sequence[tuple[int, str, bool]]) -> Iterator[OutlineEntry]:
        """Return the top-level entries; each line comes with its number, and whether it is code."""
        texts = [*(line for _, line, _ in lines), ""]
        entries: list[OutlineEntry] = []
        for at, (number, line, code) in enumerate(lines):
            if code:
                self._continue_entry(line)
            elif _CELL_MARK in line and self._update_table_state(line, texts[at + 1]):
                if not _is_table_separator(line) and not _is_table_separator(texts[at + 1]):
                    entries.append(
                        OutlineEntry(text=_join_table_cells(line), line=number, indent=0)
                    )
            elif (item := _ITEM.fullmatch(line)) is not None:
                entry = OutlineEntry(
                    text=item["text"], line=number, indent=_measure_indent(item["indent"])
                )
                entries += self._nest_entry(entry)
            elif not line.strip():
                self._in_table = False
            elif line[0].isspace() or self._last_line.strip():
                self._continue_entry(line)
            else:
                self._open_entries = []
            self._last_line = line
        return iter(entries)

    def _update_table_state(self, line: str, below: str) -> bool:
        """Return whether a line with bars is part of a table; a table closes all open items."""
        bare = line.strip()
        barred = bare.startswith(_CELL_MARK) and bare.count(_CELL_MARK) > 1
        self._in_table = self._in_table or barred or _is_table_separator(below)
        if self._in_table:
            self._open_entries = []
        return self._in_table

    def _nest_entry(self, entry: OutlineEntry) -> list[OutlineEntry]:
        """Put an item into the open item that contains it; return it if there is none."""
        self._open_entries = [outer for outer in self._open_entries if outer.indent < entry.indent]
        inside = bool(self._open_entries)
        if inside:
            self._open_entries[-1].inside.append(entry)
        self._open_entries.append(entry)
        return [] if inside else [entry]

    def _continue_entry(self, line: str) -> None:
        if self._open_entries:
            self._open_entries[-1].text += f"\n{line}"


def _unwrap_fence(lines: list[str]) -> list[str]:
    """Return the lines inside a code fence that contains the whole text."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:  # noqa: PLR2004 - a fence opens and closes
        return lines
    first, last = lines[filled[0]], lines[filled[-1]].strip()
    opening = _FENCE.fullmatch(first)
    if opening is None or not last.startswith(opening["mark"]) or last.strip(opening["mark"][0]):
        return lines
    if opening["info"].strip().lower() not in {"", "markdown", "md", "text", "txt"}:
        return lines
    inner = lines[filled[0] + 1 : filled[-1]]
    # Blank lines replace the opening fence, so that lines keep their numbers.
    return lines if _is_closed_inside(inner, opening["mark"]) else [*[""] * (filled[0] + 1), *inner]


def _is_closed_inside(inner: Sequence[str], mark: str) -> bool:
    """Return whether the outer fence is closed inside; a nested fence opens and closes there."""
    opened = False
    for line in inner:
        bare = line.strip()
        if bare.startswith(mark):
            info = bare.strip(mark[0])
            if not info and not opened:
                return True
            opened = bool(info)
    return False


def _strip_quote_marks(lines: list[str]) -> list[str]:
    """Return the lines without quotation marks (`>`) in front."""
    return [re.sub(r"^ {0,3}(?:> ?)+", "", line) for line in lines]


def _find_code_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is code; a fence that is never closed is no fence."""
    code = [False] * len(lines)
    # For each kind of mark, the length from which on it is not closed any more. This keeps the time
    # linear in a text of many fences that are never closed.
    unclosed_from: dict[str, int] = {}
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        mark = "" if opening is None else opening["mark"]
        is_unclosed = not mark or len(mark) >= unclosed_from.get(mark[0], len(mark) + 1)
        end = None if is_unclosed else _find_closing_fence(lines, at, mark)
        if end is None:
            if mark:
                unclosed_from[mark[0]] = min(len(mark), unclosed_from.get(mark[0], len(mark)))
            at += 1
            continue
        code[at : end + 1] = [True] * (end + 1 - at)
        at = end + 1
    return code


def _find_closing_fence(lines: Sequence[str], start: int, mark: str) -> int | None:
    for at in range(start + 1, len(lines)):
        bare = lines[at].strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return at
    return None


def _parse_marked_heading(line: str) -> tuple[int, str] | None:
    """Return the level and the text of a heading with heading marks."""
    for pattern in (_HASHES, _EQUALS, _HTML_HEADING):
        found = pattern.fullmatch(line)
        if found is not None:
            level = found["level"]
            text = re.sub(r"<[^>]*>", "", found["text"])
            return (int(level) if level.isdigit() else len(level)), text
    return None


def _is_bold_heading(bold: re.Match[str]) -> bool:
    """Return whether bold words at the start of a line are a heading: alone, or with a colon."""
    behind = bold["rest"].lstrip()
    return not behind or bold["text"].rstrip().endswith(":") or behind.startswith(_AFTER_BOLD)


def _is_title_like(text: str, longest: int) -> bool:
    """Return whether a text looks like a title: few words, capitalised all or the first.

    `Memory findings` and `Gaps and Unknowns` do; `Here are the patterns` does not.
    """
    words = [word for word in _WORD.findall(_ASIDE.sub("", text)) if not word.isdigit()]
    if not words or len(words) > longest or not words[0][0].isupper():
        return False
    rest = [word for word in words[1:] if word.casefold() not in _SMALL_WORDS]
    return all(word[0].isupper() for word in rest) or len(words) <= _SHORT


def _is_table_separator(line: str) -> bool:
    return _CELL_MARK in line and "-" in line and not line.strip("|:- \t")


def _join_table_cells(line: str) -> str:
    return " | ".join(cell.strip() for cell in line.strip().strip(_CELL_MARK).split(_CELL_MARK))


def _measure_indent(indent: str) -> int:
    return len(indent.expandtabs(4))
