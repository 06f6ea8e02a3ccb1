"""Runs beside each other: in pairs by item, per axis and tag, each pair of runs with its evidence.

The attempts of one item are not independent of each other, so an item counts by their mean.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markscheme.exact import mean
from markscheme.frozen import Frozen
from markscheme.sentences import sentence
from markscheme.vocabulary import Allowance, Exam, Rubric
from markscheme.weigh.advice import reach_in_words
from markscheme.weigh.comparison import Sides
from markscheme.weigh.evidence import non_inferiority
from markscheme.weigh.figures import (
    Paired,
    Statistics,
    detectable_by,
    paired,
    paired_axes,
    reach,
)
from markscheme.weigh.outcomes import Evidence
from markscheme.weigh.proportions import McNemar, clustered, mcnemar
from markscheme.weigh.run_pair_records import runs_record
from markscheme.weigh.runs import incomplete
from markscheme.weigh.sign_flips import sign_flip
from markscheme.weigh.statistics import holm
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.weigh.recalibration import Past
    from markscheme.weigh.summaries import Totals

USUAL_MARGIN = Allowance(amount=Decimal("0.02"), relative=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTag:
    """The items that share the value of a tag, in pairs; `p_holm` is over all groups there are."""

    tag: str
    value: str
    paired: Paired
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """Two runs: the first is the baseline. `items` holds the mean score of each item in both.

    `passed` counts the items that only one of them passes; `p_holm` adjusts the two-sided p of the
    score for the number of pairs of runs.
    """

    baseline: str
    candidate: str
    score: Sides
    axes: Mapping[str, Sides]
    items: Mapping[str, Sides]
    tags: tuple[PairedTag, ...]
    passed: McNemar
    statistics: Statistics
    p_holm: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Runs in pairs, and what follows for those after the first: is one of them worse than it?

    Where runs cannot be compared, there are no pairs, and `because` says why.
    """

    rubric: Rubric
    exam: Exam
    runs: tuple[str, ...]
    margin: Allowance
    pairs: tuple[RunPair, ...]
    outcome: Evidence
    because: str

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare RUN RUN --format json` prints."""
        return runs_record(self)


def pair_runs(
    pasts: Sequence[Past], margin: Allowance | None = None, cluster: str | None = None
) -> RunsComparison:
    """Compare every two runs; the first is what the others must not be worse than.

    The margin is that of the rubric's baseline gate for the exam, 2 % where there is none.
    """
    first = pasts[0]
    limit = margin or _margin(first)
    names = tuple(past.run.name for past in pasts)
    why = next(filter(None, (_incomparable(past, first) for past in pasts)), "")
    pairs = (
        () if why else _with_holm([_pair(*two, limit, cluster) for two in combinations(pasts, 2)])
    )
    outcome, because = _outcome(pairs, names[0])
    return RunsComparison(
        rubric=first.rubric,
        exam=first.exam,
        runs=names,
        margin=limit,
        pairs=pairs,
        outcome=outcome,
        because=why or because,
    )


def _margin(past: Past) -> Allowance:
    limits = [gate.baseline for gate in past.rubric.gates if gate.applies_to(past.exam)]
    return next((limit.max_drop for limit in limits if limit is not None), USUAL_MARGIN)


def _incomparable(past: Past, first: Past) -> str:
    """Say why a run cannot be compared with the first, where it cannot."""
    run, other = past.run, first.run
    for what, ours, theirs in (
        ("rubric", run.rubric, other.rubric),
        ("exam", run.exam, other.exam),
    ):
        if ours is None:
            return sentence(
                "`{run}` does not say under which {what} it was scored", run=run.name, what=what
            )
        if ours != theirs:
            return sentence(
                "`{run}` has another {what} fingerprint than `{first}`; only runs under the same "
                "one can be compared",
                run=run.name,
                what=what,
                first=other.name,
            )
    return "" if run.marks.complete else incomplete(run.marks, f"`{run.name}`")


def _pair(before: Past, after: Past, limit: Allowance, cluster: str | None) -> RunPair:
    scale = Scale(before.rubric)
    ours, theirs = (_totals(scale, past) for past in (after, before))
    scores = {item: Sides(baseline=theirs[item].mean, candidate=ours[item].mean) for item in theirs}
    axes = {
        axis: [_axis(ours[item], axis) - _axis(theirs[item], axis) for item in theirs]
        for axis in scale.axes
    }
    differences = {item: sides.difference or Fraction(0) for item, sides in scores.items()}
    mark = Fraction(before.rubric.pass_mark)
    passed = [(_known(s.baseline) >= mark, _known(s.candidate) >= mark) for s in scores.values()]
    n = len(scores)
    return RunPair(
        baseline=before.run.name,
        candidate=after.run.name,
        score=Sides(
            baseline=mean(sum((_known(s.baseline) for s in scores.values()), Fraction(0)), n),
            candidate=mean(sum((_known(s.candidate) for s in scores.values()), Fraction(0)), n),
        ),
        axes=Frozen({axis: _axis_sides(theirs, ours, axis) for axis in scale.axes}),
        items=Frozen(scores),
        tags=tuple(_tags(before.exam, differences)),
        passed=mcnemar(passed.count((True, False)), passed.count((False, True)), n),
        statistics=_statistics(before, after, scores, axes, (limit, cluster)),
    )


def _totals(scale: Scale, past: Past) -> dict[str, Totals]:
    counts = past.run.marks.items
    return {item.id: scale.item(counts[item.id]) for item in past.exam.items}


def _axis(totals: Totals, axis: str) -> Fraction:
    return totals.axes[axis] / totals.n


def _known(value: Fraction | None) -> Fraction:
    if value is None:
        raise ValueError("a run that is complete has a score for every item")
    return value


def _axis_sides(theirs: Mapping[str, Totals], ours: Mapping[str, Totals], axis: str) -> Sides:
    def middle(totals: Mapping[str, Totals]) -> Fraction | None:
        return mean(sum((_axis(one, axis) for one in totals.values()), Fraction(0)), len(totals))

    return Sides(baseline=middle(theirs), candidate=middle(ours))


def _statistics(
    before: Past,
    after: Past,
    scores: Mapping[str, Sides],
    axes: Mapping[str, Sequence[Fraction]],
    asked: tuple[Allowance, str | None],
) -> Statistics:
    limit, cluster = asked
    pairs = [(_known(sides.baseline), _known(sides.candidate)) for sides in scores.values()]
    differences = [candidate - baseline for baseline, candidate in pairs]
    overall = paired(differences)
    middle = mean(sum((baseline for baseline, _ in pairs), Fraction(0)), len(pairs))
    margin = limit.points(middle or Fraction(0))
    smallest, needed = reach(len(pairs), len(axes))
    kept = 1 - Fraction(limit.amount) if limit.relative else Fraction(1)
    shift = Fraction(0) if limit.relative else Fraction(limit.amount)
    tags = [item.tags.get(cluster or "") for item in before.exam.items]
    found = Statistics(
        paired=overall,
        axes=paired_axes(axes),
        margin=margin,
        non_inferiority=non_inferiority(pairs, limit),
        non_inferiority_p=sign_flip([c - kept * b + shift for b, c in pairs]).upper,
        smallest_p=smallest,
        pairs_for_p=needed,
        detectable=detectable_by(len(pairs), overall.sd, margin),
        clustered=clustered(differences, tags) if cluster else None,
    )
    words = reach_in_words(found, after.run.name, before.run.name)
    return dataclasses.replace(found, plain=tuple(words))


def _tags(exam: Exam, differences: Mapping[str, Fraction]) -> Iterator[PairedTag]:
    """Yield the groups of two items or more by tag, the largest loss first."""
    groups: dict[tuple[str, str], list[Fraction]] = defaultdict(list)
    for item in exam.items:
        for tag, value in item.tags.items():
            groups[tag, str(value)].append(differences[item.id])
    found = {key: paired(values) for key, values in groups.items() if len(values) > 1}
    adjusted = holm([one.flips.two_sided for one in found.values() if one.flips])
    rows = [
        PairedTag(tag=tag, value=value, paired=one, p_holm=p)
        for ((tag, value), one), p in zip(found.items(), adjusted, strict=True)
    ]
    yield from sorted(rows, key=lambda row: (row.paired.mean or 0, row.tag, row.value))


def _with_holm(pairs: Sequence[RunPair]) -> tuple[RunPair, ...]:
    tested = [pair.statistics.paired.flips for pair in pairs]
    adjusted = holm([flips.two_sided if flips else Fraction(1) for flips in tested])
    return tuple(
        dataclasses.replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)
    )


def _outcome(pairs: Sequence[RunPair], first: str) -> tuple[Evidence, str]:
    """Say whether a run is worse than the first by more than the margin."""
    beside = [pair for pair in pairs if pair.baseline == first]
    outcomes = {
        outcome: [
            pair.candidate for pair in beside if pair.statistics.non_inferiority.outcome is outcome
        ]
        for outcome in Evidence
    }
    for outcome in (Evidence.FAIL, Evidence.INCONCLUSIVE, Evidence.PASS):
        if outcomes[outcome]:
            named = ", ".join(outcomes[outcome])
            return outcome, _SAID[outcome](named, first)
    return Evidence.INCONCLUSIVE, ""


_SAID = {
    Evidence.FAIL: lambda named, first: sentence(
        "worse than {first} by more than the margin: {named}", first=first, named=named
    ),
    Evidence.INCONCLUSIVE: lambda named, first: sentence(
        "it cannot be told whether worse than {first} by more than the margin: {named}",
        first=first,
        named=named,
    ),
    Evidence.PASS: lambda named, first: sentence(
        "not worse than {first} by more than the margin: {named}", first=first, named=named
    ),
}
