"""What goes into the store and what comes back, as frozen records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from markscheme.vocabulary import compute_digest, dump_json


class DocumentKind(StrEnum):
    """What a kept document is."""

    RUBRIC = "rubric"
    EXAM = "exam"


class RunStatus(StrEnum):
    """An open run is still being written, or its writer died."""

    OPEN = "open"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole rubric or exam, so that it can be loaded again; `body` is the resolved text."""

    kind: DocumentKind
    name: str
    version: int | None
    fingerprint: str
    body: str

    @property
    def digest(self) -> str:
        """The key of the document: also what the fingerprint is blind to makes another one."""
        parts = [self.kind, self.name, self.version, self.fingerprint, self.body]
        return compute_digest(dump_json(parts).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReference:
    """How a run names its rubric or its exam."""

    digest: str
    name: str
    version: int | None
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """Where recorded answers came from: the name of the file and the digest of its bytes."""

    name: str
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What is known of a run when it begins; `rubric` and `exam` are digests of kept documents."""

    subject: str | None
    rubric: str
    exam: str
    axis_versions: Mapping[str, Any]
    tool_version: str
    seed: int | None = None
    source: AnswerSource | None = None
    rescored_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run as the list of runs shows it; nothing here needs its answers or its data."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """What gates decide on of a finished run, as the plain data it was given as."""

    run: str
    measures: Mapping[str, Any]
    marks: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFrame:
    """A frame that the store has already, named by its digest instead of given again."""

    digest: str
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """One append: so many answers, and the cells of the same answers in the same order."""

    seq: int
    answers: StoredFrame
    cells: StoredFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A name that somebody gave to a run."""

    name: str
    run: str
    tagged: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A run that was made the baseline of its rubric and exam: by whom, when and why."""

    rubric: str
    exam: str
    run: str
    set_at: datetime
    set_by: str | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutcomes:
    """What the gates said of a run, and against which baseline, at one time."""

    run: str
    baseline: str | None
    decided: datetime
    outcomes: Mapping[str, Any]


def parse_document_row(digest: str, kind: str, *rest: Any) -> Document:
    """Return a document from its row; one that is not what was kept is no document."""
    name, version, fingerprint, body = rest
    found = Document(
        kind=DocumentKind(kind), name=name, version=version, fingerprint=fingerprint, body=body
    )
    if found.digest != digest:
        raise ValueError("the document is not what was kept")
    return found


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
    """Return what gates said from its row."""
    when = datetime.fromisoformat(decided)
    return StoredOutcomes(run=run, baseline=baseline, decided=when, outcomes=json.loads(outcomes))
