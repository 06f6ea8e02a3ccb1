"""Rubrics as code: score what models, agents and learners answer, and explain every point.

The names below are the whole public library. Nothing heavy is imported before one is used.

>>> import markscheme
>>> rubric = markscheme.load_rubric("tutor-capstone")
>>> exam = markscheme.load_exam("capstone", rubric=rubric)
>>> result = markscheme.score(rubric, exam, [{"item": "e-39-01", "output": "Ate."}])
>>> result.frame["score"][0]
0.65
"""

from __future__ import annotations

import sys
from importlib import import_module

from markscheme.version import __version__

# `typing` may still be a module of the present folder (see `__main__`).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from markscheme.prove.audit import AuditReport
    from markscheme.prove.lint import LintFinding, LintReport, Severity
    from markscheme.vocabulary import (
        Allowance,
        Answer,
        AnswersError,
        Attempts,
        Axis,
        AxisSpec,
        BaselineLimit,
        Breakdown,
        Call,
        CallStatus,
        Cell,
        DecisionTable,
        Dispatch,
        DocumentError,
        Exam,
        Gate,
        InputError,
        Item,
        Level,
        MarkschemeError,
        Mutation,
        NoteAxis,
        Outcome,
        Problem,
        Prompt,
        Rating,
        Reading,
        Response,
        RowError,
        Rubric,
        ScaleAxis,
        Status,
        SubjectSummary,
        Summary,
        Tokens,
        Transcript,
        UsageError,
        VerdictRules,
    )
    from markscheme.weigh.calibration import AxisCalibration, Calibration
    from markscheme.weigh.compare import (
        Aggregate,
        CheckSummary,
        Comparison,
        MetricSummary,
        Observed,
        Query,
        Ruling,
        RunPair,
        RunsComparison,
        Sides,
    )
    from markscheme.weigh.gates import (
        AxisChange,
        BaselineReport,
        Evidence,
        GateOutcome,
        GateReport,
        ItemChange,
        ItemLoss,
        NonInferiority,
    )
    from markscheme.weigh.rater_agreement import RaterAgreement
    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import Marks, Measures, Run
    from markscheme.weigh.verify import Finding, Verification
    from markscheme.workflows.agree import agree
    from markscheme.workflows.calibrate import calibrate
    from markscheme.workflows.compare import compare, compare_runs
    from markscheme.workflows.documents import exam, load_exam, load_rubric
    from markscheme.workflows.gate import gate
    from markscheme.workflows.judge import judge
    from markscheme.workflows.judged_ratings import JudgedRatings
    from markscheme.workflows.logs import read_transcript
    from markscheme.workflows.mark import mark
    from markscheme.workflows.prove import audit, lint
    from markscheme.workflows.run import run
    from markscheme.workflows.score import score
    from markscheme.workflows.verify import verify

_EXPORTS_BY_MODULE = {
    "prove.audit": "AuditReport",
    "prove.lint": "LintFinding LintReport Severity",
    "vocabulary": (
        "Allowance Answer AnswersError Attempts Axis AxisSpec BaselineLimit Breakdown "
        "Call CallStatus Cell DecisionTable Dispatch DocumentError Exam Gate InputError "
        "Item Level MarkschemeError Mutation NoteAxis Outcome Problem Prompt Rating "
        "Reading Response RowError Rubric ScaleAxis Status SubjectSummary Summary Tokens "
        "Transcript UsageError VerdictRules "
    ),
    "weigh.compare": (
        "Aggregate CheckSummary Comparison MetricSummary Observed Query Ruling RunPair "
        "RunsComparison Sides "
    ),
    "weigh.calibration": "AxisCalibration Calibration",
    "weigh.gates": (
        "AxisChange BaselineReport Evidence GateOutcome GateReport ItemChange ItemLoss "
        "NonInferiority "
    ),
    "weigh.rater_agreement": "RaterAgreement",
    "weigh.result": "Result",
    "weigh.totals": "Marks Measures Run",
    "weigh.verify": "Finding Verification",
    "workflows.agree": "agree",
    "workflows.calibrate": "calibrate",
    "workflows.compare": "compare compare_runs",
    "workflows.documents": "exam load_exam load_rubric",
    "workflows.gate": "gate",
    "workflows.judge": "judge",
    "workflows.judged_ratings": "JudgedRatings",
    "workflows.logs": "read_transcript",
    "workflows.mark": "mark",
    "workflows.prove": "audit lint",
    "workflows.run": "run",
    "workflows.score": "score",
    "workflows.verify": "verify",
}
_MODULE_BY_EXPORT = {
    name: module for module, names in _EXPORTS_BY_MODULE.items() for name in names.split()
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_BY_EXPORT:
        raise AttributeError(f"module `markscheme` has no public name `{name}`")
    return getattr(import_module(f"markscheme.{_MODULE_BY_EXPORT[name]}"), name)


class _LibraryModule(type(sys)):  # type: ignore[misc]
    """This module: the function `mark` stays, although the package `markscheme.mark` exists too."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python sets each subpackage that is imported as an attribute of its parent.
        if not (name in _MODULE_BY_EXPORT and isinstance(value, type(sys))):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Ray, Dask and others send functions that refer to this module; they know plain ones only.
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _LibraryModule


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


__all__ = [
    "Aggregate",
    "Allowance",
    "Answer",
    "AnswersError",
    "Attempts",
    "AuditReport",
    "Axis",
    "AxisCalibration",
    "AxisChange",
    "AxisSpec",
    "BaselineLimit",
    "BaselineReport",
    "Breakdown",
    "Calibration",
    "Call",
    "CallStatus",
    "Cell",
    "CheckSummary",
    "Comparison",
    "DecisionTable",
    "Dispatch",
    "DocumentError",
    "Evidence",
    "Exam",
    "Finding",
    "Gate",
    "GateOutcome",
    "GateReport",
    "InputError",
    "Item",
    "ItemChange",
    "ItemLoss",
    "JudgedRatings",
    "Level",
    "LintFinding",
    "LintReport",
    "Marks",
    "MarkschemeError",
    "Measures",
    "MetricSummary",
    "Mutation",
    "NonInferiority",
    "NoteAxis",
    "Observed",
    "Outcome",
    "Problem",
    "Prompt",
    "Query",
    "RaterAgreement",
    "Rating",
    "Reading",
    "Response",
    "Result",
    "RowError",
    "Rubric",
    "Ruling",
    "Run",
    "RunPair",
    "RunsComparison",
    "ScaleAxis",
    "Severity",
    "Sides",
    "Status",
    "SubjectSummary",
    "Summary",
    "Tokens",
    "Transcript",
    "UsageError",
    "VerdictRules",
    "Verification",
    "__version__",
    "agree",
    "audit",
    "calibrate",
    "compare",
    "compare_runs",
    "exam",
    "gate",
    "judge",
    "lint",
    "load_exam",
    "load_rubric",
    "mark",
    "read_transcript",
    "run",
    "score",
    "verify",
]
