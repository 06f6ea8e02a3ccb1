"""Responses as they come in: most are written plainly and read as they are, the others by h11.

Plain is a whole head at once that tells the length of the body, and nothing that would
change how the rest is read. Whatever is not certain to be so is left to h11, and so is every
mistake; both read the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_HEADER = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?"
_START = rb"HTTP/1\.([01]) ([2-5][0-9]{2}) [^\x00-\x1f\x7f]*"
_HEAD = re.compile(rb"%b((?:\r\n%b)+)\r\n\r\n" % (_START, _HEADER))
_LONGEST = 15  # digits of a length
_BODILESS = {204, 304}
_FRAMING = {"transfer-encoding", "upgrade", "trailer"}
_CONNECTIONS = {"keep-alive", "close"}


class NotHttpError(Exception):
    """What came is no response of HTTP, or not a whole one."""


class Request:
    """The head of a request, and how it is written."""

    def __init__(self, method: str, target: str, headers: Iterable[tuple[str, str]]) -> None:
        self.method, self.target, self.headers = method, target, tuple(headers)
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        self.written = "\r\n".join([*lines, "", ""]).encode(errors="replace")

    @property
    def sendable(self) -> bool:
        """Whether nothing in it would be read as something else."""
        told = [self.target, *(value for _, value in self.headers)]
        whole = all(one and one.isprintable() and one == one.strip(" ") for one in told)
        return whole and self.target.isascii() and " " not in self.target


class Incoming(Protocol):
    """A response of which more and more is there.

    It is `lasting` if another request may follow on the same connection.
    """

    status: int | None
    headers: Mapping[str, str]
    whole: bool
    lasting: bool

    def take(self, data: bytes) -> Iterator[bytes]:
        """Take what came; yield what of it is body. No bytes at all are the end.

        Raises:
            NotHttpError: it cannot be read.
        """


def incoming(request: Request, body: bytes, first: bytes) -> Incoming:
    """Return the response to a request by the first bytes of it, which are yet to be taken."""
    head = _HEAD.match(first) if request.method != "CONNECT" else None
    plain = head and _plain(head)
    if plain:
        return plain
    from markscheme.ask.parsed import Parsed  # noqa: PLC0415 - takes time to load

    return Parsed(request, body)


def _plain(head: re.Match[bytes]) -> _Plain | None:
    lines = head[3].decode("latin-1").split("\r\n")[1:]
    pairs = [line.split(":", 1) for line in lines]
    headers = {name.lower(): value.removeprefix(" ") for name, value in pairs}
    length, status = headers.get("content-length", ""), int(head[2])
    then = headers.get("connection", "keep-alive").lower()
    if len(headers) < len(pairs) or not _FRAMING.isdisjoint(headers) or status in _BODILESS:
        return None
    known = length.isdecimal() and length.isascii() and len(length) <= _LONGEST
    if not known or then not in _CONNECTIONS:
        return None
    lasting = head[1] == b"1" and then == "keep-alive"
    return _Plain(status, headers, head.end(), int(length), lasting=lasting)


class _Plain:
    """A response whose head is known, and of whose body so many bytes are still to come."""

    def __init__(
        self, status: int, headers: Mapping[str, str], skipped: int, left: int, *, lasting: bool
    ) -> None:
        self.status: int | None = status
        self.headers = headers
        self.whole = False
        self.lasting = lasting
        self._skipped, self._left = skipped, left

    def take(self, data: bytes) -> Iterator[bytes]:
        body, self._skipped = data[self._skipped :], 0
        self.lasting = self.lasting and len(body) <= self._left
        yield body[: self._left]
        self._left = max(0, self._left - len(body))
        self.whole = not self._left
