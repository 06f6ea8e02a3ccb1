"""R: what lint says of the axes, the normalisation and the gates of a rubric that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes import JsonSchema, PatternAxis, find_match
from markscheme.prove.lint.findings import Fix, locate_field, make_finding
from markscheme.read.documents import YamlMapping, is_rated, iterate_mappings, suggest_match
from markscheme.vocabulary import Level, Rubric, format_plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from markscheme.prove.lint.findings import FindingLocation, LintFinding
    from markscheme.vocabulary import AxisSpec, Gate, Item

# A pattern that matches all of these asks for nothing that any text must have.
_UNRELATED_TEXTS = ("", "x", "\n", "0", "Ñandú, así.", "   ")
_MAX_ENUMERATED_AXES = 12
_SPACE_STEPS = ("strip", "collapse_whitespace")
_TOTAL_METRICS = ("score", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricDocument:
    """A rubric with the tree that it was read from."""

    rubric: Rubric
    tree: YamlMapping
    file: str

    def locate(self, *path: str | int) -> FindingLocation:
        """Return the place of a field; an axis is counted among those that are marked."""
        match path:
            case ("axes", int(index), *rest):
                stated = iterate_mappings(self.tree.get("axes"))
                marked = [at for at, entry in stated if not is_rated(entry)]
                path = ("axes", marked[index], *rest)
        return locate_field(self.tree, self.file, *path)


def check_rubric(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    """Yield what is suspicious in a rubric by itself; `exams` are the names that are known."""
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
        at = document.locate("axes", index, "weight")
        why = _explain_idle_axis(spec, rubric) if rubric.gates else ""
        if why:
            yield make_finding("R010", at, f"`{spec.name}` can change no gate: {why}")
        if _is_always_passed(spec):
            told = f"`{spec.name}` is passed by every text"
            yield make_finding("R013", document.locate("axes", index, "pattern"), told)
        yield from _check_field_reach(document, index, spec)
    for (_, one), (index, other) in combinations(enumerate(rubric.axes), 2):
        if one.axis == other.axis:
            told = f"`{other.name}` is `{one.name}` again: the same kind with the same parameters"
            yield make_finding("R016", document.locate("axes", index), told)


def _explain_idle_axis(spec: AxisSpec, rubric: Rubric) -> str:
    """Say why no gate looks at an axis, if none does."""
    if any(gate.axis == spec.name for gate in rubric.gates):
        return ""
    if not spec.weight:
        return "its weight is 0, and no gate is on it"
    if any(gate.metric in _TOTAL_METRICS for gate in rubric.gates):
        return ""
    if any(gate.metric == "passed" for gate in rubric.gates):
        return "" if _can_tip(spec, rubric) else _format_untipped(rubric)
    return "no gate is on the score, on the items that pass, or on this axis"


def _format_untipped(rubric: Rubric) -> str:
    return (
        f"no item passes or fails the pass mark of {format_plain(rubric.pass_mark)} because of it"
    )


def _can_tip(spec: AxisSpec, rubric: Rubric) -> bool:
    """Return whether the axis alone can lift some item over the pass mark."""
    others = [Fraction(other.weight) for other in rubric.axes if other is not spec]
    if len(others) > _MAX_ENUMERATED_AXES:
        return True
    mark, weight = Fraction(rubric.pass_mark), Fraction(spec.weight)
    return any(total < mark <= total + weight for total in _list_weight_sums(others))


def _list_weight_sums(weights: Sequence[Fraction]) -> set[Fraction]:
    sums = {Fraction(0)}
    for weight in weights:
        sums |= {total + weight for total in sums}
    return sums


def compute_smallest_step(rubric: Rubric) -> Fraction:
    """Return the smallest difference between two scores of one item whose axes pass or fail."""
    weights = [Fraction(spec.weight) for spec in rubric.axes if spec.weight]
    if len(weights) > _MAX_ENUMERATED_AXES:
        return min(weights)
    sums = sorted(_list_weight_sums(weights))
    return min((high - low for low, high in pairwise(sums)), default=Fraction(1))


def _is_always_passed(spec: AxisSpec) -> bool:
    axis = spec.axis
    if not isinstance(axis, PatternAxis) or axis.pattern is None:
        return False
    pattern = axis.pattern
    return all(find_match(pattern, text) is not None for text in _UNRELATED_TEXTS)


def _check_field_reach(
    document: RubricDocument, index: int, spec: AxisSpec
) -> Iterator[LintFinding]:
    """Say that a schema keeps a field from an axis, or does not ask for it."""
    name = getattr(spec.axis, "reads", None)
    if name is None:
        return
    for other in document.rubric.axes:
        if not isinstance(other.axis, JsonSchema):
            continue
        at = document.locate("axes", index, "reads")
        schema = other.axis.schema
        if _is_field_forbidden(schema, name):
            told = f"the schema of `{other.name}` allows no field `{name}`"
            yield make_finding("R011", at, f"{told}, so what conforms is read as a whole")
        elif name not in _to_collection(schema.get("required")):
            told = f"the schema of `{other.name}` does not require `{name}`"
            yield make_finding("R012", at, told)


def _is_field_forbidden(schema: Mapping[str, Any], name: str) -> bool:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if known.get(name, True) is False:
        return True
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    return closed and name not in known


def _to_collection(value: Any) -> Collection[Any]:
    return value if isinstance(value, list | tuple) else ()


def _check_steps(document: RubricDocument) -> Iterator[LintFinding]:
    """Look at each list of steps where it is written."""
    yield from _check_step_list(document, ("normalise",), document.tree.get("normalise"))
    for index, entry in enumerate(document.tree.get("axes") or ()):
        yield from _check_step_list(document, ("axes", index, "normalise"), entry.get("normalise"))


def _check_step_list(
    document: RubricDocument, path: tuple[str | int, ...], steps: Any
) -> Iterator[LintFinding]:
    if not isinstance(steps, list):
        return
    for place, step in enumerate(steps):
        # one full stop is taken each time, so twice is not the same as once
        if step in steps[:place] and step != "strip_trailing_period":
            fix = Fix(path=(*path, place), action="drop")
            told = f"`{step}` stands here again"
            yield make_finding("R014", document.locate(*path, place), told, fix)
        if step == "strip_trailing_period" and _has_spaces_only_after(steps, place):
            told = f"`{step}` runs before whitespace is taken: `ate. ` keeps its full stop"
            yield make_finding("R015", document.locate(*path, place), told)


def _has_spaces_only_after(steps: Sequence[str], place: int) -> bool:
    before, after = steps[:place], steps[place + 1 :]
    return any(s in after for s in _SPACE_STEPS) and not any(s in before for s in _SPACE_STEPS)


def _check_gates(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    rubric = document.rubric
    for index, gate in enumerate(rubric.gates):
        yield from _check_exam_names(document, index, gate, exams)
        yield from _check_gate_limits(document, index, gate)
    for (one_at, one), (other_at, other) in combinations(enumerate(rubric.gates), 2):
        if _is_stricter_gate(one, other):
            told = f"`{other.name}` is met whenever `{one.name}` is"
            yield make_finding("R017", document.locate("gates", other_at), told)
        elif _is_stricter_gate(other, one):
            told = f"`{one.name}` is met whenever `{other.name}` is"
            yield make_finding("R017", document.locate("gates", one_at), told)


def _check_exam_names(
    document: RubricDocument, index: int, gate: Gate, exams: Collection[str]
) -> Iterator[LintFinding]:
    for place, name in enumerate(gate.exams):
        if name not in exams:
            told = (
                f"`{name}` is no built-in exam and none of those given{suggest_match(name, exams)}"
            )
            yield make_finding("R007", document.locate("gates", index, "exams", place), told)


def _check_gate_limits(document: RubricDocument, index: int, gate: Gate) -> Iterator[LintFinding]:
    for key, why in _find_unreachable_limits(gate, document.rubric):
        yield make_finding("R008", document.locate("gates", index, key), why)
    beyond = _explain_weak_target(gate)
    if beyond:
        yield make_finding("R009", document.locate("gates", index, "target"), beyond)


def _find_unreachable_limits(gate: Gate, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield a limit that every run meets, or that none can."""
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
    if gate.target is None:
        return ""
    if gate.at_least is not None and gate.target <= gate.at_least:
        return f"{format_plain(gate.target)} is not above `at_least`, {format_plain(gate.at_least)}"
    if gate.at_least is None and gate.at_most is not None and gate.target >= gate.at_most:
        return f"{format_plain(gate.target)} is not below `at_most`, {format_plain(gate.at_most)}"
    return ""


def _is_stricter_gate(strong: Gate, weak: Gate) -> bool:
    """Return whether a gate that blocks is met only where the other one is met too."""
    if strong.level is Level.SOFT and weak.level is Level.HARD:
        return False
    of = [(g.metric, g.axis, g.tags, g.attempts) for g in (strong, weak)]
    wider = not strong.exams or (weak.exams and set(weak.exams) <= set(strong.exams))
    if of[0] != of[1] or not wider or strong.baseline is not None:
        return False
    return _is_within_limits(strong, weak)


def _is_within_limits(strong: Gate, weak: Gate) -> bool:
    low, high = weak.at_least, weak.at_most
    if low is not None and (strong.at_least is None or strong.at_least < low):
        return False
    return high is None or (strong.at_most is not None and strong.at_most <= high)


def check_gate_tags(
    document: RubricDocument, exam: str, items: Sequence[Item]
) -> Iterator[LintFinding]:
    """Yield gates that no item of an exam that they are bound to could concern."""
    for index, gate in enumerate(document.rubric.gates):
        bound = not gate.exams or exam in gate.exams
        wanted = gate.tags.items()
        if bound and wanted and not any(wanted <= item.tags.items() for item in items):
            tags = ", ".join(f"{tag}: {value}" for tag, value in wanted)
            told = f"no item of `{exam}` has the tags {tags}"
            yield make_finding("R019", document.locate("gates", index, "tags"), told)
