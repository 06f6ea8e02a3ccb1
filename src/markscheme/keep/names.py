"""How a run is called: by its id, as git calls commits, by `latest`, or by a tag.

The list of runs, and finding one by a name: never touches what a run holds.
"""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.keep.records import AnswerSource, DocumentReference, RunStatus, StoredRun
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.keep.database import Database

RUN_NAME_FORMS = "an id (at least 4 of its characters), `latest`, `latest~1`, or a tag"
# Patterns that are compiled where they are used: most commands name no run.
_LATEST_PATTERN = r"latest(?:~([0-9]{1,9}))?"
_ID_PREFIX_PATTERN = r"[0-9a-f]{4,12}"
_TAG_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ID_BYTES = 6
RESULT_FILE_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
)  # what ends like this is the name of a result file


def generate_id() -> str:
    """Return twelve random hexadecimal digits: a few of them are enough to type."""
    return os.urandom(_ID_BYTES).hex()


def parse_latest(name: str) -> int | None:
    """Return 0 for `latest`, 2 for `latest~2`, nothing for any other name."""
    found = re.fullmatch(_LATEST_PATTERN, name)
    return int(found[1] or 0) if found else None


def parse_id_prefix(name: str) -> str | None:
    """Return the name as the beginning of an id, if it can be one."""
    return name.lower() if re.fullmatch(_ID_PREFIX_PATTERN, name.lower()) else None


def check_tag(name: str) -> None:
    """Refuse a tag that could be taken for something else."""
    if not re.fullmatch(_TAG_PATTERN, name):
        allowed = "1 to 100 of the characters A-Z a-z 0-9 . _ -, the first a letter or a digit"
        raise UsageError(f"{format_value(name)} cannot be a tag; allowed are {allowed}")
    if parse_latest(name.lower()) is not None or parse_id_prefix(name) is not None:
        raise UsageError(
            f"the tag {format_value(name)} would look like an id or `latest`; take another"
        )
    if name.lower().endswith(RESULT_FILE_SUFFIXES):
        raise UsageError(
            f"the tag {format_value(name)} would look like a result file; take another"
        )


def build_unknown_run_error(name: str, known: Sequence[str]) -> UsageError:
    """Return the error that says which names there are: the nearest, else the newest."""
    from difflib import get_close_matches

    if not known:
        return UsageError(f"there is no run {format_value(name)}: the store holds no run yet")
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    told = ", ".join(f"`{one}`" for one in near)
    return UsageError(
        f"there is no run {format_value(name)}; there is {told}; name a run by {RUN_NAME_FORMS}"
    )


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
