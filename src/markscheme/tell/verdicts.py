"""What was judged, for people: gates, baselines, recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.exact import show, signed
from markscheme.tell.language import say, say_many, told
from markscheme.tell.patterns import PatternPage
from markscheme.tell.reports import EVIDENCE, OUTCOMES, SAID
from markscheme.tell.stored import whose
from markscheme.tell.terminal import Page, console
from markscheme.vocabulary import Outcome
from markscheme.weigh.records import distribution_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console

    from markscheme.keep import Baseline
    from markscheme.tell.reports import Report
    from markscheme.weigh.distribution import Distribution, Point
    from markscheme.weigh.outcomes import BaselineReport, GateReport, ItemChange
    from markscheme.weigh.recalibration import Recalibration

_CHANGES_SHOWN = 10
_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.FAIL: "bold red",
    Outcome.UNDECIDED: "bold magenta",
}


class VerdictPage:
    """Prints what was judged."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or console()

    def judged(self, report: Report) -> None:
        """Print one run and every gate on it, the verdict last."""
        self.line(report.title, style="bold")
        Page(report.past.rubric, self.out).gates(report.gates.outcomes)
        for found in report.comparisons:
            since = say("Since the baseline {baseline}", baseline=found.baseline)
            self.line(f"\n{since}", style="bold")
            for line in baseline_lines(found):
                self.line(f"  {line}")
        self._fix_first(report.gates)
        PatternPage(self.out).first(report.patterns)
        verdict = report.gates.verdict
        said = Text(f"\n{say('verdict')}: ").append(told(SAID[verdict]), _STYLES[verdict])
        self.out.print(said.append(f" ({told(report.gates.because)})"), soft_wrap=True)

    def line(self, text: str, *, style: str = "") -> None:
        """Print one line as it stands, however long."""
        self.out.print(Text(text, style=style), soft_wrap=True)

    def standing(self, baseline: Baseline, found: Distribution | None) -> None:
        """Print a baseline: who set it, and the distribution of its scores."""
        by = f" {say('by {name}', name=baseline.set_by)}" if baseline.set_by else ""
        note = f": {baseline.note}" if baseline.note else ""
        what = say(
            "baseline of {exam} under {rubric}: run {run}",
            exam=baseline.exam,
            rubric=baseline.rubric,
            run=baseline.run,
        )
        when = say("set {when} UTC", when=f"{baseline.set_at:%Y-%m-%d %H:%M}")
        self.line(f"{what}, {when}{by}{note}", style="bold")
        for line in () if found is None else distribution_lines(found):
            self.line(line)

    def _fix_first(self, report: GateReport) -> None:
        for found in report.outcomes:
            if found.outcome is Outcome.PASS or found.baseline or not found.fix_first:
                continue
            head = say("Fix first for {gate}", gate=found.gate.name)
            self.line(f"\n{head}", style="bold")
            for loss in found.fix_first[:_CHANGES_SHOWN]:
                axes = ", ".join(f"{axis} {show(by)}" for axis, by in loss.axes.items() if by)
                self.line(f"  {loss.item}  {show(loss.lost)}  {axes}".rstrip())

    def recalibration(self, found: Recalibration, applied: Mapping[str, str]) -> None:
        """Print what moves under new weights."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for name in (say("run"), say("exam")):
            table.add_column(name, no_wrap=True)
        for name in (say("old"), say("new"), say("rank"), ""):
            table.add_column(name, justify="right" if name else "left", no_wrap=bool(name))
        for run in found.runs:
            ranks = f"{run.rank_before or '–'} → {run.rank_after or '–'}"
            flips = "; ".join(
                f"{flip.gate}: {_word(flip.before)} → {_word(flip.after)}" for flip in run.flips
            )
            cells = (run.run, run.exam, show(run.before), show(run.after), ranks, flips)
            table.add_row(*map(Text, cells))
        self.out.print(table)
        for line in recalibration_lines(found, applied):
            self.line(line)


def baseline_lines(report: BaselineReport) -> Iterator[str]:
    """Yield the comparison with a baseline in sentences, which every format shows."""
    before, after = show(report.before), show(report.after)
    moved = say("score {before} → {after}", before=before, after=after)
    yield f"{moved} ({signed(report.change)})"
    for axis in report.axes:
        if axis.change:
            change = f"{show(axis.before)} → {show(axis.after)} ({signed(axis.change)})"
            yield f"  {axis.axis} {change}"
    if report.evidence is not None:
        evidence = report.evidence
        yield f"{say('evidence')}: {told(EVIDENCE[evidence.outcome])} ({told(evidence.because)})"
    lost, won = len(report.regressed), len(report.recovered)
    for what, changes in (
        (
            say_many("{n} item went from pass to fail", "{n} items went from pass to fail", lost),
            report.regressed,
        ),
        (
            say_many("{n} item went from fail to pass", "{n} items went from fail to pass", won),
            report.recovered,
        ),
    ):
        if changes:
            yield f"{what}:"
            yield from map(_change_line, changes[:_CHANGES_SHOWN])
            if len(changes) > _CHANGES_SHOWN:
                yield f"  {say('… and {n:,} more', n=len(changes) - _CHANGES_SHOWN)}"
    for what, names in ((say("new items"), report.added), (say("gone items"), report.removed)):
        if names:
            yield f"{what}: {', '.join(names)}"
    if report.warning:
        yield f"{say('suspicious')}: {told(report.warning)}"
        yield from map(_change_line, report.moved[:_CHANGES_SHOWN])


def distribution_lines(found: Distribution) -> Iterator[str]:
    """Yield the stable distribution in sentences."""
    record = distribution_record(found)
    yield _estimate_line(say("score"), record["score"])
    for axis, estimate in record["axes"].items():
        yield f"  {_estimate_line(axis, estimate)}"
    yield _estimate_line(say("items passed"), record["passed"])
    quantiles = ", ".join(f"{name} {value:.4g}" for name, value in record["quantiles"].items())
    yield f"{say('item scores')}: {quantiles}"
    for group in record["groups"]:
        if group["score"] < record["score"]["mean"]:
            yield f"  {group['tag']}={group['value']}: {group['score']:.4f} ({group['n']})"
    yield from trend_lines(found)
    who = f"{whose(found.own[-1].subject)}: " if found.apart and found.own else ""
    yield from (f"{who}{_drift_line(drift)}" for drift in record["drifts"])
    if len(found.followed) < record["runs_needed"]:
        yield say("a drift can be told from {n} runs on", n=record["runs_needed"])


def trend_lines(found: Distribution) -> Iterator[str]:
    """Yield the scores of the last runs, and whose they are."""
    subjects, n = found.by_subject, len(found.trend)
    if found.apart:
        yield say("last {n} runs by subject, the newest last:", n=n)
        yield from (f"  {whose(who)}: {_scores(points)}" for who, points in subjects.items())
    elif len(subjects) > 1:
        last = say("last {n} runs, the newest last", n=n)
        yield f"{last}: {_scores(found.trend, named=True)}"
    elif found.trend:
        who = found.trend[0].subject
        last = (
            say("last {n} runs, the newest last", n=n)
            if who is None
            else say("last {n} runs of {subject}, the newest last", n=n, subject=who)
        )
        yield f"{last}: {_scores(found.trend)}"


def _scores(points: Iterable[Point], *, named: bool = False) -> str:
    return ", ".join(
        f"{f'{whose(point.subject)} ' if named else ''}{float(point.score):.4f}" for point in points
    )


def recalibration_lines(found: Recalibration, applied: Mapping[str, str]) -> Iterator[str]:
    """Yield what recalibration says beside its table."""
    for ranking in found.rankings:
        tau = say("not defined") if ranking.tau is None else f"{ranking.tau:.4f}"
        what = say("rank correlation (Kendall's tau-b) over {n} runs", n=ranking.runs)
        yield f"{ranking.exam}: {what}: {tau}"
    for proposal in found.proposals:
        run = None if proposal.run is None else applied.get(proposal.run, proposal.run)
        proposed = (
            say("proposed no baseline") if run is None else say("proposed baseline {run}", run=run)
        )
        yield f"{proposal.exam}: {proposed}: {told(proposal.because)}"
    for refused, why in found.refused:
        yield say("{run} cannot be weighed anew: {why}", run=refused, why=told(why))


def _change_line(change: ItemChange) -> str:
    axes = ", ".join(f"{axis} {signed(by)}" for axis, by in change.axes.items())
    return f"  {change.item}: {show(change.before)} → {show(change.after)} ({axes})"


def _estimate_line(name: str, estimate: Mapping[str, Any]) -> str:
    if estimate["lower"] is None:
        return f"{name} {estimate['mean']:.4f} ({told(estimate['method'])})"
    bounds = say("{low:.4f} to {high:.4f}", low=estimate["lower"], high=estimate["upper"])
    return f"{name} {estimate['mean']:.4f} (95 %: {bounds}, {told(estimate['method'])})"


def _drift_line(drift: Mapping[str, Any]) -> str:
    moved = f"{drift['first']:.4f} → {drift['last']:.4f}"
    what = (
        say("{axis} alone is trending down", axis=drift["axis"])
        if drift["alone"]
        else say("{axis} is trending down", axis=drift["axis"])
    )
    return f"{what}: {moved} (p {drift['p']:.3g})"


def _word(outcome: Outcome | None) -> str:
    return say("no such gate") if outcome is None else told(OUTCOMES[outcome])
