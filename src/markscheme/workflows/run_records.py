"""Stored runs as plain data: what `runs`, `gate` and reports say about them in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.keep import Baseline, StoredRun, Tag


def build_stored_run_record(run: StoredRun) -> dict[str, Any]:
    """Return the record of one stored run; reads no answers."""
    counts = run.counts or {}
    return {
        "id": run.id,
        "status": run.status.value,
        "started": run.started.isoformat(),
        "finished": None if run.finished is None else run.finished.isoformat(),
        "subject": run.subject,
        "rubric": {
            "name": run.rubric.name,
            "version": run.rubric.version,
            "fingerprint": run.rubric.fingerprint,
        },
        "exam": {"name": run.exam.name, "fingerprint": run.exam.fingerprint},
        "source": None if run.source is None else run.source.name,
        "rescored_from": run.rescored_from,
        "tool_version": run.tool_version,
        "score": counts.get("score"),
        "answers": counts.get("answers"),
        "missing": counts.get("missing"),
        "errors": counts.get("errors"),
        "complete": counts.get("complete", False),
    }


def build_run_list_record(
    runs: Iterable[StoredRun], tags: Iterable[Tag], baselines: Iterable[Baseline]
) -> dict[str, Any]:
    """Return the records of runs, each with its tags and whether it is a current baseline."""
    tag_names: dict[str, list[str]] = {}
    for tag in tags:
        tag_names.setdefault(tag.run, []).append(tag.name)
    baseline_runs = {baseline.run for baseline in baselines}
    return {
        "runs": [
            {
                **build_stored_run_record(run),
                "tags": tag_names.get(run.id, []),
                "baseline": run.id in baseline_runs,
            }
            for run in runs
        ]
    }
