"""Marks and measures: counted while answers stream, kept small, and recovered from result files."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from markscheme import (
    DocumentError,
    Marks,
    Measures,
    Rubric,
    Run,
    UsageError,
    load_exam,
    load_rubric,
    score,
    verify,
)
from markscheme.mark.axes import MaxWords
from markscheme.read.results import read_published_result
from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    AxisSpec,
    ScoreBounds,
    simplest_fraction,
    to_float,
)
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.patterns import (
    build_failing_column,
    build_miss_columns,
    compute_item_axis_means,
)
from markscheme.weigh.published_run import build_published_run
from markscheme.weigh.totals import MeasureTotal, WeightScale

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from markscheme.weigh.totals import AxisValues

TUTOR = load_rubric("tutor-capstone")
CAPSTONE = load_exam("capstone", rubric=TUTOR)
SMALL = structs.replace(CAPSTONE, items=CAPSTONE.items[:4], fingerprint="b2:small")
GOOD = {"correction": "ate", "spanish_gloss": "comió", "explanation": "x"}
OUTPUTS = st.sampled_from(["Ate.", "", GOOD, {**GOOD, "spanish_gloss": ""}, "word " * 31])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "item": st.sampled_from([item.id for item in SMALL.items]),
            "output": OUTPUTS,
            "subject": st.sampled_from([None, "a", "b"]),
            "latency_ms": st.none() | st.integers(0, 5) | st.floats(0, 10**6),
            "cost": st.none() | st.floats(0, 10**6),
            "tokens_in": st.none() | st.integers(0, 10**12),
        }
    ),
    max_size=25,
)
TWO = Rubric(
    name="two",
    version=1,
    axes=tuple(AxisSpec(name=n, weight=Decimal("0.5"), axis=MaxWords(limit=1)) for n in "ab"),
    gates=(),
    fingerprint="b2:two",
    pass_mark=Decimal("0.5"),
)
VALUE = st.sampled_from(
    [UNKNOWN_SCORE, NOT_APPLICABLE, ScoreBounds(low=Fraction(-1, 3), high=Fraction(1, 2))]
) | st.fractions(-1, 1, max_denominator=50)
VALUES = st.tuples(VALUE, VALUE)
MARKS = st.builds(
    Marks,
    axes=st.just(("a", "b")),
    items=st.dictionaries(
        st.sampled_from("xyz"), st.dictionaries(VALUES, st.integers(1, 9), max_size=4)
    ),
    errors=st.integers(0, 9),
)
TOTALS = st.builds(MeasureTotal, n=st.integers(1, 9), sum=st.fractions(0, 10))
MEASURES = st.builds(
    Measures,
    answers=st.integers(0, 99),
    latency_ms=st.dictionaries(st.floats(0, 1e9), st.integers(1, 9), max_size=5),
    cost=TOTALS,
    tokens_in=TOTALS,
    tokens_out=TOTALS,
)


def runs_of(rows: list[dict[str, Any]]) -> dict[str | None, Run]:
    numbered = [{**row, "attempt": at} for at, row in enumerate(rows)]
    return {run.subject: run for run in score(TUTOR, SMALL, numbered).runs}


# --- counting -----------------------------------------------------------------------------------


@given(ROWS, st.data())
def test_marks_and_measures_do_not_depend_on_the_order_of_answers(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    assert runs_of(rows) == runs_of(data.draw(st.permutations(rows)))


@given(ROWS, ROWS)
def test_parts_merged_are_the_whole(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> None:
    whole, first, second = runs_of(one + two), runs_of(one), runs_of(two)
    for subject in {row["subject"] for row in one} & {row["subject"] for row in two}:
        marks = first[subject].marks.merged(second[subject].marks)
        assert marks == whole[subject].marks
        measures = first[subject].measures.merged(second[subject].measures)
        assert measures == whole[subject].measures


@given(ROWS)
def test_measures_are_exact(rows: list[dict[str, Any]]) -> None:
    for subject, run in runs_of(rows).items():
        own = [row for row in rows if row["subject"] == subject]
        latencies = [row["latency_ms"] for row in own if row["latency_ms"] is not None]
        assert run.measures.answers == len(own)
        assert run.measures.latencies == len(latencies)
        middle = run.measures.latency_percentile(Fraction(50))
        exact = [Fraction(repr(float(value))) for value in latencies]
        assert middle == (median(exact) if exact else None)
        costs = [Fraction(repr(row["cost"])) for row in own if row["cost"] is not None]
        assert run.measures.cost == MeasureTotal(n=len(costs), sum=sum(costs, Fraction(0)))
        tokens = [row["tokens_in"] for row in own if row["tokens_in"] is not None]
        assert run.measures.tokens_in == MeasureTotal(n=len(tokens), sum=Fraction(sum(tokens)))
        assert run.measures.tokens_out == MeasureTotal()


def test_different_latencies_are_counted_over_many_batches() -> None:
    rows = [
        {"item": SMALL.items[at % 4].id, "attempt": at, "output": "x", "latency_ms": at / 7}
        for at in range(120_000)
    ]
    (run,) = score(TUTOR, SMALL, rows).runs
    assert run.measures.latencies == run.marks.answers == 120_000
    middle = (Fraction(repr(59_999 / 7)) + Fraction(repr(60_000 / 7))) / 2
    assert run.measures.latency_percentile(Fraction(50)) == middle


def test_a_bad_row_makes_the_run_of_every_subject_incomplete() -> None:
    rows = [{"item": i.id, "output": "x", "subject": s} for i in SMALL.items for s in ("a", "b")]
    result = score(TUTOR, SMALL, [*rows, {"item": "nowhere", "output": "x"}])
    assert result.summary.errors == 1
    assert [run.marks.errors for run in result.runs] == [1, 1]
    assert not any(run.marks.complete for run in result.runs)


def test_an_exam_without_answers_is_one_run_without_marks() -> None:
    (run,) = score(TUTOR, SMALL, []).runs
    assert (run.subject, run.marks.answers, len(run.marks.missing)) == (None, 0, 4)
    assert run.measures == Measures()


# --- as plain data ------------------------------------------------------------------------------


@given(MARKS)
def test_marks_come_back_from_json_as_they_were(marks: Marks) -> None:
    assert Marks.from_dict(json.loads(json.dumps(marks.to_dict()))) == marks


@given(MARKS)
def test_items_with_equal_counts_share_them_and_nothing_else_changes(marks: Marks) -> None:
    data = marks.to_dict()
    read = Marks.from_dict(data)
    objects = {str(data["items"][item]): read.items[item] for item in data["items"]}
    assert all(read.items[item] is objects[str(data["items"][item])] for item in read.items)
    for items in (None, list(marks.items)[:2], ["x"] * 2 if "x" in marks.items else []):
        assert added(read.counts(items)) == added(marks.counts(items))
    names = ("answers", "unscored", "missing", "complete")
    assert all(getattr(read, name) == getattr(marks, name) for name in names)


def added(counts: list[tuple[AxisValues, int]]) -> Counter[AxisValues]:
    return sum((Counter({values: count}) for values, count in counts), Counter())


@given(MARKS)
def test_what_is_weighed_once_is_weighed_as_each_item_by_itself(marks: Marks) -> None:
    shared, apart = Marks.from_dict(marks.to_dict()), WeightScale(TWO)
    scale = WeightScale(TWO)
    means = [apart.sum_answers(counts.items()).mean for counts in marks.items.values()]
    for item, counts in marks.items.items():
        assert scale.sum_item(shared.items[item]) == apart.sum_answers(counts.items())
    each = Counter(total.mean for total, n in scale.sum_items(shared) for _ in range(n))
    assert each == Counter(mean for mean in means if mean is not None)
    assert build_miss_columns(shared) == build_miss_columns(marks)
    assert build_miss_columns(shared, Fraction(1, 10)) == build_miss_columns(marks, Fraction(1, 10))
    assert (compute_item_axis_means(shared), build_failing_column(shared)) == (
        compute_item_axis_means(marks),
        build_failing_column(marks),
    )


@given(MARKS.filter(lambda marks: marks.items))
def test_the_column_of_an_axis_is_what_its_means_say(marks: Marks) -> None:
    means = [one[0] for one in compute_item_axis_means(marks)]
    known = {at: value for at, value in enumerate(means) if value is not None}
    limit = Fraction(1, 2)
    column = build_miss_columns(marks)["a"]
    assert column.seen == known.keys()
    assert column.missed == {at for at, value in known.items() if value < limit}
    if known:
        limit = max(limit, sum(known.values(), Fraction(0)) / len(known) - Fraction(1, 10))
    short = build_miss_columns(marks, Fraction(1, 10))["a"]
    assert short.missed == {at for at, value in known.items() if value < limit}


@given(MEASURES)
def test_measures_come_back_from_json_as_they_were(measures: Measures) -> None:
    assert Measures.from_dict(json.loads(json.dumps(measures.to_dict()))) == measures


@given(MARKS, MARKS)
def test_merging_is_adding_and_has_no_order(one: Marks, two: Marks) -> None:
    assert one.merged(two) == two.merged(one)
    assert one.merged(two).answers == one.answers + two.answers


@pytest.mark.parametrize(
    "change",
    [
        {"axes": None},
        {"values": [["2", "1"]]},
        {"values": [["1"]]},
        {"values": [["1/0", "1"]]},
        {"values": [["nan", "1"]]},
        {"items": {"x": {"7": 1}}},
        {"items": {"x": {"0": 0}}},
        {"items": {"x": {"0": 1.5}}},
        {"items": {"x": {"0": 1}, "y": {"0": True}}},
        {"items": {"x": {"0": 1}, "y": {"0": 1.0}}},
        {"items": []},
        {"errors": -1},
        {"errors": True},
    ],
)
def test_data_that_are_no_marks_are_refused(change: dict[str, Any]) -> None:
    data = {"axes": ["a", "b"], "values": [["1", "1/2"]], "items": {"x": {"0": 1}}, "errors": 0}
    assert Marks.from_dict(data).answers == 1
    with pytest.raises(ValueError, match="no marks"):
        Marks.from_dict({**data, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"latency_ms": {"nan": 1}},
        {"latency_ms": {"inf": 1}},
        {"latency_ms": {"-1": 1}},
        {"latency_ms": {"1": 0}},
        {"cost": {"n": 0, "sum": "1"}},
        {"cost": {"n": 1, "sum": "-1"}},
        {"cost": None},
    ],
)
def test_data_that_are_no_measures_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no measures"):
        Measures.from_dict({**Measures().to_dict(), **change})


# --- from result files --------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_fraction_is_recovered_from_its_double(numerator: int, denominator: int) -> None:
    value = Fraction(numerator % (denominator + 1), denominator)
    published = json.loads(json.dumps(to_float(value)), parse_float=Decimal)
    assert simplest_fraction(published) == value


@given(st.decimals(0, 1, places=12))
def test_a_short_decimal_stands_for_itself(value: Any) -> None:
    assert simplest_fraction(value) == Fraction(value)


def write(folder: Path, rows: list[Any], suffix: str = "json") -> Path:
    result = score(TUTOR, SMALL, rows)
    path = folder / f"r.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(result.to_dict()))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in result.frame.rows(named=True)))
    return path


def read(path: Path, **more: Any) -> Run:
    return build_published_run(read_published_result(path), TUTOR, SMALL, **more)


FULL: list[dict[str, Any]] = [
    {"item": item.id, "output": GOOD, "latency_ms": 0.1, "cost": 0.2} for item in SMALL.items
]


@settings(max_examples=30)
@given(rows=ROWS, suffix=st.sampled_from(["json", "jsonl"]))
def test_a_run_is_recovered_from_its_result_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], suffix: str
) -> None:
    numbered = [{**row, "attempt": at} for at, row in enumerate(rows)]
    bad = {"item": "nowhere", "output": "x"}
    path = write(tmp_path_factory.mktemp("r"), [*numbered, bad], suffix)
    for run in score(TUTOR, SMALL, [*numbered, bad]).runs:
        several = len({row["subject"] for row in rows}) > 1
        if several and run.subject is None:
            continue  # no name to ask for
        found = read(path, subject=run.subject)
        assert (found.marks, found.measures) == (run.marks, run.measures)
        same = (run.rubric, run.exam) if suffix == "json" else (None, None)
        assert (found.rubric, found.exam) == same


def changed(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["summary"].update(score=0.99), "summary.score: 0.99 is published"),
        (lambda d: d["items"][1].update(score=0.9), "items.1.score: 0.9 is published"),
        (lambda d: d["items"][1].update(expected=["eaten"]), "items.1"),
        (lambda d: d["items"][1].update(item="e-39-99"), "items.1.item: e-39-99 is published"),
        (lambda d: d["items"][1].update(d["items"][0]), "items.1.item: occurs twice"),
        (lambda d: d["items"][1].update(latency_ms=-1), "items.1.latency_ms: must be a number"),
        (lambda d: d["items"][1].update(subject=[1]), "items.1.subject: must be a text, or null"),
        (lambda d: d["items"][1].update(cost="x"), "items.1.cost: must be a number"),
        (lambda d: d["items"][1].update(latency_ms=float("nan")), "NaN is no number"),
        (lambda d: d["items"][1].update(score=float("inf")), "Infinity is no number"),
        (lambda d: d["summary"].update(errors=1), "summary.errors: 1 is published, 0 is right"),
        (lambda d: d.update(items=[]), "holds no item; nothing could be judged"),
    ],
)
def test_a_file_that_does_not_follow_from_its_cells_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    path = changed(write(tmp_path, FULL), change)
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert said in str(caught.value)


def test_a_file_without_its_worst_row_is_a_run_with_a_missing_item(tmp_path: Path) -> None:
    path = changed(write(tmp_path, FULL), lambda d: (d["items"].pop(0), d.pop("summary")))
    run = read(path)
    assert run.marks.missing == (SMALL.items[0].id,)
    assert evaluate_gates(TUTOR, SMALL, run).verdict == "undecided"


def test_several_subjects_need_a_name(tmp_path: Path) -> None:
    rows = [{**row, "subject": name} for row in FULL for name in ("a", "b")]
    path = write(tmp_path, rows)
    with pytest.raises(UsageError, match="holds several subjects; name one of `a`, `b`"):
        read(path)
    with pytest.raises(UsageError, match="no answers of the subject `c`"):
        read(path, subject="c")
    assert read(path, subject="b").subject == "b"


def test_a_file_of_another_rubric_or_exam_keeps_its_own_fingerprints(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    changed(path, lambda d: d["rubric"].update(fingerprint="b2:x"))
    run = read(path)
    assert run.rubric == "b2:x"
    assert evaluate_gates(TUTOR, SMALL, run).verdict == "undecided"
    path = changed(write(tmp_path, FULL), lambda d: d["exam"].update(fingerprint="b2:y"))
    assert evaluate_gates(TUTOR, SMALL, read(path)).verdict == "undecided"


def test_a_third_is_verified_as_the_fraction_that_it_was(tmp_path: Path) -> None:
    rubric = load_rubric("tutor-capstone")
    cells = {"correctness": 1.0, "spanish_gloss": 1 / 3, "schema": 1.0, "conciseness": 1.0}
    exact = Fraction(3, 4) + Fraction(1, 12)
    record = {"item": "x", "score": float(exact), "breakdown": cells}
    (tmp_path / "p.json").write_text(json.dumps(record))
    assert verify(tmp_path / "p.json", rubric).findings == ()
