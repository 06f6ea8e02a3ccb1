"""More than two variants for people: a table of every two, and the decision on each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.compare.tables import build_pair_rows
from markscheme.tell.compare.text import (
    ComparisonPage,
    format_decision,
    render_comparison_markdown,
    render_markdown_table,
)
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.markdown import escape_markdown as safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import Comparison, VariantsComparison


def build_variant_rows(found: VariantsComparison) -> TableRows:
    """Return every two variants as rows, the header first."""
    compared = (
        (
            pair.baseline,
            pair.candidate,
            pair.statistics.paired,
            pair.p_holm,
            format_decision(pair.decision.outcome),
        )
        for pair in found.pairs
    )
    return build_pair_rows(compared, translate("decision"))


def format_variants_title(found: VariantsComparison) -> str:
    """Return the first line."""
    first = found.beside_first[0]
    return translate(
        "{candidates} against {baseline} under {rubric} v{version} on {exam}",
        candidates=", ".join(found.variants[1:]),
        baseline=found.variants[0],
        rubric=first.rubric.name,
        version=first.rubric.version,
        exam=first.exam.name,
    )


def format_decision_lines(found: VariantsComparison) -> Iterator[str]:
    """Yield the decision on each candidate, why, and what to do next."""
    for one in found.beside_first:
        yield f"{one.candidate}: {format_decision(one.decision.outcome)}{_format_rule(one)}"
        yield f"  {translate('because: {because}', because=translate_stored(one.decision.because))}"
        yield f"  {translate('next: {next}', next=translate_stored(one.decision.next))}"


def _format_rule(one: Comparison) -> str:
    rule = one.decision.rule
    return translate(" (rule {rule})", rule=rule) if rule else ""


class VariantsPage(ComparisonPage):
    """Prints several variants; the details of two of them are had by comparing these alone."""

    def print_variants(self, found: VariantsComparison) -> None:
        """Print all of it."""
        self.print_line(format_variants_title(found), style="bold")
        self.print_table(build_variant_rows(found), left=(0, 1, 7))
        self.print_section(translate("Decisions"))
        for line in format_decision_lines(found):
            self.print_line(f"  {line}")


def render_variants_markdown(found: VariantsComparison) -> str:
    """Return several variants as Markdown, each candidate with all that is known of it."""
    head = [f"### {safe(format_variants_title(found))}"]
    head += render_markdown_table(translate("Pairs of variants"), build_variant_rows(found))
    return "\n".join([*head, "", *map(render_comparison_markdown, found.beside_first)])
