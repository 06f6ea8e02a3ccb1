"""The page of a live run: after the scores, how the subject was to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from markscheme.exact import show, written
from markscheme.tell.language import say, say_many, told
from markscheme.tell.terminal import Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markscheme.vocabulary import Rubric

_WIDTH = 30


class LivePage(Page):
    """Prints a run of a live subject."""

    def __init__(self, rubric: Rubric, facts: Mapping[str, Any] | None = None) -> None:
        """Take what `Live.to_dict` gives, now or when the run was stored, if it was live."""
        super().__init__(rubric, is_live=bool(facts))
        self._known = facts

    def live(self) -> None:
        """Print latency, errors, tries, cost and why the run stopped, if it did."""
        facts = self._known
        if not facts:
            return
        answered, questions = facts["answered"], facts["questions"]
        line = say(
            "{answered} of {questions} questions answered", answered=answered, questions=questions
        )
        self.out.print()
        self.out.print(Text(f"{facts['subject']}: {line}"), soft_wrap=True)
        if facts["faults"]:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in facts["faults"].items())
            self.out.print(Text(say("errors: {kinds}", kinds=kinds), "magenta"))
        if set(facts["finish_reasons"]) - {"stop"}:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in facts["finish_reasons"].items())
            self.out.print(Text(say("answers ended with: {kinds}", kinds=kinds)))
        if facts["cached"]:
            self.out.print(
                say_many("{n} answer from the cache", "{n} answers from the cache", facts["cached"])
            )
        self._spent(facts)
        if facts["first_token_ms"]:
            self._latency(say("first token"), facts["first_token_ms"])
        if facts["latency_ms"]:
            self._latency(say("latency"), facts["latency_ms"])
            self._histogram(facts["latency_ms"]["histogram"])
        if facts["stopped"]:
            self.out.print(Text(say("stopped: {why}", why=told(facts["stopped"])), "magenta"))

    def _spent(self, facts: Mapping[str, Any]) -> None:
        """Print tokens and cost, as far as they are known; older runs have no tokens."""
        tokens = facts.get("tokens_in"), facts.get("tokens_out")
        if None not in tokens:
            sent, got = tokens
            line = say("{sent:,} tokens in, {got:,} tokens out", sent=sent, got=got)
            self.out.print(line, highlight=False)
        if facts["cost"] is not None:
            self.out.print(say("cost {cost}", cost=facts["cost"]), highlight=False)

    def _latency(self, what: str, found: Mapping[str, Any]) -> None:
        shown = (name for name in found if name not in {"n", "histogram"})
        parts = [f"{name} {show(written(found[name]), 1)}" for name in shown]
        self.out.print(Text(f"{what}, ms: {', '.join(parts)}"), highlight=False)

    def _histogram(self, bins: Sequence[Mapping[str, Any]]) -> None:
        most = max(held["n"] for held in bins)
        bar = "█" if self.out.encoding.startswith("utf") else "#"
        for held in bins:
            upto = say("more") if held["up_to"] is None else f"≤ {held['up_to']:,}"
            length = -(-_WIDTH * held["n"] // most)
            self.out.print(Text(f"  {upto:>9} {bar * length} {held['n']:,}"), highlight=False)
