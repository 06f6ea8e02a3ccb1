"""The domain types of markscheme, and what every other package builds on.

A rubric has axes. An exam has items. A subject gives an answer to an item; each axis looks at the
response in that answer and gives a cell; the cells of one answer are its breakdown.

Also here: the error classes, exact number formatting, translatable messages, digests and atomic
file writes. Standard library only: no input or output format, no scoring, no third-party import.
"""

from markscheme.vocabulary.errors import Problem, Terminated, MarkschemeError, UsageError, InputError, DocumentError, AnswersError, ErrorCollector, StoreError, StoreUnavailableError, StoreInvalidError, format_value
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.numbers import ZERO, EXACT_CONTEXT, compute_mean, sum_amounts, format_decimal, format_signed, to_float, format_ratio, format_plain, format_distinct, to_fraction, simplest_fraction
from markscheme.vocabulary.messages import sentence
from markscheme.vocabulary.digest import compute_digest, dump_json
from markscheme.vocabulary.atomic import write_path
from markscheme.vocabulary.documents import Level, SourceLocation, ResponseFields, Item, Exam, Axis, AxisSpec, Allowance, Attempts, BaselineLimit, Gate, Rubric
from markscheme.vocabulary.cell import Status, Reading, Cell, Response, Breakdown
from markscheme.vocabulary.rating import ScaleAxis, NoteAxis, Rating
from markscheme.vocabulary.answer import Answer, RowError, TagGroup, SubjectSummary, Summary, Outcome
from markscheme.vocabulary.decision import HitPolicy, DecisionOutcome, Bounds, VerdictRule, RatingScale, VerdictRules, CountCondition, DecisionRow, DecisionTable, resolve_matches
from markscheme.vocabulary.transcript import MAIN_AGENT, NO_RESULT, CallStatus, Call, Dispatch, Mutation, Prompt, Tokens, Transcript, SessionMetrics

__all__ = [
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
    "EXACT_CONTEXT",
    "ErrorCollector",
    "Exam",
    "FrozenDict",
    "Gate",
    "HitPolicy",
    "InputError",
    "Item",
    "Level",
    "MAIN_AGENT",
    "MarkschemeError",
    "Mutation",
    "NO_RESULT",
    "NoteAxis",
    "Outcome",
    "Problem",
    "Prompt",
    "Rating",
    "RatingScale",
    "Reading",
    "Response",
    "ResponseFields",
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
    "ZERO",
    "compute_digest",
    "compute_mean",
    "dump_json",
    "format_decimal",
    "format_distinct",
    "format_plain",
    "format_ratio",
    "format_signed",
    "format_value",
    "resolve_matches",
    "sentence",
    "simplest_fraction",
    "sum_amounts",
    "to_float",
    "to_fraction",
    "write_path",
]
