"""Recalibrate stored runs: weigh them again under a changed rubric; nothing is overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markscheme import __version__
from markscheme.keep import NewRun, RunStatus, Store, StoredRun
from markscheme.vocabulary import Rubric
from markscheme.weigh.recalibrate import (
    PastRun,
    Recalibration,
    find_reuse_obstacles,
    recalibrate_history,
    reweigh_run,
)
from markscheme.weigh.result import build_summary_record
from markscheme.weigh.totals import summarise_marks
from markscheme.workflows.find_run import FoundRun, RunFinder
from markscheme.workflows.run_writer import build_counts
from markscheme.workflows.stored_runs import build_rubric_document


def recalibrate_runs(
    runs: RunFinder, new: Rubric, *, exam: str | None = None, apply: bool = False
) -> tuple[Recalibration, dict[str, str]]:
    """Weigh all stored runs of a rubric again; with `apply`, store them as new runs.

    Returns what changes, and the ids of the new runs by the ids of the old ones; with `apply` the
    proposed baselines are the new runs. No subject is asked and no answer is read: a new run points
    at the answers and cells of the old one.
    """
    stored = runs.store.list_runs(rubric=new.name, exam=exam)
    # A run that was rescored from another one would count its answers twice.
    original = [
        run
        for run in reversed(stored)
        if run.status is RunStatus.FINISHED and run.rescored_from is None
    ]
    history = list(runs.load_runs(original))
    baselines = {
        found.past.exam.fingerprint: found.past
        for found in (
            runs.find(baseline.run)
            for baseline in runs.store.list_current_baselines(rubric=new.name)
        )
    }
    recalibration = recalibrate_history([found.past for found in history], new, baselines)
    if not apply:
        return recalibration, {}
    ids = _store_reweighed_runs(runs, history, new)
    return _name_rescored_runs(runs, recalibration, ids), ids


def _name_rescored_runs(
    runs: RunFinder, recalibration: Recalibration, ids: Mapping[str, str]
) -> Recalibration:
    """Return the recalibration with the rescored run in place of each run that it proposes.

    A baseline that is itself rescored stands for the answers of the run that it comes from.
    """
    proposals = []
    for proposal in recalibration.proposals:
        run = proposal.run
        if run is not None and run not in ids:
            run = runs.store.find_run(run).rescored_from
        rescored = ids.get(run or "", proposal.run)
        if rescored is not None and rescored != proposal.run:
            proposals.append(proposal.name_rescored_run(rescored))
        else:
            proposals.append(proposal)
    return replace(recalibration, proposals=tuple(proposals))


def _store_reweighed_runs(
    runs: RunFinder, history: Sequence[FoundRun], new: Rubric
) -> dict[str, str]:
    """Store the reweighed runs, except those that are stored already; return all their ids."""
    store, ids = runs.store, dict[str, str]()
    rubric = store.save_document(build_rubric_document(new))
    for found in history:
        past, old = found.past, found.stored
        same = past.rubric.fingerprint == new.fingerprint
        if old is None or same or any(find_reuse_obstacles(past, new)):
            continue
        with store.transaction():
            ids[old.id] = store.find_rescored_run(old.id, rubric) or _store_reweighed_run(
                store, past, old, new, rubric
            )
    return ids


def _store_reweighed_run(
    store: Store, past: PastRun, old: StoredRun, new: Rubric, rubric: str
) -> str:
    """Store one run under the new rubric; return its id."""
    run = reweigh_run(past.run, new)
    summary = summarise_marks(new, past.exam, run.marks, [(run.subject, run.marks)])
    id_ = store.begin_run(
        NewRun(
            subject=old.subject,
            rubric=rubric,
            exam=old.exam.digest,
            axis_versions={spec.name: spec.axis.version for spec in new},
            tool_version=__version__,
            seed=old.seed,
            source=old.source,
            rescored_from=old.id,
        )
    )
    for chunk in store.list_chunks(old.id):
        store.append_chunk(id_, chunk.answers, chunk.cells)
    store.finish_run(
        id_,
        counts=build_counts(summary),
        summary=build_summary_record(summary),
        measures=run.measures.to_dict(),
        marks=run.marks.to_dict(),
    )
    return id_
