"""The domain types of markscheme, and the small tools that every other package uses.

A rubric has axes. An exam has items. A subject gives an answer to an item. Each axis scores the
response in that answer and gives a cell; the cells of one answer are its breakdown.

Also here: the error classes, exact numbers, translatable messages, digests and atomic file writes.
Not here: anything that reads an input format, scores an answer or needs a third-party package.
"""

from markscheme.vocabulary.answer import Answer, RowError
from markscheme.vocabulary.atomic import write_path
from markscheme.vocabulary.cell import Breakdown, Cell, Reading, Response, Status
from markscheme.vocabulary.decision import (
    Bounds,
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    RatingScale,
    VerdictRule,
    VerdictRules,
    resolve_matches,
)
from markscheme.vocabulary.digest import compute_digest, dump_json
from markscheme.vocabulary.errors import (
    AnswersError,
    DocumentError,
    ErrorCollector,
    InputError,
    MarkschemeError,
    Problem,
    StoreError,
    StoreInvalidError,
    StoreUnavailableError,
    Terminated,
    UsageError,
    format_value,
)
from markscheme.vocabulary.exam import Exam, Item, SourceLocation
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.gate import Allowance, Attempts, BaselineLimit, Gate, Level, Outcome
from markscheme.vocabulary.messages import sentence
from markscheme.vocabulary.numbers import (
    EXACT_CONTEXT,
    ZERO,
    compute_mean,
    format_decimal,
    format_distinct,
    format_plain,
    format_ratio,
    format_signed,
    simplest_fraction,
    sum_amounts,
    to_float,
    to_fraction,
)
from markscheme.vocabulary.rating import NoteAxis, Rating, ScaleAxis
from markscheme.vocabulary.records import (
    RecordFields,
    exact_ratios,
    list_pairs,
    to_plain,
    to_record,
)
from markscheme.vocabulary.report import (
    ItemReport,
    ItemStatus,
    Row,
    SubjectSummary,
    Summary,
    TagGroup,
)
from markscheme.vocabulary.rubric import Axis, AxisSpec, ResponseFields, Rubric
from markscheme.vocabulary.transcript import (
    MAIN_AGENT,
    NO_RESULT,
    Call,
    CallStatus,
    Dispatch,
    Mutation,
    Prompt,
    SessionMetrics,
    Tokens,
    Transcript,
)

__all__ = [
    "EXACT_CONTEXT",
    "MAIN_AGENT",
    "NO_RESULT",
    "ZERO",
    "Allowance",
    "Answer",
    "AnswersError",
    "Attempts",
    "Axis",
    "AxisSpec",
    "BaselineLimit",
    "Bounds",
    "Breakdown",
    "Call",
    "CallStatus",
    "Cell",
    "CountCondition",
    "DecisionOutcome",
    "DecisionRow",
    "DecisionTable",
    "Dispatch",
    "DocumentError",
    "ErrorCollector",
    "Exam",
    "FrozenDict",
    "Gate",
    "HitPolicy",
    "InputError",
    "Item",
    "ItemReport",
    "ItemStatus",
    "Level",
    "MarkschemeError",
    "Mutation",
    "NoteAxis",
    "Outcome",
    "Problem",
    "Prompt",
    "Rating",
    "RatingScale",
    "Reading",
    "RecordFields",
    "Response",
    "ResponseFields",
    "Row",
    "RowError",
    "Rubric",
    "ScaleAxis",
    "SessionMetrics",
    "SourceLocation",
    "Status",
    "StoreError",
    "StoreInvalidError",
    "StoreUnavailableError",
    "SubjectSummary",
    "Summary",
    "TagGroup",
    "Terminated",
    "Tokens",
    "Transcript",
    "UsageError",
    "VerdictRule",
    "VerdictRules",
    "compute_digest",
    "compute_mean",
    "dump_json",
    "exact_ratios",
    "format_decimal",
    "format_distinct",
    "format_plain",
    "format_ratio",
    "format_signed",
    "format_value",
    "list_pairs",
    "resolve_matches",
    "sentence",
    "simplest_fraction",
    "sum_amounts",
    "to_float",
    "to_fraction",
    "to_plain",
    "to_record",
    "write_path",
]
