"""Enter by a one-time link, leave, and choose the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from markscheme.keep import SESSION_LIFETIME
from markscheme.tell.language import LANGUAGES
from markscheme.vocabulary import sentence
from markscheme.web.pages import render
from markscheme.web.requests import (
    EVERYBODY,
    LANGUAGE_COOKIE,
    SIGNED_IN,
    NavigationLink,
    read_form,
    redirect,
    route,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from markscheme.web.requests import WebRequest

_YEAR_SECONDS = 365 * 24 * 3600


async def ask_to_enter(request: WebRequest) -> Response:
    """Show the button of a link: programs that preview links only get, and use up nothing."""
    return render(request, "enter.html", token=request.path_params["token"])


async def enter(request: WebRequest) -> Response:
    """Use the link and start a session."""
    token, former = (await read_form(request)).get("token", ""), request.session_token
    entered = await request.services.write(
        lambda store: store.web_access.enter_link(token, former=former)
    )
    if entered is None:
        raise HTTPException(
            403, sentence("This link was used before or is too old. Ask for a new one.")
        )
    if former is not None:
        request.services.forget_session(former)
    response = redirect(entered.landing)
    set_session_cookie(request, response, entered.token)
    return response


async def leave(request: WebRequest) -> Response:
    """End the session."""
    token = request.session_token
    if token is not None:
        await request.services.write(lambda store: store.web_access.end_session(token))
        request.services.forget_session(token)
    response = redirect("/")
    response.delete_cookie(request.services.cookie, secure=request.services.is_secure)
    return response


async def choose_language(request: WebRequest) -> Response:
    """Remember the language of a visitor, and show the same page again."""
    form = await read_form(request)
    if form.get("language") not in LANGUAGES:
        raise HTTPException(400)
    response = redirect(form.get("next", "/"))
    response.set_cookie(
        LANGUAGE_COOKIE, form["language"], max_age=_YEAR_SECONDS, httponly=True, samesite="lax"
    )
    return response


def set_session_cookie(request: WebRequest, response: Response, token: str) -> None:
    """Give the browser its session; scripts cannot read it, and other sites cannot send it."""
    response.set_cookie(
        request.services.cookie,
        token,
        max_age=int(SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.services.is_secure,
    )


routes = [
    route("/enter/{token}", ask_to_enter, allow=EVERYBODY),
    route("/enter", enter, allow=EVERYBODY, method="POST"),
    route("/leave", leave, allow=SIGNED_IN, method="POST"),
    route("/language", choose_language, allow=EVERYBODY, method="POST"),
]
navigation: list[NavigationLink] = []
