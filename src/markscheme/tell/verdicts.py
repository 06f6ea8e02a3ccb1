"""What was judged, for people: gates, baselines, recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.exact import show
from markscheme.tell.patterns import PatternPage
from markscheme.tell.reports import SAID
from markscheme.tell.terminal import Page, console
from markscheme.vocabulary import Outcome
from markscheme.weigh.records import distribution_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from rich.console import Console

    from markscheme.keep import Baseline
    from markscheme.tell.reports import Report
    from markscheme.weigh.distribution import Distribution
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
            self.line(f"\nSince the baseline {found.baseline}", style="bold")
            for line in baseline_lines(found):
                self.line(f"  {line}")
        self._fix_first(report.gates)
        PatternPage(self.out).first(report.patterns)
        said = Text("\nverdict: ").append(SAID[report.gates.verdict], _STYLES[report.gates.verdict])
        self.out.print(said.append(f" ({report.gates.because})"), soft_wrap=True)

    def line(self, text: str, *, style: str = "") -> None:
        """Print one line as it stands, however long."""
        self.out.print(Text(text, style=style), soft_wrap=True)

    def standing(self, baseline: Baseline, found: Distribution | None) -> None:
        """Print a baseline: who set it, and the distribution of its scores."""
        by = f" by {baseline.set_by}" if baseline.set_by else ""
        note = f": {baseline.note}" if baseline.note else ""
        what = f"baseline of {baseline.exam} under {baseline.rubric}: run {baseline.run}"
        when = f"set {baseline.set_at:%Y-%m-%d %H:%M} UTC{by}{note}"
        self.line(f"{what}, {when}", style="bold")
        for line in () if found is None else distribution_lines(found):
            self.line(line)

    def _fix_first(self, report: GateReport) -> None:
        for found in report.outcomes:
            if found.outcome is Outcome.PASS or found.baseline or not found.fix_first:
                continue
            self.line(f"\nFix first for {found.gate.name}", style="bold")
            for loss in found.fix_first[:_CHANGES_SHOWN]:
                axes = ", ".join(f"{axis} {show(by)}" for axis, by in loss.axes.items() if by)
                self.line(f"  {loss.item}  {show(loss.lost)}  {axes}".rstrip())

    def recalibration(self, found: Recalibration, applied: Mapping[str, str]) -> None:
        """Print what moves under new weights."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for name in ("run", "exam"):
            table.add_column(name, no_wrap=True)
        for name in ("old", "new", "rank", ""):
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
    yield f"score {show(report.before)} → {show(report.after)} ({signed(report.change)})"
    for moved in report.axes:
        if moved.change:
            change = f"{show(moved.before)} → {show(moved.after)} ({signed(moved.change)})"
            yield f"  {moved.axis} {change}"
    if report.evidence is not None:
        evidence = report.evidence
        yield f"evidence: {evidence.outcome.value} ({evidence.because})"
    for what, changes in (
        ("went from pass to fail", report.regressed),
        ("went from fail to pass", report.recovered),
    ):
        if changes:
            items = "item" if len(changes) == 1 else "items"
            yield f"{len(changes)} {items} {what}:"
            yield from map(_change_line, changes[:_CHANGES_SHOWN])
            if len(changes) > _CHANGES_SHOWN:
                yield f"  … and {len(changes) - _CHANGES_SHOWN} more"
    for what, names in (("new", report.added), ("gone", report.removed)):
        if names:
            yield f"{what} items: {', '.join(names)}"
    if report.warning:
        yield f"suspicious: {report.warning}"
        yield from map(_change_line, report.moved[:_CHANGES_SHOWN])


def distribution_lines(found: Distribution) -> Iterator[str]:
    """Yield the stable distribution in sentences."""
    record = distribution_record(found)
    yield _estimate_line("score", record["score"])
    for axis, estimate in record["axes"].items():
        yield f"  {_estimate_line(axis, estimate)}"
    yield _estimate_line("items passed", record["passed"])
    quantiles = ", ".join(f"{name} {value:.4g}" for name, value in record["quantiles"].items())
    yield f"item scores: {quantiles}"
    for group in record["groups"]:
        if group["score"] < record["score"]["mean"]:
            yield f"  {group['tag']}={group['value']}: {group['score']:.4f} ({group['n']})"
    if record["trend"]:
        points = ", ".join(f"{point['score']:.4f}" for point in record["trend"])
        yield f"last {len(record['trend'])} runs, the newest last: {points}"
    yield from map(_drift_line, record["drifts"])
    if len(record["trend"]) < record["runs_needed"]:
        yield f"a drift can be told from {record['runs_needed']} runs on"


def recalibration_lines(found: Recalibration, applied: Mapping[str, str]) -> Iterator[str]:
    """Yield what recalibration says beside its table."""
    for ranking in found.rankings:
        tau = "not defined" if ranking.tau is None else f"{ranking.tau:.4f}"
        yield f"{ranking.exam}: rank correlation (Kendall's tau-b) over {ranking.runs} runs: {tau}"
    for proposal in found.proposals:
        run = None if proposal.run is None else applied.get(proposal.run, proposal.run)
        told = "no baseline" if run is None else f"baseline {run}"
        yield f"{proposal.exam}: proposed {told}: {proposal.because}"
    for run, why in found.refused:
        yield f"{run} cannot be weighed anew: {why}"


def _change_line(change: ItemChange) -> str:
    axes = ", ".join(f"{axis} {signed(by)}" for axis, by in change.axes.items())
    return f"  {change.item}: {show(change.before)} → {show(change.after)} ({axes})"


def signed(value: Fraction | None, places: int = 4) -> str:
    """Return a change with its sign."""
    if value is None:
        return "–"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{show(abs(value), places)}"


def _estimate_line(name: str, estimate: Mapping[str, Any]) -> str:
    if estimate["lower"] is None:
        return f"{name} {estimate['mean']:.4f} ({estimate['method']})"
    bounds = f"{estimate['lower']:.4f} to {estimate['upper']:.4f}"
    return f"{name} {estimate['mean']:.4f} (95 %: {bounds}, {estimate['method']})"


def _drift_line(drift: Mapping[str, Any]) -> str:
    way = "down" if drift["last"] < drift["first"] else "up"
    alone = " alone" if drift["alone"] else ""
    moved = f"{drift['first']:.4f} → {drift['last']:.4f}"
    return f"{drift['axis']}{alone} is trending {way}: {moved} (p {drift['p']:.3g})"


def _word(outcome: Outcome | None) -> str:
    return "no such gate" if outcome is None else outcome.value
