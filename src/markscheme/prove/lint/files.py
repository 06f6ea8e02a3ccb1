"""Lint files: read them, collect the findings, and write fixed files back."""

from __future__ import annotations

import dataclasses
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path

from markscheme.prove.lint.engine import LintRegistry, LintSource, lint_documents
from markscheme.prove.lint.findings import LintFinding, LintReport
from markscheme.prove.lint.fixes import apply_fixes
from markscheme.read.documents import (
    list_builtin_names,
    locate_document,
    parse_tree,
    read_document_bytes,
)
from markscheme.vocabulary import DocumentError, InputError, Problem, UsageError, write_path

# One fix may make another one possible, so fixing is repeated a few times.
_MAX_FIX_ROUNDS = 5


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
        raise UsageError("no file is named; name at least one rubric or exam")
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
    kind = "rubrics" if str(name) in list_builtin_names("rubrics") else "exams"
    try:
        path, file = locate_document(name, kind)
        return LintSource(file=file, data=read_document_bytes(path, file), linted=linted)
    except UsageError:
        names = ", ".join([*list_builtin_names("rubrics"), *list_builtin_names("exams")])
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
    text, count = apply_fixes(source.data.decode("utf-8-sig"), fixes)
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
