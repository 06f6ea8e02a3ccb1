"""The finding codes of lint. They are public: a code keeps its meaning and is never reused.

To add one: a line here, a check that yields it, and a section in `docs/lint.md` with a bad and a
good example. A test lints both examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
        "give each axis a number from 0 to 1; together exactly 1, in decimals",
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
}
