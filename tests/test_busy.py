"""A server that says it is busy is asked later and less, and loses no question."""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from markscheme.ask.rate_limit import Permit, RateLimiter
from raw_server import DONE, STREAMED, YES, always, completion, event, http

if TYPE_CHECKING:
    from sittings import Sitting
    from wild_servers import Ask


def test_a_server_that_is_overloaded_is_busy(sitting: Sitting) -> None:
    document = sitting.asks("overloaded 1").json("--retries", "0")
    assert document["items"][0]["asked"]["tries"] == 2


def test_a_server_that_names_a_time_is_left_alone_by_all_questions(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet: list[float] = []
    keep_quiet = RateLimiter.keep_quiet

    def noted(pace: RateLimiter, wait: float) -> None:
        quiet.append(wait)
        keep_quiet(pace, wait)

    monkeypatch.setattr(RateLimiter, "keep_quiet", noted)
    assert sitting.asks("restarting 1", "shaky 2", "fine 3").run().code == 0
    assert quiet == [0.5]
    sitting.asks("heavy 1", "fine 2").run()
    sitting.asks("strict 1").run("--stream")
    assert quiet == [0.5]  # nobody needs to wait for what was rejected


def test_a_server_that_names_a_day_is_asked_again_in_minutes(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.runner.LONGEST_WAIT", 0.01)
    assert sitting.asks("tomorrow 1").run("--max-time", "20").code == 0


def test_a_crowded_server_is_asked_half_as_much_at_once_and_a_broken_one_is_not(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[float] = []
    slow_down = RateLimiter.slow_down

    def noted(pace: RateLimiter, turn: Permit) -> bool:
        slowed = slow_down(pace, turn)
        allowed.append(pace.allowed)
        return slowed

    monkeypatch.setattr(RateLimiter, "slow_down", noted)
    sitting.asks("shaky 1", "late 2").run("--concurrency", "8")
    assert allowed == []
    sitting.asks("down 1").run("--concurrency", "8", "--retries", "2")
    assert allowed == [4, 2, 1]
    assert sitting.server.counts["down 1"] == 3


def test_fewer_questions_are_under_way_at_a_server_that_says_it_is_busy(sitting: Sitting) -> None:
    sitting.server.room, sitting.server.delay = 3, 0.02
    done = sitting.asks(*(f"fine {n}" for n in range(60))).run("--concurrency", "24")
    assert done.code == 0
    asked = sum(sitting.server.counts.values())
    assert asked < 60 * 3  # without slowing down, nearly every try meets a full house


def test_a_limit_of_tokens_that_is_far_away_holds_nobody_up(sitting: Sitting) -> None:
    """The first goes alone, and takes all there are until its answer tells how many it took."""
    sitting.asks(*(f"fine {n}" for n in range(20)))
    live = sitting.json("--tokens-per-minute", "60000", "--max-time", "20")["live"]
    assert (live["answered"], live["stopped"]) == (20, None)


BUSY = "429 Too Many Requests"


def test_a_busy_server_that_names_no_time_is_left_alone_longer_each_time(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(RateLimiter, "keep_quiet", lambda _, wait: waits.append(wait))
    answers = iter([*[http("", BUSY)] * 8, YES, http("", BUSY), YES])
    assert ask(lambda *_: (next(answers),), items=2).code == 0
    assert waits[:6] == sorted(waits[:6])
    assert 15 <= waits[7] <= 30
    assert waits[8] <= 0.5


def test_a_server_that_is_busy_for_ever_is_not_asked_for_ever(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RateLimiter, "keep_quiet", lambda *_: None)
    busy = http({"error": {"message": "no quota"}}, BUSY, "retry-after: 0")
    done = ask(always(busy), "--concurrency", "4", items=40)
    live = done.json["live"]
    assert done.code == 4
    said = "the server says 429: no quota"
    assert live["stopped"] == f"openai:m said 20 times in a row that it is busy: {said}"
    assert live["faults"]["busy"] + live["not_asked"] == 40
    assert 20 <= live["tries"] < 40


def test_a_server_that_says_something_else_between_is_not_busy_for_ever(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RateLimiter, "keep_quiet", lambda *_: None)
    answers = cycle([http("", BUSY), http("{}")])
    live = ask(lambda *_: (next(answers),), items=30).json["live"]
    assert live["faults"] == {"garbled": 30}
    assert live["stopped"] is None


@pytest.mark.parametrize(
    "after",
    ["-5", "soon", "", "nan", "1e-9", "Wed, 21 Oct 2015 07:28:00 GMT", f"21 Oct 2015 +{'9' * 20}"],
)
def test_whatever_a_busy_server_says_of_when_it_is_asked_again(ask: Ask, after: str) -> None:
    answers = iter([http("", BUSY, f"retry-after: {after}"), YES])
    assert ask(lambda *_: (next(answers),)).code == 0


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_server_that_says_so_inside_a_response_is_busy(ask: Ask, *, streamed: bool) -> None:
    said = {"error": {"message": "later", "code": 429}, "choices": []}
    ended: dict[str, Any] = {"error": {"message": "later", "code": 429}, "finish_reason": "error"}
    lines = [f"data: {json.dumps(said)}", event("", **ended)]
    busy = [http(f"{line}\n\n{DONE}\n\n") for line in lines]
    busy = busy if streamed else [http(said), http(completion("", **ended))]
    answers = iter([*busy, http(STREAMED) if streamed else YES])
    done = ask(lambda *_: (next(answers),), *(["--stream"] if streamed else []))
    assert done.code == 0
    assert done.json["live"]["tries"] == 3
