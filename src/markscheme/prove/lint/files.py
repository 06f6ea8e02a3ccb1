"""Lint files: read them, collect the findings, and write fixed files back.

A fix edits the character span of one value, so comments, order, indentation and quotation marks
elsewhere in the file stay as they are.
"""

from __future__ import annotations

import dataclasses
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from pathlib import Path

from markscheme.prove.lint.engine import LintRegistry, LintSource, lint_documents
from markscheme.prove.lint.findings import Fix, LintFinding, LintReport
from markscheme.read.documents import (
    list_builtin_names,
    locate_document,
    parse_tree,
    read_document_bytes,
    spans,
)
from markscheme.vocabulary import DocumentError, InputError, Problem, UsageError, write_path

# One fix may make another one possible, so fixing is repeated a few times.
_MAX_FIX_ROUNDS = 5
_KINDS = ("rubrics", "exams", "judges")


def lint_sources(
    linted: Sequence[str | Path],
    context: Sequence[str | Path],
    registry: LintRegistry,
    *,
    fix: bool,
) -> LintReport:
    """Lint files or built-in documents.

    `context` are further documents that are needed to judge the linted ones (the rubric of an
    exam, the exams of a gate); they get no findings themselves.
    """
    if not linted:
        raise UsageError("no file is named; name at least one rubric, exam or judge")
    sources = _read_sources(linted, context)
    fixed = _fix_sources(sources, registry) if fix else {}
    if fixed:
        sources = _read_sources(linted, context)
    return LintReport(
        files=tuple(source.file for source in sources if source.linted),
        findings=tuple(lint_documents(sources, registry)),
        fixed=fixed,
    )


def _read_sources(linted: Sequence[str | Path], context: Sequence[str | Path]) -> list[LintSource]:
    """Read every file once; raise one error for all files that cannot be read."""
    sources: dict[str, LintSource] = {}
    problems: list[Problem] = []
    for names, is_linted in ((linted, True), (context, False)):
        for name in names:
            try:
                source = _read_source(name, linted=is_linted)
                sources.setdefault(source.file, source)
            except InputError as error:
                problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return list(sources.values())


def _read_source(name: str | Path, *, linted: bool) -> LintSource:
    # A rubric before a judge of the same name: `context-agent` is both.
    kinds = [kind for kind in _KINDS if str(name) in list_builtin_names(kind)]
    try:
        path, file = locate_document(name, kinds[0] if kinds else "exams")
        data = read_document_bytes(path, file)
        return LintSource(file=file, data=data, linted=linted, folder=path.parent)
    except UsageError:
        names = ", ".join(dict.fromkeys(n for kind in _KINDS for n in list_builtin_names(kind)))
        reason = f"is not there, and is not built in ({names})"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    raise InputError([Problem(file=str(name), line=1, field="", message=reason)])


def _fix_sources(sources: Sequence[LintSource], registry: LintRegistry) -> dict[str, int]:
    """Fix the linted files in place; return the number of fixes per file."""
    for source in sources:
        if source.linted and not Path(source.file).is_file():
            raise UsageError(f"`{source.file}` is built in; --fix repairs files of your own")
    current, counts = list(sources), dict.fromkeys((source.file for source in sources), 0)
    for _ in range(_MAX_FIX_ROUNDS):
        findings = lint_documents(current, registry)
        fixed = [_apply_source_fixes(source, findings, counts) for source in current]
        if fixed == current:
            break
        current = fixed
    for before, after in zip(sources, current, strict=True):
        if before.data != after.data:
            _replace_file(Path(after.file), after.data)
    return {file: count for file, count in counts.items() if count}


def _apply_source_fixes(
    source: LintSource, findings: Sequence[LintFinding], counts: dict[str, int]
) -> LintSource:
    """Return the source after its fixes, or unchanged if it could not be parsed after them."""
    fixes = [f.fix for f in findings if f.fix is not None and f.file == source.file]
    if not fixes or not source.linted:
        return source
    text, count = _apply_fixes(source.data.decode("utf-8-sig"), fixes)
    bom = BOM_UTF8 if source.data.startswith(BOM_UTF8) else b""
    data = bom + text.encode()
    try:
        parse_tree(data, source.file)
    except DocumentError:
        return source
    counts[source.file] += count
    return dataclasses.replace(source, data=data)


def _replace_file(path: Path, data: bytes) -> None:
    """Replace the file atomically; keep its permissions, and keep a symbolic link a link."""
    file = path.resolve()
    try:
        with write_path(file) as partial:
            partial.write_bytes(data)
            partial.chmod(file.stat().st_mode)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


# Fixes

_PLAIN_WORDS = re.compile(r"[^\W\d_][^\W_]*(?: [^\W_]+)*")
_RESERVED_WORDS = {"true", "false", "null"}

TextEdit = tuple[int, int, str]
"""Start offset, end offset, and the text to put there."""


def _apply_fixes(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
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
