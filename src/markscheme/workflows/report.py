"""Judged runs as reports: build `RunReport`, which text, JSON, HTML, Markdown and JUnit draw.

A report holds as many of the answers as its output shows, and the patterns of the run if wanted.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.keep import StoredRun
from markscheme.vocabulary import (
    ItemReport,
    ItemStatus,
    NotApplicable,
    Row,
    RowError,
    format_ratio,
    restore_row_messages,
    to_float,
    to_record,
)
from markscheme.weigh.distribution import (
    DRIFT_WINDOW,
    Drift,
    ScoreDistribution,
    build_trend,
    describe_distribution,
    find_recent_drifts,
)
from markscheme.weigh.gates import BaselineReport, GateReport, mismatch_reason
from markscheme.weigh.patterns import (
    FrameObserver,
    Pattern,
    RowObservations,
    find_patterns,
    observe_rows,
)
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.result import build_error_record, build_exam_record, build_rubric_record
from markscheme.weigh.totals import WeightScale
from markscheme.workflows.baseline import load_history, load_subject_history
from markscheme.workflows.find_run import FoundRun, RunFinder, is_open_run
from markscheme.workflows.gate import judge_run
from markscheme.workflows.run_rows import (
    is_live_run,
    load_bad_rows,
    open_rows,
    read_rows_with_outputs,
    select_item_rows,
)
from markscheme.workflows.stored_runs import build_stored_run_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import Run, ScoreTotals
    from markscheme.workflows.gate import JudgedRun


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
            **to_record(self.gates),
            "patterns": [*map(to_record, self.patterns)],
            "errors": [*map(build_error_record, self.bad_rows)],
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
                bounds=totals.bounds,
                axes=totals.axis_means,
                answers=tuple(answers),
                more=answer_counts[item] - len(answers),
            )
        )
    return tuple(reports)


def _find_item_status(totals: ScoreTotals, answers: int, mark: Fraction) -> ItemStatus:
    if not answers:
        return ItemStatus.MISSING
    if isinstance(totals.value, NotApplicable):
        return ItemStatus.NOT_APPLICABLE
    if totals.mean is None:
        return ItemStatus.UNSCORED
    return ItemStatus.PASSED if totals.mean >= mark else ItemStatus.FAILED


def _select_answers(
    rows: Iterable[Row], *, every: bool
) -> tuple[dict[str, list[Row]], Counter[str]]:
    """Return the answers that are kept of each item, and how many there are in all."""
    kept: dict[str, list[Row]] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        if row.get("breakdown") is None:
            continue
        if not every and row["score"] is not None and row["score"] >= 1:
            continue
        counts[row["item"]] += 1
        if counts[row["item"]] <= _ANSWERS_KEPT:
            kept.setdefault(row["item"], []).append(row)
    return kept, counts


def build_report(runs: RunFinder, judged: JudgedRun, *, reasons: bool) -> RunReport:
    """Build the report of a run; its answers are read only for the `reasons` of lost points."""
    found = judged.found
    items = () if is_open_run(found) else build_item_reports(found.past)
    if reasons:
        fine = {ItemStatus.PASSED, ItemStatus.NOT_APPLICABLE}
        lost = {item.item for item in items if item.status not in fine}
        items = (
            build_item_reports(found.past, select_item_rows(runs, found, lost)) if lost else items
        )
    return _assemble_report(runs, judged, items)


def add_patterns(
    runs: RunFinder, judged: JudgedRun, report: RunReport, *, answers: bool
) -> RunReport:
    """Add the patterns of the run to its report.

    Without `answers` only its marks are looked at, because reading all answers can take long.
    """
    observed = None if answers else RowObservations()
    patterns = find_run_patterns(runs, judged.found, judged.gates, observed)
    return dataclasses.replace(report, patterns=patterns)


def build_full_report(runs: RunFinder, judged: JudgedRun) -> RunReport:
    """Build the report for the HTML page: answers with outputs, distribution, trend, patterns."""
    found = judged.found
    if is_open_run(found):
        return _assemble_report(runs, judged, ())
    past, observer = found.past, FrameObserver(found.past.rubric)
    rows = read_rows_with_outputs(runs, found, observer)
    items = build_item_reports(past, rows, every=True)
    observed = None if found.stored is None else observer.build_observations()
    return dataclasses.replace(
        _assemble_report(runs, judged, items),
        distribution=describe_distribution(
            past.rubric, past.exam, past.run, *_load_earlier_runs(runs, found)
        )
        if items
        else None,
        patterns=find_run_patterns(runs, found, judged.gates, observed),
    )


def _load_earlier_runs(runs: RunFinder, found: FoundRun) -> tuple[list[Run], list[Run]]:
    """Return the last runs of all subjects and of this subject, up to this run if it is stored."""
    past, stored = found.past, found.stored
    if stored is None and not runs.has_store:
        return [], []
    history = load_history(runs, past, until=stored)
    return history, load_subject_history(runs, past, past.run.subject, until=stored)


def _assemble_report(
    runs: RunFinder, judged: JudgedRun, items: tuple[ItemReport, ...]
) -> RunReport:
    found, baseline = judged.found, judged.baseline
    return RunReport(
        past=found.past,
        gates=judged.gates,
        items=items,
        bad_rows=load_bad_rows(runs, found),
        is_live=is_live_run(runs, found),
        stored=found.stored,
        baseline=baseline.stored if baseline else None,
    )


def build_result_report(
    result: Result, outputs: Mapping[str, str | None], baseline: FoundRun | None = None
) -> RunReport:
    """Build the report of a run of one subject that was just scored."""
    run = next(result.runs)
    past = PastRun(run=run, rubric=result.rubric, exam=result.exam)
    gates = result.judge(None if baseline is None else baseline.past.run)
    rows = (
        {**row, "output": outputs.get(row["item"])}
        for row in restore_row_messages(result.frame.iter_rows(named=True))
    )
    return RunReport(
        past=past,
        gates=gates,
        items=build_item_reports(past, rows, every=True),
        bad_rows=result.errors,
        baseline=None if baseline is None else baseline.stored,
        distribution=describe_distribution(result.rubric, result.exam, run),
        patterns=find_patterns(
            result.rubric,
            result.exam,
            run,
            observe_rows(result.rubric, [result.frame]),
            comparison=_find_comparison(gates),
        ),
    )


def _find_comparison(gates: GateReport) -> BaselineReport | None:
    """Return the baseline report that warns of a rise, or else the first one."""
    reports = (outcome.baseline for outcome in gates.outcomes if outcome.baseline)
    return min(reports, key=lambda report: not report.warning, default=None)


def find_run_patterns(
    runs: RunFinder,
    found: FoundRun,
    gates: GateReport | None = None,
    observed: RowObservations | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most important first; none if it cannot be judged.

    `gates` and `observed` are computed unless they are known already.
    """
    past = found.past
    if is_open_run(found) or mismatch_reason(past.rubric, past.exam, past.run):
        return ()
    gates = judge_run(runs, found).gates if gates is None else gates
    observed = (
        observe_rows(past.rubric, open_rows(runs, found).read_frames())
        if observed is None
        else observed
    )
    return find_patterns(
        past.rubric,
        past.exam,
        past.run,
        observed,
        history=_load_drifts(runs, found),
        comparison=_find_comparison(gates),
    )


def _load_drifts(runs: RunFinder, found: FoundRun) -> tuple[Sequence[Drift], int]:
    """Return the drifts of the same subject up to this run, and the number of runs."""
    past, stored = found.past, found.stored
    if stored is None or not past.run.marks.complete:
        return (), 0
    history = load_subject_history(runs, past, stored.subject, until=stored, last=DRIFT_WINDOW)
    trend = build_trend(past.rubric, past.run, history)
    return find_recent_drifts(trend), len(trend)
