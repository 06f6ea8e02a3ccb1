"""The weights of the axes: stated as shares that sum to 1, or as points, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from msgspec import structs

from markscheme.read.documents.models import WEIGHT_KEYS, is_rated
from markscheme.read.documents.validation import ProblemCollector, iterate_mappings
from markscheme.read.documents.yaml import YamlMapping, find_line
from markscheme.vocabulary import AxisSpec, format_plain, format_value

_MAX_SHOWN_WEIGHTS = 12
_SHARE_CONTEXT = Context(prec=50, traps=[Inexact])


def iterate_scored_entries(tree: YamlMapping) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of `axes` that count in the score, with their index."""
    entries = iterate_mappings(tree.get("axes"))
    return ((index, entry) for index, entry in entries if not is_rated(entry))


def assign_weights(
    tree: YamlMapping, axes: Sequence[AxisSpec], collector: ProblemCollector
) -> Sequence[AxisSpec]:
    """Return the axes with their stated weights, with those of their points, or with equal ones."""
    entries = list(iterate_scored_entries(tree))
    if not any(key in entry for _, entry in entries for key in WEIGHT_KEYS):
        return [structs.replace(spec, weight=Fraction(1, len(axes))) for spec in axes]
    _check_same_keys(entries, collector)
    if not any("points" in entry for _, entry in entries):
        _check_weight_sum(tree, collector)
        return axes
    total = sum((Fraction(spec.points) for spec in axes if spec.points is not None), Fraction(0))
    return [
        structs.replace(spec, weight=_share_points(Fraction(spec.points), total))
        if spec.points is not None
        else spec
        for spec in axes
    ]


def _share_points(points: Fraction, total: Fraction) -> Decimal | Fraction:
    """Return the share of points: a decimal, as `weight` would state it, or an exact fraction.

    So 3 of 4 points have the fingerprint of the weight 0.75.
    """
    share = points / total if total else Fraction(0)
    try:
        return _SHARE_CONTEXT.divide(Decimal(share.numerator), Decimal(share.denominator))
    except Inexact:
        return share


def _check_same_keys(
    entries: Sequence[tuple[int, dict[str, Any]]], collector: ProblemCollector
) -> None:
    """Report axes that do not say their weight in the way of the first one that states any."""
    first, key = next(
        (index, key) for index, entry in entries for key in WEIGHT_KEYS if key in entry
    )
    other = "points" if key == "weight" else "weight"
    line = find_line(collector.tree, ("axes", first, key))
    for index, entry in entries:
        if other in entry:
            own = find_line(collector.tree, ("axes", index, other))
            message = (
                f"`{other}` on line {own}, but `{key}` on line {line}; "
                "give every axis `weight`, or every axis `points`"
            )
            collector.add_problem(("axes", index, other), message)
        elif key not in entry:
            noun = "a weight" if key == "weight" else "points"
            message = f"is missing; give every axis {noun}, or none: then all count alike"
            collector.add_problem(("axes", index, key), message)


def _check_weight_sum(tree: YamlMapping, collector: ProblemCollector) -> None:
    """Report weights that do not sum to 1.

    The problem is placed at the weight with which the sum first exceeds 1, or at the last weight
    if the sum is too small.
    """
    stated = tree.get("axes") or ()
    weights: list[tuple[int, Any]] = [
        (index, entry.get("weight")) for index, entry in iterate_scored_entries(tree)
    ]
    if not weights or not all(isinstance(entry, dict) for entry in stated):
        return
    if not all(isinstance(w, int | Decimal) and not isinstance(w, bool) for _, w in weights):
        return
    if not all(0 <= weight <= 1 for _, weight in weights):
        # Such a weight was reported already, and a sum that includes it would blame another axis.
        return
    total, blamed = Fraction(0), weights[-1]
    for index, weight in weights:
        total += Fraction(weight)
        if total > 1 and blamed[0] == weights[-1][0]:
            blamed = (index, weight)
    if total != 1:
        index, weight = blamed
        shown = [_format_weight(weight) for _, weight in weights[:_MAX_SHOWN_WEIGHTS]]
        shown += ["…"] * (len(weights) > len(shown))
        message = (
            f"{_format_weight(weight)} makes the weights sum to {_format_weight_sum(total)}"
            f" ({' + '.join(shown)}); they must sum to exactly 1"
        )
        collector.add_problem(("axes", index, "weight"), message)


def _format_weight(weight: Any) -> str:
    return format_value(weight).removeprefix("the number ")


def _format_weight_sum(total: Fraction) -> str:
    """Return the sum with all its digits, or on which side of 1 it is if there are too many."""
    exact = Context(prec=50).divide(Decimal(total.numerator), Decimal(total.denominator))
    if Fraction(exact) == total:
        return format_plain(exact)
    return "a little more than 1" if total > 1 else "a little less than 1"
