"""What a page shows of two runs: the outcome and what would settle it, axes, items, tags, words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.tell.charts import ChartRange, DotPair, Gap, colours, draw_gaps, draw_paired_dots
from markscheme.tell.compare.run_outcomes import (
    compute_bounds,
    describe_pair_doubts,
    explain_outcome,
    explain_what_settles,
    format_margin,
)
from markscheme.tell.compare.runs import (
    GROUPS_SHOWN,
    build_run_axis_rows,
    build_tag_rows,
    find_lost_tags,
    format_evidence,
    format_pair_lines,
)
from markscheme.tell.language import translate, translate_plural
from markscheme.vocabulary import format_decimal, format_signed, to_float
from markscheme.weigh.gates import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markupsafe import Markup

    from markscheme.tell.compare.tables import TableRows
    from markscheme.vocabulary import Rubric
    from markscheme.weigh.compare import PairedTag, RunPair

EVIDENCE_KINDS = {
    Evidence.PASS: "pass",
    Evidence.FAIL: "fail",
    Evidence.INCONCLUSIVE: "undecided",
}
_EVIDENCE_COLOURS = {
    Evidence.PASS: colours.GOOD,
    Evidence.FAIL: colours.BAD,
    Evidence.INCONCLUSIVE: colours.UNDECIDED,
}
_STEP, _MAX_LINES = 0.1, 6
_STEPS = (0.05, 0.1, 0.2)


def build_pair_view(pair: RunPair, rubric: Rubric, colour: int) -> dict[str, Any]:
    """Return what is shown of two runs, but for their items."""
    evidence = pair.statistics.non_inferiority
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "colour": colour,
        "kind": EVIDENCE_KINDS[evidence.outcome],
        "word": format_evidence(evidence.outcome),
        "numbers": (
            format_decimal(pair.score.baseline),
            format_decimal(pair.score.candidate),
            format_signed(pair.score.difference),
        ),
        "because": explain_outcome(pair),
        "settles": explain_what_settles(pair),
        "doubts": list(describe_pair_doubts(pair)),
        "where": list(_locate_difference(pair, rubric)),
        "gap": draw_run_gaps([pair]),
        "axes": _draw_pair_axes(pair, colour),
        "axis_rows": _build_weighted_axis_rows(pair, rubric),
        "tags": build_tag_rows(pair),
        "tags_more": max(0, len(find_lost_tags(pair)) - GROUPS_SHOWN),
        "pairing": list(_describe_pairing(pair)),
        "plain": list(format_pair_lines(pair, items=False)),
    }


def draw_run_gaps(pairs: Sequence[RunPair]) -> Markup:
    """Draw how far each run is from the first, beside the margin."""
    found = [
        Gap(
            name=pair.candidate,
            mean=to_float(pair.score.difference) or 0.0,
            bounds=compute_bounds(pair),
            limit=-(to_float(pair.statistics.margin) or 0.0),
            colour=_EVIDENCE_COLOURS[pair.statistics.non_inferiority.outcome],
        )
        for pair in pairs
    ]
    return draw_gaps(
        found, translate("no difference"), translate("margin {by}", by=format_margin(pairs[0]))
    )


def _locate_difference(pair: RunPair, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield what the difference is made of, and in which part of the page that stands."""
    found = {
        "items": _describe_crossed(pair),
        "axes": _describe_worst_axis(pair, rubric),
        "tags": _describe_worst_tag(pair),
    }
    yield from ((part, words) for part, words in found.items() if words)


def _describe_crossed(pair: RunPair) -> str:
    down, up = len(pair.regressed), len(pair.recovered)
    if not down and not up:
        return ""
    fell = translate_plural(
        "{n} item went from pass to fail", "{n} items went from pass to fail", down
    )
    return translate("{fell}, {up:,} the other way.", fell=fell, up=up)


def _describe_worst_axis(pair: RunPair, rubric: Rubric) -> str:
    """Name the axis that costs the score most, by its weight."""
    by, axis = min((_weigh_difference(pair, spec.name, spec.weight), spec.name) for spec in rubric)
    if by >= 0:
        return ""
    return translate(
        "Most is lost on {axis}: {by} points of the score.", axis=axis, by=format_signed(by)
    )


def _describe_worst_tag(pair: RunPair) -> str:
    """Name the tag that costs most; one that all items have would cost no more than the average."""
    average = pair.score.difference or Fraction(0)
    worst = min(
        find_lost_tags(pair), key=lambda tag: _compute_excess_loss(tag, average), default=None
    )
    if worst is None or _compute_excess_loss(worst, average) >= 0:
        return ""
    return translate(
        "{tag} loses most beyond the average: {by}, over {n:,} items.",
        tag=f"{worst.tag}={worst.value}",
        by=format_signed(worst.paired.mean),
        n=worst.paired.n,
    )


def _compute_excess_loss(tag: PairedTag, average: Fraction) -> Fraction:
    """Return how much more a group lost than as many items lose on average."""
    return tag.paired.n * ((tag.paired.mean or 0) - average)


def _weigh_difference(pair: RunPair, axis: str, weight: Any) -> Fraction:
    return Fraction(weight) * (pair.axes[axis].difference or 0)


def _draw_pair_axes(pair: RunPair, colour: int) -> Markup:
    """Draw both runs on the score and on every axis; the line begins where something is to see."""
    rows = [(translate("score"), pair.score), *pair.axes.items()]
    values = [side for _, sides in rows for side in (sides.baseline, sides.candidate)]
    least = min((to_float(value) or 0.0 for value in values), default=0.0)
    lowest = max(0.0, min(0.8, int(least / _STEP) * _STEP))
    step = next(step for step in _STEPS if 1 - lowest <= _MAX_LINES * step)
    pairs = [
        DotPair(name=name, baseline=to_float(sides.baseline), candidate=to_float(sides.candidate))
        for name, sides in rows
    ]
    return draw_paired_dots(pairs, ChartRange(lowest=lowest, highest=1, step=step), colour)


def _build_weighted_axis_rows(pair: RunPair, rubric: Rubric) -> TableRows:
    """Return the table of axes, with what each of them is of the difference of the score."""
    header, score, *axes = build_run_axis_rows(pair)
    parts = [format_signed(_weigh_difference(pair, spec.name, spec.weight)) for spec in rubric]
    return [
        (*header[:4], translate("of the score"), *header[4:]),
        (*score[:4], score[3], *score[4:]),
        *((*row[:4], part, *row[4:]) for row, part in zip(axes, parts, strict=True)),
    ]


def _describe_pairing(pair: RunPair) -> Iterator[tuple[str, str]]:
    """Yield how the answers were put in pairs, and who was asked first."""
    attempts, first = pair.attempts, pair.first
    yield translate("items"), f"{len(attempts.items):,}"
    yield translate("pairs of answers"), f"{attempts.count:,}"
    for name, only in (
        (pair.baseline, attempts.baseline_only),
        (pair.candidate, attempts.candidate_only),
    ):
        if only:
            yield translate("attempts of {run} only, not compared", run=name), f"{only:,}"
    for name, often in ((pair.baseline, first.baseline), (pair.candidate, first.candidate)):
        if first.known:
            yield translate("{run} was asked first", run=name), f"{often:,}"
    if first.unknown:
        yield translate("order not recorded"), f"{first.unknown:,}"
