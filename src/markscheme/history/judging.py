"""Judging runs: gates, baselines, the stable distribution, recalibration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme import __version__
from markscheme.errors import UsageError
from markscheme.history.documents import rubric_document
from markscheme.history.recording import counts_of
from markscheme.history.runs import Context, Found, Runs, is_open
from markscheme.keep import Baseline, NewRun, RunStatus
from markscheme.library import load_rubric
from markscheme.weigh.distribution import Distribution, describe
from markscheme.weigh.gates import cannot_judge, judge
from markscheme.weigh.outcomes import GateReport
from markscheme.weigh.recalibration import Recalibration, reweighed, why_not_reusable
from markscheme.weigh.recalibration import recalibrate as weigh_anew
from markscheme.weigh.records import report_record, summary_record
from markscheme.weigh.summaries import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.vocabulary import Rubric

LAST_RUNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run, the baseline it was judged beside, and what the gates said."""

    found: Found
    baseline: Found | None
    report: GateReport


def judge_run(runs: Runs, name: str, baseline: str | None = None) -> Judged:
    """Judge a run by the gates of its rubric, beside the baseline named or set; keep the outcome.

    A run that was never finished cannot be judged, and a named baseline must be there.
    """
    found = runs.find(name)
    beside = runs.find(baseline) if baseline is not None else _baseline_of(runs, found)
    past = found.past
    if is_open(found):
        report = cannot_judge(past.rubric, past.exam, "the run broke off before it was finished")
    else:
        report = judge(past.rubric, past.exam, past.run, beside.past.run if beside else None)
    if found.stored is not None:
        against = beside.stored.id if beside and beside.stored else None
        outcomes = report_record(report)
        runs.store.add_outcomes(found.stored.id, baseline=against, outcomes=outcomes)
    return Judged(found=found, baseline=beside, report=report)


def _baseline_of(runs: Runs, found: Found) -> Found | None:
    """Return the baseline of the run's rubric and exam, where there is a store with one."""
    if found.stored is None and not runs.has_store:
        return None
    rubric, exam = found.past.rubric.name, found.past.exam.name
    baseline = runs.store.baseline(rubric, exam)
    return None if baseline is None else runs.find(baseline.run)


def set_baseline(runs: Runs, name: str, *, by: str | None, note: str | None) -> Baseline:
    """Make a stored run the baseline of its rubric and exam; it must be complete."""
    found = runs.find(name)
    if found.stored is None:
        raise UsageError(f"`{name}` is a result file; a baseline is a run in the store")
    if not found.past.run.marks.complete:
        raise UsageError(f"the run `{found.name}` is not complete; it cannot be a baseline")
    return runs.store.set_baseline(found.stored.id, by=by, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A baseline as it stands: who set it, its run, and the distribution of its scores."""

    baseline: Baseline
    found: Found
    distribution: Distribution | None


def standing_baselines(
    runs: Runs, *, rubric: str | None = None, exam: str | None = None, last: int = LAST_RUNS
) -> Iterator[Standing]:
    """Yield the present baseline of each rubric and exam, with the trend of the last runs."""
    seen: set[tuple[str, str]] = set()
    for baseline in runs.store.baselines(rubric=rubric, exam=exam):
        key = (baseline.rubric, baseline.exam)
        if key in seen:
            continue
        seen.add(key)
        found = runs.find(baseline.run)
        latest = runs.store.runs(rubric=baseline.rubric, exam=baseline.exam, limit=last)
        finished = [run for run in reversed(latest) if run.status is RunStatus.FINISHED]
        history = [past.past.run for past in runs.load(finished)]
        past = found.past
        distribution = describe(past.rubric, past.exam, past.run, history)
        yield Standing(baseline=baseline, found=found, distribution=distribution)


def recalibrate_runs(
    runs: Runs, new: Rubric, *, exam: str | None = None, apply: bool = False
) -> tuple[Recalibration, dict[str, str]]:
    """Weigh all stored runs of a rubric anew; with `apply` keep them as new runs.

    Returns what moves, and the ids of the new runs by those of the old ones. No subject is asked
    and no answer is read: a new run points at the answers and cells of the old one.
    """
    stored = runs.store.runs(rubric=new.name, exam=exam)
    first_hand = [
        run
        for run in reversed(stored)
        if run.status is RunStatus.FINISHED and run.rescored_from is None
    ]
    history = list(runs.load(first_hand))
    baselines = {
        found.past.exam.fingerprint: found.past
        for found in (
            runs.find(baseline.run) for baseline in reversed(runs.store.baselines(rubric=new.name))
        )
    }
    recalibration = weigh_anew([found.past for found in history], new, baselines)
    return recalibration, _applied(runs, history, new) if apply else {}


def _applied(runs: Runs, history: Sequence[Found], new: Rubric) -> dict[str, str]:
    store, ids = runs.store, dict[str, str]()
    document = rubric_document(new)
    for found in history:
        past, old = found.past, found.stored
        same = past.rubric.fingerprint == new.fingerprint
        if old is None or same or any(why_not_reusable(past, new)):
            continue
        run = reweighed(past.run, new)
        summary = summarise(new, past.exam, run.marks, [(run.subject, run.marks)])
        with store.together():
            ids[old.id] = store.begin(
                NewRun(
                    subject=old.subject,
                    rubric=store.put_document(document),
                    exam=old.exam.digest,
                    axis_versions={spec.name: spec.axis.version for spec in new},
                    tool_version=__version__,
                    seed=old.seed,
                    source=old.source,
                    rescored_from=old.id,
                )
            )
            for chunk in store.chunks(old.id):
                store.append(ids[old.id], chunk.answers, chunk.cells)
            store.finish(
                ids[old.id],
                counts=counts_of(summary),
                summary=summary_record(summary),
                measures=run.measures.to_dict(),
                marks=run.marks.to_dict(),
            )
    return ids


def gate(
    run: str | Path,
    *,
    baseline: str | Path | None = None,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    subject: str | None = None,
    store: str | Path | None = None,
) -> GateReport:
    """Judge a stored run (an id, `latest`, a tag) or a result file by the gates of its rubric."""
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    loaded = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    with Runs(store, Context(rubric=loaded, exams=exams, subject=subject)) as runs:
        return judge_run(runs, str(run), None if baseline is None else str(baseline)).report
