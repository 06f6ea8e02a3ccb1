"""The items that moved between two runs: those that matter most, with what both of them said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.tell.html import format_cell_value, list_expected_texts, truncate_text
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.words import format_cell_reason
from markscheme.vocabulary import format_decimal, format_signed
from markscheme.workflows.compare_runs import group_moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from markscheme.vocabulary import Item, Rubric
    from markscheme.weigh.compare import RunPair, RunsComparison, Sides
    from markscheme.workflows.compare_runs import AnswerRow, ItemMoves, RunsReport


_MAX_ATTEMPTS = 3
_MAX_PAGE_CHARACTERS = 1_000_000  # characters of all answers together, so that a page stays small
_MIN_ANSWER_CHARACTERS, _MAX_ANSWER_CHARACTERS = 500, 6_000
_BAR_UNITS = 1000


def _format_move_name(kind: str) -> str:
    match kind:
        case "regressed":
            return translate("Went from pass to fail")
        case "lost":
            return translate("Other losses, the largest first")
        case _:
            return translate("Gains, the largest first")


def _format_left_out(moves: ItemMoves) -> str:
    """Return how many items the page leaves out, or nothing where it shows all."""
    left = len(moves.items) - len(moves.shown)
    if not left:
        return ""
    return translate_plural(
        "… and {n:,} more item, which the JSON document has.",
        "… and {n:,} more items, which the JSON document has.",
        left,
    )


class MovedItemsView:
    """Makes what opens under an item; `answers` are those of the baseline and of the candidate."""

    def __init__(
        self,
        found: RunsComparison,
        pair: RunPair,
        answers: Sequence[Mapping[str, tuple[AnswerRow, ...]]],
        limit: int,
    ) -> None:
        self._rubric: Rubric = found.rubric
        self._items: Mapping[str, Item] = {item.id: item for item in found.exam.items}
        self._pair = pair
        self._answers = answers
        self._limit = limit
        self._kinds = {
            **dict.fromkeys(pair.regressed, ("failed", translate("pass → fail"))),
            **dict.fromkeys(pair.recovered, ("passed", translate("fail → pass"))),
        }

    def build_lists(self, pairs: int) -> list[dict[str, Any]]:
        """Return the kinds of moves with their items."""
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
        beside = list(self._pair_answers(name))
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
                (key, truncate_text(", ".join(list_expected_texts(value)), self._limit))
                for key, value in item.expectations.items()
            ],
            "tags": ", ".join(f"{tag}={value}" for tag, value in item.tags.items()),
            "attempts": beside[:_MAX_ATTEMPTS],
            "more": max(0, len(beside) - _MAX_ATTEMPTS),
        }

    def _find_moved_axes(self, item: str) -> dict[str, Fraction]:
        """Return the axes that moved on an item, each by its mean over the pairs."""
        by = self._pair.attempts.compute_axis_changes(item)
        moved = {spec.name: by[at] for at, spec in enumerate(self._rubric) if by[at]}
        return dict(sorted(moved.items(), key=lambda one: one[1]))

    def _pair_answers(self, item: str) -> Iterator[dict[str, Any]]:
        """Yield the answers to an item in pairs: of several attempts those that differ."""
        ours, theirs = (answers.get(item, ()) for answers in self._answers or ({}, {}))
        pairs = self._pair.attempts.items[item]
        if len(ours) == len(theirs) == 1:
            yield {"attempt": None, "sides": self._build_sides(ours[0], theirs[0])}
            return
        before, after = ({row.get("attempt") or 1: row for row in rows} for rows in (ours, theirs))
        for attempt, (one, other) in pairs.items():
            if one != other and attempt in before and attempt in after:
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
    """Return how many characters of one answer a page has room for."""
    count = sum(min(len(rows), _MAX_ATTEMPTS) for run in report.answers for rows in run.values())
    return max(
        _MIN_ANSWER_CHARACTERS, min(_MAX_ANSWER_CHARACTERS, _MAX_PAGE_CHARACTERS // max(1, count))
    )


def _compute_bar(sides: Sides) -> tuple[int, int, str]:
    """Return a bar: how much both have, how much only one has, and whether that is lost."""
    before, after = (
        round(_BAR_UNITS * (value or 0)) for value in (sides.baseline, sides.candidate)
    )
    return min(before, after), abs(after - before), "lost" if after < before else "won"
