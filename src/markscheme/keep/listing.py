"""The list of runs, and finding one by a name: never touches what a run holds."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.errors import UsageError, format_value
from markscheme.keep.names import build_unknown_run_error, parse_id_prefix, parse_latest
from markscheme.keep.records import AnswerSource, DocumentReference, RunStatus, StoredRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.keep.databases import Database

_SELECT_RUNS = """
SELECT runs.id, started, finished, subject, axis_versions, tool_version, seed,
  source_name, source_digest, rescored_from, counts,
  rubrics.digest, rubrics.name, rubrics.version, rubrics.fingerprint,
  exams.digest, exams.name, exams.version, exams.fingerprint
FROM runs
LEFT JOIN documents AS rubrics ON rubrics.digest = runs.rubric
LEFT JOIN documents AS exams ON exams.digest = runs.exam
LEFT JOIN finished ON finished.run = runs.id
"""
_MAX_NAMES_SEARCHED = 200
"""How many of the newest names are looked through for one like an unknown name."""


def list_runs(
    database: Database,
    wanted: dict[str, str | None],
    *,
    limit: int | None = None,
    skip: int = 0,
) -> list[StoredRun]:
    """Return the runs whose columns have the wanted values, the newest first."""
    where = [f"{column} = ?" for column, value in wanted.items() if value is not None]
    values: list[Any] = [value for value in wanted.values() if value is not None]
    statement = _SELECT_RUNS + (f"WHERE {' AND '.join(where)} " if where else "")
    statement += "ORDER BY runs.number DESC"
    if limit is not None:
        statement += " LIMIT ? OFFSET ?"
        values += [limit, skip]
    return database.fetch_records(statement, values, _parse_run_row)


def find_run(database: Database, name: str) -> StoredRun:
    """Return the one run of this name; say which there are where it is unknown or not the only."""
    found = (
        _find_latest(database, name)
        or _find_by_tag(database, name)
        or _find_by_id_prefix(database, name)
    )
    if found is None:
        raise build_unknown_run_error(name, _list_known_names(database))
    return found


def _find_latest(database: Database, name: str) -> StoredRun | None:
    back = parse_latest(name)
    if back is None:
        return None
    found = list_runs(database, {}, limit=1, skip=back)
    if found:
        return found[0]
    ((count,),) = database.fetch_rows("SELECT COUNT(*) FROM runs")
    raise UsageError(f"there is no run {format_value(name)}: the store holds {count} runs")


def _find_by_tag(database: Database, name: str) -> StoredRun | None:
    newest = "SELECT run FROM tags WHERE name = ? ORDER BY number DESC LIMIT 1"
    tagged = database.fetch_rows(newest, [name])
    return _find_by_id(database, tagged[0][0]) if tagged else None


def _find_by_id_prefix(database: Database, name: str) -> StoredRun | None:
    prefix = parse_id_prefix(name)
    if prefix is None:
        return None
    begun = "SELECT id FROM runs WHERE id LIKE ? ORDER BY number DESC LIMIT 10"
    ids = [found for (found,) in database.fetch_rows(begun, [f"{prefix}%"])]
    if len(ids) > 1:
        told = ", ".join(f"`{found}`" for found in ids)
        raise UsageError(f"{format_value(name)} could be any of {told}; give more of the id")
    return _find_by_id(database, ids[0]) if ids else None


def _find_by_id(database: Database, id_: str) -> StoredRun:
    for run in list_runs(database, {"runs.id": id_}):
        return run
    raise database.build_damage_error(f"the run {format_value(id_)}")


def _list_known_names(database: Database) -> Sequence[str]:
    tags = database.fetch_rows(
        "SELECT name FROM tags ORDER BY number DESC LIMIT ?", [_MAX_NAMES_SEARCHED]
    )
    ids = database.fetch_rows(
        "SELECT id FROM runs ORDER BY number DESC LIMIT ?", [_MAX_NAMES_SEARCHED]
    )
    return list(dict.fromkeys(name for (name,) in [*tags, *ids]))


def _parse_run_row(*row: Any) -> StoredRun:
    of_run, of_rubric, of_exam = row[:11], row[11:15], row[15:]
    id_, started, finished, subject, axes, tool, seed, source, digest, rescored, counts = of_run
    return StoredRun(
        id=id_,
        status=RunStatus.OPEN if finished is None else RunStatus.FINISHED,
        started=datetime.fromisoformat(started),
        finished=None if finished is None else datetime.fromisoformat(finished),
        subject=subject,
        rubric=_parse_document_reference(*of_rubric),
        exam=_parse_document_reference(*of_exam),
        axis_versions=json.loads(axes),
        tool_version=tool,
        seed=None if seed is None else int(seed),
        source=None if source is None else AnswerSource(name=source, digest=digest),
        rescored_from=rescored,
        counts=None if counts is None else json.loads(counts),
    )


def _parse_document_reference(
    digest: str | None, name: str, version: int | None, print_: str
) -> DocumentReference:
    if digest is None:
        raise ValueError("the document of a run is gone")
    return DocumentReference(digest=digest, name=name, version=version, fingerprint=print_)
