"""Set and show baselines: the runs that new runs are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from markscheme.keep import Baseline, RunStatus, StoredRun
from markscheme.vocabulary import RecordFields, UsageError, format_value
from markscheme.weigh.distribution import ScoreDistribution, describe_distribution
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.totals import Run
from markscheme.workflows.find_run import FoundRun, RunFinder

# How many of the last runs make a trend.
LAST_RUNS = 20


def set_baseline(runs: RunFinder, name: str, *, by: str | None, note: str | None) -> Baseline:
    """Make a complete stored run the baseline of its rubric and exam."""
    found = runs.find(name)
    if found.stored is None:
        raise UsageError(f"`{name}` is a result file; a baseline is a run in the store")
    if not found.past.run.marks.complete:
        raise UsageError(f"the run `{found.name}` is not complete; it cannot be a baseline")
    return runs.store.set_baseline(found.stored.id, by=by, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingBaseline:
    """The present baseline of a rubric and exam: its run, and the distribution of its scores."""

    baseline: Baseline
    found: FoundRun
    distribution: ScoreDistribution | None

    record_fields: ClassVar[RecordFields] = (
        ("run", "baseline.run"),
        ("rubric", "baseline.rubric"),
        ("exam", "baseline.exam"),
        ("set_at", lambda standing: standing.baseline.set_at.isoformat()),
        ("set_by", "baseline.set_by"),
        ("note", "baseline.note"),
        "distribution",
    )


def find_standing_baselines(
    runs: RunFinder,
    *,
    rubric: str | None = None,
    exam: str | None = None,
    subject: str | None = None,
    last: int = LAST_RUNS,
) -> Iterator[StandingBaseline]:
    """Yield the present baseline of each rubric and exam, with the trend of the last runs.

    The trend is over the runs of all subjects, or of one `subject`, which must have some.
    """
    if subject is not None and not runs.store.list_runs(subject=subject, limit=1):
        hint = "`markscheme runs` lists the runs with their subjects"
        raise UsageError(f"there is no run of {format_value(subject)}; {hint}")
    for baseline in runs.store.list_current_baselines(rubric=rubric, exam=exam):
        found = runs.find(baseline.run)
        past = found.past
        history = (
            load_history(runs, past, last)
            if subject is None
            else load_subject_history(runs, past, subject, last=last)
        )
        own = load_subject_history(runs, past, past.run.subject, last=last)
        distribution = describe_distribution(past.rubric, past.exam, past.run, history, own)
        yield StandingBaseline(baseline=baseline, found=found, distribution=distribution)


def load_history(runs: RunFinder, past: PastRun, last: int = LAST_RUNS) -> list[Run]:
    """Return the last finished runs of the same rubric and exam, in order of time."""
    latest = runs.store.list_runs(rubric=past.rubric.name, exam=past.exam.name, limit=last)
    finished = [run for run in reversed(latest) if run.status is RunStatus.FINISHED]
    return runs.load_history(finished)


def load_subject_history(
    runs: RunFinder,
    past: PastRun,
    subject: str | None,
    *,
    until: StoredRun | None = None,
    last: int = LAST_RUNS,
) -> list[Run]:
    """Return the last finished runs of one subject, up to the run `until`, in order of time."""
    known = runs.store.list_runs(rubric=past.rubric.name, exam=past.exam.name, subject=subject)
    before = [
        run
        for run in known
        if run.status is RunStatus.FINISHED
        and run.subject == subject
        and (until is None or (run.started, run.id) <= (until.started, until.id))
    ]
    return runs.load_history(reversed(before[:last]))
