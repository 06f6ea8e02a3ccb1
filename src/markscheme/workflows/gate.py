"""Judge a run by the gates of its rubric and by its baseline, and record the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.vocabulary import Rubric, StoreUnavailableError, UsageError, sentence, to_record
from markscheme.weigh.gates import GateReport, build_undecided_report, evaluate_gates
from markscheme.weigh.recalibrate import PastRun
from markscheme.workflows.find_run import FoundRun, RunContext, RunFinder, is_open_run

if TYPE_CHECKING:
    from markscheme.weigh.result import Result

_OPEN_RUN_REASON = sentence(
    "the run is not finished: it is still being written, or its process was ended"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run, the baseline it was compared with, and the outcome of its gates."""

    found: FoundRun
    baseline: FoundRun | None
    gates: GateReport


def judge_run(
    runs: RunFinder, found: FoundRun, baseline: str | FoundRun | None = None
) -> JudgedRun:
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


def _find_baseline(
    runs: RunFinder, found: FoundRun, named: str | FoundRun | None
) -> FoundRun | None:
    """Return the named baseline, else that of the rubric and exam, or None if no store has one."""
    past = found.past
    if named is not None:
        name = named if isinstance(named, str) else named.name
        if not any(gate.baseline and gate.applies_to(past.exam) for gate in past.rubric.gates):
            what = f"the rubric `{past.rubric.name}` has no gate `metric: baseline` for this exam"
            raise UsageError(f"{what}; there is nothing to compare with `{name}`")
        return runs.find(named, reference=past) if isinstance(named, str) else named
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
    run: str | Path | Result,
    *,
    baseline: str | Path | Result | None = None,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    subject: str | None = None,
    store: str | Path | None = None,
) -> GateReport:
    """Judge a stored run (an id, `latest`, a tag), a result file or a `Result` by its gates.

    `exam` and `subject` are for results: the exam of a file, if that is not built in, and which of
    its subjects to judge. The outcome of a run that is named in the store is recorded there. A
    `Result` needs no store; if there is one, its baseline is compared with.

    >>> from markscheme import score
    >>> gate(score("tutor-capstone", "capstone", [])).verdict.value
    'undecided'
    """
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams, subject=subject)) as runs:
        if not isinstance(run, str | Path) and subject is None and len(run.summary.subjects) > 1:
            if baseline is not None:
                raise UsageError("the result has several subjects; name the one to compare")
            return run.judge()
        found = _find_named(runs, run)
        compared = None if baseline is None else _find_named(runs, baseline, found.past)
        judged = judge_run(runs, found, compared)
        record_outcomes(runs, judged)
    return judged.gates


def _find_named(
    runs: RunFinder, run: str | Path | Result, reference: PastRun | None = None
) -> FoundRun:
    return runs.find(str(run), reference) if isinstance(run, str | Path) else runs.take_result(run)
