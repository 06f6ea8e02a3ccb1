"""The pages about import and about criteria: their commands print what the pages show."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from commands import here

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["import.md", "healthbench-style.md", "judges.md"])
def test_the_commands_of_the_page_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    shutil.copytree(DOCS / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    blocks = (DOCS / page).read_text(encoding="utf-8").split("```console\n$ markscheme ")[1:]
    assert blocks
    for block in blocks:
        command, _, wanted = block.partition("```")[0].partition("\n")
        done = here(*shlex.split(command))
        assert [line.rstrip() for line in done.out.splitlines()] == wanted.splitlines()


def test_the_pieces_of_the_how_to_are_in_its_files() -> None:
    text = (DOCS / "healthbench-style.md").read_text(encoding="utf-8")
    folder = DOCS / "examples" / "first-aid"
    pieces = {
        language: [part.partition("```")[0] for part in text.split(f"```{language}\n")[1:]]
        for language in ("yaml", "csv")
    }
    rubric, exam = pieces["yaml"]
    assert rubric == (folder / "rubric.yaml").read_text(encoding="utf-8")
    assert exam in (folder / "exam.yaml").read_text(encoding="utf-8")
    rows = (folder / "ratings.csv").read_text(encoding="utf-8").splitlines()
    assert set(pieces["csv"][0].splitlines()) <= set(rows)
