"""What a handler gets and returns: requests with a session, forms, routes that name their roles."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qsl, quote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from markscheme.keep import Grant, Role
from markscheme.tell.language import LANGUAGES, set_language
from markscheme.vocabulary import InputError, StoreError, UsageError, sentence
from markscheme.web.services import Services

if TYPE_CHECKING:
    from collections.abc import Sequence

LANGUAGE_COOKIE = "markscheme-language"
MAX_FIELD_BYTES = 10_000
MAX_FIELDS = 1_000

SIGNED_IN = frozenset(Role)
EVERYBODY: frozenset[Role | None] = frozenset({*Role, None})
"""All roles, and visitors without a session."""


class WebRequest(Request):
    """A request with the services of the app and what its session grants."""

    @property
    def grant(self) -> Grant | None:
        """What the session grants, once it was looked up."""
        grant: Grant | None = getattr(self.state, "grant", None)
        return grant

    async def load_grant(self) -> None:
        """Look the session up, if the browser holds one."""
        if self.session_token is not None:
            self.state.grant = await self.services.find_grant(self.session_token)

    @property
    def services(self) -> Services:
        """What the app shares between requests."""
        services: Services = self.app.state.services
        return services

    @property
    def role(self) -> Role | None:
        """The role of the session, if there is one."""
        return None if self.grant is None else self.grant.role

    @property
    def session_token(self) -> str | None:
        """The token that the browser holds, whether or not it is one of ours."""
        return self.cookies.get(self.services.cookie)

    @property
    def language(self) -> str:
        """The language of the visitor: chosen before, or asked for by the browser."""
        chosen = self.cookies.get(LANGUAGE_COOKIE)
        if chosen in LANGUAGES:
            return str(chosen)
        for part in self.headers.get("accept-language", "").split(","):
            language = part.partition(";")[0].partition("-")[0].strip().lower()
            if language in LANGUAGES:
                return language
        return self.services.language


Handler = Callable[[WebRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """An entry of the navigation that visitors of some roles see; `text` is a message.

    Where `is_shown` says no, the app does not serve the page.
    """

    path: str
    text: str
    allow: AbstractSet[Role]
    is_shown: Callable[[Services], bool] = lambda _: True


class Feature(Protocol):
    """A module of the app."""

    @property
    def routes(self) -> Sequence[Route]:
        """Its addresses."""

    @property
    def navigation(self) -> Sequence[NavigationLink]:
        """Its entries in the navigation."""


def defer(module: str, name: str) -> Handler:
    """Return a handler of a module of this package that is imported by its first request.

    What reads rubrics or judges runs loads polars, which would double start and memory.
    """
    loaded: list[Handler] = []

    async def handle(request: WebRequest) -> Response:
        if not loaded:
            # In a thread, so that other visitors do not wait.
            found = await asyncio.to_thread(import_module, f"markscheme.web.{module}")
            loaded.append(getattr(found, name))
        return await loaded[0](request)

    return handle


def route(
    path: str,
    handler: Handler,
    *,
    allow: AbstractSet[Role | None] | AbstractSet[Role],
    method: str = "GET",
) -> Route:
    """Return a route for visitors of these roles; every other visitor is refused.

    Errors that a user can mend become a page with a status code, in the language of the visitor.
    """

    async def respond(plain: Request) -> Response:
        request = WebRequest(plain.scope, plain.receive)
        set_language(request.language)
        with _translate_errors():
            await request.load_grant()
            if request.role not in allow:
                raise HTTPException(401 if request.grant is None else 403)
            return await handler(request)

    return Route(path, respond, methods=[method], name=f"{method} {path}")


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn an error into one with a status; of a bug only its type is written to the log."""
    try:
        yield
    except HTTPException:
        raise
    except ClientDisconnect as error:
        raise HTTPException(400) from error
    except (UsageError, InputError) as error:
        raise HTTPException(400, error_text(error)) from error
    except StoreError as error:
        # Where the store is concerns whoever started the server, and no learner or rater.
        _log_line(error_text(error))
        raise HTTPException(503) from error
    except Exception as error:
        _log_bug(error)
        raise HTTPException(500) from error


def _log_bug(error: Exception) -> None:
    """Write where a bug is to stderr; not its message, which may hold what somebody answered."""
    place, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("markscheme."):
            place = f"{module}:{trace.tb_lineno}"
        trace = trace.tb_next
    _log_line(f"a bug: {type(error).__name__} at {place}")


def _log_line(text: str) -> None:
    print(f"markscheme serve: {text}", file=sys.stderr)  # noqa: T201


def error_text(error: Exception) -> str:
    """Return the message of an error; where it is a template, it stays one to be translated."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, str) else str(error)


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of a submitted form; of a field that is there twice, the last.

    The size of the whole body is limited before, by `security`.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, sentence("the form must be sent as a plain form"))
    try:
        fields = parse_qsl(
            (await request.body()).decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MAX_FIELDS,
            errors="strict",
        )
    except ValueError as error:
        raise HTTPException(400, sentence("the form cannot be read")) from error
    for name, value in fields:
        if len(name.encode()) + len(value.encode()) > MAX_FIELD_BYTES:
            raise HTTPException(413, sentence("a field is longer than 10,000 bytes"))
    return dict(fields)


def redirect(path: str) -> Response:
    """Answer a POST: let the browser get another page of ours."""
    return RedirectResponse(local_path(path), status_code=303)


def local_path(path: str) -> str:
    """Return a path if it leads to this app, else the path of the first page."""
    safe = path.startswith("/") and not path.startswith(("//", "/\\"))
    return quote(path, safe="/?&=%:+,;@~*!$'()-._#") if safe and path.isprintable() else "/"
