"""The strict reader of judges' replies: each reply is verdicts, or a refusal with its reason.

A reply is one JSON object `{"marks": [{"id", "why", "verdict"}, …]}` with exactly the ids that were
asked for. One closed block of thought before it and one code fence around it are allowed. Anything
else is refused as a whole: a refused reply is never a number, and nothing is guessed.

>>> from markscheme.vocabulary import Criterion
>>> from markscheme.ask.judging.questions import ask_criterion
>>> asked = [ask_criterion("facts", Criterion(id="c1", points=Fraction(1), says="Tells the dose."))]
>>> read_judge_text('{"marks": [{"id": "c1", "why": "5 mg", "verdict": true}]}', asked)[0].score
Fraction(1, 1)
>>> read_judge_text('{"marks": [{"id": "c1", "why": "", "verdict": "mostly"}]}', asked).reason
'c1 says "mostly"'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from markscheme.ask.judging.questions import JudgeQuestion, QuestionKind
from markscheme.ask.replies import Reply, to_single_line
from markscheme.read.nfc import to_nfc
from markscheme.read.rating_scores import NOT_APPLICABLE
from markscheme.read.storable import find_text_fault

_MAX_REASON = 80  # characters of a value or an id that a reason shows
_MAX_REPLY = 1_000_000  # characters of a reply that is looked at
_MAX_WHY = 2_000  # characters of a reason that are kept; 20 words are asked for
# What endpoints say of a reply that ended by itself; None where they do not tell.
_NORMAL_ENDS = {None, "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete"}
_CUT_OFF_ENDS = {"length", "max_tokens", "model_length", "incomplete"}
_DECLINED_ENDS = {"refusal", "content_filter", "safety"}
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL)
_FENCE = "```"
_FENCE_LANGUAGES = {"", "json"}
_JSON_SPACES = " \t\r\n"
# Zero has no sign: `-0` is no number of any scale.
_DECIMAL = re.compile(r"(?!-0+(?:\.0+)?$)-?[0-9]{1,9}(\.[0-9]{1,9})?")
_MARK_KEYS = ("id", "why", "verdict")


class JudgeVerdict(Struct, frozen=True, kw_only=True):
    """A judge's verdict on one question.

    `score` is a number of the scale, the name of an option, 1 or 0 for a criterion, or `n/a`; None
    where the judge says that it cannot be told.
    """

    question: JudgeQuestion
    score: Fraction | str | None
    why: str


class RefusedReply(Struct, frozen=True, kw_only=True):
    """A reply that could not be read, and the reason in a few words."""

    reason: str


class _Refusal(Exception):  # noqa: N818 - the result for one reply, not an error of the program
    """The reply is refused; the message is the reason."""


class _NumberText(str):
    """A JSON number as it is written, so that no digit is lost or made up."""

    __slots__ = ()


def read_judge_reply(
    reply: Reply, questions: Sequence[JudgeQuestion]
) -> tuple[JudgeVerdict, ...] | RefusedReply:
    """Return the verdicts in a reply, in the order of the questions, or why it is refused."""
    if reply.text is None:
        return RefusedReply(reason=f"no reply ({reply.fault}): {reply.why}")
    return read_judge_text(reply.text, questions, reply.finish_reason)


def read_judge_text(
    text: str, questions: Sequence[JudgeQuestion], finish_reason: str | None = None
) -> tuple[JudgeVerdict, ...] | RefusedReply:
    """Return the verdicts in the text of a reply, or why it is refused: a pure function."""
    try:
        _check_end(finish_reason)
        marks = _parse_marks(_unwrap(text))
        return tuple(_read_verdicts(marks, questions))
    except _Refusal as refusal:
        return RefusedReply(reason=str(refusal))


def _check_end(finish_reason: str | None) -> None:
    reason = finish_reason and finish_reason.lower()
    if reason in _CUT_OFF_ENDS:
        raise _Refusal("cut-off")
    if reason in _DECLINED_ENDS:
        raise _Refusal("declined")
    if reason not in _NORMAL_ENDS:
        raise _Refusal(f"ended with {_show(reason)}")


def _unwrap(text: str) -> str:
    """Return the text without one closed block of thought before it and one fence around it."""
    if len(text) > _MAX_REPLY:
        raise _Refusal("too long")
    body = text.strip(_JSON_SPACES)
    thought = _THOUGHT.match(body)
    body = _remove_fence(body[thought.end() :].strip(_JSON_SPACES) if thought else body)
    if not body:
        raise _Refusal("empty")
    return body


def _remove_fence(body: str) -> str:
    """Return what stands in a fence that is around the whole text; any other text as it is."""
    first, newline, rest = body.partition("\n")
    language = first.removeprefix(_FENCE).strip(_JSON_SPACES)
    is_fenced = first.startswith(_FENCE) and language.lower() in _FENCE_LANGUAGES and newline
    if not is_fenced or not rest.endswith(_FENCE):
        return body
    return rest.removesuffix(_FENCE).strip(_JSON_SPACES)


def _parse_marks(body: str) -> list[Any]:
    """Return the entries of `marks`: the body is one JSON object with this key and no other."""
    if not body.startswith("{"):
        raise _Refusal("not-json")
    try:
        document, end = _DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        raise _Refusal("not-json") from None
    if end < len(body):
        follows = body[end:].lstrip(" \t\r\n,;")
        raise _Refusal("two-objects" if follows.startswith("{") else "not-json")
    if set(document) != {"marks"}:
        lacks = "lacks marks" if "marks" not in document else None
        extra = next((key for key in document if key != "marks"), "")
        raise _Refusal(lacks or f"has the key {_show(extra)}")
    if not isinstance(document["marks"], list):
        raise _Refusal("marks is no list")
    return document["marks"]


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refusal(f"has {_show(key)} twice")
        found[key] = value
    return found


def _refuse_constant(word: str) -> Any:
    raise _Refusal(f"says {word}")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_parse_object,
    parse_int=_NumberText,
    parse_float=_NumberText,
    parse_constant=_refuse_constant,
)


def _read_verdicts(marks: list[Any], questions: Sequence[JudgeQuestion]) -> Iterator[JudgeVerdict]:
    """Yield a verdict for each question; refuse marks that are missing, unknown or there twice."""
    known = {question.id: question for question in questions}
    found: dict[str, dict[str, Any]] = {}
    for mark in marks:
        if not isinstance(mark, dict):
            raise _Refusal("a mark is no object")
        id_ = _fold(mark.get("id"))
        if type(id_) is not str or id_ not in known:
            raise _Refusal(f"was not asked for {_show(id_)}")
        if id_ in found:
            raise _Refusal(f"has {id_} twice")
        found[id_] = mark
    lacking = [id_ for id_ in known if id_ not in found]
    if lacking:
        raise _Refusal(f"lacks {', '.join(lacking[:3])}{' …' if len(lacking) > 3 else ''}")  # noqa: PLR2004 - as many as are shown
    for id_, question in known.items():
        mark = found[id_]
        if set(mark) != set(_MARK_KEYS):
            raise _Refusal(_describe_keys(id_, mark))
        yield JudgeVerdict(
            question=question,
            score=_read_score(_fold(mark["verdict"]), question),
            why=_read_why(mark["why"], id_),
        )


def _describe_keys(id_: str, mark: dict[str, Any]) -> str:
    lacking = next((key for key in _MARK_KEYS if key not in mark), None)
    if lacking:
        return f"{id_} lacks {lacking}"
    extra = next(key for key in mark if key not in _MARK_KEYS)
    return f"{id_} has the key {_show(extra)}"


def _fold(value: Any) -> Any:
    """Return a text as rubrics and exams hold it, in NFC; anything else as it is."""
    return to_nfc(value) if type(value) is str else value


def _read_why(why: Any, id_: str) -> str:
    if type(why) is not str:
        raise _Refusal(f"{id_} has no text as why")
    if find_text_fault(why):
        raise _Refusal(f"{id_} has a why that cannot be stored")
    line = to_nfc(" ".join(why.split()))
    return line if len(line) <= _MAX_WHY else f"{line[:_MAX_WHY]}…"


def _read_score(verdict: Any, question: JudgeQuestion) -> Fraction | str | None:
    """Return the score of a verdict of the right type and range; refuse any other."""
    if verdict is None:
        return None
    if question.may_not_apply and type(verdict) is str and verdict == NOT_APPLICABLE:
        return NOT_APPLICABLE
    score: Fraction | str | None = None
    match question.kind:
        case QuestionKind.CRITERION if isinstance(verdict, bool):
            score = Fraction(verdict)
        case QuestionKind.CHOICE if type(verdict) is str and verdict in question.options:
            score = verdict
        case QuestionKind.SCALE if isinstance(verdict, _NumberText):
            score = _read_number(verdict, question)
        case _:
            pass
    if score is None:
        raise _Refusal(f"{question.id} says {_show(verdict)}")
    return score


def _read_number(text: str, question: JudgeQuestion) -> Fraction | None:
    """Return a number of the scale; a whole number has no decimals, also where they are zero."""
    written = _DECIMAL.fullmatch(text)
    if written is None or (written[1] and question.step == 1):
        return None
    number = Fraction(text)
    lowest, highest = min(question.anchors), max(question.anchors)
    on_step = (number - lowest) % question.step == 0
    return number if on_step and lowest <= number <= highest else None


def _show(value: Any) -> str:
    """Return a value as JSON, on one line and shortened."""
    if isinstance(value, _NumberText):
        return to_single_line(value, _MAX_REASON)
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        shown = type(value).__name__
    return to_single_line(shown, _MAX_REASON)
