"""The functions of the public library, composed from the rooms; the commands call these.

What only one function needs is imported in it, so that the others start sooner; polars above all,
which starts threads, after which no worker can be forked.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.errors import UsageError
from markscheme.mark.axes import AXES
from markscheme.mark.normalise import STEPS
from markscheme.mark.scoring import expectation_of, item_problems
from markscheme.read.exams import read_exam
from markscheme.read.rubrics import read_rubric
from markscheme.read.sources import built_in
from markscheme.vocabulary import Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import polars as pl

    from markscheme.read.breakdowns import Published
    from markscheme.transcript import Transcript
    from markscheme.vocabulary import Answer, Axis
    from markscheme.weigh.results import Result
    from markscheme.weigh.verification import Verification

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


def rubric_of_text(text: str, shown: str, *, axes: Iterable[type[Axis]] = ()) -> Rubric:
    """Return the rubric in a text, which messages call `shown`."""
    from markscheme.read.rubrics import parse_rubric

    kinds = {**AXES, **{axis.kind: axis for axis in axes}}
    return parse_rubric(text.encode(), shown, kinds=kinds, steps=STEPS)


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


def score(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    answers: str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]],
) -> Result:
    """Score recorded answers: a file (JSONL, Parquet, CSV, `-` for stdin), a frame, or rows.

    A folder of JSONL and Parquet files is read file by file, by name.

    >>> row = {"item": "e-39-01", "output": "Ate."}
    >>> score("tutor-capstone", "capstone", [row]).summary.n
    1
    """
    from markscheme.engines.local import Local
    from markscheme.engines.scoring import Scoring

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    if not isinstance(answers, str | Path):
        scoring = Scoring(rubric, exam)
        return scoring.result(scoring.frames(scoring.streamed(answers)))
    with Local(rubric, exam, answers) as engine:
        scoring = Scoring(rubric, exam, files=engine.is_folder)
        return scoring.result(scoring.frames(engine.stretches(scoring)))


def answers_of_tutor(exam: Exam, *, flawed: bool = False) -> list[dict[str, Any]]:
    """Let the bundled tutor answer an exam."""
    from markscheme.ask.tutor import FLAWED, Tutor

    tutor = Tutor(faults=FLAWED if flawed else frozenset())
    subject = "flawed-tutor" if flawed else "tutor"
    return [
        {"item": item.id, "output": tutor.answer(item.prompt), "subject": subject}
        for item in exam.items
    ]


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


def _rubric_named_by(published: Published) -> str:
    named = published.document.get("rubric")
    name = named.get("name") if isinstance(named, dict) else named
    if not isinstance(name, str):
        return "tutor-capstone"
    if name not in built_in("rubrics"):
        told = f"`{published.file}` was scored under the rubric `{name}`"
        raise UsageError(f"{told}; name its file with --rubric")
    return name


def read_transcript(
    path: str | Path, log_format: str | None = None, *, session: str | None = None
) -> Transcript:
    """Read what an agent did from its session log, whatever tool wrote it.

    The format is recognised from the content; `log_format` forces one. Where there are several
    sessions, `session` names one.

    Raises:
        UsageError: there is no such format or session, or there are several sessions.
        InputError: it cannot be read, or no format is recognised.
    """
    from markscheme.read.transcripts import read_transcripts

    found = [transcript for _, transcript in read_transcripts(path, log_format, session=session)]
    if len(found) > 1:
        names = ", ".join(f"`{transcript.session}`" for transcript in found[:10])
        raise UsageError(f"`{path}` holds {len(found)} sessions; name one of {names}")
    return found[0]
