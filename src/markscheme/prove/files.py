"""Lint on files: what is read, what is told of it, and what is written back as repaired."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import DocumentError, InputError, Problem, UsageError
from markscheme.prove.findings import LintReport
from markscheme.prove.fixes import repaired
from markscheme.prove.lint import Source, lint_documents
from markscheme.read.parsing import parse_tree, read_bytes
from markscheme.read.sources import built_in, locate
from markscheme.wholly import appearing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.prove.findings import LintFinding
    from markscheme.prove.lint import Formats

_ROUNDS = 5  # one repair may make room for another
_BOM = b"\xef\xbb\xbf"


def lint_sources(
    linted: Sequence[str | Path], beside: Sequence[str | Path], formats: Formats, *, fix: bool
) -> LintReport:
    """Lint the files, with others beside them that only help to judge them."""
    if not linted:
        raise UsageError("no file is named; name at least one rubric or exam")
    sources = _read(linted, beside)
    fixed = _fix(sources, formats) if fix else {}
    if fixed:
        sources = _read(linted, beside)
    return LintReport(
        files=tuple(source.file for source in sources if source.linted),
        findings=tuple(lint_documents(sources, formats)),
        fixed=fixed,
    )


def _read(linted: Sequence[str | Path], beside: Sequence[str | Path]) -> list[Source]:
    """Read every file; complain at once of all that cannot be."""
    found: dict[str, Source] = {}
    problems: list[Problem] = []
    for names, is_linted in ((linted, True), (beside, False)):
        for name in names:
            try:
                source = _source(name, linted=is_linted)
                found.setdefault(source.file, source)
            except InputError as error:
                problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return list(found.values())


def _source(name: str | Path, *, linted: bool) -> Source:
    kind = "rubrics" if str(name) in built_in("rubrics") else "exams"
    try:
        path, file = locate(name, kind)
        return Source(file=file, data=read_bytes(path, file), linted=linted)
    except UsageError:
        names = ", ".join([*built_in("rubrics"), *built_in("exams")])
        why = f"is not there, and is not built in ({names})"
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    raise InputError([Problem(file=str(name), line=1, field="", message=why)])


def _fix(sources: Sequence[Source], formats: Formats) -> dict[str, int]:
    """Repair the files in place; return how many repairs each got."""
    for source in sources:
        if source.linted and not Path(source.file).is_file():
            raise UsageError(f"`{source.file}` is built in; --fix repairs files of your own")
    current, counts = list(sources), dict.fromkeys((s.file for s in sources), 0)
    for _ in range(_ROUNDS):
        found = lint_documents(current, formats)
        mended = [_mended(source, found, counts) for source in current]
        if mended == current:
            break
        current = mended
    for before, after in zip(sources, current, strict=True):
        if before.data != after.data:
            _write(Path(after.file), after.data)
    return {file: count for file, count in counts.items() if count}


def _mended(source: Source, found: Sequence[LintFinding], counts: dict[str, int]) -> Source:
    """Return the source after its repairs, or as it is where they would leave it worse."""
    fixes = [f.fix for f in found if f.fix is not None and f.file == source.file]
    if not fixes or not source.linted:
        return source
    text, count = repaired(source.data.decode("utf-8-sig"), fixes)
    mark = _BOM if source.data.startswith(_BOM) else b""
    data = mark + text.encode()
    try:
        parse_tree(data, source.file)
    except DocumentError:
        return source
    counts[source.file] += count
    return dataclasses.replace(source, data=data)


def _write(path: Path, data: bytes) -> None:
    """Replace the file as a whole, with the permissions that it had; a link stays a link."""
    file = path.resolve()
    try:
        with appearing(file) as partial:
            partial.write_bytes(data)
            partial.chmod(file.stat().st_mode)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None
