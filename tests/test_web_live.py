"""A live run is watched in the browser while the terminal asks; the finished run has its page."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from browsing import faults_of_access
from markscheme.keep import open_store
from serving import foreign_requests, serve, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from markscheme.keep import StoredRun
    from serving import Server
    from sittings import Sitting

PROMPTS = ("a", "b", "broken 1", "d", "e", "f")


@contextmanager
def asking(sitting: Sitting) -> Iterator[str]:
    """Ask slowly in another process; give the id of the run, which is not finished."""
    words = sitting.words("--concurrency", "1", "--retries", "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "markscheme", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        runs: list[StoredRun] = []
        while not runs and time.monotonic() < deadline:
            time.sleep(0.05)
            if sitting.store.exists():
                with open_store(sitting.store, create=True) as store:
                    runs = store.list_runs()
        yield runs[0].id
        process.wait(30)
    finally:
        process.kill()
        process.wait()


def test_a_run_is_watched_until_it_is_finished_and_then_shown(
    sitting: Sitting, browser: Browser
) -> None:
    sitting.asks(*PROMPTS)
    sitting.server.delay, sitting.server.answer = 0.5, "no"
    with serve(sitting.store) as server, asking(sitting) as run:
        with visiting(browser, server.owner()) as seen:
            seen.page.goto(server.url)
            seen.page.click(f"a[href='/live/{run}'] >> nth=0")
            expect(seen.page.locator("[data-live=progress]")).to_contain_text("of 6 questions")
            expect(seen.page.locator("[data-live=failed]")).to_contain_text("did not pass")
            expect(seen.page.locator("[data-live-rows] tr").first).to_contain_text("right")
            assert faults_of_access(seen.page) == []
            seen.page.wait_for_url(f"**/runs/{run}", timeout=20_000)
            assert seen.complaints == []
            assert foreign_requests(seen, server) == []
        assert server.owner().get(f"/live/{run}").location == f"/runs/{run}"


def read_events(server: Server, run: str) -> list[dict[str, object]]:
    answer = server.owner().get(f"/live/{run}/events")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    lines = (line for line in answer.body.splitlines() if line.startswith("data: "))
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_the_stream_of_a_finished_run_is_its_end(sitting: Sitting) -> None:
    sitting.asks(*PROMPTS)
    done = sitting.run("--retries", "0")
    run = done.err.split()[-1]
    with serve(sitting.store) as server:
        (last,) = read_events(server, run)
    assert (last["finished"], last["done"], last["questions"]) == (True, 6, 6)
    assert last["progress"] == "6 of 6 questions"


def test_a_server_that_is_stopped_ends_its_streams(sitting: Sitting) -> None:
    sitting.asks(*PROMPTS)
    sitting.server.delay = 0.5
    with serve(sitting.store) as server, asking(sitting) as run:
        owner = server.owner()
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        cookie = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
        connection.request("GET", f"/live/{run}/events", headers={"Cookie": cookie})
        stream = connection.getresponse()
        assert stream.readline().startswith(b"data: ")
        begun = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begun < 2.5
        connection.close()
