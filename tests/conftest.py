"""What holds for all tests: no test depends on how fast the machine is; two real databases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import settings

from browsing import CHROMIUM, DESK, Seen
from chat_server import ChatServer
from commands import Project
from comparisons import Files
from sittings import Sitting
from small_exam import EXAM
from wild_servers import asker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from wild_servers import Ask

# Half of the usual number of examples: the whole suite has thousands of tests and ten minutes.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let every test, and every command that it runs, store to a file of its own; on no CI."""
    for variable in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(variable, raising=False)
    place = tmp_path_factory.mktemp("store") / "markscheme.db"
    monkeypatch.setenv("MARKSCHEME_STORE", str(place))
    return place


SERVER = Path(__file__).parent.parent / "scripts" / "postgres_server.py"
NOT_INSTALLED = 77


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server of our own; it ends with us, however we end."""
    server = subprocess.Popen(
        [sys.executable, SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is ours: the server stops when we let go of it
    )
    assert server.stdin
    assert server.stdout
    url = server.stdout.readline().strip()
    if not url and server.wait() == NOT_INSTALLED:
        server.stdin.close()
        server.stdout.close()
        pytest.skip("PostgreSQL's programs (initdb, postgres) are not installed")
    assert url, "the PostgreSQL server did not start"
    yield url
    server.stdin.close()
    server.stdout.close()
    server.wait()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Give an empty database of its own."""
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.removesuffix("postgres") + name


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a store that is not there yet, in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="module")  # its event loop would be in the way of other tests
def browser() -> Iterator[Browser]:
    """Start a real headless Chromium."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian's package `chromium`)")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - heavy

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Any]:
    """Open a page from disk, and watch what it does."""
    contexts = []

    def opened(
        path: Path, state: str = "", size: tuple[int, int] = DESK, scheme: Any = "light"
    ) -> Seen:
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(f"{path.as_uri()}{state}")
        seen.settle()
        return seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory where there is one: thousands of commits need no disk there."""
    shared = Path("/dev/shm")  # noqa: S108 - it is the memory that is wanted
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def exam_folder(tmp_path: Path) -> Path:
    """Give a folder with a small exam."""
    (tmp_path / "exam.yaml").write_text(EXAM)
    return tmp_path


def forget_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no key, address or proxy of the environment reach a test."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def sitting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    forget_endpoints(monkeypatch)
    server = ChatServer()
    server.start()
    return Sitting(tmp_path, server)


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    forget_endpoints(monkeypatch)
    return asker(tmp_path)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)
