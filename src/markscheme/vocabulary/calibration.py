"""What a calibration found about a judge on one axis, as far as gates need it."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from markscheme.vocabulary.gate import Outcome


class AxisLicence(Struct, frozen=True, kw_only=True):
    """The outcome of a calibration on one axis, and the instrument that it is about.

    The fields of the instrument are those of `JudgedAxis`. `calibration` is the id in the store.
    """

    calibration: str
    judge: str
    fingerprint: str | None
    axis_fingerprint: str | None
    call_fingerprint: str | None
    served: tuple[str, ...]
    outcome: Outcome
    because: str
    expires: datetime

    @property
    def instrument(self) -> tuple[object, ...]:
        """What must be the same in a run for the calibration to count."""
        return (self.fingerprint, self.axis_fingerprint, self.call_fingerprint, self.served)
