"""Recording: a run is kept while its rows flow past, so that a killed one loses nothing said."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from markscheme.errors import UsageError
from markscheme.exact import number, ratio
from markscheme.history.beginning import Beginning
from markscheme.keep import check_tag, open_store
from markscheme.weigh.operations import operations_of
from markscheme.weigh.records import error_record, summary_record
from markscheme.weigh.summaries import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from markscheme.vocabulary import Exam, Rubric, Summary
    from markscheme.weigh.results import Result
    from markscheme.weigh.runs import Run

ANSWERS = (
    "item",
    "output",
    "subject",
    "attempt",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost",
    "line",
)
# No weight is in them, so that they serve under new weights too.
CELLS = ("got", "breakdown", "reading", "reason", "near_miss")


class Recorder:
    """Keeps the answers of each subject as a run of its own."""

    def __init__(self, beginning: Beginning, tag: str | None = None) -> None:
        self._store = beginning.store
        self._beginning = beginning
        self._tag = tag

    def keep(self, outputs: pl.Series, frame: pl.DataFrame) -> None:
        """Keep the answers of one batch and their cells; when this returns, they are on disk."""
        with self._store.together():
            rows = frame.with_columns(outputs.alias("output"))
            for part in rows.partition_by("subject", maintain_order=True):
                run = self._beginning.run(part["subject"][0])
                self._store.append(run, part.select(ANSWERS), part.select(CELLS))

    def finish(self, result: Result, more: Mapping[str, Any] | None = None) -> list[str]:
        """Close every run with what is decided about it, and more to be told; return their ids.

        A tag names one run, so the answers must be of one subject.
        """
        runs: list[str] = []
        errors = [error_record(error) for error in result.errors]
        with self._store.together():
            for run in result.runs:
                summary = self._summary(result, run)
                record = {**summary_record(summary), "bad_rows": errors, **(more or {})}
                if result.operations:
                    record["operational"] = operations_of(result.operations, run.subject)
                runs.append(self._beginning.run(run.subject))
                self._store.finish(
                    runs[-1],
                    counts=counts_of(summary),
                    summary=record,
                    measures=run.measures.to_dict(),
                    marks=run.marks.to_dict(),
                )
        if self._tag is not None:
            if len(runs) != 1:
                told = f"a tag names one run; the answers are of {len(runs):,} subjects"
                raise UsageError(f"{told}, whose runs are stored without it")
            self._store.tag(runs[0], self._tag)
        return runs

    def _summary(self, result: Result, run: Run) -> Summary:
        """Return the totals of one run; those of the result where it is the only one."""
        if [one.subject for one in result.summary.subjects] == [run.subject]:
            return result.summary
        beginning = self._beginning
        return summarise(beginning.rubric, beginning.exam, run.marks, [(run.subject, run.marks)])


@contextmanager
def recording(
    rubric: Rubric,
    exam: Exam,
    source: str | None = None,
    *,
    tag: str | None = None,
    where: str | Path | None = None,
    skip: bool = False,
) -> Iterator[Recorder | None]:
    """Give a recorder to the store, which is made where it is not there; none to `skip` it."""
    if tag is not None:
        check_tag(tag)
    if skip:
        if tag is not None:
            raise UsageError("a run that is not stored cannot have a tag; leave out one of the two")
        yield None
        return
    with open_store(where, create=True) as store:
        yield Recorder(Beginning(store, rubric, exam, source=lambda _: source), tag)


def counts_of(summary: Summary) -> dict[str, Any]:
    """Return the few numbers that the list of runs shows."""
    return {
        "score": number(summary.score),
        "exact": ratio(summary.score),
        "n": summary.n,
        "answers": summary.answers,
        "items": summary.items,
        "missing": len(summary.missing),
        "errors": summary.errors,
        "complete": summary.complete,
    }
