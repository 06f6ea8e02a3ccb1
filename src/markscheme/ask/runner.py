"""The runner: puts every question to its subject, tries again what may pass, and never raises.

An error of a subject is the reply to a question like any other. What ends a run early is a budget,
a subject that refuses everybody, or somebody who says stop.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import islice
from operator import or_
from typing import TYPE_CHECKING

from markscheme.ask import reasons
from markscheme.ask.keys import in_reach
from markscheme.ask.pace import LONGEST_WAIT, Limits, Pace, Turn
from markscheme.ask.questions import Ask
from markscheme.ask.replies import Fault, Reply, on_one_line
from markscheme.ask.states import State
from markscheme.exact import EXACT
from markscheme.read.sound import fault_in_text
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.ask.subjects.base import Subject

_FIRST_WAIT = 0.5  # seconds; doubled with every try, and a random part of it
_LONGEST = 30.0
_TOLD = 500  # signs of why there is no answer
_SIGNS = 4.0  # of a text, to one token
_REASON = 50  # and of why an answer ended
_HOPELESS = 5  # if the first so many all end like this, the rest would end so too
_VAIN = {Fault.REJECTED, Fault.UNREACHABLE}
_MOST_BUSY = 50  # times that one question is put off
_FOR_EVER = 20  # so many rounds of being told that it is busy, over minutes, and not one answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that was put, how often, and the reply that it ended with."""

    ask: Ask
    reply: Reply
    tries: int


Hand = Callable[[Asked], Awaitable[None]]


class Runner:
    """One run: give it the questions, and it hands back each with its reply as they end."""

    def __init__(
        self,
        subjects: Iterable[Subject],
        limits: Limits,
        hand: Hand,
        *,
        seed: int = 0,
    ) -> None:
        self._subjects: Mapping[str, Subject] = {subject.name: subject for subject in subjects}
        self._limits = limits
        self._hand = hand
        self._secrets = reduce(or_, (one.secrets for one in self._subjects.values()), in_reach())
        self._random = random.Random(f"waits {seed}")  # noqa: S311 - waits, not secrets
        self._paces = {name: Pace(limits, one.at_once) for name, one in self._subjects.items()}
        self._first: dict[str, list[str]] = {name: [] for name in self._subjects}
        self._failed: Counter[tuple[str, Fault]] = Counter()
        self._vain: Counter[tuple[str, Fault]] = Counter()
        self._hopeful: set[str] = set()
        self._cost = Decimal(0)
        self._waiting: Iterator[Ask] = iter(())
        self._sent: dict[str, Ask] = {}  # tries that are under way
        self._vainly: dict[str, Asked] = {}  # what failed so far, and is to be asked again
        self.cut_short: set[str] = set()  # questions that were to be asked again
        self.stopped: str | None = None
        self.given_up: dict[str, str] = {}

    def stop(self, why: str) -> None:
        """Begin nothing more; what is under way ends."""
        self.stopped = self.stopped or why
        self._waiting = iter(())
        for pace in self._paces.values():
            pace.close()

    def _give_up(self, name: str, why: str) -> None:
        """Ask this subject nothing more; the others go on."""
        self.given_up.setdefault(name, why)
        self._paces[name].close()

    def remember(self, asked: Asked) -> None:
        """Count an answer that was given before this run was resumed."""
        self._hopeful.add(asked.ask.subject)
        self._cost = EXACT.add(self._cost, asked.reply.cost or 0)

    def states(self) -> list[State]:
        """Return how each subject does."""
        return [
            State(
                subject=name,
                running=pace.running,
                busy=pace.refusals > 0,
                again=pace.quiet,
                failed={kind: n for (who, kind), n in self._failed.items() if who == name},
            )
            for name, pace in self._paces.items()
        ]

    async def run(self, asks: Iterable[Ask]) -> None:
        """Put all questions, in their order as far as several at once have one."""
        self._waiting = (ask for ask in asks if ask.subject not in self.given_up)
        self._keep_to_budget()
        try:
            async with asyncio.timeout(self._limits.max_time):
                async with asyncio.TaskGroup() as group:
                    for ask in islice(self._waiting, self._limits.concurrency):
                        group.create_task(self._work(ask))
        except TimeoutError:
            self.stop(reasons.time_is_over(self._limits.max_time or 0))
            await self._hand_what_was_cut_short()

    async def _hand_what_was_cut_short(self) -> None:
        """Hand over what was asked and has no answer, with why it had none until then."""
        late = Reply.failed(Fault.TIMEOUT, "no answer before --max-time was over")
        for key, ask in self._sent.items():
            so_far = self._vainly.get(key) or Asked(ask=ask, reply=late, tries=0)
            self._vainly[key] = replace(so_far, tries=so_far.tries + 1)
        self.cut_short |= set(self._vainly)
        for asked in self._vainly.values():
            await self._hand(asked)

    async def _work(self, first: Ask) -> None:
        ask: Ask | None = first
        while ask is not None:
            asked = await self._put(ask)
            if asked is not None:
                self._note(asked)
                await self._hand(asked)
            ask = next(self._waiting, None)

    def _note(self, asked: Asked) -> None:
        """See whether this subject should be asked more."""
        name, reply, fault = asked.ask.subject, asked.reply, asked.reply.fault
        if reply.recorded:
            return
        if fault is Fault.BUSY and self._busy_for_ever(name):
            self._give_up(name, reasons.busy_for_ever(name, _FOR_EVER, reply))
        elif fault in _VAIN and asked.ask.key in self._first[name]:
            self._vain[name, fault] += 1
            if self._vain[name, fault] >= _HOPELESS and name not in self._hopeful:
                self._give_up(name, reasons.in_vain(name, _HOPELESS, reply))

    def _spend(self, reply: Reply) -> None:
        """Count what a try cost, also one that gave no answer, and keep to the budget."""
        if reply.cost is not None:
            self._cost = EXACT.add(self._cost, reply.cost)
        elif self._limits.max_cost is not None and reply.text is not None and not reply.cached:
            self.stop(reasons.cost_is_not_told(reply))
        self._keep_to_budget()

    def _keep_to_budget(self) -> None:
        limit = self._limits.max_cost
        if limit is not None and self._cost >= limit:
            self.stop(reasons.money_is_spent(limit))

    async def _put(self, ask: Ask) -> Asked | None:
        """Ask until there is an answer, a lasting fault, or no try left.

        Where nothing more is asked meanwhile, it ends with the fault that it had last.
        """
        pace, tries, busy, held = self._paces[ask.subject], 0, 0, False
        if len(self._first[ask.subject]) < _HOPELESS:
            self._first[ask.subject].append(ask.key)
        while (reply := await self._once(ask, held=held)) is not None:
            tries += 1
            busy += reply.no_failure
            if reply.fault is not None and not reply.lasting:
                self._failed[ask.subject, reply.fault] += 1
            tries = tries if reply.tries is None else reply.tries
            asked = Asked(ask=ask, reply=reply, tries=tries)
            if reply.lasting or self._over(tries, busy) or self._busy_for_ever(ask.subject):
                self._vainly.pop(ask.key, None)
                return asked
            self._vainly[ask.key] = asked
            held = reply.crowded
            if not reply.no_failure:
                await pace.rest(self._wait(tries - busy, reply.wait), held=held)
        if ask.key in self._vainly:
            self.cut_short.add(ask.key)
        return self._vainly.pop(ask.key, None)

    def _over(self, tries: int, busy: int) -> bool:
        return tries - busy > self._limits.retries or busy > _MOST_BUSY

    def _busy_for_ever(self, name: str) -> bool:
        return self._paces[name].refusals >= _FOR_EVER

    async def _once(self, ask: Ask, *, held: bool) -> Reply | None:
        pace = self._paces[ask.subject]
        turn = await pace.enter(held=held)
        if turn is None:
            return None
        tokens: float | None = None
        self._sent[ask.key] = ask
        try:
            reply = await self._timed(ask)
            tokens = _tokens(ask, reply)
        finally:
            pace.leave(turn, tokens)
        del self._sent[ask.key]
        if not reply.recorded:
            self._keep_pace(pace, turn, reply)
        self._spend(reply)
        return _sound(self._secrets.hidden_in(reply))

    def _keep_pace(self, pace: Pace, turn: Turn, reply: Reply) -> None:
        """Ask less or more, by how the subject does."""
        if reply.fault is Fault.BUSY:
            pace.was_busy(turn)
            pace.keep_quiet(self._quiet(pace.refusals, reply.wait))
        elif reply.text is not None:
            pace.went_well()
        else:
            pace.was_not_busy()
            if reply.crowded:
                pace.slow_down(turn)
            passing = reply.fault is not None and reply.fault.transient
            if reply.wait and passing:  # it is not this question that is too much for it
                pace.keep_quiet(min(reply.wait, LONGEST_WAIT))

    async def _timed(self, ask: Ask) -> Reply:
        try:
            async with asyncio.timeout(self._limits.timeout):
                return await self._subjects[ask.subject].ask(ask.question)
        except TimeoutError as error:
            told = f"{error.__cause__ or ''}"  # where the subject knows what it waited for
            why = f"no answer within {self._limits.timeout:g} s{told and f': {told}'}"
            return Reply.failed(Fault.TIMEOUT, why)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return Reply.failed(Fault.FAILED, "the subject gave up: CancelledError")
        except Exception as error:  # noqa: BLE001 - a subject may be anybody's
            return Reply.failed(
                Fault.FAILED, f"the subject failed: {type(error).__name__}: {error}"
            )

    def _quiet(self, refusals: int, said: float | None) -> float:
        """Return how long to leave a busy subject alone: at the next refusals more than it says."""
        if refusals >= _FOR_EVER:
            return 0.0
        longer = self._wait(refusals - 1, None) if refusals > 1 else 0.0
        return max(longer, self._wait(refusals, said))

    def _wait(self, failures: int, said: float | None) -> float:
        """Return how long to wait: what the subject says, else longer each time, with chance."""
        if said is not None:
            return min(said, LONGEST_WAIT) + self._random.uniform(0, _FIRST_WAIT / 5)
        longest = min(_LONGEST, _FIRST_WAIT * 2 ** max(0, failures - 1))
        return self._random.uniform(longest / 2, longest)


def _sound(reply: Reply) -> Reply:
    """Return a reply that can be kept; a text that cannot is no answer, and is asked again."""
    if reply.text is None:
        return replace(reply, why=on_one_line(reply.why, _TOLD))
    fault = fault_in_text(reply.text)
    if fault is None:
        reason = reply.finish_reason and on_one_line(reply.finish_reason, _REASON)
        return reply if reason == reply.finish_reason else replace(reply, finish_reason=reason)
    return Reply.failed(Fault.GARBLED, f"the answer holds {fault}")


def _tokens(ask: Ask, reply: Reply) -> float | None:
    """Return the tokens of an answer, by its length where the subject does not tell them."""
    if reply.text is None:
        return None
    if reply.tokens_in is None and reply.tokens_out is None:
        return (len(ask.question.text) + len(reply.text)) / _SIGNS
    return (reply.tokens_in or 0) + (reply.tokens_out or 0)
