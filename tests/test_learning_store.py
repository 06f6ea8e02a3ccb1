"""Learners, reviews and papers in the store: nothing doubled, and forgotten for good."""

from __future__ import annotations

import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from commands import here
from markscheme import UsageError, load_exam, load_rubric
from markscheme.keep import (
    OWN_LEARNER,
    Grant,
    PaperAnswer,
    PaperMode,
    Role,
    Store,
    StorePool,
    open_store,
)
from markscheme.workflows.papers import (
    export_paper,
    format_answers,
    hand_in_paper,
    load_paper,
    open_paper,
    score_paper,
)
from markscheme.workflows.practice import (
    CardAnswer,
    GradedCard,
    PracticeSettings,
    grade_card,
    load_deck_state,
    load_progress,
)

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone-extra", rubric=RUBRIC)
PRACTICE = load_exam("practice", rubric=RUBRIC)
SETTINGS = PracticeSettings(rubric=RUBRIC, items=PRACTICE.items, zone=UTC)
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
TYPED = "Xq7unmistakable"


def answer_card(
    store: Store, id_: str, learner: str = OWN_LEARNER, *, form: str = "was", gloss: str = "fue"
) -> GradedCard:
    fields = {"correction": form, "spanish_gloss": gloss}
    answer = CardAnswer(id=id_, item="p-41-001", fields=fields)
    graded = grade_card(SETTINGS, learner, answer, NOW)
    store.learning.add_review(graded.review)
    return graded


def test_an_answer_is_graded_stored_and_scheduled(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        review = answer_card(store, "a-1").review
        progress = load_progress(store, SETTINGS, review)
        assert progress is not None
        assert (review.quality, progress.before.is_new, progress.after.interval_days) == (
            5,
            True,
            1,
        )
        assert store.learning.find_review("a-1", OWN_LEARNER) == review
        assert store.learning.find_review("a-1", "learner-other") is None
        assert store.learning.list_reviews([OWN_LEARNER], texts=True) == [review]
        assert review.cells["correctness"] == {"value": "1/1", "near_miss": None}


def test_an_answer_that_is_sent_twice_is_stored_once(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        for _ in range(2):
            answer_card(store, "a-1")
        assert len(store.learning.list_reviews([OWN_LEARNER])) == 1


def test_an_answer_that_is_taken_back_counts_no_more_and_stays_on_record(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        answer_card(store, "a-1")
        assert not store.learning.undo_review("a-1", "learner-other")
        assert store.learning.undo_review("a-1", OWN_LEARNER)
        assert not store.learning.undo_review("a-1", OWN_LEARNER)
        assert load_deck_state(store, SETTINGS, OWN_LEARNER, NOW).cards == {}
        assert store.learning.find_review("a-1", OWN_LEARNER) is None
        assert not store.learning.add_review(answer_card(store, "a-1").review)


def test_an_answer_from_the_future_is_of_now(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        late = datetime(2030, 1, 1, tzinfo=UTC)
        answer = CardAnswer(id="a", item="p-41-001", fields={}, at=late)
        assert grade_card(SETTINGS, OWN_LEARNER, answer, NOW).review.at == NOW


def test_an_id_that_is_no_id_is_refused(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        with pytest.raises(UsageError, match="is no id"):
            answer_card(store, "a b")


def test_learners_enter_with_their_latest_code(place: str) -> None:
    with open_store(place, create=True) as store:
        ana, code = store.learning.add_learner("Ana", "7b")
        assert store.learning.find_learner_by_code("Ana", f" {code.upper()} ", "7b") == ana
        assert store.learning.find_learner_by_code("Ana", code, "7c") is None
        assert store.learning.find_learner_by_code("Eva", code, "7b") is None
        renewed = store.learning.renew_code(ana.id)
        assert store.learning.find_learner_by_code("Ana", code, "7b") is None
        assert store.learning.find_learner_by_code("Ana", renewed, "7b") == ana
        with pytest.raises(UsageError, match="has a learner `Ana` already"):
            store.learning.add_learner("Ana", "7b")


def enter_as(store: Store, learner: str) -> str:
    """Return the token of a session of a learner."""
    grant = Grant(role=Role.LEARNER, scope="7b", person=learner)
    return store.web_access.start_session(grant)


def test_a_new_code_ends_the_sessions_that_the_one_before_began(place: str) -> None:
    with open_store(place, create=True) as store:
        ana, eva = (store.learning.add_learner(name, "7b")[0] for name in ("Ana", "Eva"))
        old, other = enter_as(store, ana.id), enter_as(store, eva.id)
        store.learning.renew_code(ana.id)
        assert store.web_access.find_session(old) is None
        assert store.web_access.find_session(other) is not None
        assert store.web_access.find_session(enter_as(store, ana.id)) is not None


def test_a_forgotten_learner_has_no_session_and_leaves_no_text_any_more(place: str) -> None:
    with open_store(place, create=True) as store:
        ana, _ = store.learning.add_learner("Ana", "7b")
        fill_paper(store, "p1", ana.id, {})
        token = enter_as(store, ana.id)
        store.learning.forget_learner(ana.id)
        assert store.web_access.find_session(token) is None
        # What was on its way when the learner was forgotten comes too late.
        with pytest.raises(UsageError, match="was forgotten"):
            answer_card(store, "r1", ana.id)
        with pytest.raises(UsageError, match="was forgotten"):
            fill_paper(store, "p2", ana.id, {})
        late = PaperAnswer(id="late", paper="p1", item="x-39-02", at=NOW, fields={"a": TYPED})
        with pytest.raises(UsageError, match="was forgotten"):
            store.learning.add_paper_answers([late])
        assert store.learning.list_reviews([ana.id]) == []


def fill_paper(store: Store, id_: str, learner: str, typed: dict[str, dict[str, str]]) -> None:
    open_paper(
        store, id_=id_, learner=learner, rubric=RUBRIC, exam=EXAM, mode=PaperMode.EXAM, now=NOW
    )
    store.learning.add_paper_answers(
        PaperAnswer(id=f"{id_}-{item}", paper=id_, item=item, at=NOW, fields=fields)
        for item, fields in typed.items()
    )


def test_a_paper_becomes_one_run_with_blanks_as_empty_answers(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        fill_paper(store, "p1", OWN_LEARNER, {"x-39-01": {"correction": "nothing of that"}})
    run_id = hand_in_paper(place, "p1")
    assert hand_in_paper(place, "p1") == run_id
    with open_store(place, create=False) as store:
        (stored,) = store.list_runs()
        assert (stored.id, stored.subject) == (run_id, OWN_LEARNER)
        assert stored.source is not None
        assert stored.source.name == "portal"
        assert stored.counts is not None
        assert (stored.counts["n"], stored.counts["score"]) == (len(EXAM.items), 0.15)
        late = PaperAnswer(id="late", paper="p1", item="x-39-02", at=NOW)
        assert store.learning.add_paper_answers([late]) == 0


def test_a_paper_that_is_handed_in_twice_at_once_becomes_one_run(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        fill_paper(store, "p1", OWN_LEARNER, {"x-39-01": {"correction": "one"}})
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: hand_in_paper(place, "p1"), range(4)))
    assert len(set(runs)) == 1
    with open_store(place, create=False) as store:
        assert [run.id for run in store.list_runs()] == runs[:1]


def test_papers_are_handed_in_while_other_connections_of_the_process_are_open(
    tmp_path: Path,
) -> None:
    place = tmp_path / "store.db"
    with StorePool(place) as pool:
        pool.submit_write(lambda store: store.learning.ensure_own_learner()).result()
        for number in range(4):
            name = f"p{number}"
            pool.submit_write(partial(fill_paper, id_=name, learner=OWN_LEARNER, typed={})).result()
            hand_in_paper(place, name)
            reading = [pool.submit_read(lambda store: store.list_runs()) for _ in range(8)]
            assert {len(one.result()) for one in reading} == {number + 1}


def test_the_latest_answer_to_an_item_counts(place: str) -> None:
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        fill_paper(store, "p1", OWN_LEARNER, {"x-39-01": {"correction": "one"}})
        newer = PaperAnswer(
            id="n", paper="p1", item="x-39-01", at=NOW, fields={"correction": "two"}, flagged=True
        )
        assert [store.learning.add_paper_answers([newer]) for _ in range(2)] == [1, 0]
        answer = store.learning.list_paper_answers("p1")["x-39-01"]
        assert (answer.fields, answer.flagged) == ({"correction": "two"}, True)


def test_the_papers_json_equals_score_of_its_export_byte_for_byte(tmp_path: Path) -> None:
    typed = {
        "x-39-01": {
            "correction": "\u2603 «x»",
            "spanish_gloss": "comio\u0301",
            "explanation": "a\nb",
        },
        "x-39-02": {"correction": '{"a": 1}'},
    }
    with open_store(tmp_path / "s.db", create=True) as store:
        store.learning.ensure_own_learner()
        fill_paper(store, "p1", OWN_LEARNER, typed)
        paper = store.learning.find_paper("p1")
        assert paper is not None
        document = score_paper(store, paper)
        (tmp_path / "answers.jsonl").write_text(format_answers(export_paper(store, paper)))
    command = ["score", "-r", "tutor-capstone", "-e", "capstone-extra", "--no-store"]
    done = here(*command, "-a", str(tmp_path / "answers.jsonl"), "--format", "json")
    assert done.out.encode() == document


def holds(path: Path, text: str) -> bool:
    """Whether a text is in any byte of a file, or in what its compressed parts hold."""
    content = path.read_bytes()
    if text.encode() in content:
        return True
    if path.suffix != ".db":
        return False
    with sqlite3.connect(path) as connection:
        blobs = [body for (body,) in connection.execute("SELECT body FROM blobs")]
    connection.close()
    unpacked = [zlib.decompress(blob) if blob[:1] == b"\x78" else blob for blob in blobs]
    return any(text.encode() in body for body in unpacked)


def test_after_forget_no_byte_of_the_store_holds_the_name_or_a_typed_text(tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    with open_store(place, create=True) as store:
        ana, _ = store.learning.add_learner(f"Ana {TYPED}", "7b")
        eva, _ = store.learning.add_learner("Eva", "7b")
        for learner in (ana, eva):
            answer_card(store, f"r-{learner.id}", learner.id, gloss=f"fue {TYPED}")
        for learner in (ana, eva):
            text = {"correction": f"He ate {TYPED}", "spanish_gloss": TYPED}
            fill_paper(store, f"p-{learner.id}", learner.id, {"x-39-01": text})
    runs = [hand_in_paper(place, f"p-{learner.id}") for learner in (ana, eva)]
    assert holds(place, TYPED)
    with open_store(place, create=False) as store:
        store.learning.forget_learner(eva.id)
        assert holds(place, TYPED), "Ana is not forgotten yet"
        before = store.find_run(runs[0]).counts
        store.learning.forget_learner(ana.id)
        for path in sorted(tmp_path.iterdir()):
            assert not holds(path, TYPED), path
        (review,) = store.learning.list_reviews([ana.id], texts=True)
        assert (review.quality, review.output, review.facts["padded"]) == (3, None, True)
        assert [one.name for one in store.learning.list_learners("7b")] == [None, None]
        assert store.find_run(runs[0]).counts == before
        (cells,) = store.read_cells(runs[0])
        assert cells["breakdown"].struct.field("schema").to_list() == [1.0] * len(EXAM.items)


def test_nobody_cannot_be_forgotten(place: str) -> None:
    with (
        open_store(place, create=True) as store,
        pytest.raises(UsageError, match="there is no learner"),
    ):
        store.learning.forget_learner("nobody")


def test_a_forgotten_paper_can_still_be_shown_and_judged(tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    with open_store(place, create=True) as store:
        ana, _ = store.learning.add_learner("Ana", "7b")
        fill_paper(store, "p1", ana.id, {"x-39-01": {"correction": TYPED}})
    run_id = hand_in_paper(place, "p1")
    with open_store(place, create=False) as store:
        store.learning.forget_learner(ana.id)
        with pytest.raises(UsageError, match=f"its run `{run_id}` keeps the marks"):
            export_paper(store, load_paper(store, "p1"))
    shown = here("show", run_id, "--store", str(place))
    assert shown.code == 0
    assert here("gate", run_id, "--store", str(place)).code == 1
    page = str(tmp_path / "r.html")
    assert here("report", run_id, "--store", str(place), "-o", page).code == 0


def test_postgresql_forgets_too(postgres_url: str) -> None:
    with open_store(postgres_url, create=True) as store:
        ana, _ = store.learning.add_learner("Ana", "7b")
        answer_card(store, "r1", ana.id)
        store.learning.forget_learner(ana.id)
        (review,) = store.learning.list_reviews([ana.id], texts=True)
        assert (review.quality, review.output) == (5, None)
        assert store.learning.list_learners()[0].name is None
