"""Recompute published results and report what does not follow from the rubric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.read.documents import list_builtin_names
from markscheme.vocabulary import Exam, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.read.results import PublishedResult
    from markscheme.weigh.verify import Verification


def verify(
    source: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: Exam | str | Path | Sequence[str | Path] | None = None,
) -> Verification:
    """Recompute a published file: one breakdown, a list, a whole result, or JSON lines.

    Without a rubric, the built-in rubric that the file names is used, or `tutor-capstone`; without
    an exam, the built-in exam that it names, if any. Groups by tag are checked only with an exam.

    >>> from markscheme import score
    >>> row = {"item": "e-39-01", "output": "He ate."}
    >>> done = score("tutor-capstone", "capstone", [row], output="published.json")
    >>> verify("published.json").findings
    ()
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
    """Return the built-in exams that a file names; none if it names any other exam."""
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
        message = f"`{published.file}` was scored under the rubric `{name}`"
        raise UsageError(f"{message}; name its file with --rubric")
    return name
