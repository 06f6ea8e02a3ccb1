"""Compares HTTP clients: a bare asyncio loop, aiohttp, and httpx if it is installed.

    python benchmarks/http_clients.py [--requests 1000] [--concurrency 50] [--delay 0.1]

Each client posts the same requests to a server in a process of its own that answers after a delay.
Each client runs in a new process; its import is not part of the wall time, and is printed beside.
The ideal is requests × delay ÷ concurrency. The best of the rounds is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

SERVER = Path(__file__).resolve().parent.parent / "tests" / "chat_server.py"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go."}]}).encode()
HEADERS = {"content-type": "application/json"}
_HEAD = "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n\r\n"

Ask = Callable[[str, int, int], Awaitable[None]]


async def run_workers(work: Callable[[], Awaitable[None]], requests: int, concurrency: int) -> None:
    """Call `work` so many times, so many at a time."""
    remaining = iter(range(requests))

    async def run_worker() -> None:
        for _ in remaining:
            await work()

    await asyncio.gather(*(run_worker() for _ in range(concurrency)))


async def ask_bare(url: str, requests: int, concurrency: int) -> None:
    """Write and read bytes over sockets; the floor of any client on asyncio."""
    parts = urlsplit(url)
    remaining = iter(range(requests))
    head = _HEAD.format(path=parts.path, host=parts.netloc, length=len(BODY)).encode()

    async def run_worker() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in remaining:
            writer.write(head + BODY)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(answer.partition("content-length:")[2].split()[0])
            json.loads(await reader.readexactly(length))
        writer.close()

    await asyncio.gather(*(run_worker() for _ in range(concurrency)))


async def ask_aiohttp(url: str, requests: int, concurrency: int) -> None:
    """Ask with one session of aiohttp."""
    import aiohttp  # noqa: PLC0415 - measured apart

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            async with session.post(url, data=BODY, headers=HEADERS) as response:
                json.loads(await response.read())

        await run_workers(work, requests, concurrency)


async def ask_httpx(url: str, requests: int, concurrency: int) -> None:
    """Ask with one client of httpx."""
    import httpx  # noqa: PLC0415 - an optional peer

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:

        async def work() -> None:
            response = await client.post(url, content=BODY, headers=HEADERS)
            json.loads(response.content)

        await run_workers(work, requests, concurrency)


CLIENTS: dict[str, tuple[Ask, str]] = {
    "bare asyncio": (ask_bare, "asyncio"),
    "aiohttp": (ask_aiohttp, "aiohttp"),
    "httpx": (ask_httpx, "httpx"),
}


def measure_here(name: str, url: str, requests: int, concurrency: int) -> None:
    """Measure a client in this process, and print import, wall and CPU seconds as JSON."""
    ask, module = CLIENTS[name]
    start = time.process_time()
    __import__(module)
    imported = time.process_time() - start
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(ask(url, requests, concurrency))  # type: ignore[arg-type]
    print(json.dumps([imported, time.perf_counter() - wall, time.process_time() - cpu]))


def measure(name: str, options: argparse.Namespace, url: str) -> tuple[float, float, float]:
    """Measure a client in a new process; return import CPU, wall and CPU seconds."""
    words = [name, url, options.requests, options.concurrency]
    command = [sys.executable, __file__, "--client", *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    imported, wall, cpu = json.loads(done.stdout)
    return imported, wall, cpu


def main() -> None:
    """Print a Markdown table."""
    if sys.argv[1:2] == ["--client"]:
        name, url, requests, concurrency = sys.argv[2:]
        measure_here(name, url, int(requests), int(concurrency))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ideal = options.requests * options.delay / options.concurrency
    print("| client | wall s | × ideal | CPU s | import CPU s |\n|---|--:|--:|--:|--:|")
    command = [sys.executable, str(SERVER), "0", str(options.delay), "yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout  # noqa: S101 - asked for above
        url = f"{server.stdout.readline().strip()}/chat/completions"
        try:
            for name, (_, module) in CLIENTS.items():
                if find_spec(module) is None:
                    print(f"| {name} | not installed | | | |")
                    continue
                rounds = [measure(name, options, url) for _ in range(options.rounds)]
                imported, wall, cpu = min(rounds, key=lambda figures: figures[1])
                figures = f"{wall:.2f} | {wall / ideal:.2f} | {cpu:.2f} | {imported:.3f}"
                print(f"| {name} | {figures} |", flush=True)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
