"""An OpenAI-compatible server on loopback that replies like a judge: with a mark for every id.

    python tests/judge_server.py [PORT] [DELAY]

Verdicts follow from the answer and the id alone, so that equal questions get equal replies. `GET
/counts` tells how often each question was asked. `refuses` says which kinds of `response_format`
get an error, with its status and message; `say` replies in place of `decide`.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

ANSWER = re.compile(r"^BEGIN answer (\w+)\n(.*?)\nEND answer \1$", re.DOTALL | re.MULTILINE)


ENTRY = re.compile(r"^([\w.-]+): .*((?:\n  .*)*)", re.MULTILINE)


def decide(body: dict[str, Any]) -> str:
    """Return the reply to a request: the ids are in its list, the verdict follows from both."""
    user = body["messages"][-1]["content"]
    answer = (ANSWER.search(user) or ["", "", user])[2]
    entries = ENTRY.findall(user.rpartition("\nList:\n")[2].partition("\n\n")[0])
    marks = [
        {"id": id_, "why": "as it says", "verdict": pick_verdict(id_, answer, details)}
        for id_, details in entries
    ]
    return json.dumps({"marks": marks})


def pick_verdict(id_: str, answer: str, details: str) -> Any:
    """Return a number of the anchors, one of the options, or true or false."""
    number = blake2b(f"{id_} {answer}".encode(), digest_size=2).digest()[0]
    anchors = sorted(map(int, re.findall(r"^  (-?\d+): ", details, re.MULTILINE)))
    options = sorted(re.findall(r'"([^"]*)"', details)) if "  one of " in details else []
    choices: list[Any] = anchors or options or [True, False]
    return choices[number % len(choices)]


class JudgeServer:
    """Replies after a delay, and counts."""

    def __init__(
        self,
        delay: float = 0.0,
        *,
        refuses: Mapping[str, tuple[str, str]] = MappingProxyType({}),
        say: Callable[[dict[str, Any]], str | dict[str, Any]] = decide,
    ) -> None:
        self.delay = delay
        self.model = "judge-2026-11-01"
        self.refuses = refuses
        self.say = say
        self.counts: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
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

    def __init__(self, server: JudgeServer) -> None:
        self._server = server
        self._heard = b""
        self._wire: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = transport  # type: ignore[assignment]

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
            self._send({"counts": self._server.counts})
        else:
            self._hear(json.loads(rest[:length]))

    def _hear(self, body: dict[str, Any]) -> None:
        server = self._server
        server.bodies.append(body)
        way = body.get("response_format", {}).get("type")
        if way in server.refuses:
            status, message = server.refuses[way]
            self._send({"error": {"message": message}}, status)
            return
        words = json.dumps(body["messages"]).encode()
        server.counts[blake2b(words, digest_size=10).hexdigest()] += 1
        asyncio.get_running_loop().call_later(server.delay, self._reply, body)

    def _reply(self, body: dict[str, Any]) -> None:
        said = self._server.say(body)
        message = said if isinstance(said, dict) else {"content": said}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {
            "index": 0,
            "message": {"role": "assistant", **message},
            "finish_reason": reason,
        }
        self._send(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": self._server.model,
                "choices": [choice],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            }
        )

    def _send(self, document: dict[str, Any], status: str = "200 OK") -> None:
        body = json.dumps(document).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
        self._wire.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)


if __name__ == "__main__":
    port, delay = [*sys.argv[1:], "0", "0"][:2]
    asyncio.run(JudgeServer(float(delay)).serve(int(port)))
