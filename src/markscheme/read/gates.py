"""Gates: from YAML to frozen types. Each metric says what else a gate on it may hold."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from markscheme.errors import shown
from markscheme.frozen import Frozen
from markscheme.read.complaints import Complaints, guess
from markscheme.read.exams import tag_text
from markscheme.read.models import Name, Number, Scalar, Share
from markscheme.read.shapes import Limits, Made, Model
from markscheme.read.sound import LARGEST
from markscheme.vocabulary import Allowance, Attempts, BaselineLimit, Gate, Level

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markscheme.read.tree import Map

_PERCENT = r"[0-9]+(\.[0-9]+)?%"
_LATENCY = r"latency_(p[1-9][0-9]?(\.[0-9]{1,6})?|max)"
_ALLOWANCE = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": f"^{_PERCENT}$"},
    ]
}


def _allowance(value: Any) -> Allowance | None:
    if isinstance(value, str) and re.fullmatch(_PERCENT, value):
        found = Allowance(amount=Decimal(f"{value[:-1]}e-2"), relative=True)
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        found = Allowance(amount=Decimal(value), relative=False)
    else:
        return None
    return found if 0 <= found.amount <= 1 else None


Amount = Annotated[Any, Made(_allowance, "allowance_type", Frozen.of(_ALLOWANCE))]
Count = Annotated[int, Limits(at_least=0, at_most=LARGEST)]
Measure = Annotated[Number, Limits(at_least=0, at_most=LARGEST)]
Tags = Annotated[dict[Name, Scalar], Limits(shortest=1)]


class GateModel(Model):
    """What every gate has, whatever its metric."""

    name: Name
    level: Literal["hard", "soft"]
    metric: str = "score"
    exams: Annotated[list[Name], Limits(shortest=1)] | None = None


class ShareGate(GateModel):
    """A limit on a share from 0 to 1."""

    at_least: Share | None = None
    at_most: Share | None = None
    target: Share | None = None
    tags: Tags | None = None


class ScoreGate(ShareGate):
    """A limit on the mean score."""

    metric: Literal["score"] = "score"


class AxisGate(ShareGate):
    """A limit on the mean of one axis."""

    metric: Literal["axis"]
    axis: Name


class AttemptsModel(Model):
    """How many of how many attempts must pass."""

    at_least: Annotated[int, Limits(at_least=1)]
    of: Annotated[int, Limits(at_least=1)]


class PassedGate(ShareGate):
    """A limit on the share of items that pass."""

    metric: Literal["passed"]
    attempts: AttemptsModel | None = None


class CountGate(GateModel):
    """A limit on a number of things that should not be."""

    metric: Literal["errors", "missing"]
    at_most: Count
    target: Count | None = None


class FailuresGate(CountGate):
    """A limit on the answers that an axis did not give full marks."""

    metric: Literal["failures"]  # type: ignore[assignment]
    axis: Name
    tags: Tags | None = None


class MeasureGate(GateModel):
    """A limit on what was measured: milliseconds, or cost."""

    metric: Annotated[str, Limits(pattern=f"^({_LATENCY}|cost|cost_per_answer)$")]
    at_most: Measure
    target: Measure | None = None


class BaselineGate(GateModel):
    """A limit on the drop below the baseline's score."""

    metric: Literal["baseline"]
    max_drop: Amount
    suspicious_rise: Amount | None = None
    evidence: Literal["shown", "required"] = "shown"


MODELS: dict[str, type[GateModel]] = {
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
METRICS = (*MODELS, "latency_pNN")


def read_gates(tree: Map, axes: Collection[str], complaints: Complaints) -> list[Gate]:
    """Read the gates of a rubric with these axes; complain of all that is wrong with them."""
    found: list[Gate] = []
    stated = tree.get("gates")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path = ("gates", index)
        model = _model(entry)
        checked = complaints.check(model or GateModel, _known(entry, model), path)
        if model is None:
            _complain_of_metric(entry, path, complaints)
            continue
        problems = list(_problems(entry, model, axes)) if isinstance(entry, dict) else []
        for field, message in problems:
            complaints.add((*path, *field), message)
        if checked is not None and not problems:
            found.append(_made(cast("GateModel", checked)))
    return found


def _model(entry: Any) -> type[GateModel] | None:
    metric = entry.get("metric", "score") if isinstance(entry, dict) else "score"
    if not isinstance(metric, str):
        return None
    return MODELS.get(metric) or (MeasureGate if re.fullmatch(_LATENCY, metric) else None)


def _known(entry: Any, model: type[GateModel] | None) -> Any:
    """Return what can be checked of a gate: of an unknown metric only what every gate has."""
    if model is not None or not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key in GateModel.own_keys()}


def _complain_of_metric(entry: Map, path: tuple[str | int, ...], complaints: Complaints) -> None:
    metric = entry["metric"]
    message = f"{shown(metric)} is no metric; allowed: {', '.join(METRICS)}"
    complaints.add((*path, "metric"), message + guess(metric, METRICS))


def _problems(
    entry: dict[str, Any], model: type[GateModel], axes: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong between the keys of a gate, each of which may be right by itself."""
    axis = entry.get("axis")
    if "axis" in model.own_keys() and isinstance(axis, str) and axis not in axes:
        told = f"{shown(axis)} is no axis of this rubric; allowed: {', '.join(axes)}"
        yield ("axis",), told + guess(axis, axes)
    low, high = entry.get("at_least"), entry.get("at_most")
    if issubclass(model, ShareGate) and low is None and high is None:
        yield (), "has no limit; give it `at_least`, `at_most` or both"
    if _numbers(low, high) and low > high:  # type: ignore[operator]
        yield ("at_least",), f"{low} is above `at_most`, {high}; nothing could pass"
    attempts = entry.get("attempts")
    if isinstance(attempts, dict) and _numbers(attempts.get("at_least"), attempts.get("of")):
        k, n = attempts["at_least"], attempts["of"]
        if k > n:
            yield ("attempts", "at_least"), f"{k} is more than `of`, {n}; no item could pass"


def _numbers(*values: Any) -> bool:
    return all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in values)


def _made(model: GateModel) -> Gate:
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
        tags=Frozen({key: tag_text(value) for key, value in (stated("tags") or {}).items()}),
        attempts=attempts and Attempts(at_least=attempts.at_least, of=attempts.of),
        baseline=_baseline(model) if isinstance(model, BaselineGate) else None,
        exams=tuple(model.exams or ()),
        target=number("target"),
    )


def _baseline(model: BaselineGate) -> BaselineLimit:
    return BaselineLimit(
        max_drop=model.max_drop,
        suspicious_rise=model.suspicious_rise or model.max_drop,
        evidence_required=model.evidence == "required",
    )
