"""Read the criteria of an item: entries of an exam become `Criteria`, or every mistake in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from msgspec import Struct

from markscheme.read.documents.axis_entries import build_axis
from markscheme.read.documents.exam import format_tag
from markscheme.read.documents.models import (
    CriterionGroupModel,
    CriterionModel,
    build_check_model,
)
from markscheme.read.documents.validation import (
    Model,
    ModelValidationError,
    describe_unknown_key,
    describe_unknown_word,
    list_model_problems,
    validate_model,
)
from markscheme.read.documents.yaml import FieldPath
from markscheme.vocabulary import (
    Axis,
    Criteria,
    Criterion,
    CriterionCheck,
    CriterionGroup,
    FrozenDict,
    Item,
    find_control_character,
    format_value,
)

_LIST_TYPES = (list, tuple)
_MAX_NESTED_GROUPS = 50


class CheckKinds(Struct, frozen=True, kw_only=True):
    """What the checks of criteria may name: kinds of axes, and steps of normalisation.

    `inherited` are the parameters that a check gets from the rubric if it does not state them.
    """

    kinds: Mapping[str, type[Axis]]
    steps: Collection[str]
    inherited: Mapping[str, Any] = FrozenDict()


def parse_criteria(item: Item, key: str, checks: CheckKinds) -> Criteria:
    """Return the criteria that an item holds under a key; they must have no problems."""
    reader = _CriteriaReader(item, checks)
    return reader.read_entries((key,), item.expectations.get(key, ()))


def find_criteria_problems(item: Item, key: str, checks: CheckKinds) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each mistake in the criteria that an item holds under a key."""
    raw = item.expectations.get(key)
    if raw is None:
        yield key, "is missing; the axis needs a list of criteria here"
        return
    if not isinstance(raw, _LIST_TYPES) or not raw:
        rule = "a list of criteria is needed, each with `id`, `points`, and `says` or `check`"
        yield key, f"must be a list with at least one entry, not {_describe_raw(raw)}; {rule}"
        return
    reader = _CriteriaReader(item, checks)
    reader.read_entries((key,), raw)
    yield from reader.problems.items()


def _describe_raw(raw: Any) -> str:
    return "an empty list" if isinstance(raw, _LIST_TYPES) else format_value(raw)


class _CriteriaReader:
    """Reads the criteria of one item; `problems` holds one message for each wrong field."""

    def __init__(self, item: Item, checks: CheckKinds) -> None:
        self.problems: dict[str, str] = {}
        self._item = item
        self._checks = checks
        # For ids and for names of groups: the field in which each occurred first.
        self._first: dict[tuple[str, str], str] = {}
        self._is_in_penalty = False

    def read_entries(self, path: FieldPath, entries: Sequence[Any]) -> Criteria:
        """Return the criteria of a list, those that can be read."""
        found = (self._read_entry((*path, at), entry) for at, entry in enumerate(entries))
        return tuple(entry for entry in found if entry is not None)

    def _read_entry(self, path: FieldPath, entry: Any) -> Criterion | CriterionGroup | None:
        if isinstance(entry, Mapping) and "group" in entry:
            return self._read_group(path, entry)
        return self._read_criterion(path, entry)

    def _read_group(self, path: FieldPath, entry: Mapping[str, Any]) -> CriterionGroup | None:
        model = self._validate(CriterionGroupModel, path, entry)
        self._check_unique(path, "group", entry)
        self._check_points(path, entry)
        inner = entry.get("criteria")
        if len(path) > 2 * _MAX_NESTED_GROUPS:
            self._add(path, f"is nested deeper than {_MAX_NESTED_GROUPS} groups")
            return None
        criteria: Criteria = ()
        if isinstance(inner, _LIST_TYPES):
            outer = self._is_in_penalty
            self._is_in_penalty = outer or _is_below_0(entry.get("points"))
            criteria = self.read_entries((*path, "criteria"), inner)
            self._is_in_penalty = outer
        if model is None:
            return None
        return CriterionGroup(group=model.group, points=Fraction(model.points), criteria=criteria)

    def _read_criterion(self, path: FieldPath, entry: Any) -> Criterion | None:
        model = self._validate(CriterionModel, path, entry)
        if not isinstance(entry, Mapping):
            return None
        self._check_unique(path, "id", entry)
        self._check_points(path, entry)
        self._check_must(path, entry)
        self._check_tags(path, entry.get("tags"))
        stated = [key for key in ("says", "check") if key in entry]
        if len(stated) != 1:
            what = "both `says` and `check`" if stated else "neither `says` nor `check`"
            rule = "give it `says` for people and judges, or `check` for code"
            self._add(path, f"has {what}; {rule}")
        raw_check = entry.get("check")
        check = None
        if isinstance(raw_check, Mapping):
            check = self._read_check((*path, "check"), raw_check)
        if model is None:
            return None
        return Criterion(
            id=model.id,
            points=Fraction(model.points),
            says=model.says if "says" in model.stated_keys else "",
            check=check,
            must=model.must,
            tags=FrozenDict({name: format_tag(value) for name, value in model.tags.items()}),
        )

    def _check_unique(self, path: FieldPath, key: str, entry: Mapping[str, Any]) -> None:
        name = entry.get(key)
        if not isinstance(name, str):
            return
        field = _format_path((*path, key))
        first = self._first.setdefault((key, name), field)
        if first != field:
            noun = "id" if key == "id" else "group"
            message = f"`{name}` occurs twice, first in `{first}`; each {noun} may occur once"
            self._add((*path, key), message)

    def _check_points(self, path: FieldPath, entry: Mapping[str, Any]) -> None:
        points = entry.get("points")
        if isinstance(points, int | Decimal) and not isinstance(points, bool) and points == 0:
            message = "the number 0 changes no score; points are above 0, or below 0 for a penalty"
            self._add((*path, "points"), message)

    def _check_must(self, path: FieldPath, entry: Mapping[str, Any]) -> None:
        if entry.get("must") is not True:
            return
        allowed = "only a criterion with points above 0 can be a must"
        if _is_below_0(entry.get("points")):
            self._add((*path, "must"), f"true for a penalty; {allowed}")
        elif self._is_in_penalty:
            self._add((*path, "must"), f"true in a group with points below 0; {allowed}")

    def _check_tags(self, path: FieldPath, tags: Any) -> None:
        for tag, value in tags.items() if isinstance(tags, Mapping) else ():
            if isinstance(value, str) and (found := find_control_character(value)):
                message = f"{format_value(value)} holds the control character `{found}`"
                self._add((*path, "tags", tag), f"{message}; the value of a tag has none")

    # Checks

    def _read_check(self, path: FieldPath, entry: Mapping[str, Any]) -> CriterionCheck | None:
        kinds = self._checks.kinds
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            if "kind" not in entry:
                message = f"is missing; allowed: {', '.join(kinds)}"
            else:
                message = describe_unknown_word(kind, "kind of check", list(kinds))
            self._add((*path, "kind"), message)
            return None
        model_class = build_check_model(kinds[kind], tuple(self._checks.steps))
        own_key = _get_expectation_key(kinds[kind], entry)
        parameters = {key: value for key, value in entry.items() if key != own_key}
        allowed = [key.alias for key in model_class.get_keys().values()]
        allowed += [own_key] if own_key else []
        model = self._validate(model_class, path, parameters, allowed)
        if model is None:
            return None
        axis = build_axis(model, kinds[kind], self._checks.inherited)
        item = self._item
        if own_key in entry:
            expected = {**item.expectations, own_key: entry[own_key]}
            item = dataclasses.replace(item, expectations=FrozenDict(expected))
        before = len(self.problems)
        self._collect(path, axis.parameter_problems)
        if len(self.problems) == before:
            self._collect(path, lambda: axis.item_problems(item))
        return CriterionCheck(axis=axis, item=item)

    def _collect(
        self, path: FieldPath, find_problems: Callable[[], Iterator[tuple[str, str]]]
    ) -> None:
        for field, message in find_problems():
            self._add((*path, *field.split(".")), message)

    # Problems

    def _validate(
        self,
        model: type[Model],
        path: FieldPath,
        entry: Any,
        allowed: Collection[str] | None = None,
    ) -> Any:
        """Return the model of an entry, or `None` after adding all its problems."""
        node = _thaw(entry)
        try:
            return validate_model(model, node)
        except ModelValidationError as error:
            for field, message in list_model_problems(error, model, node):
                unknown = len(field) == 1 and allowed is not None and "unknown key" in message
                if unknown:
                    message = describe_unknown_key(str(field[0]), allowed or ())  # noqa: PLW2901
                self._add((*path, *field), message)
        return None

    def _add(self, path: FieldPath, message: str) -> None:
        self.problems.setdefault(_format_path(path), message)


def _is_below_0(points: Any) -> bool:
    return isinstance(points, int | Decimal) and points < 0


def _get_expectation_key(kind: type[Axis], entry: Mapping[str, Any]) -> str:
    """Return the key under which a check may state what it expects, empty if it expects nothing."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if "expects" not in fields:
        return ""
    stated = entry.get("expects", fields["expects"].default)
    return stated if isinstance(stated, str) and stated not in fields else ""


def _format_path(path: FieldPath) -> str:
    return ".".join(map(str, path))


def _thaw(value: Any) -> Any:
    """Return a frozen value with lists in place of tuples, as the models validate them."""
    if isinstance(value, Mapping):
        return {key: _thaw(inner) for key, inner in value.items()}
    return [_thaw(inner) for inner in value] if isinstance(value, _LIST_TYPES) else value
