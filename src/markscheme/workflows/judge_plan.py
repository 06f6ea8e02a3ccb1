"""Plan of a judged run: which calls ask a judge or a panel about which answers.

Equal questions are one call: the key of a call holds the judge's subject, parameters and words, and
neither the item nor who answered.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from markscheme.ask.judging import (
    JudgedTexts,
    JudgePrompt,
    JudgeQuestion,
    ask_choice,
    ask_criterion,
    ask_scale,
    build_judge_prompt,
    fingerprint_axes,
    name_questions,
    split_questions,
)
from markscheme.ask.questions import Question, ScheduledQuestion
from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.subjects import Subject
from markscheme.mark.axes import CriteriaAxis
from markscheme.read.documents import hash_parts, to_canonical_json
from markscheme.vocabulary import (
    Answer,
    Criteria,
    Criterion,
    CriterionGroup,
    ErrorCollector,
    Exam,
    Item,
    Judge,
    JudgeSight,
    Panel,
    Rubric,
    UsageError,
    compute_digest,
)
from markscheme.workflows.run_plan import Settings, build_subjects, refuse_keys_in_arguments

_SHOWN_DIGEST = slice(3, 13)  # the characters of a digest that tell two calls of an item apart


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One call: its words, which questions it asks, and in which order and repeat.

    `name` is the item of the first answer that needs it, with a digest of the words. Recordings
    know calls by it.
    """

    name: str
    judge: Judge
    prompt: JudgePrompt
    questions: tuple[JudgeQuestion, ...]
    order: int
    repeat: int

    def build_question(self, attempt: int) -> Question:
        """Return the call as the question of a live run; a later attempt asks the same anew."""
        return Question(
            item=self.name,
            prompt=self.prompt.user,
            system=self.prompt.system,
            user=self.prompt.user,
            schema=self.prompt.schema,
            attempt=attempt,
        )

    def compute_key(self, subject: str, parameters: Mapping[str, Any], attempt: int) -> str:
        """Return the key of one attempt: equal words to the same subject have the same key."""
        content = {
            "subject": subject,
            "parameters": parameters,
            "words": self._words,
            "try": attempt,
        }
        return compute_digest(json.dumps(content, sort_keys=True).encode())

    @property
    def _words(self) -> list[Any]:
        prompt = self.prompt
        return [prompt.system, prompt.user, prompt.schema, self.order, self.repeat]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCalls:
    """An answer with the questions about it, and its calls by judge, repeat, order and part."""

    answer: Answer
    questions: tuple[JudgeQuestion, ...]
    calls: Mapping[tuple[str, int, int], tuple[JudgeCall, ...]]


@dataclass(frozen=True, kw_only=True)
class JudgePlan:
    """All calls of a judged run, each once, in an order that the seed draws.

    `asked_subjects` are the subjects as the judges' documents name them; the session knows each
    by the name of its judge, because two judges of a panel may be the same model. `questions` are
    those about all items of the exam, also of items that have no answer.
    """

    judge: Judge | Panel
    exam: Exam
    answers: tuple[AnswerCalls, ...]
    subjects: tuple[Subject, ...]
    asked_subjects: Mapping[str, str]
    limits: RunLimits
    seed: int = 0
    resume: bool = False
    cache: bool = False
    remarks: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    questions: tuple[JudgeQuestion, ...] = ()

    @cached_property
    def calls(self) -> tuple[JudgeCall, ...]:
        """Every call once: of equal ones the first."""
        found: dict[str, JudgeCall] = {}
        for answer in self.answers:
            for calls in answer.calls.values():
                for call in calls:
                    found.setdefault(self.get_key(call), call)
        return tuple(found.values())

    @cached_property
    def fingerprints(self) -> Mapping[str, Mapping[str, str]]:
        """The hashes of what each axis asks, and of what is asked in the same calls."""
        return fingerprint_questions(self.judge, self.questions)

    @cached_property
    def _keys(self) -> dict[int, str]:
        return {}

    def get_key(self, call: JudgeCall) -> str:
        """Return the key of the first attempt at a call."""
        if id(call) not in self._keys:
            self._keys[id(call)] = self.compute_key(call, 1)
        return self._keys[id(call)]

    def compute_key(self, call: JudgeCall, attempt: int) -> str:
        """Return the key of an attempt at a call."""
        name = call.judge.name
        subject = next(subject for subject in self.subjects if subject.name == name)
        return call.compute_key(self.asked_subjects[name], subject.parameters, attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRound:
    """The calls that are asked at a time: all of them, then again those with a refused reply.

    A later round has a journal of its own, and nothing in it comes from the cache.
    """

    plan: JudgePlan
    calls: Sequence[JudgeCall]
    attempt: int
    limits: RunLimits

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The subjects of the judges, by the names of the judges."""
        return self.plan.subjects

    @property
    def subject_names(self) -> list[str]:
        """The names of the judges."""
        return [subject.name for subject in self.plan.subjects]

    @property
    def session_name(self) -> str:
        """The name under which the journal keeps the replies."""
        again = f", try {self.attempt}" if self.attempt > 1 else ""
        return f"{self.plan.exam.name}, judged by {self.plan.judge.name}{again}"

    @property
    def questions(self) -> int:
        """How many calls there are."""
        return len(self.calls)

    @property
    def seed(self) -> int:
        """The seed of the waits between tries."""
        return self.plan.seed

    @property
    def resume(self) -> bool:
        """Whether replies of an earlier session are taken."""
        return self.plan.resume

    @property
    def cache(self) -> bool:
        """Whether replies are taken from the cache, and kept there."""
        return self.plan.cache and self.attempt == 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know before the first call."""
        return self.plan.remarks if self.attempt == 1 else ()

    def generate_asks(self) -> Iterator[ScheduledQuestion]:
        """Yield the calls in their order."""
        for order, call in enumerate(self.calls):
            yield ScheduledQuestion(
                key=self.plan.compute_key(call, self.attempt),
                subject=call.judge.name,
                question=call.build_question(self.attempt),
                order=order,
            )


def build_judge_plan(
    rubric: Rubric,
    exam: Exam,
    answers: Iterable[Answer],
    judge: Judge | Panel,
    settings: Settings,
) -> JudgePlan:
    """Build the plan of a judged run; refuse all that is wrong with it before anything is asked."""
    subjects = build_judge_subjects(judge, settings)
    questions = list_exam_questions(rubric, exam)
    if not any(questions.values()):
        why = f"the rubric `{rubric.name}` and the exam `{exam.name}` ask nothing of a judge"
        raise UsageError(f"{why}; a judge marks scales, choices, and criteria that say something")
    criteria = [spec.axis.expects for spec in rubric if isinstance(spec.axis, CriteriaAxis)]
    builder = _CallBuilder(
        judge=judge, exam=exam, questions=questions, hidden=criteria, seed=settings.seed
    )
    return JudgePlan(
        judge=judge,
        exam=exam,
        answers=tuple(builder.build_calls(answer) for answer in _shuffle(answers, settings.seed)),
        subjects=subjects,
        asked_subjects={member.name: member.subject for member in judge.judges},
        limits=settings.limits,
        seed=settings.seed,
        resume=settings.resume,
        cache=settings.cache,
        settings=settings,
        questions=tuple(chain.from_iterable(questions.values())),
    )


def build_judge_subjects(judge: Judge | Panel, settings: Settings) -> tuple[Subject, ...]:
    """Create the subject of each judge, with the options that its document states.

    What a document leaves open, such as the price, comes from the settings.
    """
    subjects: list[Subject] = []
    with ErrorCollector() as mistakes:
        for member in judge.judges:
            own = replace(settings, **_list_stated_options(member))
            asked = f"replay:{member.recording}" if member.recording else member.subject
            with mistakes.collect_error():
                refuse_keys_in_arguments([asked], own)
                for subject in build_subjects([asked], own, mistakes, judging=True):
                    subject.name = member.name
                    subjects.append(subject)
    return tuple(subjects)


def _list_stated_options(judge: Judge) -> dict[str, Any]:
    """Return the options of asking that a judge's document states.

    Temperature and length of a recorded judge are those of its recording; nothing is sent.
    """
    names = ["base_url", "key_env", "price"]
    names += [] if judge.is_recorded else ["temperature", "max_tokens"]
    stated = {name: getattr(judge, name) for name in names}
    return {name: value for name, value in stated.items() if value is not None}


def _shuffle(answers: Iterable[Answer], seed: int) -> list[Answer]:
    """Return answers item by item, in an order that depends on the seed and on no file or name.

    The answers to an item stay together: the calls about them begin with the same words.
    """
    by_item: dict[str, list[Answer]] = {}
    for answer in answers:
        by_item.setdefault(answer.item, []).append(answer)
    items = sorted(by_item)
    random.Random(f"judge {seed}").shuffle(items)  # noqa: S311 - no secret
    return [answer for item in items for answer in sorted(by_item[item], key=get_output_text)]


def get_output_text(answer: Answer) -> str:
    """Return the output of an answer as the text that a judge sees."""
    if isinstance(answer.output, str):
        return answer.output
    return json.dumps(answer.output, ensure_ascii=False)


def list_exam_questions(rubric: Rubric, exam: Exam) -> dict[str, tuple[JudgeQuestion, ...]]:
    """Return what a judge is asked about an answer to each item, by the item's id."""
    return {item.id: list_item_questions(rubric, item) for item in exam.items}


def list_item_questions(rubric: Rubric, item: Item) -> tuple[JudgeQuestion, ...]:
    """Return what a judge is asked about an answer to an item: scales, choices, then criteria.

    A criterion that a check decides is not asked.
    """
    questions = [ask_scale(axis) for axis in rubric.scales]
    questions += [ask_choice(axis) for axis in rubric.choices]
    for spec in rubric:
        if isinstance(spec.axis, CriteriaAxis):
            criteria = _iterate_signed(spec.axis.get_criteria(item))
            questions += [
                ask_criterion(spec.name, criterion, costs=costs)
                for criterion, costs in criteria
                if criterion.check is None
            ]
    return name_questions(questions)


def fingerprint_questions(
    judge: Judge | Panel, questions: Iterable[JudgeQuestion]
) -> dict[str, dict[str, str]]:
    """Return the hashes of what each axis asks, and of what is asked in the same calls.

    What stands in one call with a question may change its answer. With `calls: each` nothing does.
    """
    axes = fingerprint_axes(questions)
    shares_calls = any(member.calls is not None for member in judge.judges)
    together = hash_parts("call/1", sorted(axes.values())) if shares_calls else None
    return {
        axis: {
            "axis_fingerprint": own,
            "call_fingerprint": together or hash_parts("call/1", [own]),
        }
        for axis, own in axes.items()
    }


def _iterate_signed(criteria: Criteria, *, costs: bool = False) -> Iterator[tuple[Criterion, bool]]:
    """Yield every criterion, and whether meeting it costs points; a group can turn that round."""
    for entry in criteria:
        is_costly = costs != (entry.points < 0)
        if isinstance(entry, CriterionGroup):
            yield from _iterate_signed(entry.criteria, costs=is_costly)
        else:
            yield entry, is_costly


@dataclass(frozen=True, kw_only=True)
class _CallBuilder:
    """Builds the calls about answers to the items of one exam."""

    judge: Judge | Panel
    exam: Exam
    questions: Mapping[str, tuple[JudgeQuestion, ...]]
    hidden: Collection[str]
    seed: int

    @cached_property
    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.exam.items}

    def build_calls(self, answer: Answer) -> AnswerCalls:
        """Return the calls about one answer: by judge, repeat and order, part by part."""
        item, questions = self._items[answer.item], self.questions[answer.item]
        texts = JudgedTexts(
            prompt=item.prompt, answer=get_output_text(answer), reference=self._get_reference(item)
        )
        calls: dict[tuple[str, int, int], tuple[JudgeCall, ...]] = {}
        for judge in self.judge.judges:
            parts = split_questions(questions, judge.calls)
            prompts = [
                [self._build_prompt(judge, texts, part, order) for part in parts]
                for order in range(judge.orders)
            ]
            for repeat, order in product(range(judge.repeats), range(judge.orders)):
                calls[judge.name, repeat, order] = tuple(
                    self._build_call(item, judge, prompt, part, order, repeat)
                    for prompt, part in zip(prompts[order], parts, strict=True)
                )
        return AnswerCalls(answer=answer, questions=questions, calls=calls)

    def _build_prompt(
        self, judge: Judge, texts: JudgedTexts, part: Sequence[JudgeQuestion], order: int
    ) -> JudgePrompt:
        return build_judge_prompt(judge, texts, part, seed=self.seed, is_reversed=order == 1)

    @staticmethod
    def _build_call(
        item: Item,
        judge: Judge,
        prompt: JudgePrompt,
        part: tuple[JudgeQuestion, ...],
        order: int,
        repeat: int,
    ) -> JudgeCall:
        words = json.dumps([prompt.system, prompt.user, order, repeat]).encode()
        return JudgeCall(
            name=f"{item.id}/{compute_digest(words)[_SHOWN_DIGEST]}",
            judge=judge,
            prompt=prompt,
            questions=part,
            order=order,
            repeat=repeat,
        )

    def _get_reference(self, item: Item) -> str:
        """Return what is expected of an answer, as text, if a judge may see it.

        That is all that the axes expect, but not the criteria, which the judge is asked about.
        """
        if not any(JudgeSight.REFERENCE in judge.sees for judge in self.judge.judges):
            return ""
        stated = item.expectations.items()
        expected = {key: value for key, value in stated if key not in self.hidden}
        if set(expected) == {"reference"} and isinstance(expected["reference"], str):
            return expected["reference"]
        return to_canonical_json(expected) if expected else ""
