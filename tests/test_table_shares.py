"""Decision tables with shares, ranges and a follow-up: lint proves what brute force finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations_with_replacement, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import Project
from markscheme import DecisionTable, DocumentError, lint, load_rubric
from markscheme.prove.lint import prove_all_sizes, prove_follow_up
from markscheme.vocabulary import (
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    FollowUp,
    HitPolicy,
    QueryShare,
)

VERDICTS = ("good", "fair", "bad")
MODES = ("quick", "deep")
FRACTIONS = st.sampled_from([Fraction(n, 20) for n in (0, 1, 5, 7, 10, 20)])
COUNTS = st.integers(0, 3)
BOUNDS = COUNTS | st.builds(QueryShare, fraction=FRACTIONS, strict=st.booleans())
Size = Mapping[str, int]
Vector = tuple[str, ...]


def build_conditions(
    bounds: st.SearchStrategy[int | QueryShare],
) -> st.SearchStrategy[CountCondition]:
    return st.builds(
        lambda verdicts, modes, low, high: CountCondition(
            verdicts=tuple(sorted(verdicts)), modes=tuple(sorted(modes)), at_least=low, at_most=high
        ),
        st.sets(st.sampled_from(VERDICTS), min_size=1),
        st.sets(st.sampled_from(MODES)),
        bounds,
        st.none() | bounds,
    )


def build_rows(
    bounds: st.SearchStrategy[int | QueryShare], outcomes: Sequence[DecisionOutcome]
) -> st.SearchStrategy[tuple[DecisionRow, ...]]:
    entry = st.tuples(st.lists(build_conditions(bounds), max_size=2), st.sampled_from(outcomes))
    return st.lists(entry, min_size=1, max_size=4).map(
        lambda entries: tuple(
            DecisionRow(name=f"row-{n}", when=tuple(when), decided=decided)
            for n, (when, decided) in enumerate(entries)
        )
    )


FINAL = [o for o in DecisionOutcome if o is not DecisionOutcome.CONDITIONAL]
FOLLOW_UPS = st.builds(
    FollowUp,
    at_least=st.integers(1, 3),
    in_modes_of=st.sets(st.sampled_from(VERDICTS), min_size=1).map(lambda s: tuple(sorted(s))),
    rows=build_rows(st.integers(0, 2), FINAL),
)
RANGES = st.tuples(st.integers(0, 2), st.integers(1, 2)).map(lambda pair: (min(pair), max(pair)))


def build_tables(
    follow_ups: st.SearchStrategy[FollowUp | None],
) -> st.SearchStrategy[DecisionTable]:
    return st.builds(
        lambda rows, policy, quick, deep, missing, follow_up: DecisionTable(
            verdicts=VERDICTS,
            queries={"quick": quick[0], "deep": deep[0]},
            most_queries={"quick": quick[1], "deep": deep[1]},
            rows=rows,
            policy=policy,
            missing=missing,
            follow_up=follow_up,
        ),
        build_rows(BOUNDS, list(DecisionOutcome)),
        st.sampled_from(HitPolicy),
        RANGES,
        RANGES,
        st.none() | st.sampled_from(DecisionOutcome),
        follow_ups,
    )


TABLES = build_tables(st.none() | FOLLOW_UPS)


def list_vectors(size: Size) -> list[Vector]:
    """Return the verdicts that queries can have; their order within a mode changes nothing."""
    within = (combinations_with_replacement(VERDICTS, size[mode]) for mode in MODES)
    return [tuple(chain.from_iterable(parts)) for parts in product(*within)]


def find_rows(rows: tuple[DecisionRow, ...], size: Size, vector: Vector) -> list[DecisionRow]:
    """Return the rows that hold, each bound by its definition, as a fraction of the queries."""
    parts = {"quick": vector[: size["quick"]], "deep": vector[size["quick"] :]}

    def holds(condition: CountCondition) -> bool:
        seen = [verdict for mode in condition.modes or MODES for verdict in parts[mode]]
        total = len(seen)
        found = sum(verdict in condition.verdicts for verdict in seen)
        for bound, sign in ((condition.at_least, 1), (condition.at_most, -1)):
            if isinstance(bound, QueryShare):
                over = sign * (found - bound.fraction * total)
                if over < 0 or (bound.strict and over == 0):
                    return False
            elif bound is not None and sign * (found - bound) < 0:
                return False
        return True

    return [row for row in rows if all(map(holds, row.when))]


def decide(
    rows: tuple[DecisionRow, ...], policy: HitPolicy, size: Size, vector: Vector
) -> DecisionOutcome | None:
    outcomes = [row.decided for row in find_rows(rows, size, vector)]
    if not outcomes or (policy is HitPolicy.ANY and len(set(outcomes)) > 1):
        return None
    return outcomes[0]


def list_improvements(vector: Vector) -> Iterator[Vector]:
    for at, verdict in enumerate(vector):
        for better in VERDICTS[: VERDICTS.index(verdict)]:
            yield (*vector[:at], better, *vector[at + 1 :])


def list_sizes(table: DecisionTable) -> Iterator[Size]:
    ranges = [range(table.queries[m], (table.most_queries[m] or 0) + 1) for m in MODES]
    yield from (dict(zip(MODES, size, strict=True)) for size in product(*ranges) if any(size))


def find_flaws(rows: tuple[DecisionRow, ...], policy: HitPolicy, sizes: Sequence[Size]) -> set[str]:
    """Return which flaws rows have on exams of these sizes: one vector after the other."""
    flaws, alive = set(), set()
    for size in sizes:
        for vector in list_vectors(size):
            found = find_rows(rows, size, vector)
            alive |= {row.name for row in (found[:1] if policy is HitPolicy.FIRST else found)}
            decided = decide(rows, policy, size, vector)
            if decided is None:
                flaws.add("conflict" if found else "gap")
                continue
            for lifted in list_improvements(vector):
                after = decide(rows, policy, size, lifted)
                if after is not None and after.rank > decided.rank:
                    flaws.add("fall")
    return flaws | {row.name for row in rows if row.name not in alive}


def find_follow_up_flaws(table: DecisionTable) -> set[str]:
    """Return what is wrong between the main round and its follow-up."""
    follow_up = table.follow_up
    if follow_up is None:
        return set()
    flaws, best = set(), min(row.decided.rank for row in follow_up.rows)
    for size in list_sizes(table):
        for vector in list_vectors(size):
            if decide(table.rows, table.policy, size, vector) is not DecisionOutcome.CONDITIONAL:
                continue
            flaws.add("conditional")
            if not set(vector) & set(follow_up.in_modes_of):
                flaws.add("not followed")
            after = (decide(table.rows, table.policy, size, v) for v in list_improvements(vector))
            if any(
                o is not None and best < o.rank < DecisionOutcome.CONDITIONAL.rank for o in after
            ):
                flaws.add("overtaken")
    return flaws


@settings(max_examples=100, deadline=None)
@given(TABLES)
def test_the_proof_of_all_sizes_agrees_with_brute_force(table: DecisionTable) -> None:
    proof = prove_all_sizes(table)
    flaws = {
        name
        for name, example in (
            ("gap", proof.gap),
            ("conflict", proof.conflict),
            ("fall", proof.fall),
        )
        if example is not None
    }
    expected = find_flaws(table.rows, table.policy, list(list_sizes(table)))
    kinds = {"gap", "conflict", "fall"}
    # The examples are those of one size, so another size may have flaws of other kinds.
    assert flaws <= expected & kinds
    assert set(proof.dead) == expected - kinds
    further = find_follow_up_flaws(table)
    if table.follow_up is not None:
        assert proof.conditional == ("conditional" in further)
    flawed = bool(expected & kinds or further - {"conditional"})
    if table.missing is None:
        assert proof.has_example == flawed
    else:
        # A missing verdict can be a flaw of its own: better than a known one.
        assert proof.has_example or not flawed


@settings(max_examples=40, deadline=None)
@given(build_tables(FOLLOW_UPS))
def test_the_proof_of_a_follow_up_agrees_with_brute_force(table: DecisionTable) -> None:
    proof, follow_up = prove_follow_up(table), table.follow_up
    assert proof is not None
    assert follow_up is not None
    # Beyond these numbers, no further state is reached: the bounds are at most 2.
    sizes = [
        {"quick": quick, "deep": deep}
        for quick, deep in product(range(4), repeat=2)
        if follow_up.at_least <= quick + deep <= 4
    ]
    expected = find_flaws(follow_up.rows, table.policy, sizes)
    kinds = {"gap", "conflict", "fall"}
    if expected & kinds:
        assert proof.has_example
    assert set(proof.dead) <= expected - kinds
    if proof.has_example and sum(proof.queries.values()) <= 4:
        assert expected & kinds


@settings(max_examples=100, deadline=None)
@given(TABLES, st.data())
def test_a_table_with_shares_decides_what_brute_force_does(
    table: DecisionTable, data: st.DataObject
) -> None:
    size = data.draw(st.sampled_from(list(list_sizes(table))))
    vector = data.draw(st.sampled_from(list_vectors(size)))
    modes = [mode for mode, n in size.items() for _ in range(n)]
    counts = Counter(zip(modes, vector, strict=True))
    expected = decide(table.rows, table.policy, size, vector)
    assert table.decide(counts) is expected
    assert table.resolve_shares(size).decide(counts) is expected


@pytest.mark.parametrize(
    ("share", "queries", "most", "below", "least", "above"),
    [
        ("5%", 60, 3, 2, 3, 4),
        ("5%", 59, 2, 2, 3, 3),
        ("2.5%", 40, 1, 0, 1, 2),
        ("0%", 9, 0, -1, 0, 1),
        ("100%", 9, 9, 8, 9, 10),
    ],
)
def test_a_share_is_an_exact_fraction_of_the_queries(
    share: str, queries: int, most: int, below: int, least: int, above: int
) -> None:
    fraction = Fraction(share.removesuffix("%")) / 100
    inclusive, strict = QueryShare(fraction=fraction), QueryShare(fraction=fraction, strict=True)
    assert (inclusive.get_most(queries), strict.get_most(queries)) == (most, below)
    assert (inclusive.get_least(queries), strict.get_least(queries)) == (least, above)


SHARES = """\
rubric: shares
verdicts: [better, same, worse]
decision_table:
  outcomes: [go, no-go]
  missing: none
  queries: {quick: {at_least: 10, at_most: 30}, deep: {at_least: 10, at_most: 30}}
  rows:
    - {name: few, when: [{count: [worse], at_most: 5%}], outcome: go}
    - {name: many, when: [{count: [worse], above: 5%}], outcome: no-go}
"""


def codes_of(path: Path, text: str) -> set[str]:
    path.write_text(text, encoding="utf-8")
    return {found.code for found in lint(path).findings}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("above: 5%", "above: 5.5%", "D007"),
        ("above: 5%", "at_least: 5%", "D008"),
        ("deep: {at_least: 10, at_most: 30}", "deep: {at_least: 10}", "D014"),
        ("outcome: go}", "outcome: no-go}", "D011"),
    ],
)
def test_lint_proves_shares_for_every_size_of_a_range(
    tmp_path: Path, old: str, new: str, code: str
) -> None:
    assert codes_of(tmp_path / "good.yaml", SHARES) == set()
    assert code in codes_of(tmp_path / "bad.yaml", SHARES.replace(old, new))


def test_sixty_queries_are_decided_by_shares(tmp_path: Path) -> None:
    (tmp_path / "shares.yaml").write_text(SHARES, encoding="utf-8")
    table = load_rubric(tmp_path / "shares.yaml").decision_table
    assert table is not None
    for worse, outcome in ((0, "go"), (3, "go"), (4, "no-go")):
        counts = {("quick", "better"): 30, ("deep", "worse"): worse, ("deep", "same"): 30 - worse}
        assert table.decide(counts) == outcome


def test_a_decision_on_many_queries_names_ten_of_a_kind_and_no_step_that_is_not_stated(
    project: Project,
) -> None:
    source = Path(__file__).parent.parent / "src/markscheme/builtin/rubrics/context-agent.yaml"
    scales = (
        source.read_text(encoding="utf-8")
        .split("decision_table:")[0]
        .replace("rubric: context-agent", "rubric: many")
    )
    table = SHARES.split("decision_table:")[1].replace("worse", "degraded").split("queries:")
    rows = "queries: {quick: {at_least: 10, at_most: 60}}\n" + table[1].split("\n", 1)[1]
    rubric = project.write("many.yaml", f"{scales}decision_table:{table[0]}{rows}")
    items = [f"A-{number}" for number in range(1, 61)]
    entries = (f"  - {{id: {item}, prompt: q, tags: {{mode: quick}}}}\n" for item in items)
    exam = project.write("many-exam.yaml", f"exam: many\nitems:\n{''.join(entries)}")
    lines = ["item,variant,rater,axis,score"]
    for item, variant, axis in product(items, ("big", "small"), range(1, 7)):
        is_worse = variant == "small" and item in items[:2]
        lines.append(f"{item},{variant},anna,Q-0{axis},{2 if is_worse else 4}")
    ratings = project.write("many.csv", "\n".join(lines))
    words = ("-r", rubric, "-e", exam, "--ratings", ratings)
    told = project.run("compare", *words, "-b", "big", "-c", "small")
    assert told.code == 0, told.err
    assert "2 degraded: A-1 (quick), A-2 (quick); 58 equivalent: A-3 (quick)," in told.out
    assert "A-12 (quick) and 48 more\n" in told.out
    assert "next:" not in told.out


def test_a_range_without_an_upper_limit_is_proved_without_shares(tmp_path: Path) -> None:
    text = SHARES.replace(", at_most: 30", "").replace("5%", "2")
    assert codes_of(tmp_path / "rubric.yaml", text) == set()
    assert "D007" in codes_of(tmp_path / "rubric.yaml", text.replace("above: 2", "above: 3"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("at_most: 5%", "at_most: 101%", "a share such as `5%`"),
        ("at_most: 5%", "at_most: 0.05", "a share such as `5%`"),
        ("at_most: 5%", "exactly: 5%", "must be"),
        ("at_most: 5%", "at_most: 5%, below: 4%", "stands beside `at_most`"),
        ("above: 5%", "above: -1", "a share such as `5%`"),
        ("{at_least: 10, at_most: 30}", "{at_least: 10, at_most: 9}", "a range such as"),
        ("{at_least: 10, at_most: 30}", "{at_most: 9}", "a range such as"),
        ("{at_least: 10, at_most: 30}", "{at_least: 0, at_most: 0}", "a range such as"),
        ("{at_least: 10, at_most: 30}", "10-30", "a range such as"),
        ("queries: {", "queries: {at_least: 4, ", "is no mode; a range belongs to a mode"),
    ],
)
def test_a_bound_that_cannot_be_understood_is_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(SHARES.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DocumentError) as refused:
        load_rubric(path)
    assert any(told in problem.message for problem in refused.value.problems), refused.value


def test_a_share_or_an_open_end_in_a_follow_up_is_refused(tmp_path: Path) -> None:
    source = Path(__file__).parent.parent / "src/markscheme/builtin/rubrics/context-agent.yaml"
    text, path = source.read_text(encoding="utf-8"), tmp_path / "rubric.yaml"
    head, _, tail = text.partition("  follow_up:")
    for old, new, told in (
        ("at_least: 1 }", "at_least: 5% }", "is a share"),
        ("outcome: no-go", "outcome: conditional", "is not allowed"),
        ("in_modes_of: [degraded]", "in_modes_of: [degrded]", "did you mean `degraded`"),
        ("name: degraded-again", "name: one-degraded", "is the name of another row"),
        ("name: degraded-again", "name: no-further-degraded", "occurs twice"),
        ("at_least: 3", "at_least: 0", "below 1"),
    ):
        path.write_text(f"{head}  follow_up:{tail.replace(old, new, 1)}", encoding="utf-8")
        with pytest.raises(DocumentError) as refused:
            load_rubric(path)
        assert any(told in problem.message for problem in refused.value.problems), (told, refused)
