"""How a run is kept in the store: its rubric and exam, its messages, and its record in JSON.

Rubrics and exams are kept whole, so that old runs can be judged again.

Messages are kept as templates and values beside the English texts. The cells of a chunk have a
column `message` of the same shape as `reason`. It holds a message only in the first row with each
reason, so that a reason of 10,000 rows is kept once; `fill_messages` copies it to the other rows.
Texts that are kept as JSON (bad rows, and why a live run stopped) have their messages in one
further entry of the summary. Runs that an earlier version stored have neither, so their texts stay
English.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from markscheme.keep import Document, DocumentKind, DocumentReference, Store, open_store
from markscheme.read.documents import dump_exam, parse_exam_text
from markscheme.vocabulary import (
    MESSAGE_COLUMN,
    Exam,
    InputError,
    RowError,
    Rubric,
    StoreError,
    StoreInvalidError,
    UsageError,
    encode_message,
    restore_message,
    sentence,
)
from markscheme.workflows.documents import parse_rubric_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    # A run is opened before polars is loaded, so the functions that need it load it.
    import polars as pl

    from markscheme.keep import Baseline, StoredRun, Tag

_Document = TypeVar("_Document", Rubric, Exam)


def build_rubric_document(rubric: Rubric) -> Document:
    """Return a rubric as a stored document: the text it was read from."""
    return Document(
        kind=DocumentKind.RUBRIC,
        name=rubric.name,
        version=rubric.version,
        fingerprint=rubric.fingerprint,
        body=rubric.source,
    )


def build_exam_document(exam: Exam) -> Document:
    """Return an exam as a stored document: all its files as one JSON text."""
    return Document(
        kind=DocumentKind.EXAM,
        name=exam.name,
        version=None,
        fingerprint=exam.fingerprint,
        body=dump_exam(exam),
    )


class StoredDocuments:
    """The rubrics and exams of one store. Each is read and parsed once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rubrics: dict[str, Rubric] = {}
        self._exams: dict[str, Exam] = {}

    def load_rubric(self, reference: DocumentReference) -> Rubric:
        """Return the rubric of a run, with the gates that it had then."""
        if reference.digest not in self._rubrics:
            self._rubrics[reference.digest] = self._load("rubric", reference, parse_rubric_text)
        return self._rubrics[reference.digest]

    def load_exam(self, reference: DocumentReference) -> Exam:
        """Return the exam of a run."""
        if reference.digest not in self._exams:
            exam = self._load("exam", reference, parse_exam_text)
            if exam.fingerprint != reference.fingerprint:
                reason = "its fingerprint is another one"
                raise self._build_unreadable_error("exam", reference, reason)
            self._exams[reference.digest] = exam
        return self._exams[reference.digest]

    def _load(
        self, kind: str, reference: DocumentReference, parse: Callable[[str, str], _Document]
    ) -> _Document:
        body = self._store.load_document(reference.digest).body
        try:
            return parse(body, f"{self._store.place}, {kind} {reference.name}")
        except InputError as error:
            raise self._build_unreadable_error(kind, reference, str(error)) from error

    def _build_unreadable_error(
        self, kind: str, reference: DocumentReference, reason: str
    ) -> StoreInvalidError:
        document = f"the {kind} `{reference.name}` in the store `{self._store.place}`"
        return StoreInvalidError(f"{document} cannot be used by this markscheme: {reason}")


def thin_messages(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells that keep each message once, in the first row that has its reason."""
    return _replace_messages(
        cells, lambda reason, message: message.set(~reason.is_first_distinct(), None)
    )


def fill_messages(cells: pl.DataFrame) -> pl.DataFrame:
    """Return stored cells with a message in every row whose reason has one."""
    if MESSAGE_COLUMN not in cells.columns:
        return cells
    return _replace_messages(cells, _fill_axis)


def _replace_messages(
    cells: pl.DataFrame, replace_axis: Callable[[pl.Series, pl.Series], pl.Series]
) -> pl.DataFrame:
    """Replace the messages of each axis by a function of its reasons and its messages."""
    import polars as pl

    reasons = cells["reason"].struct.unnest()
    messages = cells[MESSAGE_COLUMN].struct.unnest()
    columns = [replace_axis(reasons[column.name], column) for column in messages.iter_columns()]
    return cells.with_columns(pl.DataFrame(columns).to_struct(MESSAGE_COLUMN))


def _fill_axis(reason: pl.Series, message: pl.Series) -> pl.Series:
    import polars as pl

    kept = pl.DataFrame({"reason": reason, "message": message}).drop_nulls().unique("reason")
    every = reason.to_frame("reason").join(kept, on="reason", how="left", maintain_order="left")
    return every["message"].alias(message.name)


def build_message_records(errors: Sequence[RowError], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the messages in the summary of a run: of its bad rows, and of its live record."""
    live = more.get("live") or {}
    return {
        "bad_rows": [encode_message(error.reason) for error in errors],
        "stopped": encode_message(live.get("stopped") or ""),
    }


def restore_bad_rows(summary: Mapping[str, Any]) -> tuple[RowError, ...]:
    """Return the bad rows of a stored summary, their reasons as messages where they are kept."""
    rows = [RowError(**row) for row in summary.get("bad_rows", ())]
    kept = summary.get("messages", {}).get("bad_rows", [None] * len(rows))
    return tuple(
        structs.replace(row, reason=restore_message(row.reason, encoded))
        for row, encoded in zip(rows, kept, strict=True)
    )


def restore_live_record(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the live record of a stored summary, why it stopped as a message where it is kept."""
    live: dict[str, Any] | None = summary.get("live")
    if live is None or live.get("stopped") is None:
        return live
    encoded = summary.get("messages", {}).get("stopped")
    return {**live, "stopped": restore_message(live["stopped"], encoded)}


def build_stored_run_record(run: StoredRun) -> dict[str, Any]:
    """Return the record of one stored run; reads no answers."""
    counts = run.counts or {}
    return {
        "id": run.id,
        "status": run.status.value,
        "started": run.started.isoformat(),
        "finished": None if run.finished is None else run.finished.isoformat(),
        "subject": run.subject,
        "rubric": {
            "name": run.rubric.name,
            "version": run.rubric.version,
            "fingerprint": run.rubric.fingerprint,
        },
        "exam": {"name": run.exam.name, "fingerprint": run.exam.fingerprint},
        "source": None if run.source is None else run.source.name,
        "rescored_from": run.rescored_from,
        "tool_version": run.tool_version,
        "score": counts.get("score"),
        **({"bounds": counts["bounds"]} if counts.get("bounds") else {}),
        "answers": counts.get("answers"),
        "missing": counts.get("missing"),
        "errors": counts.get("errors"),
        "complete": counts.get("complete", False),
    }


def find_silent_change(
    rubric: Rubric, place: str | Path | None, besides: Sequence[str] = ()
) -> str:
    """Return a warning if the rubric is not what the newest stored run had under this version.

    Runs `besides` are not looked at: they were just scored. Returns "" if there is no store.
    """
    try:
        with open_store(place, create=False) as store:
            known = store.list_runs(
                rubric=rubric.name, rubric_version=rubric.version, limit=len(besides) + 1
            )
    except (UsageError, StoreError):
        return ""
    earlier = next((run.rubric for run in known if run.id not in besides), None)
    if earlier is None or not _is_silent_change(earlier, rubric):
        return ""
    return _describe_silent_change(rubric.name, rubric.version)


def _is_silent_change(one: DocumentReference, other: DocumentReference | Rubric) -> bool:
    """Return whether two rubrics have the same name and version and score differently."""
    return (one.name, one.version) == (other.name, other.version) and (
        one.fingerprint != other.fingerprint
    )


def _describe_silent_change(name: str, version: int | None) -> str:
    return sentence(
        "the rubric {rubric} changed its axes or weights while its version stayed {version}: "
        "earlier scores cannot be compared; raise `version`, then `markscheme recalibrate`",
        rubric=f"`{name}`",
        version=version,
    )


def _list_silent_changes(runs: Sequence[StoredRun]) -> list[str]:
    """Return a warning for each rubric that several runs name alike and mean differently."""
    newest: dict[tuple[str, int | None], DocumentReference] = {}
    changed: dict[tuple[str, int | None], None] = {}
    for run in runs:
        key = (run.rubric.name, run.rubric.version)
        if _is_silent_change(newest.setdefault(key, run.rubric), run.rubric):
            changed[key] = None
    return [_describe_silent_change(*key) for key in changed]


def build_run_list_record(
    runs: Sequence[StoredRun], tags: Iterable[Tag], baselines: Iterable[Baseline]
) -> dict[str, Any]:
    """Return the records of runs, each with its tags and whether it is a current baseline.

    `warnings` name the rubrics that changed among these runs while their versions stayed.
    """
    tag_names: dict[str, list[str]] = {}
    for tag in tags:
        tag_names.setdefault(tag.run, []).append(tag.name)
    baseline_runs = {baseline.run for baseline in baselines}
    return {
        "runs": [
            {
                **build_stored_run_record(run),
                "tags": tag_names.get(run.id, []),
                "baseline": run.id in baseline_runs,
            }
            for run in runs
        ],
        "warnings": _list_silent_changes(runs),
    }
