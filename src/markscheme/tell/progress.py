"""Progress on a terminal; silence in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.aggregate import Counts

    class Scored(Protocol):
        """Anything that was scored."""

        @property
        def answers(self) -> int:
            """How many answers it has."""

        @property
        def counts(self) -> Counts:
            """What was counted."""

    S = TypeVar("S", bound=Scored)


def watched(stretches: Iterable[S], label: str) -> Iterator[S]:
    """Hand the stretches on, and show on stderr how many answers went by if a person watches."""
    if not sys.stderr.isatty():
        yield from stretches
        return
    from rich.console import Console  # noqa: PLC0415 - only where a person watches
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"reading {label}")
        answers = errors = 0
        for stretch in stretches:
            yield stretch
            answers += stretch.answers
            errors += stretch.counts.errors
            bad = f", {errors:,} bad rows" if errors else ""
            progress.update(task, description=f"{answers:,} answers scored{bad}")
