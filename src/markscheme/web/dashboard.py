"""The first page of the owner: how each subject stands, and the stored runs with filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markscheme.keep import RunStatus
from markscheme.tell.charts import draw_sparkline
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.words import VERDICT_WORDS, format_subject
from markscheme.vocabulary import Outcome, format_decimal, format_fixed, to_fraction
from markscheme.web.pages import render
from markscheme.workflows.run_overview import (
    RunEntry,
    RunFilter,
    RunOverview,
    ScoreSeries,
    VerdictCache,
    build_run_overview,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from markscheme.web.requests import WebRequest

_FILTERS = ("exam", "rubric", "subject", "tag")
_MAX_PAGE_DIGITS = 6


async def show_dashboard(request: WebRequest) -> Response:
    """Show the runs that the address asks for."""
    asked = request.query_params
    wanted = RunFilter(**{name: asked.get(name) or None for name in _FILTERS})
    verdicts = request.services.get_cache(VerdictCache)
    overview = await request.services.read(
        lambda store: build_run_overview(store, wanted, verdicts, page=_parse_page(asked))
    )
    return render(request, "dashboard.html", **_build_view(overview, wanted))


def _parse_page(asked: Mapping[str, str]) -> int:
    page = asked.get("page", "")
    return int(page) if page.isascii() and page.isdigit() and len(page) <= _MAX_PAGE_DIGITS else 1


def _build_view(overview: RunOverview, wanted: RunFilter) -> dict[str, Any]:
    chosen = {name: getattr(wanted, name) for name in _FILTERS}
    return {
        "entries": list(map(_build_entry_view, overview.entries)),
        "series": list(map(_build_series_view, overview.series)),
        "more_series": overview.more_series,
        "filters": [
            (name, label, overview.choices[name], chosen[name])
            for name, label in zip(
                _FILTERS,
                (translate("exam"), translate("rubric"), translate("subject"), translate("tag")),
                strict=True,
            )
            if overview.choices[name] or chosen[name]
        ],
        "is_filtered": wanted.is_set,
        "total": overview.total,
        "pages": list(_build_page_links(overview, chosen)),
    }


def _build_page_links(
    overview: RunOverview, chosen: Mapping[str, str | None]
) -> Iterator[tuple[str, str]]:
    """Yield the links to newer and older runs; the filters stay in the address."""
    kept = [(name, value) for name, value in chosen.items() if value]
    for page, text in (
        (overview.page - 1, translate("newer runs")),
        (overview.page + 1, translate("older runs")),
    ):
        if 1 <= page <= overview.pages:
            yield f"/?{urlencode([*kept, ('page', str(page))])}", text


def _build_entry_view(entry: RunEntry) -> dict[str, Any]:
    run = entry.run
    return {
        "id": run.id,
        "href": f"/live/{run.id}" if run.status is RunStatus.OPEN else f"/runs/{run.id}",
        "started": f"{run.started:%Y-%m-%d %H:%M}",
        "subject": format_subject(run.subject),
        "exam": run.exam.name,
        "rubric": f"{run.rubric.name} v{run.rubric.version}",
        "score": _format_score(entry.score),
        "verdict": _build_verdict_view(entry),
        "tags": entry.tags,
        "is_baseline": entry.is_baseline,
        "is_incomplete": entry.is_incomplete,
        "can_be_chosen": run.status is RunStatus.FINISHED,
        "rescored_from": run.rescored_from,
    }


def _format_score(score: float | None) -> str:
    return "–" if score is None else format_fixed(to_fraction(score))


def _build_verdict_view(entry: RunEntry) -> dict[str, str] | None:
    """Return the verdict and the names of the gates that are not met; None if it is not known."""
    if entry.run.status is RunStatus.OPEN:
        return {"kind": "undecided", "word": translate("not finished"), "missed": ""}
    if entry.verdict is None:
        return None
    named = {
        outcome: ", ".join(name for name, seen in entry.verdict.missed if seen is outcome)
        for outcome in (Outcome.FAIL, Outcome.WARN, Outcome.UNDECIDED)
    }
    sentences = {
        Outcome.FAIL: translate("not met: {gates}", gates=named[Outcome.FAIL]),
        Outcome.WARN: translate("warning: {gates}", gates=named[Outcome.WARN]),
        Outcome.UNDECIDED: translate("cannot tell: {gates}", gates=named[Outcome.UNDECIDED]),
    }
    return {
        "kind": entry.verdict.outcome.value,
        "word": translate_stored(VERDICT_WORDS[entry.verdict.outcome]),
        "missed": "; ".join(text for outcome, text in sentences.items() if named[outcome]),
    }


def _build_series_view(series: ScoreSeries) -> dict[str, Any]:
    scores = [format_decimal(to_fraction(score)) for score in series.scores]
    latest = series.latest
    return {
        **_build_entry_view(latest),
        "score": "–" if latest.score is None else format_decimal(to_fraction(latest.score)),
        "svg": draw_sparkline(series.scores) if series.scores else None,
        "says": _describe_scores(scores),
    }


def _describe_scores(scores: list[str]) -> str:
    if len(scores) < 2:  # noqa: PLR2004 - a line has two ends
        return translate("one complete run") if scores else translate("no complete run")
    return translate(
        "{n} complete runs: {first} → {last}", n=len(scores), first=scores[0], last=scores[-1]
    )
