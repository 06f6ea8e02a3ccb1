"""R: what lint says of the axes, the normalisation and the gates of a rubric that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from markscheme.exact import plain
from markscheme.mark.axes.contract import JsonSchema
from markscheme.mark.axes.pattern import Pattern, find
from markscheme.prove.findings import Fix, finding, spot_in
from markscheme.read.complaints import guess, iterate
from markscheme.read.models import is_rated
from markscheme.read.tree import Map
from markscheme.values import dataclass
from markscheme.vocabulary import Level, Rubric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from markscheme.prove.findings import LintFinding, Spot
    from markscheme.vocabulary import AxisSpec, Gate, Item

# A pattern that matches all of these asks for nothing that any text must have.
_STRANGERS = ("", "x", "\n", "0", "Ñandú, así.", "   ")
_ENUMERABLE = 12
_SPACES = ("strip", "collapse_whitespace")
_ON_TOTALS = ("score", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricDocument:
    """A rubric with the tree that it was read from."""

    rubric: Rubric
    tree: Map
    file: str

    def at(self, *path: str | int) -> Spot:
        """Return the place of a field; an axis is counted among those that are marked."""
        match path:
            case ("axes", int(index), *rest):
                stated = iterate(self.tree.get("axes"))
                marked = [at for at, entry in stated if not is_rated(entry)]
                path = ("axes", marked[index], *rest)
        return spot_in(self.tree, self.file, *path)


def check_rubric(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    """Yield what is suspicious in a rubric by itself; `exams` are the names that are known."""
    yield from _axes(document)
    yield from _steps(document)
    yield from _gates(document, exams)


def _axes(document: RubricDocument) -> Iterator[LintFinding]:
    rubric = document.rubric
    if rubric.axes and not rubric.gates and rubric.decision_table is None:
        yield finding(
            "R018", document.at("axes"), "the rubric scores, and no gate decides anything"
        )
    for index, spec in enumerate(rubric.axes):
        at = document.at("axes", index, "weight")
        why = _idle(spec, rubric) if rubric.gates else ""
        if why:
            yield finding("R010", at, f"`{spec.name}` can change no gate: {why}")
        if _passes_always(spec):
            told = f"`{spec.name}` is passed by every text"
            yield finding("R013", document.at("axes", index, "pattern"), told)
        yield from _unreached(document, index, spec)
    for (_, one), (index, other) in combinations(enumerate(rubric.axes), 2):
        if one.axis == other.axis:
            told = f"`{other.name}` is `{one.name}` again: the same kind with the same parameters"
            yield finding("R016", document.at("axes", index), told)


def _idle(spec: AxisSpec, rubric: Rubric) -> str:
    """Say why no gate looks at an axis, if none does."""
    if any(gate.axis == spec.name for gate in rubric.gates):
        return ""
    if not spec.weight:
        return "its weight is 0, and no gate is on it"
    if any(gate.metric in _ON_TOTALS for gate in rubric.gates):
        return ""
    if any(gate.metric == "passed" for gate in rubric.gates):
        return "" if _tips(spec, rubric) else _untipped(rubric)
    return "no gate is on the score, on the items that pass, or on this axis"


def _untipped(rubric: Rubric) -> str:
    return f"no item passes or fails the pass mark of {plain(rubric.pass_mark)} because of it"


def _tips(spec: AxisSpec, rubric: Rubric) -> bool:
    """Return whether the axis alone can lift some item over the pass mark."""
    others = [Fraction(other.weight) for other in rubric.axes if other is not spec]
    if len(others) > _ENUMERABLE:
        return True
    mark, weight = Fraction(rubric.pass_mark), Fraction(spec.weight)
    return any(total < mark <= total + weight for total in _sums(others))


def _sums(weights: Sequence[Fraction]) -> set[Fraction]:
    sums = {Fraction(0)}
    for weight in weights:
        sums |= {total + weight for total in sums}
    return sums


def smallest_step(rubric: Rubric) -> Fraction:
    """Return the smallest difference between two scores of one item whose axes pass or fail."""
    weights = [Fraction(spec.weight) for spec in rubric.axes if spec.weight]
    if len(weights) > _ENUMERABLE:
        return min(weights)
    sums = sorted(_sums(weights))
    return min((high - low for low, high in pairwise(sums)), default=Fraction(1))


def _passes_always(spec: AxisSpec) -> bool:
    axis = spec.axis
    if not isinstance(axis, Pattern) or axis.pattern is None:
        return False
    pattern = axis.pattern
    return all(find(pattern, text) is not None for text in _STRANGERS)


def _unreached(document: RubricDocument, index: int, spec: AxisSpec) -> Iterator[LintFinding]:
    """Say that a schema keeps a field from an axis, or does not ask for it."""
    name = getattr(spec.axis, "reads", None)
    if name is None:
        return
    for other in document.rubric.axes:
        if not isinstance(other.axis, JsonSchema):
            continue
        at = document.at("axes", index, "reads")
        schema = other.axis.schema
        if _forbids(schema, name):
            told = f"the schema of `{other.name}` allows no field `{name}`"
            yield finding("R011", at, f"{told}, so what conforms is read as a whole")
        elif name not in _listed(schema.get("required")):
            told = f"the schema of `{other.name}` does not require `{name}`"
            yield finding("R012", at, told)


def _forbids(schema: Mapping[str, Any], name: str) -> bool:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if known.get(name, True) is False:
        return True
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    return closed and name not in known


def _listed(value: Any) -> Collection[Any]:
    return value if isinstance(value, list | tuple) else ()


def _steps(document: RubricDocument) -> Iterator[LintFinding]:
    """Look at each list of steps where it is written."""
    yield from _step_list(document, ("normalise",), document.tree.get("normalise"))
    for index, entry in enumerate(document.tree.get("axes") or ()):
        yield from _step_list(document, ("axes", index, "normalise"), entry.get("normalise"))


def _step_list(
    document: RubricDocument, path: tuple[str | int, ...], steps: Any
) -> Iterator[LintFinding]:
    if not isinstance(steps, list):
        return
    for place, step in enumerate(steps):
        # one full stop is taken each time, so twice is not the same as once
        if step in steps[:place] and step != "strip_trailing_period":
            fix = Fix(path=(*path, place), action="drop")
            told = f"`{step}` stands here again"
            yield finding("R014", document.at(*path, place), told, fix)
        if step == "strip_trailing_period" and _spaces_only_after(steps, place):
            told = f"`{step}` runs before whitespace is taken: `ate. ` keeps its full stop"
            yield finding("R015", document.at(*path, place), told)


def _spaces_only_after(steps: Sequence[str], place: int) -> bool:
    before, after = steps[:place], steps[place + 1 :]
    return any(s in after for s in _SPACES) and not any(s in before for s in _SPACES)


def _gates(document: RubricDocument, exams: Collection[str]) -> Iterator[LintFinding]:
    rubric = document.rubric
    for index, gate in enumerate(rubric.gates):
        yield from _unknown_exams(document, index, gate, exams)
        yield from _limits(document, index, gate)
    for (one_at, one), (other_at, other) in combinations(enumerate(rubric.gates), 2):
        if _implies(one, other):
            told = f"`{other.name}` is met whenever `{one.name}` is"
            yield finding("R017", document.at("gates", other_at), told)
        elif _implies(other, one):
            told = f"`{one.name}` is met whenever `{other.name}` is"
            yield finding("R017", document.at("gates", one_at), told)


def _unknown_exams(
    document: RubricDocument, index: int, gate: Gate, exams: Collection[str]
) -> Iterator[LintFinding]:
    for place, name in enumerate(gate.exams):
        if name not in exams:
            told = f"`{name}` is no built-in exam and none of those given{guess(name, exams)}"
            yield finding("R007", document.at("gates", index, "exams", place), told)


def _limits(document: RubricDocument, index: int, gate: Gate) -> Iterator[LintFinding]:
    for key, why in _out_of_reach(gate, document.rubric):
        yield finding("R008", document.at("gates", index, key), why)
    beyond = _not_beyond(gate)
    if beyond:
        yield finding("R009", document.at("gates", index, "target"), beyond)


def _out_of_reach(gate: Gate, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield a limit that every run meets, or that none can."""
    if gate.baseline is not None:
        if gate.baseline.max_drop.amount == 1:
            yield "max_drop", "a drop of the whole score is allowed, so no run can fail"
    elif gate.metric.startswith(("latency", "cost")):
        if gate.at_most == 0:
            yield "at_most", "0 is met only where nothing was measured"
    elif gate.metric in {"score", "axis", "passed"}:
        yield from _out_of_share(gate, rubric)


def _out_of_share(gate: Gate, rubric: Rubric) -> Iterator[tuple[str, str]]:
    lowest = Fraction(0)
    if gate.metric == "score":
        lowest = sum((Fraction(s.weight) for s in rubric.axes if _passes_always(s)), Fraction(0))
    low, high = gate.at_least, gate.at_most
    least = plain(Decimal(lowest.numerator) / Decimal(lowest.denominator))
    if low is not None and Fraction(low) <= lowest and (high is None or high == 1):
        yield "at_least", f"no run is below {least}, so none can fail"
    if high is not None and high == 1 and low is None:
        yield "at_most", "no run is above 1, so none can fail"
    if high is not None and Fraction(high) < lowest:
        yield "at_most", f"no run is below {least}, so none can pass"


def _not_beyond(gate: Gate) -> str:
    if gate.target is None:
        return ""
    if gate.at_least is not None and gate.target <= gate.at_least:
        return f"{plain(gate.target)} is not above `at_least`, {plain(gate.at_least)}"
    if gate.at_least is None and gate.at_most is not None and gate.target >= gate.at_most:
        return f"{plain(gate.target)} is not below `at_most`, {plain(gate.at_most)}"
    return ""


def _implies(strong: Gate, weak: Gate) -> bool:
    """Return whether a gate that blocks is met only where the other one is met too."""
    if strong.level is Level.SOFT and weak.level is Level.HARD:
        return False
    of = [(g.metric, g.axis, g.tags, g.attempts) for g in (strong, weak)]
    wider = not strong.exams or (weak.exams and set(weak.exams) <= set(strong.exams))
    if of[0] != of[1] or not wider or strong.baseline is not None:
        return False
    return _within(strong, weak)


def _within(strong: Gate, weak: Gate) -> bool:
    low, high = weak.at_least, weak.at_most
    if low is not None and (strong.at_least is None or strong.at_least < low):
        return False
    return high is None or (strong.at_most is not None and strong.at_most <= high)


def check_gates_on(
    document: RubricDocument, exam: str, items: Sequence[Item]
) -> Iterator[LintFinding]:
    """Yield gates that no item of an exam that they are bound to could concern."""
    for index, gate in enumerate(document.rubric.gates):
        bound = not gate.exams or exam in gate.exams
        wanted = gate.tags.items()
        if bound and wanted and not any(wanted <= item.tags.items() for item in items):
            tags = ", ".join(f"{tag}: {value}" for tag, value in wanted)
            told = f"no item of `{exam}` has the tags {tags}"
            yield finding("R019", document.at("gates", index, "tags"), told)
