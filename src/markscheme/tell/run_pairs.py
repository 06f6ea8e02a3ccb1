"""Compared runs for people: on the terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.exact import show, signed
from markscheme.tell.comparison_tables import chance, every_two
from markscheme.tell.comparisons import ComparisonPage, markdown_table, statistics_lines
from markscheme.tell.language import say, told
from markscheme.tell.markdown import sentence as safe
from markscheme.tell.run_measures import measured_rows
from markscheme.weigh.attempt_pairs import attempts_in_words
from markscheme.weigh.outcomes import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.paired_runs import PairedTag, RunPair, RunsComparison

GROUPS_SHOWN = 10
_ITEMS_SHOWN = 10


def outcome_words(outcome: Evidence) -> str:
    """Return how a page calls the outcome."""
    words = {
        Evidence.PASS: say("not worse"),
        Evidence.FAIL: say("worse"),
        Evidence.INCONCLUSIVE: say("cannot tell"),
    }
    return words[outcome]


def pair_rows(found: RunsComparison) -> Rows:
    """Return every two runs as rows, the header first."""
    compared = (
        (
            pair.baseline,
            pair.candidate,
            pair.statistics.paired,
            pair.p_holm,
            outcome_words(pair.statistics.non_inferiority.outcome),
        )
        for pair in found.pairs
    )
    return every_two(compared, say("no worse than {margin} down", margin=found.margin))


def axis_rows(pair: RunPair) -> Rows:
    """Return the score and the axes of two runs as rows."""
    header = (
        say("axis"),
        pair.baseline,
        pair.candidate,
        say("difference"),
        say("won / lost / tied"),
        say("p (Holm)"),
    )
    overall = pair.statistics.paired
    rows = [
        (
            say("score"),
            show(pair.score.baseline),
            show(pair.score.candidate),
            signed(pair.score.difference),
            f"{overall.wins} / {overall.losses} / {overall.ties}",
            "",
        )
    ]
    for axis in pair.statistics.axes:
        sides, paired = pair.axes[axis.axis], axis.paired
        rows.append(
            (
                axis.axis,
                show(sides.baseline),
                show(sides.candidate),
                signed(sides.difference),
                f"{paired.wins} / {paired.losses} / {paired.ties}",
                chance(axis.p_holm),
            )
        )
    return [header, *rows]


def tag_rows(pair: RunPair) -> Rows:
    """Return the groups of items that lost, the largest loss first."""
    header = (
        say("tag"),
        say("items"),
        say("difference"),
        say("won / lost / tied"),
        say("p (Holm)"),
    )
    rows = [
        (
            f"{tag.tag}={tag.value}",
            str(tag.paired.n),
            signed(tag.paired.mean),
            f"{tag.paired.wins} / {tag.paired.losses} / {tag.paired.ties}",
            chance(tag.p_holm),
        )
        for tag in lost_tags(pair)[:GROUPS_SHOWN]
    ]
    return [header, *rows] if rows else []


def lost_tags(pair: RunPair) -> list[PairedTag]:
    """Return the groups of items that lost, the largest loss first."""
    return [tag for tag in pair.tags if tag.paired.mean is not None and tag.paired.mean < 0]


def pair_lines(pair: RunPair, *, items: bool = True) -> Iterator[str]:
    """Yield what two runs show, in sentences; and the items that lost most."""
    yield from statistics_lines(pair.statistics)
    around = pair.statistics.clustered
    if around is not None:
        yield say(
            "items in {n} clusters: 95 % interval {lower} to {upper}",
            n=around.clusters,
            lower=f"{around.lower:+.4f}",
            upper=f"{around.upper:+.4f}",
        )
    yield _passed(pair)
    if items:
        yield from _lost_items(pair)


def _lost_items(pair: RunPair) -> Iterator[str]:
    lost = pair.lost
    for item in lost[:_ITEMS_SHOWN]:
        sides = pair.items[item]
        yield f"{item}: {show(sides.baseline)} → {show(sides.candidate)}"
    if len(lost) > _ITEMS_SHOWN:
        yield say("… and {n} more items that lost", n=len(lost) - _ITEMS_SHOWN)


def pairing_lines(found: RunsComparison) -> Iterator[str]:
    """Yield what is to be said of the attempts and the order of several pairs of runs."""
    for pair in found.pairs:
        names = pair.baseline, pair.candidate
        words = [*attempts_in_words(pair.attempts, *names), *pair.first.in_words(*names)]
        yield from (f"{pair.baseline} → {pair.candidate}: {told(line)}" for line in words)


def _passed(pair: RunPair) -> str:
    passed = pair.passed
    named = {
        "baseline": pair.baseline,
        "before": passed.baseline_only,
        "candidate": pair.candidate,
        "after": passed.candidate_only,
        "p": chance(passed.two_sided),
    }
    if passed.interval is None:
        return say(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item)",
            **named,
        )
    lower, upper = (f"{bound:+.4f}" for bound in passed.interval)
    if pair.statistics.paired.repeated:
        return say(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item, 95 % interval of the difference {lower} to {upper})",
            **named,
            lower=lower,
            upper=upper,
        )
    return say(
        "passed by {baseline} only: {before}, by {candidate} only: {after} (exact McNemar p {p}, "
        "95 % interval of the difference {lower} to {upper})",
        **named,
        lower=lower,
        upper=upper,
    )


class RunsPage(ComparisonPage):
    """Prints compared runs; with two of them the details too."""

    def runs(self, found: RunsComparison) -> None:
        """Print all of it."""
        self.line(title(found), style="bold")
        if len(found.pairs) > 1:
            self.table(pair_rows(found), left=(0, 1, 7))
            self._lines(say("How the runs were paired"), pairing_lines(found))
        for pair in found.pairs[:1] if len(found.pairs) == 1 else ():
            self.table(axis_rows(pair), left=(0,))
            if rows := tag_rows(pair):
                self.section(say("Tags that lost"))
                self.table(rows, left=(0,))
            self.section(say("What the numbers can show"))
            for line in pair_lines(pair):
                self.line(f"  {line}")
        if rows := measured_rows(found):
            self.section(say("What they took"))
            self.table(rows, left=(0,))
        self.line(say("\noutcome: {because}", because=told(found.because)))


def title(found: RunsComparison) -> str:
    """Return the first line."""
    return say(
        "{runs} under {rubric} v{version} on {exam}",
        runs=", ".join(
            run if subject is None else f"{run} ({subject})"
            for run, subject in zip(found.runs, found.subjects, strict=True)
        ),
        rubric=found.rubric.name,
        version=found.rubric.version,
        exam=found.exam.name,
    )


def runs_markdown(found: RunsComparison) -> str:
    """Return compared runs as Markdown."""
    return "\n".join(_markdown(found)) + "\n"


def _markdown(found: RunsComparison) -> Iterator[str]:
    yield f"### {safe(outcome_words(found.outcome))}: {safe(title(found))}"
    yield ""
    yield safe(told(found.because))
    if found.pairs:
        yield from markdown_table(say("Pairs of runs"), pair_rows(found))
    yield from markdown_table(say("What they took"), measured_rows(found))
    for pair in found.pairs:
        yield from markdown_table(f"{pair.baseline} → {pair.candidate}", axis_rows(pair))
        yield from markdown_table(say("Tags that lost"), tag_rows(pair))
        yield ""
        yield from (f"- {safe(line)}" for line in pair_lines(pair))
