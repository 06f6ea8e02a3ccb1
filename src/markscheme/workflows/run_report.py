"""The report of a judged run as one value, which text, JSON, HTML, Markdown and JUnit draw."""

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


_ANSWERS_KEPT = 5  # of each item: what a reader looks at


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A judged run: which run it is, what its gates say, and the result of each item.

    `items` is empty if the run cannot be judged under its rubric and exam. `bad_rows` are the first
    rows that were no answers; in a live run, questions without an answer. `distribution` and
    `patterns` are filled only if they were asked for.
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
        """Yield the comparisons of the baseline gates."""
        return (found.baseline for found in self.gates.outcomes if found.baseline)

    @property
    def means(self) -> list[tuple[Mapping[str, Fraction | None], int]]:
        """The distinct axis means of the scored items, with the number of items that have them.

        Items with equal results share one mapping, so there are few.
        """
        scored = [item.axes for item in self.items if item.score is not None]
        each = {id(axes): axes for axes in scored}
        return [(each[which], count) for which, count in Counter(map(id, scored)).items()]

    def find_item(self, name: str) -> ItemReport | None:
        """Return the report of one item, if the run has it."""
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
    """Build the report of each item; `rows` are its answers, which hold the reasons.

    The first answers that lost points are kept; with `every`, the first answers of any kind.
    """
    if mismatch_reason(past.rubric, past.exam, past.run):
        return ()
    scale, mark = WeightScale(past.rubric), Fraction(past.rubric.pass_mark)
    kept, answer_counts = _select_answers(rows, every=every)
    reports = []
    for item, counts in past.run.marks.items.items():
        totals, answers = scale.sum_item(counts), kept.get(item, [])
        reports.append(
            ItemReport(
                item=item,
                status=_find_item_status(totals, sum(counts.values()), mark),
                score=totals.mean,
                axes=totals.axis_means,
                answers=tuple(answers),
                more=answer_counts[item] - len(answers),
            )
        )
    return tuple(reports)


def _find_item_status(totals: ScoreTotals, answers: int, mark: Fraction) -> ItemStatus:
    if not answers:
        return ItemStatus.MISSING
    if totals.mean is None or totals.n < answers:
        return ItemStatus.UNSCORED
    return ItemStatus.PASSED if totals.mean >= mark else ItemStatus.FAILED


def _select_answers(
    rows: Iterable[Row], *, every: bool
) -> tuple[dict[str, list[Row]], Counter[str]]:
    """Return the answers that are kept of each item, and how many there are in all."""
    kept: dict[str, list[Row]] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        if row.get("breakdown") is None or not (every or _is_below_full_marks(row)):
            continue
        counts[row["item"]] += 1
        if counts[row["item"]] <= _ANSWERS_KEPT:
            kept.setdefault(row["item"], []).append(row)
    return kept, counts


def _is_below_full_marks(row: Row) -> bool:
    return row["score"] is None or bool(row["score"] < 1)
