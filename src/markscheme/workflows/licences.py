"""Look up calibrations in a store: on which judged axes of a run may gates rest?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceBook:
    """What a store knows about judges at one time; `licences` is None if there is no store."""

    licences: Sequence[AxisLicence] | None
    now: datetime

    @classmethod
    def read_store(cls, store: Store | None) -> Self:
        """Read all calibrations of a store."""
        if store is None:
            return cls(licences=None, now=datetime.now(UTC))
        return cls(licences=list_licences(store.list_calibrations()), now=store.current_time)

    def resolve_doubts(self, run: Run) -> Run:
        """Return a run whose judged axes say whether gates may rest on them."""
        judged = {
            axis: structs.replace(one, doubt=self._find_doubt(one))
            for axis, one in run.judged.items()
        }
        return structs.replace(run, judged=judged)

    def _find_doubt(self, judged: JudgedAxis) -> str:
        """Return why gates may not rest on an axis; of unknown raters it is known already."""
        if self.licences is None:
            return _NO_STORE
        return find_doubt(judged, self.licences, self.now) if judged.judge else judged.doubt
