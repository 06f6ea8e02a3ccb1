"""Operational metrics for people: a line for each group of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.tell.language import replace_control_characters, translate, translate_plural
from markscheme.vocabulary import format_decimal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from rich.console import Console

    from markscheme.weigh.totals import OperationalMetric, OperationGroup


def print_operations(groups: Sequence[OperationGroup], out: Console) -> None:
    """Print means and sums; `≥` marks what may be higher, and unknown ones are counted."""
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
    """Yield the groups without those that only say again what the group above them says."""
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
    return f"{bound}{_format_operation_number(found.mean)} ({_format_operation_number(found.sum)}){unknown}"


def _format_operation_number(value: Fraction | None) -> str:
    whole, _, decimals = format_decimal(value, 2).partition(".")
    return f"{int(whole):,}" if decimals == "00" else f"{int(whole):,}.{decimals}"
