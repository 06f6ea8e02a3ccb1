"""Render pages from Jinja templates: one HTML file each, with its style and script inside.

Every page is a template that extends `base.html`. All values are escaped, and the content policy of
the page admits its own style and script by their hashes and nothing else. The web app uses the same
templates with a `base.html` of its own, which links to style and script.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from markscheme.tell.charts import COLOUR_SCHEMES
from markscheme.tell.language import get_language, translate, translate_plural, translate_stored

PAGES_FOLDER = Path(__file__).parent / "html" / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """A page before it is rendered, for a file or by the web app.

    `view` is what the template shows, and `data` what the script reads.
    """

    template: str
    view: dict[str, Any]
    data: dict[str, Any]


def render_page(page: HtmlPage, version: str) -> str:
    """Return a page as one file; `version` is that of the program that writes it."""
    style, script = build_stylesheet(), read_script()
    return (
        _create_report_environment()
        .get_template(page.template)
        .render(
            **page.view,
            version=version,
            language=get_language(),
            policy=build_content_policy(style, script),
            style=Markup(style),  # noqa: S704 - ours
            script=Markup(script),  # noqa: S704 - ours
            data=embed_json(page.data),
        )
    )


def build_content_policy(style: str, script: str) -> str:
    """Return a content security policy that admits only this style and this script."""
    return (
        "default-src 'none'; "
        f"style-src '{_hash_source(style)}'; script-src '{_hash_source(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash_source(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def embed_json(data: dict[str, Any]) -> Markup:
    """Return data as JSON that cannot close the `script` element it stands in."""
    text = orjson.dumps(data).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no tag can begin in it


def mark_up_code(text: str) -> Markup:
    """Escape a sentence, and set the names between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return escape(text)
    names = (
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )
    return Markup("").join(names)


@cache
def _create_report_environment() -> Environment:
    return create_environment()


def create_environment(*folders: Path) -> Environment:
    """Return an environment with the templates of these folders, and then with ours."""
    environment = Environment(
        loader=FileSystemLoader([*folders, PAGES_FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        translate=translate, translate_plural=translate_plural, translate_stored=translate_stored
    )
    environment.filters["coded"] = mark_up_code
    # The web app makes links of the ids of runs.
    environment.filters["runs_linked"] = str
    return environment


def read_script() -> str:
    """Return the script of all pages."""
    return (PAGES_FOLDER / "page.js").read_text(encoding="utf-8")


@cache
def build_stylesheet() -> str:
    """Return the stylesheet with the colours of both schemes, for the page and its charts."""
    light = "".join(f"--{name}:{pair[0]};" for name, pair in COLOUR_SCHEMES.items())
    dark = "".join(f"--{name}:{pair[1]};" for name, pair in COLOUR_SCHEMES.items())
    charts = "".join(
        f'.chart [{what}="{pair[0]}"]{{{what}:var(--{name})}}'
        for name, pair in COLOUR_SCHEMES.items()
        for what in ("fill", "stroke")
    )
    schemes = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{schemes}{charts}\n{(PAGES_FOLDER / 'page.css').read_text(encoding='utf-8')}"
