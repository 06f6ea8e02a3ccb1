"""Mutants: a rubric with one thing changed. Whoever scores the same by both has not tested it.

Mutants of the axes on how an answer is built and on what was done: lists, choices, order.

Mutants of what decides: each limit of a gate and the pass mark, moved by one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from markscheme.mark import get_expectation_key
from markscheme.mark.axes import (
    AXES,
    CallOrder,
    Citations,
    ContainsAll,
    JsonSchema,
    Match,
    OneOf,
    Sections,
    TokenBudget,
    TraceAxis,
)
from markscheme.prove.audit.equivalence import prove_equal_steps
from markscheme.prove.audit.mutant_axes import AnyEntryAxis, WaivedAxis
from markscheme.vocabulary import Allowance, Axis, FrozenDict, Item, Rubric, format_plain, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import AxisSpec, BaselineLimit, Gate

_HUNDREDTH = Decimal("0.01")


class MutantKind(StrEnum):
    """What is changed."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A rubric with one thing changed.

    `axes` names those whose cells may differ; there are none where only weights or gates do.
    `item` is the changed item where an expectation is gone. `equivalent` is the proof that no
    answer can tell the mutant from the rubric, where there is one.
    """

    kind: MutantKind
    name: str
    says: str
    rubric: Rubric
    axes: tuple[str, ...] = ()
    item: Item | None = None
    equivalent: str = ""


def generate_axis_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield the mutants of each axis: its steps, its matching, its schema, its limits."""
    for spec in rubric:
        yield from generate_step_mutants(rubric, spec)
        yield from _generate_match_mutants(rubric, spec)
        yield from _generate_schema_mutants(rubric, spec)
        yield from _generate_limit_mutants(rubric, spec)


def generate_step_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the mutants with a normalisation step dropped, doubled, or two that change places."""
    steps: tuple[str, ...] = getattr(spec.axis, "normalise", ())
    for at, step in enumerate(steps):
        less = (*steps[:at], *steps[at + 1 :])
        yield _replace_steps(rubric, spec, MutantKind.DROP_STEP, step, less)
    for at, step in enumerate(steps):
        more = (*steps[: at + 1], *steps[at:])
        yield _replace_steps(rubric, spec, MutantKind.DUPLICATE_STEP, step, more)
    for one, two in combinations(range(len(steps)), 2):
        moved = list(steps)
        moved[one], moved[two] = moved[two], moved[one]
        label = f"{steps[one]}/{steps[two]}"
        yield _replace_steps(rubric, spec, MutantKind.SWAP_STEPS, label, tuple(moved))


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
    return build_mutant(
        rubric,
        spec,
        kind,
        (label, _STEP_SENTENCES[kind].format(steps=label, one=one, two=two)),
        replace(axis, normalise=steps),
        _prove_equivalent_steps(axis, steps),
    )


def _prove_equivalent_steps(axis: Any, steps: tuple[str, ...]) -> str:
    """Return why other steps do the same; an axis of one's own is taken at its word."""
    proof = prove_equal_steps(axis.normalise, steps)
    if not proof or type(axis) in AXES.values():
        return proof
    return sentence(
        "{proof}, if `{kind}`, which is not built in, does with its steps what they say",
        proof=proof,
        kind=axis.kind,
    )


def build_mutant(
    rubric: Rubric,
    spec: AxisSpec,
    kind: MutantKind,
    told: tuple[str, str],
    axis: Axis,
    equivalent: str = "",
) -> Mutant:
    """Return the rubric with one axis changed; `told` names the change and says what it is."""
    label, says = told
    return Mutant(
        kind=kind,
        name=f"{kind.value} {spec.name} {label}".strip(),
        says=sentence("{axis}: {says}", axis=spec.name, says=says),
        rubric=replace_axis(rubric, spec.name, axis),
        axes=(spec.name,),
        equivalent=equivalent,
    )


def replace_axis(rubric: Rubric, name: str, axis: Axis) -> Rubric:
    """Return the rubric with another axis under a name."""
    axes = (replace(spec, axis=axis) if spec.name == name else spec for spec in rubric)
    return replace(rubric, axes=tuple(axes))


def _generate_match_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if not isinstance(axis, ContainsAll):
        return
    told = ("any", sentence("one entry is enough"))
    yield build_mutant(rubric, spec, MutantKind.ANY_ENTRY, told, AnyEntryAxis(inner=axis))
    for match, words in (
        (Match.WORD, sentence("an entry must stand as a whole word")),
        (Match.SUBSTRING, sentence("an entry may be part of a longer word")),
    ):
        if match is not axis.match:
            told = (match.value, words)
            yield build_mutant(rubric, spec, MutantKind.MATCH, told, replace(axis, match=match))
    whole = OneOf(reads=axis.reads, expects=axis.expects, normalise=axis.normalise)
    told = ("whole", sentence("the whole text must be an entry"))
    yield build_mutant(rubric, spec, MutantKind.MATCH, told, whole)


def _generate_schema_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    if isinstance(spec.axis, JsonSchema):
        told = ("object", sentence("any object will do, whatever the schema says"))
        lax = replace(spec.axis, schema=FrozenDict())
        proof = (
            _prove_redundant_schema(rubric, spec.axis.schema)
            if type(spec.axis) is JsonSchema
            else ""
        )
        yield build_mutant(rubric, spec, MutantKind.IGNORE_SCHEMA, told, lax, proof)
        told = ("anything", sentence("any response will do, also one that is no object"))
        yield build_mutant(rubric, spec, MutantKind.IGNORE_SCHEMA, told, WaivedAxis())


def _prove_redundant_schema(rubric: Rubric, schema: Mapping[str, Any]) -> str:
    """Say that a schema only asks for the texts that axes read, which are asked for anyway."""
    read = {name for name, types in rubric.fields.accepted.items() if set(types) == {str}}
    properties = schema.get("properties", {})
    if (
        not set(schema) <= {"type", "required", "properties", "title", "description"}
        or schema.get("type", "object") != "object"
        or not {*schema.get("required", ()), *properties} <= read
        or any(kind != {"type": "string"} for kind in properties.values())
    ):
        return ""
    return sentence(
        "the schema only asks for the texts that axes read, and the axis asks for those anyway"
    )


def _generate_limit_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with each number among its parameters one step lower and higher."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for moved in _generate_parameter_neighbours(value):
            changed = replace(axis, **{field.name: moved})
            if not any(True for _ in changed.parameter_problems()):
                now, before = _format_parameter_change(moved, value)
                told = sentence(
                    "`{field}` is {moved}, not {value}", field=field.name, moved=now, value=before
                )
                yield build_mutant(
                    rubric, spec, MutantKind.LIMIT, (f"{field.name}={now}", told), changed
                )


def _format_parameter_change(moved: Any, value: Any) -> tuple[str, str]:
    """Return how a changed parameter and the true one differ."""
    if not isinstance(value, Mapping):
        return str(moved), str(value)
    key = next(key for key in value if moved[key] != value[key])
    return f"{key}:{moved[key]}", f"{key}:{value[key]}"


def _generate_parameter_neighbours(value: Any) -> Iterator[Any]:
    """Yield a number one step of its last written place lower and higher, in its own type.

    Of numbers by name, each is moved by itself.
    """
    if isinstance(value, Mapping):
        numbers = {key: one for key, one in value.items() if isinstance(one, int | Decimal)}
        for key, one in numbers.items():
            yield from (
                FrozenDict({**value, key: moved}) for moved in _generate_parameter_neighbours(one)
            )
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
    step = compute_step(value, most)
    return value - step, value + step


def compute_step(value: Decimal, most: Decimal = Decimal(1)) -> Decimal:
    """Return one unit of the last written place of a number, `most` at most: 0.01 for 0.92."""
    exponent = value.as_tuple().exponent
    return min(most, Decimal(1).scaleb(exponent)) if isinstance(exponent, int) else most


def generate_weight_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield each axis dropped, and each weight one step lower and higher.

    Weights still sum to 1: the heaviest other axis gives or takes what is moved.
    """
    for spec in rubric if len(rubric.axes) > 1 else ():
        heaviest = max((other for other in rubric if other is not spec), key=lambda s: s.weight)
        yield _drop_axis(rubric, spec, heaviest)
        yield from _generate_weight_shifts(rubric, spec, heaviest)


def _generate_weight_shifts(rubric: Rubric, spec: AxisSpec, heaviest: AxisSpec) -> Iterator[Mutant]:
    """Yield a weight one step lower and higher; weights that nobody wrote are all alike."""
    stated = [other.weight for other in rubric if isinstance(other.weight, Decimal)]
    if not (isinstance(spec.weight, Decimal) and isinstance(heaviest.weight, Decimal)):
        return
    step = min(compute_step(weight, _HUNDREDTH) for weight in stated)
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


def _replace_weights(rubric: Rubric, weights: Mapping[str, Decimal | Fraction]) -> Rubric:
    axes = (replace(spec, weight=weights.get(spec.name, spec.weight)) for spec in rubric)
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


def generate_expectation_mutants(rubric: Rubric, items: tuple[Item, ...]) -> Iterator[Mutant]:
    """Yield, for each axis, each item with one of its expected entries gone."""
    for spec in rubric:
        key = get_expectation_key(spec.axis) or ""
        waived = replace_axis(rubric, spec.name, WaivedAxis())
        for item in items if key else ():
            value = item.expectations[key]
            entries = value if isinstance(value, tuple) else (value,)
            for at, entry in enumerate(entries):
                rest = (*entries[:at], *entries[at + 1 :])
                expectations = FrozenDict({**item.expectations, key: rest})
                yield Mutant(
                    kind=MutantKind.DROP_EXPECTATION,
                    name=f"drop-expectation {item.id} {spec.name} {at}",
                    says=sentence(
                        "{item}: {axis} no longer expects {entry!r}",
                        item=item.id,
                        axis=spec.name,
                        entry=entry,
                    ),
                    rubric=rubric if rest else waived,
                    axes=(spec.name,),
                    item=replace(item, expectations=expectations),
                    equivalent=_prove_implied_entry(spec.axis, entry, rest),
                )


def _prove_implied_entry(axis: Axis, entry: str, rest: tuple[str, ...]) -> str:
    """Say that the other entries ask for this one too, where they do."""
    if type(axis) is not ContainsAll:
        return ""
    wanted, others = axis.prepare_entries((entry,))[0], axis.prepare_entries(rest)
    for other in others:
        if wanted == other or (axis.match is Match.SUBSTRING and wanted in other):
            return sentence(
                "every text that holds {other!r} holds {wanted!r}", other=other, wanted=wanted
            )
    return ""


_STRUCTURAL_AXES = (Sections, TokenBudget, Citations, TraceAxis)


def generate_structural_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield the mutants of the structural axes, beside those of their numbers."""
    for spec in rubric:
        if isinstance(spec.axis, _STRUCTURAL_AXES):
            yield from _generate_entry_mutants(rubric, spec)
            yield from _generate_choice_mutants(rubric, spec)
            yield from _generate_order_mutants(rubric, spec)


def _generate_entry_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with one entry of each list among its parameters gone."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for at, entry in enumerate(value if isinstance(value, tuple) else ()):
            changed = replace(axis, **{field.name: (*value[:at], *value[at + 1 :])})
            if not any(True for _ in changed.parameter_problems()):
                told = f"`{field.name}` lacks `{entry}`"
                label = f"{field.name}.{at}"
                yield build_mutant(rubric, spec, MutantKind.DROP_ENTRY, (label, told), changed)


def _generate_choice_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with each word among its parameters that has others beside it, changed."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for other in type(value) if isinstance(value, StrEnum) else ():
            if other is not value:
                says = sentence(
                    "`{field}` is {moved}, not {value}", field=field.name, moved=other, value=value
                )
                told = (f"{field.name}={other}", says)
                changed = replace(axis, **{field.name: other})
                yield build_mutant(rubric, spec, MutantKind.CHOICE, told, changed)


def _generate_order_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if isinstance(axis, CallOrder):
        told = ("", f"`{axis.then}` must come before `{axis.first}`")
        changed = replace(axis, first=axis.then, then=axis.first)
        yield build_mutant(rubric, spec, MutantKind.ORDER, told, changed)


_SHARE_METRICS = frozenset({"score", "axis", "passed"})
_SHOWN_ONLY = sentence("a target is shown beside the gate and decides nothing")


def generate_threshold_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield the rubric with the pass mark and each limit of each gate one step lower and higher."""
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
    """Yield a threshold one step lower and higher, as far as it may go."""
    step = compute_step(value, _HUNDREDTH if share else Decimal(1))
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
                attempts = replace(gate.attempts, at_least=least)
                yield "attempts.at_least", str(least), replace(gate, attempts=attempts)
    if gate.baseline is not None:
        for field, told, limit in _generate_baseline_limits(gate.baseline):
            yield field, told, replace(gate, baseline=limit)


def _replace_limit(gate: Gate, field: str, value: Decimal) -> Gate:
    match field:
        case "at_least":
            return replace(gate, at_least=value)
        case "at_most":
            return replace(gate, at_most=value)
        case _:
            return replace(gate, target=value)


def _generate_baseline_limits(limit: BaselineLimit) -> Iterator[tuple[str, str, BaselineLimit]]:
    for amount in generate_threshold_neighbours(limit.max_drop.amount, share=True):
        drop = Allowance(amount=amount, relative=limit.max_drop.relative)
        yield "max_drop", str(drop), replace(limit, max_drop=drop)
    for amount in generate_threshold_neighbours(limit.suspicious_rise.amount, share=True):
        rise = Allowance(amount=amount, relative=limit.suspicious_rise.relative)
        yield "suspicious_rise", str(rise), replace(limit, suspicious_rise=rise)
