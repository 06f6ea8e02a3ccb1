"""The app: all features behind the security checks, and the page that reports an error."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response

from markscheme.tell.language import set_language, translate_stored
from markscheme.vocabulary import MarkschemeError, sentence
from markscheme.web import entry, learning, pages, rating_studies, runs
from markscheme.web.pages import render
from markscheme.web.requests import Feature, WebRequest
from markscheme.web.security import SecurityMiddleware

if TYPE_CHECKING:
    from collections.abc import Collection

    from markscheme.web.services import Services

FEATURES: tuple[Feature, ...] = (runs, rating_studies, learning, entry, pages)

_MIN_COMPRESSED_BYTES = 500
_FAST_COMPRESSION = 5
_REASONS = {
    400: sentence("This request cannot be understood."),
    401: sentence("You have not entered. Open the link that you were given."),
    403: sentence("This page is not for you."),
    404: sentence("There is no such page."),
    405: sentence("This page cannot be used like that."),
    413: sentence("That is too large."),
    500: sentence("This is a bug in markscheme. What you sent before was kept."),
    503: sentence("The store cannot be used at the moment."),
}


def create_app(services: Services, *, host_names: Collection[str] = ()) -> Starlette:
    """Return the app with all features; it answers to loopback names and to `host_names`."""
    app = Starlette(
        routes=[route for feature in FEATURES for route in feature.routes],
        middleware=[
            Middleware(SecurityMiddleware, host_names=host_names, is_secure=services.is_secure),
            Middleware(
                GZipMiddleware,
                minimum_size=_MIN_COMPRESSED_BYTES,
                compresslevel=_FAST_COMPRESSION,
            ),
        ],
        exception_handlers={HTTPException: show_error},
    )
    app.state.services = services
    app.state.navigation = [link for feature in FEATURES for link in feature.navigation]
    return app


async def show_error(plain: Request, error: Exception) -> Response:
    """Answer with a page that says what is wrong, in the language of the visitor."""
    request = WebRequest(plain.scope, plain.receive)
    set_language(request.language)
    # The page has the navigation of the visitor, if the store can tell who it is.
    with suppress(MarkschemeError):
        await request.load_grant()
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = _REASONS.get(status, _REASONS[400])
    detail = error.detail if isinstance(error, HTTPException) else ""
    phrases = {known.phrase for known in HTTPStatus}
    return render(
        request,
        "error.html",
        status=status,
        code=status,
        reason=translate_stored(reason),
        detail="" if detail in phrases else translate_stored(detail),
    )
