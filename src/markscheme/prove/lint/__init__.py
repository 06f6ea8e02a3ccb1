"""TODO lint."""

from markscheme.prove.lint.codes import CODES
from markscheme.prove.lint.documents import LintRegistry
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
