"""What is decided about a run: small plain data, read for many runs at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import compute_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markscheme.keep.database import Database

_RUNS_AT_ONCE = 200


def insert_run_parts(database: Database, run: str, bodies: Mapping[str, str]) -> None:
    """Add each part with its digest: a damaged one must be noticed before it decides anything."""
    for part, body in bodies.items():
        database.execute_change(
            "INSERT INTO run_data (run, part, digest, body) VALUES (?, ?, ?, ?)",
            [run, part, compute_digest(body.encode()), body],
        )


def fetch_run_parts(
    database: Database, runs: Iterable[str], parts: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each of the runs that has these parts, in the order given, some hundreds at a time."""
    ids = list(runs)
    for start in range(0, len(ids), _RUNS_AT_ONCE):
        asked = ids[start : start + _RUNS_AT_ONCE]
        query = (
            f"SELECT run, part, digest, body FROM run_data WHERE part IN ({_format_placeholders(parts)})"  # noqa: S608 - question marks
            f" AND run IN ({_format_placeholders(asked)})"
        )
        rows = database.fetch_rows(query, [*parts, *asked])
        found = {(run, part): (digest, body) for run, part, digest, body in rows}
        for run in asked:
            if (run, parts[0]) in found:
                yield (
                    run,
                    [_decode_run_part(database, run, found.get((run, part))) for part in parts],
                )


def _decode_run_part(database: Database, run: str, kept: tuple[str, Any] | None) -> dict[str, Any]:
    digest, body = kept or (None, None)
    if not isinstance(body, str) or compute_digest(body.encode()) != digest:
        raise database.build_damage_error(f"what is kept of the run `{run}`")
    data: dict[str, Any] = json.loads(body)
    return data


def _format_placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
