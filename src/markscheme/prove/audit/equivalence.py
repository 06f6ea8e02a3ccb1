"""What is proved of normalisation steps on all texts, so that a mutant can be called equivalent.

Only what has a proof stands here. That `lower` leaves `.`, `…` and whitespace alone and makes none
of them is checked for every code point by a test; its one rule that looks at neighbours (a final
sigma) sees no difference between the end of a text and whitespace or periods before it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from markscheme.vocabulary import join_messages, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    Steps = tuple[str, ...]

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
    }
)
COMMUTING = frozenset(
    frozenset({"lower", other})
    for other in (
        "strip",
        "strip_trailing_period",
        "strip_trailing_periods",
        "collapse_whitespace",
    )
)
ABSORBED = {
    ("strip", "collapse_whitespace"): "collapse_whitespace",
    ("collapse_whitespace", "strip"): "collapse_whitespace",
    ("strip_trailing_period", "strip_trailing_periods"): "strip_trailing_periods",
    ("strip_trailing_periods", "strip_trailing_period"): "strip_trailing_periods",
}
_MAX_STEP_LISTS = 5_000  # lists of steps looked at before a proof is given up


def prove_equal_steps(before: Steps, after: Steps) -> str:
    """Return why two lists of steps do the same to every text, or nothing where that is not proved.

    >>> prove_equal_steps(("strip", "lower"), ("lower", "strip"))
    '`lower` and `strip` may change places on every text'
    """
    ours, theirs = _find_equivalent_lists(before), _find_equivalent_lists(after)
    proofs = ((*theirs[steps], *ours[steps]) for steps in ours.keys() & theirs.keys())
    shortest = min(proofs, key=lambda facts: (len(facts), facts), default=())
    return join_messages("; ", dict.fromkeys(shortest))


def _find_equivalent_lists(steps: Steps) -> dict[Steps, tuple[str, ...]]:
    """Return the lists of steps that do the same, each with the facts that lead to it."""
    found: dict[Steps, tuple[str, ...]] = {steps: ()}
    pending = [steps]
    while pending and len(found) < _MAX_STEP_LISTS:
        here = pending.pop(0)
        for there, fact in _generate_rewrites(here):
            if there not in found:
                found[there] = (*found[here], fact)
                pending.append(there)
    return found


def _generate_rewrites(steps: Steps) -> Iterator[tuple[Steps, str]]:
    for at, (first, second) in enumerate(pairwise(steps)):
        before, behind = steps[:at], steps[at + 2 :]
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
