"""Statistics of comparisons: the values of the reference, and brute force as a second route."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import comb
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from markscheme import load_rubric
from markscheme.vocabulary import (
    Allowance,
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    ScaleLevel,
)
from markscheme.weigh.compare import (
    AttemptPairs,
    DecisionChances,
    OperatingCharacteristic,
    Simulation,
    SimulationResult,
    compute_non_inferiority_p,
    compute_operating_characteristic,
    plan_comparison,
    summarise_axes,
    summarise_pairs,
)
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority
from markscheme.weigh.stats import (
    adjust_by_holm,
    compute_ac2,
    compute_alpha,
    compute_clopper_pearson_interval,
    compute_clustered_mean,
    compute_kappa,
    compute_percent_agreement,
    compute_power,
    compute_smallest_p,
    compute_tango_interval,
    count_pairs_for_alpha,
    count_pairs_needed,
    find_detectable_effect,
    list_shared_scores,
    measure_agreement,
    noncentral_t_cdf,
    run_mcnemar_test,
    run_sign_flip_test,
    sign_flips,
)
from markscheme.weigh.totals import AxisValues

SIXTHS = st.integers(-24, 24).map(lambda n: Fraction(n, 6))
HALF = Allowance(amount=Decimal("0.5"), relative=False)


def sixths(baseline: list[int], candidate: list[int]) -> list[Fraction]:
    return [Fraction(c - b, 6) for b, c in zip(baseline, candidate, strict=True)]


D5 = sixths([27, 24, 26, 23, 25], [25, 24, 23, 21, 24])
D7 = sixths([27, 25, 23, 25, 25, 27, 24], [25, 23, 19, 21, 22, 29, 22])


def test_the_sign_flips_of_d5_and_d7() -> None:
    assert run_sign_flip_test(D5).two_sided == Fraction(1, 8)
    assert run_sign_flip_test(D5).lower == Fraction(1, 16)
    assert run_sign_flip_test(D7).two_sided == Fraction(5, 64)  # naive floats give .046875


def test_non_inferiority_of_d5() -> None:
    pairs = [
        (Fraction(b, 6), Fraction(b, 6) + d) for b, d in zip((27, 24, 26, 23, 25), D5, strict=True)
    ]
    found = evaluate_non_inferiority(pairs, HALF, (Fraction(1), Fraction(5)))
    assert found.p == pytest.approx(0.025803, abs=1e-6)
    assert found.outcome is Evidence.PASS
    assert compute_non_inferiority_p(D5, Fraction(1, 2)) == Fraction(1, 16)
    relative = Allowance(amount=Decimal("0.02"), relative=True)
    found = evaluate_non_inferiority(pairs, relative, (Fraction(1), Fraction(5)))
    assert float(found.mean or 0) == pytest.approx(-0.183333, abs=1e-6)
    assert found.p == pytest.approx(0.952720, abs=1e-6)


def test_equal_differences_are_bounded_by_what_a_scale_allows() -> None:
    pairs = [(Fraction(4), Fraction(4))] * 5
    found = evaluate_non_inferiority(pairs, HALF, (Fraction(1), Fraction(5)))
    assert found.outcome is Evidence.INCONCLUSIVE
    assert found.lower == pytest.approx(-4 * (1 - 0.05 ** (1 / 5)))


def test_clusters_mcnemar_and_clopper_pearson() -> None:
    values = [Fraction(v) for v in (5, 5, 4, 3, 2, 3, 4, 4, 5, 2, 3, 2)]
    found = compute_clustered_mean(values, [at // 3 for at in range(12)])
    assert found is not None
    assert found.standard_error == pytest.approx(0.585314, abs=1e-6)
    assert run_mcnemar_test(5, 1, 20).two_sided == Fraction(7, 32)
    assert run_mcnemar_test(5, 1, 20).worse == Fraction(7, 64)
    assert compute_clopper_pearson_interval(18, 20) == pytest.approx((0.683017, 0.987651), abs=1e-6)
    assert compute_clopper_pearson_interval(0, 5)[0] == 0
    assert compute_clopper_pearson_interval(5, 5)[1] == 1
    assert compute_clustered_mean(values, [1] * 12) is None


RATERS = ([5, 4, 3, 2, 4, 1, 3, 5], [5, 4, 4, 2, 3, 2, 3, 4], [4, 4, 3, None, 5, 1, 2, 5])
UNITS = [
    {name: score for name, score in zip("abc", unit, strict=True) if score is not None}
    for unit in zip(*RATERS, strict=True)
]


def test_the_agreement_of_the_reference() -> None:
    found = measure_agreement(UNITS, range(1, 6))
    assert found is not None
    assert float(found.alpha or 0) == pytest.approx(0.755256, abs=1e-6)
    assert float(found.ac2 or 0) == pytest.approx(0.846154, abs=1e-6)
    assert float(found.kappa["a", "b"] or 0) == pytest.approx(0.816092, abs=1e-6)
    assert measure_agreement([{"a": 3}, {"a": 4}], range(1, 6)) is None


def test_agreement_that_is_not_defined_is_nothing() -> None:
    same = [{"a": 3, "b": 3}] * 4
    assert compute_alpha(same, ScaleLevel.ORDINAL) is None
    assert compute_kappa(list_shared_scores(same, ("a", "b")), ScaleLevel.ORDINAL) is None
    assert compute_percent_agreement(same) == 1
    apart = [{"a": 3}, {"b": 3}]
    assert compute_ac2(apart, range(1, 6), ScaleLevel.ORDINAL) is None
    assert compute_percent_agreement([]) is None


def test_significance_takes_6_pairs_and_8_over_six_axes() -> None:
    assert compute_smallest_p(5) == (Fraction(1, 16), Fraction(1, 32))
    assert count_pairs_for_alpha(Fraction(1, 20)) == 6
    assert count_pairs_for_alpha(Fraction(1, 20), 6) == 8


def test_the_smallest_detectable_difference_at_5() -> None:
    assert find_detectable_effect(5) == pytest.approx(1.682, abs=5e-4)
    assert find_detectable_effect(5, sides=1) == pytest.approx(1.359, abs=5e-4)


@pytest.mark.parametrize("df", [1, 2, 4, 9, 49, 500])
@pytest.mark.parametrize("shift", [0.0, 0.7, 3.0])
def test_the_non_central_t_is_that_of_scipy(df: int, shift: float) -> None:
    for t in (-2.0, 0.0, 1.0, 2.776, 6.0):
        assert noncentral_t_cdf(t, df, shift) == pytest.approx(
            stats.nct.cdf(t, df, shift) if shift else stats.t.cdf(t, df), abs=1e-7
        )


@pytest.mark.parametrize("effect", [0.1, 0.5, 1.0, 2.0])
def test_the_pairs_needed_are_the_fewest_that_suffice(effect: float) -> None:
    n = count_pairs_needed(effect)
    assert n is not None
    assert compute_power(n, effect) >= 0.8
    assert n == 2 or compute_power(n - 1, effect) < 0.8


def brute_flips(values: list[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    seen = sum(values, Fraction(0))
    sums = [
        sum((s * v for s, v in zip(signs, values, strict=True)), Fraction(0))
        for signs in product((1, -1), repeat=len(values))
    ]
    return (
        Fraction(sum(abs(one) >= abs(seen) for one in sums), len(sums)),
        Fraction(sum(one <= seen for one in sums), len(sums)),
        Fraction(sum(one >= seen for one in sums), len(sums)),
    )


@given(st.lists(SIXTHS | st.fractions(-2, 2, max_denominator=40), min_size=1, max_size=9))
def test_sign_flips_are_what_brute_force_counts(values: list[Fraction]) -> None:
    found = run_sign_flip_test(values)
    assert (found.two_sided, found.lower, found.upper) == brute_flips(values)


@settings(max_examples=10, deadline=None)
@given(st.lists(SIXTHS, min_size=2, max_size=8).filter(any))
def test_drawn_sign_flips_are_near_the_exact_ones(values: list[Fraction]) -> None:
    exact = run_sign_flip_test(values)
    sizes = Counter(abs(v) for v in sign_flips._scale_to_integers(values) if v)
    drawn = sign_flips._simulate_sign_flips(
        len(values), sizes, sum(sign_flips._scale_to_integers(values))
    )
    assert not drawn.exact
    assert abs(drawn.two_sided - exact.two_sided) < Fraction(1, 50)


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(p_values: list[Fraction]) -> None:
    places = range(len(p_values))
    for at, adjusted in enumerate(adjust_by_holm(p_values)):
        families = [
            set(family)
            for size in range(1, len(p_values) + 1)
            for family in combinations(places, size)
            if at in family
        ]
        worst = max(len(family) * min(p_values[i] for i in family) for family in families)
        assert adjusted == min(Fraction(1), worst)


UNIT = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5), min_size=1)


@given(st.lists(UNIT, min_size=1, max_size=7))
def test_alpha_is_what_pairs_of_scores_give(units: list[dict[str, int]]) -> None:
    shared = [list(unit.values()) for unit in units if len(unit) > 1]
    scores = [score for unit in shared for score in unit]

    def apart(c: int, k: int) -> Fraction:
        low, high = min(c, k), max(c, k)
        between = sum(low <= score <= high for score in scores)
        return (
            (between - Fraction(scores.count(low) + scores.count(high), 2)) ** 2
            if c != k
            else Fraction(0)
        )

    observed = sum(
        (
            apart(a, b) / (len(unit) - 1)
            for unit in shared
            for i, a in enumerate(unit)
            for j, b in enumerate(unit)
            if i != j
        ),
        Fraction(0),
    )
    expected = sum((apart(a, b) for a in scores for b in scores), Fraction(0))
    wanted = 1 - (len(scores) - 1) * observed / expected if expected else None
    assert compute_alpha(units, ScaleLevel.ORDINAL) == wanted


@given(st.lists(UNIT, min_size=1, max_size=7))
def test_ac2_is_what_pairs_of_scores_give(units: list[dict[str, int]]) -> None:
    def weight(a: int, b: int) -> Fraction:
        return 1 - Fraction((a - b) ** 2, 16)

    shared = [list(unit.values()) for unit in units if len(unit) > 1]
    found = compute_ac2(units, range(1, 6), ScaleLevel.ORDINAL)
    if not shared:
        assert found is None
        return
    close = [
        sum(weight(a, b) for a, b in combinations(unit, 2)) / comb(len(unit), 2) for unit in shared
    ]
    agreed = sum(close, Fraction(0)) / len(close)
    share = {
        k: sum((Fraction(list(u.values()).count(k), len(u)) for u in units), Fraction(0))
        / len(units)
        for k in range(1, 6)
    }
    total = sum((weight(a, b) for a, b in product(range(1, 6), repeat=2)), Fraction(0))
    chance = total / 20 * sum((p * (1 - p) for p in share.values()), Fraction(0))
    assert found == (agreed - chance) / (1 - chance)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=10))
def test_kappa_is_that_of_the_matrix_of_counts(pairs: list[tuple[int, int]]) -> None:
    counts, n = Counter(pairs), len(pairs)
    one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    cells = list(product(range(1, 6), repeat=2))
    seen = sum(Fraction((a - b) ** 2 * counts[a, b], n) for a, b in cells)
    chance = sum(Fraction((a - b) ** 2 * one[a] * other[b], n * n) for a, b in cells)
    units = [{"a": a, "b": b} for a, b in pairs]
    wanted = 1 - seen / chance if chance else None
    assert compute_kappa(list_shared_scores(units, ("a", "b")), ScaleLevel.ORDINAL) == wanted


@given(st.lists(SIXTHS, min_size=2, max_size=12))
def test_paired_values_are_those_of_scipy(values: list[Fraction]) -> None:
    found = summarise_pairs(values)
    assert (found.wins + found.losses + found.ties, found.n) == (len(values), len(values))
    if found.p_t is None:
        assert len(set(values)) == 1
        return
    reference = stats.ttest_1samp([float(value) for value in values], 0)
    assert found.p_t == pytest.approx(reference.pvalue, abs=1e-9)
    assert (found.lower, found.upper) == pytest.approx(reference.confidence_interval(0.95))


def test_one_pair_has_no_spread_and_no_pair_has_nothing() -> None:
    alone = summarise_pairs([Fraction(1)])
    assert alone.mean == 1
    assert [alone.sd, alone.lower, alone.p_t] == [None] * 3
    nothing = summarise_pairs([])
    assert (nothing.mean, nothing.flips) == (None, None)


def test_axes_are_adjusted_for_their_number() -> None:
    same = [Fraction(-1)] * 8
    found = summarise_axes({"a": summarise_pairs(same), "b": summarise_pairs([Fraction(0)] * 8)})
    assert [axis.p_holm for axis in found] == [Fraction(4, 256), 1]


def _get_value(values: AxisValues) -> Fraction | None:
    return values[0] if isinstance(values[0], Fraction) else None


ZEROS_AND_ONES = st.sampled_from([Fraction(0), Fraction(1)])


@given(st.lists(st.lists(st.tuples(ZEROS_AND_ONES, ZEROS_AND_ONES), min_size=1), max_size=6))
def test_pairs_of_attempts_are_flipped_together_by_item(
    items: list[list[tuple[Fraction, Fraction]]],
) -> None:
    one, two = (
        {
            str(at): {k: (pair[side],) for k, pair in enumerate(pairs)}
            for at, pairs in enumerate(items)
        }
        for side in (0, 1)
    )
    pairs = AttemptPairs.from_attempts(one, two)
    found = pairs.compute_differences(_get_value)
    means = [sum((c - b for b, c in some), Fraction(0)) / len(some) for some in items]
    flipped = [abs(sum(map(mul, signs, means))) for signs in product((1, -1), repeat=len(items))]
    p = Fraction(sum(value >= abs(sum(means)) for value in flipped), len(flipped))
    assert found.compute_mcnemar().two_sided == p
    assert found.summarise_items().n == len(items)
    assert found.summarise_items().pairs == pairs.count == sum(map(len, items))
    if all(len(some) == 1 for some in items):
        assert found.compute_mcnemar().interval is not None


RUBRIC = load_rubric("context-agent")
MODES = ("quick", "medium", "medium", "thorough", "thorough")


def brute_decisions(centre: Fraction, noise: float) -> dict[DecisionOutcome | None, float]:
    """Go through every vector of verdicts of two identical variants, with floats of scipy."""
    rules, table = RUBRIC.verdict_rules, RUBRIC.decision_table
    assert rules is not None
    assert table is not None
    averages = rules.scores.averages
    normal = stats.norm(float(centre), noise / 2**0.5)
    edges = [normal.cdf(float(a) + 1 / 12) for a in averages[:-1]]
    chances = [b - a for a, b in zip([0, *edges], [*edges, 1], strict=True)]
    verdicts: Counter[str] = Counter()
    for (b, p), (c, q) in product(zip(averages, chances, strict=True), repeat=2):
        verdicts[str(rules.verdict(b, c))] += p * q
    found: dict[DecisionOutcome | None, float] = dict.fromkeys(DecisionOutcome, 0.0)
    for vector in product(verdicts, repeat=5):
        chance = 1.0
        for verdict in vector:
            chance *= verdicts[verdict]
        found[table.decide(Counter(zip(MODES, vector, strict=True)))] += chance
    return found


@pytest.mark.parametrize(("centre", "noise"), [(Fraction(4), 0.6), (Fraction(7, 2), 1.0)])
def test_the_operating_characteristic_is_what_enumeration_gives(
    centre: Fraction, noise: float
) -> None:
    rules, table = RUBRIC.verdict_rules, RUBRIC.decision_table
    assert rules is not None
    assert table is not None
    found = compute_operating_characteristic(
        rules, table, [(mode, centre, centre) for mode in MODES], noise
    )
    wanted = brute_decisions(centre, noise)
    assert sum(found.identical.values()) == 1
    for outcome in DecisionOutcome:
        assert float(found.identical[outcome]) == pytest.approx(wanted[outcome], abs=1e-4)
    disagree = 1 - sum(chance**2 for chance in wanted.values())
    assert float(found.repeats_disagree) == pytest.approx(disagree, abs=1e-4)


@settings(max_examples=8)
@given(
    st.lists(st.tuples(st.integers(12, 60), st.integers(12, 60)), min_size=5, max_size=5),
    st.floats(0.05, 1.5),
    st.integers(0, 10**6),
)
def test_a_seeded_simulation_comes_to_the_exact_chances(
    sums: list[tuple[int, int]], noise: float, seed: int
) -> None:
    rules, table = RUBRIC.verdict_rules, RUBRIC.decision_table
    assert rules is not None
    assert table is not None
    queries = [
        (mode, Fraction(b, 12), Fraction(c, 12)) for mode, (b, c) in zip(MODES, sums, strict=True)
    ]
    found = compute_operating_characteristic(rules, table, queries, noise, seed)
    assert (found.exact, found.simulated.draws, found.simulated.seed) == (True, 10_000, seed)
    assert found.apart < Fraction(3, 100)  # six standard errors of a chance of one half
    assert found == compute_operating_characteristic(rules, table, queries, noise, seed)
    drawn = Simulation(rules, table, noise, seed).compute_chances(queries)
    assert all(
        abs(drawn[one] - found.as_observed[one]) < Fraction(3, 100) for one in DecisionOutcome
    )


def test_two_repeats_disagree_as_often_as_the_reference_says() -> None:
    """Of 33, 59 and 8 %, two repeats disagree 54 % of the time."""
    shares = [Fraction(share, 100) for share in (33, 59, 0, 8)]
    chances: DecisionChances = {**dict(zip(DecisionOutcome, shares, strict=True))}
    simulated = SimulationResult(seed=0, draws=1, identical=chances)
    found = OperatingCharacteristic(
        noise=0.6, identical=chances, as_observed=chances, exact=True, simulated=simulated
    )
    assert round(100 * found.repeats_disagree) == 54


def test_a_table_that_keeps_too_many_counts_apart_is_simulated() -> None:
    rules = RUBRIC.verdict_rules
    assert rules is not None
    rows = tuple(
        DecisionRow(
            name=f"{mode}-{verdict}-{n}",
            when=(CountCondition(verdicts=(verdict,), modes=(mode,), at_least=n, at_most=n),),
            decided=DecisionOutcome.NO_GO if n else DecisionOutcome.GO,
            next="",
        )
        for mode in ("quick", "medium", "thorough")
        for verdict in rules.verdicts
        for n in (0, 15)
    )
    table = DecisionTable(
        verdicts=rules.verdicts,
        queries={"quick": 20, "medium": 20, "thorough": 20},
        policy=HitPolicy.FIRST,
        rows=rows,
    )
    queries = [(mode, Fraction(4), Fraction(7, 2)) for mode in table.queries for _ in range(20)]
    found = compute_operating_characteristic(rules, table, queries, 1.0, seed=7)
    assert (found.exact, found.simulated.draws) == (False, 1_000)
    assert found.identical == found.simulated.identical
    assert found == compute_operating_characteristic(rules, table, queries, 1.0, seed=7)


def test_without_noise_the_same_comes_out_again() -> None:
    rules, table = RUBRIC.verdict_rules, RUBRIC.decision_table
    assert rules is not None
    assert table is not None
    queries = [(mode, Fraction(4), Fraction(5, 2)) for mode in MODES]
    found = compute_operating_characteristic(rules, table, queries, 0.0)
    assert found.as_observed[DecisionOutcome.NO_GO] == 1
    assert found.observed_repeats_disagree == 0


def test_a_plan_needs_more_queries_for_less_and_fewer_with_repeats() -> None:
    narrow, wide = (
        plan_comparison(0.25, 0.6, source="a guess"),
        plan_comparison(0.5, 0.6, source="a guess"),
    )
    assert (narrow.by_repeats[0].queries or 0) > (wide.by_repeats[0].queries or 0)
    queries = [one.queries or 0 for one in narrow.by_repeats]
    assert queries == sorted(queries, reverse=True)
    assert plan_comparison(0.0001, 5.0, source="a guess").by_repeats[0].queries is None


def tango_score(before: int, after: int, n: int, by: float) -> float:
    """The score statistic from the likelihood itself, maximised by brute force over a grid."""
    ways = [i / 40_000 for i in range(40_001)]  # the baseline-only share, given the difference
    low, high = max(0.0, -by), (1 - by) / 2
    shares = [low + (high - low) * way for way in ways]

    def log(count: int, share: float) -> float:
        return 0.0 if not count else count * math.log(share) if share > 0 else -math.inf

    def likelihood(share: float) -> float:
        both = max(0.0, 1 - 2 * share - by)
        return log(before, share) + log(after, share + by) + log(n - before - after, both)

    best = max(shares, key=likelihood)
    return (after - before - n * by) / math.sqrt(n * (2 * best + by * (1 - by)))


@pytest.mark.parametrize(("before", "after", "n"), [(5, 1, 20), (0, 4, 12), (3, 3, 9), (0, 0, 30)])
def test_the_interval_of_tango_ends_where_the_score_test_begins_to_refuse(
    before: int, after: int, n: int
) -> None:
    lower, upper = compute_tango_interval(before, after, n)
    assert lower <= (after - before) / n <= upper
    for end, wanted in ((lower, 1.959964), (upper, -1.959964)):
        assert tango_score(before, after, n, end) == pytest.approx(wanted, abs=2e-3)
    mirrored = compute_tango_interval(after, before, n)
    assert (-mirrored[1], -mirrored[0]) == pytest.approx((lower, upper), abs=1e-9)


def test_the_interval_of_tango_reaches_the_end_where_every_pair_disagrees() -> None:
    assert compute_tango_interval(0, 7, 7)[1] == 1.0
    assert compute_tango_interval(7, 0, 7)[0] == -1.0
    assert compute_tango_interval(0, 0, 0) == (-1.0, 1.0)
