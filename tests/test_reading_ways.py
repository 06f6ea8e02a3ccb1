"""Reading has one meaning and two ways: the fast one agrees with the definition on any rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_rows import BAD_ROWS, GOOD, ITEMS, KNOWN, merged, written
from markscheme.read.answers import (
    AnswerBatch,
    RawAnswerRows,
    ReadLimits,
    add_each_row,
    read_answers,
    read_jsonl,
)
from markscheme.read.answers.jsonl import _parse_json_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TEXTS = st.one_of(
    st.sampled_from(["", "Ate.", "comió", "comio\u0301", "日本", "\0", "a\n"]), st.text()
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([2**53, 2**63, 2**64 - 1, 1.0, 2.5, -0.0, 1e300]),
    TEXTS,
    st.lists(st.integers(-(2**63), 2**63), max_size=2),
    st.dictionaries(TEXTS, st.one_of(TEXTS, st.lists(TEXTS, max_size=2)), max_size=2),
)
OFTEN_GOOD = {
    "item": st.one_of(st.sampled_from([*ITEMS, "n\u0303andu\u0301", "q"]), VALUES),
    "output": st.one_of(TEXTS, VALUES),
    "subject": st.one_of(st.none(), TEXTS, VALUES),
    "attempt": st.one_of(st.integers(0, 5), VALUES),
    "latency_ms": st.one_of(st.floats(0, 1e6), VALUES),
    "tokens_in": st.one_of(st.integers(0, 5), VALUES),
    "tokens_out": VALUES,
    "cost": VALUES,
    "further": VALUES,
}
ROWS = st.fixed_dictionaries(
    {"item": OFTEN_GOOD["item"], "output": OFTEN_GOOD["output"]},
    optional={
        name: values for name, values in OFTEN_GOOD.items() if name not in {"item", "output"}
    },
)
REGULAR = st.fixed_dictionaries(
    {"item": st.sampled_from(ITEMS), "output": TEXTS.filter(lambda text: "\0" not in text)},
    optional={"attempt": st.integers(0, 9), "subject": st.sampled_from(["a", "b", None])},
)
LINES = st.one_of(
    ROWS.map(orjson.dumps),
    REGULAR.map(orjson.dumps),
    REGULAR.map(lambda row: json.dumps(row).encode() + b"\r"),
    st.sampled_from(list(BAD_ROWS)),
    st.sampled_from([b"", b" ", b'{"a":[{}', b"{}]}", b"{},2718281828,{}", b'{"a":[[1', b"2]]}"]),
    st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")),
)


def by_definition(lines: Iterable[bytes]) -> AnswerBatch:
    batch = AnswerBatch()
    numbers = [number for number, raw in enumerate(lines, 1) if raw.strip()]
    rows = [_parse_json_line(raw) for raw in lines if raw.strip()]
    raw_rows = RawAnswerRows(lines=numbers, rows=rows, excerpt_at=lambda _: "")
    add_each_row(batch, raw_rows, range(len(rows)), KNOWN)
    return batch


def alike(one: AnswerBatch, other: AnswerBatch) -> bool:
    def typed(batch: AnswerBatch) -> list[Any]:
        return [[(type(value), value) for value in column] for column in batch.get_columns()]

    def told(batch: AnswerBatch) -> list[Any]:
        return [(error.line, error.reason, error.item) for error in batch.errors]

    return typed(one) == typed(other) and told(one) == told(other)


@given(st.lists(LINES, max_size=60))
@settings(max_examples=400, deadline=None)
def test_the_fast_way_agrees_with_the_definition_on_hostile_rows(lines: list[bytes]) -> None:
    assert alike(merged(read_jsonl([b"\n".join(lines)], known=KNOWN)), by_definition(lines))


@given(st.lists(REGULAR.map(orjson.dumps), min_size=1, max_size=60), LINES, st.data())
@settings(max_examples=200, deadline=None)
def test_one_irregular_row_among_regular_ones_agrees_with_the_definition(
    lines: list[bytes], odd: bytes, data: st.DataObject
) -> None:
    lines.insert(data.draw(st.integers(0, len(lines))), odd)
    assert alike(merged(read_jsonl([b"\n".join(lines)], known=KNOWN)), by_definition(lines))


@given(st.lists(LINES, max_size=20), st.integers(1, 200), st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_block_and_batch_sizes_do_not_matter(lines: list[bytes], block: int, rows: int) -> None:
    content = b"\n".join(lines)
    blocks = (content[at : at + block] for at in range(0, len(content), block))
    cut = merged(read_jsonl(blocks, known=KNOWN, limits=ReadLimits(batch_rows=rows)))
    assert cut == merged(read_jsonl([content], known=KNOWN))


def test_rows_that_spill_over_their_lines_are_errors_even_where_they_would_fit_together() -> None:
    lines = [b'{"a":[{}', b"{}]}", b"{},2718281828,{}", GOOD]
    batch = merged(read_jsonl([b"\n".join(lines)], known=KNOWN))
    assert batch.lines == [4]
    assert [error.line for error in batch.errors] == [1, 2, 3]


def test_batches_are_bounded_by_rows_and_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        written({"item": "e-39-01", "output": "x" * 90, "attempt": n} for n in range(2000))
    )
    by_rows = ReadLimits(batch_rows=100, block_bytes=1000)
    by_bytes = ReadLimits(batch_bytes=10_000, block_bytes=1000)
    for limits in (by_rows, by_bytes):
        sizes = [len(batch) for batch in read_answers(path, items=ITEMS, limits=limits)]
        assert sum(sizes) == 2000
        assert max(sizes[1:]) <= 120
