"""Lint: find mistakes in rubrics, exams, verdict rules and decision tables without scoring.

`files` is the entry (`lint_sources`); `engine` reads the documents and runs the checks. There is
one module per kind of check: `rubric_checks` (codes R…), `exam_checks` and `exam_size` (E…),
`decision_checks` (D…), and `reader_problems` for what the readers refuse. `codes` lists every
finding code; `fixes` applies `--fix`. The proofs behind the D codes are in `verdict_proof` and
`table_proof`. Nothing here prints: `tell` shows a `LintReport`.
"""

from markscheme.prove.lint.codes import CODES
from markscheme.prove.lint.engine import LintRegistry
from markscheme.prove.lint.files import lint_sources
from markscheme.prove.lint.findings import LintFinding, LintReport, Severity
from markscheme.prove.lint.table_proof import prove_table
from markscheme.prove.lint.verdict_proof import prove_scale

__all__ = [
    "CODES",
    "LintFinding",
    "LintRegistry",
    "LintReport",
    "Severity",
    "lint_sources",
    "prove_scale",
    "prove_table",
]
