"""HTTP on the wire: one address, many requests at once, each on a connection of its own.

A general client spends several times the CPU (docs/decisions/0019). Redirects are not followed,
because the key would go with them.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markscheme.ask.incoming import Incoming, NotHttpError, Request, incoming
from markscheme.ask.packed import BrokenPackError, Unpacking
from markscheme.ask.replies import Fault
from markscheme.ask.secrets import environment_secrets
from markscheme.version import __version__
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    Hear = Callable[[bytes], bool]

LARGEST = 64_000_000  # bytes of a response
_PORTS = {"http": 80, "https": 443}
_SYSTEM_PROXIES = {"darwin", "win32"}  # where settings beside the environment name them
_LENGTHS = 512  # of bodies, for which the head of a request is kept
_SHORTLY = 1.0  # seconds in which it shows that a server let go of a connection
_ENDING = 1.0  # and in which a response ends of which all was heard
_OK = range(200, 300)
_AT_ONCE = getattr(socket, "TCP_QUICKACK", None)  # where the system can say so


class HttpError(Exception):
    """There is no response, or only a part of one.

    It was `let_go` where a connection that had been kept was closed before a byte came: another
    one will do, but whether the request was seen nobody knows, so who sends it again counts it.
    """

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault
        self.why = why
        self.is_stale_connection = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A whole response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the server says that all is well."""
        return self.status in _OK


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAddress:
    """Where requests go; holds no user and no password."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> HttpAddress:
        """Take a URL apart, or say what is wrong with it."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        more = "@" in parts.netloc or parts.query or parts.fragment
        if parts.scheme not in _PORTS or not parts.hostname or more:
            told = "write http://HOST:PORT/v1 or https://…, without user, password, `?` and `#`"
            named = url.rpartition("@")[2].partition("?")[0]  # a secret may stand in the rest
            named = environment_secrets().certain.redact(named)
            raise UsageError(f"{format_value(named)} is no address that can be asked; {told}")
        port = _PORTS[parts.scheme] if port is None else port
        return cls(scheme=parts.scheme, host=parts.hostname, port=port, path=parts.path.rstrip("/"))

    @property
    def host_and_port(self) -> str:
        """The host, with the port where it is not the usual one."""
        usual = self.port == _PORTS[self.scheme]
        return self.bracketed if usual else f"{self.bracketed}:{self.port}"

    @property
    def bracketed(self) -> str:
        """The host as it stands before a port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_and_port}{self.path}"


class HttpClient:
    """Sends requests to one address, and keeps connections for those that follow."""

    def __init__(self, address: HttpAddress, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = tuple(headers.items())
        self._idle: list[_Connection] = []
        self._ending: dict[_Connection, asyncio.TimerHandle] = {}
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._proxy = _proxy_for(address)
        self._request = lru_cache(_LENGTHS)(self._checked)  # writing costs more than sending

    async def post(self, body: bytes, path: str, hear: Hear | None = None) -> HttpResponse:
        """Post a body; `hear` is given the bytes of the response as they come.

        Once it says that it has heard all, the response is as whole as it needs to be.
        """
        request = self._request(len(body), path)
        kept = self._waiting()
        try:
            return await self._exchange(kept or await self._connected(), request, body, hear)
        except HttpError as error:
            error.is_stale_connection = kept is not None and kept.let_go
            if error.is_stale_connection:
                self.close()  # the others that wait are most likely closed too
            raise

    async def _exchange(
        self, connection: _Connection, request: Request, body: bytes, hear: Hear | None
    ) -> HttpResponse:
        try:
            response = await connection.exchange(request, body, hear)
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return response

    def _keep(self, connection: _Connection) -> None:
        """Keep a connection for the next request, or let go of it; wait a little for its end."""
        if connection.ending:
            settle = partial(self._settle, connection)
            self._ending[connection] = asyncio.get_running_loop().call_later(_ENDING, settle)
            connection.then = settle
        else:
            self._settle(connection)

    def _settle(self, connection: _Connection) -> None:
        """Keep a connection whose response has ended; let go of one that is still open."""
        if timer := self._ending.pop(connection, None):
            timer.cancel()
        if connection.reusable:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Let go of every connection."""
        for connection in [*self._ending]:
            connection.close()
            self._settle(connection)
        while self._idle:
            self._idle.pop().close()

    def _waiting(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
        return None

    def _checked(self, length: int, path: str) -> Request:
        through = self._proxy and not self._tls  # a proxy needs the whole address
        whole = f"http://{self._address.host_and_port}" if through else ""
        fixed = (
            ("host", self._address.host_and_port),
            ("content-type", "application/json"),
            ("accept-encoding", "identity"),
            ("user-agent", f"markscheme/{__version__}"),
            ("content-length", str(length)),
        )
        target = f"{whole}{self._address.path}{path}"
        return _request("POST", target, *fixed, *self._headers)

    async def _connected(self) -> _Connection:
        loop, to = asyncio.get_running_loop(), self._proxy or self._address
        tls = None if self._proxy else self._tls
        try:
            _, made = await loop.create_connection(_Connection, to.host, to.port, ssl=tls)
            if self._proxy and self._tls:
                await _tunnelled(made, self._address, self._tls)
        except ssl.SSLCertVerificationError as error:
            why = f"the certificate of {self._address.host_and_port} is not trusted: {error.verify_message}"
            helps = "name a file with the authority that signed it in SSL_CERT_FILE"
            raise HttpError(Fault.REJECTED, f"{why}; {helps}") from error
        except (OSError, UnicodeError) as error:  # a name may be none that can be looked up
            told = error.strerror or error if isinstance(error, OSError) else "no such host"
            why = f"cannot connect to {to.host_and_port}: {told}"
            raise HttpError(Fault.UNREACHABLE, why) from error
        return made


async def _tunnelled(made: _Connection, to: HttpAddress, tls: ssl.SSLContext) -> None:
    """Go through a proxy; a connection that leads nowhere is nobody's to close later."""
    try:
        await made.tunnel(to, tls)
    except BaseException:
        made.close()
        raise


class _Connection(asyncio.Protocol):
    """One connection: one request, then its response, then the next request."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._request: tuple[Request, bytes] | None = None
        self._incoming: Incoming | None = None
        self._response: asyncio.Future[HttpResponse] | None = None
        self._body: list[bytes] = []
        self._size = self._unpacked = 0
        self._unpacking: Unpacking | None = None
        self._hear: Hear | None = None
        self._heard = False  # all that is needed
        self.then: Callable[[], None] | None = None  # when the response has ended after all
        self._open = True
        self._free = True
        self._sent_at = 0.0
        self.let_go = False  # the server closed it, most likely before it saw the last request

    @property
    def reusable(self) -> bool:
        """Whether another request can go this way."""
        return self._open and self._free

    @property
    def ending(self) -> bool:
        """Whether the end of a response is yet to come, of which all that matters was heard."""
        return self._open and self._heard and self._request is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = transport  # type: ignore[assignment]

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end; a response that was under way is broken off."""
        passed = asyncio.get_running_loop().time() - self._sent_at
        self.let_go = self._open and not self._size and passed < _SHORTLY
        self._open = False
        why = "the connection was closed" if exc is None else f"the connection broke: {exc}"
        self._fail(HttpError(Fault.BROKEN_OFF, f"{why} before the answer was whole"))

    def eof_received(self) -> None:
        """Take it that nothing more comes: some responses end like this."""
        self._take(b"")

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self._size += len(data)
        if self._size > LARGEST:
            self._fail(_too_large())
            self.close()
        else:
            self._take(data)

    async def exchange(self, request: Request, body: bytes, hear: Hear | None) -> HttpResponse:
        """Send a request and wait for the whole response to it."""
        if self._transport is None or not self._open:
            raise HttpError(Fault.BROKEN_OFF, "the connection was closed")
        self._response = asyncio.get_running_loop().create_future()
        self._request, self._incoming = (request, body), None
        self._body, self._size, self._hear, self._free = [], 0, hear, False
        self._unpacking, self._unpacked = None, 0
        self._heard, self.then = False, None
        self._sent_at = asyncio.get_running_loop().time()
        self._transport.write(request.written + body)
        return await self._response

    async def tunnel(self, to: HttpAddress, tls: ssl.SSLContext) -> None:
        """Let a proxy connect us, and speak TLS through it."""
        named = f"{to.bracketed}:{to.port}"
        request = _request("CONNECT", named, ("host", named))
        response = await self.exchange(request, b"", None)
        if not response.ok or self._transport is None:
            raise HttpError(Fault.UNREACHABLE, f"the proxy says {response.status}")
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._transport, self, tls, server_hostname=to.host)

    def close(self) -> None:
        """Let go."""
        self._open = False
        if self._transport is not None:
            self._transport.abort()

    def _take(self, data: bytes) -> None:
        """Take a part of the response; what nobody asked for ends the connection."""
        if self._request is None:
            self.close()
            return
        try:
            if self._incoming is None:
                self._incoming = incoming(*self._request, data)
            for part in self._incoming.take(data):
                self._hold(part, self._incoming.headers.get("content-encoding"))
                if self._heard:
                    self._answer(self._incoming)
        except HttpError as error:
            self._fail(error)
            self.close()
            return
        except NotHttpError as error:
            known = self._incoming is not None and self._incoming.status is not None
            fault = Fault.BROKEN_OFF if known else Fault.GARBLED
            self._fail(HttpError(fault, f"the response is no whole HTTP: {error}"))
            self.close()
            return
        if self._incoming.whole:
            self._finish(self._incoming)
        else:
            self._acknowledge()

    def _hold(self, part: bytes, encoding: str | None) -> None:
        """Keep a part of the body, and let it be heard; some come packed."""
        if encoding is not None:
            self._unpacking = self._unpacking or Unpacking(encoding)
            try:
                part = self._unpacking.take(part, LARGEST + 1 - self._unpacked)
            except BrokenPackError as error:
                raise HttpError(Fault.GARBLED, "the response is packed, and broken") from error
            self._unpacked += len(part)
            if self._unpacked > LARGEST:
                raise _too_large()
        self._body.append(part)
        if self._hear:
            self._heard = self._hear(part)

    def _acknowledge(self) -> None:
        """Tell the other side at once that a part came: many hold back the rest until then."""
        if self._transport is not None and _AT_ONCE is not None:
            with suppress(OSError):
                connected = self._transport.get_extra_info("socket")
                connected.setsockopt(socket.IPPROTO_TCP, _AT_ONCE, 1)

    def _finish(self, found: Incoming) -> None:
        self._request, self._free = None, found.lasting
        self._answer(found)
        if self.then is not None:
            self.then()

    def _answer(self, found: Incoming) -> None:
        if self._response and found.status is not None and not self._response.done():
            body = b"".join(self._body)
            response = HttpResponse(status=found.status, headers=found.headers, body=body)
            self._response.set_result(response)

    def _fail(self, error: HttpError) -> None:
        if self._response and not self._response.done():
            self._response.set_exception(error)


def _request(method: str, target: str, *headers: tuple[str, str]) -> Request:
    request = Request(method, target, headers)
    if not request.sendable:  # why is not told: it may hold the key
        raise HttpError(Fault.REJECTED, "the request cannot be sent over HTTP")
    return request


def _too_large() -> HttpError:
    return HttpError(Fault.TOO_LARGE, f"the response is larger than {LARGEST:,} bytes")


def _proxy_for(address: HttpAddress) -> HttpAddress | None:
    """Return the proxy that the environment names for this address."""
    named = any(name.lower().endswith("_proxy") for name in os.environ)
    if not named and sys.platform not in _SYSTEM_PROXIES:
        return None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - few have a proxy

    proxy = getproxies().get(address.scheme)
    if not proxy or _is_this_machine(address.host) or proxy_bypass(address.host):
        return None
    try:
        found = HttpAddress.parse(proxy if "://" in proxy else f"http://{proxy}")
    except UsageError as error:
        raise UsageError(f"the proxy of the environment: {error}") from error
    if found.scheme != "http":
        told = (
            f"the proxy of the environment: {format_value(str(found))} is to be spoken to over TLS"
        )
        raise UsageError(f"{told}, which is not done; name one with http://")
    return found


def _is_this_machine(host: str) -> bool:
    """Whether an address is that of loopback, which no proxy can reach for us."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415 - few have a proxy

    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))  # it may be written 127.1
    try:
        found = ip_address(host)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return any(one.is_loopback or one.is_unspecified for one in (found, mapped) if one)
