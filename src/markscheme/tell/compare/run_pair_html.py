"""What an HTML page shows of two runs: the outcome, axes, tags, and the items that moved most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from markscheme.mark.axes import format_expected
from markscheme.tell import charts
from markscheme.tell.charts import ChartRange, DotPair, Gap, draw_gaps, draw_paired_dots
from markscheme.tell.compare.tables import (
    TAGS_SHOWN,
    TableRows,
    build_run_axis_rows,
    build_tag_rows,
    find_lost_tags,
    format_sides,
)
from markscheme.tell.compare.words import (
    compute_bounds,
    describe_pair_doubts,
    explain_outcome,
    explain_what_settles,
    format_evidence,
    format_margin,
    format_pair_lines,
)
from markscheme.tell.html import format_cell_value, truncate_text
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.words import format_cell_reason
from markscheme.vocabulary import Item, Rubric, format_decimal, format_signed, to_float
from markscheme.weigh.compare import PairedTag, RunPair, RunsComparison, Sides
from markscheme.weigh.gates import Evidence
from markscheme.workflows.compare import AnswerRow, ItemMoves, RunsReport, group_moves

EVIDENCE_KINDS = {
    Evidence.PASS: "pass",
    Evidence.FAIL: "fail",
    Evidence.INCONCLUSIVE: "undecided",
}
_EVIDENCE_COLOURS = {
    Evidence.PASS: charts.GOOD,
    Evidence.FAIL: charts.BAD,
    Evidence.INCONCLUSIVE: charts.UNDECIDED,
}
# The chart of axes begins at a multiple of the first step; lines are one of the steps apart.
_FIRST_STEP, _MAX_LINES = 0.1, 6
_STEPS = (0.05, 0.1, 0.2)
_MAX_ATTEMPTS = 3
# Characters of all answers together: a page must stay small enough to open.
_MAX_PAGE_CHARACTERS = 1_000_000
_MIN_ANSWER_CHARACTERS, _MAX_ANSWER_CHARACTERS = 500, 6_000
_BAR_UNITS = 1000


def build_run_pair_view(pair: RunPair, rubric: Rubric, colour: int) -> dict[str, Any]:
    """Return what is shown of two runs, except for their items."""
    evidence = pair.statistics.non_inferiority
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "colour": colour,
        "kind": EVIDENCE_KINDS[evidence.outcome],
        "word": format_evidence(evidence.outcome),
        "numbers": format_sides(pair.score),
        "because": explain_outcome(pair),
        "settles": explain_what_settles(pair),
        "doubts": list(describe_pair_doubts(pair)),
        "where": list(_locate_difference(pair, rubric)),
        "gap": draw_run_gaps([pair]),
        "axes": _draw_pair_axes(pair, colour),
        "axis_rows": _build_weighted_axis_rows(pair, rubric),
        "tags": build_tag_rows(pair),
        "tags_more": max(0, len(find_lost_tags(pair)) - TAGS_SHOWN),
        "pairing": list(_describe_pairing(pair)),
        "plain": list(format_pair_lines(pair, items=False)),
    }


def draw_run_gaps(pairs: Sequence[RunPair]) -> Markup:
    """Draw how far each run is from the first, beside the margin."""
    gaps = [
        Gap(
            name=pair.candidate,
            mean=to_float(pair.score.difference) or 0.0,
            bounds=compute_bounds(pair),
            limit=-(to_float(pair.statistics.margin) or 0.0),
            colour=_EVIDENCE_COLOURS[pair.statistics.non_inferiority.outcome],
        )
        for pair in pairs
    ]
    return draw_gaps(
        gaps, translate("no difference"), translate("margin {by}", by=format_margin(pairs[0]))
    )


def _locate_difference(pair: RunPair, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield what the difference consists of, each with the part of the page that shows it."""
    causes = {
        "items": _describe_crossed(pair),
        "axes": _describe_worst_axis(pair, rubric),
        "tags": _describe_worst_tag(pair),
    }
    yield from ((part, words) for part, words in causes.items() if words)


def _describe_crossed(pair: RunPair) -> str:
    down, up = len(pair.regressed), len(pair.recovered)
    if not down and not up:
        return ""
    fell = translate_plural(
        "{n} item went from pass to fail", "{n} items went from pass to fail", down
    )
    return translate("{fell}, {up:,} the other way.", fell=fell, up=up)


def _describe_worst_axis(pair: RunPair, rubric: Rubric) -> str:
    """Name the axis that costs the score most, by its weight."""
    by, axis = min((_weigh_difference(pair, spec.name, spec.weight), spec.name) for spec in rubric)
    if by >= 0:
        return ""
    return translate(
        "Most is lost on {axis}: {by} points of the score.", axis=axis, by=format_signed(by)
    )


def _describe_worst_tag(pair: RunPair) -> str:
    """Name the tag that lost most beyond the average; a tag of all items loses just the average."""
    average = pair.score.difference or Fraction(0)
    worst = min(
        find_lost_tags(pair), key=lambda tag: _compute_excess_loss(tag, average), default=None
    )
    if worst is None or _compute_excess_loss(worst, average) >= 0:
        return ""
    return translate(
        "{tag} loses most beyond the average: {by}, over {n:,} items.",
        tag=f"{worst.tag}={worst.value}",
        by=format_signed(worst.paired.mean),
        n=worst.paired.n,
    )


def _compute_excess_loss(tag: PairedTag, average: Fraction) -> Fraction:
    """Return how much more a group lost than the same number of average items."""
    return tag.paired.n * ((tag.paired.mean or 0) - average)


def _weigh_difference(pair: RunPair, axis: str, weight: Any) -> Fraction:
    return Fraction(weight) * (pair.axes[axis].difference or 0)


def _draw_pair_axes(pair: RunPair, colour: int) -> Markup:
    """Draw the score and every axis of both runs; the range begins below the lowest value."""
    rows = [(translate("score"), pair.score), *pair.axes.items()]
    values = [side for _, sides in rows for side in (sides.baseline, sides.candidate)]
    least = min((to_float(value) or 0.0 for value in values), default=0.0)
    lowest = max(0.0, min(0.8, int(least / _FIRST_STEP) * _FIRST_STEP))
    step = next(step for step in _STEPS if 1 - lowest <= _MAX_LINES * step)
    pairs = [
        DotPair(name=name, baseline=to_float(sides.baseline), candidate=to_float(sides.candidate))
        for name, sides in rows
    ]
    return draw_paired_dots(pairs, ChartRange(lowest=lowest, highest=1, step=step), colour)


def _build_weighted_axis_rows(pair: RunPair, rubric: Rubric) -> TableRows:
    """Return the table of axes, with the part of each in the difference of the score."""
    header, score, *axes = build_run_axis_rows(pair)
    parts = [format_signed(_weigh_difference(pair, spec.name, spec.weight)) for spec in rubric]
    return [
        (*header[:4], translate("of the score"), *header[4:]),
        (*score[:4], score[3], *score[4:]),
        *((*row[:4], part, *row[4:]) for row, part in zip(axes, parts, strict=True)),
    ]


def _describe_pairing(pair: RunPair) -> Iterator[tuple[str, str]]:
    """Yield how the answers were paired, and which run was asked first."""
    attempts, first = pair.attempts, pair.first
    yield translate("items"), f"{len(attempts.items):,}"
    yield translate("pairs of answers"), f"{attempts.count:,}"
    for name, only in (
        (pair.baseline, attempts.baseline_only),
        (pair.candidate, attempts.candidate_only),
    ):
        if only:
            yield translate("attempts of {run} only, not compared", run=name), f"{only:,}"
    for name, often in ((pair.baseline, first.baseline), (pair.candidate, first.candidate)):
        if first.known:
            yield translate("{run} was asked first", run=name), f"{often:,}"
    if first.unknown:
        yield translate("order not recorded"), f"{first.unknown:,}"


def _format_move_name(kind: str) -> str:
    match kind:
        case "regressed":
            return translate("Went from pass to fail")
        case "lost":
            return translate("Other losses, the largest first")
        case _:
            return translate("Gains, the largest first")


def _format_left_out(moves: ItemMoves) -> str:
    """Say how many items the page leaves out; empty if it shows all."""
    left = len(moves.items) - len(moves.shown)
    if not left:
        return ""
    return translate_plural(
        "… and {n:,} more item, which the JSON document has.",
        "… and {n:,} more items, which the JSON document has.",
        left,
    )


class MovedItemsView:
    """Builds the lists of moved items; `answers` are by item, first the baseline's."""

    def __init__(
        self,
        comparison: RunsComparison,
        pair: RunPair,
        answers: Sequence[Mapping[str, tuple[AnswerRow, ...]]],
        limit: int,
    ) -> None:
        self._rubric: Rubric = comparison.rubric
        self._items: Mapping[str, Item] = {item.id: item for item in comparison.exam.items}
        self._pair = pair
        self._answers = answers
        self._limit = limit
        self._kinds = {
            **dict.fromkeys(pair.regressed, ("failed", translate("pass → fail"))),
            **dict.fromkeys(pair.recovered, ("passed", translate("fail → pass"))),
        }

    def build_lists(self, pairs: int) -> list[dict[str, Any]]:
        """Return the kinds of moves with their items; `pairs` of runs share the page."""
        return [
            {
                "kind": moves.kind,
                "name": _format_move_name(moves.kind),
                "n": f"{len(moves.items):,}",
                "items": [self._build_item(item) for item in moves.shown],
                "more": _format_left_out(moves),
            }
            for moves in group_moves(self._pair, pairs)
        ]

    def _build_item(self, name: str) -> dict[str, Any]:
        sides, item = self._pair.items[name], self._items[name]
        status, word = self._kinds.get(name, ("", ""))
        attempts = list(self._pair_answers(name))
        return {
            "item": name,
            "numbers": f"{format_decimal(sides.baseline)} → {format_decimal(sides.candidate)}",
            "bar": _compute_bar(sides),
            "status": status,
            "word": word,
            "axes": ", ".join(
                f"{axis} {format_signed(by)}" for axis, by in self._find_moved_axes(name).items()
            ),
            "prompt": truncate_text(item.prompt, self._limit),
            "expected": [
                (key, truncate_text(", ".join(format_expected(value)), self._limit))
                for key, value in item.expectations.items()
            ],
            "tags": ", ".join(f"{tag}={value}" for tag, value in item.tags.items()),
            "attempts": attempts[:_MAX_ATTEMPTS],
            "more": max(0, len(attempts) - _MAX_ATTEMPTS),
        }

    def _find_moved_axes(self, item: str) -> dict[str, Fraction]:
        """Return the change of each axis that moved on an item, as a mean over its pairs."""
        changes = self._pair.attempts.compute_axis_changes(item)
        moved = {spec.name: changes[at] for at, spec in enumerate(self._rubric) if changes[at]}
        return dict(sorted(moved.items(), key=lambda change: change[1]))

    def _pair_answers(self, item: str) -> Iterator[dict[str, Any]]:
        """Yield the answers to an item in pairs; of several attempts only those that differ."""
        ours, theirs = (answers.get(item, ()) for answers in self._answers or ({}, {}))
        pairs = self._pair.attempts.items[item]
        if len(ours) == len(theirs) == 1:
            yield {"attempt": None, "sides": self._build_sides(ours[0], theirs[0])}
            return
        before, after = ({row.get("attempt") or 1: row for row in rows} for rows in (ours, theirs))
        for attempt, (baseline, candidate) in pairs.items():
            if baseline != candidate and attempt in before and attempt in after:
                sides = self._build_sides(before[attempt], after[attempt])
                yield {"attempt": attempt, "sides": sides}

    def _build_sides(self, baseline: AnswerRow, candidate: AnswerRow) -> list[dict[str, Any]]:
        both = baseline["breakdown"], candidate["breakdown"]
        axes = [spec.name for spec in self._rubric if both[0][spec.name] != both[1][spec.name]]
        names = self._pair.baseline, self._pair.candidate
        return [
            {"name": name, **self._build_answer(row, axes)}
            for name, row in zip(names, (baseline, candidate), strict=True)
        ]

    def _build_answer(self, row: AnswerRow, axes: Sequence[str]) -> dict[str, Any]:
        got, output = row.get("got"), row.get("output")
        return {
            "got": truncate_text(got, self._limit),
            "score": format_cell_value(row.get("score")),
            "output": None if output in (None, got) else truncate_text(output, self._limit),
            "cells": [
                (
                    axis,
                    format_cell_value(row["breakdown"][axis]) or "–",
                    truncate_text(format_cell_reason(row, axis), self._limit),
                )
                for axis in axes
            ],
            "near": [
                truncate_text(translate_stored(near), self._limit)
                for axis in axes
                if (near := (row.get("near_miss") or {}).get(axis))
            ],
        }


def compute_text_limit(report: RunsReport) -> int:
    """Return how many characters of each answer fit on the page."""
    count = sum(min(len(rows), _MAX_ATTEMPTS) for run in report.answers for rows in run.values())
    return max(
        _MIN_ANSWER_CHARACTERS, min(_MAX_ANSWER_CHARACTERS, _MAX_PAGE_CHARACTERS // max(1, count))
    )


def _compute_bar(sides: Sides) -> tuple[int, int, str]:
    """Return a bar: the part both runs have, the part only one has, and whether that is lost."""
    before, after = (
        round(_BAR_UNITS * (value or 0)) for value in (sides.baseline, sides.candidate)
    )
    return min(before, after), abs(after - before), "lost" if after < before else "won"
