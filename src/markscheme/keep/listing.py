"""The list of runs, and finding one by a name: never touches what a run holds."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.errors import UsageError, shown
from markscheme.keep.names import id_prefix, steps_back, unknown
from markscheme.keep.records import DocumentName, Run, RunStatus, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.keep.databases import Database

_RUNS = """
SELECT runs.id, started, finished, subject, axis_versions, tool_version, seed,
  source_name, source_digest, rescored_from, counts,
  rubrics.digest, rubrics.name, rubrics.version, rubrics.fingerprint,
  exams.digest, exams.name, exams.version, exams.fingerprint
FROM runs
LEFT JOIN documents AS rubrics ON rubrics.digest = runs.rubric
LEFT JOIN documents AS exams ON exams.digest = runs.exam
LEFT JOIN finished ON finished.run = runs.id
"""
_NAMED = 200
"""How many of the newest names are looked through for one like an unknown name."""


def list_runs(
    database: Database,
    wanted: dict[str, str | None],
    *,
    limit: int | None = None,
    skip: int = 0,
) -> list[Run]:
    """Return the runs whose columns have the wanted values, the newest first."""
    where = [f"{column} = ?" for column, value in wanted.items() if value is not None]
    values: list[Any] = [value for value in wanted.values() if value is not None]
    statement = _RUNS + (f"WHERE {' AND '.join(where)} " if where else "")
    statement += "ORDER BY runs.number DESC"
    if limit is not None:
        statement += " LIMIT ? OFFSET ?"
        values += [limit, skip]
    return database.records(statement, values, _run)


def find_run(database: Database, name: str) -> Run:
    """Return the one run of this name; say which there are where it is unknown or not the only."""
    found = _latest(database, name) or _tagged(database, name) or _begun_with(database, name)
    if found is None:
        raise unknown(name, _known_names(database))
    return found


def _latest(database: Database, name: str) -> Run | None:
    back = steps_back(name)
    if back is None:
        return None
    found = list_runs(database, {}, limit=1, skip=back)
    if found:
        return found[0]
    ((count,),) = database.rows("SELECT COUNT(*) FROM runs")
    raise UsageError(f"there is no run {shown(name)}: the store holds {count} runs")


def _tagged(database: Database, name: str) -> Run | None:
    newest = "SELECT run FROM tags WHERE name = ? ORDER BY number DESC LIMIT 1"
    tagged = database.rows(newest, [name])
    return _of_id(database, tagged[0][0]) if tagged else None


def _begun_with(database: Database, name: str) -> Run | None:
    prefix = id_prefix(name)
    if prefix is None:
        return None
    begun = "SELECT id FROM runs WHERE id LIKE ? ORDER BY number DESC LIMIT 10"
    ids = [found for (found,) in database.rows(begun, [f"{prefix}%"])]
    if len(ids) > 1:
        told = ", ".join(f"`{found}`" for found in ids)
        raise UsageError(f"{shown(name)} could be any of {told}; give more of the id")
    return _of_id(database, ids[0]) if ids else None


def _of_id(database: Database, id_: str) -> Run:
    for run in list_runs(database, {"runs.id": id_}):
        return run
    raise database.damaged(f"the run {shown(id_)}")


def _known_names(database: Database) -> Sequence[str]:
    tags = database.rows("SELECT name FROM tags ORDER BY number DESC LIMIT ?", [_NAMED])
    ids = database.rows("SELECT id FROM runs ORDER BY number DESC LIMIT ?", [_NAMED])
    return list(dict.fromkeys(name for (name,) in [*tags, *ids]))


def _run(*row: Any) -> Run:
    of_run, of_rubric, of_exam = row[:11], row[11:15], row[15:]
    id_, started, finished, subject, axes, tool, seed, source, digest, rescored, counts = of_run
    return Run(
        id=id_,
        status=RunStatus.OPEN if finished is None else RunStatus.FINISHED,
        started=datetime.fromisoformat(started),
        finished=None if finished is None else datetime.fromisoformat(finished),
        subject=subject,
        rubric=_document(*of_rubric),
        exam=_document(*of_exam),
        axis_versions=json.loads(axes),
        tool_version=tool,
        seed=None if seed is None else int(seed),
        source=None if source is None else Source(name=source, digest=digest),
        rescored_from=rescored,
        counts=None if counts is None else json.loads(counts),
    )


def _document(digest: str | None, name: str, version: int | None, print_: str) -> DocumentName:
    if digest is None:
        raise ValueError("the document of a run is gone")
    return DocumentName(digest=digest, name=name, version=version, fingerprint=print_)
