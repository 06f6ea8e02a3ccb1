"""Beginning: a run is in the store before it has an answer, so that one that breaks off is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme import __version__
from markscheme.history.documents import exam_document, rubric_document
from markscheme.keep import NewRun, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.keep import Store
    from markscheme.vocabulary import Exam, Rubric


class Beginning:
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
        self._put: tuple[str, str] | None = None
        self._runs: dict[str | None, str] = {}

    def run(self, subject: str | None) -> str:
        """Return the run of a subject."""
        if subject not in self._runs:
            with self.store.together():
                run = self.store.begin(self._new(subject))
                if self._tag is not None:
                    self.store.tag(run, self._tag)
            self._runs[subject] = run
        return self._runs[subject]

    def _new(self, subject: str | None) -> NewRun:
        if self._put is None:
            documents = (rubric_document(self.rubric), exam_document(self.exam))
            rubric, exam = map(self.store.put_document, documents)
            self._put = (rubric, exam)
        rubric, exam = self._put
        source = self._source(subject)
        return NewRun(
            subject=subject,
            rubric=rubric,
            exam=exam,
            axis_versions={spec.name: spec.axis.version for spec in self.rubric},
            tool_version=__version__,
            source=None if source is None else Source(name=source, digest=None),
            seed=self._seed,
        )
