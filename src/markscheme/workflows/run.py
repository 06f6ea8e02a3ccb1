"""`markscheme run`: asks live subjects, marks what they say meanwhile, and stores the runs.

The steps: `run_plan` decides what is asked, `live_session` asks and journals every reply,
`BackgroundMarker` marks replies in a thread beside it, and `live_run` builds and stores each run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Self

from markscheme.ask.runner import AskedQuestion, SubjectState
from markscheme.keep import check_tag, open_store
from markscheme.mark import check_axes, check_exam
from markscheme.vocabulary import ErrorCollector, Exam, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.live_session import (
    NULL_OBSERVER,
    LiveSession,
    LiveSessionResult,
    RunObserver,
)
from markscheme.workflows.run_plan import RunPlan, Settings, build_run_plan
from markscheme.workflows.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Unpack

    # These load polars, and that can wait until the first questions are sent.
    from markscheme.weigh.result import Result
    from markscheme.workflows.live_run import LiveRun, SubjectMarker
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
                opened,
                plan.rubric,
                plan.exam,
                source=lambda subject: f"live {plan.find_alias_target(subject) or subject}",
                seed=plan.seed,
                tag=tag,
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


# Replies per batch. The fixed cost of a batch is that of marking about 300 answers.
_MIN_BATCH, _MAX_BATCH = 500, 5_000


class BackgroundMarker:
    """Queues replies, marks them in batches in a thread, and finishes the runs at the end.

    Asking is waiting, so marking beside it costs no time. Loading what marks (polars above all)
    takes longer than the first questions, so that happens in the thread too, once they were sent.
    The store is left alone until `finish_runs`: while questions are asked, the journal uses it.
    """

    def __init__(
        self,
        plan: RunPlan,
        run_writer: RunWriter | None,
        observer: RunObserver,
        *,
        messages: bool = False,
    ) -> None:
        self._messages = messages
        self._plan, self._run_writer, self._observer = plan, run_writer, observer
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="markscheme marking")
        self._futures: list[Future[object]] = []
        # Replies are queued by the thread that commits them, states come from the event loop.
        self._queue_lock = Lock()
        self._queue: list[AskedQuestion] = []
        self._remaining = plan.questions
        self._batch_size = min(_MAX_BATCH, max(_MIN_BATCH, plan.questions * 9 // 10))
        self._submitted_at = time.monotonic()
        self._markers: dict[str, SubjectMarker] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    @property
    def observer(self) -> RunObserver:
        """Observer that queues each reply for marking and forwards it to the caller's observer."""
        return replace(
            self._observer,
            on_first_sent=self._start_loading,
            on_reply=self._queue_reply,
            on_states=self._forward_states,
        )

    def finish_runs(self, session: LiveSessionResult) -> list[LiveRun]:
        """Mark what is left; return the run of each subject, all stored in one transaction."""
        self._submit_batch()
        for future in self._futures:
            future.result()
        with self._run_writer.store.transaction() if self._run_writer else nullcontext():
            return [marker.finish_run(session) for marker in self._markers.values()]

    def _start_loading(self) -> None:
        self._futures.append(self._thread.submit(self._create_markers))
        self._futures.append(self._thread.submit(self._observer.on_first_sent))

    def _queue_reply(self, asked: AskedQuestion) -> None:
        self._observer.on_reply(asked)
        with self._queue_lock:
            self._queue.append(asked)
            self._remaining -= 1
            is_full = len(self._queue) >= self._batch_size or not self._remaining
        if is_full or self._is_score_due():
            self._submit_batch()

    def _forward_states(self, states: Sequence[SubjectState]) -> None:
        # Comes every second, also while nobody answers.
        if self._is_score_due():
            self._submit_batch()
        self._observer.on_states(states)

    def _is_score_due(self) -> bool:
        """Whether somebody watches the score, it is time for a new one, and the thread is idle."""
        interval = self._observer.score_interval
        if interval is None or not self._queue or time.monotonic() < self._submitted_at + interval:
            return False
        return not self._futures or self._futures[-1].done()

    def _submit_batch(self) -> None:
        with self._queue_lock:
            batch, self._queue = self._queue, []
            self._submitted_at = time.monotonic()
            self._futures.append(self._thread.submit(self._mark_batch, batch))

    # --- in the thread ---

    def _create_markers(self) -> None:
        from markscheme.workflows.live_run import SubjectMarker

        if not self._markers:
            for subject in self._plan.subjects:
                marker = SubjectMarker(
                    self._plan, subject.name, self._run_writer, messages=self._messages
                )
                self._markers[subject.name] = marker

    def _mark_batch(self, batch: list[AskedQuestion]) -> None:
        self._create_markers()
        for name, marker in self._markers.items():
            replies = [asked for asked in batch if asked.scheduled.subject == name]
            if replies:
                marker.mark_replies(replies)
                if self._observer.score_interval is not None:
                    self._observer.on_score(name, marker.compute_running_score())
