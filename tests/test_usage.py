"""What an answer took: its tokens and its cost, as far as they are told and can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sittings import Sitting


def test_an_answer_with_tokens_and_cost_beyond_belief_is_still_an_answer(sitting: Sitting) -> None:
    (row,) = sitting.asks("boast 1").json()["items"]
    assert (row["got"], row["tokens_in"], row["tokens_out"], row["cost"]) == ("yes", None, 5, None)
