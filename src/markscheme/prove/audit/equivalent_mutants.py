"""Proofs that a mutant is equivalent: that no answer can tell it from the rubric.

Only what is proved for all texts is in this module; a mutant without a proof must be noticed. Three
facts about normalisation steps are used: a step is idempotent, two steps commute, or one step
absorbs another. Tests check each fact. For `lower` they check every code point: it leaves `.`, `…`
and whitespace alone and makes none of them. Its one rule that looks at neighbours (a final sigma)
treats the end of the text like whitespace or periods before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from markscheme.mark.axes import ALTERNATIVE_BAR, AXES, ContainsAll, Match, list_alternatives
from markscheme.vocabulary import Axis, Rubric, join_messages, sentence

Steps = tuple[str, ...]
"""Normalisation steps in the order in which they run."""

# Doing the step twice is doing it once.
IDEMPOTENT = frozenset(
    {
        "strip",
        "lower",
        "strip_trailing_periods",
        "ignore_accents",
        "ignore_quotes",
        "collapse_whitespace",
        "compatibility_form",
        "ignore_punctuation",
        "strip_invisible",
        "fold_lookalikes",
    }
)
# The two steps may change places.
COMMUTING = frozenset(
    frozenset({"lower", other})
    for other in (
        "strip",
        "strip_trailing_period",
        "strip_trailing_periods",
        "collapse_whitespace",
    )
)
# The first step of a pair, then the second, do what the step on the right does alone.
ABSORBED = {
    ("strip", "collapse_whitespace"): "collapse_whitespace",
    ("collapse_whitespace", "strip"): "collapse_whitespace",
    ("strip_trailing_period", "strip_trailing_periods"): "strip_trailing_periods",
    ("strip_trailing_periods", "strip_trailing_period"): "strip_trailing_periods",
}
# The search for a proof gives up after so many lists of steps.
_MAX_STEP_LISTS = 5_000


def prove_equal_steps(before: Steps, after: Steps) -> str:
    """Return the proof that two lists of steps do the same to every text, or an empty text.

    >>> prove_equal_steps(("strip", "lower"), ("lower", "strip"))
    '`lower` and `strip` may change places on every text'
    """
    ours, theirs = _find_equivalent_lists(before), _find_equivalent_lists(after)
    proofs = ((*theirs[steps], *ours[steps]) for steps in ours.keys() & theirs.keys())
    shortest = min(proofs, key=lambda facts: (len(facts), facts), default=())
    return join_messages("; ", dict.fromkeys(shortest))


def _find_equivalent_lists(steps: Steps) -> dict[Steps, tuple[str, ...]]:
    """Return all equivalent lists of steps, each with the facts that lead to it."""
    # Breadth first, so that each list is reached by as few facts as possible.
    facts_by_list: dict[Steps, tuple[str, ...]] = {steps: ()}
    pending = [steps]
    while pending and len(facts_by_list) < _MAX_STEP_LISTS:
        current = pending.pop(0)
        for rewritten, fact in _generate_rewrites(current):
            if rewritten not in facts_by_list:
                facts_by_list[rewritten] = (*facts_by_list[current], fact)
                pending.append(rewritten)
    return facts_by_list


def _generate_rewrites(steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield every list of steps that one fact makes of this one, with the fact."""
    for index, (first, second) in enumerate(pairwise(steps)):
        before, behind = steps[:index], steps[index + 2 :]
        if first == second and first in IDEMPOTENT:
            yield (
                (*before, first, *behind),
                sentence("`{step}` twice does what it does once on every text", step=first),
            )
        if frozenset({first, second}) in COMMUTING:
            one, two = sorted((first, second))
            fact = sentence("`{one}` and `{two}` may change places on every text", one=one, two=two)
            yield (*before, second, first, *behind), fact
        if (first, second) in ABSORBED:
            whole = ABSORBED[first, second]
            other = first if whole == second else second
            yield (
                (*before, whole, *behind),
                sentence("`{whole}` already does what `{other}` does", whole=whole, other=other),
            )


def prove_equivalent_steps(axis: Any, steps: tuple[str, ...]) -> str:
    """Return the proof that an axis with other steps is equivalent, or an empty text.

    For an axis that is not built in, the proof says that it trusts the axis to use its steps.
    """
    proof = prove_equal_steps(axis.normalise, steps)
    if not proof or type(axis) in AXES.values():
        return proof
    return sentence(
        "{proof}, if `{kind}`, which is not built in, does with its steps what they say",
        proof=proof,
        kind=axis.kind,
    )


def prove_redundant_schema(rubric: Rubric, schema: Mapping[str, Any]) -> str:
    """Return the proof that a schema asks only for the text fields that axes read anyway."""
    text_fields = {name for name, types in rubric.fields.accepted.items() if set(types) == {str}}
    properties = schema.get("properties", {})
    if (
        not set(schema) <= {"type", "required", "properties", "title", "description"}
        or schema.get("type", "object") != "object"
        or not {*schema.get("required", ()), *properties} <= text_fields
        or any(kind != {"type": "string"} for kind in properties.values())
    ):
        return ""
    return sentence(
        "the schema only asks for the texts that axes read, and the axis asks for those anyway"
    )


def prove_implied_entry(axis: Axis, entry: Any, rest: tuple[Any, ...]) -> str:
    """Return the proof that the other entries of an expectation imply this one."""
    if type(axis) is not ContainsAll:
        return ""
    wanted = axis.prepare_entries(list_alternatives(entry))
    for others in (axis.prepare_entries(list_alternatives(other)) for other in rest):
        if all(_implies_any(axis, other, wanted) for other in others):
            return sentence(
                "every text that holds {other!r} holds {wanted!r}",
                other=ALTERNATIVE_BAR.join(others),
                wanted=ALTERNATIVE_BAR.join(wanted),
            )
    return ""


def _implies_any(axis: ContainsAll, other: str, wanted: tuple[str, ...]) -> bool:
    """Return whether every text that holds `other` holds one of the wanted texts."""
    if axis.match is Match.WORD:
        return other in wanted
    return any(entry in other for entry in wanted)
