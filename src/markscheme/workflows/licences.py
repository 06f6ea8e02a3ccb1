"""Look up calibrations in a store: on which judged axes of a run may gates rest?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import structs

from markscheme.keep import Store, StoredCalibration
from markscheme.vocabulary import AxisLicence, JudgedAxis, Outcome, sentence
from markscheme.weigh.gates import find_doubt
from markscheme.weigh.totals import Run

_NO_STORE = sentence("there is no store, so no calibration is known")


def list_licences(calibrations: Iterable[StoredCalibration]) -> list[AxisLicence]:
    """Return what calibrations found, axis by axis, the newest first.

    A calibration of recorded ratings does not know how the judge was asked, so it allows nothing.
    """
    return [
        _build_licence(stored, found)
        for stored in calibrations
        for found in stored.body["axes"].values()
        if stored.body["judge"]["fingerprint"] is not None
    ]


def _build_licence(stored: StoredCalibration, found: Mapping[str, Any]) -> AxisLicence:
    body, reasons = stored.body, found["reasons"]
    return AxisLicence(
        calibration=stored.id,
        judge=stored.judge,
        fingerprint=body["judge"]["fingerprint"],
        axis_fingerprint=found["axis_fingerprint"],
        call_fingerprint=found["call_fingerprint"],
        served=tuple(body["served"]),
        outcome=Outcome(found["outcome"]),
        because=reasons[0]["because"] if reasons else "",
        expires=datetime.fromisoformat(body["expires"]),
    )


def resolve_doubts(run: Run, store: Store | None) -> Run:
    """Return a run whose judged axes say whether gates may rest on them, as the store knows it."""
    if not run.judged:
        return run
    if store is None:
        judged = {axis: structs.replace(one, doubt=_NO_STORE) for axis, one in run.judged.items()}
    else:
        licences = list_licences(store.list_calibrations())
        judged = {
            axis: structs.replace(one, doubt=_find_doubt(one, licences, store.current_time))
            for axis, one in run.judged.items()
        }
    return structs.replace(run, judged=judged)


def _find_doubt(judged: JudgedAxis, licences: list[AxisLicence], now: datetime) -> str:
    """Return why gates may not rest on an axis; of unknown raters it is known already."""
    return find_doubt(judged, licences, now) if judged.judge else judged.doubt
