"""Who gets past the guard of the web app: hosts, origins, cookies, methods, bodies, links."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING

import pytest

from commands import here
from markscheme.keep import Grant, Role
from markscheme.web import AttemptLimiter
from serving import FORM, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Client, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a store with one run, under one further name."""
    store = tmp_path_factory.mktemp("web") / "store.db"
    here("demo", "--no-report", "--store", store)
    with serve(store, "--host-name", "Marks.Example") as running:
        yield running


@pytest.fixture(scope="module")
def owner(server: Server) -> Client:
    return server.owner()


HOSTS = {
    "127.0.0.1:{port}": True,
    "127.0.0.1": True,
    "localhost:{port}": True,
    "LOCALHOST:1": True,
    "[::1]:{port}": True,
    "marks.example": True,
    "evil.example": False,
    "127.0.0.1.evil.example:{port}": False,
    "localhost.": False,
    "evil.example@127.0.0.1": False,
    "127.0.0.1:{port}/": False,
    "0.0.0.0:{port}": False,
    "": False,
}
SITES = {"same-origin": True, "none": True, "same-site": False, "cross-site": False, "": False}
# With no Sec-Fetch-Site, the origin must have the authority of the host.
ORIGINS = {
    "http://{host}": True,
    "http://evil.example": False,
    "null": False,
    "http://{host}.evil.example": False,
    "http://{host}@evil.example": False,
    "file://": False,
}
CASES = [
    (method, host, site, origin, entered)
    for method, host, (site, origin), entered in product(
        ("GET", "POST", "PUT"),
        HOSTS,
        [*((site, None) for site in SITES), *((None, origin) for origin in ORIGINS), (None, None)],
        (True, False),
    )
]


def expected_status(method: str, host: str, site: str | None, origin: str | None) -> int | None:
    """Return the status by which the guard refuses, or None if the request reaches the app."""
    if not HOSTS[host]:
        return 400
    is_from_here = ORIGINS.get(origin or "", False) if site is None else SITES[site]
    if method != "GET" and not is_from_here:
        return 403
    return None


def test_only_requests_of_our_own_pages_pass_in_any_combination(
    server: Server, owner: Client
) -> None:
    assert len(CASES) >= 400
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    wrong = []
    for method, host, site, origin, entered in CASES:
        named = host.format(port=server.port)
        headers = {"Host": named}
        if site is not None:
            headers["Sec-Fetch-Site"] = site
        if origin is not None:
            headers["Origin"] = origin.format(host=named)
        if entered:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in owner.cookies.items())
        body = "language=es&next=/" if method == "POST" else None
        path = "/language" if method == "POST" else "/"
        connection.request(method, path, body, {**headers, **FORM})
        answer = connection.getresponse()
        answer.read()
        inside = {"GET": 200 if entered else 401, "POST": 303, "PUT": 405}[method]
        wanted = expected_status(method, host, site, origin) or inside
        if answer.status != wanted:
            wrong.append((method, host, site, origin, entered, answer.status, wanted))
    connection.close()
    assert wrong == []


@pytest.mark.parametrize(
    "lines",
    [
        ("Host: 127.0.0.1", "Host: evil.example"),
        (),
        ("Host: 127.0.0.1", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
        ("Host: 127.0.0.1", "Origin: http://127.0.0.1", "Origin: http://evil.example"),
        ("Host: 127.0.0.1", "Origin: http://127.0.0.1 http://evil.example"),
    ],
)
def test_a_header_that_is_there_twice_or_not_at_all_is_refused(
    server: Server, lines: tuple[str, ...]
) -> None:
    request = "\r\n".join(["POST /language HTTP/1.1", *lines, "Content-Length: 0", "", ""])
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request.encode())
        status = connection.recv(4096).split()[1]
    assert status in {b"400", b"403"}


PAGES = ("/", "/enter/x", "/nothing", "/assets/web.css")


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_has_the_strict_policy(server: Server, owner: Client, path: str) -> None:
    for answer in (owner.get(path), server.client().get(path), owner.get(path, Host="evil")):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Server"] is None


def test_a_script_or_style_is_kept_under_an_address_that_names_its_content(owner: Client) -> None:
    page = owner.get("/").body
    for address in re.findall(r"/assets/[^\"]+", page):
        answer = owner.get(address)
        assert (answer.status, "immutable" in answer.headers["Cache-Control"]) == (200, True)
    changed = re.sub(r"all\.[0-9a-f]+", "all.000000000000", address)
    assert owner.get(changed).status == 404


@pytest.mark.parametrize("path", ["/assets/../app.py", "/assets/%2e%2e%2fapp.py", "/assets//etc"])
def test_no_other_file_is_served(owner: Client, path: str) -> None:
    assert owner.get(path).status == 404


def test_a_session_is_a_cookie_that_scripts_and_other_sites_cannot_use(server: Server) -> None:
    client = server.client()
    entered = client.enter(server.make_link(Grant(role=Role.OWNER)))
    cookie = entered.headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status == 200


def test_another_store_has_another_cookie(owner: Client, tmp_path: Path) -> None:
    with serve(tmp_path / "other.db") as other:
        stranger = other.client()
        stranger.cookies = dict(owner.cookies)
        assert stranger.get("/").status == 401
        assert set(other.owner().cookies).isdisjoint(owner.cookies)


def test_a_link_that_many_use_at_once_lets_one_in(server: Server) -> None:
    link = server.make_link(Grant(role=Role.OWNER))
    with ThreadPoolExecutor(16) as visitors:
        statuses = list(visitors.map(lambda _: server.client().enter(link).status, range(16)))
    assert sorted(statuses) == [303] + [403] * 15


def test_a_preview_of_a_link_does_not_use_it_up(server: Server) -> None:
    link = server.make_link(Grant(role=Role.OWNER))
    path = link.removeprefix(server.url)
    for _ in range(3):
        assert server.client().get(path).status == 200
    assert server.client().enter(link).status == 303


def test_whoever_enters_or_leaves_keeps_no_former_session(server: Server) -> None:
    client = server.owner()
    former = dict(client.cookies)
    assert client.enter(server.make_link(Grant(role=Role.RATER, scope="s"))).status == 303
    assert client.cookies != former
    assert client.get("/").status == 403
    stolen = server.client()
    stolen.cookies = former
    assert stolen.get("/").status == 401
    held = dict(client.cookies)
    assert client.post("/leave").status == 303
    stolen.cookies = held
    assert stolen.get("/").status == 401


def test_a_link_leads_to_its_page_and_nowhere_else(server: Server) -> None:
    for landing, wanted in {
        "/rate/s": "/rate/s",
        "//evil.example": "/",
        "https://e.vil": "/",
    }.items():
        entered = server.client().enter(server.make_link(Grant(role=Role.OWNER), landing))
        assert entered.location == wanted


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "x"])
def test_the_choice_of_a_language_leads_to_no_other_site(server: Server, to: str) -> None:
    answer = server.client().post("/language", {"language": "es", "next": to})
    assert answer.location == "/"


@pytest.mark.parametrize("path", ["//evil.example/", "//evil.example/?a=b", "/\\\\evil.example"])
def test_no_page_links_to_another_host_because_of_its_address(server: Server, path: str) -> None:
    for client in (server.client(), server.owner()):
        page = client.get(path).body
        assert 'href="//' not in page
        assert 'value="//' not in page


def test_bodies_and_fields_that_are_too_large_are_refused(server: Server) -> None:
    client = server.client()
    assert client.post("/enter", {"token": "x" * 9_000}).status == 403
    assert client.post("/enter", {"token": "x" * 10_001}).status == 413
    assert client.post("/enter", {"token": "á" * 5_001}).status == 413
    assert client.post("/enter", {"x" * 10_001: ""}).status == 413
    assert client.post("/enter", {f"f{n}": "" for n in range(1_001)}).status == 400
    assert client.post("/enter", {f"f{n}": "x" * 9_000 for n in range(120)}).status == 413
    assert client.post("/enter", {}, Content_Type="multipart/form-data; boundary=x").status == 415


def test_a_body_that_never_ends_is_cut_off(server: Server) -> None:
    head = (
        "POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode())
        for _ in range(123):
            connection.sendall(chunk)
        status = connection.recv(4096).split()[1]
    assert status == b"413"


def test_a_form_that_is_no_text_is_refused(server: Server) -> None:
    for body in ("token=%ff%fe", "token=%C3"):
        answer = server.client().send(
            "POST", "/enter", body, headers={"Sec-Fetch-Site": "same-origin", **FORM}
        )
        assert answer.status == 400


def test_five_attempts_a_minute_are_allowed_for_each_name_and_address() -> None:
    now = [0.0]
    limiter = AttemptLimiter(clock=lambda: now[0])
    assert [limiter.try_attempt(("ana", "1")) for _ in range(7)] == [True] * 5 + [False] * 2
    assert limiter.try_attempt(("ana", "2"))
    assert limiter.try_attempt(("eva", "1"))
    now[0] = 61.0
    assert limiter.try_attempt(("ana", "1"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--host", "0.0.0.0"), "other machines could read"),  # noqa: S104
        (("--host", "::"), "other machines could read"),
        (("--tls-cert", "c.pem"), "give both"),
        (("--tls-cert", "c.pem", "--tls-key", "k.pem"), "there is no file"),
        (("--host", "203.0.113.1", "--insecure-lan"), "cannot listen on"),
    ],
)
def test_no_other_machine_is_served_in_plain_text_unless_it_was_asked_for(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = here("serve", "--port", "0", "--no-open", "--store", tmp_path / "s.db", *words)
    assert (done.code, message in done.err) == (2, True), done.err


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate for this machine that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    words = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words += [
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ]
    words += ["-out", str(paths[0]), "-keyout", str(paths[1])]
    subprocess.run(words, check=True, capture_output=True)
    return paths


def test_with_a_certificate_other_machines_are_served_and_cookies_are_never_sent_in_plain_text(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    file, key = map(str, certificate)
    options = ("--host", "0.0.0.0", "--tls-cert", file, "--tls-key", key)  # noqa: S104
    with serve(tmp_path / "s.db", *options) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=file)
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=trusted)
        token = server.link.rpartition("/")[2]
        headers = {**FORM, "Origin": server.url}
        connection.request("POST", "/enter", f"token={token}", headers)
        cookie = connection.getresponse().headers["Set-Cookie"]
        assert cookie.startswith("__Host-markscheme-")
        assert "Secure" in cookie
        connection.close()
        with pytest.raises((http.client.HTTPException, OSError)):
            server.client().get("/")


def test_without_tls_other_machines_are_served_only_under_names_that_were_given(
    tmp_path: Path,
) -> None:
    options = ("--host", "0.0.0.0", "--insecure-lan", "--host-name", "school.local")  # noqa: S104
    with serve(tmp_path / "s.db", *options) as server:
        assert server.url == f"http://school.local:{server.port}"
        for host, status in (("school.local", 401), ("192.0.2.7", 400), ("127.0.0.1", 401)):
            assert server.client().get("/", Host=f"{host}:{server.port}").status == status


def test_the_address_that_is_listened_on_is_a_name_too(tmp_path: Path) -> None:
    with serve(tmp_path / "s.db", "--host", "127.0.0.2", "--insecure-lan") as server:
        assert server.url == f"http://127.0.0.2:{server.port}"
        connection = http.client.HTTPConnection("127.0.0.2", server.port, timeout=20)
        for host, status in (("127.0.0.2", 401), ("0.0.0.0", 400)):  # noqa: S104
            connection.request("GET", "/", headers={"Host": f"{host}:{server.port}"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status
        connection.close()
