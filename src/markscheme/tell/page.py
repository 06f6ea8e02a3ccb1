"""The page of a judged run as plain data: what terminal, Markdown, HTML, JUnit and GitHub all show.

`build_report_page` turns a `RunReport` into titled parts with translated texts and formatted
numbers, once. `verdicts`, `markdown`, `html.report` and `ci_reports` lay these parts out; how
many entries of a list they show, and in which markup, is their own business. To change a text that
every format shows, change it here or in `words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markscheme.tell.language import translate, translate_stored
from markscheme.tell.words import (
    LEVEL_WORDS,
    OUTCOME_WORDS,
    VERDICT_WORDS,
    format_bad_row_count,
    format_bad_row_reason,
    format_run_title,
    get_bad_row_place,
)
from markscheme.vocabulary import (
    Gate,
    Level,
    Outcome,
    RowError,
    format_amount,
    format_decimal,
    format_plain,
    format_signed,
    format_signed_amount,
    sentence,
)
from markscheme.weigh.gates import (
    BaselineReport,
    Evidence,
    GateOutcome,
    GateReport,
    ItemChange,
    NonInferiority,
    is_cost_metric,
)
from markscheme.weigh.patterns import Pattern
from markscheme.workflows.report import RunReport

PATTERNS_SHOWN = 3  # of those beside other things; `show --patterns` and the HTML page show all
_EVIDENCE_WORDS = {
    Evidence.PASS: sentence("pass"),
    Evidence.FAIL: sentence("fail"),
    Evidence.INCONCLUSIVE: sentence("inconclusive"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """What follows from all gates: the outcome, its word, and why."""

    outcome: Outcome
    word: str
    because: str

    def __str__(self) -> str:
        """Return the verdict in one line."""
        return f"{self.word} ({self.because})"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateView:
    """One gate: what was observed, its limit, how far apart they are, and why it is met or not."""

    name: str
    level: Level
    level_word: str
    outcome: Outcome
    outcome_word: str
    observed: str
    limit: str
    margin: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureView:
    """The score or an axis, in the baseline and now; `has_moved` is false for the same value."""

    name: str
    before: str
    after: str
    change: str
    has_moved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeView:
    """An item whose score moved since the baseline, and the change of each axis that moved it."""

    item: str
    scores: str
    axes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineView:
    """A run beside its baseline; `score` and `axes` are means, the lists are items."""

    baseline: str
    score: MeasureView
    axes: tuple[MeasureView, ...]
    evidence: str
    evidence_because: str
    warning: str
    regressed: tuple[ChangeView, ...]
    recovered: tuple[ChangeView, ...]
    moved: tuple[ChangeView, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternView:
    """A fault that shows in many items: what was seen, what to do, and why it is no accident."""

    pattern: Pattern
    sentence: str
    action: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRowView:
    """A row that was no answer; `line` is its place and its reason together."""

    place: str
    reason: str
    line: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRowsView:
    """How many rows were no answers, in words, and the rows that are known of them."""

    title: str
    total: int
    rows: tuple[BadRowView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """All parts of the page; `bad_rows` is None if every row was an answer."""

    title: str
    verdict: VerdictView
    gates: tuple[GateView, ...]
    baselines: tuple[BaselineView, ...]
    patterns: tuple[PatternView, ...]
    bad_rows: BadRowsView | None


def build_report_page(report: RunReport) -> ReportPage:
    """Build the page of a judged run in the current language."""
    return ReportPage(
        title=format_run_title(report.past, report.stored),
        verdict=build_verdict(report.gates),
        gates=tuple(map(build_gate, report.gates.outcomes)),
        baselines=tuple(map(_build_baseline, report.comparisons)),
        patterns=tuple(build_patterns(report.patterns)),
        bad_rows=_build_bad_rows(report),
    )


def build_verdict(gates: GateReport) -> VerdictView:
    """Return what follows from all gates."""
    return VerdictView(
        outcome=gates.verdict,
        word=translate_stored(VERDICT_WORDS[gates.verdict]),
        because=translate_stored(gates.because),
    )


def build_gate(found: GateOutcome) -> GateView:
    """Return one gate with its numbers as texts."""
    gate = found.gate
    amounts = is_cost_metric(gate)
    return GateView(
        name=gate.name,
        level=gate.level,
        level_word=translate_stored(LEVEL_WORDS[gate.level]),
        outcome=found.outcome,
        outcome_word=translate_stored(OUTCOME_WORDS[found.outcome]),
        observed=(format_amount if amounts else format_decimal)(found.observed, 4),
        limit=_format_gate_limit(gate),
        margin=(format_signed_amount if amounts else format_signed)(found.margin, 4),
        because=translate_stored(found.because),
    )


def _format_gate_limit(gate: Gate) -> str:
    if gate.baseline is not None:
        return translate("a drop of {limit}", limit=gate.baseline.max_drop)
    limits = (("≥", gate.at_least), ("≤", gate.at_most))
    shown = [f"{sign} {format_plain(limit)}" for sign, limit in limits if limit is not None]
    return f" {translate('and')} ".join(shown)


def _build_baseline(found: BaselineReport) -> BaselineView:
    axes = (
        MeasureView(
            name=moved.axis,
            before=format_decimal(moved.before),
            after=format_decimal(moved.after),
            change=format_signed(moved.change),
            has_moved=bool(moved.change),
        )
        for moved in found.axes
    )
    return BaselineView(
        baseline=found.baseline,
        score=MeasureView(
            name=translate("score"),
            before=format_decimal(found.before),
            after=format_decimal(found.after),
            change=format_signed(found.change),
        ),
        axes=tuple(axes),
        evidence="" if found.evidence is None else _format_evidence(found.evidence),
        evidence_because=translate_stored(found.evidence.because) if found.evidence else "",
        warning=translate_stored(found.warning or ""),
        regressed=tuple(map(_build_change, found.regressed)),
        recovered=tuple(map(_build_change, found.recovered)),
        moved=tuple(map(_build_change, found.moved)),
        added=tuple(found.added),
        removed=tuple(found.removed),
    )


def _format_evidence(evidence: NonInferiority) -> str:
    word = translate_stored(_EVIDENCE_WORDS[evidence.outcome])
    return f"{word} ({translate_stored(evidence.because)})"


def _build_change(change: ItemChange) -> ChangeView:
    return ChangeView(
        item=change.item,
        scores=f"{format_decimal(change.before)} → {format_decimal(change.after)}",
        axes=tuple((axis, format_signed(by)) for axis, by in change.axes.items()),
    )


def build_patterns(patterns: Sequence[Pattern]) -> Iterator[PatternView]:
    """Yield patterns with their sentences, the most telling first."""
    for pattern in patterns:
        yield PatternView(
            pattern=pattern,
            sentence=translate_stored(pattern.sentence),
            action=translate_stored(pattern.action),
            evidence=tuple(map(translate_stored, pattern.evidence)),
        )


def _build_bad_rows(report: RunReport) -> BadRowsView | None:
    total = report.past.run.marks.errors
    if not total:
        return None
    return BadRowsView(
        title=format_bad_row_count(total, live=report.is_live),
        total=total,
        rows=tuple(_build_bad_row(row, live=report.is_live) for row in report.bad_rows),
    )


def _build_bad_row(row: RowError, *, live: bool) -> BadRowView:
    return BadRowView(
        place=get_bad_row_place(row, live=live),
        reason=translate_stored(row.reason),
        line=format_bad_row_reason(row, live=live),
        excerpt=row.excerpt,
    )
