"""Responses as they come in: most are written plainly and read as they are, the others by h11.

Plain is a whole head of HTTP/1.1 at once that tells the length of the body, and nothing that would
change how the rest is read. Whatever is not certain to be so is left to h11, and so is every
mistake; both read the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

import h11

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?"
_HEAD = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2}) [^\x00-\x1f\x7f]*((?:\r\n%b)+)\r\n\r\n" % _HEADER)
_LENGTH = re.compile(r"[0-9]{1,15}")
_BODILESS = {204, 304}
_FRAMING = {"transfer-encoding", "connection", "upgrade", "trailer"}


class Incoming(Protocol):
    """A response of which more and more is there."""

    status: int | None
    headers: Mapping[str, str]
    whole: bool
    lasting: bool
    """Whether another request may follow on the same connection."""

    def take(self, data: bytes) -> Iterator[bytes]:
        """Take what came; yield what of it is body. Nothing means that nothing more comes."""


def incoming(request: h11.Request, body: bytes, first: bytes) -> Incoming:
    """Return the response to a request by the first bytes of it, which are yet to be taken."""
    head = _HEAD.match(first) if request.method != b"CONNECT" else None
    return (head and _plain(head)) or _Parsed(request, body)


def _plain(head: re.Match[bytes]) -> _Plain | None:
    lines = head[2].decode("latin-1").split("\r\n")[1:]
    pairs = [line.split(":", 1) for line in lines]
    headers = {name.lower(): value.removeprefix(" ") for name, value in pairs}
    length, status = headers.get("content-length", ""), int(head[1])
    if len(headers) < len(pairs) or not _FRAMING.isdisjoint(headers) or status in _BODILESS:
        return None
    return _Plain(status, headers, head.end(), int(length)) if _LENGTH.fullmatch(length) else None


class _Plain:
    """A response whose head is known, and of whose body so many bytes are still to come."""

    def __init__(self, status: int, headers: Mapping[str, str], skipped: int, left: int) -> None:
        self.status: int | None = status
        self.headers = headers
        self.whole = False
        self.lasting = True
        self._skipped, self._left = skipped, left

    def take(self, data: bytes) -> Iterator[bytes]:
        body, self._skipped = data[self._skipped :], 0
        self.lasting = len(body) <= self._left
        yield body[: self._left]
        self._left = max(0, self._left - len(body))
        self.whole = not self._left


class _Parsed:
    """A response that h11 reads, as the one to the request that was sent."""

    def __init__(self, request: h11.Request, body: bytes) -> None:
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.whole = False
        self.lasting = False
        self._http = h11.Connection(h11.CLIENT)
        for part in (request, h11.Data(data=body), h11.EndOfMessage()):
            self._http.send(part)

    def take(self, data: bytes) -> Iterator[bytes]:
        self._http.receive_data(data)
        while not self.whole:
            event = self._http.next_event()
            match event:
                case h11.Response():
                    self.status = event.status_code
                    self.headers = {
                        n.decode("latin-1"): v.decode("latin-1") for n, v in event.headers
                    }
                    self.whole = self._http.their_state is h11.SWITCHED_PROTOCOL
                case h11.Data():
                    yield bytes(event.data)
                case h11.EndOfMessage():
                    self.whole = True
                    self.lasting = self._http.our_state is self._http.their_state is h11.DONE
                case h11.InformationalResponse():
                    continue
                case _:  # more is needed, or nothing more comes
                    return
