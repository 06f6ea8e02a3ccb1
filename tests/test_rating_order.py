"""The order in which raters see answers: balanced for every rater, seeded, extended later."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.weigh.rating_design import (
    build_williams_rows,
    compute_blind_key,
    count_first_shown,
    design_rating_order,
)

names = st.text(min_size=1, max_size=20)
seeds = st.integers(-(2**40), 2**40)
counts = st.integers(1, 25)


def pairs(items: int, variants: int, start: int = 0) -> list[tuple[str, str]]:
    return [(f"q{i}", f"v{v}") for i in range(start, start + items) for v in range(variants)]


def queries(order: list[tuple[str, str]]) -> list[list[str]]:
    """Return the variants of each query in the order in which they are shown."""
    shown: dict[str, list[str]] = {}
    for item, variant in order:
        shown.setdefault(item, []).append(variant)
    return list(shown.values())


@pytest.mark.parametrize("size", range(2, 10))
def test_rows_put_every_variant_in_every_position_and_after_every_other_one(size: int) -> None:
    rows = build_williams_rows(size)
    for position in range(size):
        assert set(Counter(row[position] for row in rows).values()) == {len(rows) // size}
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert set(followed) == set(permutations(range(size), 2))
    assert len(set(followed.values())) == 1


@given(rater=names, seed=seeds, items=counts, variants=st.integers(2, 6))
def test_every_rater_sees_each_variant_first_equally_often(
    rater: str, seed: int, items: int, variants: int
) -> None:
    order = design_rating_order(pairs(items, variants), rater, seed)
    assert sorted(order) == sorted(pairs(items, variants))
    shown = queries(order)
    for position in range(variants):
        at = Counter({f"v{v}": 0 for v in range(variants)})
        at.update(query[position] for query in shown)
        assert max(at.values()) - min(at.values()) <= 1
    for window in range(len(shown) - variants + 1):
        firsts = {query[0] for query in shown[window : window + variants]}
        assert len(firsts) == variants


@given(rater=names, seed=seeds, items=counts)
def test_the_answers_to_a_query_follow_each_other(rater: str, seed: int, items: int) -> None:
    order = design_rating_order(pairs(items, 2), rater, seed)
    shown = [item for item, _ in order]
    assert all(first == second for first, second in zip(shown[::2], shown[1::2], strict=True))


@given(rater=names, seed=seeds)
def test_with_two_variants_the_first_alternates(rater: str, seed: int) -> None:
    firsts = [query[0] for query in queries(design_rating_order(pairs(9, 2), rater, seed))]
    assert all(first != second for first, second in pairwise(firsts))


@given(rater=names, seed=seeds, answers=st.permutations(pairs(5, 3)))
def test_the_same_seed_and_rater_give_the_same_order(
    rater: str, seed: int, answers: list[tuple[str, str]]
) -> None:
    wanted = design_rating_order(pairs(5, 3), rater, seed)
    assert design_rating_order(answers, rater, seed) == wanted


def test_raters_and_seeds_have_orders_of_their_own() -> None:
    orders = {
        tuple(design_rating_order(pairs(5, 2), rater, seed))
        for rater in ("anna", "bob", "cas", "dan")
        for seed in range(5)
    }
    assert len(orders) > 15


def test_over_many_raters_each_variant_begins_each_query_about_half_of_the_time() -> None:
    orders = [design_rating_order(pairs(5, 2), f"rater {n}", 0) for n in range(400)]
    for item in ("q0", "q3"):
        first = Counter(next(v for i, v in order if i == item) for order in orders)
        assert 160 < first["v0"] < 240


@given(rater=names, seed=seeds, before=counts, after=counts)
def test_what_is_added_later_keeps_the_order_and_the_balance(
    rater: str, seed: int, before: int, after: int
) -> None:
    earlier = design_rating_order(pairs(before, 2), rater, seed)
    more = design_rating_order(pairs(before + after, 2), rater, seed, earlier)
    assert sorted(earlier + more) == sorted(pairs(before + after, 2))
    first = count_first_shown(earlier + more)
    assert abs(first["v0"] - first["v1"]) <= 1


@given(rater=names, seed=seeds, gaps=st.sets(st.sampled_from(pairs(8, 3))))
def test_queries_that_lack_a_variant_are_balanced_among_themselves(
    rater: str, seed: int, gaps: set[tuple[str, str]]
) -> None:
    answers = [pair for pair in pairs(8, 3) if pair not in gaps]
    order = design_rating_order(answers, rater, seed)
    assert sorted(order) == sorted(answers)
    groups: dict[frozenset[str], Counter[str]] = {}
    for query in queries(order):
        first = groups.setdefault(frozenset(query), Counter(dict.fromkeys(query, 0)))
        first[query[0]] += 1
    assert all(max(first.values()) - min(first.values()) <= 1 for first in groups.values())


def test_blind_keys_differ_between_raters_and_show_no_variant() -> None:
    keys = {
        compute_blind_key("q1", variant, rater, seed)
        for variant in ("big", "small")
        for rater in ("anna", "bob")
        for seed in (0, 1)
    }
    assert len(keys) == 8
    assert not any("big" in key or "small" in key for key in keys)
