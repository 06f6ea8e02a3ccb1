"""Calibrate a judge: ask it about what people have rated, measure it, decide, and store the record.

The steps: read people's ratings and refuse judges' among them; ask the canaries; ask the judge
about the rated answers; ask a few of them again in both orders; measure axis by axis; store.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec import structs

from markscheme.ask.judging import JudgeQuestion, settle_panel
from markscheme.keep import open_store
from markscheme.mark import mark_answer
from markscheme.mark.axes import MarkedAxis
from markscheme.read.documents import read_judge
from markscheme.read.marks import AnswerKey, group_marks, read_mark_ratings
from markscheme.read.rating_scores import find_questions
from markscheme.vocabulary import (
    Answer,
    Exam,
    FrozenDict,
    InputError,
    Judge,
    MarkSource,
    Outcome,
    Panel,
    Problem,
    Rating,
    RowError,
    Rubric,
    UsageError,
    format_value,
    sentence,
)
from markscheme.weigh.calibration import (
    LEAST_FOR_PREDICTION,
    AnswerFacts,
    AxisCalibration,
    Calibration,
    CalibrationReason,
    Prediction,
    Probe,
    ReasonCode,
    SampleRecord,
    measure_axis,
    pair_ratings,
    predict_mean,
)
from markscheme.workflows.canaries import (
    BUILT_IN_CANARIES,
    CanaryRun,
    ask_canaries,
    is_replayed,
    load_canaries,
)
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge import execute_judge_plan, limit_cost, probe_judge
from markscheme.workflows.judge_files import load_answers
from markscheme.workflows.judge_plan import (
    JudgePlan,
    build_judge_plan,
    fingerprint_questions,
    get_output_text,
    list_exam_questions,
)
from markscheme.workflows.judged_ratings import JudgedRatings, describe_judge
from markscheme.workflows.live_session import NULL_OBSERVER, RunObserver
from markscheme.workflows.output_files import write_file_atomically
from markscheme.workflows.run_plan import Settings

if TYPE_CHECKING:
    from markscheme.read.rating_rows import RatingSource
    from markscheme.workflows.scoring_session import Answers

NEEDED_KAPPA = Fraction(3, 5)
"""The kappa that the lower bound has to reach: agreement that is called substantial."""
VALID_DAYS = 90
PROBED_ANSWERS = 20


class Sample(NamedTuple):
    """The answers that people were asked to rate: `size` of all, drawn by `seed`."""

    size: int
    seed: int


def calibrate(  # noqa: PLR0913 - one parameter for each option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path | Sequence[str | Path],
    answers: Answers,
    judge: Judge | Panel | str | Path | None = None,
    *,
    ratings: RatingSource,
    judged: RatingSource | None = None,
    canaries: str | Path = BUILT_IN_CANARIES,
    at_least: Decimal | Fraction | float | str = NEEDED_KAPPA,
    days: int = VALID_DAYS,
    sample: tuple[int, int] | None = None,
    all_answers: bool = False,
    store: str | Path | None = None,
    observer: RunObserver = NULL_OBSERVER,
    **settings: Any,
) -> Calibration:
    """Measure a judge against people's ratings, and decide whether gates may rest on it.

    `judge` is asked about the rated answers; with `all_answers` about all of them, which corrects
    its mean. `judged` are recorded ratings of a judge in its place; nobody knows how it was asked,
    so such a calibration allows nothing. `sample` is the size and the seed of the random sample
    that people rated. With `store` the calibration is recorded there, for `days` days. `settings`
    are options of `markscheme judge` by name.

    Raises:
        UsageError: arguments that do not go together.
        InputError: a document or a rating is not valid.
    """
    request, _ = read_calibration_request(
        rubric,
        exam,
        answers,
        judge,
        ratings=ratings,
        judged=judged,
        canaries=canaries,
        at_least=at_least,
        days=days,
        sample=sample,
        all_answers=all_answers,
        **settings,
    )
    return execute_calibration(request, store=store, skip=store is None, observer=observer)


def read_calibration_request(  # noqa: PLR0913 - one parameter for each option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path | Sequence[str | Path],
    answers: Answers,
    judge: Judge | Panel | str | Path | None,
    *,
    ratings: RatingSource,
    judged: RatingSource | None,
    canaries: str | Path,
    at_least: Decimal | Fraction | float | str,
    days: int,
    sample: tuple[int, int] | None,
    all_answers: bool,
    **settings: Any,
) -> tuple[CalibrationRequest, list[RowError]]:
    """Read and check what `calibrate` is given; return it, and the rows that are no answers."""
    if (judge is None) == (judged is None):
        raise UsageError(
            "name a judge to ask with --judge, or its recorded ratings with --judged; one of them"
        )
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    if not isinstance(exam, Exam):
        exam = load_exam(*((exam,) if isinstance(exam, str | Path) else exam), rubric=rubric)
    if isinstance(judge, str | Path):
        judge = read_judge(judge)
    found, bad_rows = load_answers(exam, answers)
    request = CalibrationRequest(
        rubric=rubric,
        exam=exam,
        answers=tuple(found),
        judge=judge,
        people=_read_people(ratings, rubric, exam, judge),
        judged=None if judged is None else _read_judged(judged, rubric, exam),
        canaries=canaries,
        needed=_parse_needed(at_least),
        days=days,
        sample=None if sample is None else Sample(*sample),
        all_answers=all_answers,
        settings=Settings.from_mapping(settings),
    )
    return request, bad_rows


def write_sample(
    path: Path,
    rubric: str | Path,
    exam: Sequence[str | Path],
    answers: str | Path,
    sample: tuple[int, int],
) -> int:
    """Write the answers of a random sample to a file, for people to rate; return how many."""
    loaded = load_exam(*exam, rubric=load_rubric(rubric))
    drawn = draw_sample(load_answers(loaded, answers)[0], Sample(*sample))
    rows = (
        {
            "item": answer.item,
            "output": answer.output,
            **({} if answer.subject is None else {"subject": answer.subject}),
            "attempt": answer.attempt,
        }
        for answer in drawn
    )
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    write_file_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return len(drawn)


@dataclass(frozen=True, kw_only=True)
class CalibrationRequest:
    """What is to be calibrated, all read and checked, before anything is asked."""

    rubric: Rubric
    exam: Exam
    answers: tuple[Answer, ...]
    judge: Judge | Panel | None
    people: tuple[Rating, ...]
    judged: tuple[Rating, ...] | None = None
    canaries: str | Path = BUILT_IN_CANARIES
    needed: Fraction = NEEDED_KAPPA
    days: int = VALID_DAYS
    sample: Sample | None = None
    all_answers: bool = False
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        _check_rated(self.people, self.answers)
        if self.sample is not None:
            self._check_sample(self.sample)
        if self.days < 1:
            raise UsageError("a calibration counts for at least one day")

    @property
    def rated(self) -> tuple[Answer, ...]:
        """The answers that people rated."""
        keys = {_get_rating_key(rating) for rating in self.people}
        return tuple(answer for answer in self.answers if _get_answer_key(answer) in keys)

    @property
    def asked(self) -> tuple[Answer, ...]:
        """The answers that the judge is asked about."""
        return self.answers if self.all_answers else self.rated

    @cached_property
    def plan(self) -> JudgePlan | None:
        """The calls about the answers; None if the ratings are recorded."""
        if self.judge is None:
            return None
        return build_judge_plan(self.rubric, self.exam, self.asked, self.judge, self.settings)

    @property
    def calls(self) -> int:
        """How many calls there are about the answers, without canaries and probes."""
        return 0 if self.plan is None else len(self.plan.calls)

    def _check_sample(self, sample: Sample) -> None:
        drawn = {_get_answer_key(answer) for answer in draw_sample(self.answers, sample)}
        rated = {_get_answer_key(answer) for answer in self.rated}
        if drawn == rated:
            return
        message = f"the rated answers are not the {sample.size} that the seed {sample.seed} draws"
        raise UsageError(
            f"{message}: {len(drawn - rated)} of them are not rated, and {len(rated - drawn)}"
            " others are; rate the sample of --draw, or leave --sample out"
        )


def draw_sample(answers: Sequence[Answer], sample: Sample) -> list[Answer]:
    """Return a random sample of answers; equal answers and an equal seed give an equal sample."""
    if not 1 <= sample.size <= len(answers):
        raise UsageError(f"a sample of {sample.size} cannot be drawn from {len(answers)} answers")
    ordered = sorted(answers, key=_get_answer_key)
    drawn = random.Random(f"sample {sample.seed}")  # noqa: S311 - no secret
    return drawn.sample(ordered, sample.size)


def _get_answer_key(answer: Answer) -> AnswerKey:
    return AnswerKey(answer.item, answer.subject or "", answer.attempt)


def _get_rating_key(rating: Rating) -> AnswerKey:
    return AnswerKey(rating.item, rating.variant, rating.attempt)


def _parse_needed(value: Decimal | Fraction | float | str) -> Fraction:
    try:
        needed = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError, OverflowError):
        needed = Fraction(-1)
    if not 0 < needed < 1:
        raise UsageError(f"{format_value(str(value))} is no kappa to ask for; allowed: 0 to 1")
    return needed


def _read_people(
    source: RatingSource, rubric: Rubric, exam: Exam, judge: Judge | Panel | None
) -> tuple[Rating, ...]:
    """Return people's ratings; refuse those of judges among them."""
    ratings = read_mark_ratings(source, rubric, exam)
    names = set() if judge is None else {judge.name, *(member.name for member in judge.judges)}
    problems = []
    for rating in ratings:
        why = ""
        if rating.source is MarkSource.JUDGE:
            why = (
                f"{format_value(rating.rater)} is a judge; a judge is measured against people only"
            )
        elif rating.rater in names:
            why = f"{format_value(rating.rater)} is the judge that is calibrated, not a person"
        if why:
            column = "source" if rating.source is MarkSource.JUDGE else "rater"
            problems.append(
                Problem(file=rating.file or "ratings", line=rating.line, field=column, message=why)
            )
    if problems:
        raise InputError(problems)
    if not any(rating.score is not None for rating in ratings):
        raise UsageError("the ratings hold no score that a judge could be compared with")
    return ratings


def _read_judged(source: RatingSource, rubric: Rubric, exam: Exam) -> tuple[Rating, ...]:
    """Return recorded ratings of one judge; refuse people's among them."""
    ratings = read_mark_ratings(source, rubric, exam)
    problems = [
        Problem(
            file=rating.file or "ratings",
            line=rating.line,
            field="source",
            message="is no judge's; give people's ratings with --ratings",
        )
        for rating in ratings
        if rating.source is not MarkSource.JUDGE
    ]
    if problems:
        raise InputError(problems)
    raters = sorted({rating.rater for rating in ratings})
    if len(raters) > 1:
        raise UsageError(f"one judge is calibrated at a time; these are {', '.join(raters)}")
    return ratings


def _check_rated(people: Iterable[Rating], answers: Sequence[Answer]) -> None:
    """Refuse ratings of answers that are not there: the judge could not be asked about them."""
    known = {_get_answer_key(answer) for answer in answers}
    first: dict[AnswerKey, Rating] = {}
    for rating in people:
        if _get_rating_key(rating) not in known:
            first.setdefault(_get_rating_key(rating), rating)
    problems = [
        Problem(
            file=rating.file or "ratings",
            line=rating.line,
            field="item",
            message=f"there is no answer{_name_variant(key)} to {format_value(key.item)}",
        )
        for key, rating in first.items()
    ]
    if problems:
        raise InputError(problems)


def _name_variant(key: AnswerKey) -> str:
    of = f" of {format_value(key.variant)}" if key.variant else ""
    return f"{of}, attempt {key.attempt}," if key.attempt > 1 else of


def execute_calibration(
    request: CalibrationRequest,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    observer: RunObserver = NULL_OBSERVER,
) -> Calibration:
    """Ask the judge, measure it, and record the calibration; with `skip` no store is opened."""
    asked = _ask_judge(request, store, skip=skip, observer=observer)
    axes = _measure_axes(request, asked)
    with ExitStack() as stack:
        opened = None if skip else stack.enter_context(open_store(store, create=True))
        made = datetime.now(UTC) if opened is None else opened.current_time
        calibration = _build_calibration(request, asked, axes, made)
        if opened is None:
            return calibration
        id_ = opened.save_calibration(
            judge=str(calibration.judge["name"]),
            outcome=calibration.outcome.value,
            body=calibration.to_dict(),
        )
        return replace(calibration, id=id_)


@dataclass(frozen=True, kw_only=True)
class _AskedJudge:
    """Everything that the judge said: about canaries, rated answers, and a few of them again."""

    ratings: tuple[Rating, ...]
    judged: JudgedRatings | None = None
    canaries: CanaryRun | None = None
    probes: tuple[Probe, ...] = ()
    spent: tuple[JudgedRatings, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def served(self) -> Mapping[str, tuple[str, ...]]:
        """The models that answered, by judge."""
        found: dict[str, set[str]] = {}
        for judged in self.spent:
            for name, models in judged.served.items():
                found.setdefault(name, set()).update(models)
        return {name: tuple(sorted(models)) for name, models in found.items()}

    @property
    def stopped(self) -> str | None:
        """Why not everything was asked; None if it was."""
        return next((judged.stopped for judged in self.spent if judged.stopped), None)


def _ask_judge(
    request: CalibrationRequest, store: str | Path | None, *, skip: bool, observer: RunObserver
) -> _AskedJudge:
    judge, settings, plan = request.judge, request.settings, request.plan
    if judge is None or plan is None:
        return _AskedJudge(ratings=request.judged or (), remarks=(_describe_recorded_ratings(),))
    spent: list[JudgedRatings] = []
    canaries: CanaryRun | None = None
    probes: tuple[Probe, ...] = ()
    remarks: list[str] = []
    if is_replayed(judge):
        remarks.append(
            sentence("a replayed judge knows only what was recorded: no canaries, no second order")
        )
    else:
        entries = load_canaries(request.canaries, request.rubric, request.exam, settings.seed)
        if entries:
            canaries = ask_canaries(request.rubric, request.exam, judge, entries, settings)
            spent.append(canaries.judged)
    judged = execute_judge_plan(limit_cost(plan, spent), store=store, skip=skip, observer=observer)
    spent.append(judged)
    if not is_replayed(judge) and judged.stopped is None:
        asked_again = _build_probe_plan(request, judge)
        found, again = _ask_probes(limit_cost(asked_again, spent), judge)
        probes = tuple(found)
        spent.append(again)
    return _AskedJudge(
        ratings=judged.ratings,
        judged=judged,
        canaries=canaries,
        probes=probes,
        spent=tuple(spent),
        remarks=(*remarks, *judged.remarks),
    )


def _describe_recorded_ratings() -> str:
    return sentence(
        "a file of ratings does not say how the judge was asked, so no gate may rest on this"
        " calibration"
    )


def _build_probe_plan(request: CalibrationRequest, judge: Judge | Panel) -> JudgePlan:
    """Return the plan that asks a few rated answers twice in each order."""
    rated = sorted(request.rated, key=_get_answer_key)
    drawn = random.Random(f"probe {request.settings.seed}")  # noqa: S311 - no secret
    chosen = drawn.sample(rated, min(PROBED_ANSWERS, len(rated)))
    settings = replace(request.settings, cache=False, resume=False)
    return build_judge_plan(request.rubric, request.exam, chosen, _repeat(judge), settings)


def _repeat(judge: Judge | Panel) -> Judge | Panel:
    """Return a judge that is asked twice in each order; that is no other instrument to measure."""
    if isinstance(judge, Panel):
        members = tuple(structs.replace(one, orders=2, repeats=2) for one in judge.judges)
        return structs.replace(judge, judges=members)
    return structs.replace(judge, orders=2, repeats=2)


def _ask_probes(plan: JudgePlan, judge: Judge | Panel) -> tuple[list[Probe], JudgedRatings]:
    """Ask a plan, and return each question with its four verdicts; those of a panel are settled."""
    verdicts, judged = probe_judge(plan)
    told: dict[tuple[AnswerKey, JudgeQuestion], dict[tuple[int, int], list[Any]]] = {}
    for one in verdicts:
        scores = told.setdefault((_get_answer_key(one.answer), one.question), {})
        scores.setdefault((one.order, one.repeat), []).append(one.score)
    probes = []
    for (answer, question), scores in told.items():
        settled = {at: _settle_members(question, own, judge) for at, own in scores.items()}
        forth, back = ((settled[order, 0], settled[order, 1]) for order in (0, 1))
        probes.append(Probe(axis=question.axis, answer=answer, scores=(forth, back)))
    return probes, judged


def _settle_members(
    question: JudgeQuestion, scores: Sequence[Any], judge: Judge | Panel
) -> Fraction | str | None:
    """Return what a judge said, or what the marks of a panel come to."""
    if isinstance(judge, Panel):
        return settle_panel(question, scores, judge.quorum, judge.settle)[0]
    (score,) = scores
    return cast("Fraction | str | None", score)


def _measure_axes(request: CalibrationRequest, asked: _AskedJudge) -> dict[str, AxisCalibration]:
    """Return what the ratings show, axis by axis; what spoils all axes is added to each."""
    questions = find_questions(request.rubric)
    items = {item.id: item for item in request.exam.items}
    names = {
        _get_answer_key(answer): (answer.item, get_output_text(answer))
        for answer in request.answers
    }
    facts = {
        _get_answer_key(answer): AnswerFacts(
            words=len(get_output_text(answer).split()), tags=items[answer.item].tags
        )
        for answer in request.answers
    }
    fingerprints: Mapping[str, Mapping[str, str]] = FrozenDict()
    if request.judge is not None:
        listed = list_exam_questions(request.rubric, request.exam).values()
        fingerprints = fingerprint_questions(
            request.judge, [question for asked_of in listed for question in asked_of]
        )
    pairs = pair_ratings(request.people, asked.ratings, questions, names)
    predictions = _predict_means(request, asked)
    spoiled = tuple(_find_spoiling_reasons(asked))
    measured = {
        axis: measure_axis(
            found,
            needed=request.needed,
            seed=request.settings.seed,
            facts=facts,
            probes=asked.probes,
        )
        for axis, found in pairs.items()
    }
    return {
        axis: replace(
            _spoil(found, spoiled),
            prediction=predictions.get(axis),
            axis_fingerprint=fingerprints.get(axis, {}).get("axis_fingerprint"),
            call_fingerprint=fingerprints.get(axis, {}).get("call_fingerprint"),
        )
        for axis, found in measured.items()
    }


def _spoil(
    axis: AxisCalibration, reasons: tuple[tuple[Outcome, CalibrationReason], ...]
) -> AxisCalibration:
    """Return an axis whose outcome is no better than what is wrong with the judge as a whole."""
    if not reasons:
        return axis
    found = tuple(reason for _, reason in reasons)
    kept = () if axis.outcome is Outcome.PASS else axis.reasons
    failed = Outcome.FAIL in {axis.outcome, *(outcome for outcome, _ in reasons)}
    # The reason of a failure comes first.
    ordered = (*kept, *found) if axis.outcome is Outcome.FAIL else (*found, *kept)
    return replace(axis, outcome=Outcome.FAIL if failed else Outcome.UNDECIDED, reasons=ordered)


def _find_spoiling_reasons(
    asked: _AskedJudge,
) -> Iterable[tuple[Outcome, CalibrationReason]]:
    """Yield what is wrong with the judge on all axes."""
    if asked.canaries is not None and asked.canaries.failed:
        (first, *_) = asked.canaries.report.out_of_range
        because = sentence(
            "{n} of {of} canaries are out of range; {name}: {why}",
            n=len(asked.canaries.failed),
            of=asked.canaries.report.asked,
            name=first.name,
            why=first.because,
        )
        yield Outcome.FAIL, CalibrationReason(code=ReasonCode.CANARY, because=because)
    for name, models in asked.served.items():
        if len(models) > 1:
            because = sentence(
                "several models answered for {judge}: {models}",
                judge=name,
                models=", ".join(models),
            )
            yield Outcome.UNDECIDED, CalibrationReason(code=ReasonCode.SERVED, because=because)
    if asked.stopped is not None:
        because = sentence("not everything was asked: {why}", why=asked.stopped)
        yield Outcome.UNDECIDED, CalibrationReason(code=ReasonCode.STOPPED, because=because)


def _predict_means(request: CalibrationRequest, asked: _AskedJudge) -> dict[str, Prediction]:
    """Return the corrected mean of each axis of the score, from a recorded random sample only."""
    sample = request.sample
    if sample is None or sample.size < LEAST_FOR_PREDICTION:
        return {}
    people = group_marks(request.people, request.rubric, request.exam)
    judged = group_marks(asked.ratings, request.rubric, request.exam)
    items = {item.id: item for item in request.exam.items}
    found: dict[str, Prediction] = {}
    for spec in request.rubric:
        if not isinstance(spec.axis, MarkedAxis):
            continue
        values: dict[AnswerKey, tuple[Fraction | None, Fraction | None]] = {}
        for answer in request.answers:
            key = _get_answer_key(answer)
            by_people, by_judge = (
                mark_answer(
                    request.rubric, items[answer.item], answer.output, marks=marks.get(key, {})
                )
                .cells[spec.name]
                .value
                for marks in (people, judged)
            )
            values[key] = (by_people, by_judge)
        rated = [(one, two) for one, two in values.values() if one is not None and two is not None]
        others = [two for one, two in values.values() if one is None and two is not None]
        # A mean over what happened to be read would be another mean.
        if len(rated) == sample.size and len(rated) + len(others) == len(values):
            prediction = predict_mean(rated, others)
            if prediction is not None:
                found[spec.name] = prediction
    return found


def _build_calibration(
    request: CalibrationRequest,
    asked: _AskedJudge,
    axes: Mapping[str, AxisCalibration],
    made: datetime,
) -> Calibration:
    outcomes = {axis.outcome for axis in axes.values()}
    outcome = Outcome.PASS if outcomes == {Outcome.PASS} else Outcome.UNDECIDED
    if Outcome.FAIL in outcomes:
        outcome = Outcome.FAIL
    costs = [judged.cost for judged in asked.spent if judged.cost is not None]
    judged_axes = find_questions(request.rubric)
    return Calibration(
        judge=_describe_calibrated_judge(request),
        rubric=request.rubric.name,
        exam=request.exam.name,
        served=tuple(sorted({model for models in asked.served.values() for model in models})),
        sample=SampleRecord(
            answers=len(request.answers),
            rated=len(request.rated),
            random=request.sample is not None,
            seed=None if request.sample is None else request.sample.seed,
        ),
        needed=request.needed,
        seed=request.settings.seed,
        axes=FrozenDict(axes),
        canaries=None if asked.canaries is None else asked.canaries.report,
        outcome=outcome,
        made=made.isoformat(),
        expires=(made + timedelta(days=request.days)).isoformat(),
        calls=sum(judged.calls for judged in asked.spent),
        cost=float(sum(costs)) if costs else None,
        remarks=asked.remarks,
        unrated=tuple(axis for axis in judged_axes if axis not in axes),
    )


def _describe_calibrated_judge(request: CalibrationRequest) -> dict[str, Any]:
    """Return who was measured, as plain data; recorded ratings tell a name only."""
    if request.judge is None:
        name = next((rating.rater for rating in request.judged or ()), "")
        return {"name": name, "fingerprint": None}
    return {"name": request.judge.name, **describe_judge(request.judge)}
