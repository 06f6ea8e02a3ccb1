"""The page of a live run: the page of any run, then latency, errors, tries and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.text import RunPage, ShownRows
from markscheme.vocabulary import Rubric, format_decimal, to_fraction
from markscheme.weigh.gates import GateOutcome
from markscheme.weigh.result import Result

_HISTOGRAM_WIDTH = 30


class LivePage(RunPage):
    """Prints a run of a live subject."""

    def __init__(self, rubric: Rubric, facts: Mapping[str, Any] | None = None) -> None:
        """Take what `LiveRunSummary.to_dict` returned, now or when the run was stored."""
        super().__init__(rubric, is_live=bool(facts))
        self._facts = facts

    def print_live_run(self, result: Result, gates: Iterable[GateOutcome], rows: ShownRows) -> None:
        """Print the totals, the gates, how the run went, then the rows."""
        self.print_summary(result.summary)
        self.print_gates(gates)
        self.print_live_facts()
        self.print_rows(result, rows)

    def print_live_facts(self) -> None:
        """Print latency, errors, tries, cost and why the run stopped, if it did."""
        facts = self._facts
        if not facts:
            return
        answered, questions = facts["answered"], facts["questions"]
        line = translate(
            "{answered} of {questions} questions answered", answered=answered, questions=questions
        )
        self.out.print()
        self.out.print(Text(f"{facts['subject']}: {line}"), soft_wrap=True)
        if facts["faults"]:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in facts["faults"].items())
            self.out.print(Text(translate("errors: {kinds}", kinds=kinds), "magenta"))
        if set(facts["finish_reasons"]) - {"stop"}:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in facts["finish_reasons"].items())
            self.out.print(Text(translate("answers ended with: {kinds}", kinds=kinds)))
        if facts["cached"]:
            self.out.print(
                translate_plural(
                    "{n} answer from the cache", "{n} answers from the cache", facts["cached"]
                )
            )
        self._print_usage(facts)
        if facts["first_token_ms"]:
            self._print_latency(translate("first token"), facts["first_token_ms"])
        if facts["latency_ms"]:
            self._print_latency(translate("latency"), facts["latency_ms"])
            self._print_histogram(facts["latency_ms"]["histogram"])
        if facts["stopped"]:
            self.out.print(
                Text(translate("stopped: {why}", why=translate_stored(facts["stopped"])), "magenta")
            )

    def _print_usage(self, facts: Mapping[str, Any]) -> None:
        """Print tokens and cost, as far as they are known; runs of older versions lack tokens."""
        tokens = facts.get("tokens_in"), facts.get("tokens_out")
        if None not in tokens:
            sent, got = tokens
            line = translate("{sent:,} tokens in, {got:,} tokens out", sent=sent, got=got)
            self.out.print(line, highlight=False)
        if facts["cost"] is not None:
            self.out.print(translate("cost {cost}", cost=facts["cost"]), highlight=False)

    def _print_latency(self, label: str, latency: Mapping[str, Any]) -> None:
        shown = (name for name in latency if name not in {"n", "histogram"})
        parts = [f"{name} {format_decimal(to_fraction(latency[name]), 1)}" for name in shown]
        self.out.print(Text(f"{label}, ms: {', '.join(parts)}"), highlight=False)

    def _print_histogram(self, bins: Sequence[Mapping[str, Any]]) -> None:
        highest = max(latency_bin["n"] for latency_bin in bins)
        bar = "█" if self.out.encoding.startswith("utf") else "#"
        for latency_bin in bins:
            limit, n = latency_bin["up_to"], latency_bin["n"]
            label = translate("more") if limit is None else f"≤ {limit:,}"
            # Rounded up, so that a bin that is not empty has a bar.
            length = -(-_HISTOGRAM_WIDTH * n // highest)
            self.out.print(Text(f"  {label:>9} {bar * length} {n:,}"), highlight=False)
