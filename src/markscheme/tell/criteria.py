"""The criteria of an item and the marks of an answer, as every page of a run shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes import CriteriaAxis, MarkedAxis, describe_criterion
from markscheme.mark.batch import restore_marks
from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import (
    Criteria,
    CriterionGroup,
    Mark,
    MarkSource,
    NotApplicable,
    format_short,
    sentence,
)

if TYPE_CHECKING:
    from markscheme.mark.axes import CriterionFinding
    from markscheme.vocabulary import Axis, Item, Row

_SOURCES = {
    MarkSource.PERSON: sentence("person"),
    MarkSource.JUDGE: sentence("judge"),
    MarkSource.CHECK: sentence("check"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionLine:
    """One criterion of an answer: its id with its group, points, words, verdict, and who said so.

    `outcome` is `good`, `bad` or `open`: a penalty that is met is bad. A line of a scale or a
    choice has only marks.
    """

    name: str = ""
    points: str = ""
    says: str = ""
    verdict: str = ""
    outcome: str = "open"
    marks: tuple[str, ...] = ()


def list_criterion_lines(axis: Axis, item: Item, row: Row, name: str) -> list[CriterionLine]:
    """Return a line for each criterion of an axis, or one with the marks of a scale or a choice.

    `name` is the name of the axis. Axes that are not made of marks have no lines.
    """
    if not isinstance(axis, MarkedAxis):
        return []
    marks = restore_marks((row.get("marks") or {}).get(name))
    if isinstance(axis, CriteriaAxis):
        findings = axis.find_by_marks(item, marks)
        return list(_build_criteria_lines(axis.get_criteria(item), findings))
    return [CriterionLine(marks=tuple(map(format_mark, marks)))] if marks else []


def _build_criteria_lines(
    criteria: Criteria, findings: Mapping[str, CriterionFinding], path: tuple[str, ...] = ()
) -> Iterator[CriterionLine]:
    for entry in criteria:
        if isinstance(entry, CriterionGroup):
            group = f"{entry.group} ({_format_points(entry.points)})"
            yield from _build_criteria_lines(entry.criteria, findings, (*path, group))
            continue
        finding = findings[entry.id]
        verdict, outcome = _describe_finding(finding)
        must = (translate("must"),) if entry.must else ()
        yield CriterionLine(
            name=" / ".join((*path, entry.id)),
            points=", ".join((_format_points(entry.points), *must)),
            says=translate_stored(describe_criterion(entry)),
            verdict=verdict,
            outcome=outcome,
            marks=tuple(map(format_mark, finding.marks)),
        )


def _format_points(points: Fraction) -> str:
    sign = "+" if points > 0 else "−"
    return f"{sign}{format_short(abs(points))}"


def _describe_finding(finding: CriterionFinding) -> tuple[str, str]:
    """Return the verdict on a criterion in words, and whether it is good for the score."""
    value = finding.value
    if value is None:
        return translate("not read") if finding.marks else translate("not marked"), "open"
    if isinstance(value, NotApplicable):
        return translate("does not apply"), "open"
    wanted = 1 if finding.criterion.points > 0 else 0
    outcome = "good" if value == wanted else "bad"
    if value == 1:
        return translate("met"), outcome
    if not value:
        return translate("not met"), outcome
    return translate("met by {share}", share=str(value)), outcome


def format_mark(mark: Mark) -> str:
    """Return who gave a mark, as what, the mark, and why."""
    source = translate(_SOURCES[mark.source])
    score: Any = mark.score
    given = score if isinstance(score, str) else format_short(score)
    words = f"{mark.by} ({source}): {given}"
    return f"{words} – {translate_stored(mark.why)}" if mark.why else words
