"""Runs beside each other: in pairs by item and attempt, per axis and tag, with their evidence."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import Allowance, Exam, FrozenDict, Rubric, compute_mean, sentence
from markscheme.weigh.compare.attempt_pairs import AttemptPairs, AttemptValues, SingleRunNoise
from markscheme.weigh.compare.order_effects import (
    AskedFirstCounts,
    AskedOrder,
    count_first_in_pairs,
)
from markscheme.weigh.compare.result import Sides
from markscheme.weigh.compare.rules import average_sides
from markscheme.weigh.compare.run_advice import add_plain_words, decide_outcome
from markscheme.weigh.compare.run_records import build_runs_record
from markscheme.weigh.compare.statistics import (
    PairedSummary,
    Statistics,
    build_detectable,
    compute_reach,
    summarise_axes,
)
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.stats import (
    McNemar,
    adjust_by_holm,
    compute_clustered_mean,
    run_sign_flip_test,
    sum_by_cluster,
)
from markscheme.weigh.totals import Measures, WeightScale, explain_incomplete

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from markscheme.weigh.compare.attempt_pairs import PairedDifferences
    from markscheme.weigh.totals import AxisValues

DEFAULT_MARGIN = Allowance(amount=Decimal("0.02"), relative=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run to be compared, with its answers by item and attempt, and when they were asked."""

    past: PastRun
    attempts: AttemptValues
    asked: AskedOrder | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTag:
    """The items that share the value of a tag, in pairs; `p_holm` is over all groups there are."""

    tag: str
    value: str
    paired: PairedSummary
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """Two runs: the first is the baseline. `items` holds the mean score of each item in both.

    Means are over the attempts that are in pairs. `passed` counts the pairs that only one of them
    passes; `regressed` are the items that went from pass to fail by their means, the largest loss
    first, and `recovered` those that went the other way. `single` is the noise of one attempt each,
    where it is seen; `p_holm` adjusts the two-sided p of the score for the number of pairs of runs.
    """

    baseline: str
    candidate: str
    score: Sides
    axes: Mapping[str, Sides]
    items: Mapping[str, Sides]
    attempts: AttemptPairs
    single: SingleRunNoise | None
    first: AskedFirstCounts
    tags: tuple[PairedTag, ...]
    passed: McNemar
    regressed: tuple[str, ...]
    recovered: tuple[str, ...]
    statistics: Statistics
    p_holm: Fraction | None = None

    @property
    def moved(self) -> list[str]:
        """The items whose mean changed, the largest loss first."""
        by = {item: sides.difference for item, sides in self.items.items() if sides.difference}
        return sorted(by, key=lambda item: (by[item], item))

    @property
    def lost(self) -> list[str]:
        """The items whose mean fell, the largest loss first."""
        return [item for item in self.moved if (self.items[item].difference or 0) < 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Runs in pairs, and what follows for those after the first: is one of them worse than it?

    Where runs cannot be compared, there are no pairs, and `because` says why.
    """

    rubric: Rubric
    exam: Exam
    runs: tuple[str, ...]
    subjects: tuple[str | None, ...]
    measures: tuple[Measures, ...]
    margin: Allowance
    pairs: tuple[RunPair, ...]
    outcome: Evidence
    because: str

    @property
    def beside_first(self) -> tuple[RunPair, ...]:
        """The pairs of the first run with each of the others."""
        return self.pairs[: len(self.runs) - 1]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare RUN RUN --format json` prints."""
        return build_runs_record(self)


def pair_runs(
    runs: Sequence[ComparedRun], margin: Allowance | None = None, cluster: str | None = None
) -> RunsComparison:
    """Compare every two runs; the first is what the others must not be worse than.

    The margin is that of the rubric's baseline gate for the exam, 2 % where there is none.
    """
    first = runs[0].past
    limit = margin or _find_gate_margin(first)
    names = tuple(one.past.run.name for one in runs)
    twos = list(combinations(runs, 2))
    why = next(filter(None, (_explain_incomparable(one.past, first) for one in runs)), "")
    why = why or next(filter(None, (_explain_unpaired(*two) for two in twos)), "")
    pairs = () if why else _adjust_run_pairs([_compare_pair(*two, limit, cluster) for two in twos])
    outcome, because = decide_outcome(pairs, names[0])
    return RunsComparison(
        rubric=first.rubric,
        exam=first.exam,
        runs=names,
        subjects=tuple(one.past.run.subject for one in runs),
        measures=tuple(one.past.run.measures for one in runs),
        margin=limit,
        pairs=pairs,
        outcome=outcome,
        because=why or because,
    )


def _find_gate_margin(past: PastRun) -> Allowance:
    limits = [gate.baseline for gate in past.rubric.gates if gate.applies_to(past.exam)]
    return next((limit.max_drop for limit in limits if limit is not None), DEFAULT_MARGIN)


def _explain_incomparable(past: PastRun, first: PastRun) -> str:
    """Say why a run cannot be compared with the first, where it cannot."""
    run, other = past.run, first.run
    for what, ours, theirs in (
        (sentence("rubric"), run.rubric, other.rubric),
        (sentence("exam"), run.exam, other.exam),
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
    return "" if run.marks.complete else explain_incomplete(run.marks, f"`{run.name}`")


def _explain_unpaired(before: ComparedRun, after: ComparedRun) -> str:
    """Say that an item has no attempt that both runs have, where that is so."""
    lacking = AttemptPairs.from_attempts(before.attempts, after.attempts).lacking
    if not lacking:
        return ""
    more = len(lacking) - 1
    return sentence(
        "`{after}` and `{before}` have no attempt of the same number on {item}{more}; "
        "pairs are by item and attempt",
        after=after.past.run.name,
        before=before.past.run.name,
        item=lacking[0],
        more=f" (+{more})" if more else "",
    )


def _compare_pair(
    before: ComparedRun, after: ComparedRun, limit: Allowance, cluster: str | None
) -> RunPair:
    past = before.past
    scale = WeightScale(past.rubric)
    attempts = AttemptPairs.from_attempts(before.attempts, after.attempts)
    scores = attempts.compute_differences(lambda values: _require_value(scale.score(values)))
    axes = {
        axis: attempts.compute_differences(partial(_get_axis_value, at=at))
        for at, axis in enumerate(scale.axes)
    }
    mark = Fraction(past.rubric.pass_mark)
    passed = attempts.compute_differences(
        lambda v: Fraction(_require_value(scale.score(v)) >= mark)
    )
    names = (past.run.name, after.past.run.name)
    return RunPair(
        baseline=names[0],
        candidate=names[1],
        score=average_sides(list(scores.items.values())),
        axes=FrozenDict(
            {axis: average_sides(list(one.items.values())) for axis, one in axes.items()}
        ),
        items=scores.items,
        attempts=attempts,
        single=scores.estimate_single_run(),
        first=count_first_in_pairs(before.asked, after.asked, attempts.list_keys()),
        tags=tuple(_compare_tags(past.exam, scores)),
        passed=passed.compute_mcnemar(),
        regressed=_find_crossed_items(scores.items, mark, down=True),
        recovered=_find_crossed_items(scores.items, mark, down=False),
        statistics=_compute_run_statistics(past.exam, scores, axes, limit, cluster),
    )


def _find_crossed_items(
    items: Mapping[str, Sides], mark: Fraction, *, down: bool
) -> tuple[str, ...]:
    """Return the items whose mean went across the pass mark, those that moved most first."""
    found = {}
    for item, sides in items.items():
        before, after = _require_value(sides.baseline), _require_value(sides.candidate)
        if (before >= mark) is down and (after < mark) is down:
            found[item] = -abs(after - before)
    return tuple(sorted(found, key=lambda item: (found[item], item)))


def _get_axis_value(values: AxisValues, at: int) -> Fraction:
    return _require_value(values[at])


def _require_value(value: Fraction | None) -> Fraction:
    if value is None:
        raise ValueError("a run that is complete has a value for every cell")
    return value


def _compute_run_statistics(
    exam: Exam,
    scores: PairedDifferences,
    axes: Mapping[str, PairedDifferences],
    limit: Allowance,
    cluster: str | None,
) -> Statistics:
    pairs = [
        (_require_value(one.baseline), _require_value(one.candidate))
        for one in scores.items.values()
    ]
    differences = [candidate - baseline for baseline, candidate in pairs]
    overall = scores.summarise_items()
    middle = compute_mean(sum((baseline for baseline, _ in pairs), Fraction(0)), len(pairs))
    margin = limit.points(middle or Fraction(0))
    smallest, needed = compute_reach(len(pairs), len(axes))
    kept = 1 - Fraction(limit.amount) if limit.relative else Fraction(1)
    shift = Fraction(0) if limit.relative else Fraction(limit.amount)
    clusters = _assign_clusters(exam, scores.items, cluster) if cluster else []
    against = [candidate - kept * baseline + shift for baseline, candidate in pairs]
    return Statistics(
        paired=overall,
        axes=summarise_axes({axis: one.summarise_items() for axis, one in axes.items()}),
        margin=margin,
        non_inferiority=evaluate_non_inferiority(pairs, limit, clusters=clusters),
        non_inferiority_p=run_sign_flip_test(
            sum_by_cluster(against, clusters) if clusters else against
        ).upper,
        smallest_p=smallest,
        pairs_for_p=needed,
        detectable=build_detectable(len(pairs), overall.sd, margin),
        clustered=compute_clustered_mean(differences, clusters) if clusters else None,
    )


def _assign_clusters(exam: Exam, items: Iterable[str], tag: str) -> list[Hashable]:
    """Return for each item what it shares with those of its cluster; without the tag, nothing."""
    values = {item.id: item.tags.get(tag) for item in exam.items}
    return [(item, None) if values[item] is None else values[item] for item in items]


def _compare_tags(exam: Exam, scores: PairedDifferences) -> Iterator[PairedTag]:
    """Yield the groups of two items or more by tag, the largest loss first."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in exam.items:
        for tag, value in item.tags.items():
            groups[tag, str(value)].append(item.id)
    found = {key: scores.summarise_items(items) for key, items in groups.items() if len(items) > 1}
    adjusted = adjust_by_holm([one.flips.two_sided for one in found.values() if one.flips])
    rows = [
        PairedTag(tag=tag, value=value, paired=one, p_holm=p)
        for ((tag, value), one), p in zip(found.items(), adjusted, strict=True)
    ]
    yield from sorted(rows, key=lambda row: (row.paired.mean or 0, row.tag, row.value))


def _adjust_run_pairs(pairs: Sequence[RunPair]) -> tuple[RunPair, ...]:
    tested = [pair.statistics.paired.flips for pair in pairs]
    adjusted = adjust_by_holm([flips.two_sided if flips else Fraction(1) for flips in tested])
    return tuple(
        add_plain_words(dataclasses.replace(pair, p_holm=p))
        for pair, p in zip(pairs, adjusted, strict=True)
    )
