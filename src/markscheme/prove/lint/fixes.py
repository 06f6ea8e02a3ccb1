"""Apply fixes to the text of a YAML document: one value at a time, everything else kept.

A fix edits the character span of one value, so comments, order, indentation and quotation marks
elsewhere in the file stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from markscheme.prove.lint.findings import Fix
from markscheme.read.documents import spans

_PLAIN_WORDS = re.compile(r"[^\W\d_][^\W_]*(?: [^\W_]+)*")
_RESERVED_WORDS = {"true", "false", "null"}

TextEdit = tuple[int, int, str]
"""Start offset, end offset, and the text to put there."""


def apply_fixes(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Return the text after all fixes that can be applied, and how many those are."""
    document_spans = spans.find_spans(text)
    edits = {edit for fix in fixes if (edit := _build_edit(text, document_spans, fix))}
    applied: list[TextEdit] = []
    # From the end of the text to its start, so that the offsets of the edits to come stay right.
    for edit in sorted(edits, reverse=True):
        start, end, replacement = edit
        overlaps = bool(applied) and end > applied[-1][0]
        if not overlaps:
            applied.append(edit)
            text = text[:start] + replacement + text[end:]
    return text, len(applied)


def _build_edit(text: str, document_spans: spans.DocumentSpans, fix: Fix) -> TextEdit | None:
    """Return the edit for a fix, or None if the value is not written in a way we can edit."""
    if fix.action == "insert":
        return _build_insertion(text, document_spans, fix)
    span = document_spans.values.get(fix.path)
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
            return _build_removal(text, document_spans, fix, span)


def _quote_yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _format_scalar(text: str) -> str:
    """Return a text as a YAML scalar, in quotation marks unless it is plain words."""
    plain = _PLAIN_WORDS.fullmatch(text) and text.lower() not in _RESERVED_WORDS
    return text if plain else _quote_yaml(text)


def _build_insertion(text: str, document_spans: spans.DocumentSpans, fix: Fix) -> TextEdit | None:
    """Insert a line before the first key of a mapping in block style."""
    keys = [span for path, span in document_spans.keys.items() if path[:-1] == fix.path]
    if not keys or keys[0].flow:
        return None
    start = text.rfind("\n", 0, keys[0].start) + 1
    indent = text[start : keys[0].start]
    return None if indent.strip() else (start, start, f"{indent}{fix.text}\n")


def _build_removal(
    text: str, document_spans: spans.DocumentSpans, fix: Fix, span: spans.TextSpan
) -> TextEdit | None:
    """Remove an entry from its list, unless it is the first or shares its line with other text."""
    index = fix.path[-1]
    previous = (
        document_spans.values.get((*fix.path[:-1], index - 1)) if isinstance(index, int) else None
    )
    if previous is None:
        return None
    if span.flow:
        between = text[previous.end : span.start]
        return (previous.end, span.end, "") if between.strip() == "," else None
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    end = len(text) if end < 0 else end + 1
    alone = text[start : span.start].strip() == "-" and not text[span.end : end].strip()
    return (start, end, "") if alone else None
