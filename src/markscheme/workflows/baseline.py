"""Baselines: the run that new ones are held against, and how its scores are distributed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markscheme.keep import Baseline, RunStatus
from markscheme.keep import StoredRun as Stored
from markscheme.vocabulary import UsageError, format_value
from markscheme.weigh.distribution import ScoreDistribution, describe_distribution
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.totals import Run
from markscheme.workflows.find_run import FoundRun, RunFinder

LAST_RUNS = 20


def set_baseline(runs: RunFinder, name: str, *, by: str | None, note: str | None) -> Baseline:
    """Make a stored run the baseline of its rubric and exam; it must be complete."""
    found = runs.find(name)
    if found.stored is None:
        raise UsageError(f"`{name}` is a result file; a baseline is a run in the store")
    if not found.past.run.marks.complete:
        raise UsageError(f"the run `{found.name}` is not complete; it cannot be a baseline")
    return runs.store.set_baseline(found.stored.id, by=by, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingBaseline:
    """A baseline as it stands: who set it, its run, and the distribution of its scores."""

    baseline: Baseline
    found: FoundRun
    distribution: ScoreDistribution | None


def find_standing_baselines(
    runs: RunFinder,
    *,
    rubric: str | None = None,
    exam: str | None = None,
    subject: str | None = None,
    last: int = LAST_RUNS,
) -> Iterator[StandingBaseline]:
    """Yield the present baseline of each rubric and exam, with the trend of the last runs.

    The trend is over all subjects, or over the runs of one `subject` only, which must have some.
    """
    if subject is not None and not runs.store.list_runs(subject=subject, limit=1):
        told = "`markscheme runs` lists the runs with their subjects"
        raise UsageError(f"there is no run of {format_value(subject)}; {told}")
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
    until: Stored | None = None,
    last: int = LAST_RUNS,
) -> list[Run]:
    """Return the last finished runs of one subject, up to the run that is given, in their order."""
    known = runs.store.list_runs(rubric=past.rubric.name, exam=past.exam.name, subject=subject)
    before = [
        run
        for run in known
        if run.status is RunStatus.FINISHED
        and run.subject == subject
        and (until is None or (run.started, run.id) <= (until.started, until.id))
    ]
    return runs.load_history(reversed(before[:last]))
