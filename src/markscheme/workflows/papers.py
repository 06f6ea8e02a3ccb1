"""Exam papers of learners: open, export, hand in. A paper that is handed in is an ordinary run.

Blanks become empty answers: an item without an answer would be missing, and a mean over the others
would be higher than the paper deserves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import BytesIO
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from markscheme.keep import (
    OWN_LEARNER,
    DocumentReference,
    Paper,
    PaperAnswer,
    PaperMode,
    RunStatus,
    Store,
    open_store,
)
from markscheme.learn import build_answer
from markscheme.vocabulary import UsageError, dump_json, format_value
from markscheme.weigh.gates import GateOutcome
from markscheme.workflows.score import score
from markscheme.workflows.stored_runs import (
    StoredDocuments,
    build_exam_document,
    build_rubric_document,
)

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.vocabulary import Exam, Rubric

PORTAL_SOURCE = "portal"
"""The source of runs that learners handed in."""
GRACE = timedelta(seconds=30)
"""How long after its time a paper still takes answers: what was typed travels a while."""


def open_paper(  # noqa: PLR0913 - what a paper is made of
    store: Store,
    *,
    id_: str,
    learner: str,
    rubric: Rubric,
    exam: Exam,
    mode: PaperMode,
    minutes: int | None = None,
    now: datetime | None = None,
) -> Paper:
    """Open a paper; one that is there with this id is returned as it is."""
    paper = Paper(
        id=id_,
        learner=learner,
        rubric=store.save_document(build_rubric_document(rubric)),
        exam=store.save_document(build_exam_document(exam)),
        mode=mode,
        opened=now or datetime.now(UTC),
        minutes=minutes,
    )
    store.learning.open_paper(paper)
    return load_paper(store, id_)


def load_paper(store: Store, id_: str) -> Paper:
    """Return a paper by its id."""
    paper = store.learning.find_paper(id_)
    if paper is None:
        raise UsageError(f"there is no paper {format_value(id_)}")
    return paper


def is_time_up(paper: Paper, now: datetime) -> bool:
    """Whether the time of a paper is over, with a little grace."""
    return (
        paper.minutes is not None and now > paper.opened + timedelta(minutes=paper.minutes) + GRACE
    )


def load_paper_documents(store: Store, paper: Paper) -> tuple[Rubric, Exam]:
    """Return the rubric and the exam of a paper, as they were when it was opened."""
    documents = StoredDocuments(store)
    rubric = documents.load_rubric(_refer_to(store, paper.rubric))
    return rubric, documents.load_exam(_refer_to(store, paper.exam))


def _refer_to(store: Store, digest: str) -> DocumentReference:
    document = store.load_document(digest)
    return DocumentReference(
        digest=digest,
        name=document.name,
        version=document.version,
        fingerprint=document.fingerprint,
    )


def export_paper(store: Store, paper: Paper) -> list[dict[str, Any]]:
    """Return a paper as recorded answers, one row for each item of its exam, blanks included."""
    check_not_forgotten(store, paper)
    rubric, exam = load_paper_documents(store, paper)
    answers = store.learning.list_paper_answers(paper.id)
    return build_rows(rubric, exam, answers, paper.learner)


def check_not_forgotten(store: Store, paper: Paper) -> None:
    """Refuse a paper without its texts: marked again, all of it would be wrong."""
    if store.learning.is_forgotten(paper.learner):
        message = f"what paper `{paper.id}` said was removed"
        kept = f"; its run `{paper.run}` keeps the marks" if paper.run else ""
        raise UsageError(f"{message}{kept}")


def build_rows(
    rubric: Rubric, exam: Exam, answers: Mapping[str, PaperAnswer], learner: str
) -> list[dict[str, Any]]:
    """Return answers as recorded ones, one row for each item of the exam, blanks included."""
    return [
        {
            "item": item.id,
            "output": build_answer(rubric, answers[item.id].fields if item.id in answers else {}),
            "subject": learner,
        }
        for item in exam.items
    ]


def format_answers(rows: list[dict[str, Any]]) -> str:
    """Return recorded answers as JSON lines, which `score` reads."""
    return "".join(f"{dump_json(row)}\n" for row in rows)


def hand_in_paper(place: str | Path, id_: str) -> str:
    """Close a paper, score it and store it as a run; return the run's id.

    It can be called again at any moment, also by two at once: a paper becomes one run, also if the
    process was killed between scoring and recording.
    """
    with open_store(place, create=False) as store:
        load_paper(store, id_)
        store.learning.lock_paper(id_)
        paper = load_paper(store, id_)
        if paper.run is not None:
            return paper.run
        store.learning.hand_in_paper(id_)
        run = _find_finished_run(store, id_)
        if run is not None:
            store.learning.record_paper_run(id_, run)
            return run
        rubric, exam = load_paper_documents(store, paper)
        rows = export_paper(store, paper)
        result = score(rubric, exam, rows, store=place, tag=_build_tag(id_), source=PORTAL_SOURCE)
        store.learning.record_paper_run(id_, result.run_ids[0])
        return result.run_ids[0]


def _build_tag(paper: str) -> str:
    return f"paper-{paper}"


def _find_finished_run(store: Store, paper: str) -> str | None:
    tags = {tag.name: tag.run for tag in store.list_tags()}
    run = tags.get(_build_tag(paper))
    if run is None or store.find_run(run).status is not RunStatus.FINISHED:
        return None
    return run


class JudgedPaper(Struct, frozen=True, kw_only=True):
    """What a paper is worth: its exact mean, and what the gate on the score says of it."""

    score: Fraction | None
    outcome: GateOutcome | None


def judge_paper(
    rubric: Rubric, exam: Exam, answers: Mapping[str, PaperAnswer], learner: str = OWN_LEARNER
) -> JudgedPaper:
    """Score a paper and judge it by the first gate on the score that is about its exam."""
    result = score(rubric, exam, build_rows(rubric, exam, answers, learner))
    outcomes = {outcome.gate.name: outcome for outcome in result.judge().outcomes}
    named = (
        outcomes.get(one.name)
        for one in rubric.gates
        if one.metric == "score" and set(exam.names) <= set(one.exams or exam.names)
    )
    return JudgedPaper(score=result.summary.score, outcome=next(named, None))


def score_paper(store: Store, paper: Paper) -> bytes:
    """Return the JSON document of a paper: what `score --format json` prints of its export."""
    from markscheme.workflows.sinks import JsonStream

    rubric, exam = load_paper_documents(store, paper)
    stream = BytesIO()
    score(rubric, exam, export_paper(store, paper), sinks=[JsonStream(stream)])
    return stream.getvalue()
