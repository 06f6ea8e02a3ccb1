"""A server that says it is busy is asked later and less, and loses no question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.ask.pace import Pace, Turn

if TYPE_CHECKING:
    import pytest

    from sittings import Sitting


def test_a_server_that_is_overloaded_is_busy(sitting: Sitting) -> None:
    document = sitting.asks("overloaded 1").json("--retries", "0")
    assert document["items"][0]["asked"]["tries"] == 2


def test_a_server_that_names_a_time_is_left_alone_by_all_questions(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet: list[float] = []
    keep_quiet = Pace.keep_quiet

    def noted(pace: Pace, wait: float) -> None:
        quiet.append(wait)
        keep_quiet(pace, wait)

    monkeypatch.setattr(Pace, "keep_quiet", noted)
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
    slow_down = Pace.slow_down

    def noted(pace: Pace, turn: Turn) -> bool:
        slowed = slow_down(pace, turn)
        allowed.append(pace.allowed)
        return slowed

    monkeypatch.setattr(Pace, "slow_down", noted)
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
