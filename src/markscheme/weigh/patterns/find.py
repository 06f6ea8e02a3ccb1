"""Find the patterns of a run: one detector per kind of pattern, then merging and sorting.

- the table of misses: a column that is missing, a row of zeros, misses within a group;
- the criteria: one that most items lose, or that is lost mostly within a group of items;
- the answers: one wrong answer given to many items, an item that stands alone;
- operation: errors or latency tied to a group of items;
- several runs: an axis that falls from run to run, a jump too good to be true.

Every detector compares what it sees with an exact chance, and stays silent above one in a hundred;
a group of three items or more that all miss an axis is reported up to one in twenty.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from markscheme.mark import find_leading_axis, get_expected
from markscheme.mark.axes import quote_excerpt
from markscheme.vocabulary import Exam, Rubric, format_decimal, sentence
from markscheme.weigh.distribution import Drift
from markscheme.weigh.gates import BaselineReport, mismatch_reason
from markscheme.weigh.patterns.criteria import find_criteria_patterns
from markscheme.weigh.patterns.groups import (
    FULL_GROUP_LEVEL,
    SIGNIFICANCE_LEVEL,
    ConcentratedGroup,
    MissColumn,
    compute_dice_tail,
    find_concentrated_groups,
)
from markscheme.weigh.patterns.pattern import (
    PATTERN_KINDS,
    Pattern,
    describe_chance,
    format_column_action,
    format_item_names,
    format_row_sentence,
    format_tags,
    format_trend_action,
    format_within_action,
    format_within_sentence,
)
from markscheme.weigh.patterns.table import (
    PatternContext,
    RowObservations,
    build_failing_column,
    build_miss_columns,
)
from markscheme.weigh.stats import adjust_by_holm
from markscheme.weigh.totals import Run

# A pattern is covered if so many tenths of its items are in the larger one.
_COVERED_TENTHS = 9


def find_patterns(
    rubric: Rubric,
    exam: Exam,
    run: Run,
    observed: RowObservations | None = None,
    *,
    history: tuple[Sequence[Drift], int] = ((), 0),
    comparison: BaselineReport | None = None,
) -> tuple[Pattern, ...]:
    """Return the patterns of a run, the most important first.

    Patterns of the marks are always looked for. Clusters, outliers and latency need what was
    `observed` in the rows; a trend needs the drifts of a `history` and its number of runs; a jump
    needs the `comparison` with the baseline.
    """
    if mismatch_reason(rubric, exam, run):
        return ()
    context = PatternContext(
        rubric=rubric, exam=exam, run=run, observed=observed or RowObservations()
    )
    patterns = [
        *_find_cell_patterns(context),
        *find_criteria_patterns(context),
        *find_operational_patterns(context),
        *find_trends(context, *history),
        *find_jump(comparison),
    ]
    return tuple(sorted(patterns, key=_get_pattern_sort_key))


def _find_cell_patterns(context: PatternContext) -> Iterator[Pattern]:
    columns = build_miss_columns(context.run.marks)
    near = {item: dict(axes) for item, axes in context.observed.near_misses.items()}
    wide = [*find_missing_columns(context, columns), *find_group_patterns(context, columns)]
    yield from _merge_covered_patterns(
        [*add_missing_steps(wide, near), *find_answer_clusters(context)]
    )
    yield from find_outliers(context, columns)


def _merge_covered_patterns(patterns: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns; one that a larger pattern covers becomes evidence of the larger one."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=lambda pattern: (-len(pattern.items), -len(pattern.tags))):
        wider = next((larger for larger in kept if _is_covering(larger, pattern)), None)
        if wider is None:
            kept.append(pattern)
            continue
        evidence = (*wider.evidence, sentence("within it: {pattern}", pattern=pattern.sentence))
        kept[kept.index(wider)] = dataclasses.replace(wider, evidence=evidence)
    yield from kept


def _is_covering(wider: Pattern, pattern: Pattern) -> bool:
    """Return whether one is a cluster of answers, the other is not, and they share their items."""
    if (wider.kind == "cluster") == (pattern.kind == "cluster"):
        return False
    shared = set(wider.items) & set(pattern.items)
    return 10 * len(shared) >= _COVERED_TENTHS * len(pattern.items)


def _get_pattern_sort_key(pattern: Pattern) -> tuple[bool, Fraction, Fraction | int, int, str]:
    """Sort jumps first (they cast doubt on the score), then by points lost, then by chance."""
    p = 0 if pattern.p is None else pattern.p
    kind = PATTERN_KINDS.index(pattern.kind)
    return pattern.kind != "jump", -pattern.lost, p, kind, pattern.sentence


MissTable: TypeAlias = dict[str | None, MissColumn]
"""The column of each axis; under `None`, that of missing every axis at once."""

# A column is missing if at least so many of its items miss it.
_MISSING_SHARE = Fraction(19, 20)
# An item counts for a group if it is so far below the mean of all items.
_SHORTFALL = Fraction(1, 10)
_MIN_CLUSTER_SIZE = 3
# A group is slow if its median latency is at least so many times that of the others.
_MIN_SLOWDOWN = Fraction(3, 2)


# --- the table of misses -------------------------------------------------------------------------


def find_missing_columns(context: PatternContext, columns: MissTable) -> Iterator[Pattern]:
    """Yield the axes that at least nineteen items of twenty miss, and empty their columns.

    The chance is that of a coin thrown for each item: an axis that misses as often as not.
    """
    seen = {key: column for key, column in columns.items() if column.seen}
    sizes = [(len(column.missed), len(column.seen)) for column in seen.values()]
    chances = [
        compute_dice_tail(hits, of) if hits >= _MISSING_SHARE * of else Fraction(1)
        for hits, of in sizes
    ]
    for (key, column), p in zip(seen.items(), adjust_by_holm(chances), strict=True):
        if p <= SIGNIFICANCE_LEVEL:
            yield _build_column_pattern(context, key, column, (p, len(seen)))
            for name in tuple(columns) if key is None else (key,):
                columns[name] = columns[name].exclude_items(columns[name].seen)
            if key is None:
                return


def _build_column_pattern(
    context: PatternContext, axis: str | None, column: MissColumn, chance: tuple[Fraction, int]
) -> Pattern:
    hits, of = len(column.missed), len(column.seen)
    if axis is None:
        text = sentence(
            "every column is missing across items: {hits:,} of {of:,} items miss every axis",
            hits=hits,
            of=of,
        )
    else:
        text = sentence(
            "the column {axis} is missing across items: {hits:,} of {of:,} miss it, a systematic "
            "miss",
            axis=f"`{axis}`",
            hits=hits,
            of=of,
        )
    return Pattern(
        kind="column",
        sentence=text,
        action=format_column_action(context.rubric, axis),
        items=context.list_item_ids(column.missed),
        axis=axis,
        hits=hits,
        of=of,
        p=chance[0],
        evidence=(describe_chance(*chance),),
        lost=context.compute_lost_score(axis, column.missed),
    )


def find_group_patterns(context: PatternContext, columns: MissTable) -> Iterator[Pattern]:
    """Yield the groups in which misses are concentrated, once each, and set their items aside.

    If items have many answers, a fault may show in some of them only. So an item counts as soon as
    it is a tenth below the mean.
    """
    shortfalls = build_miss_columns(context.run.marks, _SHORTFALL)
    remaining = {key: column.restrict_to(columns[key].seen) for key, column in shortfalls.items()}
    patterns: dict[tuple[tuple[str, str], ...], Pattern] = {}
    for concentrated in find_concentrated_groups(
        remaining, context.groups, full_level=FULL_GROUP_LEVEL
    ):
        for key in tuple(columns) if concentrated.column is None else (concentrated.column,):
            columns[key] = columns[key].exclude_items(concentrated.group.items)
        pattern = _build_group_pattern(context, concentrated)
        tags = tuple(concentrated.group.tags.items())
        patterns[tags] = (
            _merge_group_patterns(patterns[tags], pattern) if tags in patterns else pattern
        )
    yield from patterns.values()


def _build_group_pattern(context: PatternContext, concentrated: ConcentratedGroup) -> Pattern:
    tags = concentrated.group.tags
    row = concentrated.column in {None, context.leading_axis_name}
    action = sentence("it is mis-learned: check the corpus for {tags}", tags=format_tags(tags))
    return _build_tagged_pattern(
        context,
        concentrated,
        kind="row" if row else "within",
        sentence=format_row_sentence(concentrated) if row else format_within_sentence(concentrated),
        action=action if row else format_within_action(context.rubric, concentrated.column, tags),
        axis=concentrated.column,
        lost=context.compute_lost_score(concentrated.column, concentrated.hits),
    )


def _build_tagged_pattern(
    context: PatternContext,
    concentrated: ConcentratedGroup,
    evidence: tuple[str, ...] = (),
    **more: Any,
) -> Pattern:
    """Return a pattern of a group of items by tag; `more` are its other fields."""
    return Pattern(
        items=context.list_item_ids(concentrated.hits),
        tags=concentrated.group.tags,
        hits=len(concentrated.hits),
        of=concentrated.of,
        p=concentrated.p,
        evidence=(*evidence, describe_chance(concentrated.p, concentrated.groups)),
        **more,
    )


def _merge_group_patterns(known: Pattern, new: Pattern) -> Pattern:
    """Merge two patterns of the same group: keep the one that costs more, and name both axes."""
    first, second = (known, new) if known.lost >= new.lost else (new, known)
    also = sentence(
        "{axis} misses there too, on {hits:,} of {of:,}",
        axis=f"`{second.axis}`",
        hits=second.hits,
        of=second.of,
    )
    return dataclasses.replace(
        first,
        items=tuple(dict.fromkeys((*first.items, *second.items))),
        evidence=(*first.evidence, also),
        lost=first.lost + second.lost,
    )


def add_missing_steps(
    patterns: Iterable[Pattern], near: dict[str, dict[str, str]]
) -> Iterator[Pattern]:
    """Yield the patterns; add the step of normalisation that would mend half of their misses."""
    for pattern in patterns:
        steps = [near[item].get(pattern.axis or "") for item in pattern.items if item in near]
        known = [step for step in steps if step]
        if 2 * len(known) < pattern.hits or not known:
            yield pattern
            continue
        step = max(sorted(set(known)), key=known.count)
        wanting = sentence(
            "{n:,} of them would pass with one more step of normalisation, `{step}`",
            n=known.count(step),
            step=step,
        )
        action = sentence("check the normalisation: the step `{step}` is missing", step=step)
        evidence = (*pattern.evidence, wanting)
        yield dataclasses.replace(pattern, action=action, evidence=evidence)


# --- answers -------------------------------------------------------------------------------------


def find_answer_clusters(context: PatternContext) -> Iterator[Pattern]:
    """Yield the wrong answers that many items share.

    The chance is that of a die thrown for each wrong answer. The die has one side for every
    different wrong answer, and at least two if the items expect different things.
    """
    wrong = context.observed.wrong
    counts = Counter(wrong.values())
    lead = find_leading_axis(context.rubric)
    expected = {repr(get_expected(lead, item)) for item in context.exam.items}
    sides = max(len(counts), min(2, len(expected)))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    highest = Fraction(0)
    for rank, (answer, count) in enumerate(ordered):
        if count < _MIN_CLUSTER_SIZE:
            return
        # Holm: the k-th smallest chance is multiplied by the number of questions still open.
        highest = max(highest, compute_dice_tail(count, len(wrong), sides) * (sides - rank))
        if highest > SIGNIFICANCE_LEVEL:
            return
        yield _build_cluster_pattern(context, answer, (highest, sides))


def _build_cluster_pattern(
    context: PatternContext, answer: str, chance: tuple[Fraction, int]
) -> Pattern:
    wrong = context.observed.wrong
    positions = [at for at, item in enumerate(context.item_ids) if wrong.get(item) == answer]
    items = context.list_item_ids(positions)
    return Pattern(
        kind="cluster",
        sentence=sentence(
            "a cluster of identical wrong answers: {hits:,} of {of:,} are {answer}",
            hits=len(items),
            of=len(wrong),
            answer=quote_excerpt(answer),
        ),
        action=sentence(
            "see where this answer comes from: a refusal, a fallback, or an error that is handed "
            "on as an answer"
        ),
        items=items,
        axis=context.leading_axis_name,
        hits=len(items),
        of=len(wrong),
        p=chance[0],
        evidence=(describe_chance(*chance),),
        lost=context.compute_lost_score(context.leading_axis_name, positions),
    )


def find_outliers(context: PatternContext, columns: MissTable) -> Iterator[Pattern]:
    """Yield items that no other pattern explains: near misses, and a single item that stands alone.

    `columns` holds the misses that other patterns have left.
    """
    proven: set[int] = set()
    for axis, column in columns.items():
        if axis is not None:
            for step, items in _group_by_missing_step(context, axis, column).items():
                proven |= items
                yield _build_near_miss_pattern(context, axis, step, items)
    yield from _find_lone_outlier(context, columns, proven)


def _group_by_missing_step(
    context: PatternContext, axis: str, column: MissColumn
) -> dict[str, set[int]]:
    """Return the items that miss the axis only because a step of normalisation is missing."""
    items_by_step: dict[str, set[int]] = {}
    for at in sorted(column.missed):
        step = context.observed.near_misses.get(context.item_ids[at], {}).get(axis)
        if step is not None:
            items_by_step.setdefault(step, set()).add(at)
    return items_by_step


def _build_near_miss_pattern(
    context: PatternContext, axis: str, step: str, items: set[int]
) -> Pattern:
    names, of = context.list_item_ids(items), len(context.item_ids)
    if len(names) == 1:
        text = sentence(
            "one outlier item: {item} misses {axis} only for want of a step of normalisation, "
            "`{step}`",
            item=names[0],
            axis=f"`{axis}`",
            step=step,
        )
    else:
        text = sentence(
            "{hits:,} outlier items miss {axis} only for want of a step of normalisation, "
            "`{step}`: {items}",
            hits=len(names),
            axis=f"`{axis}`",
            step=step,
            items=format_item_names(names),
        )
    return Pattern(
        kind="outlier",
        sentence=text,
        action=sentence("check the normalisation: the step `{step}` is missing", step=step),
        items=names,
        axis=axis,
        hits=len(names),
        of=of,
        evidence=(sentence("the near miss proves it: with `{step}` it would pass", step=step),),
        lost=context.compute_lost_score(axis, items),
    )


def _find_lone_outlier(
    context: PatternContext, columns: MissTable, proven: set[int]
) -> Iterator[Pattern]:
    """Yield the only item that misses anything, if it misses several axes.

    The chance is that the one miss of each axis falls on the same item.
    """
    axes = [axis for axis, column in columns.items() if axis is not None and column.missed]
    items = frozenset().union(*(columns[axis].missed for axis in axes))
    of = min((len(columns[axis].seen) for axis in axes), default=0)
    if len(items) != 1 or items <= proven or not of:
        return
    p = Fraction(1, of) ** (len(axes) - 1)
    if p > SIGNIFICANCE_LEVEL:
        return
    name = context.list_item_ids(items)[0]
    yield Pattern(
        kind="outlier",
        sentence=sentence(
            "one outlier item: {item} misses {axes}, and no other item does",
            item=name,
            axes=", ".join(f"`{axis}`" for axis in axes),
        ),
        action=sentence("check the normalisation, and what the item expects"),
        items=(name,),
        axis=axes[0] if len(axes) == 1 else None,
        hits=1,
        of=of,
        p=p,
        evidence=(describe_chance(p, 1),),
        lost=sum((context.compute_lost_score(axis, items) for axis in axes), Fraction(0)),
    )


# --- operation -----------------------------------------------------------------------------------


def find_operational_patterns(context: PatternContext) -> Iterator[Pattern]:
    """Yield the groups in which answers fail, and those in which they are slow.

    Both are one family of questions, so their chances are adjusted together.
    """
    latencies = [context.observed.latency_ms.get(name) for name in context.item_ids]
    columns: dict[str | None, MissColumn] = {
        "errors": build_failing_column(context.run.marks),
        "latency": _build_slow_column(latencies),
    }
    for concentrated in find_concentrated_groups(columns, context.groups):
        if concentrated.column == "errors":
            yield _build_error_pattern(context, concentrated)
        elif (medians := _compare_medians(latencies, concentrated)) is not None:
            yield _build_latency_pattern(context, concentrated, medians)


def _build_slow_column(latencies: list[Fraction | None]) -> MissColumn:
    known = {at: value for at, value in enumerate(latencies) if value is not None}
    ordered = sorted(known.values(), key=_get_fraction_sort_key)
    limit = ordered[(3 * len(ordered) - 1) // 4] if ordered else Fraction(0)
    slow = frozenset(at for at, value in known.items() if value > limit)
    return MissColumn(seen=frozenset(known), missed=slow)


def _get_fraction_sort_key(value: Fraction) -> tuple[float, Fraction]:
    """Sort by the nearest double, then exactly: doubles compare faster and keep the order."""
    return float(value), value


def _compare_medians(
    latencies: list[Fraction | None], concentrated: ConcentratedGroup
) -> tuple[Fraction, Fraction] | None:
    """Return the median latency inside and outside a group, if the group is slow enough."""
    inside, outside = (
        _compute_group_median(latencies, concentrated, inside=inside) for inside in (True, False)
    )
    return (inside, outside) if inside >= _MIN_SLOWDOWN * outside else None


def _compute_group_median(
    latencies: Iterable[Fraction | None], concentrated: ConcentratedGroup, *, inside: bool
) -> Fraction:
    here = concentrated.group.items
    known = [v for at, v in enumerate(latencies) if v is not None and (at in here) is inside]
    known.sort(key=_get_fraction_sort_key)
    return known[(len(known) - 1) // 2] if known else Fraction(0)


def _build_error_pattern(context: PatternContext, concentrated: ConcentratedGroup) -> Pattern:
    tags = format_tags(concentrated.group.tags)
    return _build_tagged_pattern(
        context,
        concentrated,
        kind="errors",
        sentence=sentence(
            "errors are tied to {tags}: {hits:,} of {of:,} items have no answer that could be "
            "scored, and {others:,} of the other {rest:,}",
            tags=tags,
            hits=len(concentrated.hits),
            of=concentrated.of,
            others=concentrated.others,
            rest=concentrated.rest,
        ),
        action=sentence("see what the subject was sent on {tags}, and its log", tags=tags),
        lost=context.compute_lost_score(None, concentrated.hits),
    )


def _build_latency_pattern(
    context: PatternContext, concentrated: ConcentratedGroup, medians: tuple[Fraction, Fraction]
) -> Pattern:
    tags = format_tags(concentrated.group.tags)
    return _build_tagged_pattern(
        context,
        concentrated,
        kind="latency",
        sentence=sentence(
            "latency is tied to {tags}: the median is {inside} ms there and {outside} ms elsewhere",
            tags=tags,
            inside=format_decimal(medians[0]),
            outside=format_decimal(medians[1]),
        ),
        action=sentence("profile {tags}: longer answers, retries or another route", tags=tags),
        evidence=(
            sentence(
                "{hits:,} of {of:,} items are among the slowest quarter",
                hits=len(concentrated.hits),
                of=concentrated.of,
            ),
        ),
    )


# --- several runs --------------------------------------------------------------------------------


def find_trends(context: PatternContext, drifts: Iterable[Drift], runs: int) -> Iterator[Pattern]:
    """Yield the axes that drift down; `weigh.distribution` has the rule and the exact chance."""
    weights = {spec.name: Fraction(spec.weight) for spec in context.rubric}
    for drift in drifts:
        values = {
            "axis": f"`{drift.axis}`",
            "runs": runs,
            "first": format_decimal(drift.first),
            "last": format_decimal(drift.last),
        }
        if drift.alone:
            text = sentence(
                "{axis} alone is trending down over {runs} runs: from {first} to {last}", **values
            )
        else:
            text = sentence(
                "{axis} is trending down over {runs} runs: from {first} to {last}", **values
            )
        yield Pattern(
            kind="trend",
            sentence=text,
            action=format_trend_action(context.rubric, drift.axis),
            axis=drift.axis,
            hits=runs,
            of=runs,
            p=drift.p,
            evidence=(describe_chance(drift.p, len(weights)),),
            lost=weights[drift.axis] * (drift.first - drift.last),
        )


def find_jump(comparison: BaselineReport | None) -> Iterator[Pattern]:
    """Yield a rise that is larger than the rubric finds plausible, with the chance of it."""
    if comparison is None or not comparison.warning:
        return
    risen = tuple(change.item for change in comparison.moved if change.change > 0)
    p = compute_dice_tail(len(risen), len(comparison.moved)) if comparison.moved else None
    yield Pattern(
        kind="jump",
        sentence=sentence(
            "a jump too good to be true: from {before} in the baseline `{baseline}` to {after}",
            before=format_decimal(comparison.before),
            baseline=comparison.baseline,
            after=format_decimal(comparison.after),
        ),
        action=sentence(
            "audit the rubric first (`markscheme audit`), then look at the items that moved"
        ),
        items=risen,
        hits=len(risen),
        of=len(comparison.moved) + comparison.unmoved,
        p=p,
        evidence=(sentence("these items rose: {items}", items=format_item_names(risen)),),
    )
