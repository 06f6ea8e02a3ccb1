"""Forget a learner: remove the name and every typed text; keep cells and qualities.

This is the one exception from a store that only adds records (docs/decisions says why). Names and
texts are deleted from tables of their own. The runs of handed-in papers hold texts inside chunks,
so their chunks are written anew without them. Then the database is compacted, so that no byte of
the file, nor of the log beside it, holds what was deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.keep.chunks import decode_frame, encode_frame
from markscheme.keep.web_access import WebAccess
from markscheme.vocabulary import UsageError, compute_digest, format_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import polars as pl

    from markscheme.keep.database import Database

_FORGOTTEN_TEXT = "forgotten"
_TEXTS = (
    "DELETE FROM learner_names WHERE learner = ?",
    "DELETE FROM learner_codes WHERE learner = ?",
    "DELETE FROM review_texts WHERE review IN (SELECT id FROM reviews WHERE learner = ?)",
    """DELETE FROM paper_texts WHERE answer IN (
      SELECT id FROM paper_answers WHERE paper IN (SELECT id FROM papers WHERE learner = ?))""",
)


def forget_learner(database: Database, learner: str, now: Callable[[], datetime]) -> None:
    """Remove the name and all typed texts of a learner for good, and end the sessions."""
    database.prepare_removal()
    with database.transaction():
        database.lock_writers()
        # Whoever adds a text locks the same row, and looks afterwards who was forgotten.
        if not database.fetch_rows("SELECT id FROM learners WHERE id = ? {lock_row}", [learner]):
            raise UsageError(f"there is no learner {format_value(learner)}")
        for statement in _TEXTS:
            database.execute_change(statement, [learner])
        for (run,) in database.fetch_rows("SELECT id FROM runs WHERE subject = ?", [learner]):
            _blank_run(database, run)
        database.execute_change(
            "DELETE FROM blobs WHERE digest NOT IN (SELECT answers FROM chunks)"
            " AND digest NOT IN (SELECT cells FROM chunks)"
        )
        database.execute_change(
            "INSERT INTO forgotten (learner, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [learner, now().isoformat()],
        )
        WebAccess(database, now).end_learner_sessions(learner)
    database.compact()


def _blank_run(database: Database, run: str) -> None:
    """Replace the frames of a run by frames without texts."""
    query = "SELECT seq, answers, cells FROM chunks WHERE run = ?"
    for seq, answers, cells in database.fetch_rows(query, [run]):
        digests = []
        for digest in (answers, cells):
            ((body,),) = database.fetch_rows("SELECT body FROM blobs WHERE digest = ?", [digest])
            blank = encode_frame(blank_texts(decode_frame(bytes(body))))
            digests.append(compute_digest(blank))
            database.execute_change(
                "INSERT INTO blobs (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [digests[-1], blank],
            )
        database.execute_change(
            "UPDATE chunks SET answers = ?, cells = ? WHERE run = ? AND seq = ?",
            [*digests, run, seq],
        )


def blank_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of answers or of cells in which nothing typed is left.

    Reasons quote what was typed, so they go too, as do those of judges; values, verdicts, near
    misses and readings stay.
    """
    import polars as pl

    changes: list[pl.Expr] = []
    for name, dtype in frame.schema.items():
        if name in {"output", "got"} and dtype == pl.String:
            changes.append(pl.lit("").alias(name))
        elif name in {"reason", "message"} and isinstance(dtype, pl.Struct):
            text = pl.lit(_FORGOTTEN_TEXT if name == "reason" else None, dtype=pl.String)
            fields = [
                pl.when(pl.col(name).struct.field(field.name).is_not_null())
                .then(text)
                .alias(field.name)
                for field in dtype.fields
            ]
            changes.append(pl.struct(fields).alias(name))
        elif name == "marks" and isinstance(dtype, pl.Struct):
            fields = [
                pl.col(name)
                .struct.field(field.name)
                .list.eval(pl.element().struct.with_fields(why=pl.lit(None, dtype=pl.String)))
                for field in dtype.fields
            ]
            changes.append(pl.struct(fields).alias(name))
    return frame.with_columns(changes)
