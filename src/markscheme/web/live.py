"""A live run while it is asked: a page that server-sent events keep up to date."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from markscheme.keep import Store
from markscheme.tell.language import translate, translate_plural
from markscheme.vocabulary import UsageError, format_decimal, format_plain
from markscheme.web.pages import render
from markscheme.web.requests import redirect
from markscheme.workflows.live_progress import LiveFailure, LiveRuns, LiveSnapshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from markscheme.web.requests import WebRequest

_POLL_SECONDS = 1.0
_SILENT_SECONDS = 15.0
_EVENT_STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}


async def show_live_run(request: WebRequest) -> Response:
    """Show how far a run is; a finished one has its own page."""
    name, runs = request.path_params["run"], request.services.get_cache(LiveRuns)
    view = await request.services.read(lambda store: _read_progress(store, runs, name))
    if view["finished"]:
        return redirect(f"/runs/{view['id']}")
    return render(request, "live.html", **view)


async def stream_live_run(request: WebRequest) -> Response:
    """Send how far a run is whenever that changed, until it is finished or the server stops."""
    name, runs, services = (
        request.path_params["run"],
        request.services.get_cache(LiveRuns),
        request.services,
    )
    # The first reading is done here, so that an unknown run is an error and no stream.
    first = await services.read(lambda store: _read_progress(store, runs, name))

    async def generate_events() -> AsyncIterator[bytes]:
        view, silent = first, 0.0
        yield _build_event(view)
        while not view["finished"] and not services.closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(services.closing.wait(), _POLL_SECONDS)
            new = await services.read(lambda store: _read_progress(store, runs, name))
            silent += _POLL_SECONDS
            if new != view:
                view, silent = new, 0.0
                yield _build_event(view)
            elif silent >= _SILENT_SECONDS:
                # Without it, neither side would notice that the other is gone.
                silent = 0.0
                yield b": still here\n\n"

    return StreamingResponse(
        generate_events(), media_type="text/event-stream", headers=_EVENT_STREAM
    )


def _build_event(view: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(view) + b"\n\n"


def _read_progress(store: Store, runs: LiveRuns, name: str) -> dict[str, Any]:
    """Return how far a run is, as the page shows it."""
    try:
        run = store.find_run(name)
    except UsageError as error:
        raise HTTPException(404, str(error)) from error
    progress = runs.find_progress(store, run)
    about = {"id": run.id, "subject": run.subject or "–", "exam": run.exam.name}
    if progress is None:
        # It was not asked by `markscheme run`: its own page says whether it is finished.
        return {**about, "finished": True}
    return {**about, **_build_snapshot_view(progress.update(store))}


def _build_snapshot_view(snapshot: LiveSnapshot) -> dict[str, Any]:
    faults = sum(snapshot.faults.values())
    done = snapshot.answered + faults
    return {
        "finished": snapshot.is_finished,
        "done": done,
        "questions": snapshot.questions,
        "progress": translate(
            "{done} of {all} questions", done=f"{done:,}", all=f"{snapshot.questions:,}"
        ),
        "score": "–" if snapshot.mean is None else format_decimal(snapshot.mean),
        "passed": translate_plural("{n:,} answer passed", "{n:,} answers passed", snapshot.passed),
        "failed": translate("{n} did not pass", n=f"{snapshot.failed:,}"),
        "faults": ", ".join(f"{kind} {n:,}" for kind, n in snapshot.faults.items()) or "0",
        "cost": "–" if snapshot.cost is None else format_plain(snapshot.cost),
        "last": "–" if snapshot.last_reply is None else snapshot.last_reply[:19].replace("T", " "),
        "failures": list(map(_build_failure_view, snapshot.failures)),
    }


def _build_failure_view(failure: LiveFailure) -> list[str]:
    return [
        failure.item,
        str(failure.attempt),
        "–" if failure.score is None else format_decimal(failure.score),
        failure.because,
    ]
