"""Pages on terminals of 80 and 120 columns: what matters first, nothing wider than the screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import FULL, WRONG, Project, here
from terminals import Terminal

GOLDEN = Path(__file__).parent / "golden" / "terminal"
FLAWED = ("demo", "--flawed", "--no-store", "--no-report")
_STYLES = re.compile(r"\x1b\[[0-9;]*m|\r")
# The ids and times of runs are their own.
_OWN = re.compile(r"\b[0-9a-f]{12}\b|\d{4}-\d\d-\d\d \d\d:\d\d")


def read_page(columns: int, *words: str | Path) -> str:
    """Return what a command prints on a terminal of this width, without styles."""
    with Terminal(*words, columns=columns) as terminal:
        terminal.end()
        text = _STYLES.sub("", terminal.seen)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("columns", [80, 120])
def test_the_demo_on_a_terminal(columns: int) -> None:
    page = read_page(columns, *FLAWED)
    assert page == (GOLDEN / f"demo-{columns}.txt").read_text(encoding="utf-8")
    lines = page.splitlines()
    # Only sentences are left to the terminal to wrap; no table is wider than it.
    rows = lines[lines.index("Rows that lost points") :]
    assert max(map(len, rows)) <= columns


def test_the_verdict_the_gates_and_the_patterns_stand_above_the_rows() -> None:
    lines = here(*FLAWED).out.splitlines()
    firsts = ("verdict: ", "score ", "hard gate ", "What to look at", "Rows that", "Where points")
    places = [next(at for at, line in enumerate(lines) if line.startswith(f)) for f in firsts]
    assert places == sorted(places)
    assert places[0] == 0
    rows = lines[places[4] + 2 : lines.index("… 65 more rows: --all shows them")]
    assert len(rows) == 15
    assert lines[-2:] == ["verdict: FAIL (not met: capstone)", "next: `markscheme init my-exam`"]
    assert len(here(*FLAWED, "--all").out.splitlines()) > 150


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_of_runs_on_a_terminal(project: Project, columns: int) -> None:
    for tag in ("release-1", "release-2"):
        project.score(*[FULL, WRONG] * 2, words=("--tag", tag), subject="a-rather-long-name")
    page = read_page(columns, "runs", "--store", project.store)
    shown = _OWN.sub(lambda found: "x" * len(found[0]), page)
    assert shown == (GOLDEN / f"runs-{columns}.txt").read_text(encoding="utf-8")
    assert max(map(len, page.splitlines())) <= columns


def test_patterns_are_shown_without_the_table(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    here("demo", "--flawed", "--no-report", "--store", store)
    lines = here("show", "latest", "--patterns", "--store", store).out.splitlines()
    assert lines[1:3] == ["", "Patterns"]
    assert lines[3].startswith("1. `spanish_gloss` misses only within tense: past-simple")
    assert not any(line.startswith(("item ", "score ")) for line in lines)


def test_rows_name_their_subject_only_if_there_are_several(project: Project) -> None:
    one = project.score(FULL, WRONG, FULL, FULL, subject="big").out
    assert "  subject big\n" in one
    assert "\ni2  " in one
    rows = [
        {"item": "i2", "output": text, "subject": who} for text, who in ((WRONG, "a"), (FULL, "b"))
    ]
    lines = "".join(
        f'{{"item": "{r["item"]}", "output": "{r["output"]}", "subject": "{r["subject"]}"}}\n'
        for r in rows
    )
    answers = project.write("two.jsonl", lines)
    two = project.run("score", "-r", project.rubric, "-e", project.exam, "-a", answers).out
    assert "\na/i2  " in two


def test_an_answer_is_never_cut_and_a_long_text_says_how_long_it_is(project: Project) -> None:
    answer = "no " * 40 + "end"
    assert "end" in " ".join(project.score(answer, FULL, FULL, FULL).out.split())
    long = project.score("no " * 400, FULL, FULL, FULL).out
    assert "(1,200 characters)" in " ".join(long.split())


def test_a_new_project_is_silent_in_lint_and_sound_in_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = here("init", tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    *_, score, gate, audit = [line.strip() for line in made.out.splitlines()]
    readme = Path("README.md").read_text(encoding="utf-8")
    assert all(f"    {line}\n" in readme for line in (score, gate, audit))
    assert here("lint", "rubric.yaml", "exam.yaml").out == "2 files: nothing found\n"
    codes = [here(*line.split()[1:]).code for line in (score, gate, audit)]
    assert codes == [0, 1, 0]
