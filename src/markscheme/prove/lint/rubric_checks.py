"""Checks R007 to R020: axes, normalisation steps and gates of a rubric that can be read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from markscheme.mark.axes import JsonSchema, PatternAxis, find_match
from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    locate_field,
    make_finding,
)
from markscheme.read.documents import (
    FieldPath,
    YamlMapping,
    is_rated,
    iterate_mappings,
    suggest_match,
)
from markscheme.vocabulary import AxisSpec, Gate, Item, Level, Rubric, format_plain

# Texts that have nothing in common: a pattern that matches all of them matches every text.
_UNRELATED_TEXTS = ("", "x", "\n", "0", "Ñandú, así.", "   ")
# With more axes, the 2^n combinations of passed axes are too many to enumerate.
_MAX_ENUMERATED_AXES = 12
_SPACE_STEPS = ("strip", "collapse_whitespace")
_TOTAL_METRICS = ("score", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricDocument:
    """A rubric with its file and the tree that it was read from."""

    rubric: Rubric
    tree: YamlMapping
    file: str

    def locate(self, *path: str | int) -> FindingLocation:
        """Return the location of a field.

        The index of an axis is its index in `Rubric.axes`; in the file, scales and notes may
        stand between.
        """
        match path:
            case ("axes", int(index), *rest):
                entries = iterate_mappings(self.tree.get("axes"))
                scored = [position for position, entry in entries if not is_rated(entry)]
                path = ("axes", scored[index], *rest)
        return self.locate_written(*path)

    def locate_written(self, *path: str | int) -> FindingLocation:
        """Return the location of a field by its path in the file."""
        return locate_field(self.tree, self.file, *path)


def check_rubric(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    """Yield the findings in a rubric by itself; `exams` are the known exam names."""
    yield from _check_axes(document)
    yield from _check_steps(document)
    yield from _check_gates(document, exams)


def _check_axes(document: RubricDocument) -> Iterator[LintFinding]:
    rubric = document.rubric
    if rubric.axes and not rubric.gates and rubric.decision_table is None:
        yield make_finding(
            "R018", document.locate("axes"), "the rubric scores, and no gate decides anything"
        )
    for index, spec in enumerate(rubric.axes):
        reason = _explain_idle_axis(spec, rubric) if rubric.gates else ""
        if reason:
            location = document.locate("axes", index, "weight")
            yield make_finding("R010", location, f"`{spec.name}` can change no gate: {reason}")
        if _is_always_passed(spec):
            message = f"`{spec.name}` is passed by every text"
            yield make_finding("R013", document.locate("axes", index, "pattern"), message)
        yield from _check_field_reach(document, index, spec)
    for (_, first), (index, second) in combinations(enumerate(rubric.axes), 2):
        if first.axis == second.axis:
            same = "the same kind with the same parameters"
            message = f"`{second.name}` is `{first.name}` again: {same}"
            yield make_finding("R016", document.locate("axes", index), message)


def _explain_idle_axis(spec: AxisSpec, rubric: Rubric) -> str:
    """Return why an axis can change no gate, or an empty text if it can change one."""
    if any(gate.axis == spec.name for gate in rubric.gates):
        return ""
    if not spec.weight:
        return "its weight is 0, and no gate is on it"
    if any(gate.metric in _TOTAL_METRICS for gate in rubric.gates):
        return ""
    if any(gate.metric == "passed" for gate in rubric.gates):
        if _can_decide_pass(spec, rubric):
            return ""
        pass_mark = format_plain(rubric.pass_mark)
        return f"no item passes or fails the pass mark of {pass_mark} because of it"
    return "no gate is on the score, on the items that pass, or on this axis"


def _can_decide_pass(spec: AxisSpec, rubric: Rubric) -> bool:
    """Return whether some item passes with the axis and fails without it."""
    others = [Fraction(other.weight) for other in rubric.axes if other is not spec]
    if len(others) > _MAX_ENUMERATED_AXES:
        return True
    mark, weight = Fraction(rubric.pass_mark), Fraction(spec.weight)
    return any(total < mark <= total + weight for total in _list_weight_sums(others))


def _list_weight_sums(weights: Sequence[Fraction]) -> set[Fraction]:
    """Return the sum of every subset of the weights."""
    sums = {Fraction(0)}
    for weight in weights:
        sums |= {total + weight for total in sums}
    return sums


def compute_smallest_step(rubric: Rubric) -> Fraction:
    """Return the smallest difference between two scores of an item whose axes pass or fail."""
    weights = [Fraction(spec.weight) for spec in rubric.axes if spec.weight]
    if len(weights) > _MAX_ENUMERATED_AXES:
        return min(weights)
    sums = sorted(_list_weight_sums(weights))
    return min((high - low for low, high in pairwise(sums)), default=Fraction(1))


def _is_always_passed(spec: AxisSpec) -> bool:
    axis = spec.axis
    if not isinstance(axis, PatternAxis) or axis.pattern is None:
        return False
    return all(find_match(axis.pattern, text) is not None for text in _UNRELATED_TEXTS)


def _check_field_reach(
    document: RubricDocument, index: int, spec: AxisSpec
) -> Iterator[LintFinding]:
    """Report a field that an axis reads and that a schema forbids or does not require."""
    name = getattr(spec.axis, "reads", None)
    if name is None:
        return
    for other in document.rubric.axes:
        if not isinstance(other.axis, JsonSchema):
            continue
        location = document.locate("axes", index, "reads")
        schema = other.axis.schema
        required = schema.get("required")
        if _is_field_forbidden(schema, name):
            reason = f"the schema of `{other.name}` allows no field `{name}`"
            message = f"{reason}, so what conforms is read as a whole"
            yield make_finding("R011", location, message)
        elif not isinstance(required, list | tuple) or name not in required:
            message = f"the schema of `{other.name}` does not require `{name}`"
            yield make_finding("R012", location, message)


def _is_field_forbidden(schema: Mapping[str, Any], name: str) -> bool:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if known.get(name, True) is False:
        return True
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    return closed and name not in known


def _check_steps(document: RubricDocument) -> Iterator[LintFinding]:
    """Check every list of normalisation steps: that of the rubric, and those of its axes."""
    yield from _check_step_list(document, ("normalise",), document.tree.get("normalise"))
    for index, entry in enumerate(document.tree.get("axes") or ()):
        yield from _check_step_list(document, ("axes", index, "normalise"), entry.get("normalise"))


def _check_step_list(
    document: RubricDocument, path: FieldPath, steps: Any
) -> Iterator[LintFinding]:
    if not isinstance(steps, list):
        return
    for index, step in enumerate(steps):
        # `strip_trailing_period` takes one full stop each time, so twice is not the same as once.
        if step in steps[:index] and step != "strip_trailing_period":
            fix = Fix(path=(*path, index), action="drop")
            message = f"`{step}` stands here again"
            yield make_finding("R014", document.locate(*path, index), message, fix)
        if step == "strip_trailing_period" and _is_before_spaces(steps, index):
            message = f"`{step}` runs before whitespace is taken: `ate. ` keeps its full stop"
            yield make_finding("R015", document.locate(*path, index), message)


def _is_before_spaces(steps: Sequence[str], index: int) -> bool:
    """Return whether whitespace is stripped only after the step at `index`."""
    before, after = steps[:index], steps[index + 1 :]
    return any(s in after for s in _SPACE_STEPS) and not any(s in before for s in _SPACE_STEPS)


def _check_gates(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    rubric = document.rubric
    for index, gate in enumerate(rubric.gates):
        for position, name in enumerate(gate.exams):
            if name not in exams:
                location = document.locate("gates", index, "exams", position)
                message = f"`{name}` is no built-in exam and none of those given"
                yield make_finding("R007", location, message + suggest_match(name, exams))
        for key, reason in _find_unreachable_limits(gate, rubric):
            yield make_finding("R008", document.locate("gates", index, key), reason)
        if gate.metric in {"score", "passed"} and gate.at_least is None and _is_below_1(gate):
            location = document.locate("gates", index, "at_most")
            limit = format_plain(Decimal(gate.at_most or 0))
            message = f"a run above {limit} fails, and one that gets nothing right passes"
            yield make_finding("R020", location, message)
        if reason := _explain_weak_target(gate):
            yield make_finding("R009", document.locate("gates", index, "target"), reason)
    for (i, first), (j, second) in combinations(enumerate(rubric.gates), 2):
        if _is_stricter_gate(first, second):
            message = f"`{second.name}` is met whenever `{first.name}` is"
            yield make_finding("R017", document.locate("gates", j), message)
        elif _is_stricter_gate(second, first):
            message = f"`{first.name}` is met whenever `{second.name}` is"
            yield make_finding("R017", document.locate("gates", i), message)


def _is_below_1(gate: Gate) -> bool:
    """Return whether there are runs above the upper limit of a gate."""
    return gate.at_most is not None and gate.at_most < 1


def _find_unreachable_limits(gate: Gate, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield (key, reason) for each limit that every run meets or that no run can meet."""
    if gate.baseline is not None:
        if gate.baseline.max_drop.amount == 1:
            yield "max_drop", "a drop of the whole score is allowed, so no run can fail"
    elif gate.metric.startswith(("latency", "cost")):
        if gate.at_most == 0:
            yield "at_most", "0 is met only where nothing was measured"
    elif gate.metric in {"score", "axis", "passed"}:
        yield from _find_unreachable_shares(gate, rubric)


def _find_unreachable_shares(gate: Gate, rubric: Rubric) -> Iterator[tuple[str, str]]:
    lowest = Fraction(0)
    if gate.metric == "score":
        lowest = sum((Fraction(s.weight) for s in rubric.axes if _is_always_passed(s)), Fraction(0))
    low, high = gate.at_least, gate.at_most
    least = format_plain(Decimal(lowest.numerator) / Decimal(lowest.denominator))
    if low is not None and Fraction(low) <= lowest and (high is None or high == 1):
        yield "at_least", f"no run is below {least}, so none can fail"
    if high is not None and high == 1 and low is None:
        yield "at_most", "no run is above 1, so none can fail"
    if high is not None and Fraction(high) < lowest:
        yield "at_most", f"no run is below {least}, so none can pass"


def _explain_weak_target(gate: Gate) -> str:
    """Return why the target asks for no more than the limit, or an empty text."""
    if gate.target is None:
        return ""
    if gate.at_least is not None and gate.target <= gate.at_least:
        return f"{format_plain(gate.target)} is not above `at_least`, {format_plain(gate.at_least)}"
    if gate.at_least is None and gate.at_most is not None and gate.target >= gate.at_most:
        return f"{format_plain(gate.target)} is not below `at_most`, {format_plain(gate.at_most)}"
    return ""


def _is_stricter_gate(strong: Gate, weak: Gate) -> bool:
    """Return whether the weak gate is met on every run on which the strong gate is met."""
    if strong.level is Level.SOFT and weak.level is Level.HARD:
        return False
    measured = [(gate.metric, gate.axis, gate.tags, gate.attempts) for gate in (strong, weak)]
    covers = not strong.exams or (weak.exams and set(weak.exams) <= set(strong.exams))
    if measured[0] != measured[1] or not covers or strong.baseline is not None:
        return False
    low, high = weak.at_least, weak.at_most
    if low is not None and (strong.at_least is None or strong.at_least < low):
        return False
    return high is None or (strong.at_most is not None and strong.at_most <= high)


def check_gate_tags(
    document: RubricDocument, exam: str, items: Sequence[Item]
) -> Iterator[LintFinding]:
    """Yield the gates whose tags no item of an exam has, if the gate applies to that exam."""
    for index, gate in enumerate(document.rubric.gates):
        applies = not gate.exams or exam in gate.exams
        tags = gate.tags.items()
        if applies and tags and not any(tags <= item.tags.items() for item in items):
            shown = ", ".join(f"{tag}: {value}" for tag, value in tags)
            message = f"no item of `{exam}` has the tags {shown}"
            yield make_finding("R019", document.locate("gates", index, "tags"), message)
