"""Examining: a live subject's answers, scored and stored like any other run.

What scores is heavy to load, so it is loaded, and marks, while the subject thinks.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from markscheme.errors import Mistakes, UsageError
from markscheme.history.asking import NOBODY, Examination
from markscheme.history.beginning import Beginning
from markscheme.history.meanwhile import Meanwhile
from markscheme.history.plans import Settings, plan_of
from markscheme.keep import check_tag, open_store
from markscheme.library.documents import load_exam, load_rubric
from markscheme.mark.scoring import check_axes, check_exam
from markscheme.vocabulary import Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any, Unpack

    from markscheme.history.asking import Onlooker, Plan
    from markscheme.history.live_runs import LiveRun
    from markscheme.history.plans import RunSettings
    from markscheme.weigh.results import Result


_NEEDS_A_STORE = {
    "resume": "--resume reads a store, and there is none",
    "cache": "--cache keeps answers in the store",
}


def run(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    subject: str,
    *,
    store: str | Path | None = None,
    **settings: Unpack[RunSettings],
) -> Result:
    """Ask a live subject every item of an exam and score what it says.

    `settings` are the options of `markscheme run` by name, such as `base_url` or `concurrency`.
    The run is stored where a store is named. Questions without an answer are its `errors`.

    >>> run("tutor-capstone", "capstone", "tutor", concurrency=4).summary.n
    60
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    check_exam(rubric, exam)
    plan = plan_of(rubric, exam, [subject], Settings.of(settings))
    (found,) = examine(plan, store=store, skip=store is None)
    return found.result


def examine(
    plan: Plan,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    tag: str | None = None,
    onlooker: Onlooker = NOBODY,
) -> list[LiveRun]:
    """Carry out a plan, and score and store the run of each subject.

    The exam was checked by the rubric when it was loaded. What the onlooker loads, while the
    subjects are asked, is there when they have answered.
    """
    check_axes(plan.rubric)
    named = [subject.name for subject in plan.subjects]
    check_keeping(named, {"resume": plan.resume, "cache": plan.cache}, skip=skip, tag=tag)
    with ExitStack() as stack:
        opened = runs = None
        if not skip:
            opened = stack.enter_context(open_store(store, create=True))
            runs = Beginning(opened, plan.rubric, plan.exam, source=_live, seed=plan.seed, tag=tag)
        meanwhile = stack.enter_context(Meanwhile(plan, runs, onlooker))
        examined = Examination(plan, opened, meanwhile.onlooker, runs).run()
        return meanwhile.finish(examined)


def check_keeping(
    subjects: Sequence[str], options: Mapping[str, Any], *, skip: bool, tag: str | None
) -> None:
    """Refuse what needs a store where none is used, and a tag that cannot name the run."""
    with Mistakes() as mistakes:
        if tag is not None:
            with mistakes.noted():
                check_tag(tag)
            if skip or len(subjects) > 1:
                mistakes.note(UsageError("a tag names one stored run; leave it out"))
        for name, needs in _NEEDS_A_STORE.items():
            if skip and options[name]:
                mistakes.note(UsageError(f"{needs}; leave out --no-store"))


def _live(subject: str | None) -> str:
    return f"live {subject}"
