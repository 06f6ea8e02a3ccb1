"""Verdict rules and decision tables: from YAML to frozen types."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from markscheme.errors import shown
from markscheme.frozen import Frozen
from markscheme.read.complaints import guess
from markscheme.read.models import Name, Number, Text
from markscheme.read.shapes import Limits, Model, renamed
from markscheme.verdicts import (
    Bounds,
    CountCondition,
    Decided,
    DecisionRow,
    DecisionTable,
    Policy,
    Scale,
    VerdictRule,
    VerdictRules,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from decimal import Decimal

    from markscheme.read.checks import Path
    from markscheme.read.complaints import Complaints
    from markscheme.read.tree import Map

_Part = TypeVar("_Part", bound=Model)
_MOST_RULES = 200
_MOST_AVERAGES = 300

Verdicts = Annotated[list[Name], Limits(shortest=2, longest=20)]
Match = Literal["first", "any"]
Outcome = Literal["go", "go-with-monitoring", "conditional", "no-go"]
Count = Annotated[int, Limits(at_least=0, at_most=10_000)]
Score = Annotated[int, Limits(at_least=-1000, at_most=1000)]


class VerdictsModel(Model):
    """The verdicts, best first."""

    verdicts: Verdicts


class BoundsModel(Model):
    """Limits on an average or on the difference of two."""

    at_least: Number | None = None
    above: Number | None = None
    at_most: Number | None = None
    below: Number | None = None


class WhenModel(Model):
    """What must hold, all of it; the difference is the candidate's average less the baseline's."""

    baseline: BoundsModel | None = None
    candidate: BoundsModel | None = None
    difference: BoundsModel | None = None


class VerdictRuleModel(Model):
    """A verdict and when it is given; without `when`, always."""

    verdict: Name
    reason: Text = ""
    when: WhenModel | None = None


class ScoresModel(Model):
    """What an average is made of: whole numbers on so many axes."""

    lowest: Score
    highest: Score
    axes: Annotated[int, Limits(at_least=1, at_most=100)]


class VerdictRulesModel(Model):
    """The verdict on one query."""

    match: Match = "any"
    scores: ScoresModel
    rules: Annotated[list[VerdictRuleModel], Limits(shortest=1, longest=_MOST_RULES)]


class CountModel(Model):
    """How many queries, of these modes or of all, have one of these verdicts."""

    count: Annotated[list[Name], Limits(shortest=1)]
    in_: Annotated[list[Name], Limits(shortest=1)] | None = renamed("in", None)
    at_least: Count | None = None
    at_most: Count | None = None
    exactly: Count | None = None


class DecisionRowModel(Model):
    """A decision and when it is taken; without `when`, always."""

    name: Name
    when: Annotated[list[CountModel], Limits(shortest=1, longest=50)] | None = None
    outcome: Outcome
    next: Text = ""


class DecisionTableModel(Model):
    """The decision over all queries."""

    match: Match = "any"
    outcomes: Annotated[list[Outcome], Limits(shortest=1)] | None = None
    missing: Literal["none"] | Outcome = "none"
    queries: Annotated[
        dict[Name, Annotated[int, Limits(at_least=1, at_most=1000)]], Limits(shortest=1, longest=20)
    ]
    rows: Annotated[list[DecisionRowModel], Limits(shortest=1, longest=_MOST_RULES)]


def read_decisions(
    tree: Map, complaints: Complaints
) -> tuple[VerdictRules | None, DecisionTable | None]:
    """Read what a rubric holds for comparisons; complain of all that is wrong with it."""
    verdicts = _verdicts(tree, complaints)
    rules = _checked(VerdictRulesModel, tree, "verdict_rules", complaints)
    table = _checked(DecisionTableModel, tree, "decision_table", complaints)
    return (
        _verdict_rules(rules, verdicts, complaints) if rules and verdicts else None,
        _decision_table(table, verdicts, complaints) if table and verdicts else None,
    )


def _verdicts(tree: Map, complaints: Complaints) -> Sequence[str]:
    if "verdicts" not in tree:
        complaints.add(("verdicts",), "is missing; name the verdicts here, the best first")
        return ()
    checked = complaints.check(VerdictsModel, {"verdicts": tree["verdicts"]})
    verdicts = checked.verdicts if isinstance(checked, VerdictsModel) else ()
    _check_twice(verdicts, ("verdicts",), complaints)
    return verdicts


def _checked(model: type[_Part], tree: Map, key: str, complaints: Complaints) -> _Part | None:
    checked = complaints.check(model, tree[key], (key,)) if key in tree else None
    return checked if isinstance(checked, model) else None


def _check_twice(words: Sequence[str], path: Path, complaints: Complaints) -> None:
    for index, word in enumerate(words):
        if word in words[:index]:
            complaints.add((*path, index), f"{shown(word)} occurs twice; each may occur once")


def _verdict_rules(
    model: VerdictRulesModel, verdicts: Sequence[str], complaints: Complaints
) -> VerdictRules | None:
    found = [(("scores", *path), told) for path, told in _scores_problems(model.scores)]
    for index, rule in enumerate(model.rules):
        path: Path = ("rules", index)
        found += [((*path, *inner), told) for inner, told in _rule_problems(rule, verdicts)]
    for path, told in found:
        complaints.add(("verdict_rules", *path), told)
    if found:
        return None
    return VerdictRules(
        verdicts=tuple(verdicts),
        scores=Scale(
            lowest=model.scores.lowest, highest=model.scores.highest, axes=model.scores.axes
        ),
        rules=tuple(map(_rule, model.rules)),
        policy=Policy(model.match),
    )


def _scores_problems(scores: ScoresModel) -> Iterator[tuple[Path, str]]:
    steps = (scores.highest - scores.lowest) * scores.axes
    if steps < 1:
        yield ("highest",), f"{scores.highest} is not above `lowest`, {scores.lowest}"
    elif steps >= _MOST_AVERAGES:
        told = f"{steps + 1} averages are possible; at most {_MOST_AVERAGES} can be gone through"
        yield (), told


def _rule_problems(rule: VerdictRuleModel, verdicts: Sequence[str]) -> Iterator[tuple[Path, str]]:
    yield from _unknown(("verdict",), rule.verdict, "verdict", verdicts)
    if rule.when is None:
        return
    stated = [name for name in rule.when.own_keys() if getattr(rule.when, name) is not None]
    if not stated:
        yield ("when",), "is empty; name a quantity, or leave `when` out for a rule that always is"
    for name in stated:
        yield from _bounds_problems(("when", name), getattr(rule.when, name))


def _bounds_problems(path: Path, bounds: BoundsModel) -> Iterator[tuple[Path, str]]:
    if _bounds(bounds) == Bounds():
        yield path, "has no bound; give it `at_least` or `above`, `at_most` or `below`"
    for one, other in (("at_least", "above"), ("at_most", "below")):
        if getattr(bounds, one) is not None and getattr(bounds, other) is not None:
            yield (*path, other), f"stands beside `{one}`; one of the two is enough"


def _unknown(
    path: Path, word: str, noun: str, allowed: Collection[str]
) -> Iterator[tuple[Path, str]]:
    if word not in allowed:
        told = f"{shown(word)} is no {noun} of this document; allowed: {', '.join(allowed)}"
        yield path, told + guess(word, allowed)


def _rule(model: VerdictRuleModel) -> VerdictRule:
    when = model.when or WhenModel({})
    return VerdictRule(
        verdict=model.verdict,
        reason=model.reason,
        baseline=_bounds(when.baseline),
        candidate=_bounds(when.candidate),
        difference=_bounds(when.difference),
    )


def _bounds(model: BoundsModel | None) -> Bounds:
    def exact(number: Decimal | None) -> Fraction | None:
        return None if number is None else Fraction(number)

    model = model or BoundsModel({})
    return Bounds(
        at_least=exact(model.at_least),
        above=exact(model.above),
        at_most=exact(model.at_most),
        below=exact(model.below),
    )


def _decision_table(
    model: DecisionTableModel, verdicts: Sequence[str], complaints: Complaints
) -> DecisionTable | None:
    outcomes = model.outcomes or list(Decided)
    _check_twice(model.outcomes or (), ("decision_table", "outcomes"), complaints)
    found = list(_table_problems(model, outcomes))
    for index, row in enumerate(model.rows):
        path: Path = ("rows", index)
        found += [((*path, *inner), told) for inner, told in _row_problems(row, model, verdicts)]
    for path, told in found:
        complaints.add(("decision_table", *path), told)
    if found:
        return None
    return DecisionTable(
        verdicts=tuple(verdicts),
        queries=Frozen(model.queries),
        rows=tuple(map(_row, model.rows)),
        policy=Policy(model.match),
        outcomes=tuple(outcome for outcome in Decided if outcome in outcomes),
        missing=None if model.missing == "none" else Decided(model.missing),
    )


def _table_problems(
    model: DecisionTableModel, outcomes: Sequence[str]
) -> Iterator[tuple[Path, str]]:
    if model.missing != "none":
        yield from _unknown(("missing",), model.missing, "outcome", [*outcomes, "none"])
    for index, row in enumerate(model.rows):
        yield from _unknown(("rows", index, "outcome"), row.outcome, "outcome", outcomes)


def _row_problems(
    row: DecisionRowModel, model: DecisionTableModel, verdicts: Sequence[str]
) -> Iterator[tuple[Path, str]]:
    for index, condition in enumerate(row.when or ()):
        path: Path = ("when", index)
        for place, word in enumerate(condition.count):
            yield from _unknown((*path, "count", place), word, "verdict", verdicts)
        for place, word in enumerate(condition.in_ or ()):
            yield from _unknown((*path, "in", place), word, "mode", model.queries)
        open_ended = condition.at_least is None and condition.at_most is None
        if condition.exactly is None and open_ended:
            yield path, "has no bound; give it `at_least`, `at_most` or `exactly`"
        elif condition.exactly is not None and not open_ended:
            yield (*path, "exactly"), "stands beside another bound; `exactly` is both of them"


def _row(model: DecisionRowModel) -> DecisionRow:
    return DecisionRow(
        name=model.name,
        decided=Decided(model.outcome),
        when=tuple(map(_condition, model.when or ())),
        next=model.next,
    )


def _condition(model: CountModel) -> CountCondition:
    exactly = model.exactly
    return CountCondition(
        verdicts=tuple(model.count),
        modes=tuple(model.in_ or ()),
        at_least=(model.at_least or 0) if exactly is None else exactly,
        at_most=model.at_most if exactly is None else exactly,
    )
