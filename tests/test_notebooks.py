"""In a notebook, whose loop runs already, a run asks, fails and ends as elsewhere."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from markscheme import run
from markscheme.ask.event_loop import run_coroutine
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_notebook_whose_loop_runs_already_can_ask_too(tmp_path: Path) -> None:
    async def a_cell() -> int:
        return run("tutor-capstone", "capstone", "tutor", store=tmp_path / "store.db").summary.n

    assert asyncio.run(a_cell()) == 60


def test_what_goes_wrong_in_the_thread_of_a_notebook_is_told_there() -> None:
    async def wrong() -> None:
        raise UsageError("no such thing")

    async def a_cell() -> None:
        run_coroutine(wrong())

    with pytest.raises(UsageError, match="no such thing"):
        asyncio.run(a_cell())


def test_an_interrupt_in_a_notebook_lets_the_run_tidy_up() -> None:
    tidied = threading.Event()

    async def endless() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            tidied.set()

    async def a_cell() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it
        run_coroutine(endless())

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(a_cell())
    assert tidied.is_set()
