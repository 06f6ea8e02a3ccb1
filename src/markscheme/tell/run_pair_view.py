"""What a page shows of two runs: the outcome and what would settle it, axes, items, tags, words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, show, signed
from markscheme.tell import colours
from markscheme.tell.comparison_charts import Pair, Range, paired_dots
from markscheme.tell.difference_charts import Gap, gaps
from markscheme.tell.language import say, say_many
from markscheme.tell.run_outcomes import because_of, bounds_of, doubts_of, margin_of, settles_of
from markscheme.tell.run_pairs import (
    GROUPS_SHOWN,
    axis_rows,
    lost_tags,
    outcome_words,
    pair_lines,
    tag_rows,
)
from markscheme.weigh.outcomes import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markupsafe import Markup

    from markscheme.tell.comparison_tables import Rows
    from markscheme.vocabulary import Rubric
    from markscheme.weigh.paired_runs import PairedTag, RunPair

KINDS = {
    Evidence.PASS: "pass",
    Evidence.FAIL: "fail",
    Evidence.INCONCLUSIVE: "undecided",
}
_COLOURS = {
    Evidence.PASS: colours.GOOD,
    Evidence.FAIL: colours.BAD,
    Evidence.INCONCLUSIVE: colours.UNDECIDED,
}
_STEP, _LINES = 0.1, 6
_STEPS = (0.05, 0.1, 0.2)


def pair_view(pair: RunPair, rubric: Rubric, colour: int) -> dict[str, Any]:
    """Return what is shown of two runs, but for their items."""
    evidence = pair.statistics.non_inferiority
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "colour": colour,
        "kind": KINDS[evidence.outcome],
        "word": outcome_words(evidence.outcome),
        "numbers": (
            show(pair.score.baseline),
            show(pair.score.candidate),
            signed(pair.score.difference),
        ),
        "because": because_of(pair),
        "settles": settles_of(pair),
        "doubts": list(doubts_of(pair)),
        "where": list(_where(pair, rubric)),
        "gap": drawn_gaps([pair]),
        "axes": _axes(pair, colour),
        "axis_rows": _axis_rows(pair, rubric),
        "tags": tag_rows(pair),
        "tags_more": max(0, len(lost_tags(pair)) - GROUPS_SHOWN),
        "pairing": list(_pairing(pair)),
        "plain": list(pair_lines(pair, items=False)),
    }


def drawn_gaps(pairs: Sequence[RunPair]) -> Markup:
    """Draw how far each run is from the first, beside the margin."""
    found = [
        Gap(
            name=pair.candidate,
            mean=number(pair.score.difference) or 0.0,
            bounds=bounds_of(pair),
            limit=-(number(pair.statistics.margin) or 0.0),
            colour=_COLOURS[pair.statistics.non_inferiority.outcome],
        )
        for pair in pairs
    ]
    return gaps(found, say("no difference"), say("margin {by}", by=margin_of(pairs[0])))


def _where(pair: RunPair, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield what the difference is made of, and in which part of the page that stands."""
    found = {
        "items": _crossed(pair),
        "axes": _worst_axis(pair, rubric),
        "tags": _worst_tag(pair),
    }
    yield from ((part, words) for part, words in found.items() if words)


def _crossed(pair: RunPair) -> str:
    down, up = len(pair.regressed), len(pair.recovered)
    if not down and not up:
        return ""
    fell = say_many("{n} item went from pass to fail", "{n} items went from pass to fail", down)
    return say("{fell}, {up:,} the other way.", fell=fell, up=up)


def _worst_axis(pair: RunPair, rubric: Rubric) -> str:
    """Name the axis that costs the score most, by its weight."""
    by, axis = min((_weighed(pair, spec.name, spec.weight), spec.name) for spec in rubric)
    if by >= 0:
        return ""
    return say("Most is lost on {axis}: {by} points of the score.", axis=axis, by=signed(by))


def _worst_tag(pair: RunPair) -> str:
    """Name the tag that costs most; one that all items have would cost no more than the average."""
    average = pair.score.difference or Fraction(0)
    worst = min(lost_tags(pair), key=lambda tag: _beyond(tag, average), default=None)
    if worst is None or _beyond(worst, average) >= 0:
        return ""
    return say(
        "{tag} loses most beyond the average: {by}, over {n:,} items.",
        tag=f"{worst.tag}={worst.value}",
        by=signed(worst.paired.mean),
        n=worst.paired.n,
    )


def _beyond(tag: PairedTag, average: Fraction) -> Fraction:
    """Return how much more a group lost than as many items lose on average."""
    return tag.paired.n * ((tag.paired.mean or 0) - average)


def _weighed(pair: RunPair, axis: str, weight: Any) -> Fraction:
    return Fraction(weight) * (pair.axes[axis].difference or 0)


def _axes(pair: RunPair, colour: int) -> Markup:
    """Draw both runs on the score and on every axis; the line begins where something is to see."""
    rows = [(say("score"), pair.score), *pair.axes.items()]
    values = [side for _, sides in rows for side in (sides.baseline, sides.candidate)]
    least = min((number(value) or 0.0 for value in values), default=0.0)
    lowest = max(0.0, min(0.8, int(least / _STEP) * _STEP))
    step = next(step for step in _STEPS if 1 - lowest <= _LINES * step)
    pairs = [
        Pair(name=name, baseline=number(sides.baseline), candidate=number(sides.candidate))
        for name, sides in rows
    ]
    return paired_dots(pairs, Range(lowest=lowest, highest=1, step=step), colour)


def _axis_rows(pair: RunPair, rubric: Rubric) -> Rows:
    """Return the table of axes, with what each of them is of the difference of the score."""
    header, score, *axes = axis_rows(pair)
    parts = [signed(_weighed(pair, spec.name, spec.weight)) for spec in rubric]
    return [
        (*header[:4], say("of the score"), *header[4:]),
        (*score[:4], score[3], *score[4:]),
        *((*row[:4], part, *row[4:]) for row, part in zip(axes, parts, strict=True)),
    ]


def _pairing(pair: RunPair) -> Iterator[tuple[str, str]]:
    """Yield how the answers were put in pairs, and who was asked first."""
    attempts, first = pair.attempts, pair.first
    yield say("items"), f"{len(attempts.items):,}"
    yield say("pairs of answers"), f"{attempts.count:,}"
    for name, only in (
        (pair.baseline, attempts.baseline_only),
        (pair.candidate, attempts.candidate_only),
    ):
        if only:
            yield say("attempts of {run} only, not compared", run=name), f"{only:,}"
    for name, often in ((pair.baseline, first.baseline), (pair.candidate, first.candidate)):
        if first.known:
            yield say("{run} was asked first", run=name), f"{often:,}"
    if first.unknown:
        yield say("order not recorded"), f"{first.unknown:,}"
