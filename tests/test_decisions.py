"""Verdict rules and decision tables: reading them, and the proofs about them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from markscheme import DecisionTable, DocumentError, UsageError, lint, load_rubric, score
from markscheme.prove.lint import prove_scale, prove_table
from markscheme.vocabulary import (
    Bounds,
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    HitPolicy,
    RatingScale,
    VerdictRule,
    VerdictRules,
)

LITERAL = Path(__file__).parent / "documents" / "literal-decisions.yaml"
REPAIRED = load_rubric("context-agent")
TABLE = REPAIRED.decision_table
RULES = REPAIRED.verdict_rules
assert TABLE is not None
assert RULES is not None

VERDICTS = ("good", "fair", "bad")
MODES = ("quick", "deep")
BOUNDS = st.integers(0, 3)
CONDITIONS = st.builds(
    lambda verdicts, modes, low, high: CountCondition(
        verdicts=tuple(sorted(verdicts)), modes=tuple(sorted(modes)), at_least=low, at_most=high
    ),
    st.sets(st.sampled_from(VERDICTS), min_size=1),
    st.sets(st.sampled_from(MODES)),
    BOUNDS,
    st.none() | BOUNDS,
)
TABLES = st.builds(
    lambda rows, policy, quick, deep, missing: DecisionTable(
        verdicts=VERDICTS,
        queries={"quick": quick, "deep": deep},
        rows=tuple(
            DecisionRow(name=f"row-{n}", when=tuple(when), decided=decided)
            for n, (when, decided) in enumerate(rows)
        ),
        policy=policy,
        missing=missing,
    ),
    st.lists(
        st.tuples(st.lists(CONDITIONS, max_size=2), st.sampled_from(DecisionOutcome)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(HitPolicy),
    st.integers(1, 2),
    st.integers(1, 3),
    st.none() | st.sampled_from(DecisionOutcome),
)


class BruteForce:
    """Brute force: every vector one by one, every row by its definition."""

    def __init__(self, table: DecisionTable) -> None:
        self.table = table
        self.modes = [mode for mode, n in table.queries.items() for _ in range(n)]
        self.vectors = list(product(range(len(table.verdicts)), repeat=len(self.modes)))
        self.matching_rows = {vector: self.rows_that_hold(vector) for vector in self.vectors}

    def rows_that_hold(self, vector: tuple[int, ...]) -> list[DecisionRow]:
        words = [
            (mode, self.table.verdicts[rank]) for mode, rank in zip(self.modes, vector, strict=True)
        ]
        held = []
        for row in self.table.rows:
            for condition in row.when:
                modes = condition.modes or MODES
                n = len([1 for m, v in words if m in modes and v in condition.verdicts])
                least, most = condition.limits
                if n < least or n > (10**6 if most is None else most):
                    break
            else:
                held.append(row)
        return held

    def decision(self, vector: tuple[int, ...]) -> DecisionOutcome | None:
        outcomes = [row.decided for row in self.matching_rows[vector]]
        if not outcomes:
            return None
        if self.table.policy is HitPolicy.FIRST:
            return outcomes[0]
        return outcomes[0] if len(set(outcomes)) == 1 else None

    def conflicting(self) -> list[tuple[int, ...]]:
        return [v for v in self.vectors if self.matching_rows[v] and self.decision(v) is None]

    def uncovered(self) -> list[tuple[int, ...]]:
        return [v for v in self.vectors if not self.matching_rows[v]]

    def falls(self) -> int:
        order = list(DecisionOutcome)
        count = 0
        for vector in self.vectors:
            for place, rank in enumerate(vector):
                for better in range(rank):
                    lifted = (*vector[:place], better, *vector[place + 1 :])
                    was, now = self.decision(vector), self.decision(lifted)
                    if was and now and order.index(now) > order.index(was):
                        count += 1
        return count

    def dead(self) -> tuple[str, ...]:
        first = self.table.policy is HitPolicy.FIRST
        alive = {
            row.name
            for held in self.matching_rows.values()
            for row in (held[:1] if first else held)
        }
        return tuple(row.name for row in self.table.rows if row.name not in alive)


@settings(max_examples=500)
@given(TABLES)
def test_the_proof_agrees_with_brute_force_on_random_tables(table: DecisionTable) -> None:
    brute, proof = BruteForce(table), prove_table(table)
    assert proof.vectors == len(brute.vectors)
    assert proof.uncovered == len(brute.uncovered())
    assert proof.conflicting == len(brute.conflicting())
    assert proof.falls == brute.falls()
    assert proof.dead == brute.dead()
    given_outcomes = {brute.decision(vector) for vector in brute.vectors}
    assert set(proof.unreachable) == set(DecisionOutcome) - given_outcomes


@settings(max_examples=200)
@given(TABLES)
def test_every_witness_shows_its_flaw_and_none_is_plainer(table: DecisionTable) -> None:
    brute, proof = BruteForce(table), prove_table(table)

    def badness(vector: tuple[int, ...]) -> tuple[int, int]:
        return sum(map(bool, vector)), sum(vector)

    assert (proof.gap is None) == (not brute.uncovered())
    if proof.gap is not None:
        assert proof.gap in brute.uncovered()
        assert badness(proof.gap) == min(map(badness, brute.uncovered()))
    if proof.conflict is not None:
        assert proof.conflict.vector in brute.conflicting()
        assert list(proof.conflict.rows) == brute.matching_rows[proof.conflict.vector]
    if proof.fall is not None:
        vector, place = list(proof.fall.vector), proof.fall.query
        assert brute.decision(tuple(vector)) is proof.fall.before
        assert vector[place] > proof.fall.better
        vector[place] = proof.fall.better
        assert brute.decision(tuple(vector)) is proof.fall.after
        assert proof.fall.after.rank > proof.fall.before.rank
    if proof.too_good is not None:
        found = brute.decision(proof.too_good)
        assert table.missing is not None
        assert found is not None
        assert found.rank > table.missing.rank


@given(TABLES)
def test_the_table_itself_decides_what_brute_force_does(table: DecisionTable) -> None:
    brute = BruteForce(table)
    for vector in brute.vectors:
        counts = Counter(zip(brute.modes, (VERDICTS[rank] for rank in vector), strict=True))
        assert table.decide(counts) is brute.decision(vector)


def test_the_literal_table_has_337_gaps_and_81_conflicts() -> None:
    table = load_rubric(LITERAL).decision_table
    assert table is not None
    proof = prove_table(table)
    assert (proof.vectors, proof.uncovered, proof.conflicting) == (1024, 337, 81)
    assert not proof.holds


def test_the_literal_scale_is_ambiguous_for_141_pairs() -> None:
    rules = load_rubric(LITERAL).verdict_rules
    assert rules is not None
    proof = prove_scale(rules)
    assert (proof.pairs, proof.uncovered, proof.ambiguous) == (625, 0, 141)


@pytest.mark.parametrize("sizes", list(product([1, 2], [2, 3, 4], [2, 3, 4])))
def test_the_repaired_table_holds_also_for_more_queries(sizes: tuple[int, int, int]) -> None:
    assert TABLE is not None
    assert prove_table(TABLE, dict(zip(TABLE.queries, sizes, strict=True))).holds


def test_the_repaired_rules_hold() -> None:
    assert RULES is not None
    assert prove_scale(RULES).holds


def test_fifty_queries_are_all_gone_through() -> None:
    assert TABLE is not None
    proof = prove_table(TABLE, {"quick": 10, "medium": 20, "thorough": 20})
    assert proof.vectors == 4**50
    assert proof.holds


@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict", "reasons"),
    [
        ("5", "3", "degraded", ["relative"]),
        ("5", "2.9", "degraded", ["floor", "relative"]),
        ("2", "2.9", "degraded", ["floor"]),
        ("4", "3.5", "equivalent", []),
        ("4", "3.4", "acceptable", []),
        ("4.5", "3.0", "degraded", ["relative"]),
        ("4.4", "3.0", "acceptable", []),
        ("4", "4.5", "equivalent", []),
        ("4", "4.6", "superior", []),
    ],
)
def test_the_repaired_rules_give_the_verdicts_of_the_contract(
    baseline: str, candidate: str, verdict: str, reasons: list[str]
) -> None:
    assert RULES is not None
    b, c = Fraction(baseline), Fraction(candidate)
    assert RULES.verdict(b, c) == verdict
    held = [rule.reason for rule in RULES.matching(b, c) if rule.verdict == verdict]
    assert [reason for reason in held if reason] == reasons


NUMBERS = st.integers(-8, 20).map(lambda n: Fraction(n, 4))
RULE_BOUNDS = st.builds(
    Bounds,
    at_least=st.none() | NUMBERS,
    above=st.none() | NUMBERS,
    at_most=st.none() | NUMBERS,
    below=st.none() | NUMBERS,
)
RULE_SETS = st.builds(
    lambda rules, policy: VerdictRules(
        verdicts=VERDICTS,
        scores=RatingScale(lowest=1, highest=3, axes=2),
        rules=tuple(rules),
        policy=policy,
    ),
    st.lists(
        st.builds(
            VerdictRule,
            verdict=st.sampled_from(VERDICTS),
            baseline=RULE_BOUNDS,
            candidate=RULE_BOUNDS,
            difference=RULE_BOUNDS,
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(HitPolicy),
)


@settings(max_examples=80)
@given(RULE_SETS)
def test_what_is_proved_of_rules_holds_between_the_averages_too(rules: VerdictRules) -> None:
    proof = prove_scale(rules)
    fine = [1 + Fraction(n, 24) for n in range(49)]
    seen = {(b, c): rules.matching(b, c) for b in fine for c in fine}
    verdicts = {pair: rules.verdict(*pair) for pair in seen}
    if not all(seen.values()):
        assert proof.gap is not None
    if any(held and verdicts[pair] is None for pair, held in seen.items()):
        assert proof.ambiguity is not None
    assert not set(proof.unreachable) & set(verdicts.values())
    rows = [[verdict for c in fine if (verdict := verdicts[b, c])] for b in fine]
    falling = any(
        VERDICTS.index(after) > VERDICTS.index(before)
        for row in rows
        for before, after in pairwise(row)
    )
    if falling:
        assert proof.drop is not None
    if proof.gap is not None:
        assert not rules.matching(*proof.gap)
    if proof.drop is not None:
        drop = proof.drop
        assert drop.lower < drop.higher
        assert rules.verdict(drop.baseline, drop.lower) == drop.before
        assert rules.verdict(drop.baseline, drop.higher) == drop.after


def test_lint_tells_an_improvement_that_makes_the_decision_worse(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(
        """
rubric: falling
verdicts: [superior, acceptable, degraded]
decision_table:
  match: first
  outcomes: [go-with-monitoring, no-go]
  missing: none
  queries: {quick: 1, medium: 2}
  rows:
    - {name: a, when: [{count: [acceptable], in: [medium], at_least: 1}], outcome: no-go}
    - {name: b, outcome: go-with-monitoring}
"""
    )
    (found,) = lint(path).findings
    assert found.code == "D009"
    assert found.message == (
        "TQ-2 improves from degraded to acceptable, and the decision falls from "
        "go-with-monitoring to no-go (the others superior)"
    )


def test_a_table_is_proved_for_the_queries_of_an_exam_by_their_names(tmp_path: Path) -> None:
    exam = tmp_path / "exam.yaml"
    modes = ["quick", "medium", "medium", "medium", "thorough", "thorough"]
    items = [
        f"  - {{id: Q{n}, prompt: Ask {n}., tags: {{mode: {m}}}}}" for n, m in enumerate(modes)
    ]
    exam.write_text("\n".join(["exam: queries", "items:", *items]))
    messages = [f.message for f in lint(LITERAL, exams=[exam]).findings if f.code == "D007"]
    assert len(messages) == 2
    assert any("(on the exam's queries): all superior" in t for t in messages)
    assert lint("context-agent", exams=[exam]).findings == ()


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        (
            "count: [degraded], in: [quick]",
            "count: [degrded], in: [quick]",
            "did you mean `degraded`",
        ),
        ("in: [quick], at_least: 1", "in: [quikc], at_least: 1", "is no mode of this document"),
        ("in: [quick], at_least: 1", "in: [quick]", "has no bound"),
        ("in: [quick], at_least: 1", "at_most: 1, exactly: 1", "stands beside another bound"),
        ("below: 3", "below: 3, at_most: 3", "stands beside `at_most`"),
        ("{ candidate: { below: 3 } }", "{}", "is empty; name a quantity"),
        ("{ below: 3 }", "{}", "has no bound"),
        ("{ below: 3 }", "{ belo: 3 }", "did you mean `below`"),
        ("highest: 5", "highest: 1", "is not above `lowest`"),
        ("highest: 5", "highest: 90", "can be gone through"),
        ("outcome: conditional", "outcome: perhaps", "is not allowed; allowed"),
        ("[go, go-with-monitoring, conditional, no-go]", "[go, go]", "occurs twice"),
        ("verdicts: [superior, ", "verdicts: [superior, superior, ", "occurs twice"),
        ("name: two-degraded-in-medium", "name: one-degraded", "occurs twice, first on line"),
        ("verdicts: [superior, equivalent, acceptable, degraded] # the best first", "", "missing"),
        ("missing: none", "missing: maybe", "is not allowed"),
        ("match: any", "match: all", "is not allowed"),
        ("quick: 1,", "quick: 0,", "a number of queries (1 to 1,000)"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_line(
    old: str, new: str, expected_text: str, tmp_path: Path
) -> None:
    source = Path(__file__).parent.parent / "src/markscheme/builtin/rubrics/context-agent.yaml"
    text = source.read_text()
    assert old in text
    path = tmp_path / "rubric.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DocumentError) as caught:
        load_rubric(path)
    assert any(expected_text in problem.message for problem in caught.value.problems), caught.value
    assert all(problem.line >= 1 and problem.field for problem in caught.value.problems)
    assert {found.code for found in lint(path).findings} == {"D001"}


def test_a_rubric_without_axes_scores_nothing() -> None:
    with pytest.raises(UsageError, match="has no axes"):
        score(LITERAL, "capstone", [])


def test_the_fingerprint_knows_the_rules_and_the_table(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(LITERAL.read_text())
    before = load_rubric(path).fingerprint
    path.write_text(LITERAL.read_text().replace("at_least: 0.5 }", "at_least: 0.50 }"))
    assert load_rubric(path).fingerprint == before
    path.write_text(LITERAL.read_text().replace("at_least: 0.5 }", "at_least: 0.6 }"))
    assert load_rubric(path).fingerprint != before


def test_without_a_condition_every_row_is_seen() -> None:
    assert TABLE is not None
    rows = (
        DecisionRow(name="a", decided=DecisionOutcome.GO),
        DecisionRow(name="b", decided=DecisionOutcome.NO_GO),
    )
    proof = prove_table(structs.replace(TABLE, rows=rows))
    assert proof.conflicting == proof.vectors
    assert proof.conflict is not None
