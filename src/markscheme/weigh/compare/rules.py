"""The rules of a comparison by ratings: from scores to verdicts, to a decision, in exact numbers.

Also the sensitivity of that decision: which single rating, changed by one point, would flip it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from markscheme.vocabulary import (
    ROUND_TAG,
    ZERO,
    Bounds,
    DecisionOutcome,
    DecisionTable,
    DocumentError,
    Exam,
    FrozenDict,
    Item,
    Problem,
    Rating,
    Rubric,
    ScaleAxis,
    UsageError,
    VerdictRule,
    VerdictRules,
    compute_mean,
    format_decimal,
    format_signed,
    format_value,
    is_follow_up,
    sentence,
)
from markscheme.weigh.compare.decide import DecisionMaker
from markscheme.weigh.compare.pairs import Sides, average_sides
from markscheme.weigh.compare.result import Aggregate, Query
from markscheme.weigh.compare.ruling import Ruling
from markscheme.weigh.compare.statistics import RatingFlip

ScoresByRater = dict[tuple[str, str, str], dict[str, Fraction]]
"""The scores of each (item, variant, axis) by rater."""


def index_scores(ratings: Iterable[Rating]) -> ScoresByRater:
    """Index numbers by item, variant and axis; ratings that are only notes have none."""
    scores: ScoresByRater = defaultdict(dict)
    for rating in ratings:
        if rating.score is not None and not isinstance(rating.score, str):
            scores[rating.item, rating.variant, rating.axis][rating.rater] = rating.score
    return scores


@dataclass(frozen=True, kw_only=True)
class ComparisonRules:
    """How two variants are compared on one exam: by the verdict rules and table of a rubric."""

    rubric: Rubric
    exam: Exam
    baseline: str
    candidate: str

    def __post_init__(self) -> None:
        if self.baseline == self.candidate:
            raise UsageError(f"baseline and candidate are both `{self.baseline}`; name two")
        lacking = [
            part
            for part, value in (
                ("axes of kind `scale`", self.rubric.scales),
                ("`verdict_rules`", self.rubric.verdict_rules),
                ("`decision_table`", self.rubric.decision_table),
            )
            if not value
        ]
        if lacking:
            raise UsageError(
                f"the rubric `{self.rubric.name}` cannot compare: it has no "
                f"{', no '.join(lacking)}; see docs/decision-tables.md"
            )
        problems = [p for item in self.exam.items for p in _find_tag_problems(item, self.table)]
        if problems:
            raise DocumentError(problems)

    @property
    def variants(self) -> tuple[str, str]:
        """The baseline and the candidate."""
        return self.baseline, self.candidate

    @cached_property
    def verdict_rules(self) -> VerdictRules:
        """The verdict rules of the rubric."""
        if self.rubric.verdict_rules is None:
            raise UsageError("the rubric has no verdict rules")
        return self.rubric.verdict_rules

    @cached_property
    def table(self) -> DecisionTable:
        """The decision table of the rubric."""
        if self.rubric.decision_table is None:
            raise UsageError("the rubric has no decision table")
        return self.rubric.decision_table

    @cached_property
    def follow_ups(self) -> frozenset[str]:
        """The items of the exam that belong to the follow-up."""
        return frozenset(item.id for item in self.exam.items if is_follow_up(item))

    @cached_property
    def decision_maker(self) -> DecisionMaker:
        """The table, applied to the queries of the exam."""
        modes = {item.id: item.tags["mode"] for item in self.exam.items}
        return DecisionMaker(table=self.table, modes=modes, follow_ups=self.follow_ups)

    @cached_property
    def scales(self) -> tuple[str, ...]:
        """The names of the scales."""
        return tuple(scale.name for scale in self.rubric.scales)

    @cached_property
    def floors(self) -> tuple[VerdictRule, ...]:
        """The rules for the worst verdict that look only at the candidate's average."""
        worst, free = self.verdict_rules.verdicts[-1], Bounds()
        return tuple(
            rule
            for rule in self.verdict_rules.rules
            if rule.verdict == worst
            and rule.candidate != free
            and (rule.baseline, rule.difference) == (free, free)
        )

    def judge_queries(self, ratings: Sequence[Rating]) -> tuple[Query, ...]:
        """Return every query of the exam with its verdict, in the order of the exam."""
        scores = index_scores(ratings)
        notes: dict[str, list[Rating]] = defaultdict(list)
        for rating in ratings:
            if rating.note:
                notes[rating.item].append(rating)
        return tuple(
            self.judge_query(item, scores, place, tuple(notes[item.id]))
            for place, item in enumerate(self.exam.items)
        )

    def judge_query(
        self, item: Item, scores: ScoresByRater, place: int = 0, notes: tuple[Rating, ...] = ()
    ) -> Query:
        """Return one query with its verdict; without one if a rater left a cell out."""
        missing = tuple(self._find_missing(item, scores))
        axes = {axis: self._average_raters(item, axis, scores) for axis in self.scales}
        # The average of a variant is the mean of its scales.
        averages = Sides(baseline=None, candidate=None) if missing else average_sides(axes.values())
        verdict, reasons = self.judge_averages(averages)
        return Query(
            item=item.id,
            mode=item.tags["mode"],
            mean=averages,
            axes=FrozenDict(axes),
            verdict=verdict,
            reasons=reasons,
            because=self._explain_verdict(averages, verdict, missing),
            order=self.variants if place % 2 == 0 else self.variants[::-1],
            follow_up=item.id in self.follow_ups,
            baseline_below_floor=averages.baseline is not None
            and any(rule.candidate.admit(averages.baseline) for rule in self.floors),
            missing=missing,
            notes=notes,
        )

    def judge_averages(self, averages: Sides) -> tuple[str | None, tuple[str, ...]]:
        """Return the verdict on two averages, with the reason of every rule that gave it."""
        if averages.baseline is None or averages.candidate is None:
            return None, ()
        matching = self.verdict_rules.matching(averages.baseline, averages.candidate)
        verdict = self.verdict_rules.verdict_of(matching)
        reasons = (rule.reason for rule in matching if rule.verdict == verdict and rule.reason)
        return verdict, tuple(dict.fromkeys(reasons))

    def _find_missing(self, item: Item, scores: ScoresByRater) -> Iterable[str]:
        """Yield what was not rated: a rater of a query must rate both variants on every scale."""
        cells = [(variant, axis) for variant in self.variants for axis in self.scales]
        scored = {cell: scores.get((item.id, *cell), {}) for cell in cells}
        raters = sorted({rater for by_rater in scored.values() for rater in by_rater})
        if not raters:
            yield sentence("nobody rated it")
        for variant, axis in cells:
            for rater in raters:
                if rater not in scored[variant, axis]:
                    yield sentence(
                        "{rater} did not rate {axis} of {variant}",
                        rater=rater,
                        axis=axis,
                        variant=variant,
                    )

    def _average_raters(self, item: Item, axis: str, scores: ScoresByRater) -> Sides:
        by_variant = (scores.get((item.id, variant, axis), {}) for variant in self.variants)
        baseline, candidate = (compute_mean(sum(by.values(), ZERO), len(by)) for by in by_variant)
        return Sides(baseline=baseline, candidate=candidate)

    def _explain_verdict(
        self, averages: Sides, verdict: str | None, missing: tuple[str, ...]
    ) -> str:
        if missing:
            more = len(missing) - 1
            return sentence(
                "no verdict: {first}{more}", first=missing[0], more=f" (+{more})" if more else ""
            )
        numbers = f"{format_decimal(averages.baseline)} → {format_decimal(averages.candidate)}"
        by = format_signed(averages.difference)
        if verdict is None:
            return sentence(
                "averages {numbers} ({by}): the rules give no one verdict", numbers=numbers, by=by
            )
        return sentence("averages {numbers} ({by})", numbers=numbers, by=by)

    def decide(self, verdicts: Mapping[str, str | None]) -> Ruling:
        """Return the decision that follows from the verdicts on all queries, by item."""
        return self.decision_maker.decide(verdicts)


def _find_tag_problems(item: Item, table: DecisionTable) -> Iterable[Problem]:
    """Yield problems with the tags that say how a query counts: its mode and its round."""
    mode, number = item.tags.get("mode"), item.tags.get(ROUND_TAG)
    if mode not in table.queries:
        stated = (
            "is missing"
            if mode is None
            else f"{format_value(mode)} is no mode of the decision table"
        )
        message = f"{stated}; a query needs one of: {', '.join(table.queries)}"
        yield _build_tag_problem(item, "mode", message)
    if number is not None and str(number) not in {"1", "2"}:
        message = f"{format_value(number)} is no round; allowed: 1 (main round), 2 (follow-up)"
        yield _build_tag_problem(item, ROUND_TAG, message)


def _build_tag_problem(item: Item, tag: str, message: str) -> Problem:
    place = item.place
    return Problem(
        file=place.file if place else "exam",
        line=place.line if place else 1,
        field=f"{place.field if place else item.id}.tags.{tag}",
        message=message,
    )


def aggregate_queries(queries: Sequence[Query], verdicts: Sequence[str]) -> Aggregate:
    """Return the means and verdict counts of several queries."""
    whole = [query for query in queries if query.mean.difference is not None]
    axes = list(whole[0].axes) if whole else []
    return Aggregate(
        items=tuple(query.item for query in queries),
        n=len(whole),
        mean=average_sides(query.mean for query in whole),
        axes=FrozenDict(
            {axis: average_sides(query.axes[axis] for query in whole) for axis in axes}
        ),
        verdicts=FrozenDict({v: sum(query.verdict == v for query in queries) for v in verdicts}),
    )


def aggregate_by_mode(queries: Sequence[Query], verdicts: Sequence[str]) -> Mapping[str, Aggregate]:
    """Return the means and verdict counts of each mode."""
    return FrozenDict(
        {
            mode: aggregate_queries([query for query in queries if query.mode == mode], verdicts)
            for mode in dict.fromkeys(query.mode for query in queries)
        }
    )


def find_flips(
    rules: ComparisonRules,
    ratings: Sequence[Rating],
    queries: Sequence[Query],
    limit: Callable[[DecisionOutcome | None], DecisionOutcome | None],
) -> tuple[RatingFlip, ...]:
    """Return every rating whose change by one point flips a verdict, those that decide first.

    `limit` applies the requirements of the rubric to a decision of the table.
    """
    scores = index_scores(ratings)
    scales = {scale.name: scale for scale in rules.rubric.scales}
    queries_by_item = {query.item: query for query in queries}
    verdicts = {query.item: query.verdict for query in queries}
    decision = limit(rules.decide(verdicts).outcome)
    flips = []
    for rating, given, score in _list_changes(ratings, scales):
        query = queries_by_item[rating.item]
        # One point moves the average of the variant by one part in raters times scales.
        parts = len(scores[rating.item, rating.variant, rating.axis]) * len(scales)
        side = "baseline" if rating.variant == rules.baseline else "candidate"
        average = getattr(query.mean, side)
        if average is None:
            continue
        moved = average + (score - given) / parts
        verdict, _ = rules.judge_averages(replace(query.mean, **{side: moved}))
        if verdict != query.verdict:
            flip = RatingFlip(
                rating=rating,
                given=given,
                score=score,
                verdict_before=query.verdict,
                verdict_after=verdict,
                decision_before=decision,
                decision_after=limit(rules.decide({**verdicts, rating.item: verdict}).outcome),
            )
            flips.append(flip)
    return tuple(sorted(flips, key=lambda flip: not flip.decides))


def _list_changes(
    ratings: Sequence[Rating], scales: Mapping[str, ScaleAxis]
) -> Iterator[tuple[Rating, Fraction, Fraction]]:
    """Yield each rating with its score, and the score one point lower and higher, in its scale."""
    for rating in ratings:
        if rating.score is None or isinstance(rating.score, str):
            continue
        scale, given = scales[rating.axis], Fraction(rating.score)
        for score in (given - 1, given + 1):
            if scale.lowest <= score <= scale.highest:
                yield rating, given, score
