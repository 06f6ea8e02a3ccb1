"""The tables of the store, as numbered migrations that both databases share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.vocabulary import StoreInvalidError

if TYPE_CHECKING:
    from markscheme.keep.database import Database

_INITIAL_TABLES = (
    "CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, applied TEXT NOT NULL)",
    """CREATE TABLE documents (
      digest TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, version BIGINT,
      fingerprint TEXT NOT NULL, body TEXT NOT NULL)""",
    """CREATE TABLE runs (
      number {serial}, id TEXT NOT NULL UNIQUE, started TEXT NOT NULL, subject TEXT,
      rubric TEXT NOT NULL REFERENCES documents (digest),
      exam TEXT NOT NULL REFERENCES documents (digest),
      axis_versions TEXT NOT NULL, tool_version TEXT NOT NULL, seed TEXT,
      source_name TEXT, source_digest TEXT, rescored_from TEXT REFERENCES runs (id))""",
    """CREATE TABLE finished (
      run TEXT PRIMARY KEY REFERENCES runs (id), finished TEXT NOT NULL, counts TEXT NOT NULL)""",
    # One row for each part: a list of runs reads summaries without reading marks.
    """CREATE TABLE run_data (
      run TEXT NOT NULL REFERENCES runs (id), part TEXT NOT NULL, digest TEXT NOT NULL,
      body TEXT NOT NULL, PRIMARY KEY (run, part))""",
    "CREATE TABLE blobs (digest TEXT PRIMARY KEY, body {bytes} NOT NULL)",
    """CREATE TABLE chunks (
      run TEXT NOT NULL REFERENCES runs (id), seq INTEGER NOT NULL, height INTEGER NOT NULL,
      answers TEXT NOT NULL REFERENCES blobs (digest),
      cells TEXT NOT NULL REFERENCES blobs (digest), PRIMARY KEY (run, seq))""",
    """CREATE TABLE tags (
      number {serial}, name TEXT NOT NULL, run TEXT NOT NULL REFERENCES runs (id),
      tagged TEXT NOT NULL)""",
    "CREATE INDEX tags_by_name ON tags (name, number)",
    """CREATE TABLE baselines (
      number {serial}, rubric TEXT NOT NULL, exam TEXT NOT NULL,
      run TEXT NOT NULL REFERENCES runs (id), set_at TEXT NOT NULL, set_by TEXT, note TEXT)""",
    "CREATE INDEX baselines_by_names ON baselines (rubric, exam, number)",
    """CREATE TABLE gate_outcomes (
      number {serial}, run TEXT NOT NULL REFERENCES runs (id),
      baseline TEXT REFERENCES runs (id), decided TEXT NOT NULL, outcomes TEXT NOT NULL)""",
    "CREATE INDEX gate_outcomes_by_run ON gate_outcomes (run, number)",
)

_JOURNAL_TABLES = (
    """CREATE TABLE sittings (
      number {serial}, id TEXT NOT NULL UNIQUE, started TEXT NOT NULL, subject TEXT NOT NULL,
      exam TEXT NOT NULL, parameters TEXT NOT NULL, digest TEXT NOT NULL)""",
    "CREATE INDEX sittings_by_digest ON sittings (digest, number)",
    """CREATE TABLE replies (
      number {serial}, sitting TEXT NOT NULL REFERENCES sittings (id), ask TEXT NOT NULL,
      body TEXT NOT NULL)""",
    "CREATE INDEX replies_by_sitting ON replies (sitting, number)",
    "CREATE TABLE cached (ask TEXT PRIMARY KEY, body TEXT NOT NULL)",
)

# A claim makes the record of a tag void: the tag belongs to a run that has not begun yet.
_TAG_CLAIMS = (
    """CREATE TABLE tag_claims (
      number {serial}, tag BIGINT NOT NULL REFERENCES tags (number), claimed TEXT NOT NULL)""",
    "CREATE INDEX tag_claims_by_tag ON tag_claims (tag)",
)

# The record of each calibration of a judge, as JSON; the newest that fits a run decides.
_CALIBRATIONS = (
    """CREATE TABLE calibrations (
      number {serial}, id TEXT NOT NULL UNIQUE, made TEXT NOT NULL, judge TEXT NOT NULL,
      outcome TEXT NOT NULL, body TEXT NOT NULL)""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _INITIAL_TABLES,
    _JOURNAL_TABLES,
    _TAG_CLAIMS,
    _CALIBRATIONS,
)
"""Migration n takes the schema from version n - 1 to n. A released migration is never edited."""


def read_schema_version(database: Database) -> int:
    """Return the version of the schema; 0 if there is no table yet."""
    tables = database.list_tables()
    if "schema_versions" in tables:
        ((version,),) = database.fetch_rows("SELECT MAX(version) FROM schema_versions")
        if version is not None:
            return _check_known_version(database, int(version))
    if tables:
        message = f"the store `{database.place}` holds tables that are not markscheme's"
        raise StoreInvalidError(f"{message}; name another place with --store")
    return 0


def _check_known_version(database: Database, version: int) -> int:
    if version > len(MIGRATIONS):
        message = f"the store `{database.place}` was written by a newer markscheme"
        raise StoreInvalidError(
            f"{message} (its schema is {version}, this one knows up to {len(MIGRATIONS)});"
            " upgrade markscheme, or name another store with --store"
        )
    return version


def migrate_schema(database: Database, now: str) -> None:
    """Run all migrations that are missing, or none; one process at a time."""
    with database.transaction():
        database.lock_writers()
        known = read_schema_version(database)
        for number, statements in enumerate(MIGRATIONS[known:], start=known + 1):
            for statement in statements:
                database.execute_change(statement)
            record = "INSERT INTO schema_versions (version, applied) VALUES (?, ?)"
            database.execute_change(record, [number, now])
