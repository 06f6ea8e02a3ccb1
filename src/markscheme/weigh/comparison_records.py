"""A comparison as plain data: the JSON document, which the other formats follow.

Numbers are the nearest doubles of exact fractions; what is not known is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.exact import number
from markscheme.weigh.records import exam_record, rubric_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from markscheme.vocabulary import Rating
    from markscheme.weigh.agreement import Agreement
    from markscheme.weigh.comparison import (
        Aggregate,
        CheckSummary,
        Comparison,
        MetricSummary,
        Query,
        Ruling,
        Sides,
    )
    from markscheme.weigh.figures import Paired, PairedAxis, Statistics
    from markscheme.weigh.operating import Operating
    from markscheme.weigh.proportions import Clustered
    from markscheme.weigh.sensitivity import Flip
    from markscheme.weigh.simulation import Chances


def comparison_record(found: Comparison) -> dict[str, Any]:
    """Return the document that `markscheme compare --format json` prints."""
    return {
        "queries": [_query(query) for query in found.queries],
        "decision": _decision(found.decision),
        "aggregate": {
            "overall": _aggregate(found.overall),
            "by_mode": {mode: _aggregate(part) for mode, part in found.by_mode.items()},
        },
        "operational": {metric.metric: _metric(metric) for metric in found.operational},
        "structural": {check.axis: _check(check) for check in found.structural},
        "statistics": statistics_record(found.statistics),
        "rubric": rubric_record(found.rubric),
        "exam": exam_record(found.exam),
        "baseline": found.baseline,
        "candidate": found.candidate,
        "raters": list(found.raters),
        "order": [
            {"item": query.item, "variants": list(query.order), "asked_first": query.first}
            for query in found.queries
        ],
        "asked_first": found.first.to_dict(),
    }


def _query(query: Query) -> dict[str, Any]:
    return {
        "item": query.item,
        "mode": query.mode,
        "baseline": {"mean": number(query.mean.baseline)},
        "candidate": {"mean": number(query.mean.candidate)},
        "difference": number(query.mean.difference),
        "verdict": query.verdict,
        "reasons": list(query.reasons),
        "meaningful_axes": list(query.meaningful_axes),
        "because": query.because,
        "baseline_below_floor": query.baseline_below_floor,
        "axes": {axis: sides_record(sides) for axis, sides in query.axes.items()},
        "missing": list(query.missing),
        "notes": [_note(rating) for rating in query.notes],
        "order": list(query.order),
        "asked_first": query.first,
    }


def sides_record(sides: Sides) -> dict[str, Any]:
    """Return the numbers of both variants and their difference."""
    return {
        "baseline": number(sides.baseline),
        "candidate": number(sides.candidate),
        "difference": number(sides.difference),
    }


def _note(rating: Rating) -> dict[str, Any]:
    return {
        "variant": rating.variant,
        "rater": rating.rater,
        "axis": rating.axis,
        "note": rating.note,
    }


def _decision(ruling: Ruling) -> dict[str, Any]:
    return {
        "outcome": "none" if ruling.outcome is None else ruling.outcome.value,
        "rule": ruling.rule,
        "because": ruling.because,
        "next": ruling.next,
        "rules": list(ruling.rules),
        "monitoring": list(ruling.monitoring),
    }


def _aggregate(part: Aggregate) -> dict[str, Any]:
    return {
        "queries": part.queries,
        "n": part.n,
        **sides_record(part.mean),
        "axes": {axis: sides_record(sides) for axis, sides in part.axes.items()},
        "verdicts": dict(part.verdicts),
    }


def _metric(metric: MetricSummary) -> dict[str, Any]:
    return {
        "n": metric.n,
        **sides_record(metric.mean),
        "items": {item: sides_record(sides) for item, sides in metric.pairs.items()},
    }


def _check(check: CheckSummary) -> dict[str, Any]:
    sides = ("baseline", "candidate")
    return {
        **{
            side: {"judged": j, "failed": f}
            for side, j, f in zip(sides, check.judged, check.failed, strict=True)
        },
        "items": {
            item: {"baseline": number(pair.baseline), "candidate": number(pair.candidate)}
            for item, pair in check.pairs.items()
        },
        "reasons": [
            {"item": item, "variant": variant, "reason": reason}
            for (item, variant), reason in check.reasons.items()
        ],
    }


def statistics_record(found: Statistics) -> dict[str, Any]:
    """Return what can be known, as data."""
    two, one = found.smallest_p
    evidence = found.non_inferiority
    return {
        "n": found.paired.n,
        "descriptive_only": found.descriptive_only,
        "smallest_p": {"two_sided": number(two), "one_sided": number(one)},
        "pairs_for_p_0.05": {"alone": found.pairs_for_p[0], "over_axes": found.pairs_for_p[1]},
        "difference": paired_record(found.paired),
        "axes": {axis.axis: _axis(axis) for axis in found.axes},
        "non_inferiority": {
            "margin": number(found.margin),
            "outcome": evidence.outcome.value,
            "lower": evidence.lower,
            "upper": evidence.upper,
            "p_t": evidence.p,
            "p_sign_flip": number(found.non_inferiority_p),
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
        "agreement": None if found.agreement is None else _agreement(found.agreement),
        "operating": None if found.operating is None else _operating(found.operating),
        "sensitivity": [_flip(flip) for flip in found.sensitivity],
        "guarantee": None
        if found.guarantee is None
        else dict(zip(("worst", "lower", "upper"), found.guarantee, strict=True)),
        "clustered": None if found.clustered is None else _clustered(found.clustered),
        "plain": list(found.plain),
    }


def _clustered(found: Clustered) -> dict[str, Any]:
    return {
        "clusters": found.clusters,
        "mean": number(found.mean),
        "standard_error": found.standard_error,
        "interval": {"confidence": 0.95, "lower": found.lower, "upper": found.upper},
    }


def paired_record(found: Paired) -> dict[str, Any]:
    """Return paired differences as data."""
    flips = found.flips
    return {
        "n": found.n,
        "mean": number(found.mean),
        "sd": found.sd,
        "standard_error": found.standard_error,
        "interval": {"confidence": 0.95, "lower": found.lower, "upper": found.upper},
        "t": found.t,
        "p_t": found.p_t,
        "sign_flip": None
        if flips is None
        else {
            "two_sided": number(flips.two_sided),
            "worse": number(flips.lower),
            "better": number(flips.upper),
            "exact": flips.exact,
        },
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
    }


def _axis(axis: PairedAxis) -> dict[str, Any]:
    return {**paired_record(axis.paired), "p": number(axis.p), "p_holm": number(axis.p_holm)}


def _agreement(found: Agreement) -> dict[str, Any]:
    return {
        "raters": list(found.raters),
        "units": found.units,
        "percent": number(found.percent),
        "alpha_ordinal": number(found.alpha),
        "ac2_quadratic": number(found.ac2),
        "kappa_quadratic": [
            {"raters": list(pair), "kappa": number(kappa)} for pair, kappa in found.kappa.items()
        ],
    }


def _operating(found: Operating) -> dict[str, Any]:
    return {
        "noise": found.noise,
        "identical": _chances(found.identical),
        "as_observed": _chances(found.as_observed),
        "repeats_disagree": number(found.repeats_disagree),
        "observed_repeats_disagree": number(found.observed_repeats_disagree),
        "exact": found.exact,
        "simulated": {
            "draws": found.simulated.draws,
            "seed": found.simulated.seed,
            "identical": _chances(found.simulated.identical),
        },
    }


def _chances(chances: Chances) -> Mapping[str, float | None]:
    return {
        "none" if outcome is None else outcome.value: _rounded(chance)
        for outcome, chance in chances.items()
    }


def _rounded(chance: Fraction) -> float:
    return round(float(chance), 9)


def _flip(flip: Flip) -> dict[str, Any]:
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
