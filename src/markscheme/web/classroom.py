"""A class: its learners enter with name and code; its teacher sees learners and items."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from markscheme.keep import Grant, Learner, Role, Store, open_store
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import (
    describe_tag,
    describe_tag_key,
    format_decimal,
    format_fixed,
    sentence,
)
from markscheme.web.attempts import AttemptLimiter
from markscheme.web.entry import set_session_cookie
from markscheme.web.pages import render
from markscheme.web.requests import download, read_form, redirect
from markscheme.workflows.class_overview import analyse_class_items, load_class_overview
from markscheme.workflows.review_files import EXPORTS, format_reviews

if TYPE_CHECKING:
    from fractions import Fraction

    from markscheme.web.requests import WebRequest

_limiter = AttemptLimiter()


def find_class(request: WebRequest) -> str:
    """Return the name of the class that is served; without one there are no such pages."""
    name = request.services.portal.class_name
    if name is None:
        raise HTTPException(
            404, sentence("No class is served: use `markscheme serve --class FILE`.")
        )
    return name


async def ask_to_join(request: WebRequest) -> Response:
    """Show the form for name and code."""
    return render(request, "join.html", class_name=find_class(request), wrong=False, name="")


async def join(request: WebRequest) -> Response:
    """Let a learner of the class in."""
    class_name, form = find_class(request), await read_form(request)
    name, code = to_nfc(form.get("name", "").strip()), form.get("code", "")
    address = request.client.host if request.client else ""
    if not _limiter.try_attempt((name, address)):
        raise HTTPException(429, sentence("Too many tries. Wait a minute."))
    place = request.services.pool.where

    def find() -> Learner | None:
        # Hashing the code takes a while, so it is no task of the readers.
        with open_store(place, create=False) as store:
            return store.learning.find_learner_by_code(name, code, class_name)

    learner = await run_in_threadpool(find)
    if learner is None:
        return render(
            request, "join.html", status=403, class_name=class_name, wrong=True, name=name
        )
    grant, former = (
        Grant(role=Role.LEARNER, scope=class_name, person=learner.id),
        request.session_token,
    )
    token = await request.services.write(
        lambda store: store.web_access.start_session(grant, former=former)
    )
    if former is not None:
        request.services.forget_session(former)
    response = redirect("/learn")
    set_session_cookie(request, response, token)
    return response


async def show_class(request: WebRequest) -> Response:
    """Show the learners of the class."""
    portal = request.services.portal
    class_name = portal.class_name
    if class_name is None:
        return render(request, "no_class.html")
    now = datetime.now(UTC)
    overview = await request.services.read(lambda store: load_class_overview(store, portal, now))
    gate = next((one for one in portal.rubric.gates if one.metric == "score"), None)
    least = None if gate is None else gate.at_least
    learners = [
        {
            "id": row.id,
            "name": row.name,
            "due": row.due,
            "done": row.done,
            "recalled": _format_share(row.recalled),
            "weakest": row.weakest,
            "paper": row.paper and row.paper.id,
            "run": row.paper and row.paper.run,
            "score": format_decimal(row.score, 2),
            "met": None if row.score is None or least is None else row.score >= least,
        }
        for row in overview.learners
    ]
    hardest = [
        {
            "tag": describe_tag(tag.key, tag.value),
            "key": describe_tag_key(tag.key),
            "share": _format_share(tag.share),
            "answers": tag.answers,
        }
        for tag in overview.hardest
    ]
    return render(request, "class.html", class_name=class_name, learners=learners, hardest=hardest)


def _format_share(share: Fraction | None) -> str:
    return "–" if share is None else f"{format_fixed(share * 100, 0)} %"


async def show_class_items(request: WebRequest) -> Response:
    """Show the statistics of the exam's items."""
    find_class(request)
    portal = request.services.portal
    analysis = await request.services.read(lambda store: analyse_class_items(store, portal))
    prompts = {item.id: item.prompt for item in portal.exam.items}
    rows: list[dict[str, Any]] = [
        {
            "prompt": prompts[one.item],
            "n": one.n,
            "right": one.right,
            "difficulty": format_decimal(one.difficulty, 2),
            "item_rest": "–" if one.item_rest is None else f"{one.item_rest.value:.2f}",
            "discrimination": format_decimal(one.discrimination, 2),
            "flags": one.flags,
        }
        for one in analysis.items
    ]
    found = analysis.reliability
    reliability = found and {
        "alpha": format_decimal(found.alpha, 2),
        "low": f"{found.low:.2f}",
        "high": f"{found.high:.2f}",
        "error": f"{found.standard_error:.2f}",
    }
    return render(request, "class_items.html", n=analysis.n, rows=rows, reliability=reliability)


async def export_class(request: WebRequest) -> Response:
    """Send all reviews of the class, without names."""
    class_name = find_class(request)

    def load(store: Store) -> str:
        ids = [learner.id for learner in store.learning.list_learners(class_name)]
        reviews = store.learning.list_reviews(ids, texts=True) if ids else []
        return format_reviews(reviews, "csv")

    text = await request.services.read(load)
    return download(text, f"{class_name}.csv", EXPORTS["csv"])
