"""A judged run as one plain value: text, JSON, HTML, Markdown and JUnit all draw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary.numbers import format_decimal, format_ratio, to_float
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.keep import StoredRun
from markscheme.vocabulary.messages import sentence
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.runs import build_stored_run_record
from markscheme.vocabulary import Level, Outcome, RowError
from markscheme.weigh.distribution import ScoreDistribution
from markscheme.weigh.gates.judge import mismatch_reason
from markscheme.weigh.gates.outcomes import BaselineReport, Evidence, GateReport
from markscheme.weigh.patterns import Pattern, build_pattern_record
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.records import build_exam_record, build_gate_report_record, build_rubric_record
from markscheme.weigh.totals.summaries import WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import Rubric
    from markscheme.weigh.totals.summaries import ScoreTotals

    Row = Mapping[str, Any]

PATTERNS_SHOWN = 3  # where patterns stand beside other things, so many are shown
_ANSWERS_KEPT = 5
VERDICT_WORDS = {
    Outcome.PASS: sentence("PASS"),
    Outcome.FAIL: sentence("FAIL"),
    Outcome.UNDECIDED: sentence("CANNOT TELL"),
}
OUTCOME_WORDS = {
    Outcome.PASS: sentence("pass"),
    Outcome.WARN: sentence("warn"),
    Outcome.FAIL: sentence("fail"),
    Outcome.UNDECIDED: sentence("undecided"),
    Outcome.NOT_APPLICABLE: sentence("not applicable"),
}
LEVEL_WORDS = {Level.HARD: sentence("hard"), Level.SOFT: sentence("soft")}
EVIDENCE_WORDS = {
    Evidence.PASS: sentence("pass"),
    Evidence.FAIL: sentence("fail"),
    Evidence.INCONCLUSIVE: sentence("inconclusive"),
}


class ItemStatus(StrEnum):
    """What became of an item; only the first is good."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """One item: its exact means over its attempts, and some of its answers.

    `answers` are rows as `score` gives them, there only where somebody asked for reasons: those
    that lost points, or the first of all. `more` counts those that were left out.
    """

    item: str
    status: ItemStatus
    score: Fraction | None
    axes: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)
    answers: tuple[Row, ...] = ()
    more: int = 0


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
    def title(self) -> str:
        """Say which run it is."""
        return format_run_title(self.past, self.stored)

    @property
    def verdict(self) -> str:
        """Say what follows from all gates."""
        return f"{translate_stored(VERDICT_WORDS[self.gates.verdict])} ({translate_stored(self.gates.because)})"

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


def format_run_title(past: PastRun, stored: StoredRun | None) -> str:
    """Say which run it is."""
    when = f", {stored.started:%Y-%m-%d %H:%M} UTC" if stored else ""
    what = {
        "run": past.run.name,
        "exam": past.exam.name,
        "rubric": f"{past.rubric.name} v{past.rubric.version}",
    }
    if past.run.subject:
        who = past.run.subject
        return translate("run {run} of {who} on {exam} under {rubric}", **what, who=who) + when
    return translate("run {run} on {exam} under {rubric}", **what) + when


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


def format_item_line(item: ItemReport, rubric: Rubric) -> str:
    """Say in one line what became of an item."""
    match item.status:
        case ItemStatus.MISSING:
            return translate("no answer")
        case ItemStatus.UNSCORED:
            return translate("an answer could not be scored")
        case ItemStatus.PASSED:
            return translate("score {score}", score=format_decimal(item.score))
        case ItemStatus.FAILED:
            return translate(
                "score {score}, below the pass mark {mark}",
                score=format_decimal(item.score),
                mark=rubric.pass_mark,
            )


def format_answer_lines(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield one answer as text: what was got and expected, then each cell with its reason."""
    score = "–" if row["score"] is None else f"{float(row['score']):.4g}"
    yield translate("attempt {n}: score {score}", n=row.get("attempt") or 1, score=score)
    yield f"  {translate('got')}: {row.get('got')}"
    expected = row.get("expected") or []
    if expected:
        entries = expected if isinstance(expected, list | tuple) else [expected]
        yield f"  {translate('expected')}: {', '.join(map(str, entries))}"
    for spec in rubric:
        yield f"  {spec.name} {_format_axis_value(row, spec.name)} × {spec.weight}: {format_cell_reason(row, spec.name)}"


def find_lost_axes(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield the axes on which an answer lost points, the heaviest first."""
    for spec in sorted(rubric, key=lambda spec: -spec.weight):
        value = row["breakdown"].get(spec.name)
        if value is None or value < 1:
            yield spec.name


def format_cell_reason(row: Row, axis: str) -> str:
    """Return why a cell has its value, where the row says it."""
    found = (row.get("reason") or {}).get(axis)
    return translate_stored(found) if found else translate("no reason is recorded")


def _format_axis_value(row: Row, axis: str) -> str:
    value = row["breakdown"].get(axis)
    return "–" if value is None else f"{float(value):.4g}"
