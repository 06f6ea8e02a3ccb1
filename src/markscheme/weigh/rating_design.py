"""The order in which a rater sees answers: balanced between variants, seeded, reproducible.

The unit of the design is the query with the answers of all its variants, shown one after the other.
Queries come in a random order for each rater. Which variant comes first rotates from query to
query, so that each is first, second, … equally often, give or take one. The orders of the variants
are the rows of a Williams design (a Latin square balanced for carry-over), so that over a whole
block each variant also follows each other one equally often.

Everything here is pure: the terminal and a rating study on the web use the same functions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import TypeAlias

AnswerKey: TypeAlias = tuple[str, str]
"""An item and a variant."""

_KEY_LENGTH = 12


def build_williams_rows(size: int) -> list[tuple[int, ...]]:
    """Return the rows of a Williams design for `size` treatments, numbered from 0.

    An even size needs `size` rows, an odd one twice as many: the square, then the square in
    reverse. In each block of `size` rows every treatment stands once in every position.

    >>> build_williams_rows(2)
    [(0, 1), (1, 0)]
    >>> build_williams_rows(4)[0]
    (0, 1, 3, 2)
    """
    # 0, 1, n-1, 2, n-2, …: all differences between neighbours are distinct.
    zigzag = [(step + 1) // 2 if step % 2 else (size - step // 2) % size for step in range(size)]
    square = [tuple((number + shift) % size for number in zigzag) for shift in range(size)]
    # In reverse each row begins with the number that it ended with, and these are distinct too.
    return square if size % 2 == 0 else [*square, *(row[::-1] for row in square)]


def design_rating_order(
    answers: Iterable[AnswerKey], rater: str, seed: int, earlier: Sequence[AnswerKey] = ()
) -> list[AnswerKey]:
    """Return the answers in the order in which this rater sees them.

    The same answers, rater and seed always give the same order. `earlier` are the answers that the
    rater was shown before, in their order: they are left out, and the balance counts them.

    Queries that lack a variant form designs of their own, one for each set of variants.
    """
    variants_by_item: dict[str, set[str]] = defaultdict(set)
    for item, variant in set(answers) - set(earlier):
        variants_by_item[item].add(variant)
    # An order, not a secret.
    random = Random(f"markscheme rating order {seed} {rater}")  # noqa: S311
    items = sorted(variants_by_item)
    random.shuffle(items)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for item in items:
        groups[tuple(sorted(variants_by_item[item]))].append(item)
    first_before = count_first_shown(earlier)
    rows: dict[str, tuple[str, ...]] = {}
    for variants in sorted(groups):
        rotation = _arrange_rows(variants, random, first_before)
        for number, item in enumerate(groups[variants]):
            rows[item] = rotation[number % len(rotation)]
    return [(item, variant) for item in items for variant in rows[item]]


def _arrange_rows(
    variants: Sequence[str], random: Random, first_before: Mapping[str, int]
) -> list[tuple[str, ...]]:
    """Return the orders of the variants that queries take in turn.

    Each block begins with its variants in the same sequence, so two variants alternate strictly.
    Variants that were first less often before come first in this sequence.
    """
    size = len(variants)
    drawn = random.sample(list(variants), size)
    rows = [tuple(drawn[number] for number in row) for row in build_williams_rows(size)]
    sequence = random.sample(list(variants), size)
    sequence.sort(key=lambda variant: first_before.get(variant, 0))
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [row for block in blocks for row in sorted(block, key=lambda r: sequence.index(r[0]))]


def count_first_shown(order: Iterable[AnswerKey]) -> Counter[str]:
    """Count how often each variant is the first of its query; those with one variant do not count.

    >>> count_first_shown([("q1", "a"), ("q1", "b"), ("q2", "b"), ("q2", "a"), ("q3", "a")])
    Counter({'a': 1, 'b': 1})
    """
    shown: dict[str, list[str]] = defaultdict(list)
    for item, variant in order:
        shown[item].append(variant)
    return Counter(variants[0] for variants in shown.values() if len(variants) > 1)


def compute_blind_key(item: str, variant: str, rater: str, seed: int) -> str:
    """Return a name for an answer that does not show its variant, different for each rater."""
    text = "\0".join(("markscheme blind key", str(seed), rater, item, variant))
    return sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


def compute_text_key(text: str, rater: str, seed: int) -> str:
    """Return a digest of an answer's text, to notice later that the answer has changed."""
    return sha256("\0".join((str(seed), rater, text)).encode()).hexdigest()[:_KEY_LENGTH]
