"""Whatever a server does, every question ends with an answer or with its error."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from markscheme.ask.rate_limit import RateLimiter
from raw_server import DONE, always, completion, event, http
from sittings import Sitting, faults
from wild_servers import error

if TYPE_CHECKING:
    from wild_servers import Ask


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


WAYS_TO_FAIL: dict[str, tuple[dict[str, Any], str]] = {
    "with an error": ({"error": {"message": "overloaded"}}, "overloaded"),
    "with one in words": ({"error": "overloaded"}, "overloaded"),
    "with one without words": ({"error": {"type": "overloaded"}}, "{'type': 'overloaded'}"),
    "for a reason alone": ({"finish_reason": "error"}, "it does not tell why"),
    "for a reason, with an error": (
        {"finish_reason": "error", "error": {"message": "overloaded"}},
        "overloaded",
    ),
}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("way", WAYS_TO_FAIL)
def test_an_answer_that_ends_with_an_error_is_none_and_is_asked_again(
    ask: Ask, way: str, *, streamed: bool
) -> None:
    told, why = WAYS_TO_FAIL[way]
    whole, words = http(completion("ye", **told)), ["--retries", "1"]
    if streamed:
        events = [event("ye"), event("s", **told), DONE]
        whole, words = http("\n\n".join([*events, ""])), [*words, "--stream"]
    done = ask(always(whole), *words)
    what = "the stream" if streamed else "the answer"
    told_as = {"kind": "server-error", "why": f"{what} ended with an error: {why}"}
    assert error(done) == told_as
    assert done.json["live"]["tries"] == 2


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((402, "rejected"), ("403", "rejected"), (502, "server-error"), ("529", "busy")),
        *((200, None), (42900, None), ("rate", None), (None, None), (True, None), ("4²9", None)),
    ],
)
def test_a_status_inside_a_response_that_says_all_is_well_is_heeded(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, code: Any, kind: str | None, *, streamed: bool
) -> None:
    monkeypatch.setattr(RateLimiter, "keep_quiet", lambda *_: None)
    said = json.dumps({"error": {"message": "no", "code": code}})
    whole = http(f"data: {said}\n\n{DONE}\n\n" if streamed else said)
    found = error(ask(always(whole), *(["--stream"] if streamed else [])))
    assert found["kind"] == (kind or ("server-error" if streamed else "garbled"))
    assert found["why"].endswith(": no")


CANARY = "sk-canary/5d41402abc4b2a76+b9719d91="


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (http('{"error": null}', "400 No"), 'the server says 400: {"error": null}'),
        (http('{"error": {"message": null}}', "400 No"), '{"error": {"message": null}}'),
        (http('{"error": {"code": 3}}', "400 No"), '{"error": {"code": 3}}'),
        (
            http("", "308 Moved", "location: https://there.example/v2"),
            "the server says 308 and names https://there.example/v2; redirects are not followed",
        ),
        (http("", "302 Moved", f"location: /{CANARY}"), "says 302 and names /[key]; redirects"),
        (http("<p>Log in</p>"), "the response is no JSON: <p>Log in</p>"),
        (http("sí".encode("latin-1")), "the response is no JSON: s"),
        (http(""), "the response is no JSON: it is empty"),
        (
            http(gzip.compress(b" " * 65_000_000, 1), "200 OK", "content-encoding: gzip"),
            "the response is larger than 64,000,000 bytes",
        ),
    ],
)
def test_what_a_server_says_instead_of_an_answer_is_told(
    ask: Ask, response: bytes, why: str
) -> None:
    assert why in error(ask(always(response), OPENAI_API_KEY=CANARY))["why"]
