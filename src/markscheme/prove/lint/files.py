"""Repairs: one value at a time, in the text as it was written, with comments and order kept.

Lint on files: what is read, what is told of it, and what is written back as repaired.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.prove.lint.documents import LintSource, lint_documents
from markscheme.prove.lint.findings import LintReport
from markscheme.read.documents import (
    find_spans,
    list_builtin_names,
    locate_document,
    parse_tree,
    read_document_bytes,
)
from markscheme.vocabulary import DocumentError, InputError, Problem, UsageError, write_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markscheme.prove.lint.documents import LintRegistry
    from markscheme.prove.lint.findings import Fix, LintFinding
    from markscheme.read.documents import DocumentSpans, TextSpan

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


_MAX_FIX_ROUNDS = 5  # one repair may make room for another
_BOM = b"\xef\xbb\xbf"


def lint_sources(
    linted: Sequence[str | Path], beside: Sequence[str | Path], formats: LintRegistry, *, fix: bool
) -> LintReport:
    """Lint the files, with others beside them that only help to judge them."""
    if not linted:
        raise UsageError("no file is named; name at least one rubric or exam")
    sources = _read_sources(linted, beside)
    fixed = _fix_sources(sources, formats) if fix else {}
    if fixed:
        sources = _read_sources(linted, beside)
    return LintReport(
        files=tuple(source.file for source in sources if source.linted),
        findings=tuple(lint_documents(sources, formats)),
        fixed=fixed,
    )


def _read_sources(linted: Sequence[str | Path], beside: Sequence[str | Path]) -> list[LintSource]:
    """Read every file; complain at once of all that cannot be."""
    found: dict[str, LintSource] = {}
    problems: list[Problem] = []
    for names, is_linted in ((linted, True), (beside, False)):
        for name in names:
            try:
                source = _read_source(name, linted=is_linted)
                found.setdefault(source.file, source)
            except InputError as error:
                problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return list(found.values())


def _read_source(name: str | Path, *, linted: bool) -> LintSource:
    kind = "rubrics" if str(name) in list_builtin_names("rubrics") else "exams"
    try:
        path, file = locate_document(name, kind)
        return LintSource(file=file, data=read_document_bytes(path, file), linted=linted)
    except UsageError:
        names = ", ".join([*list_builtin_names("rubrics"), *list_builtin_names("exams")])
        why = f"is not there, and is not built in ({names})"
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    raise InputError([Problem(file=str(name), line=1, field="", message=why)])


def _fix_sources(sources: Sequence[LintSource], formats: LintRegistry) -> dict[str, int]:
    """Repair the files in place; return how many repairs each got."""
    for source in sources:
        if source.linted and not Path(source.file).is_file():
            raise UsageError(f"`{source.file}` is built in; --fix repairs files of your own")
    current, counts = list(sources), dict.fromkeys((s.file for s in sources), 0)
    for _ in range(_MAX_FIX_ROUNDS):
        found = lint_documents(current, formats)
        mended = [_apply_source_fixes(source, found, counts) for source in current]
        if mended == current:
            break
        current = mended
    for before, after in zip(sources, current, strict=True):
        if before.data != after.data:
            _replace_file(Path(after.file), after.data)
    return {file: count for file, count in counts.items() if count}


def _apply_source_fixes(
    source: LintSource, found: Sequence[LintFinding], counts: dict[str, int]
) -> LintSource:
    """Return the source after its repairs, or as it is where they would leave it worse."""
    fixes = [f.fix for f in found if f.fix is not None and f.file == source.file]
    if not fixes or not source.linted:
        return source
    text, count = apply_fixes(source.data.decode("utf-8-sig"), fixes)
    mark = _BOM if source.data.startswith(_BOM) else b""
    data = mark + text.encode()
    try:
        parse_tree(data, source.file)
    except DocumentError:
        return source
    counts[source.file] += count
    return dataclasses.replace(source, data=data)


def _replace_file(path: Path, data: bytes) -> None:
    """Replace the file as a whole, with the permissions that it had; a link stays a link."""
    file = path.resolve()
    try:
        with write_path(file) as partial:
            partial.write_bytes(data)
            partial.chmod(file.stat().st_mode)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None
