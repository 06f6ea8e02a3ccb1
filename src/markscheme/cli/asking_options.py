"""Options of the commands that ask live subjects: how fast, how long, for how much."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import format_value

if TYPE_CHECKING:
    from collections.abc import Callable


class _AmountParam(click.ParamType[Decimal]):
    """Parameter type of an exact number that is not negative."""

    name = "amount"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal(-1)
        if not amount.is_finite() or not 0 <= amount <= MAX_STORABLE_NUMBER:
            self.fail(
                f"{format_value(str(value))} is no amount; write a number such as 0.5", param, ctx
            )
        return amount


AMOUNT_TYPE = _AmountParam()
_SECONDS_TYPE = click.FloatRange(0, min_open=True)
_ASKING_OPTIONS = (
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        default=8,
        show_default=True,
        metavar="N",
        help="Maximum number of questions at the same time.",
    ),
    click.option(
        "--timeout",
        type=_SECONDS_TYPE,
        default=60,
        show_default=True,
        help="Time limit of one request, in seconds.",
    ),
    click.option(
        "--retries",
        type=click.IntRange(0),
        default=4,
        show_default=True,
        metavar="N",
        help="Retries after a transient error, such as a timeout or status 503.",
    ),
    click.option(
        "--requests-per-minute", type=click.IntRange(1), metavar="N", help="A limit of the subject."
    ),
    click.option(
        "--tokens-per-minute", type=click.IntRange(1), metavar="N", help="A limit of the subject."
    ),
    click.option("--price", metavar="IN:OUT", help="Price of a million tokens, input and output."),
    click.option(
        "--max-cost", type=AMOUNT_TYPE, metavar="AMOUNT", help="Stop when this amount is spent."
    ),
    click.option(
        "--max-time",
        type=_SECONDS_TYPE,
        metavar="SECONDS",
        help="Stop after this many seconds.",
    ),
    click.option(
        "--seed",
        type=int,
        default=0,
        show_default=True,
        help="Random seed for the order of questions and retry delays.",
    ),
    click.option(
        "--cache",
        is_flag=True,
        help="Reuse cached answers to identical questions, and cache new ones.",
    ),
    click.option(
        "--resume", is_flag=True, help="Continue an interrupted run: ask only what is missing."
    ),
)


def add_asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of how subjects are asked, in this order."""
    for option in reversed(_ASKING_OPTIONS):
        command = option(command)
    return command
