"""Repairs: one value at a time, in the text as it was written, with comments and order kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from markscheme.read.spans import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.prove.findings import Fix
    from markscheme.read.spans import Span, Spans

_PLAIN = re.compile(r"[^\W\d_][^\W_]*(?: [^\W_]+)*")
_WORDS = {"true", "false", "null"}

Edit = tuple[int, int, str]


def repaired(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Return the text with what can be repaired in it, and how many repairs that were."""
    spans = spans_of(text)
    edits = sorted({edit for fix in fixes if (edit := _edit(text, spans, fix))}, reverse=True)
    kept: list[Edit] = []
    for edit in edits:
        if not kept or edit[1] <= kept[-1][0]:
            kept.append(edit)
            text = text[: edit[0]] + edit[2] + text[edit[1] :]
    return text, len(kept)


def _edit(text: str, spans: Spans, fix: Fix) -> Edit | None:
    if fix.action == "insert":
        return _insertion(text, spans, fix)
    span = spans.values.get(fix.path)
    if span is None or "\n" in text[span.start : span.end]:
        return None
    written = text[span.start : span.end]
    match fix.action:
        case "quote":
            return span.start, span.end, _quoted(written)
        case "unquote":
            return span.start, span.end, fix.text
        case "wrap":
            return span.start, span.end, f"[{written if span.quoted else _scalar(written)}]"
        case "rewrite":
            return span.start, span.end, _scalar(fix.text)
        case "drop":
            return _drop(text, spans, fix, span)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _scalar(text: str) -> str:
    """Return a text as YAML: bare where it is plain words, else in quotation marks."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else _quoted(text)


def _insertion(text: str, spans: Spans, fix: Fix) -> Edit | None:
    """Put a line before the first key of a mapping that is written in lines."""
    keys = [s for path, s in spans.keys.items() if path[:-1] == fix.path]
    if not keys or keys[0].flow:
        return None
    start = text.rfind("\n", 0, keys[0].start) + 1
    indent = text[start : keys[0].start]
    return None if indent.strip() else (start, start, f"{indent}{fix.text}\n")


def _drop(text: str, spans: Spans, fix: Fix, span: Span) -> Edit | None:
    """Take an entry that is not the first out of its list, if nothing else goes with it."""
    last = fix.path[-1]
    before = spans.values.get((*fix.path[:-1], last - 1)) if isinstance(last, int) else None
    if before is None:
        return None
    if span.flow:
        between = text[before.end : span.start]
        return (before.end, span.end, "") if between.strip() == "," else None
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    end = len(text) if end < 0 else end + 1
    alone = text[start : span.start].strip() == "-" and not text[span.end : end].strip()
    return (start, end, "") if alone else None
