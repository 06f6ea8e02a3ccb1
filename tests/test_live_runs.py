"""A live run beside others: in its store, in the list, and before gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commands import here

if TYPE_CHECKING:
    from sittings import Sitting


def test_a_run_without_any_answer_is_still_that_of_its_subject(sitting: Sitting) -> None:
    sitting.asks("down 1").run("--retries", "0")
    (run,) = here("runs", "--store", sitting.store, "--format", "json").json["runs"]
    assert run["subject"] == "openai:m"
