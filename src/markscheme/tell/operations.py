"""Operational metrics for people: a line for each group of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.exact import show
from markscheme.tell.language import harmless, say, say_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from rich.console import Console

    from markscheme.weigh.operations import Operation, OperationGroup


def print_operations(groups: Sequence[OperationGroup], out: Console) -> None:
    """Print means and sums; `≥` marks what may be higher, and unknown ones are counted."""
    if not groups:
        return
    out.print(f"\n[bold]{say('Measured, not scored: mean (sum)')}[/bold]")
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    heads = (say("sessions"), say("latency s"), say("tool calls"), say("dispatches"), say("tokens"))
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for group in _telling(groups):
        metrics = (_told(found) for found in group.metrics.values())
        table.add_row(Text(harmless(_name(group))), str(group.sessions), *metrics)
    out.print(table)


def _telling(groups: Sequence[OperationGroup]) -> Iterator[OperationGroup]:
    """Yield the groups without those that only say again what the group above them says."""
    above = 0
    for group in groups:
        if group.variant is None:
            above = group.sessions
        if group.variant is None or group.sessions < above:
            yield group


def _name(group: OperationGroup) -> str:
    of = group.item or (f"{group.tag}: {group.value}" if group.tag else say("all"))
    return of if group.variant is None else f"  {of}, {group.variant}"


def _told(found: Operation) -> str:
    if found.sum is None:
        return "–"
    bound = "≥ " if found.lower_bounds else ""
    unknown = f" {say_many('{n} unknown', '{n} unknown', found.unknown)}" if found.unknown else ""
    return f"{bound}{_number(found.mean)} ({_number(found.sum)}){unknown}"


def _number(value: Fraction | None) -> str:
    whole, _, decimals = show(value, 2).partition(".")
    return f"{int(whole):,}" if decimals == "00" else f"{int(whole):,}.{decimals}"
