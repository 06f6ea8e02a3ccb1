"""Lint: find mistakes in rubrics, exams, judges and decision tables without scoring.

`files` is the entry (`lint_sources`) and applies `--fix`; `engine` reads the documents, reports
what the readers refuse, and runs the checks. There is one module per kind of check:
`rubric_checks` and `schema_checks` (codes R…), `exam_checks` and `expectation_checks` (E…),
`decision_checks` (D…), `judge_checks` and `criteria_checks` (J…). `findings` lists every
finding code. The proofs behind the D codes are in `verdict_proof` and `table_proof`. Nothing here
prints: `tell` shows a `LintReport`.
"""

from markscheme.prove.lint.engine import LintRegistry
from markscheme.prove.lint.files import lint_sources
from markscheme.prove.lint.findings import CODES, LintFinding, LintReport, Severity
from markscheme.prove.lint.table_proof import prove_all_sizes, prove_follow_up, prove_table
from markscheme.prove.lint.verdict_proof import prove_scale

__all__ = [
    "CODES",
    "LintFinding",
    "LintRegistry",
    "LintReport",
    "Severity",
    "lint_sources",
    "prove_all_sizes",
    "prove_follow_up",
    "prove_scale",
    "prove_table",
]
