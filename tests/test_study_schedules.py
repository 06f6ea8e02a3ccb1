"""Eight raters at once, in any order: each query gets exactly its raters, and no mark is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from markscheme.keep import open_store
from studies import Clock, check_leases, check_study, run_schedule, run_threads

if TYPE_CHECKING:
    from pathlib import Path


def test_500_random_schedules_give_each_query_exactly_its_raters(memory_folder: Path) -> None:
    clock = Clock()
    with open_store(memory_folder / "store.db", create=True, now=clock) as store:
        for seed in range(500):
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
