"""More than two variants for people: a table of every two, and the decision on each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.comparison_tables import every_two
from markscheme.tell.comparisons import (
    ComparisonPage,
    comparison_markdown,
    markdown_table,
    outcome_words,
)
from markscheme.tell.language import say, told
from markscheme.tell.markdown import sentence as safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.comparison import Comparison
    from markscheme.weigh.variants import VariantsComparison


def variant_rows(found: VariantsComparison) -> Rows:
    """Return every two variants as rows, the header first."""
    compared = (
        (
            pair.comparison.baseline,
            pair.comparison.candidate,
            pair.comparison.statistics.paired,
            pair.p_holm,
            outcome_words(pair.comparison.decision.outcome),
        )
        for pair in found.pairs
    )
    return every_two(compared, say("decision"))


def variants_title(found: VariantsComparison) -> str:
    """Return the first line."""
    first = found.decided[0]
    return say(
        "{candidates} against {baseline} under {rubric} v{version} on {exam}",
        candidates=", ".join(found.variants[1:]),
        baseline=found.variants[0],
        rubric=first.rubric.name,
        version=first.rubric.version,
        exam=first.exam.name,
    )


def decision_lines(found: VariantsComparison) -> Iterator[str]:
    """Yield the decision on each candidate, why, and what to do next."""
    for one in found.decided:
        yield f"{one.candidate}: {outcome_words(one.decision.outcome)}{_rule(one)}"
        yield f"  {say('because: {because}', because=told(one.decision.because))}"
        yield f"  {say('next: {next}', next=told(one.decision.next))}"


def _rule(one: Comparison) -> str:
    rule = one.decision.rule
    return say(" (rule {rule})", rule=rule) if rule else ""


class VariantsPage(ComparisonPage):
    """Prints several variants; the details of two of them are had by comparing these alone."""

    def variants(self, found: VariantsComparison) -> None:
        """Print all of it."""
        self.line(variants_title(found), style="bold")
        self.table(variant_rows(found), left=(0, 1, 7))
        self.section(say("Decisions"))
        for line in decision_lines(found):
            self.line(f"  {line}")


def variants_markdown(found: VariantsComparison) -> str:
    """Return several variants as Markdown, each candidate with all that is known of it."""
    head = [f"### {safe(variants_title(found))}"]
    head += markdown_table(say("Pairs of variants"), variant_rows(found))
    return "\n".join([*head, "", *map(comparison_markdown, found.decided)])
