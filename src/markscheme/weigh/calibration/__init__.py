"""Calibration: how a judge marks, measured against people, and whether gates may rest on it.

`pairs` puts the scores of people and of the judge side by side. `measure` computes what they show
about one axis, `decide` says pass, fail or undecided with its reasons, and `result` holds the
record. `canaries` compares the marks of known answers with their ranges, and `prediction` corrects
a mean of judged answers with those that people rated (PPI++).

Nothing in here asks a judge, reads files or stores; fractions decide, and floats only describe.
"""

from markscheme.weigh.calibration.canaries import (
    Canary,
    CanaryMarks,
    CanaryOutcome,
    CanaryRange,
    judge_canaries,
)
from markscheme.weigh.calibration.measure import AnswerFacts, Probe, measure_axis
from markscheme.weigh.calibration.pairs import AxisPairs, pair_ratings, settle_scores
from markscheme.weigh.calibration.prediction import (
    LEAST_FOR_PREDICTION,
    Prediction,
    predict_mean,
)
from markscheme.weigh.calibration.result import (
    AxisCalibration,
    Calibration,
    CalibrationReason,
    CanaryReport,
    ReasonCode,
    SampleRecord,
)

__all__ = [
    "LEAST_FOR_PREDICTION",
    "AnswerFacts",
    "AxisCalibration",
    "AxisPairs",
    "Calibration",
    "CalibrationReason",
    "Canary",
    "CanaryMarks",
    "CanaryOutcome",
    "CanaryRange",
    "CanaryReport",
    "Prediction",
    "Probe",
    "ReasonCode",
    "SampleRecord",
    "judge_canaries",
    "measure_axis",
    "pair_ratings",
    "predict_mean",
    "settle_scores",
]
