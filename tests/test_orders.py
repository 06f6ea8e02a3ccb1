"""Order effects: who was asked first is recorded by live runs and logs, shown by comparisons."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from commands import Done, Project, here
from comparisons import GOOD, ITEMS, Files, rows
from made_up import PACKAGE, RECALL, START, Session
from markscheme.ask.questions import order_subjects
from markscheme.weigh.compare import (
    AskedFirstCounts,
    AskedOrder,
    count_first,
    count_first_in_pairs,
    find_first_asked,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sittings import Sitting

BASELINE, CANDIDATE = "big", "small"
UNKNOWN = "Which of the two was asked first is not recorded; the first should alternate."


def live(store: Path, *words: str) -> list[str]:
    """Ask subjects live; return the ids of the stored runs."""
    named = ("-r", "tutor-capstone", "-e", "capstone", "--store", store, "--format", "json")
    done = here("run", *named, *words)
    document = done.json
    return [run["run"] for run in document.get("runs", [document])]


def test_runs_that_were_asked_in_turns_show_who_was_first(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    runs = live(store, "-s", "tutor", "-s", "tutor:flawed", "--attempts", "2")
    done = here("compare", *runs, "--store", store)
    assert f"Asked first: {runs[0]} in 60 of 120, {runs[1]} in 60." in done.out
    assert "more often" not in done.out
    (pair,) = here("compare", *runs, "--store", store, "--format", "json").json["pairs"]
    assert pair["asked_first"] == {
        "baseline": 60,
        "candidate": 60,
        "unknown": 0,
        "balanced": True,
    }


def test_of_runs_that_were_asked_apart_nothing_is_known(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    runs = [*live(store, "-s", "tutor"), *live(store, "-s", "tutor:flawed")]
    assert UNKNOWN in here("compare", *runs, "--store", store).out


def test_answers_from_a_cache_have_no_order(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    live(store, "-s", "tutor", "--cache")
    runs = live(store, "-s", "tutor", "-s", "tutor:flawed", "--cache")
    assert UNKNOWN in here("compare", *runs, "--store", store).out


def test_three_subjects_in_turns_are_told_pair_by_pair(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    runs = live(store, "-s", "tutor", "-s", "tutor:flawed", "-s", "replay:smollm2-schema")
    page = here("compare", *runs, "--store", store).out
    assert f"{runs[0]} → {runs[1]}: Asked first: {runs[0]} in 30 of 60, {runs[1]} in 30." in page
    assert "more often" not in page


def test_scored_answers_were_never_asked(tmp_path: Path) -> None:
    project = Project(tmp_path)
    runs = [project.stored("yes", "yes", "yes", "yes") for _ in range(2)]
    assert UNKNOWN in project.run("compare", *runs).out


# --- beside ratings ---


def compared(tmp_path: Path, *words: str | Path) -> Done:
    files = Files(tmp_path)
    scores = [GOOD, 25, 26, 24, 25]
    return here(*files.words(files.ratings(rows(scores, scores[::-1])), *words))


def recording(tmp_path: Path, *firsts: str) -> Path:
    """Write answers as `markscheme run --record` does, with this first speaker on each query."""
    found: list[dict[str, Any]] = []
    for at, first in enumerate(firsts):
        for variant in (first, BASELINE if first == CANDIDATE else CANDIDATE):
            row = {"item": f"TQ-{at + 1}", "subject": variant, "output": "x", "order": len(found)}
            found.append(row)
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in reversed(found)), encoding="utf-8")
    return path


def test_a_recording_of_both_variants_says_who_was_first(tmp_path: Path) -> None:
    turns = (BASELINE, CANDIDATE, BASELINE, CANDIDATE, BASELINE)
    answers = recording(tmp_path, *turns)
    found = compared(tmp_path, "--answers", answers, "--format", "json").json
    assert [query["asked_first"] for query in found["queries"]] == list(turns)
    assert found["asked_first"]["balanced"]
    page = compared(tmp_path, "--answers", answers, "--html", tmp_path / "p.html").out
    assert f"Asked first: {BASELINE} in 3 of 5, {CANDIDATE} in 2." in page
    assert "asked first" in page
    assert f"First asked: {CANDIDATE}" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_a_first_speaker_that_does_not_alternate_is_told(tmp_path: Path) -> None:
    answers = recording(tmp_path, *[BASELINE] * 5)
    page = compared(tmp_path, "--answers", answers).out
    assert f"Asked first: {BASELINE} in 5 of 5, {CANDIDATE} in 0." in page
    assert f"{BASELINE} was first more often" in page


def test_two_recordings_in_one_file_say_nothing_of_each_other(tmp_path: Path) -> None:
    answers = recording(tmp_path, *[BASELINE] * 5)
    found = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    lines = (json.dumps({**row, "order": row["order"] // 2}) + "\n" for row in found)
    answers.write_text("".join(lines), encoding="utf-8")
    assert UNKNOWN in compared(tmp_path, "--answers", answers).out


def test_session_logs_say_who_was_prompted_first(tmp_path: Path) -> None:
    """The sessions of one variant are moved to another year."""
    for item in ITEMS:
        for variant, year in (
            (BASELINE, "2026"),
            (CANDIDATE, "2025" if item == "TQ-2" else "2027"),
        ):
            text = Session("Ask.", session=f"{item}-{variant}").calls(RECALL).say(PACKAGE).text()
            path = tmp_path / "logs" / variant / f"{item}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(f"{START.year}-", f"{year}-"), encoding="utf-8")
    found = compared(tmp_path, "--logs", tmp_path / "logs", "--format", "json").json
    firsts = [query["asked_first"] for query in found["queries"]]
    assert firsts == [BASELINE, CANDIDATE, BASELINE, BASELINE, BASELINE]
    assert found["asked_first"]["balanced"] is False


def test_what_is_asked_later_has_a_later_place_also_where_the_exam_was_changed(
    sitting: Sitting,
) -> None:
    first = sitting.asks("fine 0", "fine 1", "fine 2").json()["items"]
    again = sitting.asks("fine 0", "fine 1", "fine 2", "fine 3", "fine 4").json("--resume")["items"]
    places = [row["asked"]["order"] for row in again]
    assert places[:3] == [row["asked"]["order"] for row in first]
    assert len(set(places)) == len(places)
    assert max(places[:3]) < min(places[3:])


def test_without_a_record_of_the_order_the_page_says_so(tmp_path: Path) -> None:
    done = compared(tmp_path, "--html", tmp_path / "p.html")
    assert UNKNOWN in done.out
    assert "First asked" not in (tmp_path / "p.html").read_text(encoding="utf-8")
    found = compared(tmp_path, "--format", "json").json
    assert [query["asked_first"] for query in found["queries"]] == [None] * 5
    assert found["asked_first"] == {
        "baseline": 0,
        "candidate": 0,
        "unknown": 5,
        "balanced": None,
    }


# --- the order itself ---


@given(st.integers(2, 5), st.integers(0, 40))
def test_of_any_two_subjects_each_is_first_as_often_as_the_other(many: int, places: int) -> None:
    subjects = list("abcde")[:many]
    asked = [order_subjects(subjects, place) for place in range(places)]
    assert all(sorted(order) == subjects for order in asked)
    assert all(one[0] != other[0] for one, other in pairwise(asked))
    for one, other in combinations(subjects, 2):
        firsts = count_first(order.index(one) < order.index(other) for order in asked)
        assert firsts.balanced in {True, None}


def test_balance_is_as_near_as_the_number_allows() -> None:
    assert count_first([True, False, True]).balanced
    assert count_first([True, True]).balanced is False
    assert count_first([None]).balanced is None


def test_times_that_cannot_be_compared_say_nothing() -> None:
    here_, there = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2)  # noqa: DTZ001 - the point
    places = {
        ("a", "x", 1): here_,
        ("a", "y", 1): there,
        ("b", "x", 1): here_,
        ("b", "y", 1): here_,
    }
    assert find_first_asked(places, ("x", "y")) == {}
    later = {("a", "x", 1): here_, ("a", "y", 1): datetime(2026, 1, 2, tzinfo=UTC)}
    assert find_first_asked(later, ("x", "y")) == {"a": "x"}
    assert find_first_asked(later, ("y", "x")) == {"a": "x"}


def test_numbers_of_different_orders_are_not_compared() -> None:
    one = AskedOrder(sitting="s", other_sittings=("t",), places={("a", 1): 0})
    two = AskedOrder(sitting="t", other_sittings=("s",), places={("a", 1): 0})
    assert count_first_in_pairs(one, two, [("a", 1)]) == AskedFirstCounts(
        baseline=0, candidate=0, unknown=1
    )
