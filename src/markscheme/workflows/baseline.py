"""Set and show baselines: the runs that new runs are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from markscheme.keep import Baseline, RunStatus, StoredRun
from markscheme.vocabulary import Outcome, RecordFields, UsageError, format_value
from markscheme.weigh.distribution import ScoreDistribution, describe_distribution
from markscheme.weigh.gates import GateOutcome, evaluate_gates
from markscheme.weigh.recalibrate import PastRun
from markscheme.weigh.totals import Run
from markscheme.workflows.find_run import FoundRun, RunFinder

# How many of the last runs make a trend.
LAST_RUNS = 20


def set_baseline(
    runs: RunFinder, name: str, *, by: str | None, note: str | None, force: bool = False
) -> tuple[Baseline, Baseline | None]:
    """Make a complete stored run the baseline of its rubric and exam; return also the former one.

    A run that fails a hard gate of its rubric is refused, unless `force` says that it is meant.
    """
    found = runs.find(name)
    if found.stored is None:
        raise UsageError(f"`{name}` is a result file; a baseline is a run in the store")
    past = found.past
    if not past.run.marks.complete:
        raise UsageError(f"the run `{found.name}` is not complete; it cannot be a baseline")
    failed = [f"{gate.gate.name} ({gate.because})" for gate in list_failed_gates(past)]
    if failed and not force:
        hint = "--force makes it the baseline nevertheless"
        raise UsageError(f"the run `{found.name}` does not meet {', '.join(failed)}; {hint}")
    former = runs.store.find_baseline(found.stored.rubric.name, found.stored.exam.name)
    return runs.store.set_baseline(found.stored.id, by=by, note=note), former


def list_failed_gates(past: PastRun) -> list[GateOutcome]:
    """Return the hard gates that a run fails, which speaks against it as a baseline.

    The gate on the baseline itself is not asked: a new baseline may be set because of it.
    """
    report = evaluate_gates(past.rubric, past.exam, past.run, detailed=False)
    return [found for found in report.outcomes if found.outcome is Outcome.FAIL]


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


def load_history(
    runs: RunFinder, past: PastRun, last: int = LAST_RUNS, *, until: StoredRun | None = None
) -> list[Run]:
    """Return the last runs that can be compared with a run, up to the run `until`.

    Between them are the finished runs that cannot be compared, so that these can be named. All are
    in the order in which their answers came.
    """
    known = runs.store.list_runs(rubric=past.rubric.name, exam=past.exam.name)
    return runs.load_history(_select_history(known, past, last, until))


def load_subject_history(
    runs: RunFinder,
    past: PastRun,
    subject: str | None,
    *,
    until: StoredRun | None = None,
    last: int = LAST_RUNS,
) -> list[Run]:
    """Return the same of one subject only."""
    known = runs.store.list_runs(rubric=past.rubric.name, exam=past.exam.name, subject=subject)
    of_subject = [run for run in known if run.subject == subject]
    return runs.load_history(_select_history(of_subject, past, last, until))


def _select_history(
    known: Sequence[StoredRun], past: PastRun, last: int, until: StoredRun | None
) -> list[StoredRun]:
    """Return the last runs that can be compared, and between them those that cannot.

    A run and the runs that were rescored from it hold the same answers, so only one of them is
    taken: one that can be compared if there is one, the newest of those. `known` has the newest
    run first.
    """
    by_id = {run.id: run for run in known}

    def find_original(run: StoredRun) -> StoredRun:
        return by_id.get(run.rescored_from or "", run)

    def get_time(run: StoredRun) -> tuple[datetime, str]:
        original = find_original(run)
        return original.started, original.id

    finished = [run for run in known if run.status is RunStatus.FINISHED]
    candidates = [run for run in finished if until is None or get_time(run) <= get_time(until)]
    # `until` itself goes before a newer run that was rescored from the same answers.
    candidates.sort(key=lambda run: (not _is_comparable(run, past), run != until))
    chosen: dict[str, StoredRun] = {}
    for run in candidates:
        chosen.setdefault(find_original(run).id, run)
    ordered = sorted(chosen.values(), key=get_time)
    comparable = [at for at, run in enumerate(ordered) if _is_comparable(run, past)]
    return ordered[comparable[-last:][0] :] if comparable else ordered[-last:]


def _is_comparable(run: StoredRun, past: PastRun) -> bool:
    fingerprints = (run.rubric.fingerprint, run.exam.fingerprint)
    is_complete = run.counts is not None and run.counts.get("complete", False)
    return is_complete and fingerprints == (past.run.rubric, past.run.exam)
