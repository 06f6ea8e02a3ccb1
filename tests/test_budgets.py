"""Budgets of money and time: a run stops when they are spent, and says what was not asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from raw_server import always, completion, event, http

if TYPE_CHECKING:
    from sittings import Sitting
    from wild_servers import Ask


def test_a_run_stops_when_its_budget_is_spent_and_goes_on_later(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    words = ("--price", "100000:100000", "--concurrency", "1")  # 1.5 for an answer
    done = sitting.run(*words, "--max-cost", "4.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["answered"] == 3
    assert done.json["live"]["cost"] == "4.5"
    assert "--max-cost of 4.5 is spent" in done.err
    assert sitting.run(*words, "--resume").code == 0
    assert set(sitting.server.counts.values()) == {1}


def test_a_budget_is_that_of_the_whole_run_however_often_it_is_resumed(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    words = ("--price", "100000:100000", "--concurrency", "1")  # 1.5 for an answer
    sitting.run(*words, "--max-cost", "4.5")
    again = sitting.run(*words, "--max-cost", "4.5", "--resume", "--format", "json")
    assert again.code == 4
    assert again.json["live"]["answered"] == sum(sitting.server.counts.values()) == 3
    assert "--max-cost of 4.5 is spent; allow more to go on" in again.err
    sitting.run(*words, "--max-cost", "6", "--resume")
    assert sum(sitting.server.counts.values()) == 4


def test_attempts_that_were_not_asked_leave_a_run_that_is_not_whole(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    words = ("--price", "100000:100000", "--concurrency", "1", "--attempts", "2")
    done = sitting.run(*words, "--max-cost", "4.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["not_asked"] == 1
    assert done.json["summary"]["complete"] is False
    assert "attempt 2: not asked" in done.json["errors"][0]["reason"]


def test_a_budget_that_cannot_be_kept_stops_the_run(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    done = sitting.run("--max-cost", "1", "--concurrency", "1")
    assert done.code == 4
    assert "does not tell its cost" in done.err
    assert sum(sitting.server.counts.values()) == 1


def test_a_budget_that_is_spent_lets_nobody_wait_for_a_turn(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(50)))
    words = ("--price", "1000000:0", "--max-cost", "1", "--requests-per-minute", "60")
    live = sitting.json(*words, "--concurrency", "50")["live"]
    assert (live["answered"], live["not_asked"]) == (1, 49)
    assert sum(sitting.server.counts.values()) == 1


def test_an_answer_that_cannot_be_kept_is_paid_for_all_the_same(sitting: Sitting) -> None:
    sitting.asks("nul 1")
    words = ("--price", "1000000:0", "--max-cost", "1", "--retries", "3")
    live = sitting.json(*words)["live"]
    assert "--max-cost of 1 is spent" in live["stopped"]
    assert sum(sitting.server.counts.values()) == 1


def test_a_run_that_asked_everything_was_not_stopped(sitting: Sitting) -> None:
    budget = ("--price", "100000:100000", "--max-cost", "4.5")  # 1.5 for an answer
    done = sitting.asks("fine 1", "fine 2", "fine 3").run(*budget, "--format", "json")
    assert (done.code, done.json["live"]["stopped"]) == (0, None)
    live = sitting.asks("fine 1").json("--max-cost", "1", subject="cmd:echo yes")["live"]
    assert (live["answered"], live["stopped"]) == (1, None)
    live = sitting.asks(*(f"reject {n}" for n in range(5))).json()["live"]
    assert (live["faults"], live["stopped"]) == ({"rejected": 5}, None)


def test_a_stop_is_told_of_those_alone_who_were_not_asked_everything(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    words = (
        "--price",
        "100000:100000",
        "--max-cost",
        "4.5",
        "--concurrency",
        "1",
        "-s",
        "openai:b",
    )
    lacking, whole = (run["live"] for run in sitting.json(*words)["runs"])
    assert (lacking["not_asked"], whole["not_asked"]) == (1, 0)
    assert "--max-cost of 4.5 is spent" in lacking["stopped"]
    assert whole["stopped"] is None


def test_errors_that_a_stop_kept_from_being_asked_again_are_told_with_the_stop(
    sitting: Sitting,
) -> None:
    words = ("--price", "1000000:0")
    sitting.asks("filtered 0", "fine 1").run(*words)
    again = sitting.json(*words, "--resume", "--max-cost", "1")["live"]
    assert (again["not_asked"], again["faults"]) == (0, {"rejected": 1})
    assert "--max-cost of 1 is spent" in again["stopped"]


def test_a_run_stops_when_its_time_is_over(sitting: Sitting) -> None:
    sitting.asks("fine 1", "hang 2")
    done = sitting.run("--max-time", "0.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["stopped"] == "--max-time of 0.5 s is over"
    assert done.json["live"]["answered"] == 1


def test_a_run_whose_time_is_over_says_why_what_was_asked_has_no_answer(sitting: Sitting) -> None:
    sitting.asks("down 1", "hang 2", "fine 3")
    live = sitting.json("--max-time", "0.5", "--retries", "99")["live"]
    down, hung = live["unanswered"]
    assert (live["answered"], live["not_asked"]) == (1, 0)
    assert live["faults"] == {"server-error": 1, "timeout": 1}
    assert down["error"]["why"] == "the server says 503: out of order"
    assert hung["error"] == {"kind": "timeout", "why": "no answer before --max-time was over"}
    assert (down["tries"], hung["tries"]) == (sitting.server.counts["down 1"], 1)


def test_a_run_whose_budget_is_spent_says_why_what_was_asked_has_no_answer(
    sitting: Sitting,
) -> None:
    sitting.server.delay = 0.2
    sitting.asks("down 1", "fine 2", *(f"fine {n}" for n in range(3, 9)))
    words = ("--price", "1000000:0", "--concurrency", "8", "--attempts", "2", "--retries", "99")
    document = sitting.json(*words, "--max-cost", "1")
    live, asked = document["live"], sum(sitting.server.counts.values())
    down = [one for one in live["unanswered"] if one["error"]]
    assert {one["error"]["why"] for one in down} == {"the server says 503: out of order"}
    assert live["tries"] == asked
    assert live["answered"] + len(down) + live["not_asked"] == 16
    assert sum(live["faults"].values()) == len(down)
    assert "no answer, server-error: the server says 503" in document["errors"][0]["reason"]
    again = sitting.json(*words[:-1], "0", "--resume")["live"]
    assert (again["answered"], again["not_asked"]) == (14, 0)
    assert sum(sitting.server.counts.values()) > asked + live["not_asked"]


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("usage", "price"),
    [({"cost": 0.5}, []), ({"prompt_tokens": 5, "completion_tokens": 0}, ["--price", "100000:0"])],
    ids=["told", "by its tokens"],
)
def test_what_was_charged_for_no_answer_counts_for_the_budget_but_is_no_cost_of_answers(
    ask: Ask, usage: dict[str, Any], price: list[str], *, streamed: bool
) -> None:
    told = f"data: {json.dumps({'choices': [], 'usage': usage})}"
    events = "\n\n".join([event("ye"), event("s", error={"message": "died"}), told, ""])
    whole = http(events if streamed else {**completion({"x": 1}), "usage": usage})
    words = [*price, *(["--stream"] if streamed else []), "--max-cost", "1", "--retries", "9"]
    live = ask(always(whole), *words).json["live"]
    assert "--max-cost of 1 is spent" in live["stopped"]
    assert (live["tries"], live["cost"]) == (2, None)
