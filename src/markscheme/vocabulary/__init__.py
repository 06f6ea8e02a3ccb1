"""The words of markscheme as plain types. Standard library only; everything else speaks these.

A rubric has axes. An exam has items. A subject gives an answer to an item; an axis looks at the
response in that answer and gives a cell; the cells of one answer are its breakdown.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary.documents import (
    Allowance,
    Attempts,
    Axis,
    AxisSpec,
    BaselineLimit,
    Exam,
    Gate,
    Item,
    Level,
    ResponseFields,
    Rubric,
    SourceLocation,
)
from markscheme.vocabulary.marks import (
    Breakdown,
    Cell,
    Reading,
    Response,
    Status,
)

if TYPE_CHECKING:
    from markscheme.vocabulary.rated import (
        NoteAxis,
        Rating,
        ScaleAxis,
    )
    from markscheme.vocabulary.totals import (
        Answer,
        Outcome,
        RowError,
        SubjectSummary,
        Summary,
        TagGroup,
    )

__all__ = (
    "Allowance",
    "Answer",
    "Attempts",
    "Axis",
    "AxisSpec",
    "BaselineLimit",
    "Breakdown",
    "Cell",
    "Exam",
    "ResponseFields",
    "Gate",
    "TagGroup",
    "Item",
    "Level",
    "NoteAxis",
    "Outcome",
    "SourceLocation",
    "Rating",
    "Reading",
    "Response",
    "RowError",
    "Rubric",
    "ScaleAxis",
    "Status",
    "SubjectSummary",
    "Summary",
)

# Nobody needs these to read documents and to put questions: they are loaded when they are named.
_LAZY_EXPORTS = {
    "NoteAxis": "rated",
    "Rating": "rated",
    "ScaleAxis": "rated",
    "Answer": "totals",
    "TagGroup": "totals",
    "Outcome": "totals",
    "RowError": "totals",
    "SubjectSummary": "totals",
    "Summary": "totals",
}


def __getattr__(name: str) -> Any:
    """Load one of the later words."""
    if name not in _LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_EXPORTS[name]}"), name)
