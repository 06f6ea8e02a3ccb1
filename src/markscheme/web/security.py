"""What every request passes before any handler: host, origin, size of the body, safe headers.

docs/decisions says why: the app answers on a port of this machine, where any web page that the
user visits can send requests, also under a name of its own that leads here (DNS rebinding).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_MAX_DISCARDED_BYTES = 10_000_000
MAX_BODY_BYTES = 1_000_000
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With `no-referrer`, forms would be sent with the origin `null`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_NO_STORE = (b"cache-control", b"no-store")
_HOST_PATTERN = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class SecurityMiddleware:
    """Refuses requests that did not come from a page of ours, and adds headers to every answer."""

    def __init__(
        self, app: ASGIApp, *, host_names: Collection[str] = (), is_secure: bool = False
    ) -> None:
        self._app = app
        self._scheme = "https" if is_secure else "http"
        self._host_names = LOOPBACK_NAMES | {name.lower() for name in host_names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _add_headers(message["headers"])
            await send(message)

        refusal = self._find_refusal(scope)
        if refusal is not None:
            if refusal[0] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                await _discard_body(receive)
            await _send_refusal(send_safely, *refusal)
            return
        await self._app(scope, _limit_body(receive), send_safely)

    def _find_refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason if a request is refused."""
        headers = scope["headers"]
        host = self._parse_host(_get_values(headers, b"host"))
        if host is None:
            return 400, "This host name is not served here."
        if scope["method"] not in SAFE_METHODS and not self._is_from_here(headers, host):
            return 403, "This request did not come from a page of this app."
        length = _get_values(headers, b"content-length")
        if length and (not length[0].isdecimal() or int(length[0]) > MAX_BODY_BYTES):
            return 413, "The request is larger than 1 MB."
        return None

    def _parse_host(self, values: list[str]) -> tuple[str, str] | None:
        """Return name and port of the only Host header, if the name is one of ours."""
        match = _HOST_PATTERN.fullmatch(values[0]) if len(values) == 1 else None
        if match is None or match[1].lower() not in self._host_names:
            return None
        return match[1].lower(), match[2] or _DEFAULT_PORTS[self._scheme]

    def _is_from_here(self, headers: list[tuple[bytes, bytes]], host: tuple[str, str]) -> bool:
        """Whether a page of ours sent the request, by what only a browser can set.

        Over plain HTTP from another machine, browsers send no `Sec-Fetch-Site`.
        """
        site = _get_values(headers, b"sec-fetch-site")
        if site:
            return len(site) == 1 and site[0].lower() in {"same-origin", "none"}
        origin = _get_values(headers, b"origin")
        if len(origin) != 1:
            return False
        scheme, _, authority = origin[0].partition("://")
        match = _HOST_PATTERN.fullmatch(authority)
        if scheme not in _DEFAULT_PORTS or match is None:
            return False
        return (match[1].lower(), match[2] or _DEFAULT_PORTS[scheme]) == host


def _get_values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]


def _add_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Add the safe headers; pages are not cached unless their handler says so."""
    own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
    if any(name.lower() == b"cache-control" for name, _ in headers):
        return [*headers, *own]
    return [*headers, *own, _NO_STORE]


async def _discard_body(receive: Receive) -> None:
    """Take in a body that is somewhat too large: many clients read no answer while they send."""
    discarded = 0
    while discarded < _MAX_DISCARDED_BYTES:
        message = await receive()
        discarded += len(message.get("body", b""))
        if not message.get("more_body", False):
            return


def _limit_body(receive: Receive) -> Receive:
    """Count what arrives: a body without a length may go on for ever."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise HTTPException(413)
        return message

    return receive_limited


async def _send_refusal(send: Send, status: int, reason: str) -> None:
    """Answer in plain text: nothing of the request is known to be true, also not its language."""
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
