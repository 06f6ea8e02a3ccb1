"""`markscheme run` against servers that say what no server should."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import ssl
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from commands import Done, here
from markscheme.ask.keys import Secrets
from markscheme.ask.pace import Pace
from markscheme.ask.packed import BrokenPackError, Unpacking
from markscheme.ask.runner import Runner
from markscheme.ask.streams import Stream
from markscheme.ask.wire import Address, Wire
from raw_server import RawServer, Say, chunked, completion, event, http

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "sk-canary/5d41402abc4b2a76+b9719d91="
RUBRIC = """\
rubric: words
version: 1
axes:
  - {name: right, kind: contains_all, weight: 1, reads: word, expects: expected_contains}
"""
YES = http(completion("yes"))
BUSY = "429 Too Many Requests"

Ask = Callable[..., Done]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask a server that says this so many questions, one at a time."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "rubric.yaml").write_text(RUBRIC)

    def asked(say: Say, *words: str, items: int = 1, **env: str) -> Done:
        rows = [{"id": f"i{n}", "prompt": "?", "expected_contains": ["yes"]} for n in range(items)]
        (tmp_path / "exam.yaml").write_text(json.dumps({"exam": "e", "items": rows}))
        fixed = ["-r", str(tmp_path / "rubric.yaml"), "-e", str(tmp_path / "exam.yaml")]
        fixed += ["--base-url", RawServer(say).url, "--store", str(tmp_path / "store.db")]
        fixed += ["--subject", "openai:m", "--format", "json", "--concurrency", "1"]
        return here("run", *fixed, "--retries", "0", *words, **env)

    return asked


def always(*parts: bytes | float | None) -> Say:
    return lambda *_: parts


def error(done: Done) -> Any:
    return done.json["items"][0]["asked"]["error"]


# --- connections ---


def test_a_connection_that_the_server_let_go_of_uses_up_no_retry_and_is_counted(ask: Ask) -> None:
    heard = Counter[str]()

    def once(nth: int, _: str) -> tuple[bytes | None]:
        heard["requests"] += 1
        return (YES,) if nth == 1 else (None,)

    done = ask(once, items=6)
    assert done.code == 0
    assert done.json["live"]["tries"] == heard["requests"] == 11


def test_a_connection_that_was_let_go_of_is_no_wait(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runner, "_wait", lambda *_: pytest.fail("it waited"))
    assert ask(lambda nth, _: (YES,) if nth == 1 else (None,), items=3).code == 0


def test_many_connections_that_are_let_go_of_lose_no_question(ask: Ask) -> None:
    heard = Counter[str]()

    def twice(nth: int, _: str) -> tuple[bytes | None]:
        heard["requests"] += 1
        return (YES,) if nth <= 2 else (None,)

    done = ask(twice, "--concurrency", "8", items=60)
    assert done.code == 0
    assert done.json["live"]["tries"] == heard["requests"] > 60


def test_a_server_that_closes_without_a_word_broke_off(ask: Ask) -> None:
    why = "the connection was closed before the answer was whole"
    assert error(ask(always(None))) == {"kind": "broken-off", "why": why}
    assert error(ask(always(b"HTTP/1.1 20", None))) == {"kind": "broken-off", "why": why}


# --- busy ---


def test_a_busy_server_that_names_no_time_is_left_alone_longer_each_time(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(Pace, "keep_quiet", lambda _, wait: waits.append(wait))
    answers = iter([*[http("", BUSY)] * 8, YES, http("", BUSY), YES])
    assert ask(lambda *_: (next(answers),), items=2).code == 0
    assert waits[:6] == sorted(waits[:6])
    assert 15 <= waits[7] <= 30
    assert waits[8] <= 0.5


def test_a_server_that_is_busy_for_ever_is_not_asked_for_ever(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "keep_quiet", lambda *_: None)
    busy = http({"error": {"message": "no quota"}}, BUSY, "retry-after: 0")
    done = ask(always(busy), "--concurrency", "4", items=40)
    live = done.json["live"]
    assert done.code == 4
    said = "the server says 429: no quota"
    assert live["stopped"] == f"openai:m said 20 times in a row that it is busy: {said}"
    assert live["faults"]["busy"] + live["not_asked"] == 40
    assert 20 <= live["tries"] < 40


def test_a_server_that_says_something_else_between_is_not_busy_for_ever(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "keep_quiet", lambda *_: None)
    answers = cycle([http("", BUSY), http("{}")])
    live = ask(lambda *_: (next(answers),), items=30).json["live"]
    assert live["faults"] == {"garbled": 30}
    assert live["stopped"] is None


@pytest.mark.parametrize(
    "after",
    ["-5", "soon", "", "nan", "1e-9", "Wed, 21 Oct 2015 07:28:00 GMT", f"21 Oct 2015 +{'9' * 20}"],
)
def test_whatever_a_busy_server_says_of_when_it_is_asked_again(ask: Ask, after: str) -> None:
    answers = iter([http("", BUSY, f"retry-after: {after}"), YES])
    assert ask(lambda *_: (next(answers),)).code == 0


# --- keys ---


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


WAYS_TO_TELL: dict[str, Callable[[str], bytes]] = {
    "an answer": lambda key: http(completion(f"yes {key}")),
    "the JSON of an answer": lambda key: http(completion(f'{{"word": "yes {escaped(key)}"}}')),
    "a slash": lambda key: http(completion(json.dumps({"word": f"yes {key}"}).replace("/", r"\/"))),
    "an address": lambda key: http(completion(f"yes {quote(key, safe='')}")),
    "a finish reason": lambda key: http(completion("yes", finish_reason=key)),
    "a cut error": lambda key: http({"error": {"message": "x" * 170 + key}}, "400 No"),
    "a cut error, escaped": lambda key: http(
        f'{{"error": {{"message": "{"x" * 170}{escaped(key)}"}}}}', "400 No"
    ),
    "a cut error after all": lambda key: http(
        f'{{"error": {{"message": "{"x" * 170}{escaped(key)}"}}}}'
    ),
    "an error of a stream": lambda key: http(
        f"data: {json.dumps({'error': {'message': 'x' * 170 + key}})}\n\n"
    ),
    "no HTTP": lambda key: f"{'x' * 440} {key}\r\n\r\n".encode(),
}


@pytest.mark.parametrize("way", WAYS_TO_TELL)
def test_a_key_is_told_nowhere_however_the_server_says_it_back(
    ask: Ask, tmp_path: Path, way: str
) -> None:
    said = tmp_path / "said.jsonl"
    words = ["--record", str(said), *(["--stream"] if "stream" in way else [])]
    done = ask(lambda _, key: (WAYS_TO_TELL[way](key),), *words, OPENAI_API_KEY=CANARY)
    here("report", "latest", "--store", tmp_path / "store.db", "-o", tmp_path / "page.html")
    told = [done.out, done.err, said.read_text(), (tmp_path / "page.html").read_text()]
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.glob("store.db*")]
    written = (CANARY.replace("/", r"\/"), escaped(CANARY), quote(CANARY, safe=""))
    for form in (CANARY, CANARY[:12], *written):
        assert not any(form in text for text in told)


# --- packed ---


def deflated(data: bytes, bits: int = -15) -> bytes:
    packing = zlib.compressobj(wbits=bits)
    return packing.compress(data) + packing.flush()


def halves(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


WAYS_TO_PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "another name of it": ("X-Gzip", gzip.compress),
    "several in a row": ("gzip", halves(gzip.compress)),
    "with something after it": ("gzip", lambda data: gzip.compress(data) + b"\0\0\0"),
    "zlib": ("deflate", zlib.compress),
    "without a header": ("deflate", deflated),
    "not at all": ("gzip", bytes),
    "not at all, and said to be deflated": ("deflate", bytes),
    "in a way that there is not": ("identity", bytes),
}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("way", WAYS_TO_PACK)
def test_a_packed_answer_is_read(ask: Ask, way: str, *, streamed: bool) -> None:
    encoding, pack = WAYS_TO_PACK[way]
    plain = WAYS_TO_STREAM["as usual"] if streamed else json.dumps(completion("yes"))
    whole = http(pack(plain.encode()), "200 OK", f"content-encoding: {encoding}")
    done = ask(always(whole[:-9], whole[-9:]), *(["--stream"] if streamed else []))
    assert done.json["items"][0]["got"] == "yes", done.err


@pytest.mark.parametrize("way", WAYS_TO_PACK)
@pytest.mark.parametrize("plain", [json.dumps(completion("yes")), f"{event('yes')}\n\n"])
def test_a_pack_is_unpacked_in_whatever_pieces_it_comes(way: str, plain: str) -> None:
    encoding, pack = WAYS_TO_PACK[way]
    packed = pack(plain.encode())
    for size in range(1, len(packed) + 1):
        unpacking = Unpacking(encoding)
        pieces = (packed[n : n + size] for n in range(0, len(packed), size))
        assert b"".join(unpacking.take(piece, 10_000) for piece in pieces) == plain.encode()


@pytest.mark.parametrize("words", [(), ("--stream",)], ids=["whole", "streamed"])
def test_a_small_pack_with_far_too_much_in_it_is_too_large(
    ask: Ask, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.wire.LARGEST", 100_000)
    packed = gzip.compress(b"data: " + b"x" * 1_000_000)
    said = error(ask(always(http(packed, "200 OK", "content-encoding: gzip")), *words))
    assert said["kind"] == "too-large"


def test_a_pack_that_breaks_is_garbled(ask: Ask) -> None:
    packed = bytearray(gzip.compress(json.dumps(completion("yes " * 100)).encode()))
    packed[-6] ^= 1
    said = http(bytes(packed), "200 OK", "content-encoding: gzip")
    assert error(ask(always(said[:-7], said[-7:])))["kind"] == "garbled"


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_a_pack_that_breaks_is_seen_however_it_comes(pieces: int) -> None:
    whole = gzip.compress(b'{"a": "b"}')
    broken = whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]

    def unpacked(data: bytes) -> bytes:
        unpacking = Unpacking("gzip")
        parts = (data[at : at + pieces] for at in range(0, len(data), pieces))
        return b"".join(unpacking.take(part, 1000) for part in parts)

    assert unpacked(whole) == unpacked(whole + bytes(8)) == b'{"a": "b"}'
    assert unpacked(whole + whole) == b'{"a": "b"}' * 2
    try:
        assert unpacked(broken) == broken  # nothing came out: it is no pack at all
    except BrokenPackError:
        assert pieces < len(whole)


# --- streams ---


def test_a_line_of_a_stream_may_come_in_any_number_of_pieces() -> None:
    heard = Stream(lambda: 0, Secrets())
    text = "yes " * 4_000_000
    line = f"{event(text, 'stop')}\n\n".encode()
    for start in range(0, len(line), 256):  # takes minutes if each piece is joined to the rest
        heard.hear(line[start : start + 256])
    assert heard.reply(0).text == text


DONE = "data: [DONE]"
END = '{"finish_reason": "stop"}'
WAYS_TO_STREAM = {
    "as usual": f"{event('ye')}\n\n{event('s', 'stop')}\n\n{DONE}\n\n",
    "with another end of line": f"{event('yes', 'stop')}\r\n\r\n{DONE}\r\n\r\n",
    "after a mark of the order of bytes": f"\ufeff{event('ye')}\n\n{event('s', 'stop')}\n\n",
    "without an end of the last line": f"{event('ye')}\n\n{event('s', 'stop')}",
    "with an event in several lines": event("yes", "stop").replace("[", "\ndata: [") + "\n\n",
    "with comments and names": f": hi\n\nevent: message\nid: 1\n{event('yes')}\n\n{DONE}\n\n",
    "and then some more": f"{event('yes')}\n\n{DONE}\n\n{event(' no')}\n\n",
    "in parts": f"{event([{'type': 'text', 'text': 'ye'}])}\n\n{event('s', 'stop')}\n\n",
    "as one message": f"data: {json.dumps(completion('yes'))}\n\n{DONE}\n\n",
    "in messages": "".join(f"data: {json.dumps(completion(part))}\n\n" for part in ("ye", "s")),
    "and then as a message": f"{event('yes')}\n\ndata: {json.dumps(completion('yes'))}\n\n",
    "without a delta at the end": f'{event("yes")}\n\ndata: {{"choices": [{END}]}}\n\n',
}


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("way", WAYS_TO_STREAM)
def test_an_answer_is_whole_whatever_its_lines_end_with_and_in_whatever_pieces_it_comes(
    way: str, end: str, size: int
) -> None:
    said = WAYS_TO_STREAM[way].replace("\r\n", "\n").replace("\n", end).encode()
    heard = Stream(lambda: 0, Secrets())
    for start in range(0, len(said), size):
        heard.hear(said[start : start + size])
    assert heard.reply(0).text == "yes"


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


@pytest.mark.parametrize("way", WAYS_TO_STREAM)
def test_an_answer_is_whole_however_it_is_streamed(ask: Ask, way: str) -> None:
    done = ask(always(http(WAYS_TO_STREAM[way])), "--stream")
    assert done.code == 0
    assert done.json["items"][0]["got"] == "yes"


@pytest.mark.parametrize(
    "then", [(None,), (), (30.0,), (b"no chunk\r\n",), (b"0\r\n\r\n",)], ids=str
)
def test_a_streamed_answer_is_whole_whatever_the_server_does_after_its_end(
    ask: Ask, then: tuple[bytes | float | None, ...]
) -> None:
    said = always(chunked(WAYS_TO_STREAM["as usual"]), *then)
    done = ask(said, "--stream", "--timeout", "20", items=3)
    assert done.code == 0
    assert done.json["live"]["tries"] == 3
    assert done.json["items"][0]["latency_ms"] < 10_000


def test_a_connection_is_used_again_when_the_end_of_a_stream_came_too() -> None:
    nths: list[int] = []

    def say(nth: int, _: str) -> tuple[bytes | float | None, ...]:
        nths.append(nth)
        return (chunked(f"{DONE}\n\n"), 0.2, b"0\r\n\r\n")

    async def asked() -> None:
        wire = Wire(Address.of(RawServer(say).url), {})
        heard = Stream(lambda: 0, Secrets()).hear
        for _ in range(2):
            await wire.send(b"{}", "/", heard)
            assert not wire._idle
            for _ in range(1000):
                await asyncio.sleep(0 if wire._idle else 0.01)
        wire.close()

    asyncio.run(asyncio.wait_for(asked(), 30))
    assert nths == [1, 2]


def test_no_connection_is_left_when_a_stream_is_given_up_before_its_end() -> None:
    async def asked() -> int:
        wire = Wire(Address.of(RawServer(always(chunked(f"{DONE}\n\n"))).url), {})
        await wire.send(b"{}", "/", Stream(lambda: 0, Secrets()).hear)
        left = len(wire._ending)
        wire.close()
        assert not wire._ending
        return left

    assert asyncio.run(asyncio.wait_for(asked(), 30)) == 1


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


WAYS_TO_FAIL: dict[str, tuple[dict[str, Any], str]] = {
    "with an error": ({"error": {"message": "overloaded"}}, "overloaded"),
    "with one in words": ({"error": "overloaded"}, "overloaded"),
    "with one without words": ({"error": {"type": "overloaded"}}, "{'type': 'overloaded'}"),
    "for a reason alone": ({"finish_reason": "error"}, "it does not tell why"),
    "for a reason, with an error": (
        {"finish_reason": "error", "error": {"message": "overloaded"}},
        "overloaded",
    ),
}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("way", WAYS_TO_FAIL)
def test_an_answer_that_ends_with_an_error_is_none_and_is_asked_again(
    ask: Ask, way: str, *, streamed: bool
) -> None:
    told, why = WAYS_TO_FAIL[way]
    whole, words = http(completion("ye", **told)), ["--retries", "1"]
    if streamed:
        events = [event("ye"), event("s", **told), DONE]
        whole, words = http("\n\n".join([*events, ""])), [*words, "--stream"]
    done = ask(always(whole), *words)
    what = "the stream" if streamed else "the answer"
    told_as = {"kind": "server-error", "why": f"{what} ended with an error: {why}"}
    assert error(done) == told_as
    assert done.json["live"]["tries"] == 2


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((402, "rejected"), ("403", "rejected"), (502, "server-error"), ("529", "busy")),
        *((200, None), (42900, None), ("rate", None), (None, None), (True, None), ("4²9", None)),
    ],
)
def test_a_status_inside_a_response_that_says_all_is_well_is_heeded(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, code: Any, kind: str | None, *, streamed: bool
) -> None:
    monkeypatch.setattr(Pace, "keep_quiet", lambda *_: None)
    said = json.dumps({"error": {"message": "no", "code": code}})
    whole = http(f"data: {said}\n\n{DONE}\n\n" if streamed else said)
    found = error(ask(always(whole), *(["--stream"] if streamed else [])))
    assert found["kind"] == (kind or ("server-error" if streamed else "garbled"))
    assert found["why"].endswith(": no")


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_server_that_says_so_inside_a_response_is_busy(ask: Ask, *, streamed: bool) -> None:
    said = {"error": {"message": "later", "code": 429}, "choices": []}
    ended: dict[str, Any] = {"error": {"message": "later", "code": 429}, "finish_reason": "error"}
    lines = [f"data: {json.dumps(said)}", event("", **ended)]
    busy = [http(f"{line}\n\n{DONE}\n\n") for line in lines]
    busy = busy if streamed else [http(said), http(completion("", **ended))]
    answers = iter([*busy, http(WAYS_TO_STREAM["as usual"]) if streamed else YES])
    done = ask(lambda *_: (next(answers),), *(["--stream"] if streamed else []))
    assert done.code == 0
    assert done.json["live"]["tries"] == 3


@pytest.mark.parametrize(
    ("content", "got"),
    [
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], "yes"),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}], "yes"),
        ([], ""),
        (["yes"], None),
        ([{"type": "text", "text": 1}], None),
        ({"text": "yes"}, None),
        (False, None),
    ],
)
def test_a_content_in_parts_is_the_text_of_them(ask: Ask, content: Any, got: str | None) -> None:
    done = ask(always(http(completion(content))))
    assert done.json["items"][0]["got"] == got
    assert done.code == (0 if got is not None else 4)


# --- what is told ---


@pytest.mark.parametrize("reason", ["sto\0p", "st\x1b[31mop", "stop\n" * 100_000])
def test_a_finish_reason_that_nobody_could_show_is_told_on_one_short_line(
    ask: Ask, reason: str
) -> None:
    done = ask(always(http(completion("yes", finish_reason=reason))))
    (told,) = done.json["live"]["finish_reasons"]
    assert told.isprintable()
    assert len(told) < 100


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (http('{"error": null}', "400 No"), 'the server says 400: {"error": null}'),
        (http('{"error": {"message": null}}', "400 No"), '{"error": {"message": null}}'),
        (http('{"error": {"code": 3}}', "400 No"), '{"error": {"code": 3}}'),
        (
            http("", "308 Moved", "location: https://there.example/v2"),
            "the server says 308 and names https://there.example/v2; redirects are not followed",
        ),
        (http("", "302 Moved", f"location: /{CANARY}"), "says 302 and names /[key]; redirects"),
        (http("<p>Log in</p>"), "the response is no JSON: <p>Log in</p>"),
        (http("sí".encode("latin-1")), "the response is no JSON: s"),
        (http(""), "the response is no JSON: it is empty"),
        (
            http(gzip.compress(b" " * 65_000_000, 1), "200 OK", "content-encoding: gzip"),
            "the response is larger than 64,000,000 bytes",
        ),
    ],
)
def test_what_a_server_says_instead_of_an_answer_is_told(
    ask: Ask, response: bytes, why: str
) -> None:
    assert why in error(ask(always(response), OPENAI_API_KEY=CANARY))["why"]


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 70}.example"])
def test_a_host_that_can_have_no_address_is_unreachable(ask: Ask, host: str) -> None:
    done = ask(always(YES), "--base-url", f"http://{host}/v1")
    assert error(done) == {"kind": "unreachable", "why": f"cannot connect to {host}: no such host"}


def test_a_certificate_of_ones_own_is_trusted_where_it_is_named(ask: Ask, tmp_path: Path) -> None:
    openssl, made = shutil.which("openssl"), [tmp_path / "key.pem", tmp_path / "mine.pem"]
    if openssl is None:
        pytest.skip("openssl is not installed")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=me", "-addext"]
    out: list[str | Path] = ["subjectAltName=IP:127.0.0.1", "-keyout", made[0], "-out", made[1]]
    subprocess.run([openssl, *words, *out], check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(made[1], made[0])
    server = RawServer(always(YES), tls)
    found = error(ask(always(YES), "--base-url", server.url))
    assert found["kind"] == "rejected"
    assert found["why"].endswith("name a file with the authority that signed it in SSL_CERT_FILE")
    assert ask(always(YES), "--base-url", server.url, SSL_CERT_FILE=str(made[1])).code == 0


def test_a_server_that_is_not_there_is_not_asked_a_thousand_times(ask: Ask) -> None:
    nobody = "http://127.0.0.1:1/v1"
    live = ask(always(YES), "--base-url", nobody, items=100).json["live"]
    assert live["faults"] == {"unreachable": 5}
    assert live["not_asked"] == 95
    assert "openai:m was unreachable for the first 5 questions: cannot" in live["stopped"]


def test_the_page_tells_how_answers_ended_that_did_not_just_stop(ask: Ask) -> None:
    answers = iter([YES, http(completion("ye", finish_reason="length"))])
    done = ask(lambda *_: (next(answers),), "--format", "text", items=2)
    assert "answers ended with: length 1, stop 1" in done.out
    assert "ended with" not in ask(always(YES), "--format", "text").out


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "more",
    [
        {"usage": {"prompt_tokens": 10.0, "completion_tokens": 5, "cost": 0.5}},
        {"usage": {"prompt_tokens": 10, "completion_tokens": 5.0, "cost": {"total_cost": 0.5}}},
        {"x_groq": {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": "0.5"}}},
    ],
    ids=["with fractions", "with parts of the cost", "by Groq"],
)
def test_what_an_answer_took_is_read_however_it_is_told(
    ask: Ask, more: dict[str, Any], *, streamed: bool
) -> None:
    told = f"data: {json.dumps({'choices': [], **more})}"
    events = "\n\n".join([event("yes", "stop"), told, DONE, ""])
    whole = http(events if streamed else {**completion("yes"), **more})
    (row,) = ask(always(whole), *(["--stream"] if streamed else [])).json["items"]
    assert (row["tokens_in"], row["tokens_out"], row["cost"]) == (10, 5, 0.5)


@pytest.mark.parametrize("tokens", [10.5, -1.0, 1e300, True, "10"])
def test_tokens_that_cannot_be_counted_are_not_known(ask: Ask, tokens: Any) -> None:
    said = {**completion("yes"), "usage": {"prompt_tokens": tokens}}
    assert ask(always(http(said))).json["items"][0]["tokens_in"] is None


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_refusal_that_a_gateway_passes_on_is_read(ask: Ask, *, streamed: bool) -> None:
    message = {"content": None, "provider_specific_fields": {"refusal": "I will not."}}
    events = "\n\n".join([event("", delta=message), event("", "stop"), DONE, ""])
    whole = http(events if streamed else completion("", message=message))
    (row,) = ask(always(whole), *(["--stream"] if streamed else [])).json["items"]
    assert (row["got"], row["asked"]["finish_reason"]) == ("I will not.", "refusal")


@pytest.mark.parametrize("cost", [2**63 - 1, "9223372036854775807", 2**62, "1e-999999999", "-1"])
@pytest.mark.parametrize("tokens", [1, 2**63 - 1])
def test_whatever_an_answer_is_said_to_cost_it_is_scored(ask: Ask, tokens: int, cost: Any) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "cost": cost}
    done = ask(always(http({**completion("yes"), "usage": usage})), "--price", "3000000:3000000")
    assert done.code == 0
    assert done.json["summary"]["n"] == 1


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("usage", "price"),
    [({"cost": 0.5}, []), ({"prompt_tokens": 5, "completion_tokens": 0}, ["--price", "100000:0"])],
    ids=["told", "by its tokens"],
)
def test_what_was_charged_for_no_answer_counts_for_the_budget_but_is_no_cost_of_answers(
    ask: Ask, usage: dict[str, Any], price: list[str], *, streamed: bool
) -> None:
    told = f"data: {json.dumps({'choices': [], 'usage': usage})}"
    events = "\n\n".join([event("ye"), event("s", error={"message": "died"}), told, ""])
    whole = http(events if streamed else {**completion({"x": 1}), "usage": usage})
    words = [*price, *(["--stream"] if streamed else []), "--max-cost", "1", "--retries", "9"]
    live = ask(always(whole), *words).json["live"]
    assert "--max-cost of 1 is spent" in live["stopped"]
    assert (live["tries"], live["cost"]) == (2, None)
