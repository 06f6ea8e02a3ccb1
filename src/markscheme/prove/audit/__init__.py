"""TODO audit."""

from markscheme.prove.audit.audit import (
    AuditReport,
    AuditVerdict,
    MutantFate,
    MutantResult,
    audit_rubric,
)
from markscheme.prove.audit.equivalence import ABSORBED, COMMUTING, IDEMPOTENT, prove_equal_steps
from markscheme.prove.audit.gate_probe import probe_gate, probe_pass_mark
from markscheme.prove.audit.golden import CaseFailure, GoldenSuite
from markscheme.prove.audit.mutant_axes import AnyEntryAxis
from markscheme.prove.audit.mutants import Mutant, MutantKind
from markscheme.prove.audit.recorded import CellFlip, MutantEffect, RecordedAnswers
from markscheme.prove.audit.records import (
    build_audit_record,
    build_effect_record,
    build_failure_record,
    count_fates,
)

__all__ = [
    "ABSORBED",
    "COMMUTING",
    "IDEMPOTENT",
    "AnyEntryAxis",
    "AuditReport",
    "AuditVerdict",
    "CaseFailure",
    "CellFlip",
    "GoldenSuite",
    "Mutant",
    "MutantEffect",
    "MutantFate",
    "MutantKind",
    "MutantResult",
    "RecordedAnswers",
    "audit_rubric",
    "build_audit_record",
    "build_effect_record",
    "build_failure_record",
    "count_fates",
    "probe_gate",
    "probe_pass_mark",
    "prove_equal_steps",
]
