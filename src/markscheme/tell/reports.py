"""A judged run as one plain value: text, JSON, HTML, Markdown and JUnit all draw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, ratio, show
from markscheme.frozen import Frozen
from markscheme.keep import Run
from markscheme.sentences import sentence
from markscheme.tell.language import say, told
from markscheme.tell.stored import run_record
from markscheme.values import dataclass
from markscheme.vocabulary import Level, Outcome, RowError
from markscheme.weigh.distribution import Distribution
from markscheme.weigh.gates import stranger
from markscheme.weigh.outcomes import BaselineReport, Evidence, GateReport
from markscheme.weigh.patterns import Pattern, pattern_record
from markscheme.weigh.recalibration import Past
from markscheme.weigh.records import exam_record, report_record, rubric_record
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import Rubric
    from markscheme.weigh.summaries import Totals

    Row = Mapping[str, Any]

FIRST = 3  # where patterns stand beside other things, so many are shown
_ANSWERS_KEPT = 5
SAID = {
    Outcome.PASS: sentence("PASS"),
    Outcome.FAIL: sentence("FAIL"),
    Outcome.UNDECIDED: sentence("CANNOT TELL"),
}
OUTCOMES = {
    Outcome.PASS: sentence("pass"),
    Outcome.WARN: sentence("warn"),
    Outcome.FAIL: sentence("fail"),
    Outcome.UNDECIDED: sentence("undecided"),
    Outcome.NOT_APPLICABLE: sentence("not applicable"),
}
LEVELS = {Level.HARD: sentence("hard"), Level.SOFT: sentence("soft")}
EVIDENCE = {
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
    axes: Mapping[str, Fraction | None] = field(default_factory=Frozen)
    answers: tuple[Row, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A judged run: which it is, what its gates say, and how each of its items did.

    `items` is empty where the run cannot be judged under its rubric and exam at all; `bad_rows` are
    the first of those that were no answers, of a live run questions without one. The `distribution`
    and the `patterns` are there where the whole report was asked for.
    """

    past: Past
    gates: GateReport
    items: tuple[ItemReport, ...] = ()
    bad_rows: tuple[RowError, ...] = ()
    is_live: bool = False
    stored: Run | None = None
    baseline: Run | None = None
    distribution: Distribution | None = None
    patterns: tuple[Pattern, ...] = ()

    @property
    def title(self) -> str:
        """Say which run it is."""
        return title_of(self.past, self.stored)

    @property
    def verdict(self) -> str:
        """Say what follows from all gates."""
        return f"{told(SAID[self.gates.verdict])} ({told(self.gates.because)})"

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

    def item(self, name: str) -> ItemReport | None:
        """Return what became of an item."""
        return next((item for item in self.items if item.item == name), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of `markscheme gate`."""
        return {
            "rubric": rubric_record(self.past.rubric),
            "exam": exam_record(self.past.exam),
            "subject": self.past.run.subject,
            "stored": None if self.stored is None else run_record(self.stored),
            "baseline": None if self.baseline is None else run_record(self.baseline),
            **report_record(self.gates),
            "patterns": [*map(pattern_record, self.patterns)],
            "items": [
                {
                    "item": item.item,
                    "status": item.status.value,
                    "score": number(item.score),
                    "exact": ratio(item.score),
                }
                for item in self.items
            ],
        }


def title_of(past: Past, stored: Run | None) -> str:
    """Say which run it is."""
    when = f", {stored.started:%Y-%m-%d %H:%M} UTC" if stored else ""
    what = {
        "run": past.run.name,
        "exam": past.exam.name,
        "rubric": f"{past.rubric.name} v{past.rubric.version}",
    }
    if past.run.subject:
        who = past.run.subject
        return say("run {run} of {who} on {exam} under {rubric}", **what, who=who) + when
    return say("run {run} on {exam} under {rubric}", **what) + when


def item_reports(
    past: Past, rows: Iterable[Row] = (), *, every: bool = False
) -> tuple[ItemReport, ...]:
    """Return what became of each item; `rows` are answers from which the reasons are taken.

    Of these, the answers that lost points are kept, or the first of `every` kind.
    """
    if stranger(past.rubric, past.exam, past.run):
        return ()
    scale, mark = Scale(past.rubric), Fraction(past.rubric.pass_mark)
    kept, told = _kept(rows, every=every)
    found = []
    for item, counts in past.run.marks.items.items():
        totals, answers = scale.item(counts), kept.get(item, [])
        found.append(
            ItemReport(
                item=item,
                status=_status(totals, sum(counts.values()), mark),
                score=totals.mean,
                axes=totals.axis_means,
                answers=tuple(answers),
                more=told[item] - len(answers),
            )
        )
    return tuple(found)


def _status(totals: Totals, answers: int, mark: Fraction) -> ItemStatus:
    if not answers:
        return ItemStatus.MISSING
    if totals.mean is None or totals.n < answers:
        return ItemStatus.UNSCORED
    return ItemStatus.PASSED if totals.mean >= mark else ItemStatus.FAILED


def _kept(rows: Iterable[Row], *, every: bool) -> tuple[dict[str, list[Row]], Counter[str]]:
    """Return the first few answers to each item, or those that lost points, and how many."""
    kept: dict[str, list[Row]] = {}
    told: Counter[str] = Counter()
    for row in rows:
        if row.get("breakdown") is None or not (every or _lossy(row)):
            continue
        told[row["item"]] += 1
        if told[row["item"]] <= _ANSWERS_KEPT:
            kept.setdefault(row["item"], []).append(row)
    return kept, told


def _lossy(row: Row) -> bool:
    return row["score"] is None or bool(row["score"] < 1)


def item_line(item: ItemReport, rubric: Rubric) -> str:
    """Say in one line what became of an item."""
    match item.status:
        case ItemStatus.MISSING:
            return say("no answer")
        case ItemStatus.UNSCORED:
            return say("an answer could not be scored")
        case ItemStatus.PASSED:
            return say("score {score}", score=show(item.score))
        case ItemStatus.FAILED:
            return say(
                "score {score}, below the pass mark {mark}",
                score=show(item.score),
                mark=rubric.pass_mark,
            )


def answer_lines(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield one answer as text: what was got and expected, then each cell with its reason."""
    score = "–" if row["score"] is None else f"{float(row['score']):.4g}"
    yield say("attempt {n}: score {score}", n=row.get("attempt") or 1, score=score)
    yield f"  {say('got')}: {row.get('got')}"
    expected = row.get("expected") or []
    if expected:
        entries = expected if isinstance(expected, list | tuple) else [expected]
        yield f"  {say('expected')}: {', '.join(map(str, entries))}"
    for spec in rubric:
        yield f"  {spec.name} {_value(row, spec.name)} × {spec.weight}: {reason(row, spec.name)}"


def lost_axes(row: Row, rubric: Rubric) -> Iterator[str]:
    """Yield the axes on which an answer lost points, the heaviest first."""
    for spec in sorted(rubric, key=lambda spec: -spec.weight):
        value = row["breakdown"].get(spec.name)
        if value is None or value < 1:
            yield spec.name


def reason(row: Row, axis: str) -> str:
    """Return why a cell has its value, where the row says it."""
    found = (row.get("reason") or {}).get(axis)
    return told(found) if found else say("no reason is recorded")


def _value(row: Row, axis: str) -> str:
    value = row["breakdown"].get(axis)
    return "–" if value is None else f"{float(value):.4g}"
