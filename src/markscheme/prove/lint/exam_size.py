"""Whether an exam is large enough for the gates on it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.prove.lint.findings import make_finding
from markscheme.prove.lint.rubric_checks import compute_smallest_step
from markscheme.vocabulary import format_decimal, format_plain
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.prove.lint.findings import FindingLocation, LintFinding
    from markscheme.prove.lint.rubric_checks import RubricDocument
    from markscheme.vocabulary import Allowance, Gate, Item


def check_sizes(
    document: RubricDocument,
    exams: Mapping[str, Sequence[Item]],
    spots: Mapping[str, FindingLocation],
) -> Iterator[LintFinding]:
    """Yield the gates for which an exam has too few items; told at the gate, or at the exam.

    Exams that a gate is bound to together count together; a gate that is bound to none is looked at
    for each of them alone.
    """
    for index, gate in enumerate(document.rubric.gates):
        for name, items in _select_exams(gate, exams).items():
            wanted = gate.tags.items()
            count = sum(wanted <= item.tags.items() for item in items)
            spot = spots.get(name) or document.locate("gates", index)
            if count:
                yield from _check_exam_size(document, gate, name, count, spot)


def _select_exams(gate: Gate, exams: Mapping[str, Sequence[Item]]) -> dict[str, list[Item]]:
    if not gate.exams:
        return {name: list(items) for name, items in exams.items()}
    bound = [name for name in gate.exams if name in exams]
    together = [item for name in bound for item in exams[name]]
    return {"+".join(bound): together} if bound else {}


def _check_exam_size(
    document: RubricDocument, gate: Gate, exam: str, count: int, spot: FindingLocation
) -> Iterator[LintFinding]:
    step = (compute_smallest_step(document.rubric) if _is_on_scores(gate) else Fraction(1)) / count
    margin = _compute_margin(gate)
    if margin is not None and step > margin > 0:
        told = f"with {_format_item_count(count)} of `{exam}`, the mean moves in steps of {format_decimal(step)} or more"
        most = "so the least loss fails"
        yield make_finding(
            "E013", spot, f"{told}; `{gate.name}` leaves {format_decimal(margin)}, {most}"
        )
    if gate.baseline is not None:
        yield from _check_evidence(gate, exam, count, spot)


def _is_on_scores(gate: Gate) -> bool:
    return gate.metric in {"score", "baseline"}


def _compute_margin(gate: Gate) -> Fraction | None:
    """Return how far a perfect run may fall before the gate is not met."""
    if gate.baseline is not None:
        return gate.baseline.max_drop.points(Fraction(1))
    if gate.metric in {"score", "axis", "passed"} and gate.at_least is not None:
        return 1 - Fraction(gate.at_least)
    return None


def _check_evidence(
    gate: Gate, exam: str, count: int, spot: FindingLocation
) -> Iterator[LintFinding]:
    if gate.baseline is None or gate.baseline.max_drop.amount == 0:
        return
    needed = _compute_items_needed(gate.baseline.max_drop, count)
    if needed is None:
        return
    told = f"with {_format_item_count(count)} of `{exam}`, `{gate.name}` is inconclusive even if nothing moves"
    drop = format_plain(gate.baseline.max_drop.amount * 100)
    message = f"{told}; at least {needed:,} items can show a drop of at most {drop} %"
    yield make_finding("E015" if gate.baseline.evidence_required else "E014", spot, message)


def _compute_items_needed(limit: Allowance, count: int) -> int | None:
    """Return how many items are needed if every score stays at 1, where these are too few."""
    found = evaluate_non_inferiority([(Fraction(1), Fraction(1))] * max(count, 2), limit)
    enough = count > 1 and found.outcome is not Evidence.INCONCLUSIVE
    return None if enough else found.items_needed or count + 1


def _format_item_count(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
