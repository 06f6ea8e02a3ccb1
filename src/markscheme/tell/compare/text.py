"""A comparison for people: on the terminal, and as Markdown. Both say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.tell.compare.tables import (
    build_aggregate_rows,
    build_axis_rows,
    build_check_rows,
    build_metric_rows,
    build_query_rows,
    format_interval,
    format_p_value,
    format_side_lines,
)
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.tell.markdown import escape_markdown as safe
from markscheme.tell.markdown import format_code_span
from markscheme.tell.text import create_console
from markscheme.vocabulary import DecisionOutcome, format_decimal, format_signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import Comparison, PairedSummary, Statistics

_FLIPS_SHOWN = 6
_NOTES_SHOWN = 20
_DECISION_STYLES = {
    DecisionOutcome.GO: "bold green",
    DecisionOutcome.GO_WITH_MONITORING: "bold green",
    DecisionOutcome.CONDITIONAL: "bold yellow",
    DecisionOutcome.NO_GO: "bold red",
    None: "bold magenta",
}


def format_decision(outcome: DecisionOutcome | None) -> str:
    """Return how a page calls a decision."""
    words = {
        DecisionOutcome.GO: translate("GO"),
        DecisionOutcome.GO_WITH_MONITORING: translate("GO, with monitoring"),
        DecisionOutcome.CONDITIONAL: translate("CONDITIONAL"),
        DecisionOutcome.NO_GO: translate("NO-GO"),
    }
    return translate("no decision") if outcome is None else words[outcome]


def format_comparison_title(found: Comparison) -> str:
    """Return the first line."""
    return translate(
        "{candidate} against {baseline} under {rubric} v{version} on {exam}, rated by {raters}",
        candidate=found.candidate,
        baseline=found.baseline,
        rubric=found.rubric.name,
        version=found.rubric.version,
        exam=found.exam.name,
        raters=", ".join(found.raters),
    )


def _format_mean_difference(paired: PairedSummary) -> str:
    test = (
        translate("exact sign-flip")
        if paired.flips and paired.flips.exact
        else translate("sign-flip")
    )
    named = {
        "mean": format_signed(paired.mean),
        "interval": format_interval(paired),
        "test": test,
        "p": format_p_value(paired.flips.two_sided if paired.flips else None, 6),
        "n": paired.n,
    }
    if paired.repeated:
        return translate(
            "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} items, "
            "{pairs} pairs)",
            **named,
            pairs=paired.pairs,
        )
    return translate(
        "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} pairs)", **named
    )


def format_statistics(found: Statistics) -> Iterator[str]:
    """Yield the statistics in sentences."""
    paired = found.paired
    if paired.mean is not None:
        yield _format_mean_difference(paired)
        evidence = found.non_inferiority
        yield translate(
            "no worse than {margin} down: {outcome} (sign-flip p {p})",
            margin=format_decimal(found.margin),
            outcome=translate(evidence.outcome.value),
            p=format_p_value(found.non_inferiority_p, 6),
        )
    if found.agreement is not None:
        agreed = found.agreement
        yield translate(
            "raters agree: alpha {alpha}, AC2 {ac2}, kappa {kappa}, equal scores {percent}",
            alpha=format_decimal(agreed.alpha, 3),
            ac2=format_decimal(agreed.ac2, 3),
            kappa=", ".join(format_decimal(kappa, 3) for kappa in agreed.kappa.values()),
            percent=format_decimal(agreed.percent, 3),
        )
    yield from map(translate_stored, found.plain)
    for flip in found.sensitivity[:_FLIPS_SHOWN]:
        yield translate(
            "{axis} of {variant} on {item} by {rater}: {instead} instead of {score} makes it "
            "{verdict}, decision {decision}",
            axis=flip.rating.axis,
            variant=flip.rating.variant,
            item=flip.rating.item,
            rater=flip.rating.rater,
            instead=flip.score,
            score=flip.rating.score,
            verdict=flip.verdict_after or "–",
            decision=format_decision(flip.decision_after),
        )
    more = len(found.sensitivity) - _FLIPS_SHOWN
    if more > 0:
        yield translate_plural(
            "… and {n} more rating that would change a verdict",
            "… and {n} more ratings that would change a verdict",
            more,
        )


def format_notes(found: Comparison) -> Iterator[str]:
    """Yield what raters said in words."""
    notes = [(query, note) for query in found.queries for note in query.notes]
    for query, note in notes[:_NOTES_SHOWN]:
        told = f"{query.item}, {note.variant}, {note.axis} ({note.rater}): {note.note}"
        yield " ".join(told.split())
    if len(notes) > _NOTES_SHOWN:
        yield translate("… and {n} more notes", n=len(notes) - _NOTES_SHOWN)


def _format_side_heading(found: Comparison) -> str:
    return translate(
        "By query, {baseline} / {candidate}", baseline=found.baseline, candidate=found.candidate
    )


class ComparisonPage:
    """Prints a comparison; the decision comes last, where the eye rests."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or create_console()

    def print_comparison(self, found: Comparison) -> None:
        """Print all of it."""
        self.print_line(format_comparison_title(found), style="bold")
        self.print_table(build_query_rows(found), left=(0, 1, 5, 6, 7))
        self.print_section(translate("Together"))
        self.print_table(build_aggregate_rows(found), left=(0,))
        self.print_section(translate("By axis"))
        self.print_table(build_axis_rows(found), left=(0,))
        for heading, rows in (
            (translate("Structural checks passed"), build_check_rows(found)),
            (translate("Measured, mean by query"), build_metric_rows(found)),
        ):
            if rows:
                self.print_section(heading)
                self.print_table(rows, left=(0,))
        self._print_lines(_format_side_heading(found), format_side_lines(found))
        self._print_lines(
            translate("What the numbers can show"), format_statistics(found.statistics)
        )
        self._print_lines(translate("Notes"), format_notes(found))
        self._print_lines(translate("Watch"), map(translate_stored, found.decision.monitoring))
        decision = found.decision
        words = Text(translate("\ndecision: "))
        words.append(format_decision(decision.outcome), _DECISION_STYLES[decision.outcome])
        rule = translate(" (rule {rule})", rule=decision.rule) if decision.rule else ""
        self.out.print(words.append(rule), soft_wrap=True)
        self.print_line(translate("because: {because}", because=translate_stored(decision.because)))
        self.print_line(translate("next: {next}", next=translate_stored(decision.next)))

    def print_line(self, text: str, *, style: str = "") -> None:
        """Print one line as it stands, however long."""
        self.out.print(Text(replace_control_characters(text), style=style), soft_wrap=True)

    def print_section(self, heading: str) -> None:
        """Print a heading."""
        self.print_line(f"\n{heading}", style="bold")

    def print_table(self, rows: TableRows, *, left: Sequence[int]) -> None:
        """Print rows, the header first; columns are numbers unless they are named in `left`."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for at, name in enumerate(rows[0]):
            table.add_column(
                Text(replace_control_characters(name)),
                justify="left" if at in left else "right",
                no_wrap=at < len(rows[0]) - 1,
            )
        for row in rows[1:]:
            table.add_row(*map(Text, map(replace_control_characters, row)))
        self.out.print(table)

    def _print_lines(self, heading: str, lines: Iterator[str]) -> None:
        found = list(lines)
        if found:
            self.print_section(heading)
            for line in found:
                self.print_line(f"  {line}")


def render_comparison_markdown(found: Comparison) -> str:
    """Return the whole comparison as Markdown."""
    return "\n".join(_build_comparison_markdown(found)) + "\n"


def _build_comparison_markdown(found: Comparison) -> Iterator[str]:
    decision = found.decision
    yield f"### {safe(format_decision(decision.outcome))}: {safe(format_comparison_title(found))}"
    yield ""
    rule = translate("Rule {rule}: ", rule=decision.rule) if decision.rule else ""
    yield safe(f"{rule}{translate_stored(decision.because)}")
    yield ""
    yield f"**{safe(translate('Next'))}:** {safe(translate_stored(decision.next))}"
    for heading, rows in (
        (translate("Queries"), build_query_rows(found)),
        (translate("Together"), build_aggregate_rows(found)),
        (translate("By axis"), build_axis_rows(found)),
        (translate("Structural checks passed"), build_check_rows(found)),
        (translate("Measured, mean by query"), build_metric_rows(found)),
    ):
        yield from render_markdown_table(heading, rows)
    yield from _render_bullets(_format_side_heading(found), format_side_lines(found))
    yield from _render_bullets(
        translate("What the numbers can show"), format_statistics(found.statistics)
    )
    yield from _render_bullets(translate("Watch"), map(translate_stored, decision.monitoring))
    notes = list(format_notes(found))
    if notes:
        yield f"\n#### {safe(translate('Notes'))}\n"
        yield from (f"- {format_code_span(note)}" for note in notes)


def render_markdown_table(heading: str, rows: TableRows) -> Iterator[str]:
    """Yield a table with its heading; nothing where there are no rows."""
    if not rows:
        return
    yield f"\n#### {safe(heading)}\n"
    yield f"| {' | '.join(map(safe, rows[0]))} |"
    yield f"|{'---|' * len(rows[0])}"
    for row in rows[1:]:
        yield f"| {' | '.join(map(safe, row))} |"


def _render_bullets(heading: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"\n#### {safe(heading)}\n"
        yield from (f"- {safe(line)}" for line in found)
