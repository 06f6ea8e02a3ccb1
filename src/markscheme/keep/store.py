"""The store as the rest of the house sees it. It adds; it never changes or removes a record."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from markscheme.digests import as_json
from markscheme.errors import UsageError, shown
from markscheme.keep.names import check_tag, new_id
from markscheme.keep.parts import add_parts, read_parts
from markscheme.keep.sittings import Sittings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    import polars as pl

    from markscheme.keep.databases import Database
    from markscheme.keep.records import (
        Baseline,
        Chunk,
        Document,
        Kept,
        NewRun,
        Outcomes,
        Run,
        RunData,
        Tag,
    )


class Store:
    """One connection to the store, for one caller at a time.

    When a call returns, its record is on disk.
    """

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection back."""
        self._database.close()

    @property
    def place(self) -> str:
        """Where the store is, as messages name it; holds no password."""
        return self._database.place

    @contextmanager
    def together(self) -> Iterator[None]:
        """Put several records on disk at once: all of them at the end, or none."""
        with self._database.transaction():
            yield

    # --- documents ---

    def put_document(self, document: Document) -> str:
        """Keep a rubric or an exam, once however often it is put; return its digest."""
        digest = document.digest
        values = [digest, document.kind.value, document.name, document.version]
        self._database.change(
            "INSERT INTO documents (digest, kind, name, version, fingerprint, body)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [*values, document.fingerprint, document.body],
        )
        return digest

    def document(self, digest: str) -> Document:
        """Return a kept rubric or exam; one that is not what was kept is refused."""
        from markscheme.keep.records import document_of

        query = (
            "SELECT digest, kind, name, version, fingerprint, body FROM documents WHERE digest = ?"
        )
        for found in self._database.records(query, [digest], document_of):
            return found
        raise UsageError(f"the store holds no document {shown(digest)}")

    # --- writing a run ---

    def begin(self, new: NewRun) -> str:
        """Open a run; return its id."""
        source = (None, None) if new.source is None else (new.source.name, new.source.digest)
        values = [self._time(), new.subject, new.rubric, new.exam, as_json(new.axis_versions)]
        values += [new.tool_version, None if new.seed is None else str(new.seed)]
        values += [*source, new.rescored_from]
        while True:
            id_ = new_id()
            added = self._database.change(
                "INSERT INTO runs (id, started, subject, rubric, exam, axis_versions, tool_version,"
                " seed, source_name, source_digest, rescored_from)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                [id_, *values],
            )
            if added:
                return id_

    def append(self, run: str, answers: pl.DataFrame | Kept, cells: pl.DataFrame | Kept) -> Chunk:
        """Add answers and their cells, row by row in the same order, to an open run.

        A frame that the store has already is kept once; `Kept` names it without giving it again.
        """
        from markscheme.keep import chunks
        from markscheme.keep.records import Chunk

        kept, blobs = chunks.prepared(answers, cells)
        with self._database.transaction():
            seq = self._next_seq(run)
            return chunks.add(self._database, run, Chunk(seq=seq, **kept), blobs)

    def finish(
        self,
        run: str,
        *,
        counts: Mapping[str, Any],
        summary: Mapping[str, Any],
        measures: Mapping[str, Any],
        marks: Mapping[str, Any],
    ) -> None:
        """Close a run with what is decided about it; nothing can be added to it afterwards."""
        parts = {"summary": summary, "measures": measures, "marks": marks}
        bodies = {part: as_json(data) for part, data in parts.items()}
        with self._database.transaction():
            self._next_seq(run)
            self._database.change(
                "INSERT INTO finished (run, finished, counts) VALUES (?, ?, ?)",
                [run, self._time(), as_json(counts)],
            )
            add_parts(self._database, run, bodies)

    def _next_seq(self, run: str) -> int:
        """Inside a transaction: hold the run, make sure that it is open, and number the append."""
        if not self._database.rows("SELECT id FROM runs WHERE id = ? {lock_row}", [run]):
            raise UsageError(f"there is no run {shown(run)}")
        if self._database.rows("SELECT 1 FROM finished WHERE run = ?", [run]):
            raise UsageError(f"the run `{run}` is finished; nothing can be added to it")
        query = "SELECT COALESCE(MAX(seq), 0) + 1 FROM chunks WHERE run = ?"
        return int(self._database.rows(query, [run])[0][0])

    # --- live subjects ---

    @property
    def sittings(self) -> Sittings:
        """The journal of what live subjects were asked."""
        return Sittings(self._database, self._time())

    # --- reading runs ---

    def runs(
        self,
        *,
        rubric: str | None = None,
        exam: str | None = None,
        subject: str | None = None,
        limit: int | None = None,
    ) -> list[Run]:
        """Return the runs of a rubric, an exam (by name) or a subject, the newest first."""
        from markscheme.keep.listing import list_runs

        wanted = {"rubrics.name": rubric, "exams.name": exam, "subject": subject}
        return list_runs(self._database, wanted, limit=limit)

    def find(self, name: str) -> Run:
        """Return the run of this name: an id or its beginning, `latest`, `latest~1`, a tag.

        `latest` is the run that began last, finished or not: one that broke off is not passed over.
        """
        from markscheme.keep.listing import find_run

        return find_run(self._database, name)

    def summaries(self, runs: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the id and the summary of each of these runs that is finished."""
        for run, (summary,) in read_parts(self._database, runs, ["summary"]):
            yield run, summary

    def run_data(self, runs: Iterable[str]) -> Iterator[RunData]:
        """Yield what gates decide on of each of these runs that is finished, in their order."""
        from markscheme.keep.records import RunData

        for run, (measures, marks) in read_parts(self._database, runs, ["measures", "marks"]):
            yield RunData(run=run, measures=measures, marks=marks)

    # --- reading answers and cells ---

    def chunks(self, run: str) -> list[Chunk]:
        """Return what was appended to a run, without reading it."""
        from markscheme.keep import chunks

        return chunks.of_run(self._database, run)

    def answers(self, run: str) -> Iterator[pl.DataFrame]:
        """Yield the answers of a run in the order they were added, some thousands at a time."""
        from markscheme.keep import chunks

        return chunks.frames(self._database, run, "answers")

    def cells(self, run: str) -> Iterator[pl.DataFrame]:
        """Yield the cells of a run, in the order of its answers and as many at a time."""
        from markscheme.keep import chunks

        return chunks.frames(self._database, run, "cells")

    # --- tags, baselines, gate outcomes ---

    def tag(self, run: str, name: str) -> None:
        """Give a run a name of its own; the same name given again names the newer run."""
        check_tag(name)
        self._database.change(
            "INSERT INTO tags (name, run, tagged) VALUES (?, ?, ?)", [name, run, self._time()]
        )

    def tags(self) -> list[Tag]:
        """Return what each tag names now, the newest first."""
        from markscheme.keep.records import tag_of

        query = (
            "SELECT name, run, tagged FROM tags WHERE number IN"
            " (SELECT MAX(number) FROM tags GROUP BY name) ORDER BY number DESC"
        )
        return self._database.records(query, (), tag_of)

    def set_baseline(self, run: str, *, by: str | None, note: str | None) -> Baseline:
        """Make a finished run the baseline of its rubric and exam; the former ones stay on record.

        `run` is a whole id.
        """
        from markscheme.keep.listing import list_runs
        from markscheme.keep.records import Baseline, RunStatus

        found = list_runs(self._database, {"runs.id": run})
        if not found or found[0].status is RunStatus.OPEN:
            raise UsageError(f"the run {shown(run)} is not finished; it cannot be a baseline")
        baseline = Baseline(
            rubric=found[0].rubric.name,
            exam=found[0].exam.name,
            run=run,
            set_at=self._now(),
            set_by=by,
            note=note,
        )
        self._database.change(
            "INSERT INTO baselines (rubric, exam, run, set_at, set_by, note)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [baseline.rubric, baseline.exam, run, _written(baseline.set_at), by, note],
        )
        return baseline

    def baseline(self, rubric: str, exam: str) -> Baseline | None:
        """Return the baseline of a rubric and an exam, by their names."""
        found = self.baselines(rubric=rubric, exam=exam, limit=1)
        return found[0] if found else None

    def baselines(
        self, *, rubric: str | None = None, exam: str | None = None, limit: int | None = None
    ) -> list[Baseline]:
        """Return every baseline that was ever set, the newest first."""
        from markscheme.keep.records import baseline_of

        wanted = {"rubric": rubric, "exam": exam}
        given = {column: value for column, value in wanted.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in given) or "1 = 1"
        query = f"SELECT rubric, exam, run, set_at, set_by, note FROM baselines WHERE {where}"  # noqa: S608 - our columns
        query += " ORDER BY number DESC" + ("" if limit is None else f" LIMIT {int(limit)}")
        return self._database.records(query, [*given.values()], baseline_of)

    def present_baselines(
        self, *, rubric: str | None = None, exam: str | None = None
    ) -> list[Baseline]:
        """Return the baseline of each rubric and exam that has one."""
        newest: dict[tuple[str, str], Baseline] = {}
        for baseline in self.baselines(rubric=rubric, exam=exam):
            newest.setdefault((baseline.rubric, baseline.exam), baseline)
        return list(newest.values())

    def add_outcomes(self, run: str, *, baseline: str | None, outcomes: Mapping[str, Any]) -> None:
        """Record what the gates said of a run, and of which baseline run."""
        self._database.change(
            "INSERT INTO gate_outcomes (run, baseline, decided, outcomes) VALUES (?, ?, ?, ?)",
            [run, baseline, self._time(), as_json(outcomes)],
        )

    def outcomes(self, run: str) -> list[Outcomes]:
        """Return all that the gates ever said of a run, the newest first."""
        from markscheme.keep.records import outcomes_of

        query = (
            "SELECT run, baseline, decided, outcomes FROM gate_outcomes"
            " WHERE run = ? ORDER BY number DESC"
        )
        return self._database.records(query, [run], outcomes_of)

    def _time(self) -> str:
        return _written(self._now())


def _written(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
