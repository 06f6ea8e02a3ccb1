"""Results as plain data: what the JSON output holds, and every other format reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal
    from fractions import Fraction

    import polars as pl

    from markscheme.vocabulary import Exam, Group, RowError, Rubric, Summary
    from markscheme.weigh.distribution import Distribution, Estimate
    from markscheme.weigh.outcomes import (
        BaselineReport,
        GateOutcome,
        GateReport,
        ItemChange,
        NonInferiority,
    )
    from markscheme.weigh.recalibration import Recalibration


def rubric_record(rubric: Rubric) -> dict[str, Any]:
    """Return how a result names the rubric it was scored under."""
    return {"name": rubric.name, "version": rubric.version, "fingerprint": rubric.fingerprint}


def exam_record(exam: Exam) -> dict[str, Any]:
    """Return how a result names the exam."""
    return {"name": exam.name, "fingerprint": exam.fingerprint, "items": len(exam.items)}


def item_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the per-item JSON of each answered or missing item, keys in the seed's order."""
    for row in frame.iter_rows(named=True):
        if row.pop("error") is None:
            yield row


def error_record(error: RowError) -> dict[str, Any]:
    """Return one row that was no answer."""
    where = {} if error.file is None else {"file": error.file}
    return {
        **where,
        "line": error.line,
        "item": error.item,
        "reason": error.reason,
        "excerpt": error.excerpt,
    }


def summary_record(summary: Summary) -> dict[str, Any]:
    """Return the totals: nearest doubles for reading, exact ratios for deciding."""
    return {
        "n": summary.n,
        "score": number(summary.score),
        "axes": {axis: number(value) for axis, value in summary.axes.items()},
        "complete": summary.complete,
        "items": summary.items,
        "answers": summary.answers,
        "unscored": summary.unscored,
        "errors": summary.errors,
        "missing": list(summary.missing),
        "exact": {
            "score": ratio(summary.score),
            "axes": {axis: ratio(value) for axis, value in summary.axes.items()},
        },
        "subjects": [
            {
                "subject": found.subject,
                "n": found.n,
                "score": number(found.score),
                "axes": {axis: number(value) for axis, value in found.axes.items()},
                "missing": list(found.missing),
            }
            for found in summary.subjects
        ],
        "groups": list(map(_group_record, summary.groups)),
    }


def _group_record(group: Group) -> dict[str, Any]:
    return {
        "tag": group.tag,
        "value": group.value,
        "n": group.n,
        "score": number(group.score),
        "axes": _numbers(group.axes),
    }


def gate_records(outcomes: Iterable[GateOutcome]) -> list[dict[str, Any]]:
    """Return what each gate said and why."""
    return [_gate_record(outcome) for outcome in outcomes]


def _gate_record(found: GateOutcome) -> dict[str, Any]:
    gate = found.gate
    return {
        "gate": gate.name,
        "level": gate.level.value,
        "metric": gate.metric,
        "axis": gate.axis,
        "tags": dict(gate.tags),
        "outcome": found.outcome.value,
        "observed": number(found.observed),
        "at_least": _double(gate.at_least),
        "at_most": _double(gate.at_most),
        "max_drop": None if gate.baseline is None else str(gate.baseline.max_drop),
        "margin": number(found.margin),
        "exact": {"observed": ratio(found.observed), "margin": ratio(found.margin)},
        "target": _double(gate.target),
        "because": found.because,
        "fix_first": [
            {"item": loss.item, "lost": number(loss.lost), "axes": _numbers(loss.axes)}
            for loss in found.fix_first
        ],
        "baseline": None if found.baseline is None else baseline_record(found.baseline),
    }


def report_record(report: GateReport) -> dict[str, Any]:
    """Return all gates on one run and what follows from them."""
    return {
        "run": report.run,
        "verdict": report.verdict.value,
        "because": report.because,
        "gates": gate_records(report.outcomes),
    }


def baseline_record(report: BaselineReport) -> dict[str, Any]:
    """Return a run beside its baseline."""
    return {
        "baseline": report.baseline,
        "before": number(report.before),
        "after": number(report.after),
        "change": number(report.change),
        "floor": number(report.floor),
        "exact": {
            name: ratio(getattr(report, name)) for name in ("before", "after", "change", "floor")
        },
        "axes": [
            {
                "axis": moved.axis,
                "before": number(moved.before),
                "after": number(moved.after),
                "change": number(moved.change),
            }
            for moved in report.axes
        ],
        "regressed": list(map(_change_record, report.regressed)),
        "recovered": list(map(_change_record, report.recovered)),
        "moved": list(map(_change_record, report.moved)),
        "unmoved": report.unmoved,
        "added": list(report.added),
        "removed": list(report.removed),
        "warning": report.warning,
        "evidence": None if report.evidence is None else _evidence_record(report.evidence),
    }


def _change_record(change: ItemChange) -> dict[str, Any]:
    return {
        "item": change.item,
        "before": number(change.before),
        "after": number(change.after),
        "change": number(change.change),
        "axes": _numbers(change.axes),
    }


def _evidence_record(evidence: NonInferiority) -> dict[str, Any]:
    return {
        "outcome": evidence.outcome.value,
        "n": evidence.n,
        "mean": number(evidence.mean),
        "margin": number(evidence.margin),
        "lower": evidence.lower,
        "upper": evidence.upper,
        "p": evidence.p,
        "items_needed": evidence.items_needed,
        "because": evidence.because,
    }


def distribution_record(found: Distribution) -> dict[str, Any]:
    """Return the stable distribution of a run and the trend of its history."""
    return {
        "run": found.run,
        "items": found.items,
        "score": _estimate_record(found.score),
        "axes": {axis: _estimate_record(estimate) for axis, estimate in found.axes.items()},
        "passed": _estimate_record(found.passed),
        "quantiles": {f"p{at}": number(value) for at, value in found.quantiles.items()},
        "groups": list(map(_group_record, found.groups)),
        "trend": [
            {
                "run": point.run,
                "subject": point.subject,
                "score": number(point.score),
                "axes": _numbers(point.axes),
            }
            for point in found.trend
        ],
        "by_subject": found.apart,
        "followed": [point.run for point in found.followed],
        "drifts": [
            {
                "axis": drift.axis,
                "first": number(drift.first),
                "last": number(drift.last),
                "p": number(drift.p),
                "alone": drift.alone,
            }
            for drift in found.drifts
        ],
        "runs_needed": found.runs_needed,
        "left_out": [{"run": run, "because": why} for run, why in found.left_out],
    }


def _estimate_record(estimate: Estimate) -> dict[str, Any]:
    return {
        "mean": number(estimate.mean),
        "exact": ratio(estimate.mean),
        "lower": estimate.lower,
        "upper": estimate.upper,
        "method": estimate.method,
    }


def recalibration_record(found: Recalibration) -> dict[str, Any]:
    """Return a history under a new rubric."""
    return {
        "rubric": found.rubric,
        "runs": [
            {
                "run": run.run,
                "exam": run.exam,
                "before": number(run.before),
                "after": number(run.after),
                "exact": {"before": ratio(run.before), "after": ratio(run.after)},
                "rank_before": run.rank_before,
                "rank_after": run.rank_after,
                "flips": [
                    {"gate": flip.gate, "before": flip.before, "after": flip.after}
                    for flip in run.flips
                ],
            }
            for run in found.runs
        ],
        "rankings": [asdict(ranking) for ranking in found.rankings],
        "proposals": [
            {
                "exam": proposal.exam,
                "run": proposal.run,
                "score": number(proposal.score),
                "because": proposal.because,
            }
            for proposal in found.proposals
        ],
        "refused": [{"run": run, "because": why} for run, why in found.refused],
    }


def _numbers(values: Mapping[str, Fraction]) -> dict[str, float | None]:
    return {name: number(value) for name, value in values.items()}


def _double(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
