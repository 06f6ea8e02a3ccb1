"""One item of a run, explained: what was asked, what was got, and why each cell has its value.

Results for people: a table to read at a glance, then what was lost and where.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.tell.bad_rows import format_bad_row_count, format_bad_row_reason
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.operations import print_operations
from markscheme.tell.words import format_answer_lines, format_item_line
from markscheme.vocabulary import (
    Level,
    Outcome,
    format_decimal,
    restore_row_messages,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    import polars as pl

    from markscheme.vocabulary import Item, ItemReport, RowError, Rubric, Summary, TagGroup
    from markscheme.weigh.gates import GateOutcome
    from markscheme.weigh.result import Result


def explain_item(item: Item, found: ItemReport, rubric: Rubric) -> Iterator[str]:
    """Yield an item and its answers, line by line."""
    yield f"{item.id}: {format_item_line(found, rubric)}"
    tags = ", ".join(f"{tag}={value}" for tag, value in item.tags.items())
    if tags:
        yield f"  {translate('tags')}: {tags}"
    yield f"  {translate('prompt')}: {item.prompt}"
    for row in found.answers:
        yield from (f"  {line}" for line in format_answer_lines(row, rubric))
    if found.more:
        yield f"  {translate('… and {n:,} more', n=found.more)}"


ROWS_SHOWN = 120
LARGE_RUN_ROWS_SHOWN = 20
FRAMES_SAMPLED = 8
LOSSES_SHOWN = 15
ERRORS_SHOWN = 10
GROUPS_SHOWN = 3
PIPE_WIDTH = 120
_OUTCOME_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.WARN: "bold yellow",
    Outcome.FAIL: "bold red",
    Outcome.UNDECIDED: "bold magenta",
    Outcome.NOT_APPLICABLE: "dim",
}


class Preview:
    """Keeps the rows that a person will look at: all of a small run, the losses of a large one."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []
        self.total = 0
        self._kept = 0
        self._only_losses = False

    @property
    def hidden(self) -> int:
        """How many rows are not shown."""
        return self.total - self._kept

    def sample_frames(self, frames: Iterable[pl.DataFrame], total: int) -> None:
        """Keep what will be shown of frames that hold `total` rows, without reading them all."""
        for frame in islice(frames, FRAMES_SAMPLED):
            self._add_frame(frame)
        self.total = total

    def collect_frames(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Hand every frame on, keeping what will be shown."""
        for frame in frames:
            self._add_frame(frame)
            yield frame

    def _add_frame(self, frame: pl.DataFrame) -> None:
        self.total += frame.height
        if not self._only_losses and self.total <= ROWS_SHOWN:
            self.frames.append(frame)
            self._kept = self.total
            return
        if not self._only_losses:
            self._only_losses = True
            self.frames = [_filter_losses(kept) for kept in self.frames]
            self._kept = sum(kept.height for kept in self.frames)
        if self._kept < LARGE_RUN_ROWS_SHOWN:
            losses = _filter_losses(frame).head(LARGE_RUN_ROWS_SHOWN - self._kept)
            self.frames.append(losses)
            self._kept += losses.height


def _filter_losses(frame: pl.DataFrame) -> pl.DataFrame:
    score = frame["score"]
    return frame.filter(score.is_null() | (score < 1))


def create_console() -> Console:
    """Return the console: as wide as the terminal, of fixed width and without colour in a pipe."""
    if sys.stdout.isatty():
        return _PipeSafeConsole(width=_get_terminal_width(), emoji=False)
    return _PipeSafeConsole(width=PIPE_WIDTH, no_color=True, highlight=False, emoji=False)


def _get_terminal_width() -> int | None:
    """Return how wide the terminal is; rich looks at streams that may lead elsewhere."""
    if "COLUMNS" in os.environ:
        return None
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    return None


def warm_up_console() -> None:
    """Print a line to nowhere, where there is time: the first of all takes much longer.

    Before it rich loads how wide each character is.
    """
    nowhere = _PipeSafeConsole(file=StringIO(), width=PIPE_WIDTH)
    table = Table(box=None)
    table.add_row(Text("…"))
    nowhere.print(table)


class _PipeSafeConsole(Console):
    """A console that leaves a broken pipe to the command, which knows the exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class RunPage:
    """Prints one run, part by part."""

    def __init__(
        self, rubric: Rubric, out: Console | None = None, *, is_live: bool = False
    ) -> None:
        self.rubric = rubric
        self._is_live = is_live
        self.out = out or create_console()
        self._mark_signs = ("✓", "✗") if _can_print_unicode(self.out) else ("1", "0")

    def print_run(
        self,
        result: Result,
        *,
        hidden: int = 0,
        written: Path | None = None,
        writes: str = "-o FILE",
    ) -> None:
        """Print the whole run; `writes` is what writes the rows that are not shown."""
        self.print_breakdown(result.frame, hidden, writes)
        self.print_losses(result.frame, hidden)
        self.print_errors(result.errors, result.summary.errors)
        self.print_summary(result.summary)
        print_operations(result.operations, self.out)
        if written is not None:
            self.out.print(
                Text("\n" + translate("written to {file}", file=written)), soft_wrap=True
            )

    def print_breakdown(
        self, frame: pl.DataFrame, hidden: int = 0, writes: str = "-o FILE"
    ) -> None:
        """Print a row for each answer: what was got and expected, each axis, the score."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        table.add_column(
            translate("item"), no_wrap=True, min_width=min(24, _measure_widest_label(frame))
        )
        table.add_column(translate("got"), overflow="ellipsis", no_wrap=True, max_width=34)
        table.add_column(translate("expected"), overflow="ellipsis", no_wrap=True, max_width=26)
        for spec in self.rubric:
            table.add_column(spec.name, justify="center", no_wrap=True)
        table.add_column(translate("score"), justify="right", no_wrap=True)
        for row in frame.filter(frame["status"] != "error").iter_rows(named=True):
            table.add_row(*self._build_row(row))
        self.out.print(table)
        if hidden:
            more = translate(
                "… {n:,} more rows are not shown; {command} writes all of them",
                n=hidden,
                command=writes,
            )
            self.out.print(Text(more), soft_wrap=True)

    def _build_row(self, row: Mapping[str, Any]) -> list[Text | str]:
        got = row["got"] if row["got"] is not None else _ROW_STATUS_WORDS[row["status"]]
        got = got if row["got"] is not None else translate_stored(got)
        cells = [self._format_mark(row["breakdown"], spec.name) for spec in self.rubric]
        score = "–" if row["score"] is None else f"{row['score']:.2f}"
        style = "red" if row["score"] is None or row["score"] < 1 else ""
        return [
            Text(_format_row_label(row)),
            Text(_replace_unprintable(got), style="" if row["got"] is not None else "magenta"),
            Text(_replace_unprintable(", ".join(row["expected"] or []))),
            *cells,
            Text(score, style=style),
        ]

    def _format_mark(self, breakdown: Mapping[str, float | None] | None, axis: str) -> Text:
        value = None if breakdown is None else breakdown[axis]
        if value is None:
            return Text("–", style="magenta")
        if value in {0, 1}:
            return Text(self._mark_signs[0 if value else 1], style="green" if value else "red")
        return Text(f"{value:.2f}", style="yellow")

    def print_losses(self, frame: pl.DataFrame, hidden: int = 0) -> None:
        """Print why points were lost, cell by cell, the heaviest axis first."""
        rows = list(_iterate_marked_rows(frame))
        heaviest = sorted(self.rubric, key=lambda spec: -spec.weight)
        lost = [
            (row, spec) for spec in heaviest for row in rows if _has_lost_points(row, spec.name)
        ]
        if not lost:
            return
        self.out.print(f"\n[bold]{translate('Where points were lost')}[/bold]")
        table = Table(box=None, pad_edge=False, show_header=False, show_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for row, spec in lost[:LOSSES_SHOWN]:
            reason = Text(_replace_unprintable(translate_stored(row["reason"][spec.name])))
            table.add_row(Text(_format_row_label(row)), Text(spec.name, style="red"), reason)
        self.out.print(table)
        if len(lost) > LOSSES_SHOWN:
            more = len(lost) - LOSSES_SHOWN
            self.out.print(
                translate("… and {n:,} more in the rows above", n=more)
                if hidden
                else translate("… and {n:,} more", n=more)
            )

    def print_errors(self, errors: Sequence[RowError], total: int) -> None:
        """Print the rows that were no answers."""
        if not total:
            return
        many = format_bad_row_count(total, live=self._is_live)
        self.out.print(f"\n[bold]{many}[/bold] ({translate('not scored')})")
        for error in errors[:ERRORS_SHOWN]:
            excerpt = f"  {error.excerpt}" if error.excerpt else ""
            reason = format_bad_row_reason(error, live=self._is_live)
            self.out.print(Text(f"{reason}{excerpt}"), soft_wrap=True)
        if total > ERRORS_SHOWN:
            self.out.print(translate("… and {n:,} more", n=total - ERRORS_SHOWN))

    def print_summary(self, summary: Summary) -> None:
        """Print the mean, the axes, what is missing, and the worst groups."""
        self.out.print()
        counts = translate(
            "{n:,} answers scored, {items:,} items", n=summary.n, items=summary.items
        )
        score = translate("score {score}", score=format_decimal(summary.score))
        self.out.print(f"[bold]{score}[/bold]  ({counts})", highlight=False)
        for spec in self.rubric:
            value = summary.axes[spec.name]
            self.out.print(
                f"  {spec.name:<16} {format_decimal(value):>7}  × {spec.weight}  {self._draw_bar(value)}",
                highlight=False,
            )
        if len(summary.subjects) > 1:
            self._print_subjects(summary)
        if summary.missing:
            named = ", ".join(summary.missing[:ERRORS_SHOWN])
            more = len(summary.missing) - ERRORS_SHOWN
            tail = f" {translate('and {n:,} more', n=more)}" if more > 0 else ""
            head = translate("missing ({n:,})", n=len(summary.missing))
            self.out.print(Text(f"{head}: {named}{tail}", "magenta"))
        if summary.unscored:
            unscored = translate("{n:,} answers could not be scored", n=summary.unscored)
            self.out.print(Text(unscored, "magenta"))
        self._print_worst_groups(summary)

    def _print_subjects(self, summary: Summary) -> None:
        for found in summary.subjects:
            missing = translate("{n:,} missing", n=len(found.missing))
            lacking = f", {missing}" if found.missing else ""
            answers = translate_plural("{n:,} answer", "{n:,} answers", found.n)
            who = translate("subject {subject}", subject=found.subject or translate("(none)"))
            self.out.print(
                Text(
                    f"  {_replace_unprintable(f'{who}: {format_decimal(found.score)} ({answers}{lacking})')}"
                )
            )

    def _print_worst_groups(self, summary: Summary) -> None:
        tags: dict[str, list[TagGroup]] = {}
        for group in summary.groups:
            if summary.score is not None and group.score < summary.score:
                tags.setdefault(group.tag, []).append(group)
        if not tags:
            return
        self.out.print(f"\n[bold]{translate('Worst groups')}[/bold]")
        for tag, groups in tags.items():
            named = ", ".join(self._format_group(group) for group in groups[:GROUPS_SHOWN])
            self.out.print(Text(f"  {tag}: {named}"), highlight=False)

    def _format_group(self, group: TagGroup) -> str:
        worst = min(group.axes, key=lambda axis: (group.axes[axis], axis))
        return f"{group.value} {format_decimal(group.score)} ({group.n}, {worst} {format_decimal(group.axes[worst])})"

    def _draw_bar(self, value: Fraction | None, width: int = 20) -> str:
        if value is None:
            return ""
        full, empty = ("█", "·") if _can_print_unicode(self.out) else ("#", ".")
        filled = int(value * width)
        return full * filled + empty * (width - filled)

    def print_gates(self, outcomes: Iterable[GateOutcome]) -> None:
        """Print each gate: met or not, what was seen, and the target."""
        self.out.print()
        for found in outcomes:
            gate = found.gate
            target = translate("target {target}", target=gate.target)
            tail = f"; {target}" if gate.target is not None else ""
            line = Text(f"{format_gate_name(gate.level, gate.name)}: ")
            line.append(
                translate_stored(_GATE_WORDS[found.outcome]), style=_OUTCOME_STYLES[found.outcome]
            )
            line.append(f" ({translate_stored(found.because)}{tail})")
            self.out.print(line, highlight=False, soft_wrap=True)


_GATE_WORDS = {
    Outcome.PASS: sentence("MET"),
    Outcome.WARN: sentence("NOT MET, a warning"),
    Outcome.FAIL: sentence("NOT MET"),
    Outcome.UNDECIDED: sentence("CANNOT TELL"),
    Outcome.NOT_APPLICABLE: sentence("DOES NOT APPLY"),
}
_ROW_STATUS_WORDS = {
    "missing": sentence("missing"),
    "unscored": sentence("unscored"),
    "scored": sentence("scored"),
}


def format_gate_name(level: Level, name: str) -> str:
    """Return how pages call a gate."""
    return (
        translate("hard gate {gate}", gate=name)
        if level is Level.HARD
        else translate("soft gate {gate}", gate=name)
    )


def _format_row_label(row: Mapping[str, Any]) -> str:
    """Return the item, with the subject and the attempt where they are told."""
    subject = f"{row['subject']}/" if row["subject"] is not None else ""
    attempt = f"#{row['attempt']}" if row["attempt"] not in {None, 1} else ""
    return _replace_unprintable(f"{subject}{row['item']}{attempt}")


def _measure_widest_label(frame: pl.DataFrame) -> int:
    return max(map(len, map(_format_row_label, frame.iter_rows(named=True))), default=0)


def _iterate_marked_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    rows = frame.filter(frame["status"].is_in(["scored", "unscored"])).iter_rows(named=True)
    return restore_row_messages(rows)


def _has_lost_points(row: Mapping[str, Any], axis: str) -> bool:
    value = row["breakdown"][axis]
    return value is None or value < 1


def _replace_unprintable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _can_print_unicode(out: Console) -> bool:
    return out.encoding.lower().startswith("utf")
