"""Scoring recorded answers and session logs; recomputing what was published; reading logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.read.documents import list_builtin_names
from markscheme.vocabulary import Exam, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from markscheme.read.results import PublishedResult
    from markscheme.read.session_logs import LogFolder
    from markscheme.vocabulary import Answer, Transcript
    from markscheme.weigh.result import Result
    from markscheme.weigh.verify import Verification

    Answers = str | Path | pl.DataFrame | Iterable[Answer | Mapping[str, Any]]


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
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    if (answers is None) == (logs is None):
        told = "the answers must be a file's path, a polars frame, or a list of rows"
        raise UsageError(f"{told}; or give a folder of `logs` in their place")
    if answers is None:
        from markscheme.read.session_logs import read_logs

        return score_logs(rubric, exam, read_logs(str(logs), exam.items, mapping=log_map))
    return score_answers(rubric, exam, answers)


def score_answers(
    rubric: Rubric, exam: Exam, answers: Answers, *, messages: bool = False
) -> Result:
    """Score recorded answers; `messages` adds the hidden column of what pages translate."""
    from markscheme.workflows.score import ScoringSession
    from markscheme.workflows.workers import LocalEngine

    if not isinstance(answers, str | Path):
        scoring = ScoringSession(rubric, exam, messages=messages)
        return scoring.build_result(scoring.build_frames(scoring.score_answers(answers)))
    with LocalEngine(rubric, exam, answers) as engine:
        scoring = ScoringSession(rubric, exam, files=engine.is_folder, messages=messages)
        return scoring.build_result(scoring.build_frames(engine.score_chunks(scoring)))


def score_logs(rubric: Rubric, exam: Exam, logs: LogFolder, *, messages: bool = False) -> Result:
    """Score session logs that were read."""
    from markscheme.workflows.score import ScoringSession

    scoring = ScoringSession(rubric, exam, logs=True, messages=messages)
    return scoring.build_result(scoring.build_frames(scoring.score_logs(logs)))


def generate_tutor_answers(exam: Exam, *, flawed: bool = False) -> list[dict[str, Any]]:
    """Let the bundled tutor answer an exam."""
    from markscheme.ask.subjects import FLAWED, Tutor

    tutor = Tutor(faults=FLAWED if flawed else frozenset())
    subject = "flawed-tutor" if flawed else "tutor"
    return [
        {"item": item.id, "output": tutor.answer(item.prompt), "subject": subject}
        for item in exam.items
    ]


def verify(
    source: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: Exam | str | Path | Sequence[str | Path] | None = None,
) -> Verification:
    """Recompute what was published: one breakdown, a list, a whole result, or JSON lines.

    Without a rubric, the built-in one that the file names is used, or `tutor-capstone`; without an
    exam the built-in one that it names, if there is one. Groups by tag are checked with the exam.
    """
    from markscheme.read.results import read_published_result
    from markscheme.weigh.verify import verify_published

    published = read_published_result(source)
    if not isinstance(rubric, Rubric):
        rubric = load_rubric(rubric or _find_named_rubric(published))
    if not isinstance(exam, Exam):
        named = (exam,) if isinstance(exam, str | Path) else exam or _find_named_exams(published)
        exam = load_exam(*named, rubric=rubric) if named else None
    return verify_published(published, rubric, exam)


def _find_named_exams(published: PublishedResult) -> list[str]:
    """Return the built-in exams that a file names, where all that it names are built in."""
    named = published.document.get("exam")
    name = named.get("name") if isinstance(named, dict) else named
    names = name.split("+") if isinstance(name, str) else []
    return names if set(names) <= set(list_builtin_names("exams")) else []


def _find_named_rubric(published: PublishedResult) -> str:
    named = published.document.get("rubric")
    name = named.get("name") if isinstance(named, dict) else named
    if not isinstance(name, str):
        return "tutor-capstone"
    if name not in list_builtin_names("rubrics"):
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
