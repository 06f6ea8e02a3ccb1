"""The journal of a live run keeps what is noted, and up with its subject: who asks waits for it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from markscheme import load_exam, load_rubric
from markscheme.ask.questions import load_template
from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.replies import Reply
from markscheme.ask.subjects import BaseSubject
from markscheme.keep import Journal, JournalEntry, JournalSession, Store, open_store
from markscheme.vocabulary import StoreUnavailableError
from markscheme.workflows.live_session import PENDING_PER_REQUEST, LiveSession
from markscheme.workflows.run_plan import RunPlan

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from markscheme.ask.questions import Question

ITEMS = 500
AT_ONCE = 20
MOST = (PENDING_PER_REQUEST + 1) * AT_ONCE  # and what is under way


class Quick(BaseSubject):
    """Answers at once, and counts."""

    def __init__(self) -> None:
        self.name = "quick"
        self.parameters = {}
        self.asked = 0

    async def ask(self, question: Question) -> Reply:
        """Say yes."""
        del question
        self.asked += 1
        return Reply(text="yes")

    def rest(self) -> None:
        """Wait until no more is asked."""
        before = -1
        while before < self.asked:
            before = self.asked
            time.sleep(0.1)


def examination(folder: Path, subject: Quick, store: Store) -> LiveSession:
    items = "".join(f"  - {{id: i{n}, prompt: 'p {n}'}}\n" for n in range(ITEMS))
    (folder / "exam.yaml").write_text(f"exam: many\nitems:\n{items}", encoding="utf-8")
    (folder / "rubric.yaml").write_text(
        "rubric: r\naxes:\n  - {name: short, kind: max_words, weight: 1, limit: 3}\n",
        encoding="utf-8",
    )
    rubric = load_rubric(folder / "rubric.yaml")
    plan = RunPlan(
        rubric=rubric,
        exam=load_exam(folder / "exam.yaml", rubric=rubric),
        subjects=(subject,),
        template=load_template(rubric),
        limits=RunLimits(concurrency=AT_ONCE),
    )
    return LiveSession(plan, store)


def test_a_subject_is_asked_no_faster_than_its_replies_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Quick()
    with open_store(tmp_path / "store.db", create=True) as store:
        note, kept, ahead = Journal.append_entries, [0], []

        def slowly(self: Journal, notes: Any) -> None:
            subject.rest()
            ahead.append(subject.asked - kept[0])
            note(self, notes)
            kept[0] += len(notes)

        monkeypatch.setattr(Journal, "append_entries", slowly)
        examined = examination(tmp_path, subject, store).run()
        (sitting,) = examined.sittings.values()
        assert len(store.journal.read_entries(sitting or "")) == len(examined.asked) == ITEMS
    assert subject.asked == ITEMS
    assert max(ahead) <= MOST


def test_a_store_that_fails_while_others_wait_for_it_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Quick()
    with open_store(tmp_path / "store.db", create=True) as store:

        def full(*_: Any) -> None:
            subject.rest()
            raise StoreUnavailableError("the disk is full")

        monkeypatch.setattr(Journal, "append_entries", full)
        with pytest.raises(StoreUnavailableError, match="the disk is full"):
            examination(tmp_path, subject, store).run()
    assert subject.asked <= MOST


def test_a_store_that_fails_at_the_last_reply_is_not_tried_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, tried = Quick(), []
    with open_store(tmp_path / "store.db", create=True) as store:

        def locked(_: Journal, notes: Any) -> None:
            if notes:
                tried.append(len(notes))
                raise StoreUnavailableError("the store is locked")

        monkeypatch.setattr(Journal, "append_entries", locked)
        with pytest.raises(StoreUnavailableError, match="the store is locked"):
            examination(tmp_path, subject, store).run()
    assert len(tried) == 1


def test_of_two_who_go_on_with_the_same_at_once_one_is_refused(place: str) -> None:
    sitting, together = JournalSession(subject="s", exam="e", parameters={}), Barrier(2)

    def resumed(_: int) -> bool:
        with open_store(place, create=False) as store:
            together.wait()
            try:
                store.journal.open_session(sitting, ["k"])
            except StoreUnavailableError as error:
                assert "another process asks the same just now" in str(error)  # noqa: PT017
                return False
            finally:
                together.wait()
            return True

    open_store(place, create=True).close()
    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(resumed, range(2))) == [False, True]


# --- which sitting is gone on with ---

THE_SAME = JournalSession(subject="s", exam="e", parameters={"t": 0})
RENAMED = JournalSession(subject="s", exam="f", parameters={"t": 0})
OTHERWISE = JournalSession(subject="s", exam="e", parameters={"t": 1})
ANSWER, ERROR = {"reply": {"text": "yes"}}, {"reply": {"fault": "timeout", "why": "late"}}


def gone_on_with(
    place: str, *sittings: Mapping[str, Any], by: JournalSession = THE_SAME
) -> int | None:
    """Note these replies, each mapping a sitting; return which one is taken for k1 and k2."""
    with open_store(place, create=True) as store:
        journal, ids = store.journal, []
        for replies in sittings:
            ids.append(journal.create_session(THE_SAME))
            journal.append_entries(
                [(ids[-1], JournalEntry(key=key, body=body)) for key, body in replies.items()]
            )
        taken = journal.open_session(by, {"k1", "k2"})
        return ids.index(taken.id) if taken.id in ids else None


def test_the_newest_sitting_with_an_answer_is_gone_on_with(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, {"k2": ANSWER}) == 1


def test_a_start_without_an_answer_does_not_replace_what_was_answered(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, {}, {"k1": ERROR, "k2": ERROR}, {}) == 0


def test_a_start_after_a_whole_sitting_is_a_new_beginning(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER, "k2": ANSWER}, {}) == 1


def test_a_start_with_errors_after_a_whole_sitting_is_a_new_beginning(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER, "k2": ANSWER}, {"k1": ERROR}) == 1


def test_nothing_from_before_a_whole_sitting_is_dug_up(place: str) -> None:
    whole = {"k1": ANSWER, "k2": ANSWER}
    assert gone_on_with(place, {"k1": ANSWER}, whole, {"k1": ERROR}) == 2


def test_a_whole_sitting_is_told_again_where_nothing_was_begun_since(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, {"k1": ANSWER, "k2": ANSWER}) == 1


def test_a_sitting_of_other_questions_is_passed_over(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, {"other": ANSWER}) == 0


def test_a_sitting_under_another_name_of_the_exam_is_gone_on_with(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, {}, by=RENAMED) == 0


def test_other_parameters_are_another_sitting(place: str) -> None:
    assert gone_on_with(place, {"k1": ANSWER}, by=OTHERWISE) is None


# --- what is kept ---


def test_the_journal_keeps_what_is_noted(place: str) -> None:
    sitting = JournalSession(subject="s", exam="e", parameters={"t": 0})
    odd = {"text": "a\0b\ud800c", "n": 1}
    with open_store(place, create=True) as store:
        first, second = (store.journal.create_session(sitting) for _ in range(2))
        store.journal.append_entries([(first, JournalEntry(key="k", body=odd))])
        store.journal.cache_replies(
            [JournalEntry(key="k", body=odd), JournalEntry(key="k", body={})]
        )
    with open_store(place, create=False) as store:
        assert [noted.body for noted in store.journal.read_entries(first)] == [odd]
        assert store.journal.read_entries(second) == []
        assert store.journal.read_cached_replies(["k", "no"]) == {"k": odd}


def test_the_journal_keeps_the_order_of_many_that_came_together(place: str) -> None:
    sitting = JournalSession(subject="s", exam="e", parameters={})
    with open_store(place, create=True) as store:
        id_ = store.journal.create_session(sitting)
        notes = [JournalEntry(key=f"k{n}", body={"n": n}) for n in range(1_000)]
        store.journal.append_entries([(id_, noted) for noted in notes])
        store.journal.append_entries([])
        assert store.journal.read_entries(id_) == notes
