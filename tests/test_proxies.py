"""Proxies of the environment: when they are used, what they are sent, what is closed."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from chat_server import completion
from markscheme.ask.http import HttpAddress, HttpClient, HttpError
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DENIED = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"


class Proxy:
    """Hears one request on each connection, and says one thing to all of them."""

    def __init__(self, says: bytes) -> None:
        self.heard: list[bytes] = []
        self.open = 0
        self._says = says

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            self.heard.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self._says)
            await reader.read()
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()


@pytest.fixture(autouse=True)
def no_other_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def serving(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, login: str = ""
) -> AsyncIterator[None]:
    server = await asyncio.start_server(proxy.talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("https_proxy", f"http://{login}127.0.0.1:{port}")
    yield
    server.close()


async def tried(url: str, times: int) -> None:
    """Send requests that nobody answers, and close the client."""
    client = HttpClient(HttpAddress.parse(url), {"authorization": "Bearer secret-key"})
    for _ in range(times):
        with pytest.raises((HttpError, TimeoutError)):
            async with asyncio.timeout(0.1):
                await client.post(b"{}", "/chat")
    await client.close()
    await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    "says", [DENIED, b"", b"rubbish\r\n\r\n"], ids=["denies", "hangs", "raves"]
)
def test_nothing_stays_open_where_a_proxy_does_not_connect_us(
    says: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(says)

    async def open_after() -> int:
        async with serving(proxy, monkeypatch):
            await tried("https://far.example/v1", 5)
            return proxy.open

    assert asyncio.run(open_after()) == 0
    assert len(proxy.heard) == 5


@pytest.mark.parametrize(
    ("host", "named"), [("[fd00::1]:8443", b"[fd00::1]:8443"), ("far.example", b"far.example:443")]
)
def test_a_proxy_is_told_the_host_and_the_port(
    host: str, named: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(DENIED)

    async def ask() -> None:
        async with serving(proxy, monkeypatch):
            await tried(f"https://{host}/v1", 1)

    asyncio.run(ask())
    (head,) = proxy.heard
    assert head.startswith(b"CONNECT %b HTTP/1.1\r\n" % named)
    assert b"authorization" not in head.lower()


def test_a_proxy_that_wants_tls_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "https://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"`https://127.0.0.1:1` .* name one with http://"):
        HttpClient(HttpAddress.parse("https://far.example/v1"), {})


NAMES = (
    "127.0.0.1 127.1 127.8.9.10 0.0.0.0 localhost LOCALHOST. me.localhost [::1] [::ffff:127.0.0.1]"
)


@pytest.mark.parametrize("host", NAMES.split())
def test_this_machine_is_asked_without_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert HttpClient(HttpAddress.parse(f"http://{host}:5555/v1"), {})._proxy is None


@pytest.mark.parametrize("host", ["far.example", "127.far.example", "10.0.0.1", "[fd00::1]"])
def test_any_other_is_asked_through_it(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert (
        str(HttpClient(HttpAddress.parse(f"http://{host}/v1"), {})._proxy) == "http://127.0.0.1:9"
    )


def test_a_proxy_that_cannot_be_used_is_named_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:secret@proxy:port")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(UsageError, match=r"the proxy of the environment: .*proxy:port`") as refused:
        HttpClient(HttpAddress.parse("http://h/v1"), {})
    assert "secret" not in str(refused.value)


async def _proxied(monkeypatch: pytest.MonkeyPatch, login: str = "") -> tuple[bytes, int]:
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        body = json.dumps(completion("yes")).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://{login}127.0.0.1:{port}")
    monkeypatch.setenv("no_proxy", "")
    client = HttpClient(HttpAddress.parse("http://far.example/v1"), {})
    response = await client.post(b"{}", "/chat")
    await client.close()
    server.close()
    return heard[0], response.status


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    request, status = asyncio.run(_proxied(monkeypatch))
    assert request.startswith(b"POST http://far.example/v1/chat HTTP/1.1\r\n")
    assert status == 200


def test_a_proxy_with_a_password_is_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    request, status = asyncio.run(_proxied(monkeypatch, "me:p%40ss@"))
    assert b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss") in request
    assert status == 200


def test_a_password_of_a_proxy_is_given_to_it_before_it_connects_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = Proxy(DENIED)

    async def ask() -> None:
        async with serving(proxy, monkeypatch, "me:p%40ss@"):
            await tried("https://far.example/v1", 1)

    asyncio.run(ask())
    (head,) = proxy.heard
    assert b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss") in head
    assert b"secret-key" not in head
