"""Patterns and schemas whose check would take for ever are refused, or told in the cell."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from markscheme.mark import read_response
from markscheme.mark.axes import JsonSchema, PatternAxis
from markscheme.vocabulary import Cell, Item, Status

if TYPE_CHECKING:
    from pathlib import Path

ITEM = Item(id="x", prompt="p")
RECURSIVE = {
    "$ref": "#/$defs/n",
    "$defs": {
        "n": {
            "anyOf": [
                {"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["b"]},
                {"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["c"]},
                {"type": "integer"},
            ]
        }
    },
}


def nest(depth: int) -> str:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return json.dumps(value)


def check(schema: dict[str, Any], output: str) -> Cell:
    return JsonSchema(schema=schema).mark(read_response(output), ITEM)


def problems(axis: JsonSchema | PatternAxis) -> list[str]:
    return [message for _, message in axis.parameter_problems()]


def test_a_recursive_schema_says_how_deep_an_object_may_be() -> None:
    assert check(RECURSIVE, nest(12)).status is Status.SCORED
    deep = check(RECURSIVE, nest(60))
    assert deep.status is Status.FAILED
    assert "nested deeper than 19 levels" in deep.reason


def test_a_recursive_schema_without_alternatives_may_be_nested_at_will() -> None:
    tree = {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}
    assert check(tree, nest(200)).value == 1


@pytest.mark.parametrize("reference", ["#/$defs/{}", "#{}"])
def test_a_chain_of_definitions_that_doubles_at_each_step_is_refused(reference: str) -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"$anchor": f"d{n}", "allOf": [{"$ref": reference.format(f"d{n + 1}")}] * 2}
        for n in range(60)
    }
    definitions["d60"] = {"$anchor": "d60", "type": "object"}
    schema = {"$defs": definitions, "$ref": reference.format("d0")}
    (message,) = problems(JsonSchema(schema=schema))
    assert "takes more than 1,000,000 checks" in message


def test_a_pattern_that_compiles_to_megabytes_is_refused() -> None:
    (message,) = problems(PatternAxis(pattern="a{500}{500}"))
    assert "compiles to more than 4 MB" in message
    assert problems(PatternAxis(pattern=r"^\p{L}{1,40}$")) == []


def test_a_long_text_under_a_large_pattern_is_told_in_the_cell() -> None:
    axis = PatternAxis(pattern="a{100}{100}")
    cell = axis.judge("a" * 200_000, ITEM)
    assert cell.status is Status.FAILED
    assert "200000 characters is too long for" in cell.reason
    assert axis.judge("a" * 10_000, ITEM).value == 1


def test_a_simple_pattern_is_searched_in_a_long_text() -> None:
    cell = PatternAxis(pattern=r"\bneedle\b").judge("hay " * 500_000 + "needle", ITEM)
    assert cell.value == 1
    assert "at character 2000001" in cell.reason


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_during_a_long_search(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "rubric.yaml").write_text(
        "rubric: r\naxes:\n  - {name: p, kind: pattern, weight: 1, pattern: 'a[ab]{90}c'}\n"
    )
    # A search for this pattern takes a second for each text; equal texts would be searched once.
    text = "".join(random.Random(1).choices("ab", k=150_000))  # noqa: S311 - no secret
    rows = [json.dumps({"item": f"x{n}", "output": text[n:]}) for n in range(100)]
    (tmp_path / "answers.jsonl").write_text("\n".join(rows))
    (tmp_path / "exam.yaml").write_text(
        "exam: e\nitems:\n" + "".join(f"  - {{id: x{n}, prompt: p}}\n" for n in range(100))
    )
    words = ["score", "-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", "--no-store"]
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *words], cwd=tmp_path)
    time.sleep(2.5)
    os.kill(process.pid, number)
    assert process.wait(20) == 128 + number
