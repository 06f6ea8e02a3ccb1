"""Whatever is sent to the web app, it answers; how `markscheme serve` starts, stops and refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands import here, markscheme
from hostile import HOSTILE
from markscheme.keep import Grant, Role, open_store
from markscheme.web import FEATURES
from serving import FORM, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Client, Server

ROUTES = sorted(
    (route.path, method)
    for feature in FEATURES
    for route in feature.routes
    for method in route.methods or ()
    if method in {"GET", "POST"} and route.path != "/leave"  # nobody would be left to ask
)
NAMES = [
    "latest",
    "latest~1",
    "e-39-01",
    "x",
    "..",
    "%00",
    "tutor",
    *(text[:500] for text in HOSTILE),
]
texts = st.one_of(st.sampled_from(NAMES), st.text(max_size=30))
fields = st.dictionaries(
    st.sampled_from(
        ["run", "first", "page", "exam", "subject", "tag", "show", "token", "next", "force", "note"]
    ),
    texts,
    max_size=4,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    store = tmp_path_factory.mktemp("web") / "store.db"
    for words in ((), ("--flawed",)):
        here("demo", *words, "--no-report", "--store", store)
    with serve(store) as running:
        yield running


@pytest.fixture(scope="module")
def visitors(server: Server) -> list[Client]:
    """Give somebody of every role, and somebody who has not entered."""
    grants = [Grant(role=role, scope="s", person="p") for role in Role]
    return [server.client(), *map(server.somebody, grants)]


def send_anything(visitor: Client, method: str, path: str, sent: dict[str, str]) -> int:
    with suppress(UnicodeEncodeError):
        query = urlencode(sent)
        if method == "GET":
            return visitor.get(f"{path}?{query}").status
        origin = {"Sec-Fetch-Site": "same-origin", **FORM}
        return visitor.send(method, path, query, headers=origin).status
    return 400  # no browser can send half a surrogate pair


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
@given(data=st.data())
def test_no_address_and_no_form_makes_an_error_of_the_server(
    visitors: list[Client], data: st.DataObject
) -> None:
    path, method = data.draw(st.sampled_from(ROUTES))
    while "{" in path:
        before, _, rest = path.partition("{")
        value = data.draw(texts)
        path = before + quote(value, errors="replace", safe="") + rest.partition("}")[2]
    visitor = data.draw(st.sampled_from(visitors))
    kept = dict(visitor.cookies)
    status = send_anything(visitor, method, path, data.draw(fields))
    visitor.cookies = kept
    assert status < 500, (method, path)


def test_a_bug_is_an_error_page_and_its_log_says_nothing_that_was_sent(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    here("demo", "--no-report", "--store", store)
    with serve(store) as server:
        owner = server.owner()
        store.write_bytes(b"no database at all, and longer than a header" * 100)
        for path in ("/", "/runs/latest"):
            answer = owner.get(path)
            assert answer.status in {500, 503}
            assert "<h1>" in answer.body
            assert "Traceback" not in answer.body


def test_where_the_store_is_stands_in_the_terminal_and_on_no_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store.db"
    with serve(store) as server:
        with open_store(store, create=False) as opened:
            learner = opened.learning.ensure_learner("ana")
        ana = server.somebody(Grant(role=Role.LEARNER, person=learner))
        for path in tmp_path.iterdir():
            path.unlink()
        answer = ana.post("/learn/card", {"id": "r1", "item": "p-41-001"})
        assert answer.status == 503
        assert "The store cannot be used at the moment" in answer.body
        assert str(tmp_path) not in answer.body
    said = capfd.readouterr().err
    assert f"markscheme serve: there is no store at {store}" in said.replace("`", "")


def test_the_first_byte_comes_soon_after_the_start(tmp_path: Path) -> None:
    words = ("--port", "0", "--no-open", "--store", str(tmp_path / "s.db"), "--format", "json")
    seconds = []
    for _ in range(3):
        begun = os.times()
        process = subprocess.Popen(
            [sys.executable, "-m", "markscheme", "serve", *words], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(4)]
        connection = http.client.HTTPConnection(json.loads("".join(lines))["url"][7:])
        connection.request("GET", "/")
        assert connection.getresponse().status == 401
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stdout.close()
        ended = os.times()
        used = ended.children_user + ended.children_system
        seconds.append(used - begun.children_user - begun.children_system)
    # CPU seconds of start, one page and end: other work on the machine does not count.
    assert min(seconds) < 1.2


def test_the_app_starts_without_what_reads_rubrics_and_judges_runs() -> None:
    loaded = "import markscheme.web, sys; print('polars' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_store_on_a_database_server_is_served(postgres_url: str) -> None:
    here("demo", "--no-report", "--store", postgres_url)
    with serve(postgres_url) as server:
        owner = server.owner()
        run = re.findall(r'value="([0-9a-f]{12})"', owner.get("/").body)[0]
        assert owner.get(f"/runs/{run}").status == 200
        for _ in range(2):
            assert owner.post(f"/runs/{run}/baseline", {"note": "1.4"}).status == 303
        assert owner.get(f"/runs/{run}").body.count("mark-baseline") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_server_with_exit_code_0(tmp_path: Path, number: int) -> None:
    with serve(tmp_path / "s.db") as server:
        assert server.client().get("/").status == 401
        server.process.send_signal(number)
        assert server.process.wait(20) == 0
        with pytest.raises(ConnectionRefusedError):
            server.client().get("/")


def test_a_port_in_use_is_refused_and_another_one_suggested(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = markscheme("serve", "--port", port, "--no-open", "--store", tmp_path / "s.db")
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in done.err
    assert "--port" in done.err


def test_the_link_is_printed_and_a_browser_is_opened_unless_it_must_not(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    words = [sys.executable, "-m", "markscheme", "serve", "--port", "0", "--lang", "en"]
    for more, is_opened in (([], True), (["--no-open"], False)):
        opened.unlink(missing_ok=True)
        process = subprocess.Popen(
            [*words, "--store", tmp_path / "s.db", *more],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "BROWSER": f"{browser} %s"},
        )
        assert process.stdout
        assert process.stdout.readline().startswith("markscheme answers at http://127.0.0.1:")
        link = process.stdout.readline().split()[-1]
        deadline = time.monotonic() + (10 if is_opened else 0.5)
        while not opened.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert opened.exists() is is_opened
        if is_opened:
            assert opened.read_text().strip() == link
        process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()


def test_a_store_that_cannot_be_opened_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    broken: Any = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database" * 100)
    done = markscheme("serve", "--port", "0", "--no-open", "--store", broken)
    assert done.code == 3
    assert "is not a database of markscheme" in done.err
