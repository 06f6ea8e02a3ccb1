"""A streamed answer is whole however it comes, or it is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from markscheme.ask.completions import CompletionStream
from markscheme.ask.secrets import Secrets
from raw_server import DONE, STREAMED, always, chunked, completion, event, http
from sittings import Sitting, faults
from wild_servers import error

if TYPE_CHECKING:
    from wild_servers import Ask


def test_a_streamed_answer_has_the_time_to_its_first_token(sitting: Sitting) -> None:
    document = sitting.asks("stream 1").json("--stream")
    (row,) = document["items"]
    first = row["asked"]["first_token_ms"]
    assert row["got"] == "yes"
    assert 0 < first < row["latency_ms"]
    assert row["tokens_out"] == 2
    assert document["live"]["first_token_ms"]["n"] == 1


def test_a_stream_that_ends_too_soon_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("trickle 1").json("--stream", "--retries", "0")
    assert faults(document) == {"broken-off": 1}


def test_a_stream_that_ends_with_an_error_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("sink 1").json("--stream", "--retries", "0")
    assert faults(document) == {"server-error": 1}
    assert "overloaded" in document["items"][0]["asked"]["error"]["why"]


END = '{"finish_reason": "stop"}'
WAYS_TO_STREAM = {
    "as usual": STREAMED,
    "with another end of line": f"{event('yes', 'stop')}\r\n\r\n{DONE}\r\n\r\n",
    "after a mark of the order of bytes": f"\ufeff{event('ye')}\n\n{event('s', 'stop')}\n\n",
    "without an end of the last line": f"{event('ye')}\n\n{event('s', 'stop')}",
    "with an event in several lines": event("yes", "stop").replace("[", "\ndata: [") + "\n\n",
    "with comments and names": f": hi\n\nevent: message\nid: 1\n{event('yes')}\n\n{DONE}\n\n",
    "and then some more": f"{event('yes')}\n\n{DONE}\n\n{event(' no')}\n\n",
    "and then rubbish": f"{event('yes')}\n\n{DONE}\n\ndata: {{bad\n\n",
    "in parts": f"{event([{'type': 'text', 'text': 'ye'}])}\n\n{event('s', 'stop')}\n\n",
    "as one message": f"data: {json.dumps(completion('yes'))}\n\n{DONE}\n\n",
    "in messages": "".join(f"data: {json.dumps(completion(part))}\n\n" for part in ("ye", "s")),
    "and then as a message": f"{event('yes')}\n\ndata: {json.dumps(completion('yes'))}\n\n",
    "without a delta at the end": f'{event("yes")}\n\ndata: {{"choices": [{END}]}}\n\n',
}


@pytest.mark.parametrize("way", WAYS_TO_STREAM)
def test_an_answer_is_whole_however_it_is_streamed(ask: Ask, way: str) -> None:
    done = ask(always(http(WAYS_TO_STREAM[way])), "--stream")
    assert done.code == 0
    assert done.json["items"][0]["got"] == "yes"


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("way", WAYS_TO_STREAM)
def test_an_answer_is_whole_whatever_its_lines_end_with_and_in_whatever_pieces_it_comes(
    way: str, end: str, size: int
) -> None:
    said = WAYS_TO_STREAM[way].replace("\r\n", "\n").replace("\n", end).encode()
    heard = CompletionStream(lambda: 0, Secrets())
    for start in range(0, len(said), size):
        heard.feed(said[start : start + size])
    assert heard.build_reply(0).text == "yes"


def test_a_line_of_a_stream_may_come_in_any_number_of_pieces() -> None:
    heard = CompletionStream(lambda: 0, Secrets())
    text = "yes " * 4_000_000
    line = f"{event(text, 'stop')}\n\n".encode()
    for start in range(0, len(line), 256):  # takes minutes if each piece is joined to the rest
        heard.feed(line[start : start + 256])
    assert heard.build_reply(0).text == text


def test_a_sign_whose_halves_come_in_two_events_is_whole(ask: Ask) -> None:
    smile = "yes \U0001f600"
    escaped = json.dumps(smile)[1:-1]
    parts = [event(escaped[:-6]), event(escaped[-6:], "stop")]
    said = "\n\n".join([*parts, DONE, ""]).replace("\\\\u", "\\u")
    assert ask(always(http(said)), "--stream").json["items"][0]["got"] == smile
    half = "\n\n".join([parts[0], DONE, ""]).replace("\\\\u", "\\u")
    found = error(ask(always(http(half)), "--stream"))
    assert found["kind"] == "garbled"
    assert "the answer holds a lone surrogate" in found["why"]


@pytest.mark.parametrize("then", [(None,), (), (30.0,), (b"0\r\n\r\n",)], ids=str)
def test_a_streamed_answer_is_whole_whatever_the_server_does_after_its_end(
    ask: Ask, then: tuple[bytes | float | None, ...]
) -> None:
    said = always(chunked(STREAMED), *then)
    done = ask(said, "--stream", "--timeout", "20", items=3)
    assert done.code == 0
    assert done.json["live"]["tries"] == 3
    assert done.json["items"][0]["latency_ms"] < 10_000


@pytest.mark.parametrize(
    ("stream", "kind", "why"),
    [
        (f"{event(42)}\n\n{DONE}\n\n", "garbled", "an event of the stream is none of a completion"),
        ('data: {"choices": ["x"]}\n\n', "garbled", "an event of the stream is none of a"),
        ("data: null\n\n", "garbled", "an event of the stream is none of a completion: null"),
        ("data: {no\n\n", "garbled", "an event of the stream is no JSON"),
        (f"{DONE}\n\n", "garbled", "the stream holds no answer"),
        (f'data: {{"choices": [{END}]}}\n\n{DONE}\n\n', "garbled", "holds no answer"),
        (f"{event('ye')}\n\ndata: {{", "broken-off", "the stream ended before the answer did"),
        ("event: error\ndata: all is lost\n\n", "garbled", "all is lost"),
    ],
)
def test_a_stream_without_a_whole_answer_says_why(
    ask: Ask, stream: str, kind: str, why: str
) -> None:
    found = error(ask(always(http(stream)), "--stream"))
    assert found["kind"] == kind
    assert why in found["why"]
