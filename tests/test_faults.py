"""Whatever a server does, every question ends with an answer or with its error."""

from __future__ import annotations

from sittings import Sitting, faults


def test_every_item_ends_answered_or_with_its_error_and_the_totals_add_up(sitting: Sitting) -> None:
    bad = ["busy", "crowded", "shaky", "down", "hang", "reset", "half", "latin", "huge", "refuse"]
    more = ["cut", "reject", "empty", "moved", "rubbish", "chunks", "closing", "fine"]
    sitting.asks(*(f"{word} {n}" for n, word in enumerate([*bad, *more])))
    done = sitting.run("--timeout", "0.5", "--retries", "1", "--format", "json")
    document = done.json
    live, summary = document["live"], document["summary"]
    assert done.code == 4
    assert live["questions"] == 18
    assert live["answered"] + sum(live["faults"].values()) == 18
    assert live["not_asked"] == 0
    assert live["faults"] == {
        "broken-off": 1,
        "garbled": 4,
        "rejected": 2,
        "server-error": 1,
        "timeout": 1,
    }
    assert summary["n"] == live["answered"] == 9
    assert summary["errors"] == 9
    assert len(summary["missing"]) == 9
    assert summary["complete"] is False
    asked = {row["item"]: row["asked"] for row in document["items"] if row["asked"]}
    reasons = {item: found["finish_reason"] for item, found in asked.items()}
    assert reasons["i9"] == "refusal"
    assert reasons["i10"] == "length"
    told = "\n".join(error["reason"] for error in document["errors"])
    assert "no answer within 0.5 s" in told
    assert "the server says 503: out of order" in told
    assert "the server says 404: no such model" in told


def test_what_is_transient_is_asked_again_and_what_is_not_is_not(sitting: Sitting) -> None:
    sitting.asks("busy 1", "crowded 2", "shaky 3", "down 4", "reject 5")
    sitting.run("--retries", "2")
    assert sitting.server.counts == {
        "busy 1": 2,
        "crowded 2": 2,
        "shaky 3": 2,
        "down 4": 3,
        "reject 5": 1,
    }


def test_an_answer_that_cannot_be_kept_is_no_answer_and_is_asked_again(sitting: Sitting) -> None:
    document = sitting.asks("nul 1").json("--retries", "0")
    assert faults(document) == {"garbled": 1}
    assert sitting.json("--resume")["items"][0]["got"] == "yes"


def test_what_cannot_be_kept_is_in_no_latency(sitting: Sitting) -> None:
    document = sitting.asks("fine 1", "nul 2").json("--retries", "0")
    assert document["live"]["faults"] == {"garbled": 1}
    assert document["live"]["latency_ms"]["n"] == document["live"]["answered"] == 1


def test_a_question_without_an_answer_says_how_it_ended(sitting: Sitting) -> None:
    (row,) = sitting.asks("reject 1").json()["items"]
    assert row["status"] == "missing"
    assert row["asked"]["error"] == {
        "kind": "rejected",
        "why": "the server says 404: no such model",
    }


def test_a_server_that_is_not_there_is_an_error_of_every_item(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    sitting.server.url = "http://127.0.0.1:1/v1"
    done = sitting.run("--retries", "0", "--format", "json")
    assert done.code == 4
    assert faults(done.json) == {"unreachable": 2}
    assert done.json["summary"]["score"] is None
