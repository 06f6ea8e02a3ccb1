"""Runs: the dashboard (`dashboard`), their pages (`run_pages`) and live runs (`live`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.keep import Role
from markscheme.vocabulary import sentence
from markscheme.web.requests import NavigationLink, defer, route

if TYPE_CHECKING:
    from starlette.routing import Route

_OWNER = {Role.OWNER}


def _run_route(path: str, name: str, method: str = "GET") -> Route:
    return route(path, defer("run_pages", name), allow=_OWNER, method=method)


routes = [
    route("/", defer("dashboard", "show_dashboard"), allow=_OWNER),
    _run_route("/runs/{run}", "show_run"),
    _run_route("/runs/{run}/report.html", "download_report"),
    _run_route("/runs/{run}/items", "list_items"),
    _run_route("/runs/{run}/items/{item:path}", "show_item"),
    _run_route("/runs/{run}/baseline", "ask_for_baseline"),
    _run_route("/runs/{run}/baseline", "set_run_as_baseline", "POST"),
    _run_route("/compare", "show_comparison"),
    route("/live/{run}", defer("live", "show_live_run"), allow=_OWNER),
    route("/live/{run}/events", defer("live", "stream_live_run"), allow=_OWNER),
]
navigation = [NavigationLink(path="/", text=sentence("Runs"), allow=_OWNER)]
