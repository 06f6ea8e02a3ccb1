"""Examining: a live subject's answers, scored and stored like any other run.

What scores is heavy to load, so it is loaded, and marks, while the subject thinks.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from markscheme.keep import check_tag, open_store
from markscheme.mark import check_axes, check_exam
from markscheme.vocabulary import ErrorCollector, Exam, Rubric, UsageError
from markscheme.workflows.background_marker import BackgroundMarker
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.live_session import NULL_OBSERVER, LiveSession
from markscheme.workflows.run_plan import Settings, build_run_plan
from markscheme.workflows.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any, Unpack

    from markscheme.weigh.result import Result
    from markscheme.workflows.live_run import LiveRun
    from markscheme.workflows.live_session import RunObserver, RunPlan
    from markscheme.workflows.run_plan import RunSettings


_STORE_OPTIONS = {
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
    plan = build_run_plan(rubric, exam, [subject], Settings.from_mapping(settings))
    (found,) = execute_plan(plan, store=store, skip=store is None)
    return found.result


def execute_plan(
    plan: RunPlan,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    tag: str | None = None,
    observer: RunObserver = NULL_OBSERVER,
    messages: bool = False,
) -> list[LiveRun]:
    """Carry out a plan, and score and store the run of each subject.

    The exam was checked by the rubric when it was loaded. What the onlooker loads, while the
    subjects are asked, is there when they have answered. With `messages` the rows have the hidden
    column of what pages translate.
    """
    check_axes(plan.rubric)
    named = [subject.name for subject in plan.subjects]
    check_store_options(named, {"resume": plan.resume, "cache": plan.cache}, skip=skip, tag=tag)
    with ExitStack() as stack:
        opened = runs = None
        if not skip:
            opened = stack.enter_context(open_store(store, create=True))
            runs = RunWriter(
                opened, plan.rubric, plan.exam, source=_format_live_source, seed=plan.seed, tag=tag
            )
        meanwhile = stack.enter_context(BackgroundMarker(plan, runs, observer, messages=messages))
        examined = LiveSession(plan, opened, meanwhile.observer, runs).run()
        return meanwhile.finish_runs(examined)


def check_store_options(
    subjects: Sequence[str], options: Mapping[str, Any], *, skip: bool, tag: str | None
) -> None:
    """Refuse what needs a store where none is used, and a tag that cannot name the run."""
    with ErrorCollector() as mistakes:
        if tag is not None:
            with mistakes.collect_error():
                check_tag(tag)
            if skip or len(subjects) > 1:
                mistakes.add_error(UsageError("a tag names one stored run; leave it out"))
        for name, needs in _STORE_OPTIONS.items():
            if skip and options[name]:
                mistakes.add_error(UsageError(f"{needs}; leave out --no-store"))


def _format_live_source(subject: str | None) -> str:
    return f"live {subject}"
