"""The worked examples of the docs are what the commands print, one for each decision."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from commands import here
from markscheme.vocabulary import DecisionOutcome

if TYPE_CHECKING:
    import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCKS = (DOCS / "comparison.md").read_text(encoding="utf-8").split("```console\n")[1:]


def test_the_worked_examples_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS)
    decided = set()
    for block in BLOCKS:
        command, *lines = block.partition("```")[0].splitlines()
        wanted, code = lines[:-2], int(lines[-1])
        done = here(*shlex.split(command.removeprefix("$ markscheme ")), "--lang", "en")
        assert done.code == code
        printed = iter([line.rstrip() for line in done.out.splitlines()])
        for line in wanted:
            assert line == "…" or line in printed, line
        words = [*shlex.split(command.removeprefix("$ markscheme ")), "--format", "json"]
        decided.add(here(*words).json["decision"]["outcome"])
    assert decided == set(DecisionOutcome)
