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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from markscheme.version import __version__

if TYPE_CHECKING:
    from markscheme.vocabulary.errors import AnswersError, DocumentError, InputError, MarkschemeError, Problem, UsageError
    from markscheme.workflows.compare_runs import compare_runs
    from markscheme.workflows.run import run
    from markscheme.workflows.gate import gate
    from markscheme.workflows.compare import compare
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.prove import audit, lint
    from markscheme.workflows.library_score import read_transcript, score, verify
    from markscheme.prove.audit.audit import AuditReport
    from markscheme.prove.lint.findings import LintFinding, LintReport, Severity
    from markscheme.vocabulary.transcript import Call, CallStatus, Dispatch, Mutation, Prompt, Tokens, Transcript
    from markscheme.vocabulary.decision import DecisionTable, VerdictRules
    from markscheme.vocabulary import Allowance, Answer, Attempts, Axis, AxisSpec, BaselineLimit, Breakdown, Cell, Exam, Gate, Item, Level, NoteAxis, Outcome, Rating, Reading, Response, RowError, Rubric, ScaleAxis, Status, SubjectSummary, Summary
    from markscheme.weigh.compare.result import Aggregate, CheckSummary, Comparison, MetricSummary, Observed, Query, Ruling, Sides
    from markscheme.weigh.totals.marks import Marks
    from markscheme.weigh.totals.measures import Measures
    from markscheme.weigh.gates.outcomes import AxisChange, BaselineReport, Evidence, GateOutcome, GateReport, ItemChange, ItemLoss, NonInferiority
    from markscheme.weigh.compare.runs import RunPair, RunsComparison
    from markscheme.weigh.totals.result import Result
    from markscheme.weigh.totals.run import Run
    from markscheme.weigh.verify import Finding, Verification

_EXPORTS_BY_MODULE = {
    "errors": ("AnswersError DocumentError InputError MarkschemeError Problem UsageError"),
    "history.comparing": "compare_runs",
    "history.examining": "run",
    "history.judging": "gate",
    "library.comparing": "compare",
    "library.documents": "load_exam load_rubric",
    "library.proving": "audit lint",
    "library.scoring": "read_transcript score verify",
    "transcript": "Call CallStatus Dispatch Mutation Prompt Tokens Transcript",
    "prove.audit": "AuditReport",
    "prove.findings": "LintFinding LintReport Severity",
    "verdicts": "DecisionTable VerdictRules",
    "vocabulary": (
        "Allowance Answer Attempts Axis AxisSpec BaselineLimit Breakdown Cell Exam Gate Item Level "
        "NoteAxis Outcome Rating Reading Response RowError Rubric ScaleAxis Status SubjectSummary "
        "Summary"
    ),
    "weigh.comparison": (
        "Aggregate CheckSummary Comparison MetricSummary Observed Query Ruling Sides"
    ),
    "weigh.paired_runs": "RunPair RunsComparison",
    "weigh.marks": "Marks",
    "weigh.measures": "Measures",
    "weigh.outcomes": (
        "AxisChange BaselineReport Evidence GateOutcome GateReport ItemChange ItemLoss "
        "NonInferiority"
    ),
    "weigh.results": "Result",
    "weigh.runs": "Run",
    "weigh.verification": "Finding Verification",
}
_MODULE_BY_EXPORT = {
    name: room for room, names in _EXPORTS_BY_MODULE.items() for name in names.split()
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_BY_EXPORT:
        raise AttributeError(f"module `markscheme` has no public name `{name}`")
    return getattr(import_module(f"markscheme.{_MODULE_BY_EXPORT[name]}"), name)


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
    "AxisChange",
    "AxisSpec",
    "BaselineLimit",
    "BaselineReport",
    "Breakdown",
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
    "audit",
    "compare",
    "compare_runs",
    "gate",
    "lint",
    "load_exam",
    "load_rubric",
    "read_transcript",
    "run",
    "score",
    "verify",
]
