"""The first page of the owner: the stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.keep import Role, Store
from markscheme.vocabulary import sentence
from markscheme.web.pages import render
from markscheme.web.requests import NavigationLink, route
from markscheme.workflows.stored_runs import build_run_list_record

if TYPE_CHECKING:
    from starlette.responses import Response

    from markscheme.web.requests import WebRequest

_RUNS_SHOWN = 100


async def show_dashboard(request: WebRequest) -> Response:
    """Show the newest runs."""
    return render(request, "dashboard.html", **await request.services.read(_list_runs))


def _list_runs(store: Store) -> dict[str, Any]:
    runs = store.list_runs(limit=_RUNS_SHOWN)
    return build_run_list_record(runs, store.list_tags(), store.list_current_baselines())


routes = [route("/", show_dashboard, allow={Role.OWNER})]
navigation = [NavigationLink(path="/", text=sentence("Runs"), allow={Role.OWNER})]
