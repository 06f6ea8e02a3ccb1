"""HTTP client: addresses, certificates, and connections that are kept or closed."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from chat_server import ChatServer, completion
from markscheme.ask.completions import CompletionStream
from markscheme.ask.http import HttpAddress, HttpClient, HttpError
from markscheme.ask.runner import Runner
from markscheme.ask.secrets import Secrets
from markscheme.vocabulary import UsageError
from raw_server import DONE, YES, RawServer, always, chunked
from wild_servers import error

if TYPE_CHECKING:
    from pathlib import Path

    from wild_servers import Ask


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
    monkeypatch.setattr(Runner, "_compute_backoff", lambda *_: pytest.fail("it waited"))
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


def test_a_connection_is_used_again_when_the_end_of_a_stream_came_too() -> None:
    nths: list[int] = []

    def say(nth: int, _: str) -> tuple[bytes | float | None, ...]:
        nths.append(nth)
        return (chunked(f"{DONE}\n\n"), 0.2, b"0\r\n\r\n")

    async def asked() -> None:
        client = HttpClient(HttpAddress.parse(RawServer(say).url), {})
        heard = CompletionStream(lambda: 0, Secrets()).feed
        for _ in range(2):
            await client.post(b"{}", "/", heard)
            assert len(client._draining) == 1
            await asyncio.wait(client._draining)
        await client.close()

    asyncio.run(asyncio.wait_for(asked(), 30))
    assert nths == [1, 2]


def test_no_connection_is_left_when_a_stream_is_given_up_before_its_end() -> None:
    async def asked() -> int:
        client = HttpClient(HttpAddress.parse(RawServer(always(chunked(f"{DONE}\n\n"))).url), {})
        await client.post(b"{}", "/", CompletionStream(lambda: 0, Secrets()).feed)
        left = len(client._draining)
        await client.close()
        assert not client._draining
        return left

    assert asyncio.run(asyncio.wait_for(asked(), 30)) == 1


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


@pytest.mark.parametrize(
    "url",
    ["ftp://h", "h:80", "http://", "http://u:p@h", "http://h:port", "http://h?key=k", "http://h#k"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        HttpAddress.parse(url)


def test_an_address_that_is_refused_does_not_show_what_may_be_a_key() -> None:
    for url in ("http://h/v1?key=secret", "http://me:secret@h/v1"):
        with pytest.raises(UsageError) as refused:
            HttpAddress.parse(url)
        assert "secret" not in str(refused.value)


def test_an_address_is_told_as_it_is_used() -> None:
    assert str(HttpAddress.parse("http://h:80/v1/")) == "http://h/v1"
    assert str(HttpAddress.parse("https://[::1]:8443/v1")) == "https://[::1]:8443/v1"


@pytest.mark.parametrize("apart", [False, True], ids=["in one piece", "head and body apart"])
def test_connections_are_used_again(*, apart: bool) -> None:
    server = ChatServer(apart=apart)
    server.start()

    async def asked() -> None:
        client = HttpClient(HttpAddress.parse(server.url), {})
        body = json.dumps({"model": "m", "messages": [{"content": "fine"}]}).encode()
        for _ in range(5):
            response = await client.post(body, "/chat/completions")
            assert json.loads(response.body) == completion("yes")
        await client.close()

    asyncio.run(asked())
    assert server.connections == 1


def test_a_header_that_cannot_be_sent_is_not_shown() -> None:
    server = ChatServer()
    server.start()

    async def asked() -> None:
        await HttpClient(HttpAddress.parse(server.url), {"authorization": "Bearer sec\nret"}).post(
            b"", "/"
        )

    with pytest.raises(HttpError, match="cannot be sent") as error:
        asyncio.run(asked())
    assert error.value.__cause__ is None
