"""Codes are found by their keys, in lists or by joining, as a dictionary would find them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.mark.batch import CellIndex

CELLS = import_module("markscheme.mark.batch.cells")
TEXTS = st.sampled_from(["", "a", "b", "ó", "a\0", "longer than what a view holds"])
NUMBERS = st.one_of(st.integers(0, 5), st.sampled_from([600, 2**20, 2**32 - 1]))
KEYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a number": (st.tuples(NUMBERS), {"n": pl.UInt32}),
    "a text and a number": (st.tuples(TEXTS, NUMBERS), {"text": pl.String, "item": pl.UInt32}),
    "a text": (st.tuples(TEXTS), {"text": pl.String}),
    "two texts": (st.tuples(TEXTS, TEXTS), {"text": pl.String, "other": pl.String}),
    "a larger number": (st.tuples(NUMBERS), {"n": pl.UInt64}),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("longest", [0, 4, 2**20])
def test_each_key_has_the_code_that_it_was_learnt_with(
    kind: str, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CELLS, "_MAX_SLOTS", longest)
    monkeypatch.setattr(CELLS, "_MIN_DENSE_ROWS", 0)
    keys, schema = KEYS[kind]

    @given(st.lists(st.lists(keys, max_size=8), max_size=6))
    def holds(columns: list[list[tuple[str | int, ...]]]) -> None:
        known, codes = CellIndex(), dict[tuple[str | int, ...], int]()
        for column in columns:
            frame = pl.DataFrame(column, schema=schema, orient="row")
            assert known.look_up(frame).to_list() == list(map(codes.get, column))
            new = [key for key in dict.fromkeys(column) if key not in codes]
            if new:
                codes |= {key: len(codes) + at for at, key in enumerate(new)}
                learnt = pl.DataFrame(new, schema=schema, orient="row")
                known.add_keys(learnt, pl.Series([codes[key] for key in new], dtype=pl.UInt32))
            assert known.look_up(frame).to_list() == list(map(codes.get, column))

    holds()
