"""TODO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.keep import Baseline, StoredRun, Tag


def build_stored_run_record(run: StoredRun) -> dict[str, Any]:
    """Return what is known of one stored run without reading what it holds."""
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
    """Return the list of runs, each with its tags and whether it is a baseline now."""
    names: dict[str, list[str]] = {}
    for tag in tags:
        names.setdefault(tag.run, []).append(tag.name)
    is_baseline = {baseline.run for baseline in baselines}
    return {
        "runs": [
            {
                **build_stored_run_record(run),
                "tags": names.get(run.id, []),
                "baseline": run.id in is_baseline,
            }
            for run in runs
        ]
    }
