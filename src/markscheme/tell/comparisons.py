"""A comparison for people: on the terminal, and as Markdown. Both say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.exact import show, signed
from markscheme.tell.comparison_tables import (
    aggregate_rows,
    axis_rows,
    chance,
    check_rows,
    interval,
    metric_rows,
    query_rows,
    side_lines,
)
from markscheme.tell.language import harmless, say, say_many, told
from markscheme.tell.markdown import code
from markscheme.tell.markdown import sentence as safe
from markscheme.tell.terminal import console
from markscheme.verdicts import Decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.comparison import Comparison
    from markscheme.weigh.figures import Paired, Statistics

_FLIPS_SHOWN = 6
_NOTES_SHOWN = 20
_STYLES = {
    Decided.GO: "bold green",
    Decided.GO_WITH_MONITORING: "bold green",
    Decided.CONDITIONAL: "bold yellow",
    Decided.NO_GO: "bold red",
    None: "bold magenta",
}


def outcome_words(outcome: Decided | None) -> str:
    """Return how a page calls a decision."""
    words = {
        Decided.GO: say("GO"),
        Decided.GO_WITH_MONITORING: say("GO, with monitoring"),
        Decided.CONDITIONAL: say("CONDITIONAL"),
        Decided.NO_GO: say("NO-GO"),
    }
    return say("no decision") if outcome is None else words[outcome]


def title(found: Comparison) -> str:
    """Return the first line."""
    return say(
        "{candidate} against {baseline} under {rubric} v{version} on {exam}, rated by {raters}",
        candidate=found.candidate,
        baseline=found.baseline,
        rubric=found.rubric.name,
        version=found.rubric.version,
        exam=found.exam.name,
        raters=", ".join(found.raters),
    )


def _mean_difference(paired: Paired) -> str:
    test = say("exact sign-flip") if paired.flips and paired.flips.exact else say("sign-flip")
    named = {
        "mean": signed(paired.mean),
        "interval": interval(paired),
        "test": test,
        "p": chance(paired.flips.two_sided if paired.flips else None, 6),
        "n": paired.n,
    }
    if paired.repeated:
        return say(
            "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} items, "
            "{pairs} pairs)",
            **named,
            pairs=paired.pairs,
        )
    return say(
        "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} pairs)", **named
    )


def statistics_lines(found: Statistics) -> Iterator[str]:
    """Yield the statistics in sentences."""
    paired = found.paired
    if paired.mean is not None:
        yield _mean_difference(paired)
        evidence = found.non_inferiority
        yield say(
            "no worse than {margin} down: {outcome} (sign-flip p {p})",
            margin=show(found.margin),
            outcome=told(evidence.outcome.value),
            p=chance(found.non_inferiority_p, 6),
        )
    if found.agreement is not None:
        agreed = found.agreement
        yield say(
            "raters agree: alpha {alpha}, AC2 {ac2}, kappa {kappa}, equal scores {percent}",
            alpha=show(agreed.alpha, 3),
            ac2=show(agreed.ac2, 3),
            kappa=", ".join(show(kappa, 3) for kappa in agreed.kappa.values()),
            percent=show(agreed.percent, 3),
        )
    yield from map(told, found.plain)
    for flip in found.sensitivity[:_FLIPS_SHOWN]:
        yield say(
            "{axis} of {variant} on {item} by {rater}: {instead} instead of {score} makes it "
            "{verdict}, decision {decision}",
            axis=flip.rating.axis,
            variant=flip.rating.variant,
            item=flip.rating.item,
            rater=flip.rating.rater,
            instead=flip.score,
            score=flip.rating.score,
            verdict=flip.verdict_after or "–",
            decision=outcome_words(flip.decision_after),
        )
    more = len(found.sensitivity) - _FLIPS_SHOWN
    if more > 0:
        yield say_many(
            "… and {n} more rating that would change a verdict",
            "… and {n} more ratings that would change a verdict",
            more,
        )


def note_lines(found: Comparison) -> Iterator[str]:
    """Yield what raters said in words."""
    notes = [(query, note) for query in found.queries for note in query.notes]
    for query, note in notes[:_NOTES_SHOWN]:
        told = f"{query.item}, {note.variant}, {note.axis} ({note.rater}): {note.note}"
        yield " ".join(told.split())
    if len(notes) > _NOTES_SHOWN:
        yield say("… and {n} more notes", n=len(notes) - _NOTES_SHOWN)


def _side_heading(found: Comparison) -> str:
    return say(
        "By query, {baseline} / {candidate}", baseline=found.baseline, candidate=found.candidate
    )


class ComparisonPage:
    """Prints a comparison; the decision comes last, where the eye rests."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or console()

    def compared(self, found: Comparison) -> None:
        """Print all of it."""
        self.line(title(found), style="bold")
        self.table(query_rows(found), left=(0, 1, 5, 6, 7))
        self.section(say("Together"))
        self.table(aggregate_rows(found), left=(0,))
        self.section(say("By axis"))
        self.table(axis_rows(found), left=(0,))
        for heading, rows in (
            (say("Structural checks passed"), check_rows(found)),
            (say("Measured, mean by query"), metric_rows(found)),
        ):
            if rows:
                self.section(heading)
                self.table(rows, left=(0,))
        self._lines(_side_heading(found), side_lines(found))
        self._lines(say("What the numbers can show"), statistics_lines(found.statistics))
        self._lines(say("Notes"), note_lines(found))
        self._lines(say("Watch"), map(told, found.decision.monitoring))
        decision = found.decision
        words = Text(say("\ndecision: "))
        words.append(outcome_words(decision.outcome), _STYLES[decision.outcome])
        rule = say(" (rule {rule})", rule=decision.rule) if decision.rule else ""
        self.out.print(words.append(rule), soft_wrap=True)
        self.line(say("because: {because}", because=told(decision.because)))
        self.line(say("next: {next}", next=told(decision.next)))

    def line(self, text: str, *, style: str = "") -> None:
        """Print one line as it stands, however long."""
        self.out.print(Text(harmless(text), style=style), soft_wrap=True)

    def section(self, heading: str) -> None:
        """Print a heading."""
        self.line(f"\n{heading}", style="bold")

    def table(self, rows: Rows, *, left: Sequence[int]) -> None:
        """Print rows, the header first; columns are numbers unless they are named in `left`."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for at, name in enumerate(rows[0]):
            justify = "left" if at in left else "right"
            table.add_column(Text(harmless(name)), justify=justify, no_wrap=at < len(rows[0]) - 1)  # type: ignore[arg-type]
        for row in rows[1:]:
            table.add_row(*map(Text, map(harmless, row)))
        self.out.print(table)

    def _lines(self, heading: str, lines: Iterator[str]) -> None:
        found = list(lines)
        if found:
            self.section(heading)
            for line in found:
                self.line(f"  {line}")


def comparison_markdown(found: Comparison) -> str:
    """Return the whole comparison as Markdown."""
    return "\n".join(_markdown(found)) + "\n"


def _markdown(found: Comparison) -> Iterator[str]:
    decision = found.decision
    yield f"### {safe(outcome_words(decision.outcome))}: {safe(title(found))}"
    yield ""
    rule = say("Rule {rule}: ", rule=decision.rule) if decision.rule else ""
    yield safe(f"{rule}{told(decision.because)}")
    yield ""
    yield f"**{safe(say('Next'))}:** {safe(told(decision.next))}"
    for heading, rows in (
        (say("Queries"), query_rows(found)),
        (say("Together"), aggregate_rows(found)),
        (say("By axis"), axis_rows(found)),
        (say("Structural checks passed"), check_rows(found)),
        (say("Measured, mean by query"), metric_rows(found)),
    ):
        yield from markdown_table(heading, rows)
    yield from _bullets(_side_heading(found), side_lines(found))
    yield from _bullets(say("What the numbers can show"), statistics_lines(found.statistics))
    yield from _bullets(say("Watch"), map(told, decision.monitoring))
    notes = list(note_lines(found))
    if notes:
        yield f"\n#### {safe(say('Notes'))}\n"
        yield from (f"- {code(note)}" for note in notes)


def markdown_table(heading: str, rows: Rows) -> Iterator[str]:
    """Yield a table with its heading; nothing where there are no rows."""
    if not rows:
        return
    yield f"\n#### {safe(heading)}\n"
    yield f"| {' | '.join(map(safe, rows[0]))} |"
    yield f"|{'---|' * len(rows[0])}"
    for row in rows[1:]:
        yield f"| {' | '.join(map(safe, row))} |"


def _bullets(heading: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"\n#### {safe(heading)}\n"
        yield from (f"- {safe(line)}" for line in found)
