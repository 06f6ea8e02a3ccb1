"""The page of a comparison, a title, a summary and sections, for the terminal and as Markdown.

Every kind of comparison becomes the same model. The media differ in what they have room for: the
terminal shows several runs or variants as one table, Markdown adds the details of each pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.tell.compare.tables import (
    TableRows,
    build_aggregate_rows,
    build_check_rows,
    build_ladder_rows,
    build_measured_rows,
    build_metric_rows,
    build_query_rows,
    build_repeat_rows,
    build_run_axis_rows,
    build_run_pair_rows,
    build_scale_rows,
    build_tag_rows,
    build_variant_pair_rows,
    format_query_lines,
    format_unjudged_checks,
)
from markscheme.tell.compare.words import (
    format_comparison_title,
    format_decision,
    format_decision_lines,
    format_evidence,
    format_notes,
    format_pair_lines,
    format_pairing_lines,
    format_plan_title,
    format_rounds,
    format_rule,
    format_runs_title,
    format_statistics,
    format_unused_logs,
    format_variants_title,
    format_warnings,
)
from markscheme.tell.console import create_console
from markscheme.tell.language import replace_control_characters, translate, translate_stored
from markscheme.tell.markdown import escape_markdown, format_code_span
from markscheme.vocabulary import DecisionOutcome
from markscheme.weigh.compare import (
    Comparison,
    ComparisonPlan,
    RunPair,
    RunsComparison,
    VariantsComparison,
)

AnyComparison = Comparison | VariantsComparison | RunsComparison | ComparisonPlan

_DECISION_STYLES = {
    DecisionOutcome.GO: "bold green",
    DecisionOutcome.GO_WITH_MONITORING: "bold green",
    DecisionOutcome.CONDITIONAL: "bold yellow",
    DecisionOutcome.NO_GO: "bold red",
    None: "bold magenta",
}
_PAIR_TEXT_COLUMNS = (0, 1, 7)


class Medium(Enum):
    """Where a page is drawn."""

    TERMINAL = auto()
    MARKDOWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading above a table or a list of lines; a section without rows and lines is not drawn.

    `rows` has the header first. `text_columns` are aligned to the left, all others hold numbers.
    `quoted` lines are the words of people, which Markdown must not read as markup. A section that
    `leads` stands right below the title, and the terminal prints it without its heading.
    """

    heading: str
    rows: TableRows | None = None
    text_columns: tuple[int, ...] = (0,)
    lines: tuple[str, ...] = ()
    quoted: bool = False
    leads: bool = False

    def __bool__(self) -> bool:
        return bool(self.rows or self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """One line of the outcome: an optional label, the text in an optional style, and a remark."""

    text: str
    label: str = ""
    style: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page to draw; `outcome` is one word or two, `parts` are whole pages that follow it."""

    title: str
    sections: tuple[Section, ...]
    outcome: str = ""
    summary: tuple[SummaryLine, ...] = ()
    parts: tuple[Page, ...] = ()


def build_page(comparison: AnyComparison, medium: Medium) -> Page:
    """Return the page of any comparison, or of a plan for one."""
    match comparison:
        case Comparison():
            return _build_comparison_page(comparison, medium)
        case VariantsComparison():
            return _build_variants_page(comparison, medium)
        case RunsComparison():
            return _build_runs_page(comparison, medium)
        case ComparisonPlan():
            return _build_plan_page(comparison)


def _select_drawn(sections: Iterable[Section]) -> tuple[Section, ...]:
    return tuple(filter(None, sections))


def _build_comparison_page(comparison: Comparison, medium: Medium) -> Page:
    decision = comparison.decision
    word, because = format_decision(decision.outcome), translate_stored(decision.because)
    then = translate_stored(decision.next)
    watch = Section(
        heading=translate("Watch"), lines=tuple(map(translate_stored, decision.monitoring))
    )
    gaps = Section(
        heading=translate("Missing ratings that were allowed"),
        lines=tuple(map(translate_stored, comparison.allowed_gaps or ())),
    )
    notes = Section(heading=translate("Notes"), lines=tuple(format_notes(comparison)), quoted=True)
    sections = (
        Section(
            heading=translate("Queries"),
            rows=build_query_rows(comparison),
            text_columns=(0, 1, 5, 6, 7),
            leads=True,
        ),
        Section(heading=translate("Together"), rows=build_aggregate_rows(comparison)),
        Section(heading=translate("By axis"), rows=build_scale_rows(comparison)),
        Section(heading=translate("Structural checks passed"), rows=build_check_rows(comparison)),
        Section(
            heading=translate("Checks that could not judge"),
            lines=tuple(format_unjudged_checks(comparison)),
            quoted=True,
        ),
        Section(heading=translate("Measured, mean by query"), rows=build_metric_rows(comparison)),
        Section(
            heading=translate(
                "By query, {baseline} / {candidate}",
                baseline=comparison.baseline,
                candidate=comparison.candidate,
            ),
            lines=tuple(format_query_lines(comparison)),
        ),
        Section(
            heading=translate("What the numbers can show"),
            lines=tuple(format_statistics(comparison.statistics)),
        ),
        Section(
            heading=translate("Logs that were not used"),
            lines=tuple(format_unused_logs(comparison)),
            quoted=True,
        ),
    )
    title = format_comparison_title(comparison)
    if medium is Medium.TERMINAL:
        outcome = SummaryLine(
            label=translate("\ndecision: "),
            text=word,
            style=_DECISION_STYLES[decision.outcome],
            remark=format_rule(decision.rule),
        )
        # What to watch stands next to the decision, which the terminal prints last.
        return Page(
            title=title,
            sections=_select_drawn((*sections, notes, gaps, watch)),
            summary=(
                outcome,
                *(SummaryLine(text=line) for line in format_rounds(decision)),
                SummaryLine(text=translate("because: {because}", because=because)),
                *([SummaryLine(text=translate("next: {next}", next=then))] if then else []),
                *(SummaryLine(text=line, style="yellow") for line in format_warnings(decision)),
            ),
        )
    rule = translate("Rule {rule}: ", rule=decision.rule) if decision.rule else ""
    return Page(
        title=title,
        outcome=word,
        sections=_select_drawn((gaps, *sections, watch, notes)),
        summary=(
            SummaryLine(text=f"{rule}{because}"),
            *(SummaryLine(text=line) for line in format_rounds(decision)),
            *([SummaryLine(label=translate("Next"), text=then)] if then else []),
            *(
                SummaryLine(label=translate("Warning"), text=translate_stored(line))
                for line in decision.warnings
            ),
        ),
    )


def _build_variants_page(comparison: VariantsComparison, medium: Medium) -> Page:
    title = format_variants_title(comparison)
    pairs = Section(
        heading=translate("Pairs of variants"),
        rows=build_variant_pair_rows(comparison),
        text_columns=_PAIR_TEXT_COLUMNS,
        leads=True,
    )
    if medium is Medium.TERMINAL:
        decisions = Section(
            heading=translate("Decisions"), lines=tuple(format_decision_lines(comparison))
        )
        gaps = [
            Section(
                heading=translate(
                    "{candidate}: missing ratings that were allowed", candidate=pair.candidate
                ),
                lines=tuple(map(translate_stored, pair.allowed_gaps or ())),
            )
            for pair in comparison.beside_first
        ]
        unused = Section(
            heading=translate("Logs that were not used"),
            lines=tuple(format_unused_logs(comparison.pairs[0])),
            quoted=True,
        )
        return Page(title=title, sections=_select_drawn((pairs, decisions, *gaps, unused)))
    parts = tuple(_build_comparison_page(pair, medium) for pair in comparison.beside_first)
    return Page(title=title, sections=(pairs,), parts=parts)


def _build_runs_page(comparison: RunsComparison, medium: Medium) -> Page:
    title, because = format_runs_title(comparison), translate_stored(comparison.because)
    pairs = Section(
        heading=translate("Pairs of runs"),
        rows=build_run_pair_rows(comparison) if comparison.pairs else None,
        text_columns=_PAIR_TEXT_COLUMNS,
        leads=True,
    )
    measured = Section(heading=translate("What they took"), rows=build_measured_rows(comparison))
    details = [
        section for pair in comparison.pairs for section in _build_run_sections(pair, medium)
    ]
    if medium is Medium.MARKDOWN:
        return Page(
            title=title,
            outcome=format_evidence(comparison.outcome),
            sections=_select_drawn((pairs, measured, *details)),
            summary=(SummaryLine(text=because),),
        )
    if len(comparison.pairs) > 1:
        pairing = Section(
            heading=translate("How the runs were paired"),
            lines=tuple(format_pairing_lines(comparison)),
        )
        details = [pairs, pairing]
    return Page(
        title=title,
        sections=_select_drawn((*details, measured)),
        summary=(SummaryLine(text=translate("\noutcome: {because}", because=because)),),
    )


def _build_run_sections(pair: RunPair, medium: Medium) -> tuple[Section, ...]:
    in_terminal = medium is Medium.TERMINAL
    return (
        Section(
            heading=f"{pair.baseline} → {pair.candidate}",
            rows=build_run_axis_rows(pair),
            leads=True,
        ),
        Section(heading=translate("Tags that lost"), rows=build_tag_rows(pair)),
        Section(
            heading=translate("What the numbers can show") if in_terminal else "",
            lines=tuple(format_pair_lines(pair)),
        ),
    )


def _build_plan_page(plan: ComparisonPlan) -> Page:
    return Page(
        title=format_plan_title(plan),
        sections=(
            Section(
                heading=translate("Repeats"),
                rows=build_repeat_rows(plan),
                text_columns=(),
                leads=True,
            ),
            Section(
                heading=translate("With one run of each query"),
                rows=build_ladder_rows(plan),
                text_columns=(),
            ),
            Section(heading="", lines=tuple(map(translate_stored, plan.plain))),
        ),
    )


def print_comparison(comparison: AnyComparison, out: Console | None = None) -> None:
    """Print any comparison, or a plan for one."""
    out = out or create_console()
    page = build_page(comparison, Medium.TERMINAL)
    _print_line(out, page.title, style="bold")
    for section in page.sections:
        if not section.leads:
            _print_line(out, f"\n{section.heading}" if section.heading else "", style="bold")
        if section.rows:
            out.print(_build_table(section))
        indent = "  " if section.heading else ""
        for line in section.lines:
            _print_line(out, f"{indent}{line}")
    for summary in page.summary:
        text = Text(replace_control_characters(summary.label))
        text.append(replace_control_characters(summary.text), summary.style)
        out.print(text.append(replace_control_characters(summary.remark)), soft_wrap=True)


def _print_line(out: Console, text: str, *, style: str = "") -> None:
    """Print one line without wrapping it, however long."""
    out.print(Text(replace_control_characters(text), style=style), soft_wrap=True)


def _build_table(section: Section) -> Table:
    header, *rows = section.rows or [()]
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for at, name in enumerate(header):
        table.add_column(
            Text(replace_control_characters(name)),
            justify="left" if at in section.text_columns else "right",
            no_wrap=at < len(header) - 1,
        )
    for row in rows:
        table.add_row(*(Text(replace_control_characters(cell)) for cell in row))
    return table


def render_comparison_markdown(comparison: AnyComparison) -> str:
    """Return any comparison, or a plan for one, as Markdown."""
    return "\n".join(_render_page(build_page(comparison, Medium.MARKDOWN))) + "\n"


def _render_page(page: Page) -> Iterator[str]:
    outcome = f"{escape_markdown(page.outcome)}: " if page.outcome else ""
    yield f"### {outcome}{escape_markdown(page.title)}"
    for line in page.summary:
        label = f"**{escape_markdown(line.label)}:** " if line.label else ""
        yield ""
        yield f"{label}{escape_markdown(line.text)}"
    for section in page.sections:
        yield from _render_section(section)
    for part in page.parts:
        yield ""
        yield from _render_page(part)


def _render_section(section: Section) -> Iterator[str]:
    yield f"\n#### {escape_markdown(section.heading)}\n" if section.heading else ""
    if section.rows:
        header, *rows = section.rows
        yield _render_row(header)
        yield f"|{'---|' * len(header)}"
        yield from map(_render_row, rows)
    for line in section.lines:
        yield f"- {format_code_span(line) if section.quoted else escape_markdown(line)}"


def _render_row(row: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escape_markdown, row))} |"
