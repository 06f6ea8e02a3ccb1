"""Scores of ratings, looked up by what was rated.

From ratings to verdicts and a decision, in exact numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.vocabulary import (
    Bounds,
    DecisionTable,
    DocumentError,
    Exam,
    FrozenDict,
    Problem,
    Rubric,
    UsageError,
    VerdictRule,
    VerdictRules,
    compute_mean,
    format_decimal,
    format_value,
    sentence,
)
from markscheme.weigh.compare.result import Aggregate, Query, Ruling, Sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markscheme.vocabulary import Item, Rating

ScoresByRater = dict[tuple[str, str, str], dict[str, int]]
"""The scores of each (item, variant, axis) by rater."""


def index_scores(ratings: Iterable[Rating]) -> ScoresByRater:
    """Return the scores by item, variant and axis; notes have none."""
    scores: ScoresByRater = defaultdict(dict)
    for rating in ratings:
        if rating.score is not None:
            scores[rating.item, rating.variant, rating.axis][rating.rater] = rating.score
    return scores


@dataclass(frozen=True, kw_only=True)
class ComparisonRules:
    """Two variants under one rubric on one exam: the rules by which they are compared."""

    rubric: Rubric
    exam: Exam
    baseline: str
    candidate: str

    def __post_init__(self) -> None:
        if self.baseline == self.candidate:
            raise UsageError(f"baseline and candidate are both `{self.baseline}`; name two")
        lacking = [
            what
            for what, there in (
                ("axes of kind `scale`", self.rubric.scales),
                ("`verdict_rules`", self.rubric.verdict_rules),
                ("`decision_table`", self.rubric.decision_table),
            )
            if not there
        ]
        if lacking:
            told = (
                f"the rubric `{self.rubric.name}` cannot compare: it has no {', no '.join(lacking)}"
            )
            raise UsageError(f"{told}; see docs/comparison.md")
        problems = [p for item in self.exam.items for p in _find_mode_problems(item, self.table)]
        if problems:
            raise DocumentError(problems)

    @property
    def variants(self) -> tuple[str, str]:
        """The baseline and the candidate."""
        return self.baseline, self.candidate

    @cached_property
    def rules(self) -> VerdictRules:
        """The verdict rules, which are there."""
        if self.rubric.verdict_rules is None:
            raise UsageError("the rubric has no verdict rules")
        return self.rubric.verdict_rules

    @cached_property
    def table(self) -> DecisionTable:
        """The decision table, which is there."""
        if self.rubric.decision_table is None:
            raise UsageError("the rubric has no decision table")
        return self.rubric.decision_table

    @cached_property
    def scales(self) -> tuple[str, ...]:
        """The names of the scales."""
        return tuple(scale.name for scale in self.rubric.scales)

    @cached_property
    def floors(self) -> tuple[VerdictRule, ...]:
        """The rules for the worst verdict that look at the candidate alone."""
        worst, free = self.rules.verdicts[-1], Bounds()
        return tuple(
            rule
            for rule in self.rules.rules
            if rule.verdict == worst
            and rule.candidate != free
            and (rule.baseline, rule.difference) == (free, free)
        )

    def judge_queries(self, ratings: Sequence[Rating]) -> tuple[Query, ...]:
        """Return the verdict on every query of the exam, in its order."""
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
        """Return the verdict on one query; a cell that a rater left out leaves it without one."""
        missing = tuple(self._find_missing(item, scores))
        axes = {axis: self._average_raters(item, axis, scores) for axis in self.scales}
        averages = Sides(baseline=None, candidate=None)
        if not missing:
            averages = Sides(
                baseline=compute_mean(
                    sum(_require_mean(s.baseline) for s in axes.values()), len(axes)
                ),
                candidate=compute_mean(
                    sum(_require_mean(s.candidate) for s in axes.values()), len(axes)
                ),
            )
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
            baseline_below_floor=averages.baseline is not None
            and any(rule.candidate.admit(averages.baseline) for rule in self.floors),
            missing=missing,
            notes=notes,
        )

    def judge_averages(self, averages: Sides) -> tuple[str | None, tuple[str, ...]]:
        """Return the verdict on two averages, with every reason that holds for it."""
        if averages.baseline is None or averages.candidate is None:
            return None, ()
        matching = self.rules.matching(averages.baseline, averages.candidate)
        verdict = self.rules.verdict_of(matching)
        reasons = (rule.reason for rule in matching if rule.verdict == verdict and rule.reason)
        return verdict, tuple(dict.fromkeys(reasons))

    def _find_missing(self, item: Item, scores: ScoresByRater) -> Iterable[str]:
        """Yield what lacks: whoever rates a query rates both variants on every scale."""
        cells = [(variant, axis) for variant in self.variants for axis in self.scales]
        given = {cell: scores.get((item.id, *cell), {}) for cell in cells}
        raters = sorted({rater for by in given.values() for rater in by})
        if not raters:
            yield sentence("nobody rated it")
        for variant, axis in cells:
            for rater in raters:
                if rater not in given[variant, axis]:
                    yield sentence(
                        "{rater} did not rate {axis} of {variant}",
                        rater=rater,
                        axis=axis,
                        variant=variant,
                    )

    def _average_raters(self, item: Item, axis: str, scores: ScoresByRater) -> Sides:
        both = (scores.get((item.id, variant, axis), {}) for variant in self.variants)
        baseline, candidate = (compute_mean(sum(by.values()), len(by)) for by in both)
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
        difference = averages.difference or Fraction(0)
        by = f"{'+' if difference > 0 else '−' if difference < 0 else '±'}{format_decimal(abs(difference))}"
        if verdict is None:
            return sentence(
                "averages {numbers} ({by}): the rules give no one verdict", numbers=numbers, by=by
            )
        return sentence("averages {numbers} ({by})", numbers=numbers, by=by)

    def decide(self, verdicts: Mapping[str, str | None]) -> Ruling:
        """Return the decision that follows from the verdicts on all queries, by item."""
        modes = {item.id: item.tags["mode"] for item in self.exam.items}
        missing = [item for item, verdict in verdicts.items() if verdict is None]
        if missing:
            because = sentence(
                "no verdict on {items}; a decision needs one on every query",
                items=", ".join(missing),
            )
            outcome = self.table.missing
            then = sentence("Rate what is missing, then compare again.")
            return Ruling(outcome=outcome, rule=None, because=because, next=then)
        counts = Counter((modes[item], str(verdict)) for item, verdict in verdicts.items())
        rows = self.table.matching(counts)
        outcome = self.table.decide(counts)
        told = self._describe_verdict_counts(verdicts, modes)
        if outcome is None:
            because = (
                sentence("no row of the table holds for {told}", told=told)
                if not rows
                else sentence(
                    "rows that hold disagree ({rows}): {told}",
                    rows=", ".join(row.name for row in rows),
                    told=told,
                )
            )
            then = sentence("Mend the decision table: `markscheme lint` shows what it lacks.")
            return Ruling(outcome=None, rule=None, because=because, next=then)
        first = rows[0]
        return Ruling(
            outcome=outcome,
            rule=first.name,
            rules=tuple(row.name for row in rows),
            because=told,
            next=first.next,
        )

    def _describe_verdict_counts(
        self, verdicts: Mapping[str, str | None], modes: Mapping[str, str]
    ) -> str:
        """Say how many queries got which verdict, and name those below the best ones."""
        parts = []
        for verdict in reversed(self.rules.verdicts):
            items = [item for item, given in verdicts.items() if given == verdict]
            if items:
                named = ", ".join(f"{item} ({modes[item]})" for item in items)
                parts.append(f"{len(items)} {verdict}: {named}")
        return "; ".join(parts)


def _require_mean(value: Fraction | None) -> Fraction:
    if value is None:
        raise ValueError("a mean of nothing was asked for")
    return value


def _find_mode_problems(item: Item, table: DecisionTable) -> Iterable[Problem]:
    mode, allowed = item.tags.get("mode"), ", ".join(table.queries)
    if mode in table.queries:
        return
    place = item.place
    told = (
        "is missing" if mode is None else f"{format_value(mode)} is no mode of the decision table"
    )
    yield Problem(
        file=place.file if place else "exam",
        line=place.line if place else 1,
        field=f"{place.field}.tags.mode" if place else f"{item.id}.tags.mode",
        message=f"{told}; a query needs one of: {allowed}",
    )


def aggregate_queries(queries: Sequence[Query], verdicts: Sequence[str]) -> Aggregate:
    """Return several queries together."""
    whole = [query for query in queries if query.mean.difference is not None]
    axes = list(whole[0].axes) if whole else []
    return Aggregate(
        queries=len(queries),
        n=len(whole),
        mean=average_sides([query.mean for query in whole]),
        axes=FrozenDict(
            {axis: average_sides([query.axes[axis] for query in whole]) for axis in axes}
        ),
        verdicts=FrozenDict({v: sum(query.verdict == v for query in queries) for v in verdicts}),
    )


def average_sides(sides: Sequence[Sides]) -> Sides:
    """Return the means of both variants; of nothing, nothing."""
    return Sides(
        baseline=compute_mean(
            sum((s.baseline or Fraction(0) for s in sides), Fraction(0)), len(sides)
        ),
        candidate=compute_mean(
            sum((s.candidate or Fraction(0) for s in sides), Fraction(0)), len(sides)
        ),
    )
