"""The store: runs, their answers and cells, baselines and gate outcomes; it only ever adds.

`places` says where the store is, `opening` opens it: `sqlite` or `postgres`, two kinds of one
`databases.Database`, brought up to date by `schema`. The `store` speaks in `records`; answers and
cells are `frames` in chunks, `sittings` is the journal of live subjects, and `names` is how a run
is called.
"""

from typing import TYPE_CHECKING, Any

from markscheme.keep.names import RESULT_FILE_SUFFIXES, check_tag
from markscheme.keep.opening import open_store
from markscheme.keep.places import DEFAULT_STORE_PATH, STORE_VARIABLE, resolve_place
from markscheme.keep.sittings import JournalEntry, JournalSession
from markscheme.keep.store import Store

if TYPE_CHECKING:
    from markscheme.keep.records import (
        AnswerSource,
        Baseline,
        Document,
        DocumentKind,
        DocumentReference,
        NewRun,
        RunData,
        RunStatus,
        StoredChunk,
        StoredFrame,
        StoredOutcomes,
        StoredRun,
        Tag,
    )

__all__ = (
    "DEFAULT_STORE_PATH",
    "RESULT_FILE_SUFFIXES",
    "STORE_VARIABLE",
    "Baseline",
    "StoredChunk",
    "Document",
    "DocumentKind",
    "DocumentReference",
    "StoredFrame",
    "NewRun",
    "JournalEntry",
    "StoredOutcomes",
    "StoredRun",
    "RunData",
    "RunStatus",
    "JournalSession",
    "AnswerSource",
    "Store",
    "Tag",
    "check_tag",
    "open_store",
    "resolve_place",
)


def __getattr__(name: str) -> Any:
    """Load the records of runs when one is first named: asking a live subject does without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from markscheme.keep import records

    return getattr(records, name)
