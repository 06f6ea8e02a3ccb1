"""Questions: their order and turns, what makes two the same, and their replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sittings import Sitting


def test_two_subjects_are_asked_in_turns_and_the_first_speaker_alternates(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2", "fine 3", "fine 4")
    done = sitting.run("--subject", "openai:n", "--concurrency", "1", "--format", "json")
    asked = [model for model, _ in sitting.server.order]
    assert asked == ["m", "n", "n", "m", "m", "n", "n", "m"]
    assert [model for model, _ in sitting.server.order[::2]].count("m") == 2
    one, other = done.json["runs"]
    assert {one["live"]["subject"], other["live"]["subject"]} == {"openai:m", "openai:n"}
    orders = [row["asked"]["order"] for run in (one, other) for row in run["items"]]
    assert sorted(orders) == list(range(8))


def test_the_order_comes_from_the_seed(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(8)))
    for seed in ("1", "1", "2"):
        sitting.run("--concurrency", "1", "--seed", seed)
    orders = [sitting.server.order[start : start + 8] for start in (0, 8, 16)]
    assert orders[0] == orders[1] != orders[2]


def test_the_order_is_that_of_the_exam_however_its_items_are_listed(sitting: Sitting) -> None:
    lines = sitting.asks(*(f"fine {n}" for n in range(9))).exam.read_text("utf-8").splitlines()
    first = {row["item"]: row["asked"]["order"] for row in sitting.json()["items"]}
    sitting.write("exam.yaml", "\n".join([*lines[:2], *lines[:1:-1]]))
    assert {row["item"]: row["asked"]["order"] for row in sitting.json()["items"]} == first


def test_every_attempt_is_asked(sitting: Sitting) -> None:
    document = sitting.asks("fine 1", "fine 2").json("--attempts", "3")
    assert sitting.server.counts == {"fine 1": 3, "fine 2": 3}
    assert sorted(row["attempt"] for row in document["items"]) == [1, 1, 2, 2, 3, 3]
