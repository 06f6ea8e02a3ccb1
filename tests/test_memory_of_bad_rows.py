"""Rows that are no answers leave nothing behind, so that memory stays flat."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING

import pytest

from markscheme.read.answers import RefusedRow, read_answers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("bad", [b"{not json", b"[]", b"\xff\xfe", b'{"item": 1}'])
def test_bad_rows_are_freed_without_the_garbage_collector(tmp_path: Path, bad: bytes) -> None:
    good = json.dumps({"item": "a", "output": "x"}).encode()
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"\n".join([good, *[bad] * 500]))
    gc.collect()
    gc.disable()
    try:
        errors = [error for batch in read_answers(path, items=["a"]) for error in batch.errors]
        left = [thing for thing in gc.get_objects() if isinstance(thing, RefusedRow)]
    finally:
        gc.enable()
    assert len(errors) == 500
    assert left == []
