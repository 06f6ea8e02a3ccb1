"""Beginning: a run is in the store before it has an answer, so that one that breaks off is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme import __version__
from markscheme.history.documents import build_exam_document, build_rubric_document
from markscheme.keep import AnswerSource, NewRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.keep import Store
    from markscheme.vocabulary import Exam, Rubric


class RunWriter:
    """Opens the run of each subject, once, with the documents that all of them are judged by.

    `source` tells of a subject what its answers come from. A run with a tag has it from its
    beginning, so that the tag names no older one where it breaks off.
    """

    def __init__(
        self,
        store: Store,
        rubric: Rubric,
        exam: Exam,
        *,
        source: Callable[[str | None], str | None],
        seed: int | None = None,
        tag: str | None = None,
    ) -> None:
        self.rubric = rubric
        self.exam = exam
        self.store = store
        self._source = source
        self._seed = seed
        self._tag = tag
        self._document_ids: tuple[str, str] | None = None
        self._run_ids: dict[str | None, str] = {}

    def open_run(self, subject: str | None) -> str:
        """Return the run of a subject."""
        if subject not in self._run_ids:
            with self.store.transaction():
                run = self.store.begin_run(self._build_new_run(subject))
                if self._tag is not None:
                    self.store.tag_run(run, self._tag)
            self._run_ids[subject] = run
        return self._run_ids[subject]

    def _build_new_run(self, subject: str | None) -> NewRun:
        if self._document_ids is None:
            documents = (build_rubric_document(self.rubric), build_exam_document(self.exam))
            rubric, exam = map(self.store.save_document, documents)
            self._document_ids = (rubric, exam)
        rubric, exam = self._document_ids
        source = self._source(subject)
        return NewRun(
            subject=subject,
            rubric=rubric,
            exam=exam,
            axis_versions={spec.name: spec.axis.version for spec in self.rubric},
            tool_version=__version__,
            source=None if source is None else AnswerSource(name=source, digest=None),
            seed=self._seed,
        )
