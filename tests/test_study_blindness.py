"""Before a study is closed, nothing that a rater can fetch names a variant, a model or a rater."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from rating_rooms import SECRETS, Room, open_room

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Answer, Client

RATERS = ("anastasija", "benedicta")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with open_room(tmp_path_factory.mktemp("room"), raters=",".join(RATERS)) as opened:
        yield opened


def rate_card(client: Client, address: str, score: str = "4") -> Answer:
    """Fill in the form of a card."""
    fields = {f"score-{number}": score for number in range(6)}
    note = f"a note of whoever gave {score}"
    id_ = re.search(r'name="id" value="([^"]+)"', client.get(address).body)
    assert id_
    return client.post(address, {"id": id_[1], "note-6": note, **fields, "action": "save"})


def rate_everything(room: Room, client: Client, score: str) -> None:
    """Go through all cards as a rater without a script does."""
    answer = client.post(f"{room.path}/next")
    while "state=" not in (answer.location or ""):
        answer = rate_card(client, answer.location or "", score)
        assert answer.status == 303
    assert (answer.location or "").endswith("state=finished")


def crawl(client: Client, *starts: str, within: str = "/") -> dict[str, str]:
    """Return everything that can be fetched from these addresses on: headers and bodies."""
    fetched: dict[str, str] = {}
    waiting = list(starts)
    while waiting:
        address = waiting.pop()
        if address in fetched:
            continue
        answer = client.get(address)
        fetched[address] = f"{answer.status} {answer.headers}{answer.body}"
        found = re.findall(r'(?:href|src|action|data-marks)="(/[^"#]*)', answer.body)
        waiting += [one for one in found if one not in fetched and one.startswith(within)]
        if answer.location:
            waiting.append(answer.location)
    return fetched


def guess_addresses(room: Room) -> list[str]:
    """Return addresses that a curious rater might try."""
    study = room.study
    return [
        "/",
        "/rate",
        "/runs",
        "/studies",
        f"/studies/{study}",
        f"/studies/{room.name}",
        *(f"/studies/{study}/{part}" for part in ("ratings.csv", "adjudications.csv", "agreement")),
        *(f"/rate/{other}" for other in (room.name, "0" * 12, "", "..", "%2e%2e")),
        *(f"/rate/{study}/{query}/{part}" for query in (0, 1, 9, -1) for part in (0, 1, 2, 9)),
        *(f"/rate/{study}?state={state}" for state in ("closed", "finished", "nonsense")),
        f"/rate/{study}/1/1?state=lost",
        f"/rate/{study}/1/1?at=999",
        f"/rate/{study}/marks",
        f"/rate/{study}/undo",
        f"/rate/{study}/benedicta",
        "/openapi.json",
        "/docs",
    ]


def post_wrongly(room: Room, client: Client) -> str:
    """Return what the server says to wrong forms."""
    wrong = [
        {},
        {"id": "x"},
        {"id": "a" * 20, "place": "999", "axis": "Q-01", "score": "4"},
        {"id": "a" * 20, "place": "1", "axis": "nonsense", "score": "4"},
        {"id": "a" * 20, "place": "1", "axis": "Q-01", "score": "99"},
        {"id": "a" * 20, "place": "1", "axis": "Q-01", "criterion": "x", "score": "4"},
        {"id": "a" * 20, "place": "1", "axis": "OP-05", "score": "4", "note": "x"},
        {"id": "a" * 20, "place": "one", "axis": "Q-01", "score": "4"},
    ]
    said = []
    for path in ("marks", "undo", "next", "1/1", "9/9"):
        for form in wrong if path != "next" else [{}]:
            answer = client.post(f"{room.path}/{path}", form)
            assert answer.status < 500
            said.append(f"{answer.status} {answer.headers}{answer.body}")
    for path in ("close", "links", "adjudicate"):
        answer = client.post(f"/studies/{room.study}/{path}", {"rater": "benedicta"})
        assert answer.status == 403
        said.append(answer.body)
    return "\n".join(said)


def test_no_byte_that_a_rater_can_fetch_names_a_variant_or_another_rater(room: Room) -> None:
    other = room.rater("benedicta")
    rate_everything(room, other, "1")
    client = room.rater("anastasija")
    everything = post_wrongly(room, client)
    for address in ("", "/1/1"):
        everything += client.post(f"{room.path}/next").body
        everything += "\n".join(
            crawl(client, f"{room.path}{address}", *guess_addresses(room)).values()
        )
    rate_everything(room, client, "5")
    for visitor in (client, room.server.client()):
        fetched = crawl(visitor, room.path, *guess_addresses(room))
        everything += "\n".join(
            f"{address}\n{text}"
            for address, text in fetched.items()
            if not address.endswith(room.name)
        )
    asked = everything.replace(f"/rate/{room.name}", "").replace(f"/studies/{room.name}", "")
    assert "Setting 1 is read in" in asked
    assert "What the agent did" in asked
    for secret in (*SECRETS, "a note of whoever gave 1"):
        assert secret not in asked, secret
    assert "benedicta" not in asked.replace(f"{room.path}/benedicta", "")
    assert "anastasija" not in "".join(crawl(other, room.path, *guess_addresses(room)).values())


def test_the_owner_is_not_unblinded_either_before_closing(room: Room) -> None:
    pages = crawl(room.server.owner(), f"/studies/{room.study}", within="/studies")
    assert "benedicta" in pages[f"/studies/{room.study}"]
    for address, text in pages.items():
        for secret in SECRETS[:3]:
            assert secret not in text.replace(room.name, ""), (address, secret)
    for name in ("ratings.csv", "adjudications.csv", "agreement"):
        answer = room.server.owner().get(f"/studies/{room.study}/{name}")
        assert answer.status == 400


def test_the_commands_do_not_unblind_before_closing(room: Room, tmp_path: Path) -> None:
    for words in (
        ("compare", "--study", room.name, "-b", "big", "-c", "small"),
        ("agree", "--study", room.name),
    ):
        done = room.command(*words)
        assert done.code == 2
        assert "is open" in done.err
        assert not any(secret in done.err.replace(room.name, "") for secret in SECRETS)
    assert not (tmp_path / "ratings.csv").exists()


def test_what_is_printed_when_a_study_is_made_names_no_variant(room: Room, tmp_path: Path) -> None:
    rows = [
        {"item": "TQ-1", "subject": variant, "output": f"I am {variant}, as ChatGPT told me"}
        for variant in SECRETS[:2]
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = room.command(
        *("rate", "--web", "-r", "context-agent", "-e", "context-queries", "-a", answers),
        *("--raters", "ana"),
    )
    assert done.code == 0
    assert "2 answers name a variant or a family of models: TQ-1" in done.err
    assert not any(secret in done.out + done.err for secret in SECRETS)
