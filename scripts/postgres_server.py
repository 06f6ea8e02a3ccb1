"""A PostgreSQL server to throw away: for tests, the kill script and the benchmark.

    python scripts/postgres_server.py

Prints the URL of its database when it is ready, and runs until its standard input is closed, so
that it cannot outlive whoever started it, however that one ends. Then everything is removed. Ends
with 77 and a reason where PostgreSQL's programs are not installed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

NOT_INSTALLED = 77
PASSWORD = "p@ss/word:#1"  # noqa: S105 - hard to put into a URL, on purpose
_TRIES = 3
_PATIENCE = 60.0


def programs() -> Path:
    """Return the folder of `initdb` and `postgres`, wherever the system keeps them."""
    beside = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in [*beside, *versions]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    print("no initdb and postgres on this machine", file=sys.stderr)
    raise SystemExit(NOT_INSTALLED)


def server_user() -> dict[str, Any]:
    """Return who runs the server: PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def initialise(folder: Path, bin_: Path, user: dict[str, Any]) -> None:
    """Make an empty cluster whose only user needs a password."""
    (folder / "password").write_text(PASSWORD, encoding="ascii")
    if user:
        for path in (folder, folder / "password"):
            os.chown(path, user["user"], user["group"])
    subprocess.run(  # noqa: S603 - our own command
        [
            *(bin_ / "initdb", "-D", folder / "data", "-U", "marks", "-A", "scram-sha-256"),
            *("--pwfile", folder / "password", "-E", "UTF8", "--locale=C", "--no-sync"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        **user,
    )


def start(folder: Path, bin_: Path, user: dict[str, Any]) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server on a free port; another process may take the port first, so try again."""
    for _ in range(_TRIES):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(  # noqa: S603 - our own command
            [
                *(bin_ / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder),
                *("-c", "listen_addresses=127.0.0.1", "-c", "log_min_messages=fatal"),
                *("-c", "fsync=off"),  # nothing here has to outlast the machine
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("wb"),
            cwd=folder,
            **user,
        )
        if ready(server, folder / f".s.PGSQL.{port}"):
            return server, port
    raise SystemExit((folder / "log").read_text(encoding="utf-8", errors="replace"))


def ready(server: subprocess.Popen[bytes], path: Path) -> bool:
    """Wait until the server accepts connections or has given up."""
    until = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                return True
        time.sleep(0.05)
    return False


def main() -> None:
    """Run a server until the standard input is closed."""
    bin_, user = programs(), server_user()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        initialise(folder, bin_, user)
        server, port = start(folder, bin_, user)
        try:
            password = quote(PASSWORD, safe="")
            print(f"postgresql://marks:{password}@127.0.0.1:{port}/postgres", flush=True)
            sys.stdin.read()
        finally:
            server.send_signal(signal.SIGINT)  # fast shutdown: throw out clients, end cleanly
            server.wait()


if __name__ == "__main__":
    main()
