"""The axis of criteria: each item has its own list of what an answer gets or loses points for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from msgspec import Struct, structs

from markscheme.mark.axes.checks import CHECKS
from markscheme.mark.axes.criteria_value import (
    NO_RANGE,
    UNKNOWN_RANGE,
    ScoreRange,
    compute_criteria_value,
    list_unmet_musts,
    sum_points,
)
from markscheme.mark.axes.marked import (
    NOT_APPLICABLE_MARK,
    MarkedAxis,
    average_marks,
    explain_unread,
    find_mixed_sources,
    format_marks,
    format_score,
)
from markscheme.mark.axis_cells import mark_cell
from markscheme.mark.normalise import DEFAULT_STEPS, STEPS
from markscheme.mark.response import read_response
from markscheme.read.documents import CheckKinds, find_criteria_problems, parse_criteria
from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    AxisValue,
    Cell,
    Criteria,
    Criterion,
    CriterionCheck,
    FrozenDict,
    Item,
    Mark,
    MarkSource,
    NotApplicable,
    Response,
    ScoreBounds,
    Status,
    collect_fields,
    format_short,
    iterate_criteria,
    join_messages,
    sentence,
)

_MAX_SHOWN_CRITERIA = 8


class BelowZero(StrEnum):
    """What becomes of a value below 0: it is cut to 0, or kept."""

    CUT = "cut"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaAxis(MarkedAxis):
    """Each item has criteria with points, above or below 0; the value is the share that is earned.

    People and judges mark what a criterion says; code decides its check.
    """

    kind: ClassVar[str] = "criteria"
    expects: str = "criteria"
    below_zero: BelowZero = BelowZero.CUT
    normalise: tuple[str, ...] = DEFAULT_STEPS
    tool_families: Mapping[str, Any] = FrozenDict()

    @property
    def keeps_negatives(self) -> bool:
        """Whether the axis gives values below 0."""
        return self.below_zero is BelowZero.KEPT

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse a missing or empty list of criteria, and every mistake in it."""
        return find_criteria_problems(item, self.expects, self._checks)

    def get_criteria(self, item: Item) -> Criteria:
        """Return the criteria of an item."""
        return _parse_criteria(self, item)

    def get_bounds(self, item: Item) -> ScoreBounds:
        """Return the lowest and the highest value that an answer to the item can get."""
        return _find_item_bounds(self, item)

    @property
    def _checks(self) -> CheckKinds:
        inherited = FrozenDict(normalise=self.normalise, tool_families=self.tool_families or None)
        return CheckKinds(kinds=CHECKS, steps=tuple(STEPS), inherited=inherited)

    def combine(self, response: Response, item: Item, marks: Sequence[Mark]) -> Cell:
        """Return the share of the points, or its bounds if any criterion was not decided."""
        criteria = self.get_criteria(item)
        refusal = find_mixed_sources(marks) or _find_foreign_mark(criteria, marks)
        if refusal:
            return self._build_cell(Status.FAILED, self.get_bounds(item), refusal, marks)
        findings = _decide_criteria(criteria, response, marks)
        value = self._compute_value(criteria, findings)
        reason = self._explain(criteria, findings, value)
        given = tuple(mark for finding in findings.values() for mark in finding.marks)
        if not all(finding.is_decided for finding in findings.values()):
            return self._build_cell(Status.ABSTAINED, value.bounds, reason, given)
        if value.bounds is None:
            return Cell(status=Status.NOT_APPLICABLE, value=None, reason=reason, marks=given)
        return Cell(status=Status.SCORED, value=value.bounds.low, reason=reason, marks=given)

    def find_by_marks(self, item: Item, marks: Sequence[Mark]) -> dict[str, CriterionFinding]:
        """Return what marks say of each criterion, by its id; those of checks count as marks."""
        marks_by_criterion = _group_marks(marks)
        return {
            one.id: _decide_by_marks(one, marks_by_criterion[one.id])
            for one in iterate_criteria(self.get_criteria(item))
        }

    def compute_axis_value(self, item: Item, marks: Sequence[Mark]) -> AxisValue:
        """Return the value that marks give, those of checks too, or what is known of it."""
        findings = self.find_by_marks(item, marks)
        value = self._compute_value(self.get_criteria(item), findings)
        if not all(finding.is_decided for finding in findings.values()):
            return UNKNOWN_SCORE if value.bounds is None else value.bounds
        return NOT_APPLICABLE if value.bounds is None else value.bounds.low

    def _compute_value(
        self, criteria: Criteria, findings: Mapping[str, CriterionFinding]
    ) -> ScoreRange:
        ranges = {name: finding.known for name, finding in findings.items()}
        return compute_criteria_value(criteria, ranges, keeps_negatives=self.keeps_negatives)

    @staticmethod
    def _build_cell(
        status: Status, bounds: ScoreBounds | None, reason: str, marks: Sequence[Mark]
    ) -> Cell:
        known = UNKNOWN_SCORE if bounds is None else bounds
        return Cell(status=status, value=None, reason=reason, bounds=known, marks=tuple(marks))

    def _explain(
        self, criteria: Criteria, findings: Mapping[str, CriterionFinding], value: ScoreRange
    ) -> str:
        """Return how many points the answer got, and each criterion that cost it any."""
        ranges = {name: finding.known for name, finding in findings.items()}
        keeps = self.keeps_negatives
        earned, possible, only_penalties = sum_points(criteria, ranges, keeps_negatives=keeps)
        numbers = {"earned": format_short(earned), "possible": format_short(possible)}
        if value.bounds is None:
            points = sentence("no criterion applies")
        elif only_penalties:
            points = sentence("{earned} of {possible} points lost", **numbers)
        else:
            points = sentence("{earned} of {possible} points", **numbers)
        if earned < 0 and not keeps:
            points = sentence("{points}, cut to 0", points=points)
        unmet = list_unmet_musts(criteria, ranges)
        if unmet:
            points = sentence(
                "0, because {criteria} must be met ({points})",
                criteria=", ".join(unmet),
                points=points,
            )
        shown = [finding.explain() for finding in findings.values() if finding.is_worth_saying]
        if not shown:
            return points
        listed = join_messages(", ", shown[:_MAX_SHOWN_CRITERIA])
        if len(shown) > _MAX_SHOWN_CRITERIA:
            n = len(shown) - _MAX_SHOWN_CRITERIA
            listed = sentence("{criteria} and {n} more", criteria=listed, n=n)
        return sentence("{points}: {criteria}", points=points, criteria=listed)


def format_criteria(criteria: Criteria) -> list[str]:
    """Return each criterion as a text: its id, its points, and what it says or checks."""
    return [
        f"{one.id} ({format_short(one.points)}): {describe_criterion(one)}"
        for one in iterate_criteria(criteria)
    ]


def describe_criterion(criterion: Criterion) -> str:
    """Return what a criterion says; without words, which check decides it."""
    if criterion.says or criterion.check is None:
        return criterion.says
    return sentence("check `{kind}`", kind=criterion.check.axis.kind)


class CriterionFinding(Struct, frozen=True, kw_only=True):
    """What is known of one criterion, and the marks that say so."""

    criterion: Criterion
    value: Fraction | NotApplicable | None
    known: ScoreRange
    marks: tuple[Mark, ...]

    @property
    def is_decided(self) -> bool:
        """Whether the criterion has a score, or does not apply."""
        return self.value is not None

    @property
    def is_worth_saying(self) -> bool:
        """Whether the criterion is not simply met, or a penalty that is simply not met."""
        usual = Fraction(1) if self.criterion.points > 0 else Fraction(0)
        return self.value != usual

    def explain(self) -> str:
        """Return what was found, by whom and why."""
        name, marks, value = self.criterion.id, self.marks, self.value
        if value is None:
            return sentence("{criterion} {reason}", criterion=name, reason=explain_unread(marks))
        words = {"criterion": name, "marks": format_marks(marks)}
        if isinstance(value, NotApplicable):
            return sentence("{criterion} does not apply ({marks})", **words)
        if value == 1:
            return sentence("{criterion} met ({marks})", **words)
        if not value:
            return sentence("{criterion} not met ({marks})", **words)
        return sentence("{criterion} met by {share} ({marks})", share=str(value), **words)


def _decide_criteria(
    criteria: Criteria, response: Response, marks: Sequence[Mark]
) -> dict[str, CriterionFinding]:
    """Return the finding of each criterion, by its id: from its check, or from its marks."""
    marks_by_criterion = _group_marks(marks)
    listed = list(iterate_criteria(criteria))
    read = _read_fields(response, [one.check for one in listed if one.check is not None])
    return {
        one.id: _decide_by_marks(one, marks_by_criterion[one.id])
        if one.check is None
        else _decide_by_check(one, one.check, read)
        for one in listed
    }


def _group_marks(marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    marks_by_criterion: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        marks_by_criterion[mark.criterion].append(mark)
    return marks_by_criterion


def _decide_by_marks(criterion: Criterion, marks: Sequence[Mark]) -> CriterionFinding:
    scores = ((m, m.score if isinstance(m.score, Fraction) else None) for m in marks)
    value = average_marks(scores)
    known = UNKNOWN_RANGE
    if isinstance(value, Fraction):
        known = ScoreRange.exactly(value)
    elif isinstance(value, NotApplicable):
        known = NO_RANGE
    return CriterionFinding(criterion=criterion, value=value, known=known, marks=tuple(marks))


def _decide_by_check(
    criterion: Criterion, check: CriterionCheck, response: Response
) -> CriterionFinding:
    cell = mark_cell(check.axis, response, check.item)
    value: Fraction | NotApplicable | None = cell.value
    known = ScoreRange(bounds=cell.bounds)
    if cell.value is not None:
        known = ScoreRange.exactly(cell.value)
    elif cell.status is Status.NOT_APPLICABLE:
        value, known = NOT_APPLICABLE, NO_RANGE
    mark = Mark(
        score=NOT_APPLICABLE_MARK if isinstance(value, NotApplicable) else cell.value,
        source=MarkSource.CHECK,
        by=check.axis.kind,
        criterion=criterion.id,
        why=cell.reason,
    )
    return CriterionFinding(criterion=criterion, value=value, known=known, marks=(mark,))


def _read_fields(response: Response, checks: Sequence[CriterionCheck]) -> Response:
    """Return the response with the fields that the checks read, which the rubric does not name."""
    if response.document is None:
        return response
    fields = collect_fields(check.axis for check in checks)
    if not fields.accepted:
        return response
    again = read_response(response.text, fields)
    return structs.replace(response, lacking=again.lacking, numbers=again.numbers)


def _find_foreign_mark(criteria: Criteria, marks: Sequence[Mark]) -> str:
    """Return why a mark cannot be one of these criteria, or an empty text."""
    marked = {one.id for one in iterate_criteria(criteria) if one.check is None}
    for mark in marks:
        is_score = mark.score in {None, "n/a"} or (
            isinstance(mark.score, Fraction) and 0 <= mark.score <= 1
        )
        if mark.criterion not in marked or not is_score:
            return sentence(
                "{rater} gave `{score}` to `{criterion}`, which no criterion of the item allows",
                rater=mark.by,
                score=format_score(mark.score),
                criterion=mark.criterion,
            )
    return ""


@lru_cache(maxsize=16_384)
def _parse_criteria(axis: CriteriaAxis, item: Item) -> Criteria:
    return parse_criteria(item, axis.expects, axis._checks)  # noqa: SLF001 - part of the axis


@lru_cache(maxsize=16_384)
def _find_item_bounds(axis: CriteriaAxis, item: Item) -> ScoreBounds:
    criteria = axis.get_criteria(item)
    ranges = {
        one.id: UNKNOWN_RANGE if one.check is None else ScoreRange(bounds=UNKNOWN_SCORE)
        for one in iterate_criteria(criteria)
    }
    value = compute_criteria_value(criteria, ranges, keeps_negatives=axis.keeps_negatives)
    return UNKNOWN_SCORE if value.bounds is None else value.bounds
