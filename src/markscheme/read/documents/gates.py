"""Read the gates of a rubric. Each metric has a model that says which keys a gate on it has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from markscheme.read.documents.exam import format_tag
from markscheme.read.documents.models import Name, Number, Scalar, Share
from markscheme.read.documents.validation import (
    Constraints,
    Converter,
    Model,
    ProblemCollector,
    describe_unknown_word,
)
from markscheme.read.documents.yaml import FieldPath, YamlMapping
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import (
    Allowance,
    Attempts,
    BaselineLimit,
    FrozenDict,
    Gate,
    Level,
)

_PERCENT_PATTERN = r"[0-9]+(\.[0-9]+)?%"
_LATENCY_PATTERN = r"latency_(p[1-9][0-9]?(\.[0-9]{1,6})?|max)"
_ALLOWANCE_SCHEMA = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": f"^{_PERCENT_PATTERN}$"},
    ]
}


def _parse_allowance(value: Any) -> Allowance | None:
    if isinstance(value, str) and re.fullmatch(_PERCENT_PATTERN, value):
        allowance = Allowance(amount=Decimal(f"{value[:-1]}e-2"), relative=True)
    elif _are_numbers(value):
        allowance = Allowance(amount=Decimal(value), relative=False)
    else:
        return None
    return allowance if 0 <= allowance.amount <= 1 else None


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in values)


AllowanceValue = Annotated[
    Any, Converter(_parse_allowance, "allowance_type", FrozenDict.freeze(_ALLOWANCE_SCHEMA))
]
CountLimit = Annotated[int, Constraints(at_least=0, at_most=MAX_STORABLE_NUMBER)]
MeasureLimit = Annotated[Number, Constraints(at_least=0, at_most=MAX_STORABLE_NUMBER)]
TagFilter = Annotated[dict[Name, Scalar], Constraints(shortest=1)]


class GateModel(Model):
    """What every gate has, whatever its metric."""

    name: Name
    level: Literal["hard", "soft"]
    metric: str = "score"
    exams: Annotated[list[Name], Constraints(shortest=1)] | None = None


class ShareGate(GateModel):
    """A limit on a share from 0 to 1."""

    at_least: Share | None = None
    at_most: Share | None = None
    target: Share | None = None
    tags: TagFilter | None = None


class ScoreGate(ShareGate):
    """A limit on the mean score."""

    metric: Literal["score"] = "score"


class AxisGate(ShareGate):
    """A limit on the mean of one axis."""

    metric: Literal["axis"]
    axis: Name


class NotApplicableGate(ShareGate):
    """A limit on the share of the answers to which one axis does not apply."""

    metric: Literal["not_applicable"]
    axis: Name


class AttemptsModel(Model):
    """How many of how many attempts must pass."""

    at_least: Annotated[int, Constraints(at_least=1)]
    of: Annotated[int, Constraints(at_least=1)]


class PassedGate(ShareGate):
    """A limit on the share of items that pass."""

    metric: Literal["passed"]
    attempts: AttemptsModel | None = None


class CountGate(GateModel):
    """A limit on a number of things that should not be."""

    metric: Literal["errors", "missing"]
    at_most: CountLimit
    target: CountLimit | None = None


class FailuresGate(CountGate):
    """A limit on the answers that an axis did not give full marks."""

    metric: Literal["failures"]  # type: ignore[assignment]
    axis: Name
    tags: TagFilter | None = None


class MeasureGate(GateModel):
    """A limit on what was measured: milliseconds, or cost."""

    metric: Annotated[str, Constraints(pattern=f"^({_LATENCY_PATTERN}|cost|cost_per_answer)$")]
    at_most: MeasureLimit
    target: MeasureLimit | None = None


class BaselineGate(GateModel):
    """A limit on the drop below the baseline's score."""

    metric: Literal["baseline"]
    max_drop: AllowanceValue
    suspicious_rise: AllowanceValue | None = None
    evidence: Literal["shown", "required"] = "shown"


GATE_MODELS: dict[str, type[GateModel]] = {
    "score": ScoreGate,
    "axis": AxisGate,
    "passed": PassedGate,
    "not_applicable": NotApplicableGate,
    "failures": FailuresGate,
    "errors": CountGate,
    "missing": CountGate,
    "latency_p50": MeasureGate,
    "latency_max": MeasureGate,
    "cost": MeasureGate,
    "cost_per_answer": MeasureGate,
    "baseline": BaselineGate,
}
METRIC_NAMES = (*GATE_MODELS, "latency_pNN")


def read_gates(tree: YamlMapping, axes: Collection[str], collector: ProblemCollector) -> list[Gate]:
    """Read the gates of a rubric that has these axes; report every problem to the collector."""
    gates: list[Gate] = []
    stated = tree.get("gates")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path: FieldPath = ("gates", index)
        model_class = _find_gate_model(entry)
        if model_class is None:
            _report_unknown_metric(entry, path, collector)
            continue
        model = collector.validate_node(model_class, entry, path)
        problems: list[tuple[FieldPath, str]] = []
        if isinstance(entry, dict):
            problems = list(_find_gate_problems(entry, model_class, axes))
        for field, message in problems:
            collector.add_problem((*path, *field), message)
        if model is not None and not problems:
            gates.append(_build_gate(cast("GateModel", model)))
    return gates


def _find_gate_model(entry: Any) -> type[GateModel] | None:
    """Return the model for the metric of a gate, or None if the metric is unknown."""
    metric = entry.get("metric", "score") if isinstance(entry, dict) else "score"
    if not isinstance(metric, str):
        return None
    if re.fullmatch(_LATENCY_PATTERN, metric):
        return MeasureGate
    return GATE_MODELS.get(metric)


def _report_unknown_metric(
    entry: dict[str, Any], path: FieldPath, collector: ProblemCollector
) -> None:
    """Report an unknown metric, and problems with the keys that every gate has."""
    common = {key: value for key, value in entry.items() if key in GateModel.get_keys()}
    collector.validate_node(GateModel, common, path)
    message = describe_unknown_word(entry["metric"], "metric", METRIC_NAMES)
    collector.add_problem((*path, "metric"), message)


def _describe_lacking_metric(entry: dict[str, Any]) -> Iterator[str]:
    """Say of which metrics the keys are that a gate without `metric` does not have."""
    for key in () if "metric" in entry else entry:
        owners = [f"`{name}`" for name, model in GATE_MODELS.items() if key in model.get_keys()]
        if owners and key not in GATE_MODELS["score"].get_keys():
            yield f"`{key}` needs `metric`: {' or '.join(owners)}"


def _find_gate_problems(
    entry: dict[str, Any], model: type[GateModel], axes: Collection[str]
) -> Iterator[tuple[FieldPath, str]]:
    """Yield problems between keys of a gate that are valid one by one."""
    axis = entry.get("axis")
    if "axis" in model.get_keys() and isinstance(axis, str) and axis not in axes:
        yield ("axis",), describe_unknown_word(axis, "axis of this rubric", axes)
    low, high = entry.get("at_least"), entry.get("at_most")
    if lacking := list(_describe_lacking_metric(entry)):
        yield (), "; ".join(lacking)
    elif issubclass(model, ShareGate) and low is None and high is None:
        yield (), "has no limit; give it `at_least`, `at_most` or both"
    if _are_numbers(low, high) and low > high:  # type: ignore[operator]
        yield ("at_least",), f"{low} is above `at_most`, {high}; nothing could pass"
    attempts = entry.get("attempts")
    if isinstance(attempts, dict) and _are_numbers(attempts.get("at_least"), attempts.get("of")):
        k, n = attempts["at_least"], attempts["of"]
        if k > n:
            yield ("attempts", "at_least"), f"{k} is more than `of`, {n}; no item could pass"


def _build_gate(model: GateModel) -> Gate:
    # A metric's model has only some of the keys of a gate; the others are None.
    def get(key: str) -> Any:
        return getattr(model, key, None)

    def get_number(key: str) -> Decimal | None:
        return None if get(key) is None else Decimal(get(key))

    attempts = get("attempts")
    baseline = None
    if isinstance(model, BaselineGate):
        baseline = BaselineLimit(
            max_drop=model.max_drop,
            suspicious_rise=model.suspicious_rise or model.max_drop,
            evidence_required=model.evidence == "required",
        )
    return Gate(
        name=model.name,
        level=Level(model.level),
        metric=model.metric,
        at_least=get_number("at_least"),
        at_most=get_number("at_most"),
        axis=get("axis"),
        tags=FrozenDict({key: format_tag(value) for key, value in (get("tags") or {}).items()}),
        attempts=attempts and Attempts(at_least=attempts.at_least, of=attempts.of),
        baseline=baseline,
        exams=tuple(model.exams or ()),
        target=get_number("target"),
    )
