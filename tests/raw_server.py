"""A server on loopback that says exactly the bytes that a test wants, whatever they are.

`say` is called for every request, with the how-many-eth on its connection and its key, and returns
the parts that are written one after the other; a number of them is a pause in seconds, and `None`
closes the connection.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

Say = Callable[[int, str], Iterable[bytes | float | None]]


class RawServer:
    """Says what it is told to."""

    def __init__(self, say: Say, tls: ssl.SSLContext | None = None) -> None:
        self._say = say
        self._tls = tls
        started = threading.Event()
        run = lambda: asyncio.run(self._serve(started))  # noqa: E731
        threading.Thread(target=run, daemon=True).start()
        assert started.wait(10)

    async def _serve(self, started: threading.Event) -> None:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=self._tls)
        scheme = "https" if self._tls else "http"
        self.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        started.set()
        await server.serve_forever()

    async def _talk(self, heard: asyncio.StreamReader, wire: asyncio.StreamWriter) -> None:
        nth = 0
        try:
            while True:
                head = (await heard.readuntil(b"\r\n\r\n")).decode("latin-1")
                lines = (line.split(": ", 1) for line in head.split("\r\n")[1:-2])
                headers = {name.lower(): value for name, value in lines}
                await heard.readexactly(int(headers["content-length"]))
                nth += 1
                for part in self._say(nth, headers.get("authorization", "").partition(" ")[2]):
                    if part is None:
                        return
                    if isinstance(part, float):
                        await asyncio.sleep(part)
                    else:
                        wire.write(part)
                        await wire.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            wire.close()


def http(body: bytes | str | Any, status: str = "200 OK", *headers: str) -> bytes:
    """Return a response; what is neither bytes nor text is written as JSON."""
    body = body if isinstance(body, bytes | str) else json.dumps(body)
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(body: str) -> bytes:
    """Return a response in chunks whose end is yet to come."""
    whole = body.encode()
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + f"{len(whole):x}\r\n".encode() + whole + b"\r\n"


def completion(content: Any, **more: Any) -> dict[str, Any]:
    """Return a completion with this content."""
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message, "finish_reason": "stop"} | more]}


def event(content: Any, reason: str | None = None, **more: Any) -> str:
    """Return the line of an event with a part of an answer, without its end."""
    choice = {"delta": {"content": content}, "finish_reason": reason} | more
    return f"data: {json.dumps({'choices': [choice]})}"


def always(*parts: bytes | float | None) -> Say:
    """Say the same to every request."""
    return lambda *_: parts


YES = http(completion("yes"))
DONE = "data: [DONE]"
STREAMED = f"{event('ye')}\n\n{event('s', 'stop')}\n\n{DONE}\n\n"
