"""The owner's pages of rating studies: progress, closing, disagreements, ratings to download.

While a study is open they name raters and queries, and no variant: an owner may rate too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from markscheme.read.rating_scores import NOT_APPLICABLE, allows_not_applicable, list_allowed_scores
from markscheme.tell.agreement_html import build_agreement_page
from markscheme.vocabulary import Adjudication, NoteAxis, format_short
from markscheme.web.pages import render, render_html_page
from markscheme.web.requests import download, make_id, read_form, redirect
from markscheme.workflows.judge_files import format_ratings_csv
from markscheme.workflows.study import (
    RatingStudy,
    StudyCache,
    create_rater_link,
    load_study,
    read_blind_answers,
)
from markscheme.workflows.study_results import (
    Disagreement,
    StudyProgress,
    adjudicate,
    close_study,
    collect_adjudications,
    collect_study_ratings,
    find_disagreements,
    measure_progress,
    measure_study_agreement,
)

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.vocabulary import Rating
    from markscheme.web.requests import WebRequest
    from markscheme.weigh.rater_agreement import RaterAgreement

_BY_OWNER = "owner"


async def list_studies(request: WebRequest) -> Response:
    """Show all studies with their progress."""
    cache = request.services.get_cache(StudyCache)

    def read(store: Store) -> list[tuple[RatingStudy, StudyProgress]]:
        studies = [cache.load(store, stored.id) for stored in store.studies.list_studies()]
        return [(study, measure_progress(store, study)) for study in studies]

    return render(request, "studies.html", studies=await request.services.read(read))


async def show_study(request: WebRequest) -> Response:
    """Show one study: progress while it is open, disagreements once it is closed."""
    return await _render_study(request)


async def _render_study(request: WebRequest, **more: Any) -> Response:
    id_ = request.path_params["study"]

    def read(store: Store) -> tuple[RatingStudy, StudyProgress, list[dict[str, Any]]]:
        study = load_study(store, id_)
        is_closed = study.stored.closed is not None
        found = find_disagreements(store, study) if is_closed else []
        items = {disagreement.key.item for disagreement in found}
        answers = {item: read_blind_answers(store, study, item) for item in items}
        views = [
            _describe_disagreement(study, one, answers[one.key.item][one.key.variant].text)
            for one in found
        ]
        return study, measure_progress(store, study), views

    study, progress, disagreements = await request.services.read(read)
    return render(
        request,
        "study.html",
        **{
            "study": study,
            "progress": progress,
            "is_closed": study.stored.closed is not None,
            "revealing": _describe_revealing(study),
            "disagreements": disagreements,
            "new_link": None,
            "left_open": "left" in request.query_params,
            **more,
        },
    )


def _describe_revealing(study: RatingStudy) -> list[str]:
    """Return the queries whose answers name themselves; what they name is not said here."""
    return list(dict.fromkeys(item for item, _, _ in study.revealing))


def _describe_disagreement(study: RatingStudy, found: Disagreement, text: str) -> dict[str, Any]:
    kind = found.question.kind
    options: list[str] = []
    if not isinstance(kind, NoteAxis):
        scores = list_allowed_scores(kind)
        options = [score if isinstance(score, str) else format_short(score) for score in scores]
        options += [NOT_APPLICABLE] if allows_not_applicable(kind) else []
    return {
        "key": found.key,
        "question": found.question,
        "prompt": study.prompts[found.key.item],
        "text": text,
        "ratings": [
            {"rater": rating.rater, "score": _format_score(rating), "note": rating.note}
            for rating in found.ratings
        ],
        "decided": found.decided,
        "options": options,
        "id": make_id(),
    }


def _format_score(rating: Rating) -> str:
    return rating.score if isinstance(rating.score, str) else format_short(rating.score)


async def close(request: WebRequest) -> Response:
    """Close a study for good, if everything is rated or the owner says that it need not be."""
    id_ = request.path_params["study"]
    finish = (await read_form(request)).get("finish") == "yes"
    is_closed = await request.services.write(
        lambda store: close_study(store, id_, by=_BY_OWNER, finish=finish)
    )
    return redirect(f"/studies/{id_}" if is_closed else f"/studies/{id_}?left#close")


async def make_link(request: WebRequest) -> Response:
    """Make a new link for a rater, and show it once."""
    id_ = request.path_params["study"]
    rater = (await read_form(request)).get("rater", "")
    token = await request.services.write(
        lambda store: create_rater_link(store, load_study(store, id_), rater)
    )
    link = f"{request.url.scheme}://{request.headers['host']}/enter/{token}"
    return await _render_study(request, new_link={"rater": rater, "link": link})


async def decide(request: WebRequest) -> Response:
    """Record what was decided about a disagreement."""
    id_ = request.path_params["study"]
    form = await read_form(request)

    def store_decision(store: Store) -> None:
        decision = Adjudication(
            id=form.get("id", ""),
            item=form.get("item", ""),
            variant=form.get("variant", ""),
            axis=form.get("axis", ""),
            criterion=form.get("criterion", ""),
            score=form.get("score", ""),
            note=form.get("note", ""),
            by=_BY_OWNER,
            at=store.studies.get_now(),
        )
        adjudicate(store, load_study(store, id_), decision)

    await request.services.write(store_decision)
    at = form.get("at", "")
    return redirect(f"/studies/{id_}#{f'decision-{at}' if at.isdecimal() else 'disagreements'}")


async def show_agreement(request: WebRequest) -> Response:
    """Show how far the raters of a closed study agree, with the judge beside them."""
    id_ = request.path_params["study"]

    def read(store: Store) -> tuple[RatingStudy, RaterAgreement]:
        study = load_study(store, id_)
        return study, measure_study_agreement(store, study)

    study, agreement = await request.services.read(read)
    page = build_agreement_page(agreement)
    return render_html_page(request, page, "study_agreement.html", study=study)


async def download_ratings(request: WebRequest) -> Response:
    """Answer with the ratings of a closed study as CSV."""
    id_ = request.path_params["study"]
    ratings = await request.services.read(
        lambda store: collect_study_ratings(store, load_study(store, id_))
    )
    return _answer_csv("ratings.csv", ratings)


async def download_adjudications(request: WebRequest) -> Response:
    """Answer with what was decided about disagreements, as ratings of the owner."""
    id_ = request.path_params["study"]
    ratings = await request.services.read(
        lambda store: collect_adjudications(store, load_study(store, id_))
    )
    return _answer_csv("adjudications.csv", ratings)


def _answer_csv(name: str, ratings: Sequence[Rating]) -> Response:
    return download(format_ratings_csv(ratings), name, "text/csv; charset=utf-8")
