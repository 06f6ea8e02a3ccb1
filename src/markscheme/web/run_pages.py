"""The pages of stored runs: one run, its items, how it becomes a baseline, runs compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from markscheme.vocabulary import sentence
from markscheme.web import run_views
from markscheme.web.pages import render, render_html_page
from markscheme.web.requests import download, read_form, redirect

if TYPE_CHECKING:
    from markscheme.web.requests import WebRequest

_MIN_COMPARED = 2
_MAX_COMPARED = 6


async def show_run(request: WebRequest) -> Response:
    """Show a run as its report does, with links to other runs and items."""
    name = request.path_params["run"]
    page, context = await request.services.read(
        lambda store: run_views.build_run_page_view(store, name)
    )
    if context["id"] != name:
        # `latest` and tags name another run later; the address must name this one.
        return redirect(f"/runs/{context['id']}")
    return render_html_page(request, page, "run_page.html", **context)


async def download_report(request: WebRequest) -> Response:
    """Answer with the report of a run as a file that needs no other."""
    name = request.path_params["run"]
    text = await request.services.read(lambda store: run_views.render_report_file(store, name))
    return download(text, "report.html", "text/html; charset=utf-8")


async def list_items(request: WebRequest) -> Response:
    """List the items of a run, for browsers without scripts."""
    name, lost = request.path_params["run"], request.query_params.get("show") == "lost"
    view = await request.services.read(
        lambda store: run_views.build_item_list(store, name, lost=lost)
    )
    return render(request, "items.html", lost=lost, **view)


async def show_item(request: WebRequest) -> Response:
    """Show one item of a run: what was asked, expected and answered, and why each cell is so."""
    run, name = request.path_params["run"], request.path_params["item"]
    view = await request.services.read(lambda store: run_views.build_item_view(store, run, name))
    return render(request, "item.html", **view)


async def ask_for_baseline(request: WebRequest) -> Response:
    """Ask whether a run becomes the baseline, and say what speaks against it."""
    name = request.path_params["run"]
    view = await request.services.read(lambda store: run_views.build_baseline_view(store, name))
    return render(request, "baseline.html", **view)


async def set_run_as_baseline(request: WebRequest) -> Response:
    """Make a run the baseline; one that misses a hard gate only if that is confirmed."""
    form, name = await read_form(request), request.path_params["run"]
    note, by, force = form.get("note") or None, form.get("by") or None, "force" in form
    run = await request.services.write(
        lambda store: run_views.set_run_baseline(store, name, by=by, note=note, force=force)
    )
    return redirect(f"/runs/{run}")


async def show_comparison(request: WebRequest) -> Response:
    """Compare runs: the first that the address names, else the oldest, with the others."""
    names, first = request.query_params.getlist("run"), request.query_params.get("first")
    if len(dict.fromkeys(names)) < _MIN_COMPARED:
        raise HTTPException(400, sentence("choose at least two runs to compare"))
    if len(dict.fromkeys(names)) > _MAX_COMPARED:
        raise HTTPException(
            400, sentence("choose at most {most} runs to compare", most=_MAX_COMPARED)
        )
    page, runs = await request.services.read(
        lambda store: run_views.build_comparison_view(store, names, first)
    )
    return render_html_page(request, page, "compared_page.html", runs=runs)
