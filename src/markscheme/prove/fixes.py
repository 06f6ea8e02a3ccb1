"""Repairs: one value at a time, in the text as it was written, with comments and order kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from markscheme.read.spans import find_spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.prove.findings import Fix
    from markscheme.read.spans import DocumentSpans, TextSpan

_PLAIN_WORDS = re.compile(r"[^\W\d_][^\W_]*(?: [^\W_]+)*")
_RESERVED_WORDS = {"true", "false", "null"}

TextEdit = tuple[int, int, str]


def apply_fixes(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Return the text with what can be repaired in it, and how many repairs that were."""
    spans = find_spans(text)
    edits = sorted({edit for fix in fixes if (edit := _build_edit(text, spans, fix))}, reverse=True)
    kept: list[TextEdit] = []
    for edit in edits:
        if not kept or edit[1] <= kept[-1][0]:
            kept.append(edit)
            text = text[: edit[0]] + edit[2] + text[edit[1] :]
    return text, len(kept)


def _build_edit(text: str, spans: DocumentSpans, fix: Fix) -> TextEdit | None:
    if fix.action == "insert":
        return _build_insertion(text, spans, fix)
    span = spans.values.get(fix.path)
    if span is None or "\n" in text[span.start : span.end]:
        return None
    written = text[span.start : span.end]
    match fix.action:
        case "quote":
            return span.start, span.end, _quote_yaml(written)
        case "unquote":
            return span.start, span.end, fix.text
        case "wrap":
            return span.start, span.end, f"[{written if span.quoted else _format_scalar(written)}]"
        case "rewrite":
            return span.start, span.end, _format_scalar(fix.text)
        case "drop":
            return _build_removal(text, spans, fix, span)


def _quote_yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _format_scalar(text: str) -> str:
    """Return a text as YAML: bare where it is plain words, else in quotation marks."""
    plain = _PLAIN_WORDS.fullmatch(text) and text.lower() not in _RESERVED_WORDS
    return text if plain else _quote_yaml(text)


def _build_insertion(text: str, spans: DocumentSpans, fix: Fix) -> TextEdit | None:
    """Put a line before the first key of a mapping that is written in lines."""
    keys = [s for path, s in spans.keys.items() if path[:-1] == fix.path]
    if not keys or keys[0].flow:
        return None
    start = text.rfind("\n", 0, keys[0].start) + 1
    indent = text[start : keys[0].start]
    return None if indent.strip() else (start, start, f"{indent}{fix.text}\n")


def _build_removal(text: str, spans: DocumentSpans, fix: Fix, span: TextSpan) -> TextEdit | None:
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
