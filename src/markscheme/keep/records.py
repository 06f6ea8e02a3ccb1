"""The records that the store takes and returns: frozen values.

They are `msgspec.Struct` and not dataclasses: every command that opens a store creates these
classes, and a struct class is created about 30 times as fast.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct

from markscheme.vocabulary import compute_digest, dump_json


class DocumentKind(StrEnum):
    """Kinds of stored documents."""

    RUBRIC = "rubric"
    EXAM = "exam"


class RunStatus(StrEnum):
    """Whether a run is finished. An open run is still being written, or its writer died."""

    OPEN = "open"
    FINISHED = "finished"


class Document(Struct, frozen=True, kw_only=True):
    """A whole rubric or exam, to be loaded again; `body` is the resolved text."""

    kind: DocumentKind
    name: str
    version: int | None
    fingerprint: str
    body: str

    @property
    def digest(self) -> str:
        """The key of the document; it covers all fields, more than the fingerprint does."""
        parts = [self.kind, self.name, self.version, self.fingerprint, self.body]
        return compute_digest(dump_json(parts).encode())


class DocumentReference(Struct, frozen=True, kw_only=True):
    """The rubric or the exam of a run, without its text."""

    digest: str
    name: str
    version: int | None
    fingerprint: str


class AnswerSource(Struct, frozen=True, kw_only=True):
    """Where recorded answers came from: the name of the file, and the digest of its bytes."""

    name: str
    digest: str | None


class NewRun(Struct, frozen=True, kw_only=True):
    """A run before its first answer; `rubric` and `exam` are digests of stored documents."""

    subject: str | None
    rubric: str
    exam: str
    axis_versions: Mapping[str, Any]
    tool_version: str
    seed: int | None = None
    source: AnswerSource | None = None
    rescored_from: str | None = None


class StoredRun(Struct, frozen=True, kw_only=True):
    """One run as the list of runs shows it, without its answers, cells and marks."""

    id: str
    status: RunStatus
    started: datetime
    finished: datetime | None
    subject: str | None
    rubric: DocumentReference
    exam: DocumentReference
    axis_versions: Mapping[str, Any]
    tool_version: str
    seed: int | None
    source: AnswerSource | None
    rescored_from: str | None
    counts: Mapping[str, Any] | None


class RunData(Struct, frozen=True, kw_only=True):
    """The measures and marks of a finished run, which gates decide on, as plain data.

    `judging` says for each axis that judges marked which judge did and how.
    """

    run: str
    measures: Mapping[str, Any]
    marks: Mapping[str, Any]
    judging: Mapping[str, Any]


class StoredFrame(Struct, frozen=True, kw_only=True):
    """A frame that is in the store already, referred to by its digest."""

    digest: str
    height: int


class StoredChunk(Struct, frozen=True, kw_only=True):
    """One append to a run: answers, and their cells in the same order."""

    seq: int
    answers: StoredFrame
    cells: StoredFrame


class Tag(Struct, frozen=True, kw_only=True):
    """A name that a user gave to a run."""

    name: str
    run: str
    tagged: datetime


class Baseline(Struct, frozen=True, kw_only=True):
    """A run that was made the baseline of its rubric and exam: by whom, when and why."""

    rubric: str
    exam: str
    run: str
    set_at: datetime
    set_by: str | None
    note: str | None


class StoredOutcomes(Struct, frozen=True, kw_only=True):
    """The gate outcomes of a run at one time, and the baseline it was compared with."""

    run: str
    baseline: str | None
    decided: datetime
    outcomes: Mapping[str, Any]


class StoredCalibration(Struct, frozen=True, kw_only=True):
    """The record of a calibration: how a judge did against people, and until when that counts."""

    id: str
    made: datetime
    judge: str
    outcome: str
    body: Mapping[str, Any]


def format_time(time: datetime) -> str:
    """Return a time as the store writes it."""
    return time.isoformat(timespec="microseconds")


def parse_document_row(digest: str, kind: str, *rest: Any) -> Document:
    """Return a document from its row; raise `ValueError` if it does not match its digest."""
    name, version, fingerprint, body = rest
    document = Document(
        kind=DocumentKind(kind), name=name, version=version, fingerprint=fingerprint, body=body
    )
    if document.digest != digest:
        raise ValueError("the document does not match its digest")
    return document


def parse_tag_row(name: str, run: str, tagged: str) -> Tag:
    """Return a tag from its row."""
    return Tag(name=name, run=run, tagged=datetime.fromisoformat(tagged))


def parse_baseline_row(
    rubric: str, exam: str, run: str, set_at: str, by: str | None, note: str | None
) -> Baseline:
    """Return a baseline from its row."""
    when = datetime.fromisoformat(set_at)
    return Baseline(rubric=rubric, exam=exam, run=run, set_at=when, set_by=by, note=note)


def parse_outcomes_row(
    run: str, baseline: str | None, decided: str, outcomes: str
) -> StoredOutcomes:
    """Return gate outcomes from their row."""
    when = datetime.fromisoformat(decided)
    return StoredOutcomes(run=run, baseline=baseline, decided=when, outcomes=json.loads(outcomes))


def parse_calibration_row(
    id_: str, made: str, judge: str, outcome: str, body: str
) -> StoredCalibration:
    """Return a calibration from its row."""
    return StoredCalibration(
        id=id_,
        made=datetime.fromisoformat(made),
        judge=judge,
        outcome=outcome,
        body=json.loads(body),
    )
