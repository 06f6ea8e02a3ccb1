"""The interface of the store. It adds records; it never changes or removes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from markscheme.keep.chunks import fetch_chunks, insert_chunk, prepare_frames, read_frames
from markscheme.keep.database import Database
from markscheme.keep.journal import Journal
from markscheme.keep.learning import LearningRecords
from markscheme.keep.records import (
    Baseline,
    Document,
    NewRun,
    RunData,
    RunStatus,
    StoredCalibration,
    StoredChunk,
    StoredFrame,
    StoredOutcomes,
    StoredRun,
    Tag,
    format_time,
    parse_baseline_row,
    parse_calibration_row,
    parse_document_row,
    parse_outcomes_row,
    parse_tag_row,
)
from markscheme.keep.runs import (
    check_tag,
    fetch_run_parts,
    find_run,
    generate_id,
    insert_run_parts,
    list_run_names,
    list_runs,
)
from markscheme.keep.studies import StudyTables
from markscheme.keep.web_access import WebAccess
from markscheme.vocabulary import UsageError, dump_json, format_value

if TYPE_CHECKING:
    import polars as pl


class Store:
    """One connection to the store, for one caller at a time.

    A record is on disk when the call that adds it returns. Use it as a context manager:

        with open_store(create=False) as store:
            for run in store.list_runs(limit=5): ...
    """

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    @property
    def place(self) -> str:
        """How messages name the store; without a password."""
        return self._database.place

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Group several calls: all their records are on disk at the end, or none is."""
        with self._database.transaction():
            yield

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """In a transaction: if the calls inside raise, undo them, and only them."""
        with self._database.savepoint():
            yield

    # --- documents ---

    def save_document(self, document: Document) -> str:
        """Store a rubric or an exam, unless it is there already; return its digest."""
        digest = document.digest
        values = [digest, document.kind.value, document.name, document.version]
        self._database.execute_change(
            "INSERT INTO documents (digest, kind, name, version, fingerprint, body)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [*values, document.fingerprint, document.body],
        )
        return digest

    def load_document(self, digest: str) -> Document:
        """Return a stored rubric or exam; raise `StoreInvalidError` if it is damaged."""
        query = (
            "SELECT digest, kind, name, version, fingerprint, body FROM documents WHERE digest = ?"
        )
        for document in self._database.fetch_records(query, [digest], parse_document_row):
            return document
        raise UsageError(f"the store holds no document {format_value(digest)}")

    # --- writing a run ---

    def begin_run(self, new: NewRun) -> str:
        """Create an open run; return its id."""
        source = (None, None) if new.source is None else (new.source.name, new.source.digest)
        values = [
            self._format_current_time(),
            new.subject,
            new.rubric,
            new.exam,
            dump_json(new.axis_versions),
        ]
        values += [new.tool_version, None if new.seed is None else str(new.seed)]
        values += [*source, new.rescored_from]
        while True:
            id_ = generate_id()
            added = self._database.execute_change(
                "INSERT INTO runs (id, started, subject, rubric, exam, axis_versions, tool_version,"
                " seed, source_name, source_digest, rescored_from)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                [id_, *values],
            )
            if added:
                return id_

    def append_chunk(
        self, run: str, answers: pl.DataFrame | StoredFrame, cells: pl.DataFrame | StoredFrame
    ) -> StoredChunk:
        """Append answers and their cells, in the same order, to an open run.

        Equal frames are stored once; a `StoredFrame` refers to one that is in the store already.
        """
        frames, blobs = prepare_frames(answers, cells)
        with self._database.transaction():
            seq = self._reserve_chunk_number(run)
            return insert_chunk(self._database, run, StoredChunk(seq=seq, **frames), blobs)

    def finish_run(
        self,
        run: str,
        *,
        counts: Mapping[str, Any],
        summary: Mapping[str, Any],
        measures: Mapping[str, Any],
        marks: Mapping[str, Any],
    ) -> None:
        """Finish a run with its totals; nothing can be appended to it afterwards."""
        parts = {"summary": summary, "measures": measures, "marks": marks}
        bodies = {part: dump_json(data) for part, data in parts.items()}
        with self._database.transaction():
            self._reserve_chunk_number(run)
            self._database.execute_change(
                "INSERT INTO finished (run, finished, counts) VALUES (?, ?, ?)",
                [run, self._format_current_time(), dump_json(counts)],
            )
            insert_run_parts(self._database, run, bodies)

    def _reserve_chunk_number(self, run: str) -> int:
        """In a transaction: lock the run, check that it is open, return its next chunk number."""
        if not self._database.fetch_rows("SELECT id FROM runs WHERE id = ? {lock_row}", [run]):
            raise UsageError(f"there is no run {format_value(run)}")
        if self._database.fetch_rows("SELECT 1 FROM finished WHERE run = ?", [run]):
            raise UsageError(f"the run `{run}` is finished; nothing can be added to it")
        query = "SELECT COALESCE(MAX(seq), 0) + 1 FROM chunks WHERE run = ?"
        return int(self._database.fetch_rows(query, [run])[0][0])

    # --- live subjects ---

    @property
    def journal(self) -> Journal:
        """The journal of live runs: what was asked and what was answered."""
        return Journal(self._database, self._format_current_time())

    # --- learners ---

    @property
    def learning(self) -> LearningRecords:
        """Learners, their reviews and their exam papers."""
        return LearningRecords(self._database, self._now)

    # --- rating studies ---

    @property
    def studies(self) -> StudyTables:
        """The rating studies: what is rated, by whom, and every mark."""
        return StudyTables(self._database, self._now)

    # --- the web app ---

    @property
    def web_access(self) -> WebAccess:
        """The links and sessions of the web app."""
        return WebAccess(self._database, self._now)

    # --- reading runs ---

    def list_runs(
        self,
        *,
        rubric: str | None = None,
        rubric_version: int | None = None,
        exam: str | None = None,
        subject: str | None = None,
        limit: int | None = None,
    ) -> list[StoredRun]:
        """Return the runs of a rubric, an exam (by name) or a subject, the newest first."""
        wanted = {
            "rubrics.name": rubric,
            "rubrics.version": rubric_version,
            "exams.name": exam,
            "subject": subject,
        }
        return list_runs(self._database, wanted, limit=limit)

    def list_run_names(self) -> dict[str, list[str]]:
        """Return the names that runs have: of their rubrics, exams and subjects, sorted."""
        return list_run_names(self._database)

    def find_run(self, name: str) -> StoredRun:
        """Return the run of this name: an id or its beginning, `latest`, `latest~1`, a tag.

        `latest` is the run that was started last, finished or not. If it was rescored, `latest` is
        the run that was rescored from it last.
        """
        return find_run(self._database, name)

    def find_rescored_run(self, run: str, rubric: str) -> str | None:
        """Return the id of the run that was rescored from another under a rubric, by its digest.

        In a transaction, it also makes other callers wait until the transaction ends, so that two
        processes cannot both find that there is none.
        """
        self._database.lock_writers()
        query = "SELECT id FROM runs WHERE rescored_from = ? AND rubric = ? ORDER BY number"
        rows = self._database.fetch_rows(query, [run, rubric])
        return rows[0][0] if rows else None

    def read_summaries(self, runs: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the id and the summary of each of these runs, if it is finished."""
        for run, (summary,) in fetch_run_parts(self._database, runs, ["summary"]):
            yield run, summary

    def read_run_data(self, runs: Iterable[str]) -> Iterator[RunData]:
        """Yield the measures and marks of each of these runs, if it is finished, in this order."""
        parts = ["measures", "marks", "summary"]
        for run, (measures, marks, summary) in fetch_run_parts(self._database, runs, parts):
            judging = summary.get("judging", {})
            yield RunData(run=run, measures=measures, marks=marks, judging=judging)

    # --- reading answers and cells ---

    def list_chunks(self, run: str) -> list[StoredChunk]:
        """Return the chunks of a run, without their frames."""
        return fetch_chunks(self._database, run)

    def read_answers(self, run: str) -> Iterator[pl.DataFrame]:
        """Yield the answers of a run in the order of their appends, some thousands at a time."""
        return read_frames(self._database, run, "answers")

    def read_cells(self, run: str) -> Iterator[pl.DataFrame]:
        """Yield the cells of a run, frame by frame as `read_answers` yields its answers."""
        return read_frames(self._database, run, "cells")

    # --- tags, baselines, gate outcomes ---

    def tag_run(self, run: str, name: str) -> None:
        """Name a run; a tag that is set again names the newer run."""
        check_tag(name)
        self._database.execute_change(
            "INSERT INTO tags (name, run, tagged) VALUES (?, ?, ?)",
            [name, run, self._format_current_time()],
        )

    def claim_tag(self, name: str) -> int | None:
        """Take a tag from the run that it names, for a run that has not begun yet.

        Until `tag_run`, the tag names no run. Returns what `release_tag` needs to give it back, or
        None if the tag names no run.
        """
        with self._database.transaction():
            self._database.lock_writers()
            newest = self._fetch_newest_tag(name)
            query = "SELECT 1 FROM tag_claims WHERE tag = ?"
            if newest is None or self._database.fetch_rows(query, [newest]):
                return None
            self._database.execute_change(
                "INSERT INTO tag_claims (tag, claimed) VALUES (?, ?)",
                [newest, self._format_current_time()],
            )
            return newest

    def release_tag(self, name: str, claim: int) -> None:
        """Give a claimed tag back to the run that it named, unless another run has it by now."""
        with self._database.transaction():
            self._database.lock_writers()
            if self._fetch_newest_tag(name) == claim:
                query = "SELECT run FROM tags WHERE number = ?"
                ((run,),) = self._database.fetch_rows(query, [claim])
                self.tag_run(run, name)

    def _fetch_newest_tag(self, name: str) -> int | None:
        query = "SELECT MAX(number) FROM tags WHERE name = ?"
        ((number,),) = self._database.fetch_rows(query, [name])
        return None if number is None else int(number)

    def list_tags(self) -> list[Tag]:
        """Return the tags, each with the run that it names now, the newest first."""
        query = (
            "SELECT name, run, tagged FROM tags WHERE number IN"
            " (SELECT MAX(number) FROM tags GROUP BY name)"
            " AND number NOT IN (SELECT tag FROM tag_claims) ORDER BY number DESC"
        )
        return self._database.fetch_records(query, (), parse_tag_row)

    def set_baseline(self, run: str, *, by: str | None, note: str | None) -> Baseline:
        """Make a finished run the baseline of its rubric and exam; former ones stay on record.

        `run` is a whole id.
        """
        runs = list_runs(self._database, {"runs.id": run})
        if not runs or runs[0].status is RunStatus.OPEN:
            raise UsageError(
                f"the run {format_value(run)} is not finished; it cannot be a baseline"
            )
        baseline = Baseline(
            rubric=runs[0].rubric.name,
            exam=runs[0].exam.name,
            run=run,
            set_at=self._now(),
            set_by=by,
            note=note,
        )
        self._database.execute_change(
            "INSERT INTO baselines (rubric, exam, run, set_at, set_by, note)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [baseline.rubric, baseline.exam, run, format_time(baseline.set_at), by, note],
        )
        return baseline

    def find_baseline(self, rubric: str, exam: str) -> Baseline | None:
        """Return the baseline of a rubric and an exam, by their names."""
        newest = self.list_baselines(rubric=rubric, exam=exam, limit=1)
        return newest[0] if newest else None

    def list_baselines(
        self, *, rubric: str | None = None, exam: str | None = None, limit: int | None = None
    ) -> list[Baseline]:
        """Return every baseline that was set, also replaced ones, the newest first."""
        wanted = {"rubric": rubric, "exam": exam}
        filters = {column: value for column, value in wanted.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in filters) or "1 = 1"
        query = f"SELECT rubric, exam, run, set_at, set_by, note FROM baselines WHERE {where}"  # noqa: S608 - our columns
        query += " ORDER BY number DESC" + ("" if limit is None else f" LIMIT {int(limit)}")
        return self._database.fetch_records(query, [*filters.values()], parse_baseline_row)

    def list_current_baselines(
        self, *, rubric: str | None = None, exam: str | None = None
    ) -> list[Baseline]:
        """Return the present baseline of each rubric and exam that has one."""
        newest: dict[tuple[str, str], Baseline] = {}
        for baseline in self.list_baselines(rubric=rubric, exam=exam):
            newest.setdefault((baseline.rubric, baseline.exam), baseline)
        return list(newest.values())

    def save_outcomes(self, run: str, *, baseline: str | None, outcomes: Mapping[str, Any]) -> None:
        """Record the gate outcomes of a run, and the baseline that it was compared with."""
        self._database.execute_change(
            "INSERT INTO gate_outcomes (run, baseline, decided, outcomes) VALUES (?, ?, ?, ?)",
            [run, baseline, self._format_current_time(), dump_json(outcomes)],
        )

    def list_outcomes(self, run: str) -> list[StoredOutcomes]:
        """Return all gate outcomes of a run, the newest first."""
        query = (
            "SELECT run, baseline, decided, outcomes FROM gate_outcomes"
            " WHERE run = ? ORDER BY number DESC"
        )
        return self._database.fetch_records(query, [run], parse_outcomes_row)

    # --- calibrations of judges ---

    @property
    def current_time(self) -> datetime:
        """The time that records of now get."""
        return self._now()

    def save_calibration(self, *, judge: str, outcome: str, body: Mapping[str, Any]) -> str:
        """Record a calibration of a judge; return its id."""
        while True:
            id_ = generate_id()
            added = self._database.execute_change(
                "INSERT INTO calibrations (id, made, judge, outcome, body) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO NOTHING",
                [id_, self._format_current_time(), judge, outcome, dump_json(body)],
            )
            if added:
                return id_

    def list_calibrations(self) -> list[StoredCalibration]:
        """Return all calibrations, the newest first."""
        query = "SELECT id, made, judge, outcome, body FROM calibrations ORDER BY number DESC"
        return self._database.fetch_records(query, [], parse_calibration_row)

    def _format_current_time(self) -> str:
        return format_time(self._now())
