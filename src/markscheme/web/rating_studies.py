"""Rating studies: the pages of their owner (`study_pages`) and of their raters (`rating_pages`).

These modules are imported by the first request: they need what reads rubrics, exams and logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.keep import Role
from markscheme.vocabulary import sentence
from markscheme.web.requests import NavigationLink, defer, route

if TYPE_CHECKING:
    from starlette.routing import Route

_OWNER, _RATER = {Role.OWNER}, {Role.RATER}


def _rater_route(path: str, name: str, method: str = "GET") -> Route:
    return route(f"/rate{path}", defer("rating_pages", name), allow=_RATER, method=method)


def _owner_route(path: str, name: str, method: str = "GET") -> Route:
    return route(f"/studies{path}", defer("study_pages", name), allow=_OWNER, method=method)


routes = [
    _rater_route("", "go_to_study"),
    _rater_route("/{study}", "show_overview"),
    _rater_route("/{study}/next", "take_next", "POST"),
    _rater_route("/{study}/marks", "add_mark", "POST"),
    _rater_route("/{study}/undo", "undo", "POST"),
    _rater_route("/{study}/{query:int}/{part:int}", "show_card"),
    _rater_route("/{study}/{query:int}/{part:int}", "submit_card", "POST"),
    _owner_route("", "list_studies"),
    _owner_route("/{study}", "show_study"),
    _owner_route("/{study}/close", "close", "POST"),
    _owner_route("/{study}/links", "make_link", "POST"),
    _owner_route("/{study}/adjudicate", "decide", "POST"),
    _owner_route("/{study}/agreement", "show_agreement"),
    _owner_route("/{study}/ratings.csv", "download_ratings"),
    _owner_route("/{study}/adjudications.csv", "download_adjudications"),
]
navigation = [
    NavigationLink(path="/studies", text=sentence("Rating studies"), allow=_OWNER),
    NavigationLink(path="/rate", text=sentence("My queries"), allow=_RATER),
]
