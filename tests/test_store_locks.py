"""Who asks in a sitting has it alone: by whatever name, user or process the store is reached."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pytest

from markscheme.keep import JournalEntry, JournalSession, open_store
from markscheme.keep import database as databases
from markscheme.vocabulary import StoreUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

SITTING = JournalSession(subject="s", exam="e", parameters={})


def test_a_link_to_the_store_is_the_same_store(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("store.db")
    with open_store(tmp_path / "store.db", create=True) as store:
        taken = store.journal.open_session(SITTING)
        with (
            open_store(tmp_path / "link.db", create=False) as other,
            pytest.raises(StoreUnavailableError, match="another process asks the same"),
        ):
            other.journal.lock_session(taken.id)


def test_a_lock_that_another_user_left_can_be_taken(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", create=True) as store:
        id_ = store.journal.create_session(SITTING)
        left = tmp_path / f"store.db-{id_}"
        left.touch(mode=0o444)
        store.journal.lock_session(id_)
    assert not left.exists()


def test_a_system_that_has_no_locks_is_not_told_as_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fails)
    with (
        open_store(tmp_path / "store.db", create=True) as store,
        pytest.raises(StoreUnavailableError, match="No locks available"),
    ):
        store.journal.open_session(SITTING)


def test_a_store_by_a_relative_path_is_the_same_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    with open_store("store.db", create=True) as store:
        monkeypatch.chdir(tmp_path / "sub")  # as a subject may do
        taken = store.journal.open_session(SITTING)
        store.journal.append_entries([(taken.id, JournalEntry(key="k", body={}))])
    assert [path.name for path in tmp_path.iterdir()] in (["store.db", "sub"], ["sub", "store.db"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_was_forked_holds_nothing(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    over = fork.Event()
    with open_store(tmp_path / "store.db", create=True) as store:
        taken = store.journal.open_session(SITTING)
        child = fork.Process(target=over.wait)
        child.start()
    try:
        with open_store(tmp_path / "store.db", create=False) as other:
            assert other.journal._database.try_lock_id(taken.id)
    finally:
        over.set()
        child.join()


def test_a_store_that_a_thread_is_using_is_not_closed_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closed, it would crash the process; who ends us does not wait for long."""
    monkeypatch.setattr(databases, "_CLOSE_TIMEOUT", 0.01)
    store = open_store(tmp_path / "store.db", create=True)
    busy = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000000)"
        " SELECT max(i) FROM n"
    )
    asked = threading.Thread(target=store.journal._database.fetch_rows, args=[busy])
    asked.start()
    time.sleep(0.05)
    store.close()
    assert asked.is_alive()
    asked.join()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        store.journal._database.fetch_rows("SELECT 1")
