"""The store: runs, their answers and cells, baselines and gate outcomes; it only ever adds.

`places` says where the store is, `opening` opens it: `sqlite` or `postgres`, two kinds of one
`databases.Database`, brought up to date by `schema`. The `store` speaks in `records`; answers and
cells are `frames` in chunks, `sittings` is the journal of live subjects, and `names` is how a run
is called.
"""

from typing import TYPE_CHECKING, Any

from markscheme.keep.names import RESULTS, check_tag
from markscheme.keep.opening import open_store
from markscheme.keep.places import PLACE, VARIABLE, place_of
from markscheme.keep.sittings import Noted, Sitting
from markscheme.keep.store import Store

if TYPE_CHECKING:
    from markscheme.keep.records import (
        Baseline,
        Chunk,
        Document,
        DocumentKind,
        DocumentName,
        Kept,
        NewRun,
        Outcomes,
        Run,
        RunData,
        RunStatus,
        Source,
        Tag,
    )

__all__ = (
    "PLACE",
    "RESULTS",
    "VARIABLE",
    "Baseline",
    "Chunk",
    "Document",
    "DocumentKind",
    "DocumentName",
    "Kept",
    "NewRun",
    "Noted",
    "Outcomes",
    "Run",
    "RunData",
    "RunStatus",
    "Sitting",
    "Source",
    "Store",
    "Tag",
    "check_tag",
    "open_store",
    "place_of",
)


def __getattr__(name: str) -> Any:
    """Load the records of runs when one is first named: asking a live subject does without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from markscheme.keep import records

    return getattr(records, name)
