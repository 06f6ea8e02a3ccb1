"""Results as plain data: what the JSON output holds, and every other format reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import MESSAGE_COLUMN, format_ratio, to_float

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal
    from fractions import Fraction

    import polars as pl

    from markscheme.vocabulary import Exam, RowError, Rubric, Summary, TagGroup
    from markscheme.weigh.distribution import MeanEstimate, ScoreDistribution
    from markscheme.weigh.gates import (
        BaselineReport,
        GateOutcome,
        GateReport,
        ItemChange,
        NonInferiority,
    )
    from markscheme.weigh.recalibrate import Recalibration


def build_rubric_record(rubric: Rubric) -> dict[str, Any]:
    """Return how a result names the rubric it was scored under."""
    return {"name": rubric.name, "version": rubric.version, "fingerprint": rubric.fingerprint}


def build_exam_record(exam: Exam) -> dict[str, Any]:
    """Return how a result names the exam."""
    return {"name": exam.name, "fingerprint": exam.fingerprint, "items": len(exam.items)}


def iter_item_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the per-item JSON of each answered or missing item, keys in the seed's order."""
    for row in frame.iter_rows(named=True):
        row.pop(MESSAGE_COLUMN, None)
        if row.pop("error") is None:
            yield row


def build_error_record(error: RowError) -> dict[str, Any]:
    """Return one row that was no answer."""
    where = {} if error.file is None else {"file": error.file}
    return {
        **where,
        "line": error.line,
        "item": error.item,
        "reason": error.reason,
        "excerpt": error.excerpt,
    }


def build_summary_record(summary: Summary) -> dict[str, Any]:
    """Return the totals: nearest doubles for reading, exact ratios for deciding."""
    return {
        "n": summary.n,
        "score": to_float(summary.score),
        "axes": {axis: to_float(value) for axis, value in summary.axes.items()},
        "complete": summary.complete,
        "items": summary.items,
        "answers": summary.answers,
        "unscored": summary.unscored,
        "errors": summary.errors,
        "missing": list(summary.missing),
        "exact": {
            "score": format_ratio(summary.score),
            "axes": {axis: format_ratio(value) for axis, value in summary.axes.items()},
        },
        "subjects": [
            {
                "subject": found.subject,
                "n": found.n,
                "score": to_float(found.score),
                "axes": {axis: to_float(value) for axis, value in found.axes.items()},
                "missing": list(found.missing),
            }
            for found in summary.subjects
        ],
        "groups": list(map(_build_group_record, summary.groups)),
    }


def _build_group_record(group: TagGroup) -> dict[str, Any]:
    return {
        "tag": group.tag,
        "value": group.value,
        "n": group.n,
        "score": to_float(group.score),
        "axes": _to_numbers(group.axes),
    }


def build_gate_records(outcomes: Iterable[GateOutcome]) -> list[dict[str, Any]]:
    """Return what each gate said and why."""
    return [_build_gate_record(outcome) for outcome in outcomes]


def _build_gate_record(found: GateOutcome) -> dict[str, Any]:
    gate = found.gate
    return {
        "gate": gate.name,
        "level": gate.level.value,
        "metric": gate.metric,
        "axis": gate.axis,
        "tags": dict(gate.tags),
        "outcome": found.outcome.value,
        "observed": to_float(found.observed),
        "at_least": _to_optional_float(gate.at_least),
        "at_most": _to_optional_float(gate.at_most),
        "max_drop": None if gate.baseline is None else str(gate.baseline.max_drop),
        "margin": to_float(found.margin),
        "exact": {"observed": format_ratio(found.observed), "margin": format_ratio(found.margin)},
        "target": _to_optional_float(gate.target),
        "because": found.because,
        "fix_first": [
            {"item": loss.item, "lost": to_float(loss.lost), "axes": _to_numbers(loss.axes)}
            for loss in found.fix_first
        ],
        "baseline": None if found.baseline is None else build_baseline_record(found.baseline),
    }


def build_gate_report_record(report: GateReport) -> dict[str, Any]:
    """Return all gates on one run and what follows from them."""
    return {
        "run": report.run,
        "verdict": report.verdict.value,
        "because": report.because,
        "gates": build_gate_records(report.outcomes),
    }


def build_baseline_record(report: BaselineReport) -> dict[str, Any]:
    """Return a run beside its baseline."""
    return {
        "baseline": report.baseline,
        "before": to_float(report.before),
        "after": to_float(report.after),
        "change": to_float(report.change),
        "floor": to_float(report.floor),
        "exact": {
            name: format_ratio(getattr(report, name))
            for name in ("before", "after", "change", "floor")
        },
        "axes": [
            {
                "axis": moved.axis,
                "before": to_float(moved.before),
                "after": to_float(moved.after),
                "change": to_float(moved.change),
            }
            for moved in report.axes
        ],
        "regressed": list(map(_build_item_change_record, report.regressed)),
        "recovered": list(map(_build_item_change_record, report.recovered)),
        "moved": list(map(_build_item_change_record, report.moved)),
        "unmoved": report.unmoved,
        "added": list(report.added),
        "removed": list(report.removed),
        "warning": report.warning,
        "evidence": None if report.evidence is None else _build_evidence_record(report.evidence),
    }


def _build_item_change_record(change: ItemChange) -> dict[str, Any]:
    return {
        "item": change.item,
        "before": to_float(change.before),
        "after": to_float(change.after),
        "change": to_float(change.change),
        "axes": _to_numbers(change.axes),
    }


def _build_evidence_record(evidence: NonInferiority) -> dict[str, Any]:
    return {
        "outcome": evidence.outcome.value,
        "n": evidence.n,
        "mean": to_float(evidence.mean),
        "margin": to_float(evidence.margin),
        "lower": evidence.lower,
        "upper": evidence.upper,
        "p": evidence.p,
        "items_needed": evidence.items_needed,
        "because": evidence.because,
    }


def build_distribution_record(found: ScoreDistribution) -> dict[str, Any]:
    """Return the stable distribution of a run and the trend of its history."""
    return {
        "run": found.run,
        "items": found.items,
        "score": _build_estimate_record(found.score),
        "axes": {axis: _build_estimate_record(estimate) for axis, estimate in found.axes.items()},
        "passed": _build_estimate_record(found.passed),
        "quantiles": {f"p{at}": to_float(value) for at, value in found.quantiles.items()},
        "groups": list(map(_build_group_record, found.groups)),
        "trend": [
            {
                "run": point.run,
                "subject": point.subject,
                "score": to_float(point.score),
                "axes": _to_numbers(point.axes),
            }
            for point in found.trend
        ],
        "by_subject": found.has_subject_trends,
        "followed": [point.run for point in found.drift_points],
        "drifts": [
            {
                "axis": drift.axis,
                "first": to_float(drift.first),
                "last": to_float(drift.last),
                "p": to_float(drift.p),
                "alone": drift.alone,
            }
            for drift in found.drifts
        ],
        "runs_needed": found.runs_needed,
        "left_out": [{"run": run, "because": why} for run, why in found.left_out],
    }


def _build_estimate_record(estimate: MeanEstimate) -> dict[str, Any]:
    return {
        "mean": to_float(estimate.mean),
        "exact": format_ratio(estimate.mean),
        "lower": estimate.lower,
        "upper": estimate.upper,
        "method": estimate.method,
    }


def build_recalibration_record(found: Recalibration) -> dict[str, Any]:
    """Return a history under a new rubric."""
    return {
        "rubric": found.rubric,
        "runs": [
            {
                "run": run.run,
                "exam": run.exam,
                "before": to_float(run.before),
                "after": to_float(run.after),
                "exact": {"before": format_ratio(run.before), "after": format_ratio(run.after)},
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
                "score": to_float(proposal.score),
                "because": proposal.because,
            }
            for proposal in found.proposals
        ],
        "refused": [{"run": run, "because": why} for run, why in found.refused],
    }


def _to_numbers(values: Mapping[str, Fraction]) -> dict[str, float | None]:
    return {name: to_float(value) for name, value in values.items()}


def _to_optional_float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
