"""Replies of judges: read only if they are exactly what was asked for, in each of four shapes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from markscheme.ask.completions import parse_completion
from markscheme.ask.judging import (
    JudgeQuestion,
    JudgeVerdict,
    RefusedReply,
    ask_choice,
    ask_criterion,
    ask_scale,
    read_judge_reply,
    read_judge_text,
)
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.secrets import Secrets
from markscheme.vocabulary import ChoiceAxis, Criterion, ScaleAxis

ANCHORS = {number: f"is a {number}" for number in range(1, 6)}
SCALE = ask_scale(ScaleAxis(name="clear", question="How clear?", anchors=ANCHORS))
HALVES = ask_scale(
    ScaleAxis(name="depth", question="?", anchors=ANCHORS, step=Fraction(1, 2), may_not_apply=True)
)
TONE = ask_choice(
    ChoiceAxis(name="tone", question="?", options={"kind": Fraction(1), "rude": Fraction(0)})
)
MET = ask_criterion("facts", Criterion(id="c1", points=Fraction(2), says="Names the dose."))
COSTS = ask_criterion("facts", Criterion(id="c2", points=Fraction(-1), says="Invents a source."))
ASKED = (SCALE, HALVES, TONE, MET, COSTS)
GOOD = {"clear": 4, "depth": 3.5, "tone": "kind", "c1": True, "c2": False}


def mark(id_: str, verdict: Any, **more: Any) -> dict[str, Any]:
    return {"id": id_, "why": "it says so", "verdict": verdict, **more}


def reply(**changed: Any) -> str:
    """Return a well-formed reply in which some verdicts are others."""
    return json.dumps({"marks": [mark(id_, v) for id_, v in {**GOOD, **changed}.items()]})


def marks_text(*marks: Any, **more: Any) -> str:
    return json.dumps({"marks": list(marks), **more})


WELL = [mark(id_, verdict) for id_, verdict in GOOD.items()]


# --- the four shapes in which endpoints and models send a reply ---


def as_content(text: str) -> dict[str, Any]:
    return {"message": {"content": text}, "finish_reason": "stop"}


def as_tool_call(text: str) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": "response", "arguments": text}}
    return {"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}


def as_fenced_by_windows(text: str) -> dict[str, Any]:
    return as_content(f"```\r\n{text}\r\n```\r\n")


def as_fenced(text: str) -> dict[str, Any]:
    return as_content(f"```json\n{text}\n```")


def as_thought(text: str) -> dict[str, Any]:
    thought = 'It may be {"marks": [{"id": "c1", "verdict": true}]}, but no.'
    return as_content(f"<think>\n{thought}\n</think>\n\n{text}")


SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "content": as_content,
    "tool call": as_tool_call,
    "fenced": as_fenced,
    "fenced by Windows": as_fenced_by_windows,
    "thought": as_thought,
}


def read(choice: dict[str, Any], asked: tuple[JudgeQuestion, ...] = ASKED) -> Any:
    """Read the body of a completion as a judged run does."""
    body = json.dumps({"choices": [choice], "model": "m-1"}).encode()
    return read_judge_reply(parse_completion(body, 1, Secrets(), judging=True), asked)


MALFORMED = {
    "nothing": "",
    "spaces": "   \n ",
    "prose": "The answer is fine, I give it a 4.",
    "a number": "4",
    "true": "true",
    "null": "null",
    "a text": '"4"',
    "a list": json.dumps(WELL),
    "another key": json.dumps({"scores": WELL}),
    "a further key": marks_text(*WELL, overall=4),
    "marks is an object": json.dumps({"marks": GOOD}),
    "marks is null": '{"marks": null}',
    "marks is text": '{"marks": "4, 3.5"}',
    "no marks": '{"marks": []}',
    "an empty object": "{}",
    "a mark is a text": marks_text(*WELL[:-1], "c2"),
    "a mark is a list": marks_text(*WELL[:-1], ["c2", False]),
    "a mark is missing": marks_text(*WELL[:-1]),
    "only one mark": marks_text(WELL[0]),
    "a mark twice": marks_text(*WELL, WELL[0]),
    "a mark twice, and it differs": marks_text(*WELL, mark("c1", False)),
    "an id that nobody asked for": marks_text(*WELL, mark("c9", True)),
    "an id in other case": marks_text(*WELL[:-1], mark("C2", False)),
    "an id with a space": marks_text(*WELL[:-1], mark("c2 ", False)),
    "an id that is a number": marks_text(*WELL[:-1], mark(2, False)),  # type: ignore[arg-type]
    "no id": marks_text(*WELL[:-1], {"why": "", "verdict": False}),
    "no verdict": marks_text(*WELL[:-1], {"id": "c2", "why": ""}),
    "no why": marks_text(*WELL[:-1], {"id": "c2", "verdict": False}),
    "a score in place of a verdict": marks_text(
        *WELL[:-1], {"id": "c2", "why": "", "score": False}
    ),
    "a further key in a mark": marks_text(*WELL[:-1], mark("c2", False, confidence=0.9)),
    "why is a number": marks_text(*WELL[:-1], {"id": "c2", "why": 3, "verdict": False}),
    "why is null": marks_text(*WELL[:-1], {"id": "c2", "why": None, "verdict": False}),
    "a key twice": reply().replace('"why": "it says so"', '"why": "a", "why": "b"', 1),
    "a verdict twice": reply().replace('"verdict": 4', '"verdict": 1, "verdict": 4'),
    "marks twice": '{"marks": [], ' + reply()[1:],
    "a scale below": reply(clear=0),
    "a scale above": reply(clear=6),
    "ten of five": reply(clear=10),
    "a negative number": reply(clear=-4),
    "a scale as text": reply(clear="4"),
    "a scale in words": reply(clear="four"),
    "of five": reply(clear="4/5"),
    "a range": reply(clear="3-4"),
    "a list of scores": reply(clear=[4]),
    "an object as a score": reply(clear={"score": 4}),
    "true on a scale": reply(clear=True),
    "a half on a scale of whole numbers": reply(clear=3.5),
    "a decimal on a scale of whole numbers": reply(clear=4.0),
    "nearly": reply(clear=4.0000001),
    "an exponent": reply().replace('"verdict": 4', '"verdict": 4e0'),
    "a huge exponent": reply().replace('"verdict": 4', '"verdict": 1e999'),
    "a huge number": reply().replace('"verdict": 4', f'"verdict": {"9" * 5000}'),
    "NaN": reply().replace('"verdict": 4', '"verdict": NaN'),
    "Infinity": reply().replace('"verdict": 4', '"verdict": Infinity'),
    "-Infinity": reply().replace('"verdict": 4', '"verdict": -Infinity'),
    "a plus": reply().replace('"verdict": 4', '"verdict": +4'),
    "a leading zero": reply().replace('"verdict": 4', '"verdict": 04'),
    "n/a where it is not allowed": reply(clear="n/a"),
    "a quarter on a scale of halves": reply(depth=3.25),
    "a third on a scale of halves": reply(depth=3.333333333333333),
    "N/A in capitals": reply(depth="N/A"),
    "another option": reply(tone="friendly"),
    "an option in other case": reply(tone="Kind"),
    "an option with a space": reply(tone="kind "),
    "two options": reply(tone=["kind", "rude"]),
    "the number of an option": reply(tone=1),
    "yes": reply(c1="yes"),
    "true as text": reply(c1="true"),
    "met": reply(c1="met"),
    "mostly": reply(c1="mostly"),
    "one": reply(c1=1),
    "zero": reply(c1=0),
    "a share": reply(c1=0.5),
    "an empty text": reply(c1=""),
    "an empty list": reply(c1=[]),
    "n/a on a criterion": reply(c1="n/a"),
    "Python's True": reply().replace("true", "True"),
    "single quotation marks": reply().replace('"', "'"),
    "no quotation marks": reply().replace('"', ""),
    "a trailing comma": reply()[:-2] + ",]}",
    "a comment": reply().replace("{", "{ // fine\n", 1),
    "cut in the middle": reply()[:60],
    "cut before the end": reply()[:-1],
    "one brace too many": reply() + "}",
    "words before": "Here is my verdict:\n" + reply(),
    "words after": reply() + "\nI hope this helps.",
    "two objects": reply() + "\n" + reply(clear=1),
    "two lines of JSON": "\n".join(json.dumps(entry) for entry in WELL),
    "an object in a list": f"[{reply()}]",
    "an object as text": json.dumps(reply()),
    "two fences": f"```json\n{reply()}\n```\n```json\n{reply(clear=1)}\n```",
    "a fence in words": f"My verdict:\n```json\n{reply()}\n```",
    "a fence without an end": f"```json\n{reply()}",
    "a fence of another language": f"```python\n{reply()}\n```",
    "a thought without an end": f"<think>I am not sure. {reply()}",
    "two thoughts": f"<think>a</think><think>b</think>{reply()}",
    "a thought after": f"{reply()}<think>or not</think>",
    "a thought around all": f"<think>{reply()}</think>",
    "deep nesting": '{"marks": ' + "[" * 5000 + "]" * 5000 + "}",
    "a control character": reply().replace("it says so", "it\nsays"),
    "half of a surrogate pair": reply().replace("it says so", "\\ud800", 1),
    "a NUL": reply().replace("it says so", "\\u0000", 1),
    "a refusal": "I'm sorry, but I can't help with that.",
    "an error": '{"error": {"message": "overloaded"}}',
    "XML": "<marks><c1>true</c1></marks>",
    "YAML": "marks:\n  - {id: c1, verdict: true}",
    "a table": "| id | verdict |\n|----|----|\n| c1 | true |",
    "a BOM": "\ufeff" + reply(),
    "a no-break space before": "\u00a0" + reply(),
    "a zero-width space after": reply() + "\u200b",
    "a separator of files after": reply() + "\x1c",
    "a NUL after": reply() + "\x00",
    "a semicolon after": reply() + ";",
    "the word json before": "json\n" + reply(),
    "a variable": "marks = " + reply(),
    "a fence of tildes": f"~~~json\n{reply()}\n~~~",
    "a fence of four": f"````json\n{reply()}\n````",
    "a fence in a fence": f"```json\n```json\n{reply()}\n```\n```",
    "a fence on one line": f"```json {reply()} ```",
    "a fence that nobody opened": f"{reply()}\n```",
    "words after a fence": f"```json\n{reply()}\n```\nDone.",
    "a thought in capitals": f"<THINK>so</THINK>{reply()}",
    "a thought that nobody opened": f"so</think>{reply()}",
    "a thought closed by another word": f"<think>so</thinking>{reply()}",
    "a thought in a thought": f"<think>a<think>b</think>c</think>{reply()}",
    "a forged end of thought": f"<think>so</think>{reply(clear=1)}</think>{reply()}",
    "a key in escapes twice": reply().replace('"verdict": 4', '"verdict": 1, "verd\\u0069ct": 4'),
    "marks in escapes twice": reply()[:-1] + ', "m\\u0061rks": []}',
    "a key that differs in case": reply().replace('"verdict": 4', '"Verdict": 4'),
    "a key with a space": reply().replace('"verdict": 4', '"verdict ": 4'),
    "marks in other letters": reply().replace("marks", "m\u0430rks"),
    "an id in other letters": reply().replace('"c1"', '"\u04411"'),
    "a why that is an object with a key twice": reply().replace(
        '"it says so"', '{"a": 1, "a": 2}', 1
    ),
    "half of a surrogate pair as id": reply().replace('"c1"', '"\\ud800"'),
    "half of a surrogate pair as key": reply().replace('"why"', '"\\udc00"', 1),
    "a further mark that is null": marks_text(*WELL, None),
    "a further mark that is empty": marks_text(*WELL, {}),
    "an answer of each kind": json.dumps(GOOD),
    "verdicts by position": json.dumps({"marks": list(GOOD.values())}),
    "verdicts by id": json.dumps({"marks": GOOD, "why": "so"}),
    "an object in an object": json.dumps({"response": json.loads(reply())}),
    "a schema": json.dumps({"type": "object", "properties": json.loads(reply())}),
    "too long": reply().replace("it says so", "x" * 1_000_001, 1),
    "the example of the prompt": '{"marks":[{"id":"clear","why":"…","verdict":…}]}',
}


def test_the_set_holds_at_least_200_replies_in_each_shape() -> None:
    assert len(MALFORMED) + sum(len(list_wrong_verdicts(kind)) for kind in KINDS) >= 200


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MALFORMED)
def test_no_malformed_reply_becomes_a_number(name: str, shape: str) -> None:
    found = read(SHAPES[shape](MALFORMED[name]))
    assert isinstance(found, RefusedReply), found
    assert found.reason
    assert "\n" not in found.reason
    assert len(found.reason) < 200


# What is no verdict, as it stands in JSON: on each kind of axis alone, in each of the shapes.
NO_NUMBER = r"""
    "" " " "4" "5" "1" "4.0" "4/5" "5/5" "4 out of 5" "3-4" "four" "IV" "+4" "0" "-1" "\u0664"
    "\uff14" "true" "false" "True" "yes" "no" "met" "unmet" "mostly" "null" "None" "n/a" "N/A"
    [] [4] [true] ["kind"] [[4]] {} {"score":4} {"verdict":4} {"value":true} {"kind":1} "unknown"
    NaN Infinity -Infinity 1e999 4e0 4E0 40e-1 0.4e1 4.0 4.00 5.0 4.0000000000000001 3.5 -0 -0.0
    -1 -4 0 6 10 100 1000000000000 4. .4 +4 04 4,0 4_0 --4 0x4 1e 4e "\ud83d" "\udc00" "\u0000"
    "4\n" undefined None True False TRUE nul tru yes 'kind' "Kind" "KIND" "kind " " kind"
    "kind\u200b" "k\u0131nd" "\u043aind" "kind,rude" "kind/rude" "kind or rude" "none" "other"
"""
OTHER_DIGITS = {"\u0664", "\uff14", "\u2463"}
KINDS: dict[str, tuple[JudgeQuestion, set[str]]] = {
    "scale": (SCALE, {"true", "false", "1.5", '"kind"', "9" * 5000}),
    "halves": (HALVES, {"true", "4.25", "0.5", "5.5", "3.50000000000000000001", '"kind"'}),
    "choice": (TONE, {"true", "4", "1", "0", "1.0"}),
    "criterion": (MET, {"4", "1", "0", "1.0", '"kind"', "0.5"}),
}
RIGHT = {
    "scale": {"1", "4", "5"},
    "halves": {"4.0", "4.00", "5.0", "3.5", '"n/a"'},
    "choice": {'"kind"', '"rude"'},
    "criterion": {"true", "false"},
}


def split_literals(line: str) -> list[str]:
    """Return the literals of a line; those in quotation marks may hold spaces."""
    return re.findall(r'"[^"]*"|\[.*?\](?=\s|$)|\{.*?\}|[^\s"\[{]+', line)


def list_wrong_verdicts(kind: str) -> list[str]:
    literals = {literal for line in NO_NUMBER.splitlines() for literal in split_literals(line)}
    return sorted((literals | OTHER_DIGITS | KINDS[kind][1]) - RIGHT[kind])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_wrong_verdict_becomes_a_score_on_any_kind_of_axis(kind: str, shape: str) -> None:
    question = KINDS[kind][0]
    wrong = list_wrong_verdicts(kind)
    assert len(wrong) > 80
    for literal in wrong:
        text = f'{{"marks": [{{"id": "{question.id}", "why": "so", "verdict": {literal}}}]}}'
        found = read(SHAPES[shape](text), (question,))
        assert isinstance(found, RefusedReply), (literal, found)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_right_verdict_is_read_on_any_kind_of_axis(kind: str, shape: str) -> None:
    question = KINDS[kind][0]
    for literal in RIGHT[kind]:
        text = f'{{"marks": [{{"id": "{question.id}", "why": "so", "verdict": {literal}}}]}}'
        found = read(SHAPES[shape](text), (question,))
        assert not isinstance(found, RefusedReply), (literal, found)
        (verdict,) = found
        value = json.loads(literal)
        assert verdict.score == (value if isinstance(value, str) else Fraction(str(float(value))))


# Responses of an endpoint that hold a well-formed reply, and are none.
CONTENT = {"content": reply()}
CALL = {"type": "function", "function": {"name": "response", "arguments": reply()}}
NO_COMPLETION: dict[str, Any] = {
    "no choices": {"choices": []},
    "choices is null": {"choices": None},
    "choices is an object": {"choices": {"message": CONTENT, "finish_reason": "stop"}},
    "the reply itself": json.loads(reply()),
    "a list": [{"message": CONTENT}],
    "two choices": {"choices": [as_content(reply()), as_content(reply(clear=1))]},
    "an error beside it": {"choices": [as_content(reply())], "error": {"message": "overloaded"}},
    "an error in the choice": {"choices": [{**as_content(reply()), "error": {"message": "x"}}]},
    "no message": {"choices": [{"finish_reason": "stop"}]},
    "the message is text": {"choices": [{"message": reply(), "finish_reason": "stop"}]},
    "a text completion": {"choices": [{"text": reply(), "finish_reason": "stop"}]},
    "a delta": {"choices": [{"delta": CONTENT, "finish_reason": "stop"}]},
    "the content is an object": {"choices": [as_content(json.loads(reply()))]},
    "the content is a number": {"choices": [as_content(4)]},  # type: ignore[arg-type]
    "the content is null": {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
    "reasoning only": {
        "choices": [
            {"message": {"content": "", "reasoning_content": reply()}, "finish_reason": "stop"}
        ]
    },
    "a refusal beside it": {
        "choices": [{"message": {**CONTENT, "refusal": "No."}, "finish_reason": "stop"}]
    },
    "a refusal as a part": {
        "choices": [
            as_content(
                [{"type": "text", "text": reply()}, {"type": "refusal", "refusal": "No."}]  # type: ignore[arg-type]
            )
        ]
    },
    "a tool call beside it": {
        "choices": [{"message": {**CONTENT, "tool_calls": [CALL]}, "finish_reason": "stop"}]
    },
    "a function call beside it": {
        "choices": [
            {"message": {**CONTENT, "function_call": CALL["function"]}, "finish_reason": "stop"}
        ]
    },
    "two tool calls": {
        "choices": [
            {"message": {"content": "", "tool_calls": [CALL, CALL]}, "finish_reason": "stop"}
        ]
    },
    "a tool call without arguments": {
        "choices": [
            {
                "message": {"content": "", "tool_calls": [{"function": {"name": "response"}}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
    "a tool call that was cut off": {
        "choices": [{**as_tool_call(reply()), "finish_reason": "length"}]
    },
    **{
        f"ended with {reason!r}": {"choices": [{"message": CONTENT, "finish_reason": reason}]}
        for reason in (
            *("length", "LENGTH", "max_tokens", "content_filter", "SAFETY", "refusal", "error"),
            *("tool_calls", "function_call", "cancelled", "abort", "paused", "", None, 1, True),
            *(["stop"], {"type": "stop"}, "stop\u0000", " stop"),
        )
    },
}


@pytest.mark.parametrize("name", NO_COMPLETION)
def test_a_whole_reply_in_a_response_that_is_none_is_refused(name: str) -> None:
    body = json.dumps(NO_COMPLETION[name]).encode()
    found = read_judge_reply(parse_completion(body, 1, Secrets(), judging=True), ASKED)
    assert isinstance(found, RefusedReply), found
    assert found.reason


@pytest.mark.parametrize(
    "reason", ["stop", "STOP", "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE"]
)
def test_what_endpoints_say_of_a_normal_end_is_understood(reason: str) -> None:
    assert not isinstance(read({"message": CONTENT, "finish_reason": reason}), RefusedReply)


def test_an_endpoint_need_not_say_how_a_reply_ended() -> None:
    assert not isinstance(read({"message": CONTENT}), RefusedReply)


@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + " " * 900_000 + "```" + " " * 50_000 + "x",
        "<think>" * 100_000,
        "<think>" + "</" * 400_000,
        '{"marks": [' + " " * 900_000,
        '{"marks": ' * 90_000,
        "[" * 900_000,
        '{"marks": "' + "\\u0041" * 150_000,
        '{"marks": ' + "9" * 900_000,
    ],
    ids=["fence", "thoughts", "thought", "spaces", "objects", "lists", "escapes", "digits"],
)
def test_a_hostile_reply_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    assert isinstance(read_judge_text(text, ASKED), RefusedReply)
    assert time.process_time() - started < 0.5


WELL_FORMED = {
    "as asked": (reply(), GOOD),
    "written small": (json.dumps(json.loads(reply()), separators=(",", ":")), GOOD),
    "indented": (json.dumps(json.loads(reply()), indent=2), GOOD),
    "in another order": (marks_text(*WELL[::-1]), GOOD),
    "keys in another order": (
        marks_text(*({"verdict": m["verdict"], "id": m["id"], "why": m["why"]} for m in WELL)),
        GOOD,
    ),
    "whole numbers of halves": (reply(depth=3), {**GOOD, "depth": 3}),
    "a half with a zero": (reply().replace("3.5", "3.50"), GOOD),
    "n/a where it is allowed": (reply(depth="n/a"), {**GOOD, "depth": "n/a"}),
    "the lowest": (reply(clear=1, depth=1.0), {**GOOD, "clear": 1, "depth": 1}),
    "the highest": (reply(clear=5, depth=5), {**GOOD, "clear": 5, "depth": 5}),
    "cannot be told": (reply(clear=None, c1=None), {**GOOD, "clear": None, "c1": None}),
    "why in other letters": (reply().replace("it says so", "d\\u00eda — «5 mg»"), GOOD),
    "why with JSON in it": (reply().replace("it says so", '{\\"verdict\\": 1}'), GOOD),
    "an empty why": (reply().replace("it says so", ""), GOOD),
    "spaces around": (f"\n  {reply()}\n", GOOD),
    "lines of Windows": (json.dumps(json.loads(reply()), indent=2).replace("\n", "\r\n"), GOOD),
    "letters in escapes": (reply().replace('"kind"', '"k\\u0069nd"'), GOOD),
    "a pair of surrogates": (reply().replace("it says so", "\\ud83d\\ude00"), GOOD),
    "a fence in why": (reply().replace("it says so", "```json\\n{}\\n```"), GOOD),
    "a thought in why": (reply().replace("it says so", "<think>so</think>"), GOOD),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed_replies_are_read(name: str, shape: str) -> None:
    text, expected = WELL_FORMED[name]
    found = read(SHAPES[shape](text))
    assert not isinstance(found, RefusedReply), found
    assert [verdict.question.id for verdict in found] == [question.id for question in ASKED]
    scores = {verdict.question.id: verdict.score for verdict in found}
    wanted = {
        id_: Fraction(value) if isinstance(value, int | float) else value
        for id_, value in expected.items()
    }
    assert scores == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("fine", "not-json"),
        (reply() + reply(), "two-objects"),
        (marks_text(*WELL[:-1]), "lacks c2"),
        (reply(c1="mostly"), 'c1 says "mostly"'),
        (reply(clear=7), "clear says 7"),
        (marks_text(*WELL, mark("c9", True)), 'was not asked for "c9"'),
        (marks_text(*WELL, WELL[3]), "has c1 twice"),
        (marks_text(*WELL, overall=4), 'has the key "overall"'),
        (marks_text(*WELL[:-1], {"id": "c2", "verdict": True}), "c2 lacks why"),
        (reply().replace('"verdict": 4', '"verdict": NaN'), "says NaN"),
    ],
)
def test_a_refusal_says_why_in_a_few_words(text: str, reason: str) -> None:
    assert read_judge_text(text, ASKED) == RefusedReply(reason=reason)


@pytest.mark.parametrize(
    ("finish_reason", "reason"),
    [
        ("length", "cut-off"),
        ("max_tokens", "cut-off"),
        ("content_filter", "declined"),
        ("refusal", "declined"),
        ("paused", 'ended with "paused"'),
    ],
)
def test_a_whole_reply_that_did_not_end_by_itself_is_refused(
    finish_reason: str, reason: str
) -> None:
    found = read({"message": {"content": reply()}, "finish_reason": finish_reason})
    assert found == RefusedReply(reason=reason)


def test_a_refusal_of_the_model_is_declined() -> None:
    found = read({"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"})
    assert found == RefusedReply(reason="declined")


def test_two_tool_calls_are_no_reply() -> None:
    call = {"type": "function", "function": {"name": "response", "arguments": reply()}}
    choice = {"message": {"content": "", "tool_calls": [call, call]}, "finish_reason": "stop"}
    assert read(choice) == RefusedReply(reason="empty")


def test_a_fault_is_a_refusal_that_says_so() -> None:
    found = read_judge_reply(Reply.from_fault(Fault.TIMEOUT, "no answer within 60 s"), ASKED)
    assert found == RefusedReply(reason="no reply (timeout): no answer within 60 s")


def test_a_verdict_keeps_the_reason_on_one_line() -> None:
    verdicts = read_judge_text(
        '{"marks": [{"id": "c1", "why": " says\\n \\"5 mg\\" ", "verdict": true}]}', (MET,)
    )
    assert verdicts == (JudgeVerdict(question=MET, score=Fraction(1), why='says "5 mg"'),)


def test_a_reason_of_many_words_is_kept_in_part() -> None:
    why = "word " * 30_000
    text = json.dumps({"marks": [{"id": "c1", "why": why, "verdict": True}]})
    verdicts = read_judge_text(text, (MET,))
    assert not isinstance(verdicts, RefusedReply)
    assert verdicts[0].why.endswith("…")
    assert len(verdicts[0].why) == 2_001
