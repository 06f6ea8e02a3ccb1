"""HTTP client for one endpoint, built on aiohttp: it posts JSON and follows no redirect.

aiohttp does the connections, TLS, compression and parsing. This module adds what a live run needs:
redirects are refused, because the key would go with them; a response has a size limit; a kept
connection that turns out to be closed is reported as such, so that the caller asks again at once;
and every way to fail becomes an `HttpError` whose text holds nothing that a server sent.

aiohttp is loaded by the first client, because it costs more than the rest of a small command.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markscheme.ask.replies import Fault
from markscheme.ask.secrets import environment_secrets
from markscheme.version import __version__
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    import aiohttp

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SYSTEM_PROXY_PLATFORMS = {"darwin", "win32"}  # they can name a proxy outside the environment


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAddress:
    """The base URL of an endpoint or a proxy, without user and password."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> HttpAddress:
        """Parse a base URL; raise `UsageError` for anything that cannot be one."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        has_extras = "@" in parts.netloc or parts.query or parts.fragment
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or has_extras:
            # The user part and the query may hold a secret, so they are not shown.
            shown = url.rpartition("@")[2].partition("?")[0]
            shown = format_value(environment_secrets().certain.redact(shown))
            advice = "write http://HOST:PORT/v1 or https://…, without user, password, `?` and `#`"
            raise UsageError(f"{shown} is no address that can be asked; {advice}")
        port = _DEFAULT_PORTS[parts.scheme] if port is None else port
        return cls(scheme=parts.scheme, host=parts.hostname, port=port, path=parts.path.rstrip("/"))

    @property
    def host_and_port(self) -> str:
        """The host, with the port where it is not the default one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_and_port}{self.path}"


def find_proxy(address: HttpAddress) -> tuple[HttpAddress | None, str | None]:
    """Return the proxy that the environment names for an address, and its URL with any password."""
    is_named = any(name.lower().endswith("_proxy") for name in os.environ)
    if not is_named and sys.platform not in _SYSTEM_PROXY_PLATFORMS:
        return None, None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - few have a proxy

    url = getproxies().get(address.scheme)
    if not url or _is_loopback(address.host) or proxy_bypass(address.host):
        return None, None
    scheme, _, rest = (url if "://" in url else f"http://{url}").partition("://")
    try:
        proxy = HttpAddress.parse(f"{scheme}://{rest.rpartition('@')[2]}")
    except UsageError as error:
        raise UsageError(f"the proxy of the environment: {error}") from error
    if proxy.scheme != "http":
        shown = format_value(str(proxy))
        why = f"the proxy of the environment: {shown} is to be spoken to over TLS"
        raise UsageError(f"{why}, which is not done; name one with http://")
    return proxy, f"{scheme}://{rest}"


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, which a proxy cannot reach for us."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415 - few have a proxy

    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))  # 127.1 is a spelling of 127.0.0.1
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(known.is_loopback or known.is_unspecified for known in (address, mapped) if known)


# Receives bytes of a body; returns True when it needs no more of them.
DataCallback = Callable[[bytes], bool]

LARGEST = 64_000_000  # bytes of a response body, after decompression
_STALE_SECONDS = 1.0  # a kept connection that closes this soon was most likely closed before
_DRAIN_SECONDS = 1.0  # how long the end of a response is awaited when its answer is complete
_QUICK_ACK = getattr(socket, "TCP_QUICKACK", None)  # Linux only


class HttpError(Exception):
    """No response, or only a part of one.

    `is_stale_connection` is true where a kept connection was closed before the first byte of the
    response: a new connection will do. Nobody knows whether the server saw the request, so the
    caller that sends it again counts it as another try.
    """

    def __init__(self, fault: Fault, why: str, *, is_stale_connection: bool = False) -> None:
        super().__init__(why)
        self.fault = fault
        self.why = why
        self.is_stale_connection = is_stale_connection


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A complete response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the class of statuses


class HttpClient:
    """Posts to one address, many requests at a time, over connections that are kept and reused."""

    def __init__(self, address: HttpAddress, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = {"user-agent": f"markscheme/{__version__}", **headers}
        # A context of our own: aiohttp makes its context once, at import, and would not see a
        # later SSL_CERT_FILE.
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._proxy, self._proxy_url = find_proxy(address)
        self._session: aiohttp.ClientSession | None = None
        self._draining: set[asyncio.Task[None]] = set()

    def open_session(self) -> aiohttp.ClientSession:
        """Load aiohttp and open its session, unless that is done; needs a running event loop.

        Call it before the first question, so that loading is not part of its latency.
        """
        if self._session is None:
            import aiohttp  # noqa: PLC0415 - see the module's docstring

            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_mark_reused)
            self._session = aiohttp.ClientSession(
                # The runner limits how many requests are under way, and for how long.
                connector=aiohttp.TCPConnector(limit=0, ssl=self._tls or True),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[trace],
            )
        return self._session

    async def post(
        self, body: bytes, path: str, on_data: DataCallback | None = None
    ) -> HttpResponse:
        """Post a JSON body and return the complete response.

        `on_data` receives the response body as it arrives. Once it returns True the response is
        complete, whatever the server does after that.
        """
        if not all(value.isprintable() for value in self._headers.values()):
            # The reason is not shown: the header may hold the key.
            raise HttpError(Fault.REJECTED, "the request cannot be sent over HTTP")
        session = self.open_session()
        exchange = _Exchange()
        try:
            response = await session.post(
                f"{self._address}{path}",
                data=body,
                headers={**self._headers, "content-type": "application/json"},
                allow_redirects=False,
                proxy=self._proxy_url,
                trace_request_ctx=exchange,
            )
            exchange.has_response = True
            try:
                return await self._read_response(response, on_data)
            except BaseException:
                response.close()
                raise
        except Exception as error:
            raise self._to_http_error(error, exchange) from error

    async def _read_response(
        self, response: aiohttp.ClientResponse, on_data: DataCallback | None
    ) -> HttpResponse:
        if response.connection is not None:
            _acknowledge_at_once(response.connection.transport)
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > LARGEST:
                raise HttpError(Fault.TOO_LARGE, f"the response is larger than {LARGEST:,} bytes")
            chunks.append(chunk)
            if on_data is not None and on_data(chunk):
                self._drain_later(response)
                break
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(status=response.status, headers=headers, body=b"".join(chunks))

    def _drain_later(self, response: aiohttp.ClientResponse) -> None:
        """Await the end of a response for a moment, so that its connection can be used again."""
        task = asyncio.create_task(_drain_response(response))
        self._draining.add(task)
        task.add_done_callback(self._draining.discard)
        # Not in the task itself: one that is cancelled before its first step runs no code.
        task.add_done_callback(lambda _: response.close())

    async def close(self) -> None:
        """Close every connection."""
        for task in self._draining:
            task.cancel()
        await asyncio.gather(*self._draining, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _to_http_error(self, error: Exception, exchange: _Exchange) -> HttpError:
        """Classify an exception of aiohttp; the text quotes nothing that the server sent."""
        import aiohttp  # noqa: PLC0415 - see the module's docstring

        match error:
            case HttpError():
                return error
            case aiohttp.ClientConnectorCertificateError():
                reason = getattr(error.certificate_error, "verify_message", "")
                why = f"the certificate of {self._address.host_and_port} is not trusted: {reason}"
                advice = "name a file with the authority that signed it in SSL_CERT_FILE"
                return HttpError(Fault.REJECTED, f"{why}; {advice}")
            case aiohttp.ClientHttpProxyError():
                return HttpError(Fault.UNREACHABLE, f"the proxy says {error.status}")
            case aiohttp.ClientConnectorError():
                return self._build_connect_error(error.os_error.strerror or error.os_error)
            case aiohttp.InvalidURL() | UnicodeError():
                return self._build_connect_error("no such host")
            case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
                broke = f" broke: {error}" if isinstance(error, OSError) else " was closed"
                why = f"the connection{broke} before the answer was whole"
                return HttpError(Fault.BROKEN_OFF, why, is_stale_connection=exchange.is_stale)
            case aiohttp.ClientPayloadError() | aiohttp.http.HttpProcessingError():
                if _is_caused_by(error, aiohttp.http_exceptions.ContentEncodingError):
                    return HttpError(Fault.GARBLED, "the response is packed, and broken")
                why = "the connection was closed before the answer was whole"
                return HttpError(Fault.BROKEN_OFF, why)
            case aiohttp.ClientResponseError():
                return HttpError(Fault.GARBLED, "the response is no HTTP")
        raise error

    def _build_connect_error(self, reason: object) -> HttpError:
        target = (self._proxy or self._address).host_and_port
        return HttpError(Fault.UNREACHABLE, f"cannot connect to {target}: {reason}")


class _Exchange:
    """What is known of one request when it fails."""

    def __init__(self) -> None:
        self._started_at = time.monotonic()
        self.is_reused = False
        self.has_response = False

    @property
    def is_stale(self) -> bool:
        """Whether a kept connection was most likely closed before the request arrived."""
        is_early = time.monotonic() - self._started_at < _STALE_SECONDS
        return self.is_reused and not self.has_response and is_early


async def _mark_reused(_session: object, context: Any, _params: object) -> None:
    context.trace_request_ctx.is_reused = True


async def _drain_response(response: aiohttp.ClientResponse) -> None:
    # Whatever follows the answer is no concern of the caller, errors included.
    with suppress(Exception):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


def _acknowledge_at_once(transport: asyncio.Transport | None) -> None:
    """Acknowledge a first part of a response: some servers hold back the rest until then."""
    connected = transport and transport.get_extra_info("socket")
    if connected and _QUICK_ACK is not None:
        with suppress(OSError):
            connected.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)


def _is_caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error is not None
