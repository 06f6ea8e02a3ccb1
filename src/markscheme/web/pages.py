"""Render templates for a visitor; serve scripts and styles at addresses with their digest."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from markscheme import __version__
from markscheme.tell.language import LANGUAGES, get_language
from markscheme.tell.templates import (
    HtmlPage,
    build_stylesheet,
    create_environment,
    embed_json,
    read_script,
)
from markscheme.web.requests import EVERYBODY, NavigationLink, WebRequest, local_path, route

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_ASSETS = _FOLDER / "assets"
_MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_CACHE_FOR_EVER = "public, max-age=31536000, immutable"
_DIGEST_LENGTH = 12
_RUN_ID = re.compile(r"\b([0-9a-f]{12})\b")
LANGUAGE_NAMES = {"en": "English", "es": "Español"}


def render(request: WebRequest, template: str, *, status: int = 200, **view: Any) -> Response:
    """Return a page; its template extends `base.html`."""
    page = _create_web_environment().get_template(template)
    text = page.render(
        version=__version__,
        language=get_language(),
        languages=[(code, LANGUAGE_NAMES[code]) for code in LANGUAGES],
        # A path that begins with two slashes would lead to another host.
        here=local_path(request.url.path + (f"?{request.url.query}" if request.url.query else "")),
        path=request.url.path,
        grant=request.grant,
        navigation=[
            link
            for link in request.app.state.navigation
            if request.role in link.allow and link.is_shown(request.services)
        ],
        **view,
    )
    return HTMLResponse(text, status_code=status, headers={"vary": "Cookie, Accept-Language"})


def render_html_page(
    request: WebRequest, page: HtmlPage, template: str, **context: Any
) -> Response:
    """Return a page of the reports; the template extends that of the report.

    `context` adds to what the report shows, or replaces parts of it.
    """
    return render(request, template, data=embed_json(page.data), **{**page.view, **context})


@cache
def _create_web_environment() -> Environment:
    environment = create_environment(_FOLDER / "pages")
    environment.globals.update(asset=build_asset_address)
    environment.filters["runs_linked"] = _link_runs
    environment.filters["segment"] = lambda text: quote(str(text), safe="")
    return environment


def _link_runs(text: object) -> Markup:
    """Escape a text, and make links of the ids of runs in it."""
    parts = _RUN_ID.split(str(text))
    return Markup("").join(
        Markup('<a href="/runs/{0}">{0}</a>').format(part) if at % 2 else escape(part)
        for at, part in enumerate(parts)
    )


def build_asset_address(name: str) -> str:
    """Return the address of a script or style; it changes whenever the content does."""
    stem, _, suffix = name.rpartition(".")
    digest = sha256(_read_asset(name)).hexdigest()[:_DIGEST_LENGTH]
    return f"/assets/{stem}.{digest}.{suffix}"


@cache
def _read_asset(name: str) -> bytes:
    """Return a script of `assets`, that of the reports (`page.js`), or the stylesheet (`all.css`).

    All styles are one file: a browser asks once, and keeps it.
    """
    if name == "all.css":
        styles = sorted(_ASSETS.glob("*.css"))
        return "".join([build_stylesheet(), *(path.read_text("utf-8") for path in styles)]).encode()
    return read_script().encode() if name == "page.js" else (_ASSETS / name).read_bytes()


@cache
def _list_assets() -> dict[str, str]:
    """Return the name of each asset by its address."""
    names = ["all.css", "page.js", *(path.name for path in _ASSETS.glob("*.js"))]
    return {build_asset_address(name): name for name in names}


async def show_asset(request: WebRequest) -> Response:
    """Answer with a script or a style."""
    name = _list_assets().get(request.url.path)
    if name is None:
        raise HTTPException(404)
    return Response(
        _read_asset(name),
        media_type=_MEDIA_TYPES[Path(name).suffix],
        headers={"cache-control": _CACHE_FOR_EVER},
    )


routes = [route("/assets/{name}", show_asset, allow=EVERYBODY)]
navigation: list[NavigationLink] = []
