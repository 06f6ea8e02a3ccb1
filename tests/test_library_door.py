"""The library as a door of its own: one answer, exams in memory, tables, and what is shown."""

from __future__ import annotations

import inspect
import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from lxml import html

import markscheme
from markscheme import (
    DocumentError,
    Exam,
    Item,
    UsageError,
    exam,
    gate,
    load_exam,
    load_rubric,
    mark,
    score,
)

if TYPE_CHECKING:
    from pathlib import Path

TUTOR = load_rubric("tutor-capstone")
CAPSTONE = load_exam("capstone", rubric=TUTOR)
AXES = "correctness, spanish_gloss, schema, conciseness"
ROW = {
    "id": "v-1",
    "prompt": "Conjugate 'eat'.",
    "expected_contains": ["ate"],
    "gloss_contains": ["comió"],
}


class Table:
    """A table of some other library: only the interface that all of them have."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


class Unreadable:
    """pandas where pyarrow is not installed."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise ImportError("`pyarrow` is needed")


# --- mark ---


def test_one_answer_is_marked_as_among_many() -> None:
    item = CAPSTONE.get_item("e-39-01")
    breakdown = mark(TUTOR, item, "He ate. Comió.")
    (row,) = (
        score(TUTOR, CAPSTONE, [{"item": item.id, "output": "He ate. Comió."}])
        .frame.head(1)
        .iter_rows(named=True)
    )
    assert (breakdown.score, row["score"]) == (Fraction(9, 10), 0.9)
    assert {axis: cell.reason for axis, cell in breakdown.cells.items()} == row["reason"]
    assert mark("tutor-capstone", item, {"correction": "ate"}).cells["correctness"].value == 1


def test_what_cannot_be_marked_is_refused() -> None:
    with pytest.raises(DocumentError, match="gloss_contains: is missing"):
        mark(TUTOR, Item(id="a", prompt="?", expectations={"expected_contains": ["x"]}), "x")
    wrong: Any = 7
    with pytest.raises(UsageError, match="an output is text or a mapping, not the number 7"):
        mark(TUTOR, CAPSTONE.items[0], wrong)
    with pytest.raises(UsageError, match="no item `e-39-1`; did you mean `e-39-"):
        CAPSTONE.get_item("e-39-1")


def test_answers_of_a_large_exam_are_marked_at_once() -> None:
    large = exam(
        [{**ROW, "id": f"v-{n}", "prompt": f"Question {n}"} for n in range(20_000)],
        name="large",
        rubric=TUTOR,
    )
    answers = [(large.get_item(f"v-{n * 300}"), f"He ate {n}. Comió.") for n in range(64)]
    times = []
    for _ in range(5):
        begin = time.process_time()
        scores = [mark(TUTOR, item, answer).score for item, answer in answers]
        times.append(time.process_time() - begin)
        assert scores == [Fraction(9, 10)] * 64
    assert min(times) < 0.02, "64 answers take a few milliseconds, whatever the exam's size"


# --- exam ---


def test_an_exam_in_memory_is_that_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "exam.yaml"
    path.write_text(json.dumps({"exam": "verbs", "items": [{**ROW, "tags": {"n": 1.50}}]}))
    built = exam([{**ROW, "tags": {"n": 1.5}}], name="verbs", rubric=TUTOR)
    assert built == load_exam(path, rubric=TUTOR)
    frame = pl.DataFrame([{**ROW, "expected": None}, {**ROW, "id": "v-2", "expected": "Ate."}])
    assert [dict(item.expectations).keys() for item in exam(Table(frame), name="two").items] == [
        {"expected_contains", "gloss_contains"},
        {"expected_contains", "gloss_contains", "expected"},
    ]


def test_every_mistake_in_the_rows_is_reported_with_its_row() -> None:
    rows: list[Any] = [
        {"id": 1, "prompt": math.nan},
        {**ROW, "note": "x"},
        {**ROW, "expected_contains": [object()]},
        {"prompt": "x\0"},
        7,
    ]
    with pytest.raises(DocumentError) as raised:
        exam(rows, name="wrong", rubric=TUTOR)
    lines = str(raised.value).splitlines()
    for expected in (
        "rows:1: items.0.id: must be text, not the number 1",
        "rows:1: items.0.prompt: a finite number below 10^100 is needed",
        "rows:2: items.1.note: unknown key; allowed: id, prompt",
        "rows:3: items.2.expected_contains.0: must be text, a number, a list or a mapping",
        "rows:3: items.2.id: `v-1` occurs twice, first in rows:2",
        "rows:4: items.3.id: is missing",
        "rows:4: items.3.prompt: holds a NUL character",
        "rows:5: items.4: must be a mapping of keys to values, not the number 7",
    ):
        assert any(line.startswith(expected) for line in lines), (expected, lines)
    with pytest.raises(DocumentError, match="items: is empty"):
        exam([], name="none")
    text: Any = "e-1"
    with pytest.raises(UsageError, match="must be a list of rows, or a table"):
        exam(text, name="text")


# --- tables ---


def test_any_table_is_scored_as_its_rows_are() -> None:
    rows = [{"item": "e-39-01", "output": "He ate. Comió.", "latency_ms": 2.5, "subject": None}]
    by_rows = score(TUTOR, CAPSTONE, rows).to_dict()
    frame = pl.DataFrame(rows)
    assert score(TUTOR, CAPSTONE, Table(frame)).to_dict() == by_rows
    assert score(TUTOR, CAPSTONE, frame).to_dict() == by_rows


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pl.DataFrame({"output": ["x"]}), "has no column `item`; its columns are `output`"),
        (Table(pl.DataFrame({"a": [1]})), "has no column `item` and no column `output`"),
        (Unreadable(), r"\(ImportError: `pyarrow` is needed\); install pyarrow, or give a list"),
    ],
)
def test_a_table_that_cannot_be_answers_is_refused(table: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        score(TUTOR, CAPSTONE, table)


# --- what is shown ---


def test_values_are_shown_in_one_line() -> None:
    result = score(TUTOR, CAPSTONE, [{"item": "e-39-01", "output": "He ate."}])
    shown = [result, TUTOR, CAPSTONE, gate(result), mark(TUTOR, CAPSTONE.items[0], "He ate.")]
    assert [repr(value) for value in shown] == [
        "Result(tutor-capstone on capstone: score 0.65, 1 of 1 answers, 59 missing)",
        f"Rubric('tutor-capstone', version=1, axes: {AXES})",
        "Exam('capstone', items=60)",
        "GateReport(undecided: capstone undecided, latency undecided, baseline not applicable)",
        "Breakdown(e-39-01: score 0.65; spanish_gloss 0; schema 0)",
    ]
    assert repr(score(TUTOR, CAPSTONE, [])).endswith("nothing scored, 0 of 0 answers, 60 missing)")


def test_a_notebook_shows_gates_axes_and_the_worst_items() -> None:
    rows = [{"item": "e-39-01", "output": "<b>Ate</b>."}, {"item": "e-39-02", "output": "no"}]
    page: Any = html.fromstring(score(TUTOR, CAPSTONE, rows)._repr_html_())
    tables = [table.xpath(".//tr") for table in page.xpath("//table")]
    gates, axes, worst = ([[c.text for c in row] for row in table[1:]] for table in tables)
    assert gates[0][:2] == ["capstone", "undecided"]
    assert [axis[0] for axis in axes] == [spec.name for spec in TUTOR]
    assert [row[0] for row in worst] == ["e-39-02", "e-39-01"]
    assert worst[1][2] == "<b>Ate</b>."
    assert not page.xpath("//script | //style | //b")


def test_metrics_are_numbers_by_name() -> None:
    small = exam([ROW], name="verbs", rubric=TUTOR)
    good = {"correction": "ate", "spanish_gloss": "comió", "explanation": "past"}
    metrics = score(TUTOR, small, [{"item": "v-1", "output": good, "latency_ms": 1}]).metrics()
    assert {type(value) for value in metrics.values()} == {float}
    assert (metrics["score"], metrics["gate/latency"], metrics["missing"]) == (1.0, 1.0, 0.0)
    nothing = score(TUTOR, small, []).metrics()
    assert "score" not in nothing
    assert "gate/latency" not in nothing
    assert nothing["complete"] == 0.0


# --- the names ---


def test_every_public_function_has_an_example() -> None:
    functions = [getattr(markscheme, name) for name in markscheme.__all__]
    documented = {f.__name__: f.__doc__ or "" for f in functions if inspect.isfunction(f)}
    without = [name for name, text in documented.items() if ">>>" not in text]
    assert without == []


def test_mark_stays_the_function_when_the_package_of_its_name_is_imported() -> None:
    code = "import markscheme, markscheme.mark.axes; print(markscheme.mark.__module__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "markscheme.workflows.mark\n"


def test_a_function_that_refers_to_the_library_can_be_sent_to_another_process() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")

    def count_axes() -> int:
        return len(markscheme.load_rubric("tutor-capstone").axes)

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        sent = cloudpickle.dumps(count_axes)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert cloudpickle.loads(sent)() == 4


def test_an_exam_with_items_is_still_a_plain_value() -> None:
    copy = Exam(names=CAPSTONE.names, items=CAPSTONE.items, fingerprint=CAPSTONE.fingerprint)
    CAPSTONE.get_item("e-39-01")
    assert copy == CAPSTONE
