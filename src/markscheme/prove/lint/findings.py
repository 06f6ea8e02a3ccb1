"""What lint reports: findings with a code, a severity, a location and perhaps a fix.

The codes are public: a code keeps its meaning and is never reused. To add one: an entry in `CODES`,
a check that yields it, and a section in `docs/lint.md` with a bad and a good example. A test lints
both examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from markscheme.read.documents import FieldPath, YamlMapping, find_line
from markscheme.vocabulary import Item, escape_line

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
        # Files and keys may be named by anybody; a finding stays on its line.
        field = f"{self.field}: " if self.field else ""
        return escape_line(
            f"{self.file}:{self.line}: {self.code} {self.severity}: {field}{self.message}"
        )


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


@dataclass(frozen=True, slots=True)
class LintCode:
    """The severity, the title and the hint of a finding code."""

    severity: str
    title: str
    hint: str


CODES: Mapping[str, LintCode] = {
    "R001": LintCode("error", "the file cannot be read as YAML", "mend the syntax on this line"),
    "R002": LintCode("error", "the rubric does not keep to the format", "see docs/rubrics.md"),
    "R003": LintCode(
        "error",
        "a weight is no share, or the weights do not sum to 1",
        "give each axis a number from 0 to 1; together exactly 1, in decimals; for thirds and the "
        "like give `points`",
    ),
    "R004": LintCode(
        "error",
        "the engine refuses the regular expression",
        "write it without look-around and back-references",
    ),
    "R005": LintCode("error", "a gate on an unknown metric", "use a metric of docs/gates.md"),
    "R006": LintCode("error", "a gate on an unknown axis", "name an axis of this rubric"),
    "R007": LintCode(
        "warning",
        "a gate on an unknown exam",
        "name an exam by what stands after `exam:` in its file; give its file with --exam",
    ),
    "R008": LintCode(
        "error",
        "a threshold outside what can be reached",
        "set a limit that some runs meet and others do not, or drop the gate",
    ),
    "R009": LintCode(
        "warning", "a target that the limit already asks for", "set the target beyond the limit"
    ),
    "R010": LintCode(
        "warning",
        "an axis that can never change any gate",
        "give it a weight that matters, give it a gate of its own, or drop it",
    ),
    "R011": LintCode(
        "error",
        "an axis never reaches its field",
        "let the schema allow the field, or read another one",
    ),
    "R012": LintCode(
        "warning",
        "an axis reads a field that the schema does not require",
        "add the field to `required`; without it the axis reads the whole text",
    ),
    "R013": LintCode(
        "warning", "a pattern that every text matches", "anchor it, or ask for at least one thing"
    ),
    "R014": LintCode("warning", "a normalisation step is repeated", "once is enough"),
    "R015": LintCode(
        "warning",
        "normalisation steps in an order that defeats one of them",
        "take whitespace off first: [strip, …, strip_trailing_period]",
    ),
    "R016": LintCode(
        "warning", "two axes judge the same thing", "drop one, or let them read different fields"
    ),
    "R017": LintCode(
        "warning", "a gate that another one already implies", "drop it, or make it stricter"
    ),
    "R018": LintCode("note", "axes without a gate", "add a gate, if anything is to be decided"),
    "R019": LintCode("error", "a gate on tags that no item has", "use tags of the exam's items"),
    "R020": LintCode(
        "warning",
        "a gate that a better run fails",
        "say `at_least`, if high scores are good; for a band, keep both limits",
    ),
    "R021": LintCode(
        "error",
        "a word that JSON Schema does not know",
        "write the keyword as it is listed; a note of your own begins with `x-`",
    ),
    "E001": LintCode("error", "the file cannot be read as YAML", "mend the syntax on this line"),
    "E002": LintCode("error", "the exam does not keep to the format", "see docs/exams.md"),
    "E003": LintCode(
        "error",
        "an expectation is missing, empty or of the wrong type",
        "give the axis something to tell answers apart by",
    ),
    "E004": LintCode(
        "error",
        "the engine refuses an item's regular expression",
        "write it without look-around and back-references",
    ),
    "E005": LintCode(
        "warning",
        "an expectation loses whitespace or a full stop in normalisation",
        "write it as it is compared; --fix does",
    ),
    "E006": LintCode(
        "note",
        "an expectation changes in normalisation",
        "nothing is wrong; know that case, accents or the like are not asked for",
    ),
    "E007": LintCode(
        "warning",
        "a wrong form of the same verb would pass",
        "use `match: word`, the axis `equals`, or expect more than this",
    ),
    "E008": LintCode(
        "warning",
        "an expectation is part of another item's",
        "use `match: word`, the axis `equals`, or expect more than this",
    ),
    "E009": LintCode(
        "warning",
        "the prompt itself would pass",
        "use `match: word`, the axis `equals`, or ask without giving the answer away",
    ),
    "E010": LintCode("warning", "two items are the same", "drop one: it counts twice"),
    "E011": LintCode(
        "warning",
        "the same prompt with different expectations",
        "no answer can be right in both; make the prompts differ",
    ),
    "E012": LintCode("warning", "a tag that looks like a typo", "write it as the other items do"),
    "E013": LintCode(
        "warning",
        "the exam is too small for its gate",
        "add items, or widen the gate",
    ),
    "E014": LintCode(
        "warning",
        "the exam is too small for evidence at its baseline gate",
        "add items, or do not read the evidence as more than it is",
    ),
    "E015": LintCode(
        "error",
        "the exam is too small for the evidence that its baseline gate requires",
        "add items, widen max_drop, or let evidence be shown",
    ),
    "E016": LintCode("warning", "an entry says nothing beside another", "drop the shorter entry"),
    "E017": LintCode(
        "warning",
        "an expectation that is not what the tags ask for",
        "compare it with the verb table, and mend the expectation or the tags",
    ),
    "E018": LintCode(
        "warning", "an invisible character in an expectation", "type the expectation anew"
    ),
    "E019": LintCode(
        "warning",
        "a letter of another alphabet that looks like a Latin one",
        "type the expectation anew",
    ),
    "E020": LintCode(
        "warning",
        "alternatives in one text",
        "write a list in the list for `contains_all`, as in [[travelled, traveled]]; "
        "use `one_of` for whole texts",
    ),
    "E021": LintCode(
        "warning",
        "an expectation that ends in punctuation",
        "leave the mark out, unless answers without it are wrong",
    ),
    "D001": LintCode(
        "error",
        "the verdict rules or the decision table do not keep to the format",
        "see docs/decision-tables.md",
    ),
    "D002": LintCode(
        "error", "averages without a verdict", "add a rule, or a last one without `when`"
    ),
    "D003": LintCode(
        "error",
        "averages with two verdicts",
        "make the bounds exclude each other, or say `match: first`",
    ),
    "D004": LintCode(
        "error", "a higher score gets a worse verdict", "mend the order of rules or their bounds"
    ),
    "D005": LintCode("error", "a rule that never decides", "drop it, or move it before the others"),
    "D006": LintCode("error", "a verdict that is never given", "add a rule for it, or drop it"),
    "D007": LintCode("error", "verdicts without a decision", "add a row that holds for them"),
    "D008": LintCode(
        "error",
        "verdicts with two decisions",
        "make the conditions exclude each other, or say `match: first`",
    ),
    "D009": LintCode(
        "error",
        "a better verdict leads to a worse decision",
        "mend the row that decides after the improvement",
    ),
    "D010": LintCode("error", "a row that never decides", "drop it, or mend its conditions"),
    "D011": LintCode(
        "error",
        "an outcome that is never reached",
        "add a row for it, or leave it out of `outcomes`",
    ),
    "D012": LintCode(
        "warning",
        "a missing verdict is not spoken of",
        "say `missing: none` (nothing is decided); --fix does",
    ),
    "D013": LintCode(
        "error",
        "a missing verdict is better than a bad one",
        "say `missing: none`, or the worst outcome",
    ),
    "D014": LintCode(
        "error", "too large to be proved", "use fewer different conditions, or smaller bounds"
    ),
    "D015": LintCode(
        "error",
        "queries of a mode that the table does not know",
        "name the mode under `queries`, and in the rows that are about it",
    ),
    "D016": LintCode(
        "warning",
        "a conditional decision that nothing finishes",
        "add `follow_up`: how many further queries decide, and how",
    ),
    "D017": LintCode(
        "error",
        "further queries without one decision",
        "add a row to `follow_up`, or make its conditions exclude each other",
    ),
    "D018": LintCode(
        "error",
        "a better verdict leads to a worse final decision",
        "mend the rows of `follow_up`, so that none of them decides better than a better first "
        "round",
    ),
    "D019": LintCode(
        "error",
        "a part of the follow-up that never decides",
        "drop it, or mend its conditions or `in_modes_of`",
    ),
    "D020": LintCode(
        "warning",
        "an exam with fewer queries than the table decides on",
        "add queries, or state a range under `queries` that includes this exam",
    ),
    "J001": LintCode("error", "the judge cannot be read as YAML", "mend the syntax on this line"),
    "J002": LintCode(
        "error", "the judge or the panel does not keep to the format", "see docs/judges.md"
    ),
    "J003": LintCode(
        "error",
        "a judge that cannot be asked",
        "name a model as `run --subject` does, or a recording that is there",
    ),
    "J004": LintCode(
        "warning",
        "judge and subject of one maker",
        "ask a model of another maker, or calibrate the judge on answers of this subject",
    ),
    "J005": LintCode(
        "warning",
        "a panel of one maker",
        "add a judge of another maker: models of one maker make the same mistakes",
    ),
    "J006": LintCode(
        "warning",
        "the same reply is asked for several times",
        "drop `repeats`, ask in two `orders`, or raise the temperature",
    ),
    "J007": LintCode(
        "warning",
        "replies will be cut off",
        "raise `max_tokens`, or split the list with `calls`",
    ),
    "J008": LintCode(
        "warning",
        "instructions that ask for another reply",
        "leave the form of the reply out; every call states it",
    ),
    "J009": LintCode(
        "warning",
        "a reference that the judge does not see",
        "add `reference` to `sees` and what is expected to the items, or do not speak of it",
    ),
    "J010": LintCode(
        "error",
        "an example teaches a verdict that is refused",
        "true or false for a criterion, a number for a scale, an option for a choice",
    ),
    "J011": LintCode(
        "warning",
        "anchors that do not tell the numbers apart",
        "say for each number what an answer must show to get it",
    ),
    "J012": LintCode(
        "warning",
        "options that say nothing",
        "use names that a rater understands, or explain them in the question",
    ),
    "J013": LintCode(
        "warning",
        "the sign and the words of a criterion do not fit",
        "turn the sign of the points round, or say the opposite",
    ),
    "J014": LintCode(
        "note",
        "a penalty for what is missing",
        "say what happens, or give points for the opposite; raters misread double negation",
    ),
    "J015": LintCode(
        "warning", "two criteria that say the same", "drop one, or say how they differ"
    ),
    "J016": LintCode(
        "note", "a criterion that a check could decide", "give it a `check` in place of `says`"
    ),
    "J017": LintCode(
        "warning", "only penalties", "add what a good answer does, with points above 0"
    ),
    "J018": LintCode("note", "two things in one criterion", "make two criteria of it"),
    "J019": LintCode(
        "warning", "a criterion that leans on another", "say the whole in each criterion"
    ),
    "J020": LintCode(
        "warning", "a criterion that nothing decides", "say what a rater must find in the answer"
    ),
}
