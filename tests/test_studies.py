"""Rating studies by command: made, closed, compared; who rates what, and in which order."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from commands import Done, here
from comparisons import ITEMS, Files
from markscheme.keep import open_store
from markscheme.vocabulary import Adjudication, UsageError
from markscheme.weigh.rating_study import LEASE_TIME, SeatKey, StudyDesign, build_seats, draw_sample
from markscheme.workflows.study import StudyPlan, create_study, load_study
from markscheme.workflows.study_marks import (
    MarkRequest,
    SeatLostError,
    StudyClosedError,
    read_sheet,
    record_marks,
    take_query,
    undo_mark,
)
from markscheme.workflows.study_results import adjudicate, close_study, find_disagreements
from studies import Clock, build_answers, rate_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from markscheme.weigh.rating_study import MarkKey

RATERS = "ana,ben,carl"


class Desk(Files):
    """A folder with the answers of two variants to all items, and a store."""

    def __init__(self, folder: Path, place: str) -> None:
        super().__init__(folder)
        self.place = place
        rows = [
            {"item": item, "subject": variant, "output": f"text of {item}"}
            for item in ITEMS
            for variant in ("big", "small")
        ]
        self.answers = self.write("answers.jsonl", "".join(f"{json.dumps(r)}\n" for r in rows))
        self.out = folder / "ratings.csv"

    def run(self, *words: str | Path) -> Done:
        return here(*words, "--store", self.place, "--lang", "en")

    def make(self, *words: str | Path, raters: str = RATERS) -> Any:
        inputs = ("-r", "context-agent", "-e", self.exam, "-a", self.answers)
        done = self.run("rate", "--web", *inputs, "--raters", raters, *words, "--format", "json")
        assert done.code == 0, done.err
        return done.json

    @property
    def rated(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out.read_text())))


@pytest.fixture
def desk(tmp_path: Path, place: str) -> Desk:
    return Desk(tmp_path, place)


def give(big: str, small: str) -> Callable[[str, MarkKey], str]:
    """Return raters who score by variant alone."""
    return lambda _, key: big if key.variant == "big" else small


def test_a_study_is_made_rated_closed_and_compared(desk: Desk) -> None:
    made = desk.make("--per-answer", "2")
    assert (made["study"], made["queries"], made["answers"]) == ("study-1", 5, 10)
    assert set(made["links"]) == {"ana", "ben", "carl"}
    rate_all(desk.place, "study-1", give("4", "4"))
    done = desk.run("rate", "close", "study-1", "-o", desk.out, "--format", "json")
    assert (done.code, done.json["ratings"], done.json["left"]) == (0, 120, 0)
    per_query = Counter((row["item"], row["variant"], row["axis"]) for row in desk.rated)
    assert set(per_query.values()) == {2}
    compared = desk.run(
        *("compare", "--study", "study-1", "-b", "big", "-c", "small", "--format", "json")
    )
    assert (compared.code, compared.json["decision"]["outcome"]) == (0, "go")
    assert compared.json["raters"] == ["ana", "ben", "carl"]
    agreed = desk.run("agree", "--study", "study-1", "--format", "json")
    assert agreed.json["axes"]["Q-01"]["percent"] == 1
    files = ("-r", "context-agent", "-e", desk.exam, "-b", "big", "-c", "small")
    from_file = here("compare", *files, "--ratings", desk.out, "--allow-gaps", "--format", "json")
    assert from_file.json["queries"] == compared.json["queries"]


def test_a_study_with_all_raters_is_compared_from_its_file_without_gaps(desk: Desk) -> None:
    desk.make()
    rate_all(desk.place, "study-1", give("5", "2"))
    assert desk.run("rate", "close", "study-1", "-o", desk.out).code == 0
    files = ("-r", "context-agent", "-e", desk.exam, "-b", "big", "-c", "small")
    assert here("compare", *files, "--ratings", desk.out).code == 1


def test_a_study_stays_open_while_something_is_left_unless_it_is_finished(desk: Desk) -> None:
    desk.make()
    done = desk.run("rate", "close", "study-1", "-o", desk.out)
    assert done.code == 4
    assert "stays open" in done.out
    assert not desk.out.exists()
    assert desk.run("rate", "close", "study-1", "-o", desk.out, "--finish").code == 4
    assert desk.rated == []
    compared = desk.run("compare", "--study", "study-1", "-b", "big", "-c", "small")
    assert compared.code == 2
    assert "0 of 15" in compared.err


def test_a_random_sample_is_recorded_and_compared_alone(desk: Desk) -> None:
    made = desk.make("--sample", "2", "--seed", "7")
    assert made["sample"] == {"size": 2, "seed": 7, "of": 5}
    rate_all(desk.place, "study-1", give("4", "4"))
    desk.run("rate", "close", "study-1", "-o", desk.out)
    drawn = {row["item"] for row in desk.rated}
    assert drawn == set(draw_sample(ITEMS, 2, seed=7))
    compared = desk.run(
        *("compare", "--study", "study-1", "-b", "big", "-c", "small", "--format", "json")
    )
    assert {query["item"] for query in compared.json["queries"]} == drawn


def test_what_cannot_be_a_study_is_refused(desk: Desk) -> None:
    inputs = ("rate", "--web", "-r", "context-agent", "-e", desk.exam, "-a", desk.answers)
    refused: list[tuple[tuple[str, ...], str]] = [
        ((), "missing: --raters"),
        (("--raters", "ana,ana"), "names somebody twice"),
        (("--raters", "ana,,ben"), "names that can be printed"),
        (("--raters", "ana", "--per-answer", "2"), "allowed: 1 to 1"),
        (("--raters", "ana", "--per-answer", "0"), "allowed: 1 to 1"),
        (("--raters", "ana", "--sample", "6"), "allowed: 1 to 5"),
        (("--raters", "ana", "--name", "a/b"), "no name of a study"),
        (("--raters", "ana", "--url", "here"), "no address"),
        (("--raters", "ana", "-o", "x.csv"), "--output does not go with --web"),
    ]
    for words, message in refused:
        done = desk.run(*inputs, *words)
        assert (done.code, message in done.err) == (2, True), done.err
    done = here("rate", "-r", "context-agent", "--raters", "ana")
    assert (done.code, "--raters goes with --web" in done.err) == (2, True)
    desk.make("--name", "one")
    done = desk.run(*inputs, "--raters", "ana", "--name", "one")
    assert "there is a study `one` already" in done.err
    for command in (("close", "none", "-o", str(desk.out)), ("link", "none", "--rater", "ana")):
        assert "holds no study `none`" in desk.run("rate", *command).err
    assert "no rater of this study" in desk.run("rate", "link", "one", "--rater", "zoe").err


def test_each_link_is_new(desk: Desk) -> None:
    made = desk.make("--url", "https://rate.example/")
    again = desk.run("rate", "link", "study-1", "--rater", "ana", "--format", "json")
    assert again.json["link"].startswith("http://127.0.0.1:8020/enter/")
    assert all(link.startswith("https://rate.example/enter/") for link in made["links"].values())
    assert len({*made["links"].values(), again.json["link"]}) == 4


def test_runs_and_criteria_can_be_rated_too(desk: Desk) -> None:
    rubric = desk.write(
        "notes.yaml",
        "rubric: notes\nversion: 1\naxes:\n"
        "  - {name: content, kind: criteria, weight: 1, expects: criteria}\n"
        "  - {name: tone, kind: choice, question: 'Which tone?',\n"
        "     options: {kind: 1, rude: 0}, may_not_apply: true}\n",
    )
    exam = desk.write(
        "notes-exam.yaml",
        "exam: notes\nitems:\n  - id: n1\n    prompt: Write a note.\n    criteria:\n"
        "      - {id: c1, points: 2, says: Names the dose.}\n"
        "      - {id: c2, points: -1, says: Invents a source.}\n",
    )
    answers = desk.write(
        "notes.jsonl",
        '{"item": "n1", "subject": "big", "output": "a"}\n'
        '{"item": "n1", "subject": "small", "output": "b"}\n',
    )
    inputs = ("-r", rubric, "-e", exam)
    done = desk.run("rate", "--web", *inputs, "-a", answers, "--raters", "ana", "--format", "json")
    assert done.code == 0, done.err
    scores = {"content": "1", "tone": "n/a"}
    rate_all(desk.place, "study-1", lambda _, key: scores[key.axis])
    assert desk.run("rate", "close", "study-1", "-o", desk.out).code == 0
    assert {(row["axis"], row["criterion"], row["score"]) for row in desk.rated} == {
        ("content", "c1", "1"),
        ("content", "c2", "1"),
        ("tone", "", "n/a"),
    }
    scored = here("score", *inputs, "-a", answers, "--ratings", desk.out, "--format", "json")
    assert scored.code == 0
    assert scored.json["summary"]["score"] == 0.5


# --- the design ---


@given(
    seed=st.integers(0, 2**32),
    queries=st.integers(1, 20),
    variants=st.integers(2, 4),
    raters=st.integers(1, 5),
)
def test_every_rater_sees_each_variant_first_equally_often(
    seed: int, queries: int, variants: int, raters: int
) -> None:
    names = tuple(f"v{at}" for at in range(variants))
    design = StudyDesign(
        variants={f"q{n}": names for n in range(queries)}, per_answer=raters, seed=seed
    )
    now = datetime(2026, 3, 1, tzinfo=UTC)
    seats: dict[SeatKey, Any] = {}
    for _ in range(queries):
        for number in range(raters):
            seats |= take(design, f"r{number}", seats, now)
    assert len(seats) == queries * raters
    for number in range(raters):
        own = [seat.order for key, seat in seats.items() if key.rater == f"r{number}"]
        firsts = Counter(dict.fromkeys(names, 0)) + Counter(order[0] for order in own)
        counts = [firsts[name] for name in names]
        assert max(counts) - min(counts) <= 1
        assert all(sorted(order) == sorted(names) for order in own)


def take(
    design: StudyDesign, rater: str, seats: dict[SeatKey, Any], now: datetime
) -> dict[SeatKey, Any]:
    from markscheme.vocabulary import LeaseEvent, LeaseKind  # noqa: PLC0415 - only here
    from markscheme.weigh.rating_study import find_next_place  # noqa: PLC0415

    item = design.choose_query(rater, seats, now)
    assert item is not None
    event = LeaseEvent(
        item=item,
        rater=rater,
        kind=LeaseKind.FINISHED,
        at=now,
        order=design.draw_order(item, rater, seats),
        place=find_next_place(rater, seats),
    )
    return build_seats([event], {})


def test_two_raters_of_a_query_begin_with_different_variants() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    variants = {f"q{number}": ("big", "small") for number in range(10)}
    design = StudyDesign(variants=variants, per_answer=2, seed=5)
    seats: dict[SeatKey, Any] = {}
    for _ in range(10):
        for rater in ("ana", "ben"):
            seats |= take(design, rater, seats, now)
    overall = Counter(seat.order[0] for seat in seats.values())
    assert overall == {"big": 10, "small": 10}


def test_every_query_is_equally_likely_to_be_in_a_sample() -> None:
    drawn = Counter(item for seed in range(2000) for item in draw_sample("abcde", 2, seed))
    assert all(700 < drawn[item] < 900 for item in "abcde")


# --- marks ---


@pytest.fixture
def opened(place: str) -> Any:
    clock = Clock()
    with open_store(place, create=True, now=clock) as store:
        plan = StudyPlan(raters=("ana", "ben"), per_answer=1)
        yield store, clock, create_study(store, build_answers(1), plan)


def mark(id_: str, score: str, place: int = 1, **more: str) -> MarkRequest:
    return MarkRequest(id=id_, place=place, axis="tone", score=score, **more)


def test_a_mark_that_is_sent_again_is_stored_once(opened: Any) -> None:
    store, _, study = opened
    take_query(store, study, "ana")
    for _ in range(3):
        record_marks(store, study, "ana", [mark("0" * 8, "2"), mark("1" * 8, "3", 2)])
    assert len(store.studies.read_marks(study.id)) == 2
    with pytest.raises(UsageError, match="belongs to another mark"):
        record_marks(store, study, "ana", [mark("0" * 8, "3")])
    with pytest.raises(UsageError, match="two marks have one id"):
        record_marks(store, study, "ana", [mark("2" * 8, "3"), mark("2" * 8, "2")])
    close_study(store, study.id)
    record_marks(store, study, "ana", [mark("0" * 8, "2")])
    with pytest.raises(StudyClosedError):
        record_marks(store, study, "ana", [mark("3" * 8, "2")])


def test_undo_goes_back_mark_by_mark_and_a_retry_takes_nothing_else_back(opened: Any) -> None:
    store, _, study = opened
    take_query(store, study, "ana")
    for number, score in enumerate("123"):
        record_marks(store, study, "ana", [mark(f"mark-{number}-x", score)])
    for number, left in enumerate(("2", "1", None)):
        for _ in range(2):
            undo_mark(store, study, "ana", f"undo-{number}-x")
        scores = [found.score for found in read_sheet(store, study, "ana").marks.values()]
        assert scores == ([] if left is None else [left])
    assert undo_mark(store, study, "ana", "undo-9-xx") is None


def test_a_query_that_was_left_alone_goes_to_another_rater_and_counts_for_one(opened: Any) -> None:
    store, clock, study = opened
    take_query(store, study, "ana")
    record_marks(store, study, "ana", [mark("0" * 8, "1")])
    assert take_query(store, study, "ben")[0] == "waiting"
    clock.move(LEASE_TIME)
    assert take_query(store, study, "ben")[0] == "rating"
    with pytest.raises(SeatLostError):
        record_marks(store, study, "ana", [mark("1" * 8, "1", 2)])
    record_marks(store, study, "ben", [mark("2" * 8, "3"), mark("3" * 8, "3", 2)])
    assert close_study(store, study.id)
    from markscheme.workflows.study_results import (  # noqa: PLC0415 - only here
        collect_study_ratings,
        measure_progress,
    )

    study = load_study(store, study.id)
    assert {rating.rater for rating in collect_study_ratings(store, study)} == {"ben"}
    assert measure_progress(store, study).set_aside == 1


def test_a_lease_goes_on_while_somebody_rates(opened: Any) -> None:
    store, clock, study = opened
    take_query(store, study, "ana")
    for number in range(4):
        clock.move(LEASE_TIME * 3 / 4)
        record_marks(store, study, "ana", [mark(f"mark-{number}-x", "2")])
    assert take_query(store, study, "ben")[0] == "waiting"


def test_disagreements_of_two_points_are_decided_after_closing(place: str) -> None:
    with open_store(place, create=True) as store:
        study = create_study(store, build_answers(2), StudyPlan(raters=("ana", "ben")))
    rate_all(place, study.id, lambda rater, key: "3" if (rater, key.item) == ("ana", "q1") else "1")
    with open_store(place, create=False) as store:
        decision = Adjudication(
            id="decision-1",
            item="q1",
            variant="big",
            axis="tone",
            criterion="",
            score="2",
            note="plain",
            by="owner",
            at=store.studies.get_now(),
        )
        with pytest.raises(UsageError, match="is open"):
            adjudicate(store, study, decision)
        close_study(store, study.id)
        study = load_study(store, study.id)
        for _ in range(2):
            adjudicate(store, study, decision)
        found = find_disagreements(store, study)
        assert [(one.key.item, one.key.variant) for one in found] == [
            ("q1", "big"),
            ("q1", "small"),
        ]
        assert [one.decided and one.decided.score for one in found] == ["2", None]
        for other, why in (
            (structs.replace(decision, score="3"), "belongs to another decision"),
            (structs.replace(decision, id=""), "is no id"),
        ):
            with pytest.raises(UsageError, match=why):
                adjudicate(store, study, other)
        assert len(store.studies.read_adjudications(study.id)) == 1
