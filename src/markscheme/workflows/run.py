"""`markscheme run`: asks live subjects, marks what they say meanwhile, and stores the runs.

The steps: `run_plan` decides what is asked, `live_session` asks and journals every reply,
`background_marker` marks replies in a thread beside it, and `live_run` builds and stores each run.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from markscheme.keep import check_tag, open_store
from markscheme.mark import check_axes, check_exam
from markscheme.vocabulary import ErrorCollector, Exam, Rubric, UsageError
from markscheme.workflows.background_marker import BackgroundMarker
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.live_session import NULL_OBSERVER, LiveSession, RunObserver
from markscheme.workflows.run_plan import RunPlan, Settings, build_run_plan
from markscheme.workflows.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any, Unpack

    # These load polars, and that can wait until the first questions are sent.
    from markscheme.weigh.result import Result
    from markscheme.workflows.live_run import LiveRun
    from markscheme.workflows.run_plan import RunSettings

_OPTIONS_THAT_NEED_A_STORE = {
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
    (live_run,) = execute_plan(plan, store=store, skip=store is None)
    return live_run.result


def execute_plan(
    plan: RunPlan,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    tag: str | None = None,
    observer: RunObserver = NULL_OBSERVER,
    messages: bool = False,
) -> list[LiveRun]:
    """Ask, mark and store what a plan says; return the run of each subject.

    The caller has checked the exam against the rubric. With `skip` nothing is stored.
    With `messages` the rows have the hidden column from which pages translate reasons.
    """
    check_axes(plan.rubric)
    check_store_options(
        plan.subject_names, {"resume": plan.resume, "cache": plan.cache}, skip=skip, tag=tag
    )
    with ExitStack() as stack:
        opened = run_writer = None
        if not skip:
            # Before anything is asked: a store that cannot be opened must cost no question.
            opened = stack.enter_context(open_store(store, create=True))
            run_writer = RunWriter(
                opened, plan.rubric, plan.exam, source=_format_live_source, seed=plan.seed, tag=tag
            )
        marker = stack.enter_context(
            BackgroundMarker(plan, run_writer, observer, messages=messages)
        )
        session_result = LiveSession(plan, opened, marker.observer, run_writer).run()
        return marker.finish_runs(session_result)


def check_store_options(
    subjects: Sequence[str], options: Mapping[str, Any], *, skip: bool, tag: str | None
) -> None:
    """Refuse options that need a store where none is used, and a tag that cannot name the run."""
    with ErrorCollector() as mistakes:
        if tag is not None:
            with mistakes.collect_error():
                check_tag(tag)
            if skip or len(subjects) > 1:
                mistakes.add_error(UsageError("a tag names one stored run; leave it out"))
        for name, reason in _OPTIONS_THAT_NEED_A_STORE.items():
            if skip and options[name]:
                mistakes.add_error(UsageError(f"{reason}; leave out --no-store"))


def _format_live_source(subject: str | None) -> str:
    return f"live {subject}"
