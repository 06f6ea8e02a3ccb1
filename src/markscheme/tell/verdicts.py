"""Terminal pages about judged runs: gates, patterns, baselines and recalibrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.tell.console import create_console
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.tell.page import (
    PATTERNS_SHOWN,
    BaselineView,
    ChangeView,
    ReportPage,
    build_patterns,
    build_report_page,
    build_verdict,
)
from markscheme.tell.text import RunPage
from markscheme.tell.words import OUTCOME_WORDS, format_mean, format_subject
from markscheme.vocabulary import Outcome, format_decimal, format_fixed, format_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from markscheme.keep import Baseline
    from markscheme.weigh.distribution import Drift, MeanEstimate, ScoreDistribution, TrendPoint
    from markscheme.weigh.gates import GateReport
    from markscheme.weigh.patterns import Pattern
    from markscheme.weigh.recalibrate import Recalibration
    from markscheme.weigh.verify import Finding
    from markscheme.workflows.report import RunReport

_CHANGES_SHOWN = 10
_PATTERN_ITEMS_SHOWN = 10
_VERDICT_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.FAIL: "bold red",
    Outcome.UNDECIDED: "bold magenta",
}


class VerdictPage:
    """Print judged runs, baselines and recalibrations."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or create_console()

    def print_report(self, report: RunReport) -> None:
        """Print the verdict on a run, its gates, what to look at first, then the evidence."""
        page = build_report_page(report)
        self.print_line(page.title, style="bold")
        self.print_verdict(report.gates)
        RunPage(report.past.rubric, self.out).print_gates(report.gates.outcomes)
        PatternPage(self.out).print_first(report.patterns)
        for view in page.baselines:
            since = translate("Since the baseline {baseline}", baseline=view.baseline)
            self.print_line(f"\n{since}", style="bold")
            for line in _format_baseline_lines(view):
                self.print_line(f"  {line}")
        self._print_unjudged(page, report.past.run.marks.missing)
        self._print_fix_first(report.gates)

    def print_verdict(self, gates: GateReport) -> None:
        """Print what follows from all gates in one line."""
        verdict = build_verdict(gates)
        line = Text(f"{translate('verdict')}: ").append(
            verdict.word, _VERDICT_STYLES[verdict.outcome]
        )
        self.out.print(line.append(f" ({verdict.because})"), soft_wrap=True)

    def print_line(self, text: str, *, style: str = "") -> None:
        """Print one line without wrapping it."""
        self.out.print(Text(text, style=style), soft_wrap=True)

    def print_baseline(self, baseline: Baseline, found: ScoreDistribution | None) -> None:
        """Print a baseline: who set it, and the distribution of its scores."""
        by = f" {translate('by {name}', name=baseline.set_by)}" if baseline.set_by else ""
        note = f": {baseline.note}" if baseline.note else ""
        what = translate(
            "baseline of {exam} under {rubric}: run {run}",
            exam=baseline.exam,
            rubric=baseline.rubric,
            run=baseline.run,
        )
        when = translate("set {when} UTC", when=f"{baseline.set_at:%Y-%m-%d %H:%M}")
        self.print_line(f"{what}, {when}{by}{note}", style="bold")
        for line in () if found is None else _format_distribution_lines(found):
            self.print_line(line)

    def _print_unjudged(self, page: ReportPage, missing: Sequence[str]) -> None:
        """Print what makes the run incomplete: rows that were no answers, and missing items."""
        if page.bad_rows is not None:
            self.print_line(f"\n{page.bad_rows.title}", style="bold")
            for row in page.bad_rows.rows[:_CHANGES_SHOWN]:
                excerpt = f"  {row.excerpt}" if row.excerpt else ""
                self.print_line(f"  {replace_control_characters(f'{row.line}{excerpt}')}")
            more = page.bad_rows.total - len(page.bad_rows.rows[:_CHANGES_SHOWN])
            if more > 0:
                self.print_line(f"  {translate('… and {n:,} more', n=more)}")
        if missing:
            more = len(missing) - _CHANGES_SHOWN
            tail = f" {translate('and {n:,} more', n=more)}" if more > 0 else ""
            head = translate("missing ({n:,})", n=len(missing))
            self.print_line(f"\n{head}: {', '.join(missing[:_CHANGES_SHOWN])}{tail}")

    def _print_fix_first(self, report: GateReport) -> None:
        for found in report.outcomes:
            if found.outcome is Outcome.PASS or found.baseline or not found.fix_first:
                continue
            head = translate("Fix first for {gate}", gate=found.gate.name)
            self.print_line(f"\n{head}", style="bold")
            for loss in found.fix_first[:_CHANGES_SHOWN]:
                axes = ", ".join(
                    f"{axis} {format_decimal(by)}" for axis, by in loss.axes.items() if by
                )
                self.print_line(f"  {loss.item}  {format_decimal(loss.lost)}  {axes}".rstrip())

    def print_recalibration(self, found: Recalibration, applied: Mapping[str, str]) -> None:
        """Print what moves under new weights."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for name in (translate("run"), translate("exam")):
            table.add_column(name, no_wrap=True)
        for name in (translate("old"), translate("new"), translate("rank"), ""):
            table.add_column(name, justify="right" if name else "left", no_wrap=bool(name))
        for run in found.runs:
            ranks = f"{run.rank_before or '–'} → {run.rank_after or '–'}"
            flips = "; ".join(
                f"{flip.gate}: {_translate_outcome(flip.before)} → {_translate_outcome(flip.after)}"
                for flip in run.flips
            )
            cells = (
                run.run,
                run.exam,
                format_mean(run.before, run.bounds_before),
                format_mean(run.after, run.bounds_after),
                ranks,
                flips,
            )
            table.add_row(*map(Text, cells))
        self.out.print(table)
        for line in _format_recalibration_lines(found, applied):
            self.print_line(line)


def _format_baseline_lines(view: BaselineView) -> Iterator[str]:
    """Yield the comparison with a baseline, line by line."""
    score = translate("score {before} → {after}", before=view.score.before, after=view.score.after)
    yield f"{score} ({view.score.change})"
    for axis in view.axes:
        if axis.has_moved:
            yield f"  {axis.name} {axis.before} → {axis.after} ({axis.change})"
    if view.evidence:
        yield f"{translate('evidence')}: {view.evidence}"
    regressed = translate_plural(
        "{n} item went from pass to fail",
        "{n} items went from pass to fail",
        len(view.regressed),
    )
    recovered = translate_plural(
        "{n} item went from fail to pass",
        "{n} items went from fail to pass",
        len(view.recovered),
    )
    for title, changes in ((regressed, view.regressed), (recovered, view.recovered)):
        if changes:
            yield f"{title}:"
            yield from map(_format_change_line, changes[:_CHANGES_SHOWN])
            if len(changes) > _CHANGES_SHOWN:
                yield f"  {translate('… and {n:,} more', n=len(changes) - _CHANGES_SHOWN)}"
    for title, names in (
        (translate("new items"), view.added),
        (translate("gone items"), view.removed),
    ):
        if names:
            yield f"{title}: {', '.join(names)}"
    if view.warning:
        yield f"{translate('suspicious')}: {view.warning}"
        yield from map(_format_change_line, view.moved[:_CHANGES_SHOWN])


def _format_change_line(change: ChangeView) -> str:
    axes = ", ".join(f"{axis} {by}" for axis, by in change.axes)
    return f"  {change.item}: {change.scores} ({axes})"


def _format_distribution_lines(found: ScoreDistribution) -> Iterator[str]:
    """Yield the distribution of the scores of a baseline, and its trend, line by line."""
    yield _format_estimate_line(translate("score"), found.score)
    for axis, estimate in found.axes.items():
        yield f"  {_format_estimate_line(axis, estimate)}"
    yield _format_estimate_line(translate("items passed"), found.passed)
    quantiles = ", ".join(f"p{at} {format_short(value)}" for at, value in found.quantiles.items())
    yield f"{translate('item scores')}: {quantiles}"
    for group in found.groups:
        if group.score is not None and group.score < found.score.mean:
            yield f"  {group.tag}={group.value}: {format_fixed(group.score)} ({group.n})"
    yield from _format_trend_lines(found)
    who = (
        f"{format_subject(found.own_trend[-1].subject)}: "
        if found.has_subject_trends and found.own_trend
        else ""
    )
    yield from (f"{who}{_format_drift_line(drift)}" for drift in found.drifts)
    if len(found.drift_points) < found.runs_needed:
        yield translate("a drift can be told from {n} runs on", n=found.runs_needed)


def _format_trend_lines(found: ScoreDistribution) -> Iterator[str]:
    """Yield the scores of the last runs, by subject if there are several."""
    subjects, n = found.by_subject, len(found.trend)
    if found.has_subject_trends:
        yield translate("last {n} runs by subject, the newest last:", n=n)
        yield from (
            f"  {format_subject(who)}: {_format_trend_scores(points)}"
            for who, points in subjects.items()
        )
    elif len(subjects) > 1:
        last = translate("last {n} runs, the newest last", n=n)
        yield f"{last}: {_format_trend_scores(found.trend, named=True)}"
    elif found.trend:
        who = found.trend[0].subject
        last = (
            translate_plural("last run", "last {n} runs, the newest last", n)
            if who is None
            else translate_plural(
                "last run of {subject}",
                "last {n} runs of {subject}, the newest last",
                n,
                subject=who,
            )
        )
        yield f"{last}: {_format_trend_scores(found.trend)}"


def _format_trend_scores(points: Iterable[TrendPoint], *, named: bool = False) -> str:
    return ", ".join(
        f"{f'{format_subject(point.subject)} ' if named else ''}{format_fixed(point.score)}"
        for point in points
    )


def _format_recalibration_lines(found: Recalibration, applied: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines below the table of a recalibration."""
    for ranking in found.rankings:
        tau = translate("not defined") if ranking.tau is None else f"{ranking.tau:.4f}"
        what = translate_plural(
            "rank correlation (Kendall's tau-b) over {n} run",
            "rank correlation (Kendall's tau-b) over {n} runs",
            ranking.runs,
        )
        yield f"{ranking.exam}: {what}: {tau}"
    for proposal in found.proposals:
        proposed = (
            translate("proposed no baseline")
            if proposal.run is None
            else translate("proposed baseline {run}", run=proposal.run)
        )
        yield f"{proposal.exam}: {proposed}: {translate_stored(proposal.because)}"
    if applied:
        yield translate_plural(
            "{n:,} rescored run is stored", "{n:,} rescored runs are stored", len(applied)
        )
    for proposal in found.proposals if applied else ():
        if proposal.run is not None and not proposal.is_baseline:
            yield translate(
                "the baseline of {exam} has not moved; next: `markscheme baseline set {run}`",
                exam=proposal.exam,
                run=proposal.run,
            )
    for refused, why in found.refused:
        yield translate(
            "{run} cannot be weighed anew: {why}", run=refused, why=translate_stored(why)
        )


def _format_estimate_line(name: str, estimate: MeanEstimate) -> str:
    mean, method = format_fixed(estimate.mean), translate_stored(estimate.method)
    if estimate.lower is None:
        return f"{name} {mean} ({method})"
    bounds = translate("{low:.4f} to {high:.4f}", low=estimate.lower, high=estimate.upper)
    return f"{name} {mean} (95 %: {bounds}, {method})"


def _format_drift_line(drift: Drift) -> str:
    moved = f"{format_fixed(drift.first)} → {format_fixed(drift.last)}"
    what = (
        translate("{axis} alone is trending down", axis=drift.axis)
        if drift.alone
        else translate("{axis} is trending down", axis=drift.axis)
    )
    return f"{what}: {moved} (p {float(drift.p):.3g})"


def _translate_outcome(outcome: Outcome | None) -> str:
    return (
        translate("no such gate") if outcome is None else translate_stored(OUTCOME_WORDS[outcome])
    )


class PatternPage:
    """Print patterns, the most telling first."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or create_console()

    def print_first(self, patterns: Sequence[Pattern]) -> None:
        """Print the first few patterns in short, if there are any."""
        if patterns:
            self._print_line(f"\n{translate('What to look at first')}", "bold")
            for line in _format_pattern_lines(patterns[:PATTERNS_SHOWN]):
                self._print_line(line)
            if len(patterns) > PATTERNS_SHOWN:
                more = translate(
                    "… and {n:,} more: `markscheme show RUN --patterns`",
                    n=len(patterns) - PATTERNS_SHOWN,
                )
                self._print_line(more)

    def print_all(self, patterns: Sequence[Pattern]) -> None:
        """Print all patterns with their evidence, or that there is none."""
        self._print_line(f"\n{translate('Patterns')}", "bold")
        if not patterns:
            self._print_line(translate("no pattern: nothing here is unlikely by luck"))
        for line in _format_pattern_lines(patterns, evidence=True):
            self._print_line(line)

    def _print_line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), soft_wrap=True)


def _format_pattern_lines(patterns: Sequence[Pattern], *, evidence: bool = False) -> Iterator[str]:
    """Yield patterns in numbered sentences, each with its action."""
    for number, view in enumerate(build_patterns(patterns), start=1):
        yield f"{number}. {view.sentence}"
        yield f"   → {view.action}"
        if evidence:
            yield from (f"   {reason}" for reason in view.evidence)
        items = view.pattern.items if evidence else ()
        if items:
            shown, more = ", ".join(items[:_PATTERN_ITEMS_SHOWN]), len(items) - _PATTERN_ITEMS_SHOWN
            tail = f" {translate('and {n:,} more', n=more)}" if more > 0 else ""
            yield f"   {translate('items: {items}', items=shown)}{tail}"


def format_verification_finding(found: Finding) -> str:
    """Return one line: where a published value is wrong, which value is right, and why."""
    item = f"{found.item}: " if found.item else ""
    was = (
        translate("{value} are published", value=found.published)
        if ", " in found.published
        else translate("{value} is published", value=found.published)
    )
    right = (
        translate("{value} are right", value=found.computed)
        if ", " in found.computed
        else translate("{value} is right", value=found.computed)
    )
    place = f"{found.file}:{found.line}: {item}{found.field}"
    return f"{place}: {was}, {right}: {translate_stored(found.because)}"
