"""Compared runs as plain data: the JSON document of `markscheme compare RUN RUN`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import to_float
from markscheme.weigh.compare.records import (
    build_paired_record,
    build_sides_record,
    build_statistics_record,
)
from markscheme.weigh.gates import Evidence
from markscheme.weigh.records import build_exam_record, build_rubric_record

if TYPE_CHECKING:
    from markscheme.weigh.compare.runs import PairedTag, RunPair, RunsComparison
    from markscheme.weigh.totals import Measures

OUTCOME_NAMES = {
    Evidence.PASS: "not-worse",
    Evidence.FAIL: "worse",
    Evidence.INCONCLUSIVE: "inconclusive",
}


def build_runs_record(found: RunsComparison) -> dict[str, Any]:
    """Return runs in pairs as data."""
    return {
        "runs": list(found.runs),
        "subjects": list(found.subjects),
        "decision": {
            "outcome": OUTCOME_NAMES[found.outcome],
            "margin": str(found.margin),
            "because": found.because,
        },
        "pairs": [_build_pair_record(pair) for pair in found.pairs],
        "measured": [_build_measures_record(measures) for measures in found.measures],
        "rubric": build_rubric_record(found.rubric),
        "exam": build_exam_record(found.exam),
    }


def _build_pair_record(pair: RunPair) -> dict[str, Any]:
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "score": build_sides_record(pair.score),
        "axes": {axis: build_sides_record(sides) for axis, sides in pair.axes.items()},
        "tags": [_build_tag_record(tag) for tag in pair.tags],
        "passed": {
            "baseline_only": pair.passed.baseline_only,
            "candidate_only": pair.passed.candidate_only,
            "p_two_sided": to_float(pair.passed.two_sided),
            "p_worse": to_float(pair.passed.worse),
            "interval": pair.passed.interval
            and dict(zip(("lower", "upper"), pair.passed.interval, strict=True)),
        },
        "attempts": {
            "pairs": pair.attempts.count,
            "baseline_only": pair.attempts.baseline_only,
            "candidate_only": pair.attempts.candidate_only,
        },
        "asked_first": pair.first.to_dict(),
        "moved": {item: build_sides_record(pair.items[item]) for item in pair.moved},
        "regressed": list(pair.regressed),
        "recovered": list(pair.recovered),
        "p_holm": to_float(pair.p_holm),
        "statistics": build_statistics_record(pair.statistics),
    }


def _build_measures_record(measures: Measures) -> dict[str, Any]:
    """Return what a run took; each figure says of how many answers it is known."""
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    totals = {name: getattr(measures, name) for name in ("tokens_in", "tokens_out", "cost")}
    return {
        "answers": measures.answers,
        "latency_ms": {"n": measures.latencies, "p50": to_float(median), "p95": to_float(slow)},
        **{
            name: {"n": one.n, "sum": to_float(one.sum) if one.n else None}
            for name, one in totals.items()
        },
    }


def _build_tag_record(tag: PairedTag) -> dict[str, Any]:
    return {
        "tag": tag.tag,
        "value": tag.value,
        **build_paired_record(tag.paired),
        "p_holm": to_float(tag.p_holm),
    }
