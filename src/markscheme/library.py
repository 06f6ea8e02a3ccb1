"""The functions of the public library, composed from the rooms; the commands call these.

What only one function needs is imported in it, so that the others start sooner.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.errors import UsageError
from markscheme.mark.axes import AXES
from markscheme.mark.columns import Marker
from markscheme.mark.frames import Frames
from markscheme.mark.normalise import STEPS
from markscheme.mark.scoring import check_exam, expectation_of, item_problems
from markscheme.read.answers import AnswerBatch, read_answers, read_rows
from markscheme.read.exams import read_exam
from markscheme.read.rubrics import read_rubric
from markscheme.read.sources import built_in
from markscheme.vocabulary import Exam, RowError, Rubric
from markscheme.weigh.aggregate import Tally
from markscheme.weigh.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.prove.findings import LintReport
    from markscheme.prove.lint import Formats
    from markscheme.read.breakdowns import Published
    from markscheme.vocabulary import Answer, Axis
    from markscheme.weigh.verification import Verification

ERRORS_KEPT = 10_000
ROWS_AT_ONCE = 32_768
# What items of the built-in exams expect beside the keys that axis kinds look for by themselves.
_BUILT_IN_EXPECTATIONS = ("gloss_contains",)


def load_rubric(source: str | Path, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Load a rubric from a file or by its built-in name.

    `axes` are kinds of your own that the rubric may name beside the built-in ones.

    >>> load_rubric("tutor-capstone").axes[0].name
    'correctness'
    """
    kinds = {**AXES, **{axis.kind: axis for axis in axes}}
    return read_rubric(source, kinds=kinds, steps=STEPS)


def load_exam(*sources: str | Path, rubric: Rubric | str | Path | None = None) -> Exam:
    """Load one exam from one or more files or built-in names.

    With a rubric, items may hold what its axes expect, and must hold what they need.

    >>> load_exam("capstone", "capstone-extra").names
    ('capstone', 'capstone-extra')
    """
    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric)
    own = [expectation_of(spec.axis) for spec in rubric] if rubric else []
    expectations = dict.fromkeys([*_usual_expectations(), *filter(None, own)])
    if not sources:
        raise UsageError("no exam is named; name at least one file or built-in exam")
    if rubric is None:
        return read_exam(sources, expectations=list(expectations))
    check = partial(item_problems, rubric)
    return read_exam(sources, expectations=list(expectations), check=check)


def _usual_expectations() -> Iterator[str]:
    """Yield the keys of an item that the built-in axis kinds read unless told otherwise."""
    for axis in AXES.values():
        fields = dataclasses.fields(axis)  # type: ignore[arg-type]
        yield from (str(field.default) for field in fields if field.name == "expects")
    yield from _BUILT_IN_EXPECTATIONS


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the rubric and exam formats."""
    from markscheme.read.schemas import exam_schema, rubric_schema

    return {
        "rubric": rubric_schema(AXES, STEPS),
        "exam": exam_schema(list(_usual_expectations())),
    }


class Scoring:
    """One pass over answers: yields a frame for each batch and keeps the exact totals.

    Memory does not grow with the number of answers.
    """

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        check_exam(rubric, exam)
        self.rubric = rubric
        self.exam = exam
        self.tally = Tally(rubric, exam)
        self.errors: list[RowError] = []
        self._marker = Marker(rubric, exam)
        self._frames = Frames(rubric, exam)

    @property
    def schema(self) -> pl.Schema:
        """The columns of every frame."""
        return self._frames.schema

    def batches(
        self, answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]]
    ) -> Iterator[AnswerBatch]:
        """Open answers to this exam: a file, or rows in memory."""
        items = [item.id for item in self.exam.items]
        if isinstance(answers, str | Path):
            return read_answers(answers, items=items)
        if isinstance(answers, pl.DataFrame):
            return read_rows(answers.iter_rows(named=True), items=items)
        given: object = answers
        if not isinstance(given, Iterable) or isinstance(given, dict | bytes):
            raise UsageError("the answers must be a file's path, a polars frame, or a list of rows")
        return read_rows(answers, items=items)

    def frames(self, batches: Iterable[AnswerBatch]) -> Iterator[pl.DataFrame]:
        """Yield the rows of each batch, the bad ones after the answers; last the missing items."""
        for batch in batches:
            if batch.items:
                marked = self._marker.mark(batch.items, batch.outputs)
                rows = self._frames.answered(batch, marked)
                self.tally.add(marked, rows)
                yield rows
            if batch.errors:
                self.tally.errors += len(batch.errors)
                self.errors.extend(batch.errors[: ERRORS_KEPT - len(self.errors)])
                yield self._frames.errors(batch.errors)
        absent = self.tally.missing()
        while part := list(islice(absent, ROWS_AT_ONCE)):
            yield self._frames.missing(part)

    def result(self, frames: Iterable[pl.DataFrame] = ()) -> Result:
        """Return the run as it stands, with the given rows of it."""
        kept = list(frames)
        frame = pl.concat(kept) if kept else pl.DataFrame(schema=self.schema)
        return Result(
            rubric=self.rubric,
            exam=self.exam,
            summary=self.tally.summary(),
            frame=frame,
            errors=tuple(self.errors),
            tally=self.tally,
        )


def score(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]],
) -> Result:
    """Score recorded answers: a file (JSONL, Parquet, CSV, `-` for stdin), a frame, or rows.

    >>> row = {"item": "e-39-01", "output": "Ate."}
    >>> score("tutor-capstone", "capstone", [row]).summary.n
    1
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    scoring = Scoring(rubric, exam)
    return scoring.result(scoring.frames(scoring.batches(answers)))


def examine_tutor(*, flawed: bool = False) -> Result:
    """Let the bundled tutor answer the whole capstone exam, and score it."""
    from markscheme.ask.tutor import FLAWED, Tutor

    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    tutor = Tutor(faults=FLAWED if flawed else frozenset())
    answers = [{"item": item.id, "output": tutor.answer(item.prompt)} for item in exam.items]
    return score(rubric, exam, answers)


def verify(source: str | Path, rubric: Rubric | str | Path | None = None) -> Verification:
    """Recompute what was published: one breakdown, a list, a whole result, or JSON lines.

    Without a rubric, the built-in one that the file names is used, or `tutor-capstone`.
    """
    from markscheme.read.breakdowns import read_published
    from markscheme.weigh.verification import verify_published

    published = read_published(source)
    if not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric or _rubric_named_by(published))
    return verify_published(published, rubric)


def lint(
    *sources: str | Path,
    rubric: str | Path | None = None,
    exams: Iterable[str | Path] = (),
    fix: bool = False,
) -> LintReport:
    """Look for mistakes in rubrics, exams and decision tables, files or built-in ones.

    An exam is looked at by the axes of the one rubric that is given with it, here or as `rubric`;
    `exams` are looked at only as far as the gates of a rubric need them. `fix` repairs in the files
    what can be repaired without changing a score.

    >>> report = lint("capstone", rubric="tutor-capstone")
    >>> report.ok, report.findings[1].code
    (True, 'E007')
    """
    from markscheme.prove.files import lint_sources

    beside = [*([] if rubric is None else [rubric]), *exams]
    return lint_sources(sources, beside, _formats(), fix=fix)


def _formats() -> Formats:
    from markscheme.mark.axes.text import ContainsAll
    from markscheme.prove.lint import Formats

    by_default = [axis for axis in AXES.values() if hasattr(axis, "expects")]
    other = [ContainsAll(expects=key) for key in _BUILT_IN_EXPECTATIONS]
    return Formats(
        kinds=AXES,
        steps=STEPS,
        expectations=tuple(_usual_expectations()),
        usual=[*(axis() for axis in by_default), *other],
        exams=built_in("exams"),
    )


def _rubric_named_by(published: Published) -> str:
    named = published.document.get("rubric")
    name = named.get("name") if isinstance(named, dict) else named
    if not isinstance(name, str):
        return "tutor-capstone"
    if name not in built_in("rubrics"):
        told = f"`{published.file}` was scored under the rubric `{name}`"
        raise UsageError(f"{told}; name its file with --rubric")
    return name
