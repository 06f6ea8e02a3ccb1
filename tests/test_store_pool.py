"""The store for many callers at once: changes are grouped, kept apart, and on disk when told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from markscheme.keep import Grant, Role, Store, StorePool, open_store
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.keep import EnteredLink

OWNER = Grant(role=Role.OWNER)


def test_a_change_is_on_disk_for_other_processes_when_its_future_is_done(place: str) -> None:
    with StorePool(place) as pool:
        make = lambda store: store.web_access.create_link(OWNER, landing="/runs")  # noqa: E731
        token = pool.submit_write(make).result()
        with open_store(place, create=False) as other:
            entered = other.web_access.enter_link(token)
    assert entered is not None
    assert (entered.grant, entered.landing) == (OWNER, "/runs")


def test_a_task_that_fails_undoes_its_own_changes_and_no_others(place: str) -> None:
    tokens: list[str] = []

    def fail(store: Store) -> None:
        tokens.append(store.web_access.start_session(OWNER))
        raise UsageError("not today")

    with StorePool(place) as pool:
        good = [
            pool.submit_write(lambda store: store.web_access.start_session(OWNER))
            for _ in range(20)
        ]
        bad = [pool.submit_write(fail) for _ in range(20)]
        good += [
            pool.submit_write(lambda store: store.web_access.start_session(OWNER))
            for _ in range(20)
        ]
        for future in bad:
            with pytest.raises(UsageError, match="not today"):
                future.result()
        kept = [future.result() for future in good]

        def count(store: Store, among: list[str]) -> int:
            return sum(store.web_access.find_session(token) is not None for token in among)

        assert pool.submit_read(lambda store: count(store, kept)).result() == 40
        assert pool.submit_read(lambda store: count(store, tokens)).result() == 0


def test_a_link_that_many_use_at_once_lets_one_in(place: str) -> None:
    with StorePool(place) as pool:
        token = pool.submit_write(lambda s: s.web_access.create_link(OWNER, landing="/")).result()

        def enter(_: int) -> EnteredLink | None:
            return pool.submit_write(lambda store: store.web_access.enter_link(token)).result()

        with ThreadPoolExecutor(16) as visitors:
            entered = list(visitors.map(enter, range(32)))
    assert sum(one is not None for one in entered) == 1


def test_an_old_link_and_an_ended_session_let_nobody_in(place: str) -> None:
    with open_store(place, create=True) as store:
        access = store.web_access
        old = access.create_link(OWNER, landing="/", lifetime=timedelta(seconds=-1))
        assert access.enter_link(old) is None
        assert access.enter_link("unknown") is None
        first = access.start_session(OWNER)
        second = access.start_session(Grant(role=Role.RATER, scope="s", person="p"), former=first)
        assert access.find_session(first) is None
        held = access.find_session(second)
        assert held is not None
        assert held.grant == Grant(role=Role.RATER, scope="s", person="p")
        access.end_session(second)
        assert access.find_session(second) is None


def test_the_store_holds_no_token(tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    with open_store(place, create=True) as store:
        link = store.web_access.create_link(OWNER, landing="/")
        entered = store.web_access.enter_link(link)
    assert entered is not None
    body = place.read_bytes()
    assert link.encode() not in body
    assert entered.token.encode() not in body
