"""The rule for judges: a gate rests on a judge's marks only if a calibration allows it.

A calibration counts if it passed, has not expired, and is of the same instrument: what the axis
asks, what is asked in the same calls, the judge with its way of calling, and the model that
answered. Of several that fit, the newest counts. `find_doubt` says why a judged axis has none, and
`require_calibration` turns the outcome of a gate that needs the axis into undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from markscheme.vocabulary import (
    AxisLicence,
    Gate,
    JudgedAxis,
    Outcome,
    join_messages,
    sentence,
)
from markscheme.weigh.gates.outcomes import GateOutcome
from markscheme.weigh.totals import Run

CALIBRATE_COMMAND = (
    "markscheme calibrate -r RUBRIC -e EXAM -a ANSWERS -j JUDGE --ratings PEOPLE.csv"
)
_FREE_OF_MARKS = {"errors", "missing", "latency", "cost"}  # the first words of metrics
_DECIDED = {Outcome.PASS, Outcome.WARN, Outcome.FAIL}


def find_doubt(judged: JudgedAxis, licences: Iterable[AxisLicence], now: datetime) -> str:
    """Return why no gate may rest on a judged axis; empty if a calibration allows it.

    `licences` are what calibrations found, the newest first.
    """
    if judged.fingerprint is None:
        return sentence(
            "its marks come from a file, which does not say how the judge was asked; mark with"
            " `markscheme score --judge`"
        )
    if judged.canaries:
        return sentence(
            "{n} known answers got marks out of their range when it was asked: {names}",
            n=len(judged.canaries),
            names=", ".join(judged.canaries),
        )
    known = list(licences)
    licence = next((one for one in known if one.instrument == judged.instrument), None)
    if licence is None:
        return _explain_no_licence(judged, known)
    if licence.outcome is not Outcome.PASS:
        templates = {
            True: sentence("the calibration {id} failed: {because}"),
            False: sentence("the calibration {id} could not tell: {because}"),
        }
        failed = licence.outcome is Outcome.FAIL
        return templates[failed].format(id=licence.calibration, because=licence.because)
    if now >= licence.expires:
        return sentence(
            "the calibration {id} expired on {day}",
            id=licence.calibration,
            day=licence.expires.date().isoformat(),
        )
    return ""


def _explain_no_licence(judged: JudgedAxis, known: list[AxisLicence]) -> str:
    """Return what is other than in the calibration that comes nearest."""
    same_judge = [one for one in known if one.fingerprint == judged.fingerprint]
    same_axis = [one for one in same_judge if one.axis_fingerprint == judged.axis_fingerprint]
    same_calls = [one for one in same_axis if one.call_fingerprint == judged.call_fingerprint]
    if same_calls:
        return sentence(
            "{served} answered, and it was calibrated with {calibrated}",
            served=_name_models(judged.served),
            calibrated=_name_models(same_calls[0].served),
        )
    if same_axis:
        return sentence("what is asked in the same call has changed since it was calibrated")
    if same_judge:
        return sentence("what the axis asks is not what it was calibrated for")
    if any(one.judge == judged.judge for one in known):
        return sentence("it is not calibrated as it is now: its document has changed")
    return sentence("it is not calibrated")


def _name_models(served: tuple[str, ...]) -> str:
    names = ", ".join(f"`{name}`" for name in served)
    return names or sentence("a model that does not tell its name")


def require_calibration(outcome: GateOutcome, run: Run, baseline: Run | None) -> GateOutcome:
    """Return the outcome of a gate; undecided if it rests on marks of a judge that do not count.

    A gate that could not decide keeps its own reason.
    """
    if outcome.outcome not in _DECIDED:
        return outcome
    axes = _list_needed_axes(outcome.gate, run)
    judged = {axis: run.judged[axis] for axis in axes if axis in run.judged}
    doubts = {axis: one for axis, one in judged.items() if one.doubt}
    if doubts:
        return _withhold(outcome, _describe_doubts(doubts))
    if outcome.gate.baseline is not None and baseline is not None:
        compared = {axis: one for axis, one in baseline.judged.items() if axis in axes}
        doubts = {axis: one for axis, one in compared.items() if one.doubt}
        if _list_instruments(judged) != _list_instruments(compared):
            because = sentence(
                "the baseline was not marked by the same judge in the same way; set a new baseline"
            )
            return _withhold(outcome, because)
        if doubts:
            because = sentence("the baseline: {reasons}", reasons=_describe_doubts(doubts))
            return _withhold(outcome, because)
    return outcome


def _list_needed_axes(gate: Gate, run: Run) -> tuple[str, ...]:
    """Return the axes that the metric of a gate is computed from."""
    if gate.metric.partition("_")[0] in _FREE_OF_MARKS:
        return ()
    return run.marks.axes if gate.axis is None else (gate.axis,)


def _list_instruments(judged: dict[str, JudgedAxis]) -> dict[str, tuple[object, ...]]:
    return {axis: one.instrument for axis, one in judged.items()}


def _describe_doubts(doubts: dict[str, JudgedAxis]) -> str:
    """Return why axes do not count; those with the same reason are named together."""
    axes: dict[tuple[str, str], list[str]] = {}
    for axis, one in doubts.items():
        axes.setdefault((one.judge, one.doubt), []).append(f"`{axis}`")
    parts = (
        sentence("{axes}, marked by the judge `{judge}`: {doubt}", judge=judge, **said)
        if judge
        else sentence("{axes}: {doubt}", **said)
        for (judge, doubt), names in axes.items()
        for said in [{"axes": ", ".join(names), "doubt": doubt}]
    )
    return sentence(
        "{reasons}; a gate rests on a judge only after `{command}`",
        reasons=join_messages("; ", parts),
        command=CALIBRATE_COMMAND,
    )


def _withhold(outcome: GateOutcome, because: str) -> GateOutcome:
    return replace(outcome, outcome=Outcome.UNDECIDED, margin=None, because=because)
