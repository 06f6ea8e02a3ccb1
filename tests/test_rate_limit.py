"""Pace: so much a minute, so many at a time, and everybody in turn."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.ask.rate_limit import RateLimiter, RunLimits, TokenBucket


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("markscheme.ask.rate_limit.time.monotonic", found)
    return found


def test_a_bucket_gives_so_much_a_minute(clock: Clock) -> None:
    bucket = TokenBucket(60)
    assert bucket.compute_delay() == 0
    bucket.take(1)
    assert bucket.compute_delay() == pytest.approx(1)
    clock.now += 1
    assert bucket.compute_delay() == 0
    bucket.take(10)
    assert bucket.compute_delay() == pytest.approx(10)


@given(st.integers(1, 3_000), st.lists(st.floats(0, 90), max_size=20))
def test_requests_are_never_more_in_any_minute_than_are_allowed(
    limit: int, pauses: list[float]
) -> None:
    clock, sent = Clock(), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("markscheme.ask.rate_limit.time.monotonic", clock)
        bucket = TokenBucket(limit, evenly=True)
        for pause in [*pauses, *[0.0] * 2 * limit]:
            clock.now += pause
            while (delay := bucket.compute_delay()) > 0:
                clock.now += delay + 1e-6
            bucket.take(1)
            sent.append(clock.now)
    assert all(later - one > 60 for one, later in zip(sent, sent[limit:], strict=False))


def test_tokens_beyond_belief_hold_a_run_up_for_minutes_at_most(clock: Clock) -> None:
    bucket = TokenBucket(60)
    bucket.take(2**63)
    assert bucket.compute_delay() > 0
    clock.now += 121
    assert bucket.compute_delay() == 0


def test_no_limit_is_no_wait() -> None:
    bucket = TokenBucket(None)
    bucket.take(10**9)
    assert bucket.compute_delay() == 0


def test_a_busy_subject_is_asked_half_as_much_and_slowly_more_again(clock: Clock) -> None:
    async def tried() -> None:
        pace = RateLimiter(RunLimits(concurrency=16))
        turn = await pace.acquire()
        assert turn
        clock.now += 1
        pace.record_busy(turn)
        assert pace.allowed == 8
        pace.record_busy(turn)  # it was under way already, and says nothing new
        assert pace.allowed == 8
        assert pace.refusals == 1
        for _ in range(8):
            pace.record_success()
        assert pace.refusals == 0
        assert 8.5 < pace.allowed < 9.5
        for _ in range(1000):
            pace.record_success()
        assert pace.allowed == 16

    asyncio.run(tried())


def test_tokens_are_taken_when_a_question_goes_out_and_not_when_its_answer_is_back(
    clock: Clock,
) -> None:
    """Of a limit of 6,000 a minute, fifty at once that take 1,000 each would take eight minutes."""

    async def tried() -> list[float]:
        pace = RateLimiter(RunLimits(concurrency=50, tokens_per_minute=6_000))
        sent: list[float] = []
        for _ in range(20):
            while pace._compute_delay() > 0:
                clock.now += 0.5
            turn = await pace.acquire()
            assert turn
            sent.append(clock.now)
            if len(sent) == 1:
                assert pace._compute_delay() > 0  # the first goes alone: who knows what it takes
                pace.release(turn, 1_000)
        return sent

    sent = asyncio.run(tried())
    assert max(sum(at <= other < at + 60 for other in sent) for at in sent) <= 7


def test_who_waits_for_a_turn_goes_away_when_nothing_more_is_asked() -> None:
    async def tried() -> list[object]:
        pace = RateLimiter(RunLimits(concurrency=1))
        assert await pace.acquire()
        pace.keep_quiet(600)
        waiting = [
            asyncio.create_task(one) for one in (pace.acquire(), pace.sleep_unless_closed(600))
        ]
        await asyncio.sleep(0)
        pace.close()
        return [*await asyncio.gather(*waiting), await pace.acquire()]

    assert asyncio.run(asyncio.wait_for(tried(), 30)) == [None, None, None]


def test_who_came_first_is_let_through_first_however_often_others_come_again() -> None:
    async def tried() -> list[str]:
        pace, let_through = RateLimiter(RunLimits(concurrency=1)), list[str]()

        async def ask(name: str, times: int) -> None:
            for _ in range(times):
                turn = await pace.acquire()
                assert turn
                let_through.append(name)
                await asyncio.sleep(0)
                pace.release(turn, 1)

        await asyncio.gather(ask("often", 6), ask("b", 1), ask("c", 1))
        return let_through

    assert asyncio.run(asyncio.wait_for(tried(), 30))[:3] == ["often", "b", "c"]


def test_who_waits_to_be_asked_again_at_a_crowded_server_keeps_its_place() -> None:
    async def tried() -> list[str]:
        pace, let_through = RateLimiter(RunLimits(concurrency=1)), list[str]()

        async def ask(name: str, *, held: bool = False) -> None:
            turn = await pace.acquire(held=held)
            assert turn
            let_through.append(name)
            pace.release(turn, None)

        turn = await pace.acquire()
        assert turn
        other = asyncio.create_task(ask("another"))
        await asyncio.sleep(0)
        pace.release(turn, None)
        await pace.sleep_unless_closed(0.05, held=True)
        await asyncio.gather(ask("the same", held=True), other)
        return let_through

    assert asyncio.run(asyncio.wait_for(tried(), 30)) == ["the same", "another"]


def test_a_subject_may_take_fewer_at_a_time_than_are_allowed() -> None:
    async def tried() -> float:
        return RateLimiter(RunLimits(concurrency=16), subject_limit=1).allowed

    assert asyncio.run(tried()) == 1
