"""A judged run as one plain value: text, JSON, HTML, Markdown and JUnit all draw it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.keep import StoredRun
from markscheme.vocabulary import (
    ItemReport,
    ItemStatus,
    Row,
    RowError,
    format_ratio,
    to_float,
)
from markscheme.weigh.distribution import ScoreDistribution
from markscheme.weigh.gates import BaselineReport, GateReport, mismatch_reason
from markscheme.weigh.patterns import Pattern, build_pattern_record
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.records import (
    build_exam_record,
    build_gate_report_record,
    build_rubric_record,
)
from markscheme.weigh.totals import WeightScale
from markscheme.workflows.run_records import build_stored_run_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.weigh.totals import ScoreTotals


_ANSWERS_KEPT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A judged run: which it is, what its gates say, and how each of its items did.

    `items` is empty where the run cannot be judged under its rubric and exam at all; `bad_rows` are
    the first of those that were no answers, of a live run questions without one. The `distribution`
    and the `patterns` are there where the whole report was asked for.
    """

    past: PastRun
    gates: GateReport
    items: tuple[ItemReport, ...] = ()
    bad_rows: tuple[RowError, ...] = ()
    is_live: bool = False
    stored: StoredRun | None = None
    baseline: StoredRun | None = None
    distribution: ScoreDistribution | None = None
    patterns: tuple[Pattern, ...] = ()

    @property
    def comparisons(self) -> Iterator[BaselineReport]:
        """Yield what the baseline gates compared."""
        return (found.baseline for found in self.gates.outcomes if found.baseline)

    @property
    def means(self) -> list[tuple[Mapping[str, Fraction | None], int]]:
        """The different means of the axes on items that have a score, and how many items have each.

        Items whose answers got the same share them, so there are few.
        """
        scored = [item.axes for item in self.items if item.score is not None]
        each = {id(axes): axes for axes in scored}
        return [(each[which], count) for which, count in Counter(map(id, scored)).items()]

    def find_item(self, name: str) -> ItemReport | None:
        """Return what became of an item."""
        return next((item for item in self.items if item.item == name), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of `markscheme gate`."""
        return {
            "rubric": build_rubric_record(self.past.rubric),
            "exam": build_exam_record(self.past.exam),
            "subject": self.past.run.subject,
            "stored": None if self.stored is None else build_stored_run_record(self.stored),
            "baseline": None if self.baseline is None else build_stored_run_record(self.baseline),
            **build_gate_report_record(self.gates),
            "patterns": [*map(build_pattern_record, self.patterns)],
            "items": [
                {
                    "item": item.item,
                    "status": item.status.value,
                    "score": to_float(item.score),
                    "exact": format_ratio(item.score),
                }
                for item in self.items
            ],
        }


def build_item_reports(
    past: PastRun, rows: Iterable[Row] = (), *, every: bool = False
) -> tuple[ItemReport, ...]:
    """Return what became of each item; `rows` are answers from which the reasons are taken.

    Of these, the answers that lost points are kept, or the first of `every` kind.
    """
    if mismatch_reason(past.rubric, past.exam, past.run):
        return ()
    scale, mark = WeightScale(past.rubric), Fraction(past.rubric.pass_mark)
    kept, told = _select_answers(rows, every=every)
    found = []
    for item, counts in past.run.marks.items.items():
        totals, answers = scale.sum_item(counts), kept.get(item, [])
        found.append(
            ItemReport(
                item=item,
                status=_find_item_status(totals, sum(counts.values()), mark),
                score=totals.mean,
                axes=totals.axis_means,
                answers=tuple(answers),
                more=told[item] - len(answers),
            )
        )
    return tuple(found)


def _find_item_status(totals: ScoreTotals, answers: int, mark: Fraction) -> ItemStatus:
    if not answers:
        return ItemStatus.MISSING
    if totals.mean is None or totals.n < answers:
        return ItemStatus.UNSCORED
    return ItemStatus.PASSED if totals.mean >= mark else ItemStatus.FAILED


def _select_answers(
    rows: Iterable[Row], *, every: bool
) -> tuple[dict[str, list[Row]], Counter[str]]:
    """Return the first few answers to each item, or those that lost points, and how many."""
    kept: dict[str, list[Row]] = {}
    told: Counter[str] = Counter()
    for row in rows:
        if row.get("breakdown") is None or not (every or _is_below_full_marks(row)):
            continue
        told[row["item"]] += 1
        if told[row["item"]] <= _ANSWERS_KEPT:
            kept.setdefault(row["item"], []).append(row)
    return kept, told


def _is_below_full_marks(row: Row) -> bool:
    return row["score"] is None or bool(row["score"] < 1)
