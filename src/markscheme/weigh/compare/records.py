"""A comparison as plain data: the JSON document, which the other formats follow.

Numbers are the nearest doubles of exact fractions; what is not known is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import to_float
from markscheme.weigh.records import build_exam_record, build_rubric_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from markscheme.vocabulary import Rating
    from markscheme.weigh.compare.operating_characteristic import (
        DecisionChances,
        OperatingCharacteristic,
    )
    from markscheme.weigh.compare.result import (
        Aggregate,
        CheckSummary,
        Comparison,
        MetricSummary,
        Query,
        Ruling,
        Sides,
    )
    from markscheme.weigh.compare.statistics import (
        PairedAxis,
        PairedSummary,
        RatingFlip,
        Statistics,
    )
    from markscheme.weigh.stats import Agreement, ClusteredMean


def build_comparison_record(found: Comparison) -> dict[str, Any]:
    """Return the document that `markscheme compare --format json` prints."""
    return {
        "queries": [_build_query_record(query) for query in found.queries],
        "decision": _build_decision_record(found.decision),
        "aggregate": {
            "overall": _build_aggregate_record(found.overall),
            "by_mode": {
                mode: _build_aggregate_record(part) for mode, part in found.by_mode.items()
            },
        },
        "operational": {
            metric.metric: _build_metric_record(metric) for metric in found.operational
        },
        "structural": {check.axis: _build_check_record(check) for check in found.structural},
        "statistics": build_statistics_record(found.statistics),
        "rubric": build_rubric_record(found.rubric),
        "exam": build_exam_record(found.exam),
        "baseline": found.baseline,
        "candidate": found.candidate,
        "raters": list(found.raters),
        "order": [
            {"item": query.item, "variants": list(query.order), "asked_first": query.first}
            for query in found.queries
        ],
        "asked_first": found.first.to_dict(),
    }


def _build_query_record(query: Query) -> dict[str, Any]:
    return {
        "item": query.item,
        "mode": query.mode,
        "baseline": {"mean": to_float(query.mean.baseline)},
        "candidate": {"mean": to_float(query.mean.candidate)},
        "difference": to_float(query.mean.difference),
        "verdict": query.verdict,
        "reasons": list(query.reasons),
        "meaningful_axes": list(query.meaningful_axes),
        "because": query.because,
        "baseline_below_floor": query.baseline_below_floor,
        "axes": {axis: build_sides_record(sides) for axis, sides in query.axes.items()},
        "missing": list(query.missing),
        "notes": [_build_note_record(rating) for rating in query.notes],
        "order": list(query.order),
        "asked_first": query.first,
    }


def build_sides_record(sides: Sides) -> dict[str, Any]:
    """Return the numbers of both variants and their difference."""
    return {
        "baseline": to_float(sides.baseline),
        "candidate": to_float(sides.candidate),
        "difference": to_float(sides.difference),
    }


def _build_note_record(rating: Rating) -> dict[str, Any]:
    return {
        "variant": rating.variant,
        "rater": rating.rater,
        "axis": rating.axis,
        "note": rating.note,
    }


def _build_decision_record(ruling: Ruling) -> dict[str, Any]:
    return {
        "outcome": "none" if ruling.outcome is None else ruling.outcome.value,
        "rule": ruling.rule,
        "because": ruling.because,
        "next": ruling.next,
        "rules": list(ruling.rules),
        "monitoring": list(ruling.monitoring),
    }


def _build_aggregate_record(part: Aggregate) -> dict[str, Any]:
    return {
        "queries": part.queries,
        "n": part.n,
        **build_sides_record(part.mean),
        "axes": {axis: build_sides_record(sides) for axis, sides in part.axes.items()},
        "verdicts": dict(part.verdicts),
    }


def _build_metric_record(metric: MetricSummary) -> dict[str, Any]:
    return {
        "n": metric.n,
        **build_sides_record(metric.mean),
        "items": {item: build_sides_record(sides) for item, sides in metric.pairs.items()},
    }


def _build_check_record(check: CheckSummary) -> dict[str, Any]:
    sides = ("baseline", "candidate")
    return {
        **{
            side: {"judged": j, "failed": f}
            for side, j, f in zip(sides, check.judged, check.failed, strict=True)
        },
        "items": {
            item: {"baseline": to_float(pair.baseline), "candidate": to_float(pair.candidate)}
            for item, pair in check.pairs.items()
        },
        "reasons": [
            {"item": item, "variant": variant, "reason": reason}
            for (item, variant), reason in check.reasons.items()
        ],
    }


def build_statistics_record(found: Statistics) -> dict[str, Any]:
    """Return what can be known, as data."""
    two, one = found.smallest_p
    evidence = found.non_inferiority
    return {
        "n": found.paired.n,
        "descriptive_only": found.descriptive_only,
        "smallest_p": {"two_sided": to_float(two), "one_sided": to_float(one)},
        "pairs_for_p_0.05": {"alone": found.pairs_for_p[0], "over_axes": found.pairs_for_p[1]},
        "difference": build_paired_record(found.paired),
        "axes": {axis.axis: _build_axis_record(axis) for axis in found.axes},
        "non_inferiority": {
            "margin": to_float(found.margin),
            "outcome": evidence.outcome.value,
            "lower": evidence.lower,
            "upper": evidence.upper,
            "p_t": evidence.p,
            "p_sign_flip": to_float(found.non_inferiority_p),
            "pairs_needed": evidence.items_needed,
            "because": evidence.because,
        },
        "detectable": {
            "power": found.detectable.power,
            "two_sided_sd": found.detectable.two_sided,
            "one_sided_sd": found.detectable.one_sided,
            "two_sided": found.detectable.two_sided_points,
            "one_sided": found.detectable.one_sided_points,
            "pairs_needed": found.detectable.pairs_needed,
        },
        "agreement": None if found.agreement is None else _build_agreement_record(found.agreement),
        "operating": None if found.operating is None else _build_operating_record(found.operating),
        "sensitivity": [_build_flip_record(flip) for flip in found.sensitivity],
        "guarantee": None
        if found.guarantee is None
        else dict(zip(("worst", "lower", "upper"), found.guarantee, strict=True)),
        "clustered": None if found.clustered is None else _build_clustered_record(found.clustered),
        "plain": list(found.plain),
    }


def _build_clustered_record(found: ClusteredMean) -> dict[str, Any]:
    return {
        "clusters": found.clusters,
        "mean": to_float(found.mean),
        "standard_error": found.standard_error,
        "interval": {"confidence": 0.95, "lower": found.lower, "upper": found.upper},
    }


def build_paired_record(found: PairedSummary) -> dict[str, Any]:
    """Return paired differences as data."""
    flips = found.flips
    return {
        "n": found.n,
        "mean": to_float(found.mean),
        "sd": found.sd,
        "standard_error": found.standard_error,
        "interval": {"confidence": 0.95, "lower": found.lower, "upper": found.upper},
        "t": found.t,
        "p_t": found.p_t,
        "sign_flip": None
        if flips is None
        else {
            "two_sided": to_float(flips.two_sided),
            "worse": to_float(flips.lower),
            "better": to_float(flips.upper),
            "exact": flips.exact,
        },
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
    }


def _build_axis_record(axis: PairedAxis) -> dict[str, Any]:
    return {
        **build_paired_record(axis.paired),
        "p": to_float(axis.p),
        "p_holm": to_float(axis.p_holm),
    }


def _build_agreement_record(found: Agreement) -> dict[str, Any]:
    return {
        "raters": list(found.raters),
        "units": found.units,
        "percent": to_float(found.percent),
        "alpha_ordinal": to_float(found.alpha),
        "ac2_quadratic": to_float(found.ac2),
        "kappa_quadratic": [
            {"raters": list(pair), "kappa": to_float(kappa)} for pair, kappa in found.kappa.items()
        ],
    }


def _build_operating_record(found: OperatingCharacteristic) -> dict[str, Any]:
    return {
        "noise": found.noise,
        "identical": _build_chances_record(found.identical),
        "as_observed": _build_chances_record(found.as_observed),
        "repeats_disagree": to_float(found.repeats_disagree),
        "observed_repeats_disagree": to_float(found.observed_repeats_disagree),
        "exact": found.exact,
        "simulated": {
            "draws": found.simulated.draws,
            "seed": found.simulated.seed,
            "identical": _build_chances_record(found.simulated.identical),
        },
    }


def _build_chances_record(chances: DecisionChances) -> Mapping[str, float | None]:
    return {
        "none" if outcome is None else outcome.value: _round_chance(chance)
        for outcome, chance in chances.items()
    }


def _round_chance(chance: Fraction) -> float:
    return round(float(chance), 9)


def _build_flip_record(flip: RatingFlip) -> dict[str, Any]:
    def named(outcome: Any) -> str:
        return "none" if outcome is None else str(outcome.value)

    return {
        "item": flip.rating.item,
        "variant": flip.rating.variant,
        "rater": flip.rating.rater,
        "axis": flip.rating.axis,
        "score": flip.rating.score,
        "instead": flip.score,
        "verdict": {"before": flip.verdict_before, "after": flip.verdict_after},
        "decision": {
            "before": named(flip.decision_before),
            "after": named(flip.decision_after),
        },
        "decides": flip.decides,
    }
