"""Calibrate a judge: ask it about what people have rated, measure it, decide, and store the record.

The steps: read what is given (`calibration_request`); ask the canaries; ask the judge
about the rated answers; ask a few of them again in both orders; measure axis by axis; store.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from markscheme.ask.judging import JudgeQuestion, settle_panel
from markscheme.keep import open_store
from markscheme.mark import mark_answer
from markscheme.mark.axes import MarkedAxis
from markscheme.read.marks import AnswerKey, group_marks
from markscheme.read.rating_scores import find_questions
from markscheme.vocabulary import (
    Exam,
    FrozenDict,
    Judge,
    Outcome,
    Panel,
    Rating,
    Rubric,
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
from markscheme.workflows.calibration_request import (
    NEEDED_KAPPA,
    VALID_DAYS,
    CalibrationRequest,
    get_answer_key,
    read_calibration_request,
)
from markscheme.workflows.canaries import (
    BUILT_IN_CANARIES,
    CanaryRun,
    ask_canaries,
    is_replayed,
)
from markscheme.workflows.judge import execute_judge_plan, limit_cost, probe_judge
from markscheme.workflows.judge_plan import (
    JudgePlan,
    build_judge_plan,
    fingerprint_questions,
    get_output_text,
    list_exam_questions,
)
from markscheme.workflows.judged_ratings import JudgedRatings, describe_judge
from markscheme.workflows.live_session import NULL_OBSERVER, RunObserver

if TYPE_CHECKING:
    from markscheme.read.rating_rows import RatingSource
    from markscheme.workflows.scoring_session import Answers

PROBED_ANSWERS = 20
"""How many answers the judge is asked about again, in both orders."""


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

    >>> calibration = calibrate(
    ...     "rubric.yaml", "exam.yaml", "answers.jsonl", "judge.yaml",
    ...     ratings="people.csv", store="runs.db", days=90,
    ... )  # doctest: +SKIP

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
    elif request.canaries:
        canaries = ask_canaries(request.rubric, request.exam, judge, request.canaries, settings)
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
    rated = sorted(request.rated, key=get_answer_key)
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
        scores = told.setdefault((get_answer_key(one.answer), one.question), {})
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
        get_answer_key(answer): (answer.item, get_output_text(answer)) for answer in request.answers
    }
    facts = {
        get_answer_key(answer): AnswerFacts(
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
            key = get_answer_key(answer)
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
