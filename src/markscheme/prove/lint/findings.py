"""What lint finds: a stable code, how grave it is, where it is, what is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from markscheme.prove.lint.codes import CODES
from markscheme.read.documents import find_line

if TYPE_CHECKING:
    from markscheme.read.documents import YamlMapping
    from markscheme.vocabulary import Item

FieldPath = tuple[str | int, ...]
FixAction = Literal["quote", "unquote", "wrap", "rewrite", "drop", "insert"]


class Severity(StrEnum):
    """How grave a finding is: an error fails, a warning is to be read, a note is to be known."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A repair of one value that changes no score and guesses nothing.

    `quote`, `unquote` and `wrap` (in a list) a value, `rewrite` it as `text`, `drop` it from its
    list, or `insert` the line `text` at the top of the mapping at the path.
    """

    path: FieldPath
    action: FixAction
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingLocation:
    """A place in a document."""

    file: str
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One thing that lint found."""

    file: str
    line: int
    field: str
    code: str
    severity: Severity
    message: str
    hint: str
    fix: Fix | None = None

    def __str__(self) -> str:
        named = f"{self.field}: " if self.field else ""
        return f"{self.file}:{self.line}: {self.code} {self.severity}: {named}{self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What lint found in the files, in their order; `fixed` counts the repairs in each file."""

    files: tuple[str, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)

    def count(self, severity: Severity) -> int:
        """Return how many findings are so grave."""
        return sum(found.severity is severity for found in self.findings)

    def at_least(self, severity: str) -> LintReport:
        """Return the report with only the findings that are at least so grave."""
        grave = list(Severity)[: list(Severity).index(Severity(severity)) + 1]
        kept = tuple(found for found in self.findings if found.severity in grave)
        return replace(self, findings=kept)

    @property
    def ok(self) -> bool:
        """Whether nothing is an error."""
        return not self.count(Severity.ERROR)


def make_finding(
    code: str, spot: FindingLocation, message: str, fix: Fix | None = None
) -> LintFinding:
    """Return a finding with the severity and the hint of its code."""
    return LintFinding(
        file=spot.file,
        line=spot.line,
        field=spot.field,
        code=code,
        severity=Severity(CODES[code].severity),
        message=message,
        hint=CODES[code].hint,
        fix=fix,
    )


def locate_finding(found: LintFinding, tree: YamlMapping) -> LintFinding:
    """Return the finding with the line of its field, as deep as the tree knows it."""
    return replace(found, line=find_line(tree, parse_field_path(found.field)))


def parse_field_path(field: str) -> FieldPath:
    """Return the path that a field is the text of."""
    parts = field.split(".") if field else []
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def locate_field(tree: YamlMapping, file: str, *path: str | int) -> FindingLocation:
    """Return the place of a field of a document."""
    return FindingLocation(file=file, line=find_line(tree, path), field=".".join(map(str, path)))


def locate_item_field(item: Item, *path: str | int) -> FindingLocation:
    """Return the place of a field of an item."""
    place = item.place
    if place is None:
        return FindingLocation(file="exam", line=1, field=item.id)
    line = place.get_line(str(path[0])) if path else place.line
    return FindingLocation(
        file=place.file, line=line, field=".".join(map(str, (place.field, *path)))
    )
