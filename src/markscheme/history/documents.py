"""Rubrics and exams as the store keeps them: whole, so that old runs can be judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.errors import InputError, StoreInvalidError
from markscheme.keep import Document, DocumentKind
from markscheme.library.documents import rubric_of_text
from markscheme.read.exams import exam_of_text, exam_text

if TYPE_CHECKING:
    from markscheme.keep import DocumentName, Store
    from markscheme.vocabulary import Exam, Rubric


def rubric_document(rubric: Rubric) -> Document:
    """Return a rubric as a document: the text it was read from."""
    return Document(
        kind=DocumentKind.RUBRIC,
        name=rubric.name,
        version=rubric.version,
        fingerprint=rubric.fingerprint,
        body=rubric.source,
    )


def exam_document(exam: Exam) -> Document:
    """Return an exam as a document: all files of it as one text."""
    return Document(
        kind=DocumentKind.EXAM,
        name=exam.name,
        version=None,
        fingerprint=exam.fingerprint,
        body=exam_text(exam),
    )


class Documents:
    """The rubrics and exams of one store, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rubrics: dict[str, Rubric] = {}
        self._exams: dict[str, Exam] = {}

    def rubric(self, named: DocumentName) -> Rubric:
        """Return the rubric of a run, with its gates as they were."""
        if named.digest not in self._rubrics:
            body = self._store.document(named.digest).body
            try:
                rubric = rubric_of_text(body, f"{self._store.place}, rubric {named.name}")
            except InputError as error:
                raise self._unreadable("rubric", named, str(error)) from error
            self._rubrics[named.digest] = rubric
        return self._rubrics[named.digest]

    def exam(self, named: DocumentName) -> Exam:
        """Return the exam of a run."""
        if named.digest not in self._exams:
            body = self._store.document(named.digest).body
            try:
                exam = exam_of_text(body, f"{self._store.place}, exam {named.name}")
            except InputError as error:
                raise self._unreadable("exam", named, str(error)) from error
            if exam.fingerprint != named.fingerprint:
                raise self._unreadable("exam", named, "its fingerprint is another one")
            self._exams[named.digest] = exam
        return self._exams[named.digest]

    def _unreadable(self, kind: str, named: DocumentName, why: str) -> StoreInvalidError:
        told = f"the {kind} `{named.name}` in the store `{self._store.place}`"
        return StoreInvalidError(f"{told} cannot be used by this markscheme: {why}")
