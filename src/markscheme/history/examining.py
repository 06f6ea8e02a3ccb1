"""Examining: a live subject's answers, scored and stored like any other run."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markscheme.engines.scoring import Scoring
from markscheme.errors import UsageError
from markscheme.history.asking import Examination, Plan
from markscheme.history.plans import Settings, plan_of
from markscheme.history.recording import Recorder
from markscheme.keep import check_tag, open_store
from markscheme.library.documents import load_exam, load_rubric
from markscheme.mark.scoring import check_exam
from markscheme.read.answers import AnswerBatch, read_rows
from markscheme.sentences import sentence
from markscheme.vocabulary import Exam, RowError, Rubric
from markscheme.weigh.live import Live
from markscheme.weigh.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from markscheme.ask.questions import Ask, Question
    from markscheme.ask.runner import Asked
    from markscheme.history.asking import Examined, Watch
    from markscheme.keep import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """The run of one subject: its result, what is known of how it was asked, its id if stored."""

    result: Result
    live: Live
    id: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `markscheme score`, with what a live run knows of each answer."""
        document = self.result.to_dict()
        told = {(one.ask.question.item, one.ask.question.attempt): one for one in self.live.asked}
        for row in document["items"]:
            found = told.get((row["item"], row["attempt"] or 1))  # a missing one has no attempt
            row["asked"] = None if found is None else asked_record(found)
        return {**document, "live": self.live.to_dict(), "run": self.id}


def asked_record(asked: Asked) -> dict[str, Any]:
    """Return how a question was asked, and how it ended."""
    reply = asked.reply
    first = reply.first_token_us
    error = None if reply.fault is None else {"kind": reply.fault.value, "why": reply.why}
    return {
        "order": asked.ask.order,
        "tries": asked.tries,
        "finish_reason": reply.finish_reason,
        "first_token_ms": None if first is None else first / 1000,
        "cached": reply.cached,
        "error": error,
    }


def answer_record(asked: Asked) -> dict[str, Any]:
    """Return a reply as a row of an answers file, which `score` and `replay:` read."""
    reply, question = asked.reply, asked.ask.question
    told = {
        "item": question.item,
        "subject": asked.ask.subject,
        "attempt": question.attempt,
        "output": reply.text,
        "latency_ms": None if reply.latency_us is None else reply.latency_us / 1000,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": None if reply.cost is None else float(reply.cost),
        **asked_record(asked),
    }
    return {name: value for name, value in told.items() if value is not None and value is not False}


def run(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    subject: str,
    *,
    store: str | Path | None = None,
    **settings: Any,
) -> Result:
    """Ask a live subject every item of an exam and score what it says.

    `settings` are the options of `markscheme run` by name, such as `base_url` or `concurrency`.
    The run is stored where a store is named. Errors of the subject are bad rows of the result.

    >>> run("tutor-capstone", "capstone", "tutor", concurrency=4).summary.n
    60
    """
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    plan = plan_of(rubric, exam, [subject], Settings.of(settings))
    (found,) = examine(plan, store=store, skip=store is None)
    return found.result


def examine(
    plan: Plan,
    *,
    store: str | Path | None = None,
    skip: bool = False,
    tag: str | None = None,
    watch: Watch = lambda _: None,
) -> list[LiveRun]:
    """Carry out a plan, and score and store the run of each subject."""
    check_exam(plan.rubric, plan.exam)
    if tag is not None:
        check_tag(tag)
        if skip or len(plan.subjects) > 1:
            raise UsageError("a tag names one stored run; leave it out")
    if skip and plan.resume:
        raise UsageError("--resume reads the store; leave out --no-store")
    with ExitStack() as stack:
        opened = None if skip else stack.enter_context(open_store(store, create=True))
        examined = Examination(plan, opened, watch).run()
        return [_scored(plan, examined, subject.name, opened, tag) for subject in plan.subjects]


def _scored(
    plan: Plan, examined: Examined, subject: str, store: Store | None, tag: str | None
) -> LiveRun:
    asked = examined.of(subject)
    live = Live(
        subject=subject,
        sitting=examined.sittings[subject],
        seed=plan.seed,
        asked=tuple(asked),
        questions=sum(ask.subject == subject for ask in examined.asks),
        stopped=examined.stopped,
        beside=tuple(s for name, s in examined.sittings.items() if s and name != subject),
    )
    recorder = None
    if store is not None:
        recorder = Recorder(
            store, plan.rubric, plan.exam, source=f"live {subject}", tag=tag, seed=plan.seed
        )
    scoring = Scoring(plan.rubric, plan.exam, keep=recorder.keep if recorder else None)
    unasked = [ask for ask in examined.asks if ask.subject == subject]
    unasked = [ask for ask in unasked if ask.key not in examined.asked]
    frames = scoring.frames(map(scoring.marked, _batches(plan, asked, unasked)))
    result = _of_subject(scoring.result(frames), subject)
    kept = recorder.finish(result, {"live": live.to_dict()}) if recorder else []
    return LiveRun(result=result, live=live, id=kept[0] if kept else None)


def _of_subject(result: Result, subject: str) -> Result:
    """Return a result whose run has the subject's name, also where it answered nothing."""
    runs = [replace(run, name=subject, subject=subject) for run in result.runs]
    return replace(result, each_run=lambda: runs)


def _batches(plan: Plan, asked: list[Asked], unasked: list[Ask]) -> Iterator[AnswerBatch]:
    """Yield the answers in the order of the exam, then the errors.

    An attempt that was not asked is an error where another answered its item: the item is not
    missing then, and the run is not whole.
    """
    place = {item.id: at for at, item in enumerate(plan.exam.items)}
    ordered = sorted(
        asked, key=lambda one: (one.ask.question.attempt, place[one.ask.question.item])
    )
    rows = [_row(one) for one in ordered if one.reply.text is not None]
    yield from read_rows(rows, items=list(place))
    reasons = [(one.ask.question, _why(one)) for one in ordered if one.reply.fault is not None]
    answered = {row["item"] for row in rows}
    lacking = [ask.question for ask in unasked if ask.question.item in answered]
    reasons += [(question, sentence("not asked")) for question in lacking]
    if reasons:
        lines = enumerate(reasons, start=len(rows) + 1)
        yield AnswerBatch(errors=[_row_error(line, *found) for line, found in lines])


def _row(asked: Asked) -> Mapping[str, Any]:
    wanted = (
        "item",
        "subject",
        "attempt",
        "output",
        "latency_ms",
        "tokens_in",
        "tokens_out",
        "cost",
    )
    told = answer_record(asked)
    return {name: told[name] for name in wanted if name in told}


def _why(asked: Asked) -> str:
    return sentence(
        "no answer, {kind}: {why} ({tries} tries)",
        kind=asked.reply.fault,
        why=asked.reply.why,
        tries=asked.tries,
    )


def _row_error(line: int, question: Question, why: str) -> RowError:
    reason = sentence(
        "{item}, attempt {attempt}: {why}", item=question.item, attempt=question.attempt, why=why
    )
    return RowError(line=line, reason=reason, item=question.item)
