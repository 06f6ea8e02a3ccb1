"""The functions of the public library, composed from the rooms; the commands call these.

What only one function needs is imported in it, so that the others start sooner; polars above all,
which starts threads, after which no worker can be forked.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from markscheme.errors import AnswersError, Problem, UsageError
from markscheme.mark.axes import AXES
from markscheme.mark.normalise import STEPS
from markscheme.mark.scoring import expectation_of, item_problems
from markscheme.read.exams import read_exam
from markscheme.read.rubrics import read_rubric
from markscheme.read.sources import built_in
from markscheme.vocabulary import Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

    import polars as pl

    from markscheme.prove.audit import AuditReport
    from markscheme.prove.breaking import Cascade
    from markscheme.prove.findings import LintReport
    from markscheme.prove.lint import Formats
    from markscheme.prove.recorded import Recorded
    from markscheme.read.breakdowns import Published
    from markscheme.read.cases import Cases
    from markscheme.tell.sittings import Shown
    from markscheme.transcript import Transcript
    from markscheme.vocabulary import Answer, Axis, Rating
    from markscheme.weigh.comparison import Comparison, Observed
    from markscheme.weigh.results import Result
    from markscheme.weigh.verification import Verification

    Answers = str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]]

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
    if not sources:
        raise UsageError("no exam is named; name at least one file or built-in exam")
    if rubric is None:
        return read_exam(sources, expectations=_expectations())
    check = partial(item_problems, rubric)
    return read_exam(sources, expectations=_expectations(rubric), check=check)


def _expectations(rubric: Rubric | None = None) -> list[str]:
    """Return the keys that an item may hold for axes: the usual ones, and those of the rubric."""
    own = [expectation_of(spec.axis) for spec in rubric or ()]
    return list(dict.fromkeys([*_usual_expectations(), *filter(None, own)]))


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
    answers: Answers | None = None,
    *,
    logs: str | Path | None = None,
    log_map: str | Path | None = None,
) -> Result:
    """Score recorded answers: a file (JSONL, Parquet, CSV, `-` for stdin), a frame, or rows.

    A folder of JSONL and Parquet files is read file by file, by name. With `logs` instead, a folder
    of agents' session logs, the final texts are the answers, and what was done is judged too; a
    `log_map` says which log answers which item, where names and prompts do not.

    >>> row = {"item": "e-39-01", "output": "Ate."}
    >>> score("tutor-capstone", "capstone", [row]).summary.n
    1
    """
    from markscheme.engines.local import Local
    from markscheme.engines.scoring import Scoring

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    if (answers is None) == (logs is None):
        told = "the answers must be a file's path, a polars frame, or a list of rows"
        raise UsageError(f"{told}; or give a folder of `logs` in their place")
    if answers is None:
        from markscheme.read.logs import read_logs

        found = read_logs(str(logs), exam.items, mapping=log_map)
        scoring = Scoring(rubric, exam, logs=True)
        return scoring.result(scoring.frames(scoring.logged(found)))
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


def load_cases(*sources: str | Path, rubric: Rubric) -> Cases:
    """Load the golden cases of a rubric: from files or built-in names, else those of its name."""
    from markscheme.read.cases import Cases, read_cases

    named = sources or tuple({rubric.name} & set(built_in("cases")))
    if not named:
        return Cases()
    check = partial(item_problems, rubric)
    return read_cases(named, rubric=rubric, expectations=_expectations(rubric), check=check)


def record(rubric: Rubric, exam: Exam, answers: Answers | None = None) -> Recorded:
    """Read and mark answers for tests of the rubric; without any, the bundled tutor answers."""
    from markscheme.engines.scoring import Scoring
    from markscheme.prove.recorded import Recorded

    scoring = Scoring(rubric, exam)
    batches = list(scoring.batches(_tutored(exam) if answers is None else answers))
    for _ in scoring.frames(map(scoring.marked, batches)):
        pass
    measures = list(scoring.tally.measures().values())
    return Recorded(
        rubric,
        exam,
        [pair for b in batches for pair in zip(b.items, b.outputs, strict=True)],
        measures[0] if len(measures) == 1 else None,
        scoring.tally.counts.errors,
    )


def _tutored(exam: Exam) -> list[dict[str, str]]:
    """Return the answers of the bundled tutor to the items that it can answer."""
    from markscheme.ask.tutor import Tutor

    tutor = Tutor()
    known = (item for item in exam.items if tutor.knows(item.prompt))
    return [{"item": item.id, "output": tutor.answer(item.prompt)} for item in known]


def audit(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    answers: Answers | None = None,
    *,
    cases: Iterable[str | Path] = (),
) -> AuditReport:
    """Test a rubric by breaking it on purpose: does any case, answer or known form notice?

    Without answers the bundled tutor answers what it can; without cases the built-in ones of the
    rubric's name are used.

    >>> report = audit("tutor-capstone", "capstone")
    >>> report.verdict.value, len(report.of("survived"))
    ('sound', 0)
    """
    from markscheme.prove.audit import audit_rubric
    from markscheme.prove.golden import Golden

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    golden = Golden(rubric, load_cases(*cases, rubric=rubric))
    return audit_rubric(golden, record(rubric, exam, answers))


class Exercise:
    """The exercise of `markscheme break`: a rubric, answers, and the rules that can be removed.

    Without an exam and answers of one's own it uses the practice material, which a seed shuffles.
    """

    def __init__(
        self,
        rubric: str | Path = "tutor-capstone",
        exams: Iterable[str | Path] = (),
        answers: Answers | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        from markscheme.prove.breaking import breakable
        from markscheme.prove.golden import Golden

        self.rubric = load_rubric(rubric)
        named = tuple(exams)
        self.exam = load_exam(*(named or ("capstone", "capstone-extra")), rubric=self.rubric)
        if not named and answers is None:
            self.exam, answers = _practice(self.exam, seed)
        self.seed = seed
        self.steps = breakable(self.rubric)
        self._golden = Golden(self.rubric, load_cases(rubric=self.rubric))
        self.recorded = record(self.rubric, self.exam, answers)

    def without(self, step: str) -> Cascade:
        """Return what the removal of one rule does; the rubric itself stays whole."""
        from markscheme.prove.breaking import cascade

        if step not in self.steps:
            raise UsageError(f"`{step}` cannot be removed; allowed: {', '.join(self.steps)}")
        return cascade(self.recorded, self._golden, step)

    def riddle(self) -> Cascade:
        """Return a removal that can be seen in the answers, chosen by the seed."""
        shown = [found for found in map(self.without, self.steps) if found.effect.seen]
        if not shown:
            raise UsageError("no rule of this rubric can be missed in these answers; give others")
        return Random(f"riddle {self.seed}").choice(shown)  # noqa: S311 - an exercise


def _practice(exam: Exam, seed: int | None) -> tuple[Exam, list[dict[str, str]]]:
    from markscheme.ask.tutor import Tutor
    from markscheme.prove.practice import practice

    return practice(exam, Tutor().answer, seed)


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


def compare(  # noqa: PLR0913 - one parameter per option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: str | Path | Iterable[Rating | Mapping[str, Any]],
    *,
    baseline: str,
    candidate: str,
    answers: Answers | None = None,
    logs: str | Path | None = None,
    log_map: str | Path | None = None,
    observed: Iterable[Observed] = (),
    margin: Decimal | None = None,
    allow_gaps: bool = False,
) -> Comparison:
    """Compare a candidate with a baseline by ratings: verdicts, decision, honest statistics.

    `ratings` are a file (CSV or JSON lines) or rows. `answers` are marked by the axes of the rubric
    and shown beside the verdicts, a variant being the subject of an answer; so are session `logs`,
    with what was measured in them, and other things `observed`. `margin` is the loss up to which
    the candidate counts as no worse; without one it is taken from the verdict rules. With
    `allow_gaps` a query that is not rated whole has no verdict; otherwise ratings with gaps are
    refused.

    Raises:
        UsageError: the rubric has no scales, rules or table, or the variants are one.
        InputError: the ratings, or the modes of the exam, are not what they must be.
    """
    from markscheme.read.composed import composed
    from markscheme.read.ratings import Raters, read_ratings
    from markscheme.weigh.compared import compare_ratings
    from markscheme.weigh.comparing import Contest

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    baseline, candidate = composed(baseline), composed(candidate)
    contest = Contest(rubric=rubric, exam=exam, baseline=baseline, candidate=candidate)
    raters = Raters(rubric=rubric, exam=exam, variants=contest.variants, gaps=allow_gaps)
    found = read_ratings(ratings, raters)
    if not rubric.axes and (answers is not None or logs is not None):
        raise UsageError(f"the rubric `{rubric.name}` marks nothing; leave the answers out")
    seen = list(observed)
    if answers is not None:
        file = str(answers) if isinstance(answers, str | Path) else "answers"
        seen += _observed(score(rubric, exam, answers), file, contest.variants)
    if logs is not None:
        result = score(rubric, exam, logs=logs, log_map=log_map)
        seen += _observed(result, str(logs), contest.variants)
    return compare_ratings(contest, found, seen, margin)


def _observed(result: Result, file: str, variants: tuple[str, str]) -> tuple[Observed, ...]:
    """Return what was marked and measured of the answers of two variants."""
    from markscheme.weigh.observing import observed_in

    if result.errors:
        raise AnswersError(
            Problem(file=row.file or file, line=row.line, field=row.item or "", message=row.reason)
            for row in result.errors
        )
    found = observed_in(result.frame.iter_rows(named=True), variants)
    for variant in variants:
        if not any(one.variant == variant for one in found):
            raise UsageError(f"`{file}` holds no answer with the subject `{variant}`")
    return found


def answers_to_rate(rubric: Rubric, exam: Exam, answers: str | Path) -> list[Shown]:
    """Return the answers of a file as raters see them: one for each item and subject.

    Of several attempts the first is rated. Rows that are no answers are refused.
    """
    from markscheme.read.answers import read_answers
    from markscheme.tell.sittings import Shown

    if not rubric.scales:
        raise UsageError(f"the rubric `{rubric.name}` has no axis of kind `scale` to rate")
    prompts = {item.id: item.prompt for item in exam.items}
    first: dict[tuple[str, str], tuple[int, Shown]] = {}
    problems: list[Problem] = []

    def complain(line: int, field: str, message: str) -> None:
        problems.append(Problem(file=str(answers), line=line, field=field, message=message))

    for batch in read_answers(answers, items=prompts):
        for error in batch.errors:
            complain(error.line, "row", error.reason)
        rows = batch.table().iter_rows(named=True)
        for row, text in zip(rows, batch.output_texts(), strict=True):
            item, variant, attempt = row["item"], row["subject"], row["attempt"]
            if variant is None:
                complain(row["line"], "subject", "is missing; it names the variant of the answer")
            elif attempt <= first.get((item, variant), (attempt, None))[0]:
                shown = Shown(item=item, variant=variant, prompt=prompts[item], text=text)
                first[item, variant] = (attempt, shown)
    if not (first or problems):
        complain(1, "", "holds no answer")
    if problems:
        raise AnswersError(problems)
    return [shown for _, shown in first.values()]


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
