"""Responses that are read plainly are read as h11 reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.ask.incoming import Incoming, NotHttpError, Request, incoming
from markscheme.ask.parsed import Parsed

REQUEST = Request("POST", "/v1/chat/completions", [("host", "h"), ("content-length", "2")])
HEADERS = [
    "content-type: application/json",
    "content-length: 5",
    "Content-Length: 0",
    "content-length:5",
    "content-length: +5",
    "content-length:   5  ",
    "transfer-encoding: chunked",
    "connection: close",
    "Connection: keep-alive",
    "x: a b\tc",
    "x: é",
    "x:",
    "x : 1",
    " folded",
    "x: \x00",
    "date: Mon, 01 Jan 2029 00:00:00 GMT",
]
STARTS = ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 404 Not Found", "HTTP/1.0 200 OK"]
STARTS += ["HTTP/1.1 204 No Content", "HTTP/1.1 200", "HTTP/1.1 100 Continue", "HTTP/2 200 OK"]
USUAL = "HTTP/1.1 200 OK\r\ncontent-length: 5"
BODIES = [b"", b"hello", b"hell", b"hello, you", b"5\r\nhello\r\n0\r\n\r\n"]


def read(response: Incoming, parts: list[bytes]) -> object:
    """Return all that is known of a response after its parts, or that it is none."""
    body = b""
    try:
        for part in parts:
            if not response.whole:
                body += b"".join(response.take(part))
    except NotHttpError:
        return "no HTTP"
    return response.status, dict(response.headers), body, response.whole


@given(
    start=st.sampled_from(STARTS),
    headers=st.lists(st.sampled_from(HEADERS), max_size=4),
    body=st.sampled_from(BODIES),
    cut=st.integers(0, 200),
)
def test_what_is_read_plainly_is_what_h11_reads(
    start: str, headers: list[str], body: bytes, cut: int
) -> None:
    whole = "\r\n".join([start, *headers, "", ""]).encode("latin-1") + body
    parts = [part for part in (whole[:cut], whole[cut:]) if part]
    found = incoming(REQUEST, b"{}", parts[0])
    assert read(found, parts) == read(Parsed(REQUEST, b"{}"), parts)


def test_a_usual_response_needs_no_parser() -> None:
    data = b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-length: 5\r\n\r\nhello"
    found = incoming(REQUEST, b"{}", data)
    assert not isinstance(found, Parsed)
    assert read(found, [data]) == (
        200,
        {"server": "uvicorn", "content-length": "5"},
        b"hello",
        True,
    )
    assert found.lasting


@pytest.mark.parametrize(
    ("head", "lasting"),
    [
        (USUAL, True),
        (f"{USUAL}\r\nconnection: Keep-Alive", True),
        (f"{USUAL}\r\nConnection: close", False),
        ("HTTP/1.0 200 OK\r\ncontent-length: 5", False),
    ],
)
def test_a_connection_is_used_again_as_its_server_says(head: str, *, lasting: bool) -> None:
    data = f"{head}\r\n\r\nhello".encode()
    found, parsed = incoming(REQUEST, b"{}", data), Parsed(REQUEST, b"{}")
    assert not isinstance(found, Parsed)
    assert read(found, [data]) == read(parsed, [data])
    assert found.lasting is parsed.lasting is lasting


def test_a_connection_on_which_more_came_than_was_told_is_not_used_again() -> None:
    data = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello"
    found = incoming(REQUEST, b"{}", data)
    assert read(found, [data]) == (200, {"content-length": "2"}, b"he", True)
    assert not found.lasting


@pytest.mark.parametrize(
    ("target", "value"),
    [("/a b", "x"), ("/é", "x"), ("/a\r\nx: y", "x"), ("/", "x\r\ny: z"), ("/", "")],
)
def test_a_head_that_could_be_read_otherwise_is_not_sent(target: str, value: str) -> None:
    assert not Request("POST", target, [("host", value)]).sendable
    assert Request("POST", "/v1", [("host", "h:1")]).sendable
