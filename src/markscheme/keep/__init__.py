"""The store: runs with their answers and cells, baselines, tags and gate outcomes. Append-only.

`open` finds and opens it; `sqlite` and `postgres` implement `database`, and `schema` holds the
migrations. `store` is the interface that everything else uses; `records` are its values, `runs`
finds runs by name, `tags` holds a tag for a run that is about to begin, `chunks` stores answers and
cells as Arrow frames, and `journal` keeps the replies of live subjects. This is the only package
that imports a database driver. It may not score, judge or print.
"""

from markscheme.keep.journal import Journal, JournalEntry, JournalSession
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
    StoredCalibration,
    StoredChunk,
    StoredFrame,
    StoredOutcomes,
    StoredRun,
    Tag,
)
from markscheme.keep.runs import RESULT_FILE_SUFFIXES, check_tag
from markscheme.keep.store import Store
from markscheme.keep.tags import hold_tag

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
    "StoredCalibration",
    "StoredChunk",
    "StoredFrame",
    "StoredOutcomes",
    "StoredRun",
    "Tag",
    "check_tag",
    "hold_tag",
    "open_store",
    "resolve_place",
]
