"""Rubrics and exams in the store: kept whole, so that old runs can be judged again."""

from __future__ import annotations

from markscheme.keep import Document, DocumentKind, DocumentReference, Store
from markscheme.read.documents import dump_exam, parse_exam_text
from markscheme.vocabulary import Exam, InputError, Rubric, StoreInvalidError
from markscheme.workflows.documents import parse_rubric_text


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
            body = self._store.load_document(reference.digest).body
            try:
                rubric = parse_rubric_text(body, f"{self._store.place}, rubric {reference.name}")
            except InputError as error:
                raise self._build_unreadable_error("rubric", reference, str(error)) from error
            self._rubrics[reference.digest] = rubric
        return self._rubrics[reference.digest]

    def load_exam(self, reference: DocumentReference) -> Exam:
        """Return the exam of a run."""
        if reference.digest not in self._exams:
            body = self._store.load_document(reference.digest).body
            try:
                exam = parse_exam_text(body, f"{self._store.place}, exam {reference.name}")
            except InputError as error:
                raise self._build_unreadable_error("exam", reference, str(error)) from error
            if exam.fingerprint != reference.fingerprint:
                raise self._build_unreadable_error(
                    "exam", reference, "its fingerprint is another one"
                )
            self._exams[reference.digest] = exam
        return self._exams[reference.digest]

    def _build_unreadable_error(
        self, kind: str, reference: DocumentReference, reason: str
    ) -> StoreInvalidError:
        document = f"the {kind} `{reference.name}` in the store `{self._store.place}`"
        return StoreInvalidError(f"{document} cannot be used by this markscheme: {reason}")
