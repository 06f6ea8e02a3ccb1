"""The page of a live run: after the scores, how the subject was to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from markscheme.exact import plain, show
from markscheme.tell.language import say, say_many, told
from markscheme.tell.terminal import Page

if TYPE_CHECKING:
    from markscheme.weigh.latencies import Latencies
    from markscheme.weigh.live import Live

_WIDTH = 30


class LivePage(Page):
    """Prints a run of a live subject."""

    def live(self, live: Live) -> None:
        """Print latency, errors, tries, cost and why the run stopped, if it did."""
        facts = live.to_dict()
        answered, questions = facts["answered"], facts["questions"]
        line = say(
            "{answered} of {questions} questions answered", answered=answered, questions=questions
        )
        self.out.print()
        self.out.print(Text(f"{live.subject}: {line}"), soft_wrap=True)
        if live.faults:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in live.faults.items())
            self.out.print(Text(say("errors: {kinds}", kinds=kinds), "magenta"))
        if facts["cached"]:
            self.out.print(
                say_many("{n} answer from the cache", "{n} answers from the cache", facts["cached"])
            )
        if live.cost is not None:
            self.out.print(say("cost {cost}", cost=plain(live.cost)), highlight=False)
        if live.first_token is not None:
            self._latency(say("first token"), live.first_token)
        if live.latency is not None:
            self._latency(say("latency"), live.latency)
            self._histogram(live.latency)
        if facts["stopped"]:
            self.out.print(Text(say("stopped: {why}", why=told(facts["stopped"])), "magenta"))

    def _latency(self, what: str, found: Latencies) -> None:
        parts = [f"p{at} {show(value, 1)}" for at, value in found.percentiles.items()]
        parts.append(f"max {show(found.longest, 1)}")
        self.out.print(Text(f"{what}, ms: {', '.join(parts)}"), highlight=False)

    def _histogram(self, found: Latencies) -> None:
        most = max(held.n for held in found.histogram)
        bar = "█" if self.out.encoding.startswith("utf") else "#"
        for held in found.histogram:
            upto = say("more") if held.up_to is None else f"≤ {held.up_to:,}"
            length = -(-_WIDTH * held.n // most)
            self.out.print(Text(f"  {upto:>9} {bar * length} {held.n:,}"), highlight=False)
