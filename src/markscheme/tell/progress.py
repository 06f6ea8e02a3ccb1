"""Progress on a terminal; silence in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.answers import AnswerBatch


def watched(batches: Iterable[AnswerBatch], label: str) -> Iterator[AnswerBatch]:
    """Hand the batches on, and show on stderr how many answers went by if a person watches."""
    if not sys.stderr.isatty():
        yield from batches
        return
    from rich.console import Console  # noqa: PLC0415 - only where a person watches
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"reading {label}")
        answers = errors = 0
        for batch in batches:
            yield batch
            answers += len(batch.items)
            errors += len(batch.errors)
            bad = f", {errors:,} bad rows" if errors else ""
            progress.update(task, description=f"{answers:,} answers scored{bad}")
