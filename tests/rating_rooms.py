"""A rating study on the web: session logs of two variants, the app, its owner and its raters."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commands import here
from made_up import EDIT, GREP, PACKAGE, RECALL, TASK, Session
from serving import Client, Server, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VARIANTS = ("zephyrine", "quillback")
MODEL = "ostrichy-9b"
EXAM = "exam: {name}\nitems:\n"
SECRETS = (*VARIANTS, MODEL, "duel-of-zephyrine")
"""Names that no rater may find: variants, the model in the logs, the names of study and exam."""


def write_sources(folder: Path, queries: int = 3) -> tuple[Path, Path]:
    """Write an exam, and the logs of two variants to each of its queries."""
    items = "".join(
        f"  - {{id: TQ-{n}, prompt: 'Where is setting {n} read?', tags: {{mode: quick}}}}\n"
        for n in range(1, queries + 1)
    )
    exam = folder / "exam.yaml"
    exam.write_text(f"exam: duel-of-zephyrine\nitems:\n{items}")
    logs = folder / "logs"
    for number in range(1, queries + 1):
        for variant in VARIANTS:
            prompt = f"Where is setting {number} read?"
            session = Session(prompt, model=MODEL, session=f"{variant}-{number}")
            calls = (RECALL, TASK, GREP, EDIT) if variant == VARIANTS[0] else (RECALL, GREP)
            path = logs / variant / f"TQ-{number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = f"{PACKAGE}\nSetting {number} is read in `settings.py:{number}`."
            path.write_text(session.calls(*calls).say(text).text())
    return exam, logs


@dataclass(frozen=True)
class Room:
    """A served study; `links` let each rater in once."""

    server: Server
    study: str
    name: str
    links: dict[str, str]

    def rater(self, name: str) -> Client:
        """Return a rater who entered."""
        client = self.server.client()
        assert client.enter(self.links[name]).status == 303
        return client

    @property
    def path(self) -> str:
        return f"/rate/{self.study}"

    def command(self, *words: str | Path) -> Any:
        return here(*words, "--store", self.server.store, "--lang", "en")


@contextmanager
def open_room(
    folder: Path, *words: str, queries: int = 3, raters: str = "ana,ben"
) -> Iterator[Room]:
    """Make a study of session logs and serve it."""
    exam, logs = write_sources(folder, queries)
    store = folder / "store.db"
    with serve_study(
        store, "-r", "context-agent", "-e", exam, "--logs", logs, "--raters", raters, *words
    ) as room:
        yield room


@contextmanager
def serve_study(store: Path, *words: str | Path) -> Iterator[Room]:
    """Make a study as the command does, and serve it."""
    name = "duel-of-zephyrine"
    done = here("rate", "--web", *words, "--name", name, "--store", store, "--format", "json")
    assert done.code == 0, done.err
    made = json.loads(done.out)
    with serve(store) as server:
        links = {
            rater: f"{server.url}/enter/{link.rpartition('/')[2]}"
            for rater, link in made["links"].items()
        }
        yield Room(server, made["id"], name, links)
