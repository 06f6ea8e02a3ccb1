"""Gates: from YAML to frozen types. Each metric says what else a gate on it may hold."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from markscheme.read.documents.exam import format_tag
from markscheme.read.documents.models import Name, Number, Scalar, Share
from markscheme.read.documents.validation import (
    Constraints,
    Converter,
    Model,
    ProblemCollector,
    suggest_match,
)
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import (
    Allowance,
    Attempts,
    BaselineLimit,
    FrozenDict,
    Gate,
    Level,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markscheme.read.documents.yaml import YamlMapping

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
        found = Allowance(amount=Decimal(f"{value[:-1]}e-2"), relative=True)
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        found = Allowance(amount=Decimal(value), relative=False)
    else:
        return None
    return found if 0 <= found.amount <= 1 else None


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


def read_gates(
    tree: YamlMapping, axes: Collection[str], complaints: ProblemCollector
) -> list[Gate]:
    """Read the gates of a rubric with these axes; complain of all that is wrong with them."""
    found: list[Gate] = []
    stated = tree.get("gates")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path = ("gates", index)
        model = _find_gate_model(entry)
        checked = complaints.validate_node(
            model or GateModel, _select_known_keys(entry, model), path
        )
        if model is None:
            _report_unknown_metric(entry, path, complaints)
            continue
        problems = list(_find_gate_problems(entry, model, axes)) if isinstance(entry, dict) else []
        for field, message in problems:
            complaints.add_problem((*path, *field), message)
        if checked is not None and not problems:
            found.append(_build_gate(cast("GateModel", checked)))
    return found


def _find_gate_model(entry: Any) -> type[GateModel] | None:
    metric = entry.get("metric", "score") if isinstance(entry, dict) else "score"
    if not isinstance(metric, str):
        return None
    return GATE_MODELS.get(metric) or (
        MeasureGate if re.fullmatch(_LATENCY_PATTERN, metric) else None
    )


def _select_known_keys(entry: Any, model: type[GateModel] | None) -> Any:
    """Return what can be checked of a gate: of an unknown metric only what every gate has."""
    if model is not None or not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key in GateModel.get_keys()}


def _report_unknown_metric(
    entry: YamlMapping, path: tuple[str | int, ...], complaints: ProblemCollector
) -> None:
    metric = entry["metric"]
    message = f"{format_value(metric)} is no metric; allowed: {', '.join(METRIC_NAMES)}"
    complaints.add_problem((*path, "metric"), message + suggest_match(metric, METRIC_NAMES))


def _find_gate_problems(
    entry: dict[str, Any], model: type[GateModel], axes: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong between the keys of a gate, each of which may be right by itself."""
    axis = entry.get("axis")
    if "axis" in model.get_keys() and isinstance(axis, str) and axis not in axes:
        told = f"{format_value(axis)} is no axis of this rubric; allowed: {', '.join(axes)}"
        yield ("axis",), told + suggest_match(axis, axes)
    low, high = entry.get("at_least"), entry.get("at_most")
    if issubclass(model, ShareGate) and low is None and high is None:
        yield (), "has no limit; give it `at_least`, `at_most` or both"
    if _are_numbers(low, high) and low > high:  # type: ignore[operator]
        yield ("at_least",), f"{low} is above `at_most`, {high}; nothing could pass"
    attempts = entry.get("attempts")
    if isinstance(attempts, dict) and _are_numbers(attempts.get("at_least"), attempts.get("of")):
        k, n = attempts["at_least"], attempts["of"]
        if k > n:
            yield ("attempts", "at_least"), f"{k} is more than `of`, {n}; no item could pass"


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in values)


def _build_gate(model: GateModel) -> Gate:
    def stated(key: str) -> Any:
        return getattr(model, key, None)

    def number(key: str) -> Decimal | None:
        return None if stated(key) is None else Decimal(stated(key))

    attempts = stated("attempts")
    return Gate(
        name=model.name,
        level=Level(model.level),
        metric=model.metric,
        at_least=number("at_least"),
        at_most=number("at_most"),
        axis=stated("axis"),
        tags=FrozenDict({key: format_tag(value) for key, value in (stated("tags") or {}).items()}),
        attempts=attempts and Attempts(at_least=attempts.at_least, of=attempts.of),
        baseline=_build_baseline_limit(model) if isinstance(model, BaselineGate) else None,
        exams=tuple(model.exams or ()),
        target=number("target"),
    )


def _build_baseline_limit(model: BaselineGate) -> BaselineLimit:
    return BaselineLimit(
        max_drop=model.max_drop,
        suspicious_rise=model.suspicious_rise or model.max_drop,
        evidence_required=model.evidence == "required",
    )
