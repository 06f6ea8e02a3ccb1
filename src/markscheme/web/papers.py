"""Exams and quizzes: open a paper, save answers, hand it in, and read the result.

Answers are saved while the learner types, each with an id of its own. A paper takes answers until
it is handed in or its time is over; then it becomes an ordinary run.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from markscheme.keep import OWN_LEARNER, Paper, PaperAnswer, PaperMode, Role, Store
from markscheme.learn import AnswerField, build_answer, explain_answer, list_answer_fields
from markscheme.mark import mark_answer, read_response
from markscheme.vocabulary import Exam, Rubric, format_decimal, format_short, sentence
from markscheme.web.pages import render
from markscheme.web.practice import find_learner, list_tags
from markscheme.web.requests import make_id, read_form, redirect
from markscheme.workflows.class_overview import read_score
from markscheme.workflows.papers import (
    check_not_forgotten,
    hand_in_paper,
    is_time_up,
    judge_paper,
    load_paper_documents,
    open_paper,
    score_paper,
)

if TYPE_CHECKING:
    from markscheme.learn import AxisFeedback
    from markscheme.vocabulary import Item
    from markscheme.web.requests import WebRequest


async def show_exams(request: WebRequest) -> Response:
    """Show the learner's papers, and the exam to begin."""
    learner = find_learner(request)
    papers = await request.services.read(lambda store: store.learning.list_papers([learner]))
    portal = request.services.portal
    scores = await request.services.read(lambda store: _find_scores(store, papers))
    return render(
        request,
        "exams.html",
        papers=[{"paper": paper, "score": scores.get(paper.id)} for paper in papers],
        exam=portal.exam,
        minutes=portal.minutes,
        new_id=make_id(),
    )


def _find_scores(store: Store, papers: list[Paper]) -> dict[str, str]:
    runs = {run.id: run for run in store.list_runs()} if any(p.run for p in papers) else {}
    return {
        paper.id: format_decimal(read_score(runs[paper.run].counts or {}), 2)
        for paper in papers
        if paper.run in runs and paper.run is not None
    }


async def begin_paper(request: WebRequest) -> Response:
    """Open a paper: an exam, with a time limit if that is asked for, or a quiz."""
    form = await read_form(request)
    portal, learner = request.services.portal, find_learner(request)
    mode = PaperMode.QUIZ if form.get("mode") == "quiz" else PaperMode.EXAM
    id_ = form.get("id", "")

    def begin(store: Store) -> Paper:
        if learner == OWN_LEARNER:
            store.learning.ensure_own_learner()
        return open_paper(
            store,
            id_=id_,
            learner=learner,
            rubric=portal.rubric,
            exam=portal.exam,
            mode=mode,
            minutes=portal.minutes if mode is PaperMode.EXAM and "timed" in form else None,
        )

    paper = await request.services.write(begin)
    return redirect(f"/papers/{paper.id}")


async def show_paper(request: WebRequest) -> Response:
    """Show an open paper, or the result of one that was handed in."""
    paper, rubric, exam, answers = await _load(request)
    now = datetime.now(UTC)
    if (
        paper.handed_in is None
        and is_time_up(paper, now)
        and paper.learner == find_learner(request)
    ):
        return await _hand_in(request, paper)
    if paper.handed_in is not None:
        return render(request, "paper_result.html", **_build_result(paper, rubric, exam, answers))
    questions = [_build_question(paper, rubric, item, answers.get(item.id)) for item in exam.items]
    template = "quiz.html" if paper.mode is PaperMode.QUIZ else "paper.html"
    wanted = request.query_params.get("item")
    at = next((n for n, question in enumerate(questions) if question["item"].id == wanted), None)
    if at is None:
        at = next((n for n, question in enumerate(questions) if not question["saved"]), 0)
    return render(
        request,
        template,
        paper=paper,
        questions=questions,
        at=at,
        fields=list_answer_fields(rubric),
        ends=_find_end(paper),
        answered=sum(question["answered"] for question in questions),
    )


def _find_end(paper: Paper) -> int | None:
    if paper.minutes is None:
        return None
    return int((paper.opened + timedelta(minutes=paper.minutes)).timestamp() * 1000)


def _build_question(
    paper: Paper, rubric: Rubric, item: Item, answer: PaperAnswer | None
) -> dict[str, Any]:
    fields = {} if answer is None else answer.fields
    return {
        "item": item,
        "tags": list_tags(item),
        "typed": fields,
        "flagged": answer is not None and answer.flagged,
        "saved": answer is not None,
        "answered": any(text.strip() for text in fields.values()),
        "feedback": (
            _explain(rubric, item, fields)[0]
            if answer is not None and paper.mode is PaperMode.QUIZ
            else ()
        ),
        "id": make_id(),
    }


def _explain(
    rubric: Rubric, item: Item, fields: Mapping[str, str]
) -> tuple[tuple[AxisFeedback, ...], str]:
    output = build_answer(rubric, fields)
    breakdown = mark_answer(rubric, item, output)
    response = read_response(output, rubric.fields)
    told = explain_answer(rubric, item, response, breakdown)
    return told, format_decimal(breakdown.score, 2)


def _build_result(
    paper: Paper, rubric: Rubric, exam: Exam, answers: Mapping[str, PaperAnswer]
) -> dict[str, Any]:
    rows = []
    for item in exam.items:
        fields = answers[item.id].fields if item.id in answers else {}
        told, score = _explain(rubric, item, fields)
        written = " · ".join(text for text in fields.values() if text.strip())
        rows.append({"item": item, "written": written, "feedback": told, "score": score})
    judged = judge_paper(rubric, exam, answers)
    return {
        "paper": paper,
        "rows": rows,
        "score": format_decimal(judged.score, 4),
        "outcome": judged.outcome,
        "gate": judged.outcome and format_short(judged.outcome.gate.at_least),
    }


async def save_answers(request: WebRequest) -> Response:
    """Save the answers of a form: one item while typing, or a whole page without JavaScript."""
    form = await read_form(request)
    paper, rubric, exam, _ = await _load(request, own=True)
    now = datetime.now(UTC)
    if paper.handed_in is not None or is_time_up(paper, now):
        raise HTTPException(409, sentence("This paper is closed: it takes no more answers."))
    names = list_answer_fields(rubric)
    items = {item.id for item in exam.items}
    answers = [
        _read_answer(paper, item, form, names, now)
        for key in form
        if key.startswith("id-") and (item := key.removeprefix("id-")) in items
    ]
    await request.services.write(lambda store: store.learning.add_paper_answers(answers))
    if "quiet" in form:
        return Response(status_code=204)
    if form.get("go") == "hand-in":
        return redirect(f"/papers/{paper.id}/hand-in")
    only = answers[0].item if len(answers) == 1 else ""
    if paper.mode is PaperMode.QUIZ and only:
        return redirect(f"/papers/{paper.id}?item={only}")
    return redirect(f"/papers/{paper.id}")


def _read_answer(
    paper: Paper,
    item: str,
    form: Mapping[str, str],
    names: tuple[AnswerField, ...],
    now: datetime,
) -> PaperAnswer:
    fields = {field.name: form.get(f"{item}/{field.name}", "") for field in names}
    return PaperAnswer(
        id=form[f"id-{item}"],
        paper=paper.id,
        item=item,
        at=now,
        fields=fields,
        flagged=f"flag-{item}" in form,
    )


async def show_hand_in(request: WebRequest) -> Response:
    """Show the sheet before handing in: blanks and flags."""
    paper, rubric, exam, answers = await _load(request)
    if paper.handed_in is not None:
        return redirect(f"/papers/{paper.id}")
    questions = [_build_question(paper, rubric, item, answers.get(item.id)) for item in exam.items]
    return render(
        request,
        "hand_in.html",
        paper=paper,
        total=len(questions),
        blanks=[question["item"] for question in questions if not question["answered"]],
        flagged=[question["item"] for question in questions if question["flagged"]],
    )


async def hand_in(request: WebRequest) -> Response:
    """Hand a paper in."""
    paper, _, _, _ = await _load(request, own=True)
    return await _hand_in(request, paper)


async def _hand_in(request: WebRequest, paper: Paper) -> Response:
    place = request.services.pool.where
    # It opens a connection of its own: the writer must not wait for a score.
    await run_in_threadpool(hand_in_paper, place, paper.id)
    return redirect(f"/papers/{paper.id}")


async def show_json(request: WebRequest) -> Response:
    """Answer with the per-item JSON of a paper that was handed in."""
    paper, _, _, _ = await _load(request)
    if paper.handed_in is None:
        raise HTTPException(409, sentence("Hand the paper in first."))
    body = await request.services.read(lambda store: score_paper(store, paper))
    return Response(body, media_type="application/json")


async def _load(
    request: WebRequest, *, own: bool = False
) -> tuple[Paper, Rubric, Exam, dict[str, PaperAnswer]]:
    """Return a paper with its documents and answers: the learner's own, or to a teacher any."""
    id_, grant = request.path_params["paper"], request.grant
    learner = find_learner(request)

    def load(store: Store) -> tuple[Paper, Rubric, Exam, dict[str, PaperAnswer]]:
        paper = store.learning.find_paper(id_)
        is_teacher = not own and grant is not None and grant.role is Role.OWNER
        if paper is None or (paper.learner != learner and not is_teacher):
            raise HTTPException(404)
        check_not_forgotten(store, paper)
        rubric, exam = load_paper_documents(store, paper)
        return paper, rubric, exam, store.learning.list_paper_answers(id_)

    return await request.services.read(load)
