"""The store: runs with their answers and cells, baselines, tags and gate outcomes. Append-only.

`open` finds and opens it; `sqlite` and `postgres` implement `database`, and `schema` holds the
migrations. `store` is the interface that everything else uses; `records` are its values, `runs`
finds runs by name, `tags` holds a tag for a run that is about to begin, `chunks` stores answers and
cells as Arrow frames, `journal` keeps the replies of live subjects, `studies` keeps rating studies,
and `learning` learners, their reviews and their papers, which `forgetting` frees of texts. `pool`
serves many callers at once, and `web_access` holds the links and sessions of the web app; `anki`
writes cards for Anki. This is the only package that imports a database driver. It may not score,
judge or print.
"""

from markscheme.keep.anki import AnkiNote, write_anki_package
from markscheme.keep.journal import Journal, JournalEntry, JournalSession, NumberedEntry, RunSession
from markscheme.keep.learning import (
    OWN_LEARNER,
    Learner,
    LearnerReview,
    LearningRecords,
    Paper,
    PaperAnswer,
    PaperMode,
)
from markscheme.keep.open import DEFAULT_STORE_PATH, STORE_VARIABLE, open_store, resolve_place
from markscheme.keep.pool import StorePool
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
from markscheme.keep.studies import (
    NewStudy,
    StoredStudy,
    StudyAnswer,
    StudyTables,
)
from markscheme.keep.tags import hold_tag
from markscheme.keep.web_access import (
    SESSION_LIFETIME,
    EnteredLink,
    Grant,
    HeldSession,
    Role,
    WebAccess,
    digest_token,
)

__all__ = [
    "DEFAULT_STORE_PATH",
    "OWN_LEARNER",
    "RESULT_FILE_SUFFIXES",
    "SESSION_LIFETIME",
    "STORE_VARIABLE",
    "AnkiNote",
    "AnswerSource",
    "Baseline",
    "Document",
    "DocumentKind",
    "DocumentReference",
    "EnteredLink",
    "Grant",
    "HeldSession",
    "Journal",
    "JournalEntry",
    "JournalSession",
    "Learner",
    "LearnerReview",
    "LearningRecords",
    "NewRun",
    "NewStudy",
    "NumberedEntry",
    "Paper",
    "PaperAnswer",
    "PaperMode",
    "Role",
    "RunData",
    "RunSession",
    "RunStatus",
    "Store",
    "StorePool",
    "StoredCalibration",
    "StoredChunk",
    "StoredFrame",
    "StoredOutcomes",
    "StoredRun",
    "StoredStudy",
    "StudyAnswer",
    "StudyTables",
    "Tag",
    "WebAccess",
    "check_tag",
    "digest_token",
    "hold_tag",
    "open_store",
    "resolve_place",
    "write_anki_package",
]
