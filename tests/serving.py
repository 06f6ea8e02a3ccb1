"""The web app in tests: `markscheme serve` in a process of its own, a client, a browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from browsing import DESK, Seen
from markscheme.keep import Grant, Role, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import Browser


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: http.client.HTTPMessage
    body: str

    @property
    def location(self) -> str | None:
        return self.headers["Location"]


@dataclass
class Client:
    """A browser without pages: it keeps cookies and says where its requests come from."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, fields: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """Submit a form of the app."""
        site = {"Sec-Fetch-Site": "same-origin", **FORM}
        return self.send("POST", path, urlencode(fields or {}), headers={**site, **headers})

    def send(
        self, method: str, path: str, body: str | None = None, *, headers: Mapping[str, str]
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            if self.cookies and "Cookie" not in sent:
                sent["Cookie"] = "; ".join(
                    f"{name}={value}" for name, value in self.cookies.items()
                )
            # A server that refuses a long body does not wait for the rest of it.
            with suppress(BrokenPipeError):
                connection.request(method, path, body, sent)
            found = connection.getresponse()
            answer = Answer(found.status, found.headers, found.read().decode(errors="replace"))
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                if morsel.value:
                    self.cookies[name] = morsel.value
                else:
                    self.cookies.pop(name, None)
        return answer

    def enter(self, link: str) -> Answer:
        """Use a one-time link: press the button on its page."""
        return self.post("/enter", {"token": link.rpartition("/")[2]})


@dataclass(frozen=True)
class Server:
    """A running `markscheme serve`."""

    process: subprocess.Popen[str]
    store: Path | str
    url: str
    link: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def client(self) -> Client:
        """Return somebody who has not entered."""
        return Client(self.port)

    def owner(self) -> Client:
        """Return somebody who entered by a new link of the owner."""
        return self.somebody(Grant(role=Role.OWNER))

    def somebody(self, grant: Grant) -> Client:
        """Return somebody who entered by a link with these rights."""
        client = self.client()
        assert client.enter(self.make_link(grant)).status == 303
        return client

    def make_link(self, grant: Grant, landing: str = "/") -> str:
        """Return a new one-time link, made from another process as commands do it."""
        with open_store(self.store, create=False) as store:
            return f"{self.url}/enter/{store.web_access.create_link(grant, landing=landing)}"

    def stop(self) -> int:
        """Stop the server as Ctrl-C does; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


@contextmanager
def serve(store: Path | str, *words: str, **env: str) -> Iterator[Server]:
    """Run the app on a free port with this store, until the block ends."""
    options = ("--port", "0", "--no-open", "--format", "json", "--store", str(store))
    process = subprocess.Popen(
        [sys.executable, "-m", "markscheme", "serve", *options, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error", **env},
    )
    assert process.stdout
    try:
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("}"):
                break
        document = json.loads(text)
        yield Server(process, store, document["url"], document["link"])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
        process.stdout.close()


@contextmanager
def visiting(
    browser: Browser,
    client: Client | None = None,
    size: tuple[int, int] = DESK,
    **options: Any,
) -> Iterator[Seen]:
    """Give a page in a browser of its own, which is who `client` is; watch what it does."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    if client is not None:
        for name, value in client.cookies.items():
            context.add_cookies([{"name": name, "value": value, "url": "http://127.0.0.1"}])
    seen = Seen(context.new_page())
    seen.page.on("console", lambda message: seen.complaints.append(message.text))
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    try:
        yield seen
    finally:
        context.close()


def foreign_requests(seen: Seen, server: Server) -> list[str]:
    """Return what a page asked of anybody but the server."""
    own = ("data:", f"{server.url}/")
    return [url for url in seen.requests if not url.startswith(own)]
