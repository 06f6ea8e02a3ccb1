"""Mutation operators: every way in which an audit breaks a rubric on purpose.

A mutant is a rubric with one thing changed. If no golden case, recorded answer or known answer
notices the change, nothing tests that rule. There is one operator per `MutantKind`, in four
groups: axes (steps, matching, schema, limits), structural axes (entries, choices, order), what
decides (weights, thresholds), and the expectations of items. docs/audit.md describes each kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from msgspec import structs

from markscheme.mark import get_expectation_key
from markscheme.mark.axes import (
    CallOrder,
    Citations,
    ContainsAll,
    CriteriaAxis,
    JsonSchema,
    Match,
    OneOf,
    Sections,
    TokenBudget,
    TraceAxis,
    format_expected,
)
from markscheme.prove.audit.equivalent_mutants import (
    prove_equivalent_steps,
    prove_implied_entry,
    prove_redundant_schema,
)
from markscheme.vocabulary import (
    Allowance,
    Axis,
    AxisSpec,
    BaselineLimit,
    Cell,
    Exam,
    FrozenDict,
    Gate,
    Item,
    Response,
    Rubric,
    format_plain,
    sentence,
)

_HUNDREDTH = Decimal("0.01")


class MutantKind(StrEnum):
    """What a mutation operator changes."""

    DROP_STEP = "drop-step"
    DUPLICATE_STEP = "duplicate-step"
    SWAP_STEPS = "swap-steps"
    ANY_ENTRY = "any-entry"
    MATCH = "match"
    IGNORE_SCHEMA = "ignore-schema"
    LIMIT = "limit"
    DROP_ENTRY = "drop-entry"
    CHOICE = "choice"
    ORDER = "order"
    DROP_AXIS = "drop-axis"
    WEIGHT = "weight"
    THRESHOLD = "threshold"
    DROP_EXPECTATION = "drop-expectation"
    POINTS = "points"
    SIGN = "sign"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A rubric with one thing changed.

    - `axes`: the axes whose cells may differ; empty if only weights or gates change.
    - `item`: the changed item, if one of its expectations is; `original` is that item before.
    - `equivalent`: the proof that no answer can tell the mutant from the rubric, if there is one.
    """

    kind: MutantKind
    name: str
    says: str
    rubric: Rubric
    axes: tuple[str, ...] = ()
    item: Item | None = None
    original: Item | None = None
    equivalent: str = ""


def generate_mutants(rubric: Rubric, exam: Exam) -> Iterator[Mutant]:
    """Yield every mutant of a rubric, and of the expectations of an exam."""
    for spec in rubric:
        yield from _generate_step_mutants(rubric, spec)
        yield from _generate_match_mutants(rubric, spec)
        yield from _generate_schema_mutants(rubric, spec)
        yield from _generate_limit_mutants(rubric, spec)
    for spec in rubric:
        if isinstance(spec.axis, CriteriaAxis):
            yield from _generate_choice_mutants(rubric, spec)
        if isinstance(spec.axis, Sections | TokenBudget | Citations | TraceAxis):
            yield from _generate_entry_mutants(rubric, spec)
            yield from _generate_choice_mutants(rubric, spec)
            yield from _generate_order_mutants(rubric, spec)
    yield from _generate_weight_mutants(rubric)
    yield from _generate_threshold_mutants(rubric)
    yield from _generate_expectation_mutants(rubric, exam.items)
    for spec in rubric:
        if isinstance(spec.axis, CriteriaAxis):
            yield from _generate_criteria_mutants(rubric, spec, spec.axis, exam.items)


def _generate_step_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Drop each normalisation step, run each step twice, and swap each two steps."""
    # The steps of criteria are those of their checks, which have none of their own.
    steps: tuple[str, ...] = getattr(spec.axis, "normalise", ())
    if isinstance(spec.axis, CriteriaAxis):
        return
    for i, step in enumerate(steps):
        fewer = (*steps[:i], *steps[i + 1 :])
        yield _replace_steps(rubric, spec, MutantKind.DROP_STEP, step, fewer)
    for i, step in enumerate(steps):
        more = (*steps[: i + 1], *steps[i:])
        yield _replace_steps(rubric, spec, MutantKind.DUPLICATE_STEP, step, more)
    for i, j in combinations(range(len(steps)), 2):
        swapped = list(steps)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        label = f"{steps[i]}/{steps[j]}"
        yield _replace_steps(rubric, spec, MutantKind.SWAP_STEPS, label, tuple(swapped))


_STEP_SENTENCES = {
    MutantKind.DROP_STEP: sentence("`{steps}` is left out"),
    MutantKind.DUPLICATE_STEP: sentence("`{steps}` runs twice"),
    MutantKind.SWAP_STEPS: sentence("`{one}` and `{two}` change places"),
}


def _replace_steps(
    rubric: Rubric, spec: AxisSpec, kind: MutantKind, label: str, steps: tuple[str, ...]
) -> Mutant:
    axis: Any = spec.axis
    one, _, two = label.partition("/")
    return _build_mutant(
        rubric,
        spec,
        kind,
        (label, _STEP_SENTENCES[kind].format(steps=label, one=one, two=two)),
        replace(axis, normalise=steps),
        prove_equivalent_steps(axis, steps),
    )


def _build_mutant(
    rubric: Rubric,
    spec: AxisSpec,
    kind: MutantKind,
    change: tuple[str, str],
    axis: Axis,
    equivalent: str = "",
) -> Mutant:
    """Return the mutant with one axis replaced. `change` is a short label and a description."""
    label, says = change
    return Mutant(
        kind=kind,
        name=f"{kind.value} {spec.name} {label}".strip(),
        says=sentence("{axis}: {says}", axis=spec.name, says=says),
        rubric=_replace_axis(rubric, spec.name, axis),
        axes=(spec.name,),
        equivalent=equivalent,
    )


def _replace_axis(rubric: Rubric, name: str, axis: Axis) -> Rubric:
    """Return the rubric with the axis of this name replaced."""
    axes = (structs.replace(spec, axis=axis) if spec.name == name else spec for spec in rubric)
    return replace(rubric, axes=tuple(axes))


def _generate_match_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if not isinstance(axis, ContainsAll):
        return
    change = ("any", sentence("one entry is enough"))
    yield _build_mutant(rubric, spec, MutantKind.ANY_ENTRY, change, AnyEntryAxis(inner=axis))
    for match, words in (
        (Match.WORD, sentence("an entry must stand as a whole word")),
        (Match.SUBSTRING, sentence("an entry may be part of a longer word")),
    ):
        if match is not axis.match:
            change = (match.value, words)
            yield _build_mutant(rubric, spec, MutantKind.MATCH, change, replace(axis, match=match))
    whole = OneOf(reads=axis.reads, expects=axis.expects, normalise=axis.normalise)
    change = ("whole", sentence("the whole text must be an entry"))
    yield _build_mutant(rubric, spec, MutantKind.MATCH, change, whole)


def _generate_schema_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if not isinstance(axis, JsonSchema):
        return
    change = ("object", sentence("any object will do, whatever the schema says"))
    lax = replace(axis, schema=FrozenDict())
    # A subclass may use its schema in another way, so the proof holds for the kind itself only.
    proof = prove_redundant_schema(rubric, axis.schema) if type(axis) is JsonSchema else ""
    yield _build_mutant(rubric, spec, MutantKind.IGNORE_SCHEMA, change, lax, proof)
    change = ("anything", sentence("any response will do, also one that is no object"))
    yield _build_mutant(rubric, spec, MutantKind.IGNORE_SCHEMA, change, WaivedAxis())


def _generate_limit_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Move each number among the parameters of an axis one step down and up."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for moved in _generate_parameter_neighbours(value):
            changed = replace(axis, **{field.name: moved})
            if not any(True for _ in changed.parameter_problems()):
                now, before = _format_parameter_change(moved, value)
                says = sentence(
                    "`{field}` is {moved}, not {value}", field=field.name, moved=now, value=before
                )
                change = (f"{field.name}={now}", says)
                yield _build_mutant(rubric, spec, MutantKind.LIMIT, change, changed)


def _format_parameter_change(moved: Any, value: Any) -> tuple[str, str]:
    """Return the changed parameter and the original, or their one entry that differs."""
    if not isinstance(value, Mapping):
        return str(moved), str(value)
    key = next(key for key in value if moved[key] != value[key])
    return f"{key}:{moved[key]}", f"{key}:{value[key]}"


def _generate_parameter_neighbours(value: Any) -> Iterator[Any]:
    """Yield a number moved down and up by one unit of its last written place, in its own type.

    In a mapping, each number is moved by itself.
    """
    if isinstance(value, Mapping):
        numbers = {key: entry for key, entry in value.items() if isinstance(entry, int | Decimal)}
        for key, number in numbers.items():
            for moved in _generate_parameter_neighbours(number):
                yield FrozenDict({**value, key: moved})
    elif isinstance(value, str) and value.endswith("%") and value[:-1].replace(".", "").isdigit():
        yield from (
            f"{format_plain(moved)}%"
            for moved in _get_decimal_neighbours(Decimal(value[:-1]))
            if moved >= 0
        )
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (value - 1, value + 1)
    elif isinstance(value, Decimal):
        yield from _get_decimal_neighbours(value)
    elif isinstance(value, float):
        yield from map(float, _get_decimal_neighbours(Decimal(repr(value))))


def _get_decimal_neighbours(value: Decimal, most: Decimal = Decimal(1)) -> tuple[Decimal, Decimal]:
    step = _compute_step(value, most)
    return value - step, value + step


def _compute_step(value: Decimal, most: Decimal = Decimal(1)) -> Decimal:
    """Return one unit of the last written place of a number, at most `most`: 0.01 for 0.92."""
    exponent = value.as_tuple().exponent
    return min(most, Decimal(1).scaleb(exponent)) if isinstance(exponent, int) else most


def _generate_weight_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Drop each axis, and move each weight one step down and up.

    Weights must sum to 1, so the heaviest other axis gives or takes the difference.
    """
    for spec in rubric if len(rubric.axes) > 1 else ():
        heaviest = max((other for other in rubric if other is not spec), key=lambda s: s.weight)
        yield _drop_axis(rubric, spec, heaviest)
        yield from _generate_weight_shifts(rubric, spec, heaviest)
        yield from _generate_point_shifts(rubric, spec)


def _generate_weight_shifts(rubric: Rubric, spec: AxisSpec, heaviest: AxisSpec) -> Iterator[Mutant]:
    """Move a weight one step down and up. Weights that the rubric does not state are not moved."""
    stated = [other.weight for other in rubric if isinstance(other.weight, Decimal)]
    if not (isinstance(spec.weight, Decimal) and isinstance(heaviest.weight, Decimal)):
        return
    step = min(_compute_step(weight, _HUNDREDTH) for weight in stated)
    for moved in (-step, step):
        weights = {spec.name: spec.weight + moved, heaviest.name: heaviest.weight - moved}
        if all(0 <= weight <= 1 for weight in weights.values()):
            yield Mutant(
                kind=MutantKind.WEIGHT,
                name=f"weight {spec.name}={format_plain(spec.weight + moved)}",
                says=sentence(
                    "the weights are {weight} of `{axis}` and {rest} of `{other}`",
                    weight=format_plain(weights[spec.name]),
                    axis=spec.name,
                    rest=format_plain(weights[heaviest.name]),
                    other=heaviest.name,
                ),
                rubric=_replace_weights(rubric, weights),
            )


def _generate_point_shifts(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Move the points of an axis one step down and up; the shares of all axes follow."""
    if spec.points is None:
        return
    for moved in _get_decimal_neighbours(spec.points):
        points = {
            other.name: moved if other is spec else other.points or Decimal(0) for other in rubric
        }
        total = sum(map(Fraction, points.values()), Fraction(0))
        if moved > 0:
            shares = {axis: Fraction(own) / total for axis, own in points.items()}
            yield Mutant(
                kind=MutantKind.POINTS,
                name=f"points {spec.name}={format_plain(moved)}",
                says=sentence(
                    "`{axis}` has {moved} points, not {points}",
                    axis=spec.name,
                    moved=format_plain(moved),
                    points=format_plain(spec.points),
                ),
                rubric=_replace_weights(rubric, shares),
            )


def _replace_weights(rubric: Rubric, weights: Mapping[str, Decimal | Fraction]) -> Rubric:
    axes = (structs.replace(spec, weight=weights.get(spec.name, spec.weight)) for spec in rubric)
    return replace(rubric, axes=tuple(axes))


def _drop_axis(rubric: Rubric, spec: AxisSpec, heir: AxisSpec) -> Mutant:
    weighed = _replace_weights(rubric, {heir.name: Fraction(heir.weight) + Fraction(spec.weight)})
    rest = replace(
        weighed,
        axes=tuple(other for other in weighed if other.name != spec.name),
        gates=tuple(gate for gate in rubric.gates if gate.axis != spec.name),
    )
    says = sentence(
        "the axis `{axis}` is gone, `{heir}` has its weight", axis=spec.name, heir=heir.name
    )
    return Mutant(kind=MutantKind.DROP_AXIS, name=f"drop-axis {spec.name}", says=says, rubric=rest)


def _generate_expectation_mutants(rubric: Rubric, items: tuple[Item, ...]) -> Iterator[Mutant]:
    """Remove each entry of each expectation of each item, for every axis that reads it."""
    for spec in rubric:
        key = get_expectation_key(spec.axis) or ""
        waived = _replace_axis(rubric, spec.name, WaivedAxis())
        for item in items if key else ():
            value = item.expectations[key]
            entries = value if isinstance(value, tuple) else (value,)
            for index, entry in enumerate(entries):
                rest = (*entries[:index], *entries[index + 1 :])
                expectations = FrozenDict({**item.expectations, key: rest})
                yield Mutant(
                    kind=MutantKind.DROP_EXPECTATION,
                    name=f"drop-expectation {item.id} {spec.name} {index}",
                    says=sentence(
                        "{item}: {axis} no longer expects {entry!r}",
                        item=item.id,
                        axis=spec.name,
                        entry=_name_entry(entry),
                    ),
                    rubric=rubric if rest else waived,
                    axes=(spec.name,),
                    item=replace(item, expectations=expectations),
                    original=item if isinstance(spec.axis, CriteriaAxis) else None,
                    equivalent=prove_implied_entry(spec.axis, entry, rest),
                )


def _name_entry(entry: Any) -> str:
    """Return an expectation as a text; a criterion or a group by its name."""
    if isinstance(entry, Mapping):
        return str(entry.get("id", entry.get("group")))
    return format_expected([entry])[0]


def _generate_criteria_mutants(
    rubric: Rubric, spec: AxisSpec, axis: CriteriaAxis, items: tuple[Item, ...]
) -> Iterator[Mutant]:
    """Give each criterion and group one point more, or less if it is a penalty; turn each sign."""
    for item in items:
        entries = item.expectations[axis.expects]
        for path, entry in _iterate_entries(entries):
            points, name = entry["points"], str(entry.get("id", entry.get("group")))
            changes = (
                (MutantKind.POINTS, points + 1 if points > 0 else points - 1),
                (MutantKind.SIGN, -points),
            )
            for kind, moved in changes:
                changed = _replace_points(entries, path, moved)
                expectations = FrozenDict({**item.expectations, axis.expects: changed})
                mutated = replace(item, expectations=expectations)
                if any(True for _ in axis.item_problems(mutated)):
                    continue
                yield Mutant(
                    kind=kind,
                    name=f"{kind.value} {item.id} {spec.name} {name}={moved}",
                    says=sentence(
                        "{item}: `{criterion}` has {moved} points, not {points}",
                        item=item.id,
                        criterion=name,
                        moved=str(moved),
                        points=str(points),
                    ),
                    rubric=rubric,
                    axes=(spec.name,),
                    item=mutated,
                    original=item,
                    equivalent=sentence("one criterion alone is all or nothing")
                    if kind is MutantKind.POINTS and len(entries) == 1 and "id" in entry
                    else "",
                )


def _iterate_entries(
    entries: tuple[Mapping[str, Any], ...], path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Mapping[str, Any]]]:
    """Yield every criterion and group, with its positions from the outermost list on."""
    for at, entry in enumerate(entries):
        yield (*path, at), entry
        if "criteria" in entry:
            yield from _iterate_entries(entry["criteria"], (*path, at))


def _replace_points(
    entries: tuple[Mapping[str, Any], ...], path: tuple[int, ...], points: Any
) -> tuple[Mapping[str, Any], ...]:
    """Return criteria with the points of the one at a path replaced."""
    at, *rest = path
    entry = dict(entries[at])
    if rest:
        entry["criteria"] = _replace_points(entry["criteria"], tuple(rest), points)
    else:
        entry["points"] = points
    return (*entries[:at], FrozenDict(entry), *entries[at + 1 :])


def _generate_entry_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Remove each entry of each list among the parameters of an axis."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for index, entry in enumerate(value if isinstance(value, tuple) else ()):
            changed = replace(axis, **{field.name: (*value[:index], *value[index + 1 :])})
            if not any(True for _ in changed.parameter_problems()):
                change = (f"{field.name}.{index}", f"`{field.name}` lacks `{entry}`")
                yield _build_mutant(rubric, spec, MutantKind.DROP_ENTRY, change, changed)


def _generate_choice_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Replace each choice among the parameters of an axis by every other choice."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for other in type(value) if isinstance(value, StrEnum) else ():
            if other is not value:
                says = sentence(
                    "`{field}` is {moved}, not {value}", field=field.name, moved=other, value=value
                )
                change = (f"{field.name}={other}", says)
                changed = replace(axis, **{field.name: other})
                yield _build_mutant(rubric, spec, MutantKind.CHOICE, change, changed)


def _generate_order_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if isinstance(axis, CallOrder):
        for family in axis.later_families:
            change = ("", f"`{family}` must come before `{axis.first}`")
            changed = replace(axis, first=family, then=axis.first)
            yield _build_mutant(rubric, spec, MutantKind.ORDER, change, changed)


_SHARE_METRICS = frozenset({"score", "axis", "passed"})
_SHOWN_ONLY = sentence("a target is shown beside the gate and decides nothing")


def _generate_threshold_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Move the pass mark and each limit of each gate one step down and up."""
    for moved in generate_threshold_neighbours(rubric.pass_mark, share=True):
        if moved > 0:
            yield Mutant(
                kind=MutantKind.THRESHOLD,
                name=f"threshold pass_mark={format_plain(moved)}",
                says=sentence(
                    "the pass mark is {new}, not {old}",
                    new=format_plain(moved),
                    old=format_plain(rubric.pass_mark),
                ),
                rubric=replace(rubric, pass_mark=moved),
            )
    for gate in rubric.gates:
        for field, value, changed in _generate_changed_gates(gate):
            gates = (changed if other is gate else other for other in rubric.gates)
            yield Mutant(
                kind=MutantKind.THRESHOLD,
                name=f"threshold {gate.name}.{field}={value}",
                says=sentence(
                    "gate {gate}: `{field}` is {value}", gate=gate.name, field=field, value=value
                ),
                rubric=replace(rubric, gates=tuple(gates)),
                equivalent=_SHOWN_ONLY if field == "target" else "",
            )


def generate_threshold_neighbours(value: Decimal, *, share: bool) -> Iterator[Decimal]:
    """Yield a threshold one step lower and one step higher, within its range."""
    step = _compute_step(value, _HUNDREDTH if share else Decimal(1))
    for moved in (value - step, value + step):
        if moved >= 0 and not (share and moved > 1):
            yield moved


def _generate_changed_gates(gate: Gate) -> Iterator[tuple[str, str, Gate]]:
    share = gate.metric in _SHARE_METRICS
    for field in ("at_least", "at_most", "target"):
        value: Decimal | None = getattr(gate, field)
        for moved in generate_threshold_neighbours(value, share=share) if value is not None else ():
            yield field, format_plain(moved), _replace_limit(gate, field, moved)
    if gate.attempts is not None:
        k, n = gate.attempts.at_least, gate.attempts.of
        for least in (k - 1, k + 1):
            if 1 <= least <= n:
                attempts = structs.replace(gate.attempts, at_least=least)
                yield "attempts.at_least", str(least), structs.replace(gate, attempts=attempts)
    if gate.baseline is not None:
        for field, value_text, limit in _generate_baseline_limits(gate.baseline):
            yield field, value_text, structs.replace(gate, baseline=limit)


def _replace_limit(gate: Gate, field: str, value: Decimal) -> Gate:
    match field:
        case "at_least":
            return structs.replace(gate, at_least=value)
        case "at_most":
            return structs.replace(gate, at_most=value)
        case _:
            return structs.replace(gate, target=value)


def _generate_baseline_limits(limit: BaselineLimit) -> Iterator[tuple[str, str, BaselineLimit]]:
    for amount in generate_threshold_neighbours(limit.max_drop.amount, share=True):
        drop = Allowance(amount=amount, relative=limit.max_drop.relative)
        yield "max_drop", str(drop), structs.replace(limit, max_drop=drop)
    for amount in generate_threshold_neighbours(limit.suspicious_rise.amount, share=True):
        rise = Allowance(amount=amount, relative=limit.suspicious_rise.relative)
        yield "suspicious_rise", str(rise), structs.replace(limit, suspicious_rise=rise)


# Axes with one rule removed, for mutants that no parameter can express


@dataclass(frozen=True, slots=True, kw_only=True)
class WaivedAxis:
    """An axis that asks for nothing: every response passes."""

    kind: ClassVar[str] = "waived"
    version: ClassVar[int] = 1

    def mark(self, response: Response, item: Item) -> Cell:  # noqa: ARG002 - the same for all
        """Pass every response."""
        return Cell.passed("nothing is asked for")

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield nothing."""
        yield from ()

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield nothing."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyEntryAxis(WaivedAxis):
    """An axis for which one of the expected entries is enough."""

    kind: ClassVar[str] = "any_entry"
    inner: Axis

    def mark(self, response: Response, item: Item) -> Cell:
        """Return the best cell that the inner axis gives for one entry alone."""
        cells = _mark_each_entry(self.inner, response, item)
        return next((cell for cell in cells if cell.value == 1), cells[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryEntryAxis(WaivedAxis):
    """An axis that must pass for each of the expected entries alone."""

    kind: ClassVar[str] = "every_entry"
    inner: Axis

    def mark(self, response: Response, item: Item) -> Cell:
        """Return the first cell that misses among those of the entries, else the last one."""
        cells = _mark_each_entry(self.inner, response, item)
        return next((cell for cell in cells if cell.value != 1), cells[-1])


def _mark_each_entry(axis: Axis, response: Response, item: Item) -> list[Cell]:
    """Return the cell of an axis for each expected entry alone."""
    key = get_expectation_key(axis) or ""
    alone = (
        replace(item, expectations=FrozenDict({**item.expectations, key: (entry,)}))
        for entry in item.expectations[key]
    )
    return [axis.mark(response, one) for one in alone]
