"""Read the lines of a section as entries: list items, table rows and paragraphs of prose.

Lines are read as people read them, in Markdown or HTML. A line that only introduces what follows
it, such as `Key files:` or `**Loader**` above a list, is no entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct, field

from markscheme.mark.answer_lines import AnswerLine

CELL_MARK = "|"
ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:"
    # -, 1., 1), (1), 1.2., a), (a), a., iv)
    r"(?:[-*+•‣◦–—●○▪▫■□▸►▶\u2043·→]|\(?[0-9]{1,9}(?:\.[0-9]{1,3}){0,3}[.)]|\(?[A-Za-z][.)]"
    r"|\(?[ivxIVX]{1,5}[.)]|(?:[\u2600-\u27bf\U0001f000-\U0001faff][\ufe0f\u200d]*)+)[ \t\u00a0]+"
    r"|<(?:li|tr|dd|p)\b[^<>]{0,200}>[ \t]*)(?P<text>.*)"
)
_TABLE_HEAD = re.compile(r"\s*(?:<tr\b[^<>]*>\s*)?<th\b.*", re.IGNORECASE)
_ONLY_TAGS = re.compile(r"\s*(?:<!--.*-->|(?:<[/!?]?[A-Za-z][^<>]{0,200}>\s*){1,20})\s*")
_EMPHASISED = re.compile(
    r"(?:\*\*\*|\*\*|\*|___|__|_|<(?:b|strong|em|i|u|dt|summary)>)(?P<text>[^*<>]{1,120}?)"
    r"(?:\*\*\*|\*\*|\*|___|__|_|</(?:b|strong|em|i|u|dt|summary)>) ?:?"
)
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "of", "the", "for", "in", "on", "to", "or", "from", "with"}
)
_SENTENCE_ENDS = (".", "!", "?", ";", ",")
_MAX_LABEL_WORDS = 8
_SHORT = 2
# Items that are nested deeper stand beside each other: reading them is recursive.
_MAX_DEPTH = 50


class EntryKind(StrEnum):
    """How an entry is written."""

    ITEM = "item"
    ROW = "row"
    PROSE = "prose"


class OutlineEntry(Struct, kw_only=True):
    """A list item, a table row or a paragraph, with the lines and items inside it."""

    lines: list[str]
    line: int
    kind: EntryKind = EntryKind.ITEM
    indent: int = 0
    inside: list[OutlineEntry] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of all its lines, without the items inside it."""
        return "\n".join(self.lines)


def parse_entries(lines: Iterable[AnswerLine]) -> list[OutlineEntry]:
    """Return the entries of a section that are not nested in another."""
    return _EntryParser(lines).parse()


class _EntryParser:
    """Reads the lines of one section in order."""

    def __init__(self, lines: Iterable[AnswerLine]) -> None:
        self._lines = list(lines)
        self._entries: list[OutlineEntry] = []
        self._open_items: list[OutlineEntry] = []
        # The paragraph that the next line may continue, and the last entry if it is a paragraph.
        self._open_prose: OutlineEntry | None = None
        self._last_prose: OutlineEntry | None = None
        self._in_table = False
        self._is_after_text = False

    def parse(self) -> list[OutlineEntry]:
        """Return the entries."""
        for line, below in self._pair_lines():
            if line.code:
                self._read_code(line)
            elif not line.text.strip():
                self._read_blank()
            elif _is_ignored(line.text):
                self._close_all()
            elif CELL_MARK in line.text and self._update_table_state(line.text, below):
                self._read_row(line, below)
            elif (item := ITEM.fullmatch(line.text)) is not None:
                self._read_item(line.number, item)
            else:
                self._read_text(line)
        return self._entries

    def _pair_lines(self) -> Iterator[tuple[AnswerLine, str]]:
        """Yield each line with the text of the line below it."""
        below = [*(line.text for line in self._lines[1:]), ""]
        return zip(self._lines, below, strict=True)

    def _read_code(self, line: AnswerLine) -> None:
        """Add a line of code to the item or paragraph that it belongs to; else it is a quotation.

        A paragraph that ends with a colon introduces the code, even across a blank line.
        """
        owner = self._open_items[-1] if self._open_items else self._open_prose
        if owner is None and self._last_prose is not None and _ends_with_colon(self._last_prose):
            owner = self._open_prose = self._last_prose
        if owner is not None:
            owner.lines.append(line.text)
        self._is_after_text = line.text[:1].isspace()

    def _read_blank(self) -> None:
        self._in_table = self._is_after_text = False
        self._open_prose = None

    def _close_all(self) -> None:
        self._open_items = []
        self._read_blank()

    def _update_table_state(self, text: str, below: str) -> bool:
        """Return whether a line with bars is part of a table; a table closes all open items."""
        bare = text.strip()
        barred = bare.startswith(CELL_MARK) and bare.count(CELL_MARK) > 1
        self._in_table = self._in_table or barred or is_table_separator(below)
        if self._in_table:
            self._open_items, self._open_prose = [], None
        return self._in_table

    def _read_row(self, line: AnswerLine, below: str) -> None:
        self._is_after_text = False
        if is_table_separator(line.text) or is_table_separator(below):
            return
        cells = line.text.strip().strip(CELL_MARK).split(CELL_MARK)
        row = " | ".join(cell.strip() for cell in cells)
        self._add_entry(OutlineEntry(lines=[row], line=line.number, kind=EntryKind.ROW))

    def _read_item(self, number: int, item: re.Match[str]) -> None:
        """Put an item into the open item that contains it, if there is one."""
        indent = len(item["indent"].expandtabs(4))
        entry = OutlineEntry(lines=[item["text"]], line=number, indent=indent)
        outer = [outer for outer in self._open_items if outer.indent < indent]
        self._open_items = outer[:_MAX_DEPTH]
        if self._open_items:
            self._open_items[-1].inside.append(entry)
        else:
            self._add_entry(entry)
        self._open_items.append(entry)
        self._open_prose, self._is_after_text = None, True

    def _read_text(self, line: AnswerLine) -> None:
        """Continue an item or a paragraph, or open a paragraph."""
        if self._open_items and (line.text[0].isspace() or self._is_after_text):
            self._open_items[-1].lines.append(line.text)
        elif self._open_prose is not None and self._is_after_text:
            self._open_prose.lines.append(line.text)
        else:
            self._open_items = []
            entry = OutlineEntry(lines=[line.text.strip()], line=line.number, kind=EntryKind.PROSE)
            self._add_entry(entry)
            self._open_prose = self._last_prose = entry
        self._is_after_text = True

    def _add_entry(self, entry: OutlineEntry) -> None:
        """Add an entry; drop the paragraph before it if that is only a label."""
        if self._last_prose is not None and _is_label(self._last_prose, entry.kind):
            self._entries.pop()
        self._last_prose = None
        self._entries.append(entry)


def _is_ignored(text: str) -> bool:
    """Return whether a line has no words of its own: a rule, tags without text, a table's head."""
    if not any(map(str.isalnum, text)):
        return CELL_MARK not in text
    if not text.lstrip().startswith("<"):
        return False
    opens = ITEM.fullmatch(text) is not None
    return bool(_TABLE_HEAD.fullmatch(text)) or (not opens and bool(_ONLY_TAGS.fullmatch(text)))


def _ends_with_colon(entry: OutlineEntry) -> bool:
    return entry.lines[-1].rstrip("*_ \t").endswith(":")


def _is_label(entry: OutlineEntry, following: EntryKind) -> bool:
    """Return whether a paragraph only introduces the entry that follows it.

    `The files that matter are:` introduces a list or a table. So does a line that looks like a
    title; in bold, it may also introduce prose.
    """
    if len(entry.lines) == 1:
        emphasised = _EMPHASISED.fullmatch(entry.lines[0])
        title = entry.lines[0] if emphasised is None else emphasised["text"]
        is_title = not title.endswith(_SENTENCE_ENDS) and looks_like_title(
            title.rstrip(": "), _MAX_LABEL_WORDS
        )
        if is_title and (emphasised is not None or following is not EntryKind.PROSE):
            return True
    return following is not EntryKind.PROSE and _ends_with_colon(entry)


def looks_like_title(text: str, longest: int) -> bool:
    """Return whether a text looks like a title: few words, capitalised all or the first.

    `Memory findings` and `Gaps and Unknowns` do; `Here are the patterns` does not.
    """
    words = [word for word in _TITLE_WORD.findall(_ASIDE.sub("", text)) if not word.isdigit()]
    if not words or len(words) > longest or not words[0][0].isupper():
        return False
    rest = [word for word in words[1:] if word.casefold() not in _SMALL_WORDS]
    return all(word[0].isupper() for word in rest) or len(words) <= _SHORT


def is_table_separator(line: str) -> bool:
    """Return whether a line separates the head of a table from its rows."""
    return CELL_MARK in line and "-" in line and not line.strip("|:- \t")
