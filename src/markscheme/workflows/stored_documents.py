"""Rubrics and exams as the store keeps them: whole, so that old runs can be judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.keep import Document, DocumentKind
from markscheme.read.documents import dump_exam, parse_exam_text
from markscheme.vocabulary import InputError, StoreInvalidError
from markscheme.workflows.documents import parse_rubric_text

if TYPE_CHECKING:
    from markscheme.keep import DocumentReference, Store
    from markscheme.vocabulary import Exam, Rubric


def build_rubric_document(rubric: Rubric) -> Document:
    """Return a rubric as a document: the text it was read from."""
    return Document(
        kind=DocumentKind.RUBRIC,
        name=rubric.name,
        version=rubric.version,
        fingerprint=rubric.fingerprint,
        body=rubric.source,
    )


def build_exam_document(exam: Exam) -> Document:
    """Return an exam as a document: all files of it as one text."""
    return Document(
        kind=DocumentKind.EXAM,
        name=exam.name,
        version=None,
        fingerprint=exam.fingerprint,
        body=dump_exam(exam),
    )


class StoredDocuments:
    """The rubrics and exams of one store, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rubrics: dict[str, Rubric] = {}
        self._exams: dict[str, Exam] = {}

    def load_rubric(self, named: DocumentReference) -> Rubric:
        """Return the rubric of a run, with its gates as they were."""
        if named.digest not in self._rubrics:
            body = self._store.load_document(named.digest).body
            try:
                rubric = parse_rubric_text(body, f"{self._store.place}, rubric {named.name}")
            except InputError as error:
                raise self._build_unreadable_error("rubric", named, str(error)) from error
            self._rubrics[named.digest] = rubric
        return self._rubrics[named.digest]

    def load_exam(self, named: DocumentReference) -> Exam:
        """Return the exam of a run."""
        if named.digest not in self._exams:
            body = self._store.load_document(named.digest).body
            try:
                exam = parse_exam_text(body, f"{self._store.place}, exam {named.name}")
            except InputError as error:
                raise self._build_unreadable_error("exam", named, str(error)) from error
            if exam.fingerprint != named.fingerprint:
                raise self._build_unreadable_error("exam", named, "its fingerprint is another one")
            self._exams[named.digest] = exam
        return self._exams[named.digest]

    def _build_unreadable_error(
        self, kind: str, named: DocumentReference, why: str
    ) -> StoreInvalidError:
        told = f"the {kind} `{named.name}` in the store `{self._store.place}`"
        return StoreInvalidError(f"{told} cannot be used by this markscheme: {why}")
