"""Measure the learner portal: answers a second, response times, and the page of a class.

python benchmarks/portal.py                     # 200 learners, 10 seconds each, SQLite
python benchmarks/portal.py --learners 20 --seconds 2
python benchmarks/portal.py --store postgresql://…

Every learner has a connection of their own and answers one card after the other. The same requests
go to a bare Starlette app that parses the form and answers with a redirect: the ratios say what
marking, grading and storing on disk cost, on any machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from markscheme.keep import Grant, LearnerReview, Role, open_store
from markscheme.workflows.class_overview import load_class_overview
from markscheme.workflows.documents import load_exam
from markscheme.workflows.portal import load_class_portal

CLASS_REVIEWS = 400
PACED_RATE = 100


@dataclass
class Measured:
    """Response times of one load, in seconds."""

    seconds: float
    times: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        """Return a percentile of the response times, in milliseconds."""
        ordered = sorted(self.times)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def run_bare_app(port: int) -> None:
    """Serve a form and a redirect, and nothing else."""

    async def accept(request: Request) -> Response:
        form = await request.form()
        return RedirectResponse(f"/{form['id']}", status_code=303)

    app = Starlette(routes=[Route("/learn/card", accept, methods=["POST"])])
    uvicorn.run(app, port=port, log_level="critical", access_log=False)


class Connection:
    """One keep-alive connection of one learner."""

    def __init__(self, port: int, cookie: str) -> None:
        self._port, self._cookie = port, cookie

    async def open(self) -> Connection:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def post(self, path: str, fields: dict[str, str]) -> int:
        """Submit a form; return the status."""
        body = urlencode(fields).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nCookie: {self._cookie}\r\n"
            "Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        for line in answer.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                await self._reader.readexactly(int(line.split(b":")[1]))
        return int(answer.split(b" ", 2)[1])

    def close(self) -> None:
        """Disconnect."""
        self._writer.close()


async def load(
    port: int, cookies: list[str], seconds: float, rate: float | None, name: str
) -> Measured:
    """Let every learner answer for some seconds, as fast as they can or at a rate in all."""
    items = [item.id for item in load_exam("practice").items]
    connections = [await Connection(port, cookie).open() for cookie in cookies]
    measured, end = Measured(seconds), time.perf_counter() + seconds

    async def answer(number: int, connection: Connection) -> None:
        pause = 0 if rate is None else len(cookies) / rate
        await asyncio.sleep(pause * number / len(cookies))
        count = 0
        while time.perf_counter() < end:
            begun = time.perf_counter()
            fields = {
                "id": f"{name}-{number}-{count}",
                "item": items[(number + count) % len(items)],
                "deck": "practice",
                "first_key_ms": "2100",
                "f-correction": "he ate",
                "f-spanish_gloss": "comió",
                "f-explanation": "",
            }
            status = await connection.post("/learn/card", fields)
            if status != 303:  # noqa: PLR2004 - a redirect
                raise RuntimeError(f"the server answered {status}")
            measured.times.append(time.perf_counter() - begun)
            count += 1
            await asyncio.sleep(max(0.0, pause - (time.perf_counter() - begun)))

    await asyncio.gather(*(answer(at, one) for at, one in enumerate(connections)))
    for connection in connections:
        connection.close()
    return measured


def start_portal(store: str, folder: Path, workers: int) -> list[tuple[subprocess.Popen[str], int]]:
    """Start the portal with a class, in one process or several on one store."""
    file = folder / "bench.yaml"
    file.write_text("class: bench\n")
    started = []
    for _ in range(workers):
        words = ["serve", "--port", "0", "--no-open", "--format", "json", "--class", str(file)]
        process = subprocess.Popen(
            [sys.executable, "-m", "markscheme", *words, "--store", store],
            stdout=subprocess.PIPE,
            text=True,
        )
        text = ""
        for line in process.stdout or ():
            text += line
            if line.startswith("}"):
                break
        started.append((process, urlsplit(json.loads(text)["url"]).port or 0))
    return started


def add_class(store: str, learners: int) -> list[tuple[str, str]]:
    """Add learners with sessions; return the ids and the session tokens."""
    with open_store(store, create=True) as opened, opened.transaction():
        added = [opened.learning.add_learner(f"L{n}", "bench")[0] for n in range(learners)]
        return [
            (
                learner.id,
                opened.web_access.start_session(
                    Grant(role=Role.LEARNER, scope="bench", person=learner.id)
                ),
            )
            for learner in added
        ]


def fill_class(store: str, learners: list[str]) -> None:
    """Give each learner 400 reviews over the last months."""
    items = [item.id for item in load_exam("practice").items]
    start = date(2026, 1, 1)
    with open_store(store, create=False) as opened, opened.transaction():
        for number, learner in enumerate(learners):
            for count in range(CLASS_REVIEWS):
                day = start + timedelta(days=count // 8)
                opened.learning.add_review(
                    LearnerReview(
                        id=f"fill-{number}-{count}",
                        learner=learner,
                        item=items[(count * 7 + number) % len(items)],
                        at=datetime(day.year, day.month, day.day, 12, tzinfo=UTC),
                        day=day,
                        quality=(count * 3 + number) % 6,
                        rule="recall-1",
                        facts={},
                        cells={},
                        rubric="b2:0",
                    )
                )


def time_class_page(store: str) -> list[float]:
    """Return how long the data of the class page takes, in milliseconds, three times."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.yaml"
        file.write_text("class: bench\n")
        portal = load_class_portal(file)
    times = []
    with open_store(store, create=False) as opened:
        for _ in range(3):
            begun = time.perf_counter()
            load_class_overview(opened, portal, datetime.now(UTC))
            times.append(1000 * (time.perf_counter() - begun))
    return times


def read_cookie_name(store: str) -> str:
    """Return the name of the session cookie for a store."""
    with open_store(store, create=False) as opened:
        return f"markscheme-{sha256(opened.place.encode()).hexdigest()[:8]}"


def measure_server(
    ports: list[int], cookies: list[str], seconds: float, name: str
) -> tuple[Measured, Measured]:
    """Return the saturated and the paced load on a server, or on several with equal shares."""

    async def both(rate: float | None, kind: str) -> Measured:
        parts = [cookies[at :: len(ports)] for at in range(len(ports))]
        loads = await asyncio.gather(
            *(
                load(port, part, seconds, rate and rate / len(ports), f"{name}-{kind}-{port}")
                for port, part in zip(ports, parts, strict=True)
            )
        )
        return Measured(seconds, [one for part in loads for one in part.times])

    # The first requests load documents and open connections.
    asyncio.run(both(PACED_RATE, "warm"))
    paced = asyncio.run(both(PACED_RATE, "paced"))
    return asyncio.run(both(None, "full")), paced


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--store", help="a PostgreSQL URL; without it, SQLite in a new folder")
    parser.add_argument("--workers", type=int, default=1, help="processes on one store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = options.store or str(folder / "store.db")
        sessions = add_class(store, options.learners)
        cookie = read_cookie_name(store)
        started = start_portal(store, folder, options.workers)
        try:
            cookies = [f"{cookie}={token}" for _, token in sessions]
            ports = [port for _, port in started]
            full, paced = measure_server(ports, cookies, options.seconds, "portal")
        finally:
            for process, _ in started:
                process.terminate()
                process.wait()
        bare = multiprocessing.get_context("spawn").Process(
            target=run_bare_app, args=(ports[0] + 1,), daemon=True
        )
        bare.start()
        time.sleep(2)
        bare_full, bare_paced = measure_server([ports[0] + 1], cookies, options.seconds, "bare")
        bare.terminate()
        print(f"{options.learners} learners, {options.workers} process(es)")
        print(f"portal, saturated: {full.rate:,.0f} answers/s, p95 {full.percentile(0.95):.1f} ms")
        print(f"portal, at {PACED_RATE}/s:  p95 {paced.percentile(0.95):.1f} ms")
        print(
            f"bare form, saturated: {bare_full.rate:,.0f}/s; at {PACED_RATE}/s:"
            f" p95 {bare_paced.percentile(0.95):.1f} ms"
        )
        ratio = paced.percentile(0.95) / bare_paced.percentile(0.95)
        print(f"p95 is {ratio:.1f} × the bare form's, answers/s {full.rate / bare_full.rate:.2f} ×")
        class_store = str(folder / "class.db")
        learners = [learner for learner, _ in add_class(class_store, options.learners)]
        fill_class(class_store, learners)
        times = ", ".join(f"{one:.0f}" for one in time_class_page(class_store))
        print(f"class page of {options.learners} × {CLASS_REVIEWS} reviews: {times} ms")


if __name__ == "__main__":
    main()
