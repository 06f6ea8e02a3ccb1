"""Compared runs for people: on the terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.compare.run_measures import build_measured_rows
from markscheme.tell.compare.tables import build_pair_rows, format_p_value
from markscheme.tell.compare.text import ComparisonPage, format_statistics, render_markdown_table
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.markdown import escape_markdown as safe
from markscheme.vocabulary import format_decimal, format_signed
from markscheme.weigh.compare import describe_attempts
from markscheme.weigh.gates import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import PairedTag, RunPair, RunsComparison

GROUPS_SHOWN = 10
_ITEMS_SHOWN = 10


def format_evidence(outcome: Evidence) -> str:
    """Return how a page calls the outcome."""
    words = {
        Evidence.PASS: translate("not worse"),
        Evidence.FAIL: translate("worse"),
        Evidence.INCONCLUSIVE: translate("cannot tell"),
    }
    return words[outcome]


def build_run_pair_rows(found: RunsComparison) -> TableRows:
    """Return every two runs as rows, the header first."""
    compared = (
        (
            pair.baseline,
            pair.candidate,
            pair.statistics.paired,
            pair.p_holm,
            format_evidence(pair.statistics.non_inferiority.outcome),
        )
        for pair in found.pairs
    )
    return build_pair_rows(compared, translate("no worse than {margin} down", margin=found.margin))


def build_run_axis_rows(pair: RunPair) -> TableRows:
    """Return the score and the axes of two runs as rows."""
    header = (
        translate("axis"),
        pair.baseline,
        pair.candidate,
        translate("difference"),
        translate("won / lost / tied"),
        translate("p (Holm)"),
    )
    overall = pair.statistics.paired
    rows = [
        (
            translate("score"),
            format_decimal(pair.score.baseline),
            format_decimal(pair.score.candidate),
            format_signed(pair.score.difference),
            f"{overall.wins} / {overall.losses} / {overall.ties}",
            "",
        )
    ]
    for axis in pair.statistics.axes:
        sides, paired = pair.axes[axis.axis], axis.paired
        rows.append(
            (
                axis.axis,
                format_decimal(sides.baseline),
                format_decimal(sides.candidate),
                format_signed(sides.difference),
                f"{paired.wins} / {paired.losses} / {paired.ties}",
                format_p_value(axis.p_holm),
            )
        )
    return [header, *rows]


def build_tag_rows(pair: RunPair) -> TableRows:
    """Return the groups of items that lost, the largest loss first."""
    header = (
        translate("tag"),
        translate("items"),
        translate("difference"),
        translate("won / lost / tied"),
        translate("p (Holm)"),
    )
    rows = [
        (
            f"{tag.tag}={tag.value}",
            str(tag.paired.n),
            format_signed(tag.paired.mean),
            f"{tag.paired.wins} / {tag.paired.losses} / {tag.paired.ties}",
            format_p_value(tag.p_holm),
        )
        for tag in find_lost_tags(pair)[:GROUPS_SHOWN]
    ]
    return [header, *rows] if rows else []


def find_lost_tags(pair: RunPair) -> list[PairedTag]:
    """Return the groups of items that lost, the largest loss first."""
    return [tag for tag in pair.tags if tag.paired.mean is not None and tag.paired.mean < 0]


def format_pair_lines(pair: RunPair, *, items: bool = True) -> Iterator[str]:
    """Yield what two runs show, in sentences; and the items that lost most."""
    yield from format_statistics(pair.statistics)
    around = pair.statistics.clustered
    if around is not None:
        yield translate(
            "items in {n} clusters: 95 % interval {lower} to {upper}",
            n=around.clusters,
            lower=f"{around.lower:+.4f}",
            upper=f"{around.upper:+.4f}",
        )
    yield _format_passed(pair)
    if items:
        yield from _format_lost_items(pair)


def _format_lost_items(pair: RunPair) -> Iterator[str]:
    lost = pair.lost
    for item in lost[:_ITEMS_SHOWN]:
        sides = pair.items[item]
        yield f"{item}: {format_decimal(sides.baseline)} → {format_decimal(sides.candidate)}"
    if len(lost) > _ITEMS_SHOWN:
        yield translate("… and {n} more items that lost", n=len(lost) - _ITEMS_SHOWN)


def format_pairing_lines(found: RunsComparison) -> Iterator[str]:
    """Yield what is to be said of the attempts and the order of several pairs of runs."""
    for pair in found.pairs:
        names = pair.baseline, pair.candidate
        words = [*describe_attempts(pair.attempts, *names), *pair.first.describe_order(*names)]
        yield from (
            f"{pair.baseline} → {pair.candidate}: {translate_stored(line)}" for line in words
        )


def _format_passed(pair: RunPair) -> str:
    passed = pair.passed
    named = {
        "baseline": pair.baseline,
        "before": passed.baseline_only,
        "candidate": pair.candidate,
        "after": passed.candidate_only,
        "p": format_p_value(passed.two_sided),
    }
    if passed.interval is None:
        return translate(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item)",
            **named,
        )
    lower, upper = (f"{bound:+.4f}" for bound in passed.interval)
    if pair.statistics.paired.repeated:
        return translate(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item, 95 % interval of the difference {lower} to {upper})",
            **named,
            lower=lower,
            upper=upper,
        )
    return translate(
        "passed by {baseline} only: {before}, by {candidate} only: {after} (exact McNemar p {p}, "
        "95 % interval of the difference {lower} to {upper})",
        **named,
        lower=lower,
        upper=upper,
    )


class RunsPage(ComparisonPage):
    """Prints compared runs; with two of them the details too."""

    def print_runs(self, found: RunsComparison) -> None:
        """Print all of it."""
        self.print_line(format_runs_title(found), style="bold")
        if len(found.pairs) > 1:
            self.print_table(build_run_pair_rows(found), left=(0, 1, 7))
            self._print_lines(translate("How the runs were paired"), format_pairing_lines(found))
        for pair in found.pairs[:1] if len(found.pairs) == 1 else ():
            self.print_table(build_run_axis_rows(pair), left=(0,))
            if rows := build_tag_rows(pair):
                self.print_section(translate("Tags that lost"))
                self.print_table(rows, left=(0,))
            self.print_section(translate("What the numbers can show"))
            for line in format_pair_lines(pair):
                self.print_line(f"  {line}")
        if rows := build_measured_rows(found):
            self.print_section(translate("What they took"))
            self.print_table(rows, left=(0,))
        self.print_line(translate("\noutcome: {because}", because=translate_stored(found.because)))


def format_runs_title(found: RunsComparison) -> str:
    """Return the first line."""
    return translate(
        "{runs} under {rubric} v{version} on {exam}",
        runs=", ".join(
            run if subject is None else f"{run} ({subject})"
            for run, subject in zip(found.runs, found.subjects, strict=True)
        ),
        rubric=found.rubric.name,
        version=found.rubric.version,
        exam=found.exam.name,
    )


def render_runs_markdown(found: RunsComparison) -> str:
    """Return compared runs as Markdown."""
    return "\n".join(_build_runs_markdown(found)) + "\n"


def _build_runs_markdown(found: RunsComparison) -> Iterator[str]:
    yield f"### {safe(format_evidence(found.outcome))}: {safe(format_runs_title(found))}"
    yield ""
    yield safe(translate_stored(found.because))
    if found.pairs:
        yield from render_markdown_table(translate("Pairs of runs"), build_run_pair_rows(found))
    yield from render_markdown_table(translate("What they took"), build_measured_rows(found))
    for pair in found.pairs:
        yield from render_markdown_table(
            f"{pair.baseline} → {pair.candidate}", build_run_axis_rows(pair)
        )
        yield from render_markdown_table(translate("Tags that lost"), build_tag_rows(pair))
        yield ""
        yield from (f"- {safe(line)}" for line in format_pair_lines(pair))
