"""Checks E013 to E015: whether an exam has enough items for the gates on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from markscheme.prove.lint.findings import FindingLocation, LintFinding, make_finding
from markscheme.prove.lint.rubric_checks import RubricDocument, compute_smallest_step
from markscheme.vocabulary import Allowance, Gate, Item, format_decimal, format_plain
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority


def check_sizes(
    document: RubricDocument,
    exams: Mapping[str, Sequence[Item]],
    locations: Mapping[str, FindingLocation],
) -> Iterator[LintFinding]:
    """Yield a finding for each gate for which an exam has too few items.

    It is located at the exam if `locations` has its name, else at the gate. If a gate names
    several exams, their items are counted together; if it names none, each exam is checked alone.
    """
    for index, gate in enumerate(document.rubric.gates):
        for name, items in _select_exams(gate, exams).items():
            tags = gate.tags.items()
            count = sum(tags <= item.tags.items() for item in items)
            location = locations.get(name) or document.locate("gates", index)
            if count:
                yield from _check_exam_size(document, gate, name, count, location)


def _select_exams(gate: Gate, exams: Mapping[str, Sequence[Item]]) -> dict[str, list[Item]]:
    if not gate.exams:
        return {name: list(items) for name, items in exams.items()}
    names = [name for name in gate.exams if name in exams]
    items = [item for name in names for item in exams[name]]
    return {"+".join(names): items} if names else {}


def _check_exam_size(
    document: RubricDocument, gate: Gate, exam: str, count: int, location: FindingLocation
) -> Iterator[LintFinding]:
    on_scores = gate.metric in {"score", "baseline"}
    item_step = compute_smallest_step(document.rubric) if on_scores else Fraction(1)
    mean_step = item_step / count
    margin = _compute_margin(gate)
    if margin is not None and mean_step > margin > 0:
        step = f"the mean moves in steps of {format_decimal(mean_step)} or more"
        rest = f"`{gate.name}` leaves {format_decimal(margin)}, so the least loss fails"
        message = f"with {_format_item_count(count)} of `{exam}`, {step}; {rest}"
        yield make_finding("E013", location, message)
    if gate.baseline is not None:
        yield from _check_evidence(gate, exam, count, location)


def _compute_margin(gate: Gate) -> Fraction | None:
    """Return how far the mean of a perfect run may fall before the gate fails."""
    if gate.baseline is not None:
        return gate.baseline.max_drop.points(Fraction(1))
    if gate.metric in {"score", "axis", "passed"} and gate.at_least is not None:
        return 1 - Fraction(gate.at_least)
    return None


def _check_evidence(
    gate: Gate, exam: str, count: int, location: FindingLocation
) -> Iterator[LintFinding]:
    if gate.baseline is None or gate.baseline.max_drop.amount == 0:
        return
    needed = _compute_items_needed(gate.baseline.max_drop, count)
    if needed is None:
        return
    items = f"with {_format_item_count(count)} of `{exam}`"
    drop = format_plain(gate.baseline.max_drop.amount * 100)
    message = (
        f"{items}, `{gate.name}` is inconclusive even if nothing moves; "
        f"at least {needed:,} items can show a drop of at most {drop} %"
    )
    yield make_finding("E015" if gate.baseline.evidence_required else "E014", location, message)


def _compute_items_needed(limit: Allowance, count: int) -> int | None:
    """Return how many items the evidence needs if every score stays at 1, or None if enough."""
    pairs = [(Fraction(1), Fraction(1))] * max(count, 2)
    evidence = evaluate_non_inferiority(pairs, limit)
    enough = count > 1 and evidence.outcome is not Evidence.INCONCLUSIVE
    return None if enough else evidence.items_needed or count + 1


def _format_item_count(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
