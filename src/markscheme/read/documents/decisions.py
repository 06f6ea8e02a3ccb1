"""Read the parts of a rubric that comparisons use: verdict rules, decision table, requirements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from markscheme.read.documents.models import NO_ENTRIES, Name, Number, Text, is_rated
from markscheme.read.documents.validation import (
    UNSET,
    Constraints,
    Converter,
    Model,
    ProblemCollector,
    alias_key,
    describe_unknown_word,
    iterate_mappings,
)
from markscheme.read.documents.yaml import FieldPath, YamlMapping
from markscheme.vocabulary import (
    Bounds,
    CountCondition,
    DecisionOutcome,
    DecisionRequirements,
    DecisionRow,
    DecisionTable,
    FollowUp,
    FrozenDict,
    HitPolicy,
    QueryShare,
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
FinalOutcomeName = Literal["go", "go-with-monitoring", "no-go"]
QueryCount = Annotated[int, Constraints(at_least=0, at_most=10_000)]
_MAX_COUNT, _MAX_QUERIES = 10_000, 1000
_RANGE_KEYS = ("at_least", "at_most")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%")


def _parse_count_bound(value: Any) -> int | Fraction | None:
    """Return a count, or the fraction that a percentage stands for; `None` for anything else."""
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value)):
        share = Fraction(match[1]) / 100
        return share if share <= 1 else None
    is_count = type(value) is int and 0 <= value <= _MAX_COUNT
    return value if is_count else None


def _parse_query_range(value: Any) -> tuple[int, int | None] | None:
    """Return the smallest and the largest number of queries; `None` if they are not right."""
    if isinstance(value, Mapping) and set(value) <= set(_RANGE_KEYS) and "at_least" in value:
        least, most = value["at_least"], value.get("at_most")
    else:
        least = most = value
    stated = [least] if most is None else [least, most]
    if not all(type(n) is int and 0 <= n <= _MAX_QUERIES for n in stated) or stated[-1] < 1:
        return None
    return None if most is not None and most < least else (least, most)


_COUNT_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": _MAX_COUNT},
        {"type": "string", "pattern": f"^{_PERCENT.pattern}$"},
    ]
}
_SIZE_SCHEMA = {"type": "integer", "minimum": 0, "maximum": _MAX_QUERIES}
_QUERIES_SCHEMA = {
    "anyOf": [
        _SIZE_SCHEMA | {"minimum": 1},
        {
            "type": "object",
            "properties": {"at_least": _SIZE_SCHEMA, "at_most": _SIZE_SCHEMA},
            "required": ["at_least"],
            "additionalProperties": False,
        },
    ]
}
CountBound = Annotated[
    Any, Converter(_parse_count_bound, "count_type", FrozenDict.freeze(_COUNT_SCHEMA))
]
QueryNumbers = Annotated[
    Any, Converter(_parse_query_range, "queries_type", FrozenDict.freeze(_QUERIES_SCHEMA))
]
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
    at_least: CountBound | None = None
    above: CountBound | None = None
    at_most: CountBound | None = None
    below: CountBound | None = None
    exactly: QueryCount | None = None


class DecisionRowModel(Model):
    """A decision and when it is taken; without `when`, always."""

    name: Name
    when: Annotated[list[CountModel], Constraints(shortest=1, longest=50)] | None = None
    outcome: OutcomeName
    next: Text = ""


class FollowUpRowModel(DecisionRowModel):
    """A final decision after further queries, and when it is taken."""

    outcome: FinalOutcomeName


class FollowUpModel(Model):
    """What decides after `conditional`: so many further queries, and what their verdicts lead to.

    `in_modes_of` names the verdicts whose modes are followed up.
    """

    at_least: Annotated[int, Constraints(at_least=1, at_most=1000)]
    in_modes_of: Annotated[list[Name], Constraints(shortest=1)]
    rows: Annotated[list[FollowUpRowModel], Constraints(shortest=1, longest=_MAX_RULES)]


class DecisionTableModel(Model):
    """The decision over all queries."""

    match: HitPolicyName = "any"
    outcomes: Annotated[list[OutcomeName], Constraints(shortest=1)] | None = None
    missing: Literal["none"] | OutcomeName = "none"
    queries: Annotated[dict[Name, QueryNumbers], Constraints(shortest=1, longest=20)]
    rows: Annotated[list[DecisionRowModel], Constraints(shortest=1, longest=_MAX_RULES)]
    follow_up: FollowUpModel | None = None


class AgreementModel(Model):
    """How far raters must agree for a decision: the least ordinal alpha of Krippendorff."""

    alpha: Annotated[Number, Constraints(above=0, at_most=1)]


class RequirementsModel(Model):
    """What must be met beside the table: structural checks, and the agreement of raters."""

    blocking: Annotated[list[Name], Constraints(shortest=1, longest=200)] = NO_ENTRIES
    agreement: AgreementModel = UNSET


def read_requirements(
    tree: YamlMapping, collector: ProblemCollector
) -> DecisionRequirements | None:
    """Return what a decision requires beside the table, if anything; report every problem."""
    stated = {key: tree[key] for key in RequirementsModel.get_keys() if key in tree}
    if not stated:
        return None
    for key in stated if "decision_table" not in tree else ():
        collector.add_problem((key,), "is about the decision; the rubric has no `decision_table`")
    model = collector.validate_node(RequirementsModel, stated)
    if not isinstance(model, RequirementsModel):
        return None
    checks = [
        str(entry["name"])
        for _, entry in iterate_mappings(tree.get("axes"))
        if "name" in entry and not is_rated(entry)
    ]
    named = model.blocking
    for at, name in enumerate(named):
        for path, message in _find_unknown_word((at,), name, "check", checks):
            collector.add_problem(("blocking", *path), message)
    _check_duplicate_words(named, ("blocking",), collector)
    alpha = None if model.agreement is UNSET else Fraction(model.agreement.alpha)
    return DecisionRequirements(checks=tuple(named), alpha=alpha)


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
    problems += _find_all_row_problems(("rows",), model.rows, model, verdicts)
    if model.follow_up is not None:
        problems += _find_follow_up_problems(model.follow_up, model, verdicts)
    for path, message in problems:
        collector.add_problem(("decision_table", *path), message)
    if problems:
        return None
    ranges = {mode: most for mode, (least, most) in model.queries.items() if most != least}
    return DecisionTable(
        verdicts=tuple(verdicts),
        queries=FrozenDict({mode: least for mode, (least, _) in model.queries.items()}),
        rows=tuple(map(_build_decision_row, model.rows)),
        policy=HitPolicy(model.match),
        outcomes=tuple(outcome for outcome in DecisionOutcome if outcome in outcomes),
        missing=None if model.missing == "none" else DecisionOutcome(model.missing),
        most_queries=FrozenDict(ranges),
        follow_up=_build_follow_up(model.follow_up) if model.follow_up else None,
    )


def _build_follow_up(model: FollowUpModel) -> FollowUp:
    return FollowUp(
        at_least=model.at_least,
        in_modes_of=tuple(model.in_modes_of),
        rows=tuple(map(_build_decision_row, model.rows)),
    )


def _find_table_problems(
    model: DecisionTableModel, outcomes: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    for mode in (key for key in _RANGE_KEYS if key in model.queries):
        message = f"is no mode; a range belongs to a mode, as in {{ MODE: {{ {mode}: 4 }} }}"
        yield ("queries", mode), message
    if model.missing != "none":
        yield from _find_unknown_word(("missing",), model.missing, "outcome", [*outcomes, "none"])
    follow_up = model.follow_up.rows if model.follow_up else []
    for path, rows in ((("rows",), model.rows), (("follow_up", "rows"), follow_up)):
        for index, row in enumerate(rows):
            place = (*path, index, "outcome")
            yield from _find_unknown_word(place, row.outcome, "outcome", outcomes)


def _find_follow_up_problems(
    follow_up: FollowUpModel, model: DecisionTableModel, verdicts: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    for at, word in enumerate(follow_up.in_modes_of):
        yield from _find_unknown_word(("follow_up", "in_modes_of", at), word, "verdict", verdicts)
    rows: FieldPath = ("follow_up", "rows")
    yield from _find_all_row_problems(rows, follow_up.rows, model, verdicts)
    names = {row.name for row in model.rows}
    for index, row in enumerate(follow_up.rows):
        if row.name in names:
            yield (*rows, index, "name"), f"{format_value(row.name)} is the name of another row"
        for place, condition in enumerate(row.when or ()):
            for key, value in _list_count_bounds(condition):
                if isinstance(value, Fraction):
                    path = (*rows, index, "when", place, key)
                    yield path, "is a share; follow-up queries are few, so give a number"


def _list_count_bounds(condition: CountModel) -> list[tuple[str, int | Fraction]]:
    keys = ("at_least", "above", "at_most", "below", "exactly")
    stated = ((key, getattr(condition, key)) for key in keys)
    return [(key, value) for key, value in stated if value is not None]


def _find_all_row_problems(
    place: FieldPath,
    rows: Sequence[DecisionRowModel],
    model: DecisionTableModel,
    verdicts: Sequence[str],
) -> Iterator[tuple[FieldPath, str]]:
    for index, row in enumerate(rows):
        for path, message in _find_row_problems(row, model, verdicts):
            yield (*place, index, *path), message


def _find_row_problems(
    row: DecisionRowModel, model: DecisionTableModel, verdicts: Sequence[str]
) -> Iterator[tuple[FieldPath, str]]:
    for index, condition in enumerate(row.when or ()):
        path: FieldPath = ("when", index)
        for place, word in enumerate(condition.count):
            yield from _find_unknown_word((*path, "count", place), word, "verdict", verdicts)
        for place, word in enumerate(condition.in_ or ()):
            yield from _find_unknown_word((*path, "in", place), word, "mode", model.queries)
        stated = dict(_list_count_bounds(condition))
        if not stated:
            bounds = "`at_least` or `above`, `at_most` or `below`, or `exactly`"
            yield path, f"has no bound; give it {bounds}"
        elif "exactly" in stated and len(stated) > 1:
            yield (*path, "exactly"), "stands beside another bound; `exactly` is both of them"
        for inclusive, strict in (("at_least", "above"), ("at_most", "below")):
            if inclusive in stated and strict in stated:
                yield (*path, strict), f"stands beside `{inclusive}`; one of the two is enough"


def _build_decision_row(model: DecisionRowModel) -> DecisionRow:
    return DecisionRow(
        name=model.name,
        decided=DecisionOutcome(model.outcome),
        when=tuple(map(_build_count_condition, model.when or ())),
        next=model.next,
    )


def _build_count_condition(model: CountModel) -> CountCondition:
    least: int | QueryShare = 0
    most: int | QueryShare | None = None
    for key, value in _list_count_bounds(model):
        strict = key in {"above", "below"}
        if isinstance(value, Fraction):
            bound: int | QueryShare = QueryShare(fraction=value, strict=strict)
        else:
            bound = value + {"above": 1, "below": -1}.get(key, 0)
        if key in {"at_least", "above", "exactly"}:
            least = bound
        if key in {"at_most", "below", "exactly"}:
            most = bound
    return CountCondition(
        verdicts=tuple(model.count), modes=tuple(model.in_ or ()), at_least=least, at_most=most
    )
