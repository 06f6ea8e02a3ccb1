"""Mutants of what decides: each limit of a gate and the pass mark, moved by one step."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from markscheme.exact import format_plain
from markscheme.prove.mutants import Mutant, MutantKind, compute_step
from markscheme.sentences import sentence
from markscheme.vocabulary import Allowance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import BaselineLimit, Gate, Rubric

_SHARE_METRICS = frozenset({"score", "axis", "passed"})
_HUNDREDTH = Decimal("0.01")
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
