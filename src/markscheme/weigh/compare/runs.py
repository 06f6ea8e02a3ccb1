"""Comparing runs: every two of them, paired by item and attempt, with the outcome and evidence."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations

from markscheme.vocabulary import Allowance, Exam, FrozenDict, sentence
from markscheme.weigh.compare.advice import decide_outcome, describe_run_pair
from markscheme.weigh.compare.pairs import (
    AskedOrder,
    AttemptPairs,
    AttemptValues,
    PairedObservations,
    PairedValues,
    Sides,
    count_first_in_pairs,
)
from markscheme.weigh.compare.result import PairedTag, RunPair, RunsComparison, adjust_pairs
from markscheme.weigh.compare.statistics import adjust_summaries, compute_statistics
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.totals import AxisValues, WeightScale, explain_incomplete

DEFAULT_MARGIN = Allowance(amount=Decimal("0.02"), relative=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run to compare, with its answers by item and attempt, and the order they were asked in."""

    past: PastRun
    attempts: AttemptValues
    asked: AskedOrder | None = None


def pair_runs(
    runs: Sequence[ComparedRun], margin: Allowance | None = None, cluster: str | None = None
) -> RunsComparison:
    """Compare every two runs; the outcome says whether any is worse than the first.

    Without a margin, that of the rubric's baseline gate for the exam is taken, else 2 %. Items
    that share a value of the tag `cluster` are not taken to be independent.
    """
    first = runs[0].past
    if margin is None:
        limits = [gate.baseline for gate in first.rubric.gates if gate.applies_to(first.exam)]
        margin = next((limit.max_drop for limit in limits if limit is not None), DEFAULT_MARGIN)
    names = tuple(run.past.run.name for run in runs)
    every_two = list(combinations(runs, 2))
    obstacles = [_explain_incomparable(run.past, first) for run in runs]
    obstacles += [] if any(obstacles) else [_explain_unpaired(*two) for two in every_two]
    obstacle = next(filter(None, obstacles), "")
    pairs = () if obstacle else tuple(_compare_pair(*two, margin, cluster) for two in every_two)
    pairs = tuple(_add_plain_words(pair) for pair in adjust_pairs(pairs))
    outcome, because = decide_outcome(pairs, names[0])
    return RunsComparison(
        rubric=first.rubric,
        exam=first.exam,
        runs=names,
        subjects=tuple(run.past.run.subject for run in runs),
        measures=tuple(run.past.run.measures for run in runs),
        margin=margin,
        pairs=pairs,
        outcome=outcome,
        because=obstacle or because,
    )


def rename_by_subject(comparison: RunsComparison) -> RunsComparison:
    """Return the comparison with runs named after their subjects, if these are all different.

    Runs that cannot be compared keep their names, because the reason is about a run.
    """
    subjects = tuple(filter(None, comparison.subjects))
    if not comparison.pairs or len(set(subjects)) < len(comparison.runs):
        return comparison
    names = dict(zip(comparison.runs, subjects, strict=True))
    pairs = tuple(
        _add_plain_words(
            dataclasses.replace(
                pair, baseline=names[pair.baseline], candidate=names[pair.candidate]
            )
        )
        for pair in comparison.pairs
    )
    _, because = decide_outcome(pairs, subjects[0])
    return dataclasses.replace(comparison, runs=subjects, pairs=pairs, because=because)


def _add_plain_words(pair: RunPair) -> RunPair:
    words = tuple(describe_run_pair(pair))
    return dataclasses.replace(pair, statistics=dataclasses.replace(pair.statistics, plain=words))


def _explain_incomparable(past: PastRun, first: PastRun) -> str:
    """Say why a run cannot be compared with the first; empty if it can."""
    run, other = past.run, first.run
    for document, ours, theirs in (
        (sentence("rubric"), run.rubric, other.rubric),
        (sentence("exam"), run.exam, other.exam),
    ):
        if ours is None:
            return sentence(
                "`{run}` does not say under which {what} it was scored", run=run.name, what=document
            )
        if ours != theirs:
            return sentence(
                "`{run}` has another {what} fingerprint than `{first}`; only runs under the same "
                "one can be compared",
                run=run.name,
                what=document,
                first=other.name,
            )
    return "" if run.marks.complete else explain_incomplete(run.marks, f"`{run.name}`")


def _explain_unpaired(before: ComparedRun, after: ComparedRun) -> str:
    """Say which item has no attempt that both runs have; empty if every item has one."""
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
    before: ComparedRun, after: ComparedRun, margin: Allowance, cluster: str | None
) -> RunPair:
    rubric, exam = before.past.rubric, before.past.exam
    scale, mark = WeightScale(rubric), Fraction(rubric.pass_mark)
    attempts = AttemptPairs.from_attempts(before.attempts, after.attempts)
    scores = attempts.compute_differences(scale.score)
    axes = {
        axis: attempts.compute_differences(partial(_get_axis_value, at))
        for at, axis in enumerate(scale.axes)
    }
    passed = attempts.compute_differences(
        lambda values: None if (score := scale.score(values)) is None else Fraction(score >= mark)
    )
    observations = PairedObservations(score=scores, axes=FrozenDict(axes))
    return RunPair(
        baseline=before.past.run.name,
        candidate=after.past.run.name,
        score=scores.average(),
        axes=FrozenDict({axis: values.average() for axis, values in axes.items()}),
        attempts=attempts,
        single=scores.estimate_single_run(),
        first=count_first_in_pairs(before.asked, after.asked, attempts.list_keys()),
        tags=tuple(_compare_tags(exam, scores)),
        passed=passed.compute_mcnemar(),
        regressed=_find_crossed_items(scores.items, mark, down=True),
        recovered=_find_crossed_items(scores.items, mark, down=False),
        observations=observations,
        statistics=compute_statistics(
            observations,
            margin,
            clusters=_assign_clusters(exam, scores.items, cluster) if cluster else (),
        ),
    )


def _get_axis_value(at: int, values: AxisValues) -> Fraction | None:
    value = values[at]
    return value if isinstance(value, Fraction) else None


def _find_crossed_items(
    items: Mapping[str, Sides], mark: Fraction, *, down: bool
) -> tuple[str, ...]:
    """Return the items whose mean crossed the pass mark, the largest change first."""
    crossed = {}
    for item, sides in items.items():
        before, after = sides.baseline or Fraction(0), sides.candidate or Fraction(0)
        if (before >= mark) is down and (after < mark) is down:
            crossed[item] = -abs(after - before)
    return tuple(sorted(crossed, key=lambda item: (crossed[item], item)))


def _assign_clusters(exam: Exam, items: Iterable[str], tag: str) -> list[Hashable]:
    """Return the cluster of each item; an item without the tag is a cluster of its own."""
    values = {item.id: item.tags.get(tag) for item in exam.items}
    return [(item, None) if values[item] is None else values[item] for item in items]


def _compare_tags(exam: Exam, scores: PairedValues) -> Iterator[PairedTag]:
    """Yield the groups of at least two items that share a tag value, the largest loss first."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in exam.items:
        for tag, value in item.tags.items():
            groups[tag, str(value)].append(item.id)
    summaries = {
        group: scores.summarise_items(items) for group, items in groups.items() if len(items) > 1
    }
    rows = [
        PairedTag(tag=tag, value=value, paired=summary, p_holm=p_holm)
        for ((tag, value), summary), p_holm in zip(
            summaries.items(), adjust_summaries(summaries.values()), strict=True
        )
    ]
    yield from sorted(rows, key=lambda row: (row.paired.mean or 0, row.tag, row.value))
