"""Read the verdict rules and the decision table of a rubric, which comparisons use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal, TypeVar

from markscheme.read.documents.models import Name, Number, Text
from markscheme.read.documents.validation import (
    Constraints,
    Model,
    ProblemCollector,
    alias_key,
    describe_unknown_word,
)
from markscheme.read.documents.yaml import FieldPath, YamlMapping
from markscheme.vocabulary import (
    Bounds,
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    DecisionTable,
    FrozenDict,
    HitPolicy,
    RatingScale,
    VerdictRule,
    VerdictRules,
    format_value,
)

_Section = TypeVar("_Section", bound=Model)
_MAX_RULES = 200
_MAX_AVERAGES = 300

VerdictNames = Annotated[list[Name], Constraints(shortest=2, longest=20)]
HitPolicyName = Literal["first", "any"]
OutcomeName = Literal["go", "go-with-monitoring", "conditional", "no-go"]
QueryCount = Annotated[int, Constraints(at_least=0, at_most=10_000)]
ScaleScore = Annotated[int, Constraints(at_least=-1000, at_most=1000)]


class VerdictsModel(Model):
    """The verdicts, best first."""

    verdicts: VerdictNames


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

    lowest: ScaleScore
    highest: ScaleScore
    axes: Annotated[int, Constraints(at_least=1, at_most=100)]


class VerdictRulesModel(Model):
    """The verdict on one query."""

    match: HitPolicyName = "any"
    scores: ScoresModel
    rules: Annotated[list[VerdictRuleModel], Constraints(shortest=1, longest=_MAX_RULES)]


class CountModel(Model):
    """How many queries, of these modes or of all, have one of these verdicts."""

    count: Annotated[list[Name], Constraints(shortest=1)]
    in_: Annotated[list[Name], Constraints(shortest=1)] | None = alias_key("in", None)
    at_least: QueryCount | None = None
    at_most: QueryCount | None = None
    exactly: QueryCount | None = None


class DecisionRowModel(Model):
    """A decision and when it is taken; without `when`, always."""

    name: Name
    when: Annotated[list[CountModel], Constraints(shortest=1, longest=50)] | None = None
    outcome: OutcomeName
    next: Text = ""


class DecisionTableModel(Model):
    """The decision over all queries."""

    match: HitPolicyName = "any"
    outcomes: Annotated[list[OutcomeName], Constraints(shortest=1)] | None = None
    missing: Literal["none"] | OutcomeName = "none"
    queries: Annotated[
        dict[Name, Annotated[int, Constraints(at_least=1, at_most=1000)]],
        Constraints(shortest=1, longest=20),
    ]
    rows: Annotated[list[DecisionRowModel], Constraints(shortest=1, longest=_MAX_RULES)]


def read_decisions(
    tree: YamlMapping, collector: ProblemCollector
) -> tuple[VerdictRules | None, DecisionTable | None]:
    """Return the verdict rules and the decision table; report every problem to the collector."""
    verdicts = _read_verdict_names(tree, collector)
    rules = _validate_section(VerdictRulesModel, tree, "verdict_rules", collector)
    table = _validate_section(DecisionTableModel, tree, "decision_table", collector)
    return (
        _build_verdict_rules(rules, verdicts, collector) if rules and verdicts else None,
        _build_decision_table(table, verdicts, collector) if table and verdicts else None,
    )


def _read_verdict_names(tree: YamlMapping, collector: ProblemCollector) -> Sequence[str]:
    if "verdicts" not in tree:
        collector.add_problem(("verdicts",), "is missing; name the verdicts here, the best first")
        return ()
    model = collector.validate_node(VerdictsModel, {"verdicts": tree["verdicts"]})
    verdicts = model.verdicts if isinstance(model, VerdictsModel) else ()
    _check_duplicate_words(verdicts, ("verdicts",), collector)
    return verdicts


def _validate_section(
    model: type[_Section], tree: YamlMapping, key: str, collector: ProblemCollector
) -> _Section | None:
    section = collector.validate_node(model, tree[key], (key,)) if key in tree else None
    return section if isinstance(section, model) else None


def _check_duplicate_words(
    words: Sequence[str], path: FieldPath, collector: ProblemCollector
) -> None:
    for index, word in enumerate(words):
        if word in words[:index]:
            collector.add_problem(
                (*path, index), f"{format_value(word)} occurs twice; each may occur once"
            )


def _build_verdict_rules(
    model: VerdictRulesModel, verdicts: Sequence[str], collector: ProblemCollector
) -> VerdictRules | None:
    problems = [
        (("scores", *path), message) for path, message in _find_scores_problems(model.scores)
    ]
    for index, rule in enumerate(model.rules):
        problems += [
            (("rules", index, *path), message)
            for path, message in _find_rule_problems(rule, verdicts)
        ]
    for path, message in problems:
        collector.add_problem(("verdict_rules", *path), message)
    if problems:
        return None
    return VerdictRules(
        verdicts=tuple(verdicts),
        scores=RatingScale(
            lowest=model.scores.lowest, highest=model.scores.highest, axes=model.scores.axes
        ),
        rules=tuple(map(_build_verdict_rule, model.rules)),
        policy=HitPolicy(model.match),
    )


def _find_scores_problems(scores: ScoresModel) -> Iterator[tuple[FieldPath, str]]:
    steps = (scores.highest - scores.lowest) * scores.axes
    if steps < 1:
        yield ("highest",), f"{scores.highest} is not above `lowest`, {scores.lowest}"
    elif steps >= _MAX_AVERAGES:
        yield (), f"{steps + 1} averages are possible; at most {_MAX_AVERAGES} can be gone through"


def _find_rule_problems(
    rule: VerdictRuleModel, verdicts: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    yield from _find_unknown_word(("verdict",), rule.verdict, "verdict", verdicts)
    if rule.when is None:
        return
    stated = [name for name in rule.when.get_keys() if getattr(rule.when, name) is not None]
    if not stated:
        yield ("when",), "is empty; name a quantity, or leave `when` out for a rule that always is"
    for name in stated:
        yield from _find_bounds_problems(("when", name), getattr(rule.when, name))


def _find_bounds_problems(path: FieldPath, bounds: BoundsModel) -> Iterator[tuple[FieldPath, str]]:
    if _build_bounds(bounds) == Bounds():
        yield path, "has no bound; give it `at_least` or `above`, `at_most` or `below`"
    for inclusive, strict in (("at_least", "above"), ("at_most", "below")):
        if getattr(bounds, inclusive) is not None and getattr(bounds, strict) is not None:
            yield (*path, strict), f"stands beside `{inclusive}`; one of the two is enough"


def _find_unknown_word(
    path: FieldPath, word: str, noun: str, allowed: Collection[str]
) -> Iterator[tuple[FieldPath, str]]:
    if word not in allowed:
        yield path, describe_unknown_word(word, f"{noun} of this document", allowed)


def _build_verdict_rule(model: VerdictRuleModel) -> VerdictRule:
    when = model.when or WhenModel({})
    return VerdictRule(
        verdict=model.verdict,
        reason=model.reason,
        baseline=_build_bounds(when.baseline),
        candidate=_build_bounds(when.candidate),
        difference=_build_bounds(when.difference),
    )


def _build_bounds(model: BoundsModel | None) -> Bounds:
    def to_exact(number: Decimal | None) -> Fraction | None:
        return None if number is None else Fraction(number)

    model = model or BoundsModel({})
    return Bounds(
        at_least=to_exact(model.at_least),
        above=to_exact(model.above),
        at_most=to_exact(model.at_most),
        below=to_exact(model.below),
    )


def _build_decision_table(
    model: DecisionTableModel, verdicts: Sequence[str], collector: ProblemCollector
) -> DecisionTable | None:
    outcomes = model.outcomes or list(DecisionOutcome)
    _check_duplicate_words(model.outcomes or (), ("decision_table", "outcomes"), collector)
    problems = list(_find_table_problems(model, outcomes))
    for index, row in enumerate(model.rows):
        problems += [
            (("rows", index, *path), message)
            for path, message in _find_row_problems(row, model, verdicts)
        ]
    for path, message in problems:
        collector.add_problem(("decision_table", *path), message)
    if problems:
        return None
    return DecisionTable(
        verdicts=tuple(verdicts),
        queries=FrozenDict(model.queries),
        rows=tuple(map(_build_decision_row, model.rows)),
        policy=HitPolicy(model.match),
        outcomes=tuple(outcome for outcome in DecisionOutcome if outcome in outcomes),
        missing=None if model.missing == "none" else DecisionOutcome(model.missing),
    )


def _find_table_problems(
    model: DecisionTableModel, outcomes: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    if model.missing != "none":
        yield from _find_unknown_word(("missing",), model.missing, "outcome", [*outcomes, "none"])
    for index, row in enumerate(model.rows):
        yield from _find_unknown_word(("rows", index, "outcome"), row.outcome, "outcome", outcomes)


def _find_row_problems(
    row: DecisionRowModel, model: DecisionTableModel, verdicts: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    for index, condition in enumerate(row.when or ()):
        path: FieldPath = ("when", index)
        for place, word in enumerate(condition.count):
            yield from _find_unknown_word((*path, "count", place), word, "verdict", verdicts)
        for place, word in enumerate(condition.in_ or ()):
            yield from _find_unknown_word((*path, "in", place), word, "mode", model.queries)
        open_ended = condition.at_least is None and condition.at_most is None
        if condition.exactly is None and open_ended:
            yield path, "has no bound; give it `at_least`, `at_most` or `exactly`"
        elif condition.exactly is not None and not open_ended:
            yield (*path, "exactly"), "stands beside another bound; `exactly` is both of them"


def _build_decision_row(model: DecisionRowModel) -> DecisionRow:
    return DecisionRow(
        name=model.name,
        decided=DecisionOutcome(model.outcome),
        when=tuple(map(_build_count_condition, model.when or ())),
        next=model.next,
    )


def _build_count_condition(model: CountModel) -> CountCondition:
    exactly = model.exactly
    return CountCondition(
        verdicts=tuple(model.count),
        modes=tuple(model.in_ or ()),
        at_least=(model.at_least or 0) if exactly is None else exactly,
        at_most=model.at_most if exactly is None else exactly,
    )
