"""The store: runs with their answers and cells, baselines and gate outcomes. Append-only.

`open` finds and opens it, `sqlite` and `postgres` are the two databases behind `database`, `schema`
holds the migrations. `store` is the interface that everything else uses; it speaks in `records`.
Answers and cells are kept as Arrow frames in `chunks`, and `journal` keeps the replies of live
subjects. This is the only package that imports a database driver; it scores and judges nothing.
"""

from markscheme.keep.journal import Journal, JournalEntry, JournalSession
from markscheme.keep.names import RESULT_FILE_SUFFIXES, check_tag
from markscheme.keep.open import DEFAULT_STORE_PATH, STORE_VARIABLE, open_store, resolve_place
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
from markscheme.keep.store import Store

__all__ = [
    "DEFAULT_STORE_PATH",
    "RESULT_FILE_SUFFIXES",
    "STORE_VARIABLE",
    "AnswerSource",
    "Baseline",
    "Document",
    "DocumentKind",
    "DocumentReference",
    "Journal",
    "JournalEntry",
    "JournalSession",
    "NewRun",
    "RunData",
    "RunStatus",
    "Store",
    "StoredChunk",
    "StoredFrame",
    "StoredOutcomes",
    "StoredRun",
    "Tag",
    "check_tag",
    "open_store",
    "resolve_place",
]
