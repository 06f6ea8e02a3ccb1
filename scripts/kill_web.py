"""Kill the web app again and again while raters send marks; count what is lost or there twice.

    python scripts/kill_web.py [--kills 200] [--raters 4] [--seed 1] [--store FILE|URL]

Raters send marks as fast as they are acknowledged, each under an id of its own. After a random
number of acknowledgements and a random delay the server is killed (SIGKILL) and started again. A
rater who got no answer sends the same mark again, as the script of the page does. In the end the
store must hold every acknowledged mark exactly once, with its score, and no other. The exit code
is 1 if it does not, or if no kill hit a mark that was stored and not acknowledged in 50 kills.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from markscheme.keep import open_store
from markscheme.read.documents import compute_exam_fingerprint
from markscheme.vocabulary import Exam, Item
from markscheme.workflows.documents import parse_rubric_text
from markscheme.workflows.rate import AnswersToRate, BlindAnswer
from markscheme.workflows.study import StudyPlan, create_rater_link, create_study

if TYPE_CHECKING:
    from collections.abc import Iterator

RUBRIC = """\
rubric: words
version: 1
axes:
  - {name: tone, kind: scale, question: 'How kind is it?', anchors: {1: rude, 2: plain, 3: kind}}
"""
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
MOST_ACKNOWLEDGED = 40
LONGEST_DELAY = 0.02
START_TIMEOUT = 60.0
EXPECTED_UNHEARD = 50
COUNTED = ("kills", "sent", "acknowledged", "sent again", "stored, not heard of")
WRONG = ("refused", "lost", "doubled", "changed", "never sent")


@dataclass(slots=True)
class Tally:
    """What the raters sent and what was acknowledged, by the id of the mark."""

    sent: dict[str, str] = field(default_factory=dict)
    acknowledged: dict[str, str] = field(default_factory=dict)
    again: int = 0
    refused: int = 0
    lock: Lock = field(default_factory=Lock)


@dataclass(slots=True)
class Site:
    """Where the server answers at the moment; nothing while it is being started."""

    up: Event = field(default_factory=Event)
    port: int = 0
    done: Event = field(default_factory=Event)


class Rater:
    """A rater in a thread: sends a mark until it is acknowledged, then the next one."""

    def __init__(self, site: Site, tally: Tally, study: str, token: str, seed: str) -> None:
        self._site = site
        self._tally = tally
        self._study = study
        self._token = token
        self._random = random.Random(seed)  # noqa: S311 - scores
        self._cookie = ""
        self._connection: http.client.HTTPConnection | None = None

    def enter(self) -> None:
        """Use the link, and take the only query."""
        response = self._post("/enter", {"token": self._token})
        self._cookie = (response.headers["Set-Cookie"] or "").partition(";")[0]
        self._post(f"/rate/{self._study}/next", {})

    def rate(self) -> None:
        """Send marks until the site is done; a mark that was not answered is sent again."""
        while not self._site.done.is_set():
            mark = {
                "id": str(uuid4()),
                "place": str(self._random.randint(1, 2)),
                "axis": "tone",
                "score": str(self._random.randint(1, 3)),
            }
            with self._tally.lock:
                self._tally.sent[mark["id"]] = mark["score"]
            while not self._send(mark):
                with self._tally.lock:
                    self._tally.again += 1
                self._site.up.wait()

    def _send(self, mark: dict[str, str]) -> bool:
        try:
            status = self._post(f"/rate/{self._study}/marks", mark).status
        except (OSError, http.client.HTTPException):
            self._connection = None
            return False
        with self._tally.lock:
            if status == HTTPStatus.NO_CONTENT:
                self._tally.acknowledged[mark["id"]] = mark["score"]
            else:
                self._tally.refused += 1
        return True

    def _post(self, path: str, fields: dict[str, str]) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._site.port, timeout=20)
        headers = FORM | ({"Cookie": self._cookie} if self._cookie else {})
        self._connection.request("POST", path, urlencode(fields), headers)
        response = self._connection.getresponse()
        response.read()
        return response


def make_study(place: str, raters: int) -> tuple[str, list[str]]:
    """Store a study of one query with two answers; return its id and a token for each rater."""
    items = (Item(id="q1", prompt="question"),)
    exam = Exam(names=("e",), items=items, fingerprint=compute_exam_fingerprint(["e"], items))
    answers = tuple(
        BlindAnswer(item="q1", variant=variant, prompt="question", text=variant)
        for variant in ("first", "second")
    )
    rubric = parse_rubric_text(RUBRIC, "words.yaml")
    plan = StudyPlan(raters=[f"rater-{number}" for number in range(raters)])
    with open_store(place, create=True) as store:
        study = create_study(store, AnswersToRate(rubric=rubric, exam=exam, answers=answers), plan)
        tokens = [create_rater_link(store, study, rater) for rater in study.stored.raters]
    return study.id, tokens


@contextmanager
def run_server(place: str, site: Site) -> Iterator[subprocess.Popen[str]]:
    """Start the app, tell the raters where it is, and kill it at the end."""
    options = ("--port", "0", "--no-open", "--format", "json", "--store", place)
    process = subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-m", "markscheme", "serve", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        text = ""
        for line in process.stdout or ():
            text += line
            if line.startswith("}"):
                break
        site.port = urlsplit(json.loads(text)["url"]).port or 0
        site.up.set()
        yield process
    finally:
        site.up.clear()
        process.kill()
        process.communicate()


def wait_for_marks(tally: Tally, wanted: int) -> None:
    """Wait until so many more marks were acknowledged."""
    until = time.monotonic() + START_TIMEOUT
    first = len(tally.acknowledged)
    while len(tally.acknowledged) < first + wanted:
        if time.monotonic() > until:
            raise SystemExit("no mark was acknowledged for a minute")
        time.sleep(0.001)


def kill_again_and_again(place: str, kills: int, raters: int, seed: int) -> Counter[str]:
    """Return how many marks were sent, acknowledged, lost, doubled, and stored unheard."""
    chance = random.Random(seed)  # noqa: S311 - when to kill
    site, tally = Site(), Tally()
    study, tokens = make_study(place, raters)
    people = [Rater(site, tally, study, token, f"{seed} {token}") for token in tokens]
    threads = [Thread(target=person.rate, daemon=True) for person in people]
    found: Counter[str] = Counter(kills=kills)
    with run_server(place, site):
        for person in people:
            person.enter()
        for thread in threads:
            thread.start()
        wait_for_marks(tally, chance.randint(1, MOST_ACKNOWLEDGED))
        time.sleep(chance.random() * LONGEST_DELAY)
    for _ in range(kills - 1):
        found["stored, not heard of"] += count_unheard(place, study, tally)
        with run_server(place, site):
            wait_for_marks(tally, chance.randint(1, MOST_ACKNOWLEDGED))
            time.sleep(chance.random() * LONGEST_DELAY)
    with run_server(place, site):
        wait_for_marks(tally, 1)
        site.done.set()
        for thread in threads:
            thread.join(START_TIMEOUT)
    return found + compare(place, study, tally)


def count_unheard(place: str, study: str, tally: Tally) -> int:
    """Return how many marks are stored whose raters did not hear of it."""
    with open_store(place, create=False) as store:
        stored = {mark.id for mark in store.studies.read_marks(study)}
    with tally.lock:
        return len(stored - tally.acknowledged.keys())


def compare(place: str, study: str, tally: Tally) -> Counter[str]:
    """Compare what the raters know with what the store holds."""
    with open_store(place, create=False) as store:
        marks = store.studies.read_marks(study)
    stored = Counter(mark.id for mark in marks)
    scores = {mark.id: mark.score for mark in marks}
    return Counter(
        {
            "sent": len(tally.sent),
            "acknowledged": len(tally.acknowledged),
            "sent again": tally.again,
            "refused": tally.refused,
            "lost": len(tally.acknowledged.keys() - stored.keys()),
            "doubled": sum(count - 1 for count in stored.values()),
            "changed": sum(scores.get(id_) != score for id_, score in tally.acknowledged.items()),
            "never sent": len(stored.keys() - tally.sent.keys()),
        }
    )


def main() -> int:
    """Parse the options, kill, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--raters", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.store or str(Path(folder) / "store.db")
        found = kill_again_and_again(place, options.kills, options.raters, options.seed)
    for what in (*COUNTED, *WRONG):
        print(f"{what}: {found[what]:,}")
    wrong = sum(found[what] for what in WRONG)
    is_idle = options.kills >= EXPECTED_UNHEARD and not found["stored, not heard of"]
    return int(bool(wrong) or is_idle or not found["acknowledged"])


if __name__ == "__main__":
    raise SystemExit(main())
