"""Small rubrics, exams and judges for the tests of judging."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply
from markscheme.ask.subjects import BaseSubject
from markscheme.read.documents import read_judge
from markscheme.vocabulary import Answer, Exam, Judge, Panel, Rubric
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge import execute_judge_plan
from markscheme.workflows.judge_plan import JudgePlan, build_judge_plan
from markscheme.workflows.judged_ratings import JudgedRatings
from markscheme.workflows.run_plan import Settings

RUBRIC = """\
rubric: letters
axes:
  - {name: facts, kind: criteria, points: 3}
  - {name: tone, kind: choice, points: 1, question: "Which tone?", options: {kind: 1, rude: 0}}
  - name: clear
    kind: scale
    points: 2
    question: How clear is it?
    anchors: {1: muddled, 2: plain, 3: crisp}
"""
EXAM = """\
exam: letters
items:
  - id: dose
    prompt: Tell the dose.
    criteria:
      - {id: c1, points: 2, says: Names the dose.}
      - {id: c2, points: -1, says: Invents a source.}
      - {id: c3, points: 1, check: {kind: contains_all, expected_contains: [mg]}}
  - id: hour
    prompt: Tell the hour.
    criteria:
      - {id: c1, points: 1, says: Names the hour.}
"""
VERDICTS = {"c1": True, "c2": False, "tone": "kind", "clear": 3}

ReplyFunction = Callable[[Question, list[str]], str | Reply]


def load_documents(folder: Path, rubric: str = RUBRIC, exam: str = EXAM) -> tuple[Rubric, Exam]:
    """Write a rubric and an exam to a folder, and load them."""
    (folder / "rubric.yaml").write_text(rubric, encoding="utf-8")
    (folder / "exam.yaml").write_text(exam, encoding="utf-8")
    loaded = load_rubric(folder / "rubric.yaml")
    return loaded, load_exam(folder / "exam.yaml", rubric=loaded)


def make_judge(folder: Path, name: str = "strict", **keys: Any) -> Judge | Panel:
    """Write the document of a judge, and read it."""
    keys = {"judge": name, "subject": "openai:m", **keys}
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(keys), encoding="utf-8")
    return read_judge(path)


def list_ids(question: Question) -> list[str]:
    """Return the ids that a question asks for, in its order."""
    marks = (question.schema or {})["properties"]["marks"]
    return list(marks["items"]["properties"]["id"]["enum"])


def reply_with(verdicts: Mapping[str, Any]) -> ReplyFunction:
    """Return a judge that always says the same of each id."""

    def say(_: Question, ids: list[str]) -> str:
        return json.dumps({"marks": [_mark(id_, verdicts[id_]) for id_ in ids]})

    return say


def _mark(id_: str, verdict: Any) -> dict[str, Any]:
    return {"id": id_, "why": f"why {id_}", "verdict": verdict}


class ScriptedJudge(BaseSubject):
    """A judge whose replies a function gives; it keeps every question."""

    def __init__(self, name: str, say: ReplyFunction) -> None:
        self.name = name
        self.parameters: Mapping[str, Any] = {}
        self.asked: list[Question] = []
        self._say = say

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        said = self._say(question, list_ids(question))
        return said if isinstance(said, Reply) else Reply(text=said, finish_reason="stop")


def plan_judging(
    folder: Path, judge: Judge | Panel, answers: Iterable[Answer], **settings: Any
) -> JudgePlan:
    """Return the plan of a judged run over the small exam."""
    rubric, exam = load_documents(folder)
    return build_judge_plan(rubric, exam, answers, judge, Settings.from_mapping(settings))


def run_judges(plan: JudgePlan, *judges: ScriptedJudge, store: Path | None = None) -> JudgedRatings:
    """Carry out a plan with scripted judges."""
    return execute_judge_plan(replace(plan, subjects=judges), store=store, skip=store is None)


def scores_of(judged: JudgedRatings) -> dict[tuple[str, str], list[Any]]:
    """Return the scores that count, by item and by criterion or axis."""
    found: dict[tuple[str, str], list[Any]] = {}
    for rating in judged.ratings:
        key = (rating.item, rating.criterion or rating.axis)
        found.setdefault(key, []).append(rating.score)
    return found
