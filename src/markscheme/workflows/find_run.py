"""Find a run by its name: an id, `latest` or a tag in the store, or a result file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from markscheme.keep import RESULT_FILE_SUFFIXES, RunStatus, Store, open_store, resolve_place
from markscheme.keep import StoredRun as Stored
from markscheme.read.documents import list_builtin_names
from markscheme.read.results import read_published_result
from markscheme.vocabulary import (
    JudgedAxis,
    RowError,
    Rubric,
    StoreError,
    StoreInvalidError,
    UsageError,
    format_value,
)
from markscheme.weigh.published_run import (
    build_published_run,
    list_bad_rows,
    list_published_subjects,
)
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.totals import Marks, Measures, Run, parse_judging_records
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.licences import LicenceBook
from markscheme.workflows.stored_runs import StoredDocuments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.keep import RunData
    from markscheme.read.results import PublishedResult
    from markscheme.weigh.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """Options that go with the name of a run: other documents, one subject of a file."""

    rubric: Rubric | str | Path | None = None
    exams: Sequence[str | Path] = ()
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run with its documents; `stored` is its record in the store, `rows` are those of a file."""

    past: PastRun
    stored: Stored | None = None
    rows: tuple[Mapping[str, Any], ...] = ()
    bad_rows: tuple[RowError, ...] = ()

    @property
    def name(self) -> str:
        """The name of the run in messages."""
        return self.past.run.name


class RunFinder:
    """Finds runs; opens the store when the first name needs it.

    `where` may also be a store that is open already; it then stays open.
    """

    def __init__(
        self, where: str | Path | Store | None = None, context: RunContext | None = None
    ) -> None:
        self._lent = where if isinstance(where, Store) else None
        self._where = None if isinstance(where, Store) else where
        self._context = context or RunContext()
        self._store: Store | None = self._lent
        self._documents: StoredDocuments | None = None
        self._history: dict[str, Run] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None and self._lent is None:
            self._store.close()

    @property
    def store(self) -> Store:
        """The store, which must exist."""
        if self._store is None:
            self._store = open_store(self._where, create=False)
        return self._store

    @property
    def has_store(self) -> bool:
        """Whether there is a store; True if one was named, which then must exist."""
        if self._where is not None or self._store is not None:
            return True
        place = resolve_place(None)
        return not isinstance(place, Path) or os.path.exists(place)  # noqa: PTH110 - never raises, also without permission

    @property
    def documents(self) -> StoredDocuments:
        """The rubrics and exams of the store."""
        if self._documents is None:
            self._documents = StoredDocuments(self.store)
        return self._documents

    def find(self, name: str, reference: PastRun | None = None) -> FoundRun:
        """Return the run of a name or a result file; an unfinished run has no marks.

        With a `reference`, the run that it is compared with, a result file is read under the rubric
        and the exam of the reference.
        """
        has_suffix = Path(name).suffix.lower() in RESULT_FILE_SUFFIXES
        is_file = os.path.isfile(name)  # noqa: PTH113 - never raises, whatever the name
        if has_suffix and is_file:
            return self._read_published_run(Path(name), reference)
        try:
            stored = self.store.find_run(name)
        except (UsageError, StoreError) as error:
            if has_suffix:
                raise UsageError(f"`{name}`: there is no such result file") from error
            if is_file:
                allowed = ", ".join(RESULT_FILE_SUFFIXES)
                raise UsageError(f"`{name}` is no result file; those end in {allowed}") from error
            raise
        if reference is None:
            self._check_context(stored)
        return next(self.load_runs([stored]))

    def take_result(self, result: Result) -> FoundRun:
        """Return the run of a result in memory: of its only subject, or of the one asked for."""
        if self._context.exams:
            raise UsageError("a result has its exam already; leave `exam` out")
        subject = self._context.subject
        known = {run.subject: run for run in result.runs}
        if subject is not None and subject not in known:
            names = ", ".join(f"`{name}`" for name in known if name is not None) or "no subject"
            raise UsageError(f"the result is of {names}, not of {format_value(subject)}")
        if subject is None and len(known) > 1:
            raise UsageError("the result has several subjects; name one with `subject`")
        run = next(iter(known.values())) if subject is None else known[subject]
        rubric = self._named_rubric or result.rubric
        run = self._resolve_doubts(run)
        return FoundRun(past=PastRun(run=run, rubric=rubric, exam=result.exam))

    def _resolve_doubts(self, run: Run) -> Run:
        """Look for calibrations of the judges of a run."""
        return self._licences.resolve_doubts(run) if run.judged else run

    @cached_property
    def _licences(self) -> LicenceBook:
        return LicenceBook.read_store(self.store if self.has_store else None)

    def _check_context(self, stored: Stored) -> None:
        """Raise `UsageError` for options that do not fit a stored run."""
        if self._context.exams:
            raise UsageError(f"the run `{stored.id}` has its exam in the store; leave --exam out")
        subject = self._context.subject
        if subject not in {None, stored.subject}:
            whose = "no subject" if stored.subject is None else f"the subject `{stored.subject}`"
            raise UsageError(f"the run `{stored.id}` is of {whose}, not of `{subject}`")

    def load_runs(self, runs: Iterable[Stored]) -> Iterator[FoundRun]:
        """Yield stored runs with their marks and documents; reads no answers."""
        stored = list(runs)
        finished = [run.id for run in stored if run.status is RunStatus.FINISHED]
        data = self.store.read_run_data(finished)
        for run in stored:
            # The rubric that the user named may have newer gates.
            rubric = self._named_rubric or self.documents.load_rubric(run.rubric)
            exam = self.documents.load_exam(run.exam)
            if run.status is RunStatus.FINISHED:
                marks, measures, judged = self._parse_run_data(run, data)
            else:
                axes = tuple(spec.name for spec in rubric)
                marks = Marks(axes=axes, items={item.id: {} for item in exam.items})
                measures, judged = Measures(), {}
            weighed = Run(
                name=run.id,
                rubric=run.rubric.fingerprint,
                exam=run.exam.fingerprint,
                marks=marks,
                measures=measures,
                subject=run.subject,
                started=run.started,
                judged=judged,
            )
            weighed = self._resolve_doubts(weighed)
            yield FoundRun(past=PastRun(run=weighed, rubric=rubric, exam=exam), stored=run)

    def load_history(self, runs: Iterable[Stored]) -> list[Run]:
        """Return the finished runs of a history in this order; keep them for the next call."""
        stored = list(runs)
        new = self.load_runs(run for run in stored if run.id not in self._history)
        known = self._history | {found.name: found.past.run for found in new}
        self._history = {run.id: known[run.id] for run in stored}
        return list(self._history.values())

    def _parse_run_data(
        self, run: Stored, data: Iterator[RunData]
    ) -> tuple[Marks, Measures, dict[str, JudgedAxis]]:
        """Return marks, measures and judged axes of the next entry, which must be of this run."""
        entry, cause = next(data, None), None
        try:
            if entry is not None and entry.run == run.id:
                judged = parse_judging_records(entry.judging)
                return Marks.from_dict(entry.marks), Measures.from_dict(entry.measures), judged
        except ValueError as error:
            cause = error
        what = f"the marks of the run `{run.id}` cannot be read"
        raise StoreInvalidError(f"the store `{self.store.place}` is damaged: {what}") from cause

    @cached_property
    def _named_rubric(self) -> Rubric | None:
        named = self._context.rubric
        return named if named is None or isinstance(named, Rubric) else load_rubric(named)

    def _read_published_run(self, path: Path, reference: PastRun | None) -> FoundRun:
        published, subject = read_published_result(path), self._context.subject
        if reference is None:
            rubric = self._named_rubric or load_rubric(_find_names(published, "rubric")[0])
            exams = self._context.exams or _find_names(published, "exam")
            exam = load_exam(*exams, rubric=rubric)
        else:
            rubric, exam = reference.rubric, reference.exam
            subject = subject if len(list_published_subjects(published)) > 1 else None
        run = build_published_run(published, rubric, exam, subject=subject)
        run = self._resolve_doubts(run)
        rows = tuple(row for _, row in published.records if row.get("subject") == run.subject)
        past = PastRun(run=run, rubric=rubric, exam=exam)
        return FoundRun(past=past, rows=rows, bad_rows=list_bad_rows(published))


def is_open_run(found: FoundRun) -> bool:
    """Whether the run is in the store and was never finished."""
    return found.stored is not None and found.stored.status is RunStatus.OPEN


def _find_names(published: PublishedResult, key: str) -> list[str]:
    """Return the built-in documents that a result file names; raise if any is not built in."""
    document: Any = published.document.get(key)
    name = document.get("name") if isinstance(document, dict) else document
    if not isinstance(name, str):
        raise UsageError(f"`{published.file}` does not name its {key}; name it with --{key}")
    names = name.split("+")
    if not set(names) <= set(list_builtin_names(f"{key}s")):
        message = f"`{published.file}` was scored with the {key} `{name}`"
        raise UsageError(f"{message}, which is not built in; name its file with --{key}")
    return names
