"""Terminal pages of scored runs: one run with its rows, losses and totals; one item; the run list.

This module is loaded whenever `score` prints, so it imports neither gates nor patterns nor reports;
the terminal pages of judged runs are in `verdicts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.mark.axes import ALTERNATIVE_BAR
from markscheme.tell.console import create_console
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.tell.words import (
    format_answer_lines,
    format_bad_row_count,
    format_bad_row_reason,
    format_cell_reason,
    format_item_line,
    format_mean,
)
from markscheme.vocabulary import (
    ZERO,
    Level,
    Outcome,
    Status,
    format_decimal,
    format_fixed,
    restore_row_messages,
    sentence,
    to_fraction,
)
from markscheme.workflows.sinks import select_worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    import polars as pl

    from markscheme.vocabulary import Item, ItemReport, RowError, Rubric, Summary, TagGroup
    from markscheme.weigh.gates import GateOutcome
    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import OperationalMetric, OperationGroup


# The worst rows, and as many of their losses.
LOSSES_SHOWN = 15
# From this width on, the list of runs is a table.
_WIDE = 100
_HEAD_WIDTH = 8
_TEXT_WIDTH = 12
_MAX_GOT = 160
_COLUMN_GAP = 2
# Axes may take so much of the width before their heads are shortened.
_AXES_SHARE = 0.45
ERRORS_SHOWN = 10
GROUPS_SHOWN = 3
_NOT_APPLICABLE = Status.NOT_APPLICABLE.value
_NAME_WIDTH = 24  # of subjects, exams and rubrics in the list of runs
_OUTCOME_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.WARN: "bold yellow",
    Outcome.FAIL: "bold red",
    Outcome.UNDECIDED: "bold magenta",
    Outcome.NOT_APPLICABLE: "dim",
}


@dataclass(frozen=True, kw_only=True)
class ShownRows:
    """Which rows a page shows: the worst, or `every` one that was kept.

    `hidden` rows were not kept, because the run is large; `writes` is the option that writes all of
    them, and `written` the file that it wrote.
    """

    every: bool = False
    hidden: int = 0
    written: Path | None = None
    writes: str = "-o FILE"


class RunPage:
    """Print one run, part by part: the totals first, then the rows."""

    def __init__(
        self, rubric: Rubric, out: Console | None = None, *, is_live: bool = False
    ) -> None:
        self.rubric = rubric
        self._is_live = is_live
        self.out = out or create_console()
        self._mark_signs = ("✓", "✗") if _can_print_unicode(self.out) else ("1", "0")

    def print_run(self, result: Result, rows: ShownRows) -> None:
        """Print the totals of a run, then the rows that lost points, or all of them."""
        self.print_summary(result.summary)
        self.print_rows(result, rows)

    def print_rows(self, result: Result, rows: ShownRows) -> None:
        """Print the worst rows and why they lost points, what was no answer, what was measured."""
        frame = result.frame.filter(result.frame["status"] != "error")
        has_all = rows.every and not rows.hidden
        shown = frame if has_all else select_worst(frame, LOSSES_SHOWN)
        named = len(result.summary.subjects) > 1
        title = translate("All rows") if has_all else translate("Rows that lost points")
        self.out.print(f"\n[bold]{title}[/bold]")
        if shown.height:
            self._print_breakdown(shown, named=named)
        else:
            self.out.print(translate("no answer lost points"))
        self._print_hidden_rows(shown.height, frame.height + rows.hidden, rows)
        self._print_losses(shown, None if has_all else LOSSES_SHOWN, named=named)
        self.print_errors(result.errors, result.summary.errors)
        print_operations(result.operations, self.out)
        if rows.written is not None:
            self.out.print(
                Text("\n" + translate("written to {file}", file=rows.written)), soft_wrap=True
            )

    def _print_breakdown(self, frame: pl.DataFrame, *, named: bool) -> None:
        """Print a row for each answer: what was got and expected, each axis, the score."""
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        table.add_column(translate("item"), overflow="fold")
        table.add_column(translate("got"), overflow="fold", min_width=_TEXT_WIDTH)
        table.add_column(translate("expected"), overflow="ellipsis", no_wrap=True, max_width=26)
        for head in self._build_axis_heads():
            table.add_column(head, justify="center", no_wrap=True)
        table.add_column(translate("score"), justify="right", no_wrap=True)
        for row in frame.iter_rows(named=True):
            table.add_row(*self._build_row(row, named=named))
        self.out.print(table)

    def _print_hidden_rows(self, shown: int, total: int, rows: ShownRows) -> None:
        """Say how many rows are not shown, and how to see them."""
        if shown == total:
            return
        if rows.hidden:
            more = translate_plural(
                "… {n:,} more row is not shown; {command} writes all of them",
                "… {n:,} more rows are not shown; {command} writes all of them",
                total - shown,
                command=rows.writes,
            )
        else:
            more = translate_plural(
                "… {n:,} more row: --all shows it",
                "… {n:,} more rows: --all shows them",
                total - shown,
            )
        self.out.print(Text(more), soft_wrap=True)

    def _build_axis_heads(self) -> list[str]:
        """Return the heads of the axes: their names, or short ones where there is no room."""
        names = [spec.name for spec in self.rubric]
        widths = sum(len(name) + _COLUMN_GAP for name in names)
        if widths <= self.out.width * _AXES_SHARE:
            return names
        titles = [spec.title or spec.name for spec in self.rubric]
        short = [_shorten_head(min(pair, key=len)) for pair in zip(names, titles, strict=True)]
        return short if len(set(short)) == len(short) else names

    def _build_row(self, row: Mapping[str, Any], *, named: bool) -> list[Text | str]:
        got = row["got"] if row["got"] is not None else _ROW_STATUS_WORDS[row["status"]]
        got = got if row["got"] is not None else translate_stored(got)
        cells = [self._format_mark(row, spec.name) for spec in self.rubric]
        score = _format_score(row)
        is_fine = row["status"] == _NOT_APPLICABLE or (row["score"] or 0) >= 1
        style = "" if is_fine else "red"
        return [
            Text(_format_row_label(row, named=named)),
            Text(_shorten_got(got), style="" if row["got"] is not None else "magenta"),
            Text(_replace_unprintable(_join_expected(row["expected"] or []))),
            *cells,
            Text(score, style=style),
        ]

    def _format_mark(self, row: Mapping[str, Any], axis: str) -> Text:
        value = None if row["breakdown"] is None else row["breakdown"][axis]
        if value is None:
            is_excused = _get_cell_status(row, axis) == _NOT_APPLICABLE
            return Text("n/a") if is_excused else Text("–", style="magenta")
        if value in {0, 1}:
            return Text(self._mark_signs[0 if value else 1], style="green" if value else "red")
        return Text(format_fixed(to_fraction(value), 2), style="yellow")

    def _print_losses(self, frame: pl.DataFrame, most: int | None, *, named: bool) -> None:
        """Print why points were lost, cell by cell, the heaviest axis first; `None` is all."""
        marked = frame.filter(frame["status"].is_in(["scored", "unscored"]))
        rows = list(restore_row_messages(marked.iter_rows(named=True)))
        lost = []
        for spec in sorted(self.rubric, key=lambda spec: -spec.weight):
            for row in rows:
                value = row["breakdown"][spec.name]
                is_excused = value is None and _get_cell_status(row, spec.name) == _NOT_APPLICABLE
                if not is_excused and (value is None or value < 1):
                    lost.append((row, spec))
        if not lost:
            return
        self.out.print(f"\n[bold]{translate('Where points were lost')}[/bold]")
        table = Table(box=None, pad_edge=False, show_header=False, show_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for row, spec in lost[:most]:
            reason = Text(_replace_unprintable(format_cell_reason(row, spec.name)))
            label = Text(_format_row_label(row, named=named))
            table.add_row(label, Text(spec.name, style="red"), reason)
        self.out.print(table)
        more = 0 if most is None else len(lost) - most
        if more > 0:
            self.out.print(translate("… and {n:,} more in the rows above", n=more))

    def print_errors(self, errors: Sequence[RowError], total: int) -> None:
        """Print the first of the rows that were no answers."""
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
        scored = translate_plural("{n:,} answer scored", "{n:,} answers scored", summary.n)
        counts = f"{scored}, {translate_plural('{n:,} item', '{n:,} items', summary.items)}"
        score = translate("score {score}", score=format_mean(summary.score, summary.bounds))
        self.out.print(f"[bold]{score}[/bold]  ({counts})", highlight=False)
        if summary.score is not None and summary.bounds is not None:
            between = format_mean(None, summary.bounds)
            whole = translate("with all that is missing, the score is {between}", between=between)
            self.out.print(Text(f"  {whole}", "magenta"))
        for spec in self.rubric:
            value, bounds = summary.axes[spec.name], summary.axis_bounds.get(spec.name)
            self.out.print(
                f"  {spec.name:<16} {format_mean(value, bounds):>7}  × {spec.weight}"
                f"  {self._draw_bar(value)}{_format_unjudged(summary, spec.name)}",
                highlight=False,
            )
        if len(summary.subjects) > 1:
            self._print_subjects(summary)
        elif summary.subjects and summary.subjects[0].subject is not None:
            who = translate("subject {subject}", subject=summary.subjects[0].subject)
            self.out.print(Text(f"  {_replace_unprintable(who)}"))
        if summary.missing:
            named = ", ".join(summary.missing[:ERRORS_SHOWN])
            more = len(summary.missing) - ERRORS_SHOWN
            tail = f" {translate('and {n:,} more', n=more)}" if more > 0 else ""
            head = translate("missing ({n:,})", n=len(summary.missing))
            self.out.print(Text(f"{head}: {named}{tail}", "magenta"))
        if summary.unscored:
            unscored = translate_plural(
                "{n:,} answer could not be scored",
                "{n:,} answers could not be scored",
                summary.unscored,
            )
            self.out.print(Text(unscored, "magenta"))
        self._print_worst_groups(summary)

    def _print_subjects(self, summary: Summary) -> None:
        for found in summary.subjects:
            missing = translate("{n:,} missing", n=len(found.missing))
            lacking = f", {missing}" if found.missing else ""
            answers = translate_plural("{n:,} answer", "{n:,} answers", found.n)
            who = translate("subject {subject}", subject=found.subject or translate("(none)"))
            line = f"{who}: {format_mean(found.score, found.bounds)} ({answers}{lacking})"
            self.out.print(Text(f"  {_replace_unprintable(line)}"))

    def _print_worst_groups(self, summary: Summary) -> None:
        tags: dict[str, list[TagGroup]] = {}
        for group in summary.groups:
            if _get_highest(group) < _get_highest(summary):
                tags.setdefault(group.tag, []).append(group)
        if not tags:
            return
        self.out.print(f"\n[bold]{translate('Worst groups')}[/bold]")
        for tag, groups in tags.items():
            named = []
            for group in groups[:GROUPS_SHOWN]:
                known = [(mean, axis) for axis, mean in group.axes.items() if mean is not None]
                worst = min(known, default=None)
                axis_text = f", {worst[1]} {format_decimal(worst[0])}" if worst else ""
                mean = format_mean(group.score, group.bounds)
                named.append(f"{group.value} {mean} ({group.n}{axis_text})")
            self.out.print(Text(f"  {tag}: {', '.join(named)}"), highlight=False)

    def _draw_bar(self, value: Fraction | None, width: int = 20) -> str:
        if value is None:
            return ""
        full, empty = ("█", "·") if _can_print_unicode(self.out) else ("#", ".")
        filled = int(value * width)
        return full * filled + empty * (width - filled)

    def print_gates(self, outcomes: Iterable[GateOutcome]) -> None:
        """Print each gate, if there are any: met or not, what was seen, and the target."""
        for number, found in enumerate(outcomes):
            if number == 0:
                self.out.print()
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
    """Return the name of a gate with its level."""
    return (
        translate("hard gate {gate}", gate=name)
        if level is Level.HARD
        else translate("soft gate {gate}", gate=name)
    )


def _get_highest(totals: Summary | TagGroup) -> Fraction:
    """Return the mean, or the highest that it can be; 0 if there is none."""
    highest = totals.score if totals.bounds is None else totals.bounds.high
    return ZERO if highest is None else highest


def _format_unjudged(summary: Summary, axis: str) -> str:
    """Return how many answers an axis could judge; empty if it judged all of them."""
    if not summary.unjudged[axis]:
        return ""
    named = {"n": summary.judged[axis], "answers": summary.answers}
    return "  " + translate("({n:,} of {answers:,} answers could be judged)", **named)


def _get_cell_status(row: Mapping[str, Any], axis: str) -> str | None:
    """Return the status of a cell, if its row says more than a value."""
    status: str | None = (row.get("cell_status") or {}).get(axis)
    return status


def _format_score(row: Mapping[str, Any]) -> str:
    """Return the score of a row with two decimals, or its bounds."""
    if row["score"] is not None:
        return format_fixed(to_fraction(row["score"]), 2)
    if row["status"] == _NOT_APPLICABLE:
        return "n/a"
    bounds = row["bounds"] or ()
    return " … ".join(format_fixed(to_fraction(bound), 2) for bound in bounds) or "–"


def _format_row_label(row: Mapping[str, Any], *, named: bool) -> str:
    """Return the item, with its attempt and, if rows are `named`, its subject."""
    subject = f"{row['subject']}/" if named and row["subject"] is not None else ""
    attempt = f"#{row['attempt']}" if row["attempt"] not in {None, 1} else ""
    return _replace_unprintable(f"{subject}{row['item']}{attempt}")


def _shorten_head(name: str) -> str:
    r"""Return a name with its words one below the other, each cut to a few letters.

    >>> _shorten_head("spanish_gloss"), _shorten_head("correctness")
    ('spanish\ngloss', 'correct…')
    """
    words = name.replace("_", " ").split()
    cut = (f"{word[: _HEAD_WIDTH - 1]}…" if len(word) > _HEAD_WIDTH else word for word in words)
    return "\n".join(cut)


def _shorten_got(got: str) -> str:
    """Return an answer on one line; only a long text is cut, and it says how long it is."""
    text = _replace_unprintable(got)
    if len(text) <= _MAX_GOT:
        return text
    return translate("{start}… ({n:,} characters)", start=text[:_MAX_GOT], n=len(text))


def _join_expected(expected: Iterable[str]) -> str:
    """Return what is expected as a narrow column shows it: of alternatives, the first."""
    return ", ".join(entry.partition(ALTERNATIVE_BAR)[0] for entry in expected)


def _replace_unprintable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _can_print_unicode(out: Console) -> bool:
    return out.encoding.lower().startswith("utf")


def print_operations(groups: Sequence[OperationGroup], out: Console) -> None:
    """Print what was measured in session logs: means and sums for each group of sessions.

    `≥` marks a value that may be higher; sessions without a value are counted as unknown.
    """
    if not groups:
        return
    out.print(f"\n[bold]{translate('Measured, not scored: mean (sum)')}[/bold]")
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    heads = (
        translate("sessions"),
        translate("latency s"),
        translate("tool calls"),
        translate("dispatches"),
        translate("tokens"),
    )
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for group in _skip_repeated_groups(groups):
        metrics = (_format_operation(found) for found in group.metrics.values())
        table.add_row(
            Text(replace_control_characters(_format_group_name(group))),
            str(group.sessions),
            *metrics,
        )
    out.print(table)


def _skip_repeated_groups(groups: Sequence[OperationGroup]) -> Iterator[OperationGroup]:
    """Yield the groups, except variants that hold all sessions of the group above them."""
    above = 0
    for group in groups:
        if group.variant is None:
            above = group.sessions
        if group.variant is None or group.sessions < above:
            yield group


def _format_group_name(group: OperationGroup) -> str:
    of = group.item or (f"{group.tag}: {group.value}" if group.tag else translate("all"))
    return of if group.variant is None else f"  {of}, {group.variant}"


def _format_operation(found: OperationalMetric) -> str:
    if found.sum is None:
        return "–"
    bound = "≥ " if found.lower_bounds else ""
    unknown = (
        f" {translate_plural('{n} unknown', '{n} unknown', found.unknown)}" if found.unknown else ""
    )
    mean, total = map(_format_operation_number, (found.mean, found.sum))
    return f"{bound}{mean} ({total}){unknown}"


def _format_operation_number(value: Fraction | None) -> str:
    whole, _, decimals = format_decimal(value, 2).partition(".")
    return f"{int(whole):,}" if decimals == "00" else f"{int(whole):,}.{decimals}"


def explain_item(item: Item, found: ItemReport, rubric: Rubric) -> Iterator[str]:
    """Yield the lines that explain one item: tags, prompt, and each answer with its cells."""
    yield f"{item.id}: {format_item_line(found, rubric)}"
    tags = ", ".join(f"{tag}={value}" for tag, value in item.tags.items())
    if tags:
        yield f"  {translate('tags')}: {tags}"
    yield f"  {translate('prompt')}: {item.prompt}"
    for row in found.answers:
        yield from (f"  {line}" for line in format_answer_lines(row, rubric, item))
    if found.more:
        yield f"  {translate('… and {n:,} more', n=found.more)}"


def print_run_list(document: dict[str, Any]) -> None:
    """Print the list of stored runs as a table."""
    out = create_console()
    if not document["runs"]:
        out.print(translate("no run is stored that fits"))
        return
    rows = [_build_run_cells(run) for run in document["runs"]]
    if out.width < _WIDE:
        _print_runs_on_two_lines(rows, out)
    else:
        _print_run_table(rows, out)
    for warning in document["warnings"]:
        line = replace_control_characters(translate_stored(warning))
        out.print(Text(f"\n{line}", "yellow"), soft_wrap=True)


def _print_run_table(rows: Sequence[Sequence[str]], out: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for name in (translate("run"), translate("started (UTC)")):
        table.add_column(name, no_wrap=True)
    for name in (translate("subject"), translate("exam"), translate("rubric")):
        table.add_column(name, overflow="ellipsis", max_width=_NAME_WIDTH)
    table.add_column(translate("score"), justify="right", no_wrap=True)
    table.add_column(translate("answers"), justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)


def _print_runs_on_two_lines(rows: Sequence[Sequence[str]], out: Console) -> None:
    """Print each run where there is no room for a table: what it is of stands below it."""
    counts = [max(len(row[5]) for row in rows), max(len(row[6]) for row in rows)]
    for id_, started, subject, exam, rubric, score, answers, notes in rows:
        n = translate("{n} answers", n=answers.rjust(counts[1]))
        line = f"{id_}  {started}  {score.rjust(counts[0])}  {n}"
        out.print(Text(f"{line}  {notes}".rstrip(), "bold"), soft_wrap=True)
        who = "" if subject == "–" else f"{subject}, "
        out.print(Text(f"  {who}{exam}, {rubric}"), soft_wrap=True)


def _build_run_cells(run: dict[str, Any]) -> list[str]:
    score = "–" if run["score"] is None else format_fixed(to_fraction(run["score"]))
    if run["score"] is None and run.get("bounds"):
        score = " … ".join(format_fixed(to_fraction(bound), 2) for bound in run["bounds"])
    answers = "–" if run["answers"] is None else f"{run['answers']:,}"
    return [
        run["id"],
        run["started"][:16].replace("T", " "),
        replace_control_characters(run["subject"] or "–"),
        run["exam"]["name"],
        f"{run['rubric']['name']} v{run['rubric']['version']}",
        score,
        answers,
        ", ".join(_list_run_notes(run)),
    ]


def _list_run_notes(run: dict[str, Any]) -> Iterable[str]:
    if run["status"] == "open":
        yield translate("not finished")
    elif not run["complete"]:
        yield translate("incomplete")
    if run["baseline"]:
        yield translate("baseline")
    if run["rescored_from"]:
        yield translate("rescored from {run}", run=run["rescored_from"][:6])
    yield from (translate("tag {tag}", tag=tag) for tag in run["tags"])
