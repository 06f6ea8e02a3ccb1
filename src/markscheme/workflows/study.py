"""A rating study: make it from answers, logs or runs, and load it again.

A study is stored whole: its rubric and exam, the answers as raters see them, and what was drawn.
Nothing that is read from it depends on the files that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

import msgspec

from markscheme.keep import Grant, NewStudy, Role, Store, StoredStudy, StudyAnswer
from markscheme.mark.axes import CriteriaAxis
from markscheme.read.nfc import to_nfc
from markscheme.read.rating_scores import MetOrNot
from markscheme.vocabulary import (
    ChoiceAxis,
    Exam,
    Item,
    NoteAxis,
    Rubric,
    ScaleAxis,
    Transcript,
    UsageError,
    format_value,
    iterate_criteria,
)
from markscheme.weigh.rating_study import StudyDesign, draw_sample
from markscheme.workflows.rate import AnswersToRate, BlindAnswer, find_revealing_names
from markscheme.workflows.stored_runs import (
    StoredDocuments,
    build_exam_document,
    build_rubric_document,
)

StudyQuestionKind: TypeAlias = ScaleAxis | ChoiceAxis | MetOrNot | NoteAxis

BY_ANSWER, BY_AXIS = "answer", "axis"
LINK_LIFETIME = timedelta(days=30)
"""How long a rater can enter with a link; it can be used once."""
_MAX_NAME = 80
_NAME = re.compile(r"[^\W_][\w .+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyQuestion:
    """What a rater is asked about an answer: a scale, a choice, a criterion or a note.

    `text` is the question, or what the criterion says.
    """

    axis: str
    kind: StudyQuestionKind
    text: str
    title: str = ""
    criterion: str = ""

    @property
    def is_scored(self) -> bool:
        """Whether the question must be answered; a note need not be."""
        return not isinstance(self.kind, NoteAxis)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """How a study is made: who rates, how many of them each query, and what is drawn.

    `by` says whether a rater goes through all questions of one answer (`answer`) or through all
    answers of a query with one question (`axis`). `sample` is the size of a random sample of the
    queries; without it all are rated.
    """

    raters: Sequence[str]
    per_answer: int | None = None
    by: str = BY_ANSWER
    sample: int | None = None
    seed: int = 0
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingStudy:
    """A study with its documents. It does not change; marks and leases are read from the store."""

    stored: StoredStudy
    rubric: Rubric
    exam: Exam
    variants: Mapping[str, tuple[str, ...]]
    questions: Mapping[str, tuple[StudyQuestion, ...]]

    @property
    def id(self) -> str:
        """The id of the study. Unlike its name, it says nothing about what is compared."""
        return self.stored.id

    @property
    def design(self) -> StudyDesign:
        """What decides who rates what."""
        settings = self.stored.settings
        return StudyDesign(
            variants=self.variants, per_answer=settings["per_answer"], seed=settings["seed"]
        )

    @property
    def per_answer(self) -> int:
        """How many raters each query gets."""
        return int(self.stored.settings["per_answer"])

    @property
    def is_by_axis(self) -> bool:
        """Whether raters go through all answers of a query question by question."""
        return bool(self.stored.settings["by"] == BY_AXIS)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompt of each query."""
        return {item.id: item.prompt for item in self.exam.items if item.id in self.variants}

    @property
    def sample(self) -> Mapping[str, int] | None:
        """Size, seed and population of the random sample; `None` if every query is rated."""
        sample: Mapping[str, int] | None = self.stored.settings["sample"]
        return sample

    @property
    def revealing(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """The answers that name a variant or a family of models: item, variant, and the names."""
        return [tuple(entry) for entry in self.stored.settings["revealing"]]


def create_study(store: Store, to_rate: AnswersToRate, plan: StudyPlan) -> RatingStudy:
    """Store a study of these answers.

    Raises:
        UsageError: a name, the number of raters or the size of the sample is not possible.
    """
    raters = check_raters(plan.raters)
    per_answer = len(raters) if plan.per_answer is None else plan.per_answer
    if not 1 <= per_answer <= len(raters):
        raise UsageError(
            f"--per-answer {per_answer} with {len(raters)} raters; allowed: 1 to {len(raters)}"
        )
    if plan.by not in {BY_ANSWER, BY_AXIS}:
        raise UsageError(f"{format_value(plan.by)} is no way to rate; allowed: answer, axis")
    items = _list_answered_items(to_rate)
    chosen, sample = items, None
    if plan.sample is not None:
        if not 1 <= plan.sample <= len(items):
            raise UsageError(
                f"--sample {plan.sample} of {len(items)} queries with answers; "
                f"allowed: 1 to {len(items)}"
            )
        chosen = draw_sample(items, plan.sample, plan.seed)
        sample = {"size": plan.sample, "seed": plan.seed, "of": len(items)}
    answers = _sort_answers(to_rate.answers, chosen)
    settings = {
        "per_answer": per_answer,
        "by": plan.by,
        "seed": plan.seed,
        "sample": sample,
        "revealing": [
            [answer.item, answer.variant, list(names)]
            for answer, names in find_revealing_names(answers)
        ],
    }
    with store.transaction():
        new = NewStudy(
            name=_check_study_name(plan.name) if plan.name else _find_free_name(store),
            rubric=store.save_document(build_rubric_document(to_rate.rubric)),
            exam=store.save_document(build_exam_document(to_rate.exam)),
            settings=settings,
            raters=raters,
            answers=[_build_study_answer(answer) for answer in answers],
        )
        id_ = store.studies.create_study(new)
    return load_study(store, id_)


def create_rater_link(store: Store, study: RatingStudy, rater: str) -> str:
    """Return the token of a one-time link with which a rater enters the web app."""
    if rater not in study.stored.raters:
        allowed = ", ".join(study.stored.raters)
        raise UsageError(f"{format_value(rater)} is no rater of this study; allowed: {allowed}")
    grant = Grant(role=Role.RATER, scope=study.id, person=rater)
    return store.web_access.create_link(grant, landing=f"/rate/{study.id}", lifetime=LINK_LIFETIME)


def check_raters(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of raters; refuse empty, unprintable and repeated ones."""
    raters = tuple(to_nfc(name.strip()) for name in names)
    if not raters or not all(name and name.isprintable() for name in raters):
        raise UsageError("--raters needs names that can be printed, with commas between them")
    if any(len(name) > _MAX_NAME for name in raters):
        raise UsageError(f"the name of a rater has at most {_MAX_NAME} characters")
    if len(set(raters)) < len(raters):
        raise UsageError("--raters names somebody twice; each rater has one link")
    return raters


def _check_study_name(name: str) -> str:
    cleaned = to_nfc(name.strip())
    if len(cleaned) > _MAX_NAME or not _NAME.fullmatch(cleaned):
        message = f"{format_value(name)} is no name of a study; allowed: letters, digits, spaces"
        raise UsageError(f"{message} and . _ + - after the first one, at most {_MAX_NAME}")
    return cleaned


def _find_free_name(store: Store) -> str:
    taken = {study.name for study in store.studies.list_studies()}
    return next(
        name for number in range(1, len(taken) + 2) if (name := f"study-{number}") not in taken
    )


def _list_answered_items(to_rate: AnswersToRate) -> list[str]:
    answered = {answer.item for answer in to_rate.answers}
    return [item.id for item in to_rate.exam.items if item.id in answered]


def _sort_answers(answers: Sequence[BlindAnswer], items: Sequence[str]) -> list[BlindAnswer]:
    places = {item: at for at, item in enumerate(items)}
    kept = [answer for answer in answers if answer.item in places]
    return sorted(kept, key=lambda answer: (places[answer.item], answer.variant))


def _build_study_answer(answer: BlindAnswer) -> StudyAnswer:
    body: dict[str, Any] = {"text": answer.text}
    if answer.transcript is not None:
        body["transcript"] = msgspec.to_builtins(answer.transcript)
    return StudyAnswer(item=answer.item, variant=answer.variant, body=body)


def load_study(store: Store, name: str) -> RatingStudy:
    """Return a study by its name or id."""
    stored = store.studies.find_study(name)
    documents = StoredDocuments(store)
    rubric, exam = documents.load_rubric(stored.rubric), documents.load_exam(stored.exam)
    variants = store.studies.list_variants(stored.id)
    questions = {
        item.id: list_study_questions(rubric, item) for item in exam.items if item.id in variants
    }
    return RatingStudy(
        stored=stored, rubric=rubric, exam=exam, variants=variants, questions=questions
    )


class StudyCache:
    """Studies of one store whose documents were parsed before; a server reads them at each request.

    What can change is read anew: whether a study is closed.
    """

    def __init__(self, limit: int = 50) -> None:
        self._limit = limit
        self._known: dict[str, RatingStudy] = {}

    def load(self, store: Store, name: str) -> RatingStudy:
        """Return a study by its name or id."""
        stored = store.studies.find_study(name)
        known = self._known.get(stored.id)
        if known is not None:
            return replace(known, stored=stored)
        study = load_study(store, stored.id)
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[stored.id] = study
        return study


def list_study_questions(rubric: Rubric, item: Item) -> tuple[StudyQuestion, ...]:
    """Return what raters are asked about an answer: scales, choices, criteria, then notes."""
    rated: list[ScaleAxis | ChoiceAxis] = [*rubric.scales, *rubric.choices]
    questions = [
        StudyQuestion(axis=axis.name, kind=axis, text=axis.question, title=axis.title)
        for axis in rated
    ]
    for spec in rubric:
        if isinstance(spec.axis, CriteriaAxis):
            questions += [
                StudyQuestion(
                    axis=spec.name,
                    kind=MetOrNot.CRITERION,
                    text=criterion.says,
                    title=spec.title,
                    criterion=criterion.id,
                )
                for criterion in iterate_criteria(spec.axis.get_criteria(item))
                if criterion.check is None
            ]
    questions += [
        StudyQuestion(axis=note.name, kind=note, text=note.question, title=note.title)
        for note in rubric.notes
    ]
    return tuple(questions)


def read_blind_answers(store: Store, study: RatingStudy, item: str) -> dict[str, BlindAnswer]:
    """Return the answers to one query by variant, with what the agents did."""
    prompt = study.prompts[item]
    return {
        answer.variant: BlindAnswer(
            item=item,
            variant=answer.variant,
            prompt=prompt,
            text=answer.body["text"],
            transcript=_restore_transcript(answer.body.get("transcript")),
        )
        for answer in store.studies.read_answers(study.id, item)
    }


def _restore_transcript(data: Any) -> Transcript | None:
    return None if data is None else msgspec.convert(data, Transcript)
