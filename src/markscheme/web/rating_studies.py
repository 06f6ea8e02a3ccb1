"""Rating studies: the pages of their owner (`study_pages`) and of their raters (`rating_pages`).

These modules are imported by the first request: they need what reads rubrics, exams and logs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from markscheme.keep import Role
from markscheme.vocabulary import sentence
from markscheme.web.requests import NavigationLink, route

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import Route

    from markscheme.web.requests import Handler, WebRequest

_OWNER, _RATER = {Role.OWNER}, {Role.RATER}


def _forward(module: str, name: str) -> Handler:
    """Return a handler that imports the real one when it is called."""

    async def handle(request: WebRequest) -> Response:
        handler: Handler = getattr(import_module(f"markscheme.web.{module}"), name)
        return await handler(request)

    return handle


def _rater_route(path: str, name: str, method: str = "GET") -> Route:
    return route(
        f"/rate/{{study}}{path}", _forward("rating_pages", name), allow=_RATER, method=method
    )


def _owner_route(path: str, name: str, method: str = "GET") -> Route:
    return route(f"/studies{path}", _forward("study_pages", name), allow=_OWNER, method=method)


routes = [
    _rater_route("", "show_overview"),
    _rater_route("/next", "take_next", "POST"),
    _rater_route("/marks", "add_mark", "POST"),
    _rater_route("/undo", "undo", "POST"),
    _rater_route("/{query:int}/{part:int}", "show_card"),
    _rater_route("/{query:int}/{part:int}", "submit_card", "POST"),
    _owner_route("", "list_studies"),
    _owner_route("/{study}", "show_study"),
    _owner_route("/{study}/close", "close", "POST"),
    _owner_route("/{study}/links", "make_link", "POST"),
    _owner_route("/{study}/adjudicate", "decide", "POST"),
    _owner_route("/{study}/agreement", "show_agreement"),
    _owner_route("/{study}/ratings.csv", "download_ratings"),
    _owner_route("/{study}/adjudications.csv", "download_adjudications"),
]
navigation = [NavigationLink(path="/studies", text=sentence("Rating studies"), allow=_OWNER)]
