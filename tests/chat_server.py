"""An OpenAI-compatible server on loopback that behaves as badly as a prompt asks it to.

    python tests/chat_server.py [PORT] [DELAY] [ANSWER] [apart]

The last line of a prompt says how: `busy 7` is told to wait once, `hang 3` never gets an answer,
and anything else is answered after the delay. `GET /counts` tells how often each prompt was asked
and answered. With `apart` it writes the head and the body of a response one after the other, and
the system holds the second back until the first was acknowledged, as with `http.server`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import selectors
import socket
import sys
import threading
from collections import Counter
from typing import Any

HUGE = 5_000_000


class ChatServer:
    """Answers, misbehaves, and counts."""

    def __init__(self, delay: float = 0.0, answer: str = "yes", *, apart: bool = False) -> None:
        self.delay = delay
        self.answer = answer
        self.apart = apart
        self.counts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.order: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.running = self.most_running = self.connections = 0
        self.room = 10**9
        self.url = ""

    async def serve(self, port: int, started: threading.Event | None = None) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Talk(self), "127.0.0.1", port, backlog=1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        if started:
            started.set()
        else:
            sys.stdout.write(f"{self.url}\n")
            sys.stdout.flush()
        await server.serve_forever()

    def start(self) -> None:
        """Serve from a thread of this process."""
        started = threading.Event()
        run = lambda: asyncio.run(self.serve(0, started))  # noqa: E731
        threading.Thread(target=run, daemon=True).start()
        assert started.wait(10)


class _Talk(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server
        self._heard = b""
        self._wire: asyncio.Transport
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = transport  # type: ignore[assignment]
        self._server.connections += 1
        if self._server.apart:
            connected = transport.get_extra_info("socket")
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, end, rest = self._heard.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._heard = rest[length:]
        if lines[0].startswith("GET"):
            told = {"counts": self._server.counts, "answered": self._server.answered}
            self._send(json.dumps(told).encode())
            return
        self._server.headers.append(headers)
        self._hear(json.loads(rest[:length]), headers.get("authorization", ""))

    def _hear(self, body: dict[str, Any], key: str) -> None:
        server = self._server
        prompt = body["messages"][-1]["content"].splitlines()[-1]
        server.counts[prompt] += 1
        server.order.append((body["model"], prompt))
        server.bodies.append(body)
        server.running += 1
        server.most_running = max(server.most_running, server.running)
        if server.running > server.room:
            server.running -= 1
            self._send(b'{"error": "too many"}', "429 Too Many Requests")
            return
        word = prompt.split()[0]
        nth = server.counts[prompt]
        behave = getattr(self, f"_{word}", None)
        if behave is not None:
            server.running -= 1
            behave(nth, prompt, body, key)
        else:
            loop = asyncio.get_running_loop()
            loop.call_later(server.delay, self._answer, prompt)

    def _answer(self, prompt: str) -> None:
        self._server.running -= 1
        self._say(prompt, self._server.answer)

    def _say(self, prompt: str, text: str | None, **more: Any) -> None:
        self._server.answered[prompt] += 1
        self._send(json.dumps(completion(text, **more)).encode())

    def _send(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", "content-type: application/json", *headers]
        lines.append(f"content-length: {len(body)}")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        for part in (head, body) if self._server.apart else (head + body,):
            self._wire.write(part)

    # --- ways to misbehave: the how-many-eth time, the prompt, the body, the key ---

    def _busy(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"{}", "429 Too Many Requests", "retry-after: 0.05")
        else:
            self._say(prompt, "yes")

    def _crowded(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"slow down", "429 Too Many Requests")
        else:
            self._say(prompt, "yes")

    def _filtered(self, *_: Any) -> None:
        self._send(b'{"error": "content filter"}', "400 Bad Request")

    def _late(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"not yet", "500 Internal Server Error")
        else:
            self._say(prompt, "yes")

    def _overloaded(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b'{"error": {"type": "overloaded_error"}}', "529 Overloaded")
        else:
            self._say(prompt, "yes")

    def _restarting(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"", "503 Unavailable", "retry-after: 0.5")
        else:
            self._say(prompt, "yes")

    def _shaky(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"<html>oops</html>", "500 Internal Server Error", "retry-after: 0")
        else:
            self._say(prompt, "yes")

    def _down(self, *_: Any) -> None:
        self._send(b'{"error": {"message": "out of order"}}', "503 Unavailable", "retry-after: 0")

    def _tomorrow(self, nth: int, prompt: str, *_: Any) -> None:
        if nth == 1:
            self._send(b"", "503 Unavailable", "retry-after: 86400")
        else:
            self._say(prompt, "yes")

    def _hang(self, *_: Any) -> None:
        pass

    def _reset(self, *_: Any) -> None:
        whole = json.dumps(completion("yes")).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(whole)}\r\n\r\n"
        self._wire.write(head.encode() + whole[:40])
        asyncio.get_running_loop().call_later(0.02, self._wire.abort)

    def _half(self, *_: Any) -> None:
        self._send(json.dumps(completion("yes")).encode()[:60])

    def _latin(self, *_: Any) -> None:
        self._send(json.dumps(completion("sí"), ensure_ascii=False).encode("latin-1"))

    def _huge(self, _: int, prompt: str, *__: Any) -> None:
        self._say(prompt, "yes " * (HUGE // 4))

    def _refuse(self, _: int, prompt: str, *__: Any) -> None:
        self._say(prompt, None, refusal="I cannot help with that.")

    def _cut(self, _: int, prompt: str, *__: Any) -> None:
        self._say(prompt, "yes", finish_reason="length")

    def _reject(self, *_: Any) -> None:
        self._send(b'{"error": {"message": "no such model"}}', "404 Not Found")

    def _heavy(self, *_: Any) -> None:
        self._send(b"too much", "413 Content Too Large", "retry-after: 20")

    def _schemaless(self, *_: Any) -> None:
        said = b'{"error": {"message": "unknown field response_format"}}'
        self._send(said, "400 Bad Request")

    def _strict(self, nth: int, prompt: str, body: dict[str, Any], key: str) -> None:
        if "stream_options" in body:
            told = [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]
            said = json.dumps({"message": {"detail": told}}).encode()
            self._send(said, "422 Unprocessable Entity", "retry-after: 20")
        else:
            self._stream(nth, prompt, body, key)

    def _reasoner(self, _: int, prompt: str, body: dict[str, Any], __: str) -> None:
        if "max_tokens" in body:
            said = b"'max_tokens' is not supported. Use 'max_completion_tokens' instead."
            self._send(said, "400 Bad Request")
        else:
            self._say(prompt, "yes")

    def _tell(self, _: int, __: str, ___: Any, key: str) -> None:
        said = json.dumps({"error": {"message": f"wrong key: {key}"}}).encode()
        self._send(said, "400 Bad Request")

    def _lengthy(self, _: int, __: str, ___: Any, key: str) -> None:
        self._send(f"{'x' * 180} {key} {'x' * 180}".encode(), "400 Bad Request")

    def _packed(self, _: int, prompt: str, *__: Any) -> None:
        self._server.answered[prompt] += 1
        whole = b"\xef\xbb\xbf" + json.dumps(completion("yes")).encode()
        self._send(gzip.compress(whole), "200 OK", "content-encoding: gzip")

    def _nul(self, nth: int, prompt: str, *_: Any) -> None:
        self._say(prompt, "yes" if nth > 1 else "\0")

    def _boast(self, _: int, prompt: str, *__: Any) -> None:
        self._server.answered[prompt] += 1
        usage = {"prompt_tokens": 2**63, "completion_tokens": 5, "cost": "1e400"}
        self._send(json.dumps({**completion("yes"), "usage": usage}).encode())

    def _parrot(self, _: int, prompt: str, __: Any, key: str) -> None:
        self._say(prompt, f"yes {key}")

    def _empty(self, *_: Any) -> None:
        self._send(b"{}")

    def _moved(self, *_: Any) -> None:
        self._send(b"", "302 Found", f"location: {self._server.url}/elsewhere")

    def _rubbish(self, *_: Any) -> None:
        self._wire.write(b"this is no HTTP\r\n\r\n")

    def _chunks(self, _: int, prompt: str, *__: Any) -> None:
        whole = json.dumps(completion("yes")).encode()
        self._wire.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for start in range(0, len(whole), 50):
            part = whole[start : start + 50]
            self._wire.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        self._wire.write(b"0\r\n\r\n")
        self._server.answered[prompt] += 1

    def _closing(self, _: int, prompt: str, *__: Any) -> None:
        whole = json.dumps(completion("yes")).encode()
        self._wire.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + whole)
        self._wire.close()
        self._server.answered[prompt] += 1

    def _stream(self, _: int, prompt: str, body: dict[str, Any], __: str) -> None:
        assert body["stream"]
        self._wire.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        parts: list[dict[str, Any]] = [{"content": "ye"}, {"content": "s"}]
        events: list[Any] = [{"choices": [{"delta": delta}]} for delta in parts]
        events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        events.append({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
        texts = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
        loop = asyncio.get_running_loop()
        for place, text in enumerate(texts):
            loop.call_later(0.05 * (place + 2), self._wire.write, text.encode())
        loop.call_later(0.05 * (len(texts) + 2), self._wire.close)
        self._server.answered[prompt] += 1

    def _sink(self, *_: Any) -> None:
        self._wire.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        self._wire.write(b'data: {"choices": [{"delta": {"content": "ye"}}]}\n\n')
        self._wire.write(b'data: {"error": {"message": "overloaded"}}\n\ndata: [DONE]\n\n')
        self._wire.close()

    def _trickle(self, *_: Any) -> None:
        self._wire.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        self._wire.write(b'data: {"choices": [{"delta": {"content": "ye"}}]}\n\n')
        asyncio.get_running_loop().call_later(0.05, self._wire.close)


def completion(
    text: str | None, finish_reason: str = "stop", refusal: str | None = None
) -> dict[str, Any]:
    """Return a completion; every one has the same id."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "same",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        "object": "chat.completion",
        "created": 0,
        "model": "m",
    }


def main() -> None:
    port, delay, answer, *apart = (*sys.argv[1:], *("0", "0.1", "yes")[len(sys.argv) - 1 :])
    server = ChatServer(float(delay), answer, apart=apart == ["apart"])
    with asyncio.Runner(loop_factory=_punctual) as runner:
        runner.run(server.serve(int(port)))


def _punctual() -> asyncio.AbstractEventLoop:
    """Return a loop that waits as long as it is told; the usual one rounds up to milliseconds."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    main()
