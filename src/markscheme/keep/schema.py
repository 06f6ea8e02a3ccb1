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

# Digests of links and sessions of the web app; a second use of a link meets its primary key.
_WEB_ACCESS = (
    """CREATE TABLE web_links (
      digest TEXT PRIMARY KEY, role TEXT NOT NULL, scope TEXT, person TEXT, landing TEXT NOT NULL,
      created TEXT NOT NULL, expires TEXT NOT NULL)""",
    """CREATE TABLE web_link_uses (
      link TEXT PRIMARY KEY REFERENCES web_links (digest), used TEXT NOT NULL)""",
    """CREATE TABLE web_sessions (
      digest TEXT PRIMARY KEY, role TEXT NOT NULL, scope TEXT, person TEXT,
      created TEXT NOT NULL, expires TEXT NOT NULL)""",
    """CREATE TABLE web_session_ends (
      session TEXT PRIMARY KEY REFERENCES web_sessions (digest), ended TEXT NOT NULL)""",
)

# Names and typed texts have tables of their own: `forget` deletes from these and from no other.
_LEARNING_TABLES = (
    """CREATE TABLE learners (
      number {serial}, id TEXT NOT NULL UNIQUE, class TEXT, added TEXT NOT NULL)""",
    "CREATE INDEX learners_by_class ON learners (class, number)",
    """CREATE TABLE learner_names (
      learner TEXT PRIMARY KEY REFERENCES learners (id), name TEXT NOT NULL)""",
    """CREATE TABLE learner_codes (
      number {serial}, learner TEXT NOT NULL REFERENCES learners (id), salt TEXT NOT NULL,
      digest TEXT NOT NULL, made TEXT NOT NULL)""",
    "CREATE INDEX learner_codes_by_learner ON learner_codes (learner, number)",
    """CREATE TABLE reviews (
      number {serial}, id TEXT NOT NULL UNIQUE, learner TEXT NOT NULL REFERENCES learners (id),
      item TEXT NOT NULL, at TEXT NOT NULL, day TEXT NOT NULL, quality INTEGER NOT NULL,
      rule TEXT NOT NULL, facts TEXT NOT NULL, cells TEXT NOT NULL, rubric TEXT NOT NULL)""",
    "CREATE INDEX reviews_by_learner ON reviews (learner, number)",
    "CREATE INDEX reviews_by_card ON reviews (learner, item, number)",
    """CREATE TABLE review_texts (
      review TEXT PRIMARY KEY REFERENCES reviews (id), output TEXT NOT NULL)""",
    """CREATE TABLE review_undos (
      review TEXT PRIMARY KEY REFERENCES reviews (id), at TEXT NOT NULL)""",
    """CREATE TABLE papers (
      number {serial}, id TEXT NOT NULL UNIQUE, learner TEXT NOT NULL REFERENCES learners (id),
      rubric TEXT NOT NULL REFERENCES documents (digest),
      exam TEXT NOT NULL REFERENCES documents (digest),
      mode TEXT NOT NULL, opened TEXT NOT NULL, minutes INTEGER)""",
    "CREATE INDEX papers_by_learner ON papers (learner, number)",
    """CREATE TABLE paper_answers (
      number {serial}, id TEXT NOT NULL UNIQUE, paper TEXT NOT NULL REFERENCES papers (id),
      item TEXT NOT NULL, at TEXT NOT NULL, flagged INTEGER NOT NULL)""",
    "CREATE INDEX paper_answers_by_paper ON paper_answers (paper, number)",
    """CREATE TABLE paper_texts (
      answer TEXT PRIMARY KEY REFERENCES paper_answers (id), fields TEXT NOT NULL)""",
    "CREATE TABLE hand_ins (paper TEXT PRIMARY KEY REFERENCES papers (id), at TEXT NOT NULL)",
    """CREATE TABLE paper_runs (
      paper TEXT PRIMARY KEY REFERENCES papers (id), run TEXT NOT NULL REFERENCES runs (id))""",
    """CREATE TABLE forgotten (
      learner TEXT PRIMARY KEY REFERENCES learners (id), at TEXT NOT NULL)""",
)

_STUDY_TABLES = (
    """CREATE TABLE studies (
      number {serial}, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, created TEXT NOT NULL,
      rubric TEXT NOT NULL REFERENCES documents (digest),
      exam TEXT NOT NULL REFERENCES documents (digest), settings TEXT NOT NULL)""",
    """CREATE TABLE study_raters (
      number {serial}, study TEXT NOT NULL REFERENCES studies (id), rater TEXT NOT NULL,
      UNIQUE (study, rater))""",
    """CREATE TABLE study_answers (
      number {serial}, study TEXT NOT NULL REFERENCES studies (id), item TEXT NOT NULL,
      variant TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (study, item, variant))""",
    """CREATE TABLE study_leases (
      number {serial}, study TEXT NOT NULL REFERENCES studies (id), item TEXT NOT NULL,
      rater TEXT NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL, variants TEXT NOT NULL,
      place INTEGER NOT NULL)""",
    "CREATE INDEX study_leases_by_rater ON study_leases (study, rater, number)",
    # The client makes the id, so a mark that is sent again after a crash is not stored again.
    """CREATE TABLE study_marks (
      number {serial}, id TEXT NOT NULL UNIQUE, study TEXT NOT NULL REFERENCES studies (id),
      rater TEXT NOT NULL, item TEXT NOT NULL, variant TEXT NOT NULL, axis TEXT NOT NULL,
      criterion TEXT NOT NULL, score TEXT, note TEXT NOT NULL, undoes TEXT UNIQUE,
      at TEXT NOT NULL)""",
    "CREATE INDEX study_marks_by_rater ON study_marks (study, rater, item, number)",
    """CREATE TABLE study_closings (
      study TEXT PRIMARY KEY REFERENCES studies (id), closed TEXT NOT NULL, closed_by TEXT)""",
    """CREATE TABLE study_adjudications (
      number {serial}, id TEXT NOT NULL UNIQUE, study TEXT NOT NULL REFERENCES studies (id),
      item TEXT NOT NULL, variant TEXT NOT NULL, axis TEXT NOT NULL, criterion TEXT NOT NULL,
      score TEXT NOT NULL, note TEXT NOT NULL, decided_by TEXT NOT NULL, at TEXT NOT NULL)""",
    """CREATE TABLE study_judgements (
      number {serial}, study TEXT NOT NULL REFERENCES studies (id), source TEXT NOT NULL,
      ratings TEXT NOT NULL, added TEXT NOT NULL)""",
)

# Until a live run is finished, its replies are in the journal: here is in which sitting.
_LIVE_RUNS = (
    """CREATE TABLE live_runs (
      run TEXT PRIMARY KEY REFERENCES runs (id), sitting TEXT NOT NULL REFERENCES sittings (id),
      questions INTEGER NOT NULL)""",
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
    _WEB_ACCESS,
    _LEARNING_TABLES,
    _STUDY_TABLES,
    _LIVE_RUNS,
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
