"""List runs, find a run by its name, and read the small parts of finished runs.

A run is named by its id or the beginning of it, as git names commits, by `latest`, or by a tag.
Nothing here reads answers or cells.
"""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.keep.records import AnswerSource, DocumentReference, RunStatus, StoredRun
from markscheme.vocabulary import UsageError, compute_digest, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markscheme.keep.database import Database

RUN_NAME_FORMS = "an id (at least 4 of its characters), `latest`, `latest~1`, or a tag"
# Compiled on first use: most commands name no run.
_LATEST_PATTERN = r"latest(?:~([0-9]{1,9}))?"
_ID_PREFIX_PATTERN = r"[0-9a-f]{4,12}"
_TAG_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ID_BYTES = 6
_RUNS_AT_ONCE = 200
# A name with such a suffix is the name of a result file.
RESULT_FILE_SUFFIXES = (".json", ".jsonl", ".ndjson")


def generate_id() -> str:
    """Return twelve random hexadecimal digits; users type the first few."""
    return os.urandom(_ID_BYTES).hex()


def parse_latest(name: str) -> int | None:
    """Return 0 for `latest`, 2 for `latest~2`, None for any other name."""
    match = re.fullmatch(_LATEST_PATTERN, name)
    return int(match[1] or 0) if match else None


def parse_id_prefix(name: str) -> str | None:
    """Return the name in lower case if it can be the beginning of an id, else None."""
    return name.lower() if re.fullmatch(_ID_PREFIX_PATTERN, name.lower()) else None


def check_tag(name: str) -> None:
    """Raise `UsageError` for a tag that could be mistaken for an id, `latest` or a file."""
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
    """Return an error that suggests names: the most similar ones, else the newest."""
    from difflib import get_close_matches

    if not known:
        return UsageError(f"there is no run {format_value(name)}: the store holds no run yet")
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    suggested = ", ".join(f"`{known_name}`" for known_name in near)
    unknown = f"there is no run {format_value(name)}; there is {suggested}"
    return UsageError(f"{unknown}; name a run by {RUN_NAME_FORMS}")


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
"""Number of the newest names that are searched for one similar to an unknown name."""


def list_runs(
    database: Database,
    wanted: Mapping[str, str | int | None],
    *,
    limit: int | None = None,
) -> list[StoredRun]:
    """Return the runs whose columns have the wanted values (None: any), the newest first."""
    where = [f"{column} = ?" for column, value in wanted.items() if value is not None]
    values: list[Any] = [value for value in wanted.values() if value is not None]
    statement = _SELECT_RUNS + (f"WHERE {' AND '.join(where)} " if where else "")
    statement += "ORDER BY runs.number DESC"
    if limit is not None:
        statement += " LIMIT ?"
        values.append(limit)
    return database.fetch_records(statement, values, _parse_run_row)


def list_run_names(database: Database) -> dict[str, list[str]]:
    """Return the names of the rubrics, exams and subjects of all runs, sorted."""
    queries = {
        "rubric": "SELECT name FROM documents WHERE digest IN (SELECT rubric FROM runs)",
        "exam": "SELECT name FROM documents WHERE digest IN (SELECT exam FROM runs)",
        "subject": "SELECT DISTINCT subject FROM runs WHERE subject IS NOT NULL",
    }
    return {
        what: sorted({name for (name,) in database.fetch_rows(query)})
        for what, query in queries.items()
    }


def find_run(database: Database, name: str) -> StoredRun:
    """Return the run of this name; raise `UsageError` if it is unknown or ambiguous."""
    run = (
        _find_latest(database, name)
        or _find_by_tag(database, name)
        or _find_by_id_prefix(database, name)
    )
    if run is None:
        raise build_unknown_run_error(name, _list_known_names(database))
    return run


def _find_latest(database: Database, name: str) -> StoredRun | None:
    back = parse_latest(name)
    if back is None:
        return None
    # A run and the runs that were rescored from it hold the same answers, so they count as one.
    query = (
        "SELECT MAX(number) FROM runs GROUP BY COALESCE(rescored_from, id)"
        " ORDER BY MIN(number) DESC LIMIT 1 OFFSET ?"
    )
    for (number,) in database.fetch_rows(query, [back]):
        return list_runs(database, {"runs.number": number})[0]
    ((count,),) = database.fetch_rows("SELECT COUNT(*) FROM runs WHERE rescored_from IS NULL")
    holds = "one run" if count == 1 else f"{count} runs"
    raise UsageError(f"there is no run {format_value(name)}: the store holds {holds}")


def _find_by_tag(database: Database, name: str) -> StoredRun | None:
    query = (
        "SELECT run, (SELECT COUNT(*) FROM tag_claims WHERE tag = tags.number) FROM tags"
        " WHERE name = ? ORDER BY number DESC LIMIT 1"
    )
    for run, claims in database.fetch_rows(query, [name]):
        if claims:
            why = "the command that took it last was ended before its run began, or it still starts"
            raise UsageError(f"the tag {format_value(name)} names no run: {why}")
        return _find_by_id(database, run)
    return None


def _find_by_id_prefix(database: Database, name: str) -> StoredRun | None:
    prefix = parse_id_prefix(name)
    if prefix is None:
        return None
    query = "SELECT id FROM runs WHERE id LIKE ? ORDER BY number DESC LIMIT 10"
    ids = [id_ for (id_,) in database.fetch_rows(query, [f"{prefix}%"])]
    if len(ids) > 1:
        candidates = ", ".join(f"`{id_}`" for id_ in ids)
        raise UsageError(f"{format_value(name)} could be any of {candidates}; give more of the id")
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
    run, rubric, exam = row[:11], row[11:15], row[15:]
    id_, started, finished, subject, axes, tool, seed, source, digest, rescored, counts = run
    return StoredRun(
        id=id_,
        status=RunStatus.OPEN if finished is None else RunStatus.FINISHED,
        started=datetime.fromisoformat(started),
        finished=None if finished is None else datetime.fromisoformat(finished),
        subject=subject,
        rubric=_parse_document_reference(*rubric),
        exam=_parse_document_reference(*exam),
        axis_versions=json.loads(axes),
        tool_version=tool,
        seed=None if seed is None else int(seed),
        source=None if source is None else AnswerSource(name=source, digest=digest),
        rescored_from=rescored,
        counts=None if counts is None else json.loads(counts),
    )


def _parse_document_reference(
    digest: str | None, name: str, version: int | None, fingerprint: str
) -> DocumentReference:
    if digest is None:
        raise ValueError("the document of the run is not in the store")
    return DocumentReference(digest=digest, name=name, version=version, fingerprint=fingerprint)


def insert_run_parts(database: Database, run: str, bodies: Mapping[str, str]) -> None:
    """Store each part with its digest, so that a damaged part is noticed before it is used."""
    for part, body in bodies.items():
        database.execute_change(
            "INSERT INTO run_data (run, part, digest, body) VALUES (?, ?, ?, ?)",
            [run, part, compute_digest(body.encode()), body],
        )


def fetch_run_parts(
    database: Database, runs: Iterable[str], parts: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the parts of each run that has them, in the order given; read 200 runs at a time."""
    ids = list(runs)
    for start in range(0, len(ids), _RUNS_AT_ONCE):
        batch = ids[start : start + _RUNS_AT_ONCE]
        query = (
            "SELECT run, part, digest, body FROM run_data"  # noqa: S608 - question marks
            f" WHERE part IN ({_format_placeholders(parts)})"
            f" AND run IN ({_format_placeholders(batch)})"
        )
        rows = database.fetch_rows(query, [*parts, *batch])
        bodies = {(run, part): (digest, body) for run, part, digest, body in rows}
        for run in batch:
            if (run, parts[0]) in bodies:
                yield (
                    run,
                    [_decode_run_part(database, run, bodies.get((run, part))) for part in parts],
                )


def _decode_run_part(database: Database, run: str, row: tuple[str, Any] | None) -> dict[str, Any]:
    digest, body = row or (None, None)
    if not isinstance(body, str) or compute_digest(body.encode()) != digest:
        raise database.build_damage_error(f"what is kept of the run `{run}`")
    data: dict[str, Any] = json.loads(body)
    return data


def _format_placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
