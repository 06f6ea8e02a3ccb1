"""Sections in XML tags: `<memory>…</memory>`, `<section name="Memory">…</section>`.

A tag is the heading of a section if its name, or the name of a `<section>`, has a key word, if it
stands at the start of a line, and if it is closed later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from markscheme.mark.answer_lines import AnswerLine

_TAG = re.compile(
    r"\s{0,40}<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]{0,60})(?P<attributes>\s[^<>]{0,200})?>"
)
_TITLE = re.compile(r"\b(?:name|title|id|heading|label)\s?=\s?[\"']?(?P<title>[^\"'>]{1,80})")
_SECTION = "section"


class SectionTag(Struct, frozen=True):
    """A tag around a section: what it is called, and whether it is the closing one."""

    name: str
    title: str
    closes: bool


def split_tags(
    lines: Sequence[AnswerLine], is_title: Callable[[str], bool]
) -> Iterator[tuple[AnswerLine, SectionTag | None]]:
    """Yield the lines, with each tag of a section on a line of its own.

    `is_title` decides whether the name of a tag is that of a section.
    """
    closed = _find_closed_names(lines)
    for line in lines:
        if line.code or "<" not in line.text:
            yield line, None
        else:
            yield from _split_line(line, closed, is_title)


def _find_closed_names(lines: Sequence[AnswerLine]) -> dict[str, int]:
    """Return for each name of a tag the last line with a closing tag of that name."""
    return {
        name.casefold(): line.number
        for line in lines
        if not line.code and "</" in line.text
        for name in re.findall(r"</([A-Za-z][\w.:-]{0,60})>", line.text)
    }


def _split_line(
    line: AnswerLine, closed: dict[str, int], is_title: Callable[[str], bool]
) -> Iterator[tuple[AnswerLine, SectionTag | None]]:
    rest = line.text
    while found := _TAG.match(rest):
        tag = _read_tag(found, is_title)
        if tag is None or closed.get(tag.name, 0) < line.number:
            break
        yield line._replace(text=found[0]), tag
        rest = rest[found.end() :]
        inside, mark, after = rest.partition(f"</{found['name']}>")
        if mark and not tag.closes:
            yield line._replace(text=inside), None
            rest = mark + after
    before, mark, name = rest.rstrip().rpartition("</")
    found = _TAG.fullmatch(mark + name) if mark else None
    tag = None if found is None else _read_tag(found, is_title)
    if tag is not None and before.strip():
        yield line._replace(text=before), None
        yield line._replace(text=mark + name), tag
    elif rest.strip() or rest == line.text:
        yield line._replace(text=rest), None


def _read_tag(found: re.Match[str], is_title: Callable[[str], bool]) -> SectionTag | None:
    """Return the tag of a section, or `None` if it is another tag."""
    name = found["name"].casefold()
    if is_title(name):
        return SectionTag(name, name, bool(found["close"]))
    attribute = _TITLE.search(found["attributes"] or "")
    if name == _SECTION and attribute is not None and is_title(attribute["title"]):
        return SectionTag(name, attribute["title"], closes=False)
    return None
