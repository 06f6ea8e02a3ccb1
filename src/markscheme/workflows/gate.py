"""Judge a run by the gates of its rubric and by its baseline, and record the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markscheme.vocabulary import Rubric, StoreUnavailableError, UsageError, sentence, to_record
from markscheme.weigh.gates import GateReport, build_undecided_report, evaluate_gates
from markscheme.weigh.recalibrate import PastRun
from markscheme.workflows.find_run import FoundRun, RunContext, RunFinder, is_open_run

_OPEN_RUN_REASON = sentence(
    "the run is not finished: it is still being written, or its process was ended"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run, the baseline it was compared with, and the outcome of its gates."""

    found: FoundRun
    baseline: FoundRun | None
    gates: GateReport


def judge_run(runs: RunFinder, found: FoundRun, baseline: str | None = None) -> JudgedRun:
    """Judge a run by the gates of its rubric, with the baseline that is named or set.

    A run that was never finished is undecided. A baseline that is named must exist.
    """
    past = found.past
    compared = _find_baseline(runs, found, baseline)
    if is_open_run(found):
        report = build_undecided_report(past.rubric, past.exam, past.run.name, _OPEN_RUN_REASON)
    else:
        report = evaluate_gates(
            past.rubric, past.exam, past.run, compared.past.run if compared else None
        )
    return JudgedRun(found=found, baseline=compared, gates=report)


def _find_baseline(runs: RunFinder, found: FoundRun, name: str | None) -> FoundRun | None:
    """Return the named baseline, else that of the rubric and exam, or None if no store has one."""
    past = found.past
    if name is not None:
        if not any(gate.baseline and gate.applies_to(past.exam) for gate in past.rubric.gates):
            what = f"the rubric `{past.rubric.name}` has no gate `metric: baseline` for this exam"
            raise UsageError(f"{what}; there is nothing to compare with `{name}`")
        return runs.find(name, reference=past)
    return find_set_baseline(runs, past)


def find_set_baseline(runs: RunFinder, past: PastRun) -> FoundRun | None:
    """Return the baseline that is set for the rubric and exam of a run, if a store has one."""
    if not runs.has_store:
        return None
    baseline = runs.store.find_baseline(past.rubric.name, past.exam.name)
    return None if baseline is None else runs.find(baseline.run, reference=past)


def record_outcomes(runs: RunFinder, judged: JudgedRun) -> str:
    """Record the outcome of a stored run; return the reason if the store cannot be written."""
    found, baseline = judged.found, judged.baseline
    if found.stored is None:
        return ""
    baseline_id = baseline.stored.id if baseline and baseline.stored else None
    try:
        outcomes = to_record(judged.gates)
        runs.store.save_outcomes(found.stored.id, baseline=baseline_id, outcomes=outcomes)
    except StoreUnavailableError as error:
        return f"the outcome is not recorded: {error}"
    return ""


def gate(
    run: str | Path,
    *,
    baseline: str | Path | None = None,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    subject: str | None = None,
    store: str | Path | None = None,
) -> GateReport:
    """Judge a stored run (an id, `latest`, a tag) or a result file by the gates of its rubric.

    `exam` and `subject` are for a result file: its exam, if that is not built in, and which of its
    subjects to judge. The outcome of a stored run is recorded in the store.
    """
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams, subject=subject)) as runs:
        found = runs.find(str(run))
        judged = judge_run(runs, found, None if baseline is None else str(baseline))
        record_outcomes(runs, judged)
    return judged.gates
