"""Compared runs as plain data: the JSON document of `markscheme compare RUN RUN`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import number
from markscheme.weigh.comparison_records import paired_record, sides_record, statistics_record
from markscheme.weigh.outcomes import Evidence
from markscheme.weigh.records import exam_record, rubric_record

if TYPE_CHECKING:
    from markscheme.weigh.measures import Measures
    from markscheme.weigh.paired_runs import PairedTag, RunPair, RunsComparison

SAID = {
    Evidence.PASS: "not-worse",
    Evidence.FAIL: "worse",
    Evidence.INCONCLUSIVE: "inconclusive",
}


def runs_record(found: RunsComparison) -> dict[str, Any]:
    """Return runs in pairs as data."""
    return {
        "runs": list(found.runs),
        "subjects": list(found.subjects),
        "decision": {
            "outcome": SAID[found.outcome],
            "margin": str(found.margin),
            "because": found.because,
        },
        "pairs": [_pair(pair) for pair in found.pairs],
        "measured": [_measured(measures) for measures in found.measures],
        "rubric": rubric_record(found.rubric),
        "exam": exam_record(found.exam),
    }


def _pair(pair: RunPair) -> dict[str, Any]:
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "score": sides_record(pair.score),
        "axes": {axis: sides_record(sides) for axis, sides in pair.axes.items()},
        "tags": [_tag(tag) for tag in pair.tags],
        "passed": {
            "baseline_only": pair.passed.baseline_only,
            "candidate_only": pair.passed.candidate_only,
            "p_two_sided": number(pair.passed.two_sided),
            "p_worse": number(pair.passed.worse),
            "interval": pair.passed.interval
            and dict(zip(("lower", "upper"), pair.passed.interval, strict=True)),
        },
        "attempts": {
            "pairs": pair.attempts.count,
            "baseline_only": pair.attempts.baseline_only,
            "candidate_only": pair.attempts.candidate_only,
        },
        "asked_first": pair.first.to_dict(),
        "moved": {item: sides_record(pair.items[item]) for item in pair.moved},
        "regressed": list(pair.regressed),
        "recovered": list(pair.recovered),
        "p_holm": number(pair.p_holm),
        "statistics": statistics_record(pair.statistics),
    }


def _measured(measures: Measures) -> dict[str, Any]:
    """Return what a run took; each figure says of how many answers it is known."""
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    totals = {name: getattr(measures, name) for name in ("tokens_in", "tokens_out", "cost")}
    return {
        "answers": measures.answers,
        "latency_ms": {"n": measures.latencies, "p50": number(median), "p95": number(slow)},
        **{
            name: {"n": one.n, "sum": number(one.sum) if one.n else None}
            for name, one in totals.items()
        },
    }


def _tag(tag: PairedTag) -> dict[str, Any]:
    return {
        "tag": tag.tag,
        "value": tag.value,
        **paired_record(tag.paired),
        "p_holm": number(tag.p_holm),
    }
