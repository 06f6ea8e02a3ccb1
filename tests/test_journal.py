"""The journal of a live run keeps up with its subject: who asks waits for who writes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from markscheme import load_exam, load_rubric
from markscheme.ask.pace import Limits
from markscheme.ask.replies import Reply
from markscheme.ask.subjects.base import BaseSubject
from markscheme.ask.templates import template_of
from markscheme.errors import StoreUnavailableError
from markscheme.history.asking import UNWRITTEN, Examination, Plan
from markscheme.keep import Sitting, Store, open_store
from markscheme.keep.sittings import Sittings

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.ask.questions import Question

ITEMS = 500
AT_ONCE = 20
MOST = (UNWRITTEN + 1) * AT_ONCE  # and what is under way


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


def examination(folder: Path, subject: Quick, store: Store) -> Examination:
    items = "".join(f"  - {{id: i{n}, prompt: 'p {n}'}}\n" for n in range(ITEMS))
    (folder / "exam.yaml").write_text(f"exam: many\nitems:\n{items}", encoding="utf-8")
    (folder / "rubric.yaml").write_text(
        "rubric: r\naxes:\n  - {name: short, kind: max_words, weight: 1, limit: 3}\n",
        encoding="utf-8",
    )
    rubric = load_rubric(folder / "rubric.yaml")
    plan = Plan(
        rubric=rubric,
        exam=load_exam(folder / "exam.yaml", rubric=rubric),
        subjects=(subject,),
        template=template_of(rubric),
        limits=Limits(concurrency=AT_ONCE),
    )
    return Examination(plan, store)


def test_a_subject_is_asked_no_faster_than_its_replies_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Quick()
    with open_store(tmp_path / "store.db", create=True) as store:
        note, kept, ahead = Sittings.note, [0], []

        def slowly(self: Sittings, notes: Any) -> None:
            subject.rest()
            ahead.append(subject.asked - kept[0])
            note(self, notes)
            kept[0] += len(notes)

        monkeypatch.setattr(Sittings, "note", slowly)
        examined = examination(tmp_path, subject, store).run()
        (sitting,) = examined.sittings.values()
        assert len(store.sittings.noted(sitting or "")) == len(examined.asked) == ITEMS
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

        monkeypatch.setattr(Sittings, "note", full)
        with pytest.raises(StoreUnavailableError, match="the disk is full"):
            examination(tmp_path, subject, store).run()
    assert subject.asked <= MOST


def test_a_store_that_fails_at_the_last_reply_is_not_tried_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, tried = Quick(), []
    with open_store(tmp_path / "store.db", create=True) as store:

        def locked(_: Sittings, notes: Any) -> None:
            if notes:
                tried.append(len(notes))
                raise StoreUnavailableError("the store is locked")

        monkeypatch.setattr(Sittings, "note", locked)
        with pytest.raises(StoreUnavailableError, match="the store is locked"):
            examination(tmp_path, subject, store).run()
    assert len(tried) == 1


def test_of_two_who_go_on_with_the_same_at_once_one_is_refused(place: str) -> None:
    sitting, together = Sitting(subject="s", exam="e", parameters={}), Barrier(2)

    def resumed(_: int) -> bool:
        with open_store(place, create=False) as store:
            together.wait()
            try:
                store.sittings.open(sitting, ["k"])
            except StoreUnavailableError as error:
                assert "another process asks the same just now" in str(error)  # noqa: PT017
                return False
            finally:
                together.wait()
            return True

    open_store(place, create=True).close()
    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(resumed, range(2))) == [False, True]
