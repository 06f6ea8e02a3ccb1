"""Eight raters at once, in any order: each query gets exactly its raters, and no mark is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from markscheme.keep import open_store
from studies import Clock, check_leases, check_study, run_schedule, run_threads

KILL = Path(__file__).parent.parent / "scripts" / "kill_web.py"


SCHEDULES = {"sqlite": 500, "postgresql": 25}


@pytest.mark.parametrize("kind", SCHEDULES)
def test_random_schedules_give_each_query_exactly_its_raters(
    kind: str, memory_folder: Path, request: pytest.FixtureRequest
) -> None:
    is_file = kind == "sqlite"
    place = memory_folder / "store.db" if is_file else request.getfixturevalue("postgres_url")
    clock = Clock()
    with open_store(place, create=True, now=clock) as store:
        for seed in range(SCHEDULES[kind]):
            crowd = run_schedule(store, clock, seed)
            check_study(store, crowd)
            if seed % 25 == 0:
                check_leases(store, crowd)


@pytest.mark.parametrize("seed", range(8))
def test_eight_raters_who_act_at_the_same_moment_get_different_queries(
    place: str, seed: int
) -> None:
    clock = Clock()
    crowd = run_threads(place, clock, seed)
    with open_store(place, create=False, now=clock) as store:
        check_study(store, crowd)
        check_leases(store, crowd)


def test_a_killed_server_loses_no_mark_and_stores_none_twice(memory_folder: Path) -> None:
    words = ("--kills", "4", "--store", str(memory_folder / "store.db"))
    done = subprocess.run(
        [sys.executable, KILL, *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost: 0" in done.stdout
