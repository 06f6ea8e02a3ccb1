"""Measure the pages of the web app beside a bare Starlette app on the same server.

    python benchmarks/web.py [--runs 1000] [--requests 200] [--clients 4]

A store with so many runs is made, `markscheme serve` shows it, and a second process serves a bare
Starlette app with uvicorn: a page of a few bytes, and a form. Clients on keep-alive connections ask
both in turns. Each row has requests per second and the 95th percentile of the latency, and both as
a ratio to the bare app; `weight` is the size of a page as it is sent (gzip), `requests` what a
browser asks for to show it. The forms enter by one-time links and mark an answer of a study; each
is a change that is on disk before the answer comes. The last lines are the start, until the first
answer, and the memory when idle.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import gzip
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from markscheme.keep import Grant, NewRun, Role, open_store
from markscheme.read.documents import compute_exam_fingerprint
from markscheme.vocabulary import Exam, Item
from markscheme.workflows.documents import parse_rubric_text
from markscheme.workflows.rate import AnswersToRate, BlindAnswer
from markscheme.workflows.study import StudyPlan, create_study

BARE_APP = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

async def page(request):
    return HTMLResponse("<!doctype html><title>bare</title><p>bare")

async def form(request):
    async with request.form() as fields:
        return RedirectResponse("/", status_code=303)

app = Starlette(routes=[Route("/", page), Route("/form", form, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""
TONE = """\
rubric: words
version: 1
axes:
  - {name: tone, kind: scale, question: 'How kind is it?', anchors: {1: rude, 2: plain, 3: kind}}
"""
SUBJECTS = 5
ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Call:
    """One kind of request; `bodies` are those of a form, one for each request."""

    name: str
    port: int
    path: str
    cookie: str = ""
    bodies: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Requests per second, and the latency that 95 of 100 requests keep, in ms."""

    rate: float
    p95: float


def make_store(path: Path, runs: int) -> str:
    """Score one flawed demo run, and store copies of it with other scores; return its id."""
    demo = [sys.executable, "-m", "markscheme", "demo", "--flawed", "--no-report"]
    subprocess.run([*demo, "--store", path], check=False, capture_output=True)
    rng = random.Random(1)  # noqa: S311 - a benchmark
    with open_store(path, create=False) as store:
        (first,) = store.list_runs()
        (data,), ((_, summary),) = store.read_run_data([first.id]), store.read_summaries([first.id])
        parts = {"summary": summary, "measures": data.measures, "marks": data.marks}
        with store.transaction():
            for at in range(runs - 1):
                new = NewRun(
                    subject=f"subject {at % SUBJECTS}",
                    rubric=first.rubric.digest,
                    exam=first.exam.digest,
                    axis_versions=first.axis_versions,
                    tool_version=first.tool_version,
                )
                counts = {**(first.counts or {}), "score": round(rng.uniform(0.9, 1), 4)}
                store.finish_run(store.begin_run(new), counts=counts, **parts)
    return first.id


@contextmanager
def serve_app(store: Path) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    """Run `markscheme serve`; give its process, its address, and the seconds to a first answer."""
    begun = time.perf_counter()
    words = ("serve", "--port", "0", "--no-open", "--format", "json", "--store", str(store))
    process = subprocess.Popen(
        [sys.executable, "-m", "markscheme", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout  # noqa: S101 - it is a pipe
    document = json.loads("".join(process.stdout.readline() for _ in range(4)))
    asyncio.run(send_all(Call(name="", port=urlsplit(document["url"]).port or 0, path="/"), 1, 1))
    try:
        yield process, document["url"], time.perf_counter() - begun
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        process.stdout.close()


@contextmanager
def serve_bare(port: int) -> Iterator[None]:
    """Run the bare app."""
    process = subprocess.Popen([sys.executable, "-c", BARE_APP, str(port)])
    try:
        for _ in range(100):
            time.sleep(0.1)
            try:
                asyncio.run(send_all(Call(name="", port=port, path="/"), 1, 1))
                break
            except OSError:
                continue
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


async def send_all(call: Call, requests: int, clients: int) -> list[float]:
    """Send requests on as many connections as there are clients; return the seconds of each."""
    waiting = iter(range(requests))
    seconds: list[float] = []

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", call.port)
        for at in waiting:
            writer.write(build_request(call, at))
            begun = time.perf_counter()
            await read_answer(reader)
            seconds.append(time.perf_counter() - begun)
        writer.close()

    await asyncio.gather(*(work() for _ in range(clients)))
    return seconds


def build_request(call: Call, at: int) -> bytes:
    """Return a request as bytes."""
    lines = ["Host: 127.0.0.1", "Sec-Fetch-Site: same-origin", f"Cookie: {call.cookie}"]
    if not call.bodies:
        head = [f"GET {call.path} HTTP/1.1", "Accept-Encoding: gzip", *lines, "", ""]
        return "\r\n".join(head).encode()
    body = call.bodies[at % len(call.bodies)]
    kind = "Content-Type: application/x-www-form-urlencoded"
    head = [f"POST {call.path} HTTP/1.1", kind, f"Content-Length: {len(body)}", *lines, "", body]
    return "\r\n".join(head).encode()


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """Read one answer whole; return its body, and raise if it is an error."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if head.split()[1] not in {b"200", b"204", b"303", b"401"}:
        raise RuntimeError(head.decode())
    if head.split()[1] == b"204":
        return b""
    length = re.search(rb"content-length: (\d+)", head)
    if length:
        return await reader.readexactly(int(length[1]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


def measure_in_turns(
    bare: Call, call: Call, requests: int, clients: int
) -> tuple[Measured, Measured]:
    """Measure both in turns, so that other work on the machine meets both; return the medians."""
    each = [
        (measure(bare, requests // ROUNDS, clients), measure(call, requests // ROUNDS, clients, at))
        for at in range(ROUNDS)
    ]
    floors, ours = zip(*each, strict=True)
    return find_median(floors), find_median(ours)


def find_median(rounds: Sequence[Measured]) -> Measured:
    """Return the median of each figure."""
    return Measured(
        rate=statistics.median(one.rate for one in rounds),
        p95=statistics.median(one.p95 for one in rounds),
    )


def measure(call: Call, requests: int, clients: int, turn: int = 0) -> Measured:
    """Send requests, and return how fast they were; each turn sends bodies of its own."""
    begun = time.perf_counter()
    bodies = call.bodies[turn * requests : (turn + 1) * requests] or call.bodies
    call = dataclasses.replace(call, bodies=bodies)
    seconds = sorted(asyncio.run(send_all(call, requests, clients)))
    rate = len(seconds) / (time.perf_counter() - begun)
    return Measured(rate=rate, p95=1000 * seconds[int(0.95 * (len(seconds) - 1))])


def fetch(call: Call) -> bytes:
    """Return the body of a page as it is sent."""

    async def ask() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", call.port)
        writer.write(build_request(call, 0))
        body = await read_answer(reader)
        writer.close()
        return body

    return asyncio.run(ask())


def count_requests(page: bytes) -> int:
    """Return how many requests a browser makes for a page: itself, its styles and its scripts."""
    text = gzip.decompress(page).decode() if page[:2] == b"\x1f\x8b" else page.decode()
    return 1 + len(set(re.findall(r'(?:href|src)="(/assets/[^"]+)"', text)))


def make_study(store: Path) -> tuple[str, str]:
    """Store a study of ten answers for one rater; return its id and the token of the rater."""
    items = tuple(Item(id=f"q{at}", prompt="question") for at in range(5))
    exam = Exam(names=("e",), items=items, fingerprint=compute_exam_fingerprint(["e"], items))
    answers = tuple(
        BlindAnswer(item=item.id, variant=variant, prompt=item.prompt, text=variant)
        for item in items
        for variant in ("first", "second")
    )
    rubric = parse_rubric_text(TONE, "words.yaml")
    with open_store(store, create=False) as opened:
        rated = AnswersToRate(rubric=rubric, exam=exam, answers=answers)
        study = create_study(opened, rated, StudyPlan(raters=["rater"]))
        grant = Grant(role=Role.RATER, scope=study.id, person="rater")
        return study.id, opened.web_access.start_session(grant)


def make_marks(many: int) -> list[str]:
    """Return the forms of so many marks, each with an id of its own."""
    return [f"id={uuid4()}&place={at % 2 + 1}&axis=tone&score={at % 3 + 1}" for at in range(many)]


def make_links(store: Path, many: int) -> list[str]:
    """Return the forms that use so many one-time links."""
    with open_store(store, create=False) as opened, opened.transaction():
        access = opened.web_access
        grant = Grant(role=Role.OWNER)
        return [f"token={access.create_link(grant, landing='/')}" for _ in range(many)]


def print_row(name: str, *cells: object) -> None:
    """Print a row of the table."""
    print(f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def main() -> None:
    """Serve, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--clients", type=int, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        run = make_store(store, asked.runs)
        bare_port = random.randrange(20_000, 30_000)  # noqa: S311 - a free one, most likely
        with serve_bare(bare_port), serve_app(store) as (process, url, started):
            port = urlsplit(url).port or 0
            idle = read_memory(process.pid)
            with open_store(store, create=False) as opened:
                token = opened.web_access.start_session(Grant(role=Role.OWNER))
            cookie = f"{find_cookie_name(store, port)}={token}"
            study, rater = make_study(store)
            rater = f"{find_cookie_name(store, port)}={rater}"
            mark = f"/rate/{study}/marks"
            # The rater takes the first query: it is that of all marks.
            take = Call(name="", port=port, path=f"/rate/{study}/next", cookie=rater, bodies=["x="])
            asyncio.run(send_all(take, 1, 1))
            page = Call(name="bare page", port=bare_port, path="/")
            form = Call(name="bare form", port=bare_port, path="/form", bodies=["token=x"])
            calls = [
                (Call(name="dashboard", port=port, path="/", cookie=cookie), page),
                (Call(name="run", port=port, path=f"/runs/{run}", cookie=cookie), page),
                (Call(name="enter page", port=port, path="/enter/x"), page),
                (
                    Call(
                        name="enter",
                        port=port,
                        path="/enter",
                        bodies=make_links(store, asked.requests),
                    ),
                    form,
                ),
                (
                    Call(
                        name="rate",
                        port=port,
                        path=mark,
                        cookie=rater,
                        bodies=make_marks(asked.requests),
                    ),
                    form,
                ),
                (
                    Call(name="rating page", port=port, path=f"/rate/{study}/1/1", cookie=rater),
                    page,
                ),
            ]
            notes: list[str] = []
            print(f"{asked.runs:,} runs, {asked.clients} clients")
            print_row(
                "page", "requests/s", "p95 ms", "× bare p95", "bare/s ÷ ours", "gzip kB", "requests"
            )
            print_row("---", *["--:"] * 6)
            for call, bare in calls:
                begun = time.perf_counter()
                body = b"" if call.bodies else fetch(call)
                first = time.perf_counter() - begun
                floor, ours = measure_in_turns(bare, call, asked.requests, asked.clients)
                print_row(
                    call.name,
                    f"{ours.rate:,.0f}",
                    f"{ours.p95:.1f}",
                    f"{ours.p95 / floor.p95:.1f}",
                    f"{floor.rate / ours.rate:.1f}",
                    f"{len(body) / 1000:.1f}" if body else "",
                    count_requests(body) if body else "",
                )
                if call.name == "dashboard":
                    one = measure(call, 20, 1)
                    notes.append(f"dashboard: the first {1000 * first:.0f} ms")
                    notes.append(f"p95 of one client {one.p95:.0f} ms")
            print("; ".join(notes))
            print(f"start to the first answer: {started:.2f} s; memory when idle: {idle:.0f} MB")


def find_cookie_name(store: Path, port: int) -> str:
    """Return the name of the session cookie of a store: enter once, and see."""
    (body,) = make_links(store, 1)
    call = Call(name="", port=port, path="/enter", bodies=[body])

    async def ask() -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(build_request(call, 0))
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
        found = re.search(r"set-cookie: ([^=]+)=", head)
        return found[1] if found else ""

    return asyncio.run(ask())


def read_memory(process: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
