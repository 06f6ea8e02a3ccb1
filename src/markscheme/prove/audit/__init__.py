"""Audit: mutation testing of a rubric. Does anything notice if one of its rules is broken?

`engine` runs an audit. `mutation_operators` makes the mutants; `equivalent_mutants` proves which
of them no answer can tell from the rubric. Three things can notice a mutant: golden cases
(`golden_suite`, which also suggests a case for a mutant that survived), recorded answers
(`recorded_answers`) and known answers (`known_answers`). Nothing here reads files or prints.
"""

from markscheme.prove.audit.engine import (
    AuditReport,
    AuditVerdict,
    MutantFate,
    MutantResult,
    audit_rubric,
    build_audit_record,
    build_effect_record,
    build_failure_record,
    count_fates,
)
from markscheme.prove.audit.equivalent_mutants import (
    ABSORBED,
    COMMUTING,
    IDEMPOTENT,
    prove_equal_steps,
)
from markscheme.prove.audit.golden_suite import (
    CaseFailure,
    GoldenSuite,
    probe_gate,
    probe_pass_mark,
)
from markscheme.prove.audit.mutation_operators import (
    AnyEntryAxis,
    EveryEntryAxis,
    Mutant,
    MutantKind,
)
from markscheme.prove.audit.recorded_answers import CellFlip, MutantEffect, RecordedAnswers

__all__ = [
    "ABSORBED",
    "COMMUTING",
    "IDEMPOTENT",
    "AnyEntryAxis",
    "AuditReport",
    "AuditVerdict",
    "CaseFailure",
    "CellFlip",
    "EveryEntryAxis",
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
