"""What lint reports: findings with a code, a severity, a location and perhaps a fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from markscheme.prove.lint.codes import CODES
from markscheme.read.documents import FieldPath, YamlMapping, find_line
from markscheme.vocabulary import Item

FixAction = Literal["quote", "unquote", "wrap", "rewrite", "drop", "insert"]


class Severity(StrEnum):
    """An error makes lint fail, a warning is worth reading, a note is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A fix of the value at `path`. It changes no score and guesses nothing.

    - `quote`, `unquote`: add or remove quotation marks.
    - `wrap`: make the value a list of one entry.
    - `rewrite`: replace the value by `text`.
    - `drop`: remove the value from its list.
    - `insert`: add the line `text` at the top of the mapping at `path`.
    """

    path: FieldPath
    action: FixAction
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingLocation:
    """Where a finding is: file, line and dotted field."""

    file: str
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One mistake, or one thing worth knowing, that lint found."""

    file: str
    line: int
    field: str
    code: str
    severity: Severity
    message: str
    hint: str
    fix: Fix | None = None

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field else ""
        return f"{self.file}:{self.line}: {self.code} {self.severity}: {field}{self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """All findings, in the order of the files. `fixed` is the number of fixes per file."""

    files: tuple[str, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)

    def count(self, severity: Severity) -> int:
        """Return the number of findings with this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def at_least(self, severity: str) -> LintReport:
        """Return the report without the findings below this severity."""
        levels = list(Severity)[: list(Severity).index(Severity(severity)) + 1]
        kept = tuple(finding for finding in self.findings if finding.severity in levels)
        return replace(self, findings=kept)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.count(Severity.ERROR)


def make_finding(
    code: str, location: FindingLocation, message: str, fix: Fix | None = None
) -> LintFinding:
    """Return a finding with the severity and the hint of its code."""
    return LintFinding(
        file=location.file,
        line=location.line,
        field=location.field,
        code=code,
        severity=Severity(CODES[code].severity),
        message=message,
        hint=CODES[code].hint,
        fix=fix,
    )


def locate_finding(finding: LintFinding, tree: YamlMapping) -> LintFinding:
    """Return the finding with the line of its field in the tree."""
    return replace(finding, line=find_line(tree, parse_field_path(finding.field)))


def parse_field_path(field: str) -> FieldPath:
    """Return the path of a dotted field: `axes.0.weight` is ("axes", 0, "weight")."""
    parts = field.split(".") if field else []
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def locate_field(tree: YamlMapping, file: str, *path: str | int) -> FindingLocation:
    """Return the location of a field of a document."""
    return FindingLocation(file=file, line=find_line(tree, path), field=".".join(map(str, path)))


def locate_item_field(item: Item, *path: str | int) -> FindingLocation:
    """Return the location of a field of an item."""
    place = item.place
    if place is None:
        return FindingLocation(file="exam", line=1, field=item.id)
    line = place.get_line(str(path[0])) if path else place.line
    return FindingLocation(
        file=place.file, line=line, field=".".join(map(str, (place.field, *path)))
    )
