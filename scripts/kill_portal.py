"""Kill the portal with SIGKILL again and again while answers arrive: none is lost, none doubled.

Example:
    python scripts/kill_portal.py             200 kills
    python scripts/kill_portal.py --kills 5
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from markscheme.keep import OWN_LEARNER, Grant, Role, open_store

CLIENTS = 8
_HEADERS = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Sec-Fetch-Site": "same-origin",
}


@dataclass
class Client:
    """One browser: it sends each answer until it hears that the answer is stored."""

    name: str
    cookie: str
    port: int = 0
    sent: int = 0
    acknowledged: set[str] = field(default_factory=set)

    def run(self, stop: threading.Event) -> None:
        """Send answers until told to stop; after an error, try the same answer again."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        while not stop.is_set():
            id_ = f"{self.name}-{self.sent}"
            fields = {"id": id_, "item": f"p-41-{self.sent % 300 + 1:03}", "f-correction": "x"}
            headers = {**_HEADERS, "Cookie": self.cookie}
            try:
                connection.request("POST", "/learn/card", urlencode(fields), headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                # `request` connects again after `close`.
                connection.close()
                time.sleep(0.02)
                continue
            if answer.status == http.client.SEE_OTHER:
                self.acknowledged.add(id_)
                self.sent += 1
        connection.close()


def start(store: Path) -> tuple[subprocess.Popen[str], int]:
    """Start the portal on a free port."""
    words = ["serve", "--port", "0", "--no-open", "--format", "json", "--store", str(store)]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "markscheme", *words], stdout=subprocess.PIPE, text=True
    )
    text = ""
    for line in process.stdout or ():
        text += line
        if line.startswith("}"):
            break
    return process, urlsplit(json.loads(text)["url"]).port or 0


def kill_portal(kills: int, seed: int = 25) -> tuple[int, list[str]]:
    """Kill the portal so often; return how many answers were acknowledged, and what is wrong."""
    rng = random.Random(seed)  # noqa: S311 - the same delays in every run
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store.db"
        with open_store(store, create=True) as opened:
            tokens = [
                opened.web_access.start_session(Grant(role=Role.OWNER)) for _ in range(CLIENTS)
            ]
            cookie = f"markscheme-{sha256(opened.place.encode()).hexdigest()[:8]}"
        clients = [Client(f"c{at}", f"{cookie}={token}") for at, token in enumerate(tokens)]
        for number in range(kills + 1):
            process, port = start(store)
            stop = threading.Event()
            threads = []
            for client in clients:
                client.port = port
                threads.append(threading.Thread(target=client.run, args=(stop,)))
                threads[-1].start()
            time.sleep(rng.uniform(0.05, 0.5))
            if number < kills:
                process.send_signal(signal.SIGKILL)
            stop.set()
            for thread in threads:
                thread.join()
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        acknowledged = {id_ for client in clients for id_ in client.acknowledged}
        with open_store(store, create=False) as opened:
            stored = [review.id for review in opened.learning.list_reviews([OWN_LEARNER])]
    problems = [f"lost: {id_}" for id_ in sorted(acknowledged - set(stored))]
    problems += [f"doubled: {len(stored) - len(set(stored))}"] * (len(stored) != len(set(stored)))
    if not acknowledged:
        problems.append("nothing was acknowledged")
    return len(acknowledged), problems


def main() -> int:
    """Kill, and print what was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    kills = parser.parse_args().kills
    answers, problems = kill_portal(kills)
    print(f"{kills} kills, {answers} answers acknowledged; {problems or 'none lost, none doubled'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
