"""Questions: their order and turns, what makes two the same, and their replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import load_exam, load_rubric
from markscheme.ask.questions import (
    compute_question_key,
    load_template,
    order_subjects,
    shuffle_attempts,
)
from markscheme.ask.replies import Fault, Reply

if TYPE_CHECKING:
    from decimal import Decimal

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


@given(st.integers(), st.integers(1, 3))
def test_the_order_holds_every_item_and_attempt_once(seed: int, attempts: int) -> None:
    items = load_exam("capstone-extra").items
    order = [
        (item.id, attempt)
        for item, attempt in shuffle_attempts(items, attempts=attempts, seed=seed)
    ]
    assert len(set(order)) == len(order) == len(items) * attempts


def test_each_subject_speaks_first_as_often_as_the_others() -> None:
    firsts = [order_subjects(["a", "b", "c"], place)[0] for place in range(9)]
    assert {firsts.count(name) for name in "abc"} == {3}


def test_what_an_item_expects_is_not_in_the_key_but_all_that_is_said_is() -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", rubric=rubric)
    template = load_template(rubric)
    question = template.build_question(exam.items[0])
    key = compute_question_key("a", {"temperature": 0}, question)
    assert key == compute_question_key(
        "a", {"temperature": 0}, template.build_question(exam.items[0])
    )
    others = [
        compute_question_key("b", {"temperature": 0}, question),
        compute_question_key("a", {"temperature": 1}, question),
        compute_question_key(
            "a", {"temperature": 0}, template.build_question(exam.items[0], attempt=2)
        ),
        compute_question_key("a", {"temperature": 0}, template.build_question(exam.items[1])),
        compute_question_key(
            "a",
            {"temperature": 0},
            load_template(rubric, structured=False).build_question(exam.items[0]),
        ),
    ]
    assert len({key, *others}) == 6


@given(st.text(), st.integers(0, 10**9), st.decimals(0, 100, places=6))
def test_a_reply_is_the_same_after_it_was_kept(text: str, latency: int, cost: Decimal) -> None:
    reply = Reply(text=text, latency_us=latency, cost=cost, finish_reason="stop")
    assert Reply.from_dict(json.loads(json.dumps(reply.to_dict()))) == reply


def test_a_reply_has_a_text_or_a_fault() -> None:
    failed = Reply.from_fault(Fault.BUSY, "later", wait=3)
    assert Reply.from_dict(failed.to_dict()) == Reply.from_fault(Fault.BUSY, "later")
    with pytest.raises(ValueError, match="a text or a fault"):
        Reply()
