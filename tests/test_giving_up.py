"""A subject that answers nobody is given up soon, and one that answers some is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commands import here
from raw_server import YES, always

if TYPE_CHECKING:
    from sittings import Sitting
    from wild_servers import Ask


def test_a_subject_that_rejects_everybody_is_not_asked_a_thousand_times(sitting: Sitting) -> None:
    sitting.asks(*(f"reject {n}" for n in range(100)))
    done = sitting.run("--concurrency", "1", "--format", "json")
    assert done.code == 4
    assert sum(sitting.server.counts.values()) == 5
    assert done.json["live"]["not_asked"] == 95
    assert "rejected the first 5 questions" in done.json["live"]["stopped"]


def test_a_subject_that_rejects_everybody_does_not_end_the_run_of_another(
    sitting: Sitting,
) -> None:
    sitting.write("my_good.py", "def answer(prompt):\n    return 'yes'\n")
    sitting.asks(*(f"reject {n}" for n in range(60)))
    words = sitting.words("-s", "cmd:echo yes", "--format", "json")
    bad, good = (run["live"] for run in here(*words).json["runs"])
    assert "rejected the first 5 questions" in bad["stopped"]
    assert (good["answered"], good["stopped"]) == (60, None)


def test_a_subject_that_rejects_some_sooner_than_it_answers_others_is_asked_on(
    sitting: Sitting,
) -> None:
    sitting.server.delay = 0.3
    sitting.asks(*(f"{'filtered' if n % 2 else 'fine'} {n}" for n in range(40)))
    live = sitting.json("--concurrency", "40")["live"]
    assert (live["answered"], live["faults"], live["stopped"]) == (20, {"rejected": 20}, None)


def test_what_was_answered_before_is_hope_enough_to_be_asked_on(sitting: Sitting) -> None:
    sitting.asks(*(f"filtered {n}" for n in range(8)), "fine 8", "late 9")
    first = sitting.json("--concurrency", "10", "--retries", "0")["live"]
    assert (first["answered"], first["faults"]) == (1, {"rejected": 8, "server-error": 1})
    again = sitting.json("--concurrency", "1", "--resume")["live"]
    assert (again["answered"], again["faults"], again["stopped"]) == (2, {"rejected": 8}, None)


def test_errors_that_are_not_asked_again_are_told_again(sitting: Sitting) -> None:
    sitting.asks("filtered 0", "fine 1")
    sitting.run("--price", "1000000:0")
    again = sitting.json("--resume", "--price", "1000000:0", "--max-cost", "1")["live"]
    assert (again["faults"], again["not_asked"]) == ({"rejected": 1}, 0)
    assert sitting.server.counts["filtered 0"] == 1


def test_a_server_that_is_not_there_is_not_asked_a_thousand_times(ask: Ask) -> None:
    nobody = "http://127.0.0.1:1/v1"
    live = ask(always(YES), "--base-url", nobody, items=100).json["live"]
    assert live["faults"] == {"unreachable": 5}
    assert live["not_asked"] == 95
    assert "openai:m was unreachable for the first 5 questions: cannot" in live["stopped"]
