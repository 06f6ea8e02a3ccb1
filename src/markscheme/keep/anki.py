"""Write cards as an Anki package: a zip file with a small SQLite database of Anki's schema 11.

Each note has a stable id, so importing the package again updates the notes and doubles none.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import Struct

from markscheme.vocabulary import compute_digest

_FIELD_SEPARATOR = "\x1f"
_MODEL_ID = 1_716_000_000_025
_TABLES = (
    """CREATE TABLE col (id INTEGER PRIMARY KEY, crt INTEGER NOT NULL, mod INTEGER NOT NULL,
      scm INTEGER NOT NULL, ver INTEGER NOT NULL, dty INTEGER NOT NULL, usn INTEGER NOT NULL,
      ls INTEGER NOT NULL, conf TEXT NOT NULL, models TEXT NOT NULL, decks TEXT NOT NULL,
      dconf TEXT NOT NULL, tags TEXT NOT NULL)""",
    """CREATE TABLE notes (id INTEGER PRIMARY KEY, guid TEXT NOT NULL, mid INTEGER NOT NULL,
      mod INTEGER NOT NULL, usn INTEGER NOT NULL, tags TEXT NOT NULL, flds TEXT NOT NULL,
      sfld INTEGER NOT NULL, csum INTEGER NOT NULL, flags INTEGER NOT NULL, data TEXT NOT NULL)""",
    """CREATE TABLE cards (id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, did INTEGER NOT NULL,
      ord INTEGER NOT NULL, mod INTEGER NOT NULL, usn INTEGER NOT NULL, type INTEGER NOT NULL,
      queue INTEGER NOT NULL, due INTEGER NOT NULL, ivl INTEGER NOT NULL, factor INTEGER NOT NULL,
      reps INTEGER NOT NULL, lapses INTEGER NOT NULL, left INTEGER NOT NULL, odue INTEGER NOT NULL,
      odid INTEGER NOT NULL, flags INTEGER NOT NULL, data TEXT NOT NULL)""",
    """CREATE TABLE revlog (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL, usn INTEGER NOT NULL,
      ease INTEGER NOT NULL, ivl INTEGER NOT NULL, lastIvl INTEGER NOT NULL,
      factor INTEGER NOT NULL, time INTEGER NOT NULL, type INTEGER NOT NULL)""",
    "CREATE TABLE graves (usn INTEGER NOT NULL, oid INTEGER NOT NULL, type INTEGER NOT NULL)",
)


class AnkiNote(Struct, frozen=True, kw_only=True):
    """A card with two sides in HTML; `id` is the same whenever the card is the same."""

    id: str
    front: str
    back: str
    tags: tuple[str, ...] = ()


def write_anki_package(deck: str, notes: Sequence[AnkiNote], seconds: int) -> bytes:
    """Return the bytes of an `.apkg` file; `seconds` is the time of its making since 1970."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "collection.anki2"
        connection = sqlite3.connect(path)
        try:
            for statement in _TABLES:
                connection.execute(statement)
            _insert_collection(connection, deck, seconds)
            for number, note in enumerate(notes):
                _insert_note(connection, note, number, _compute_number(deck), seconds)
            connection.commit()
        finally:
            connection.close()
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr(zipfile.ZipInfo("collection.anki2"), path.read_bytes())
            package.writestr(zipfile.ZipInfo("media"), "{}")
        return out.getvalue()


def _compute_number(text: str) -> int:
    """Return a stable positive number of 52 bits."""
    return int(compute_digest(text.encode())[-13:], 16)


def _insert_collection(connection: sqlite3.Connection, deck: str, seconds: int) -> None:
    number = _compute_number(deck)
    common = {"mod": seconds, "usn": -1}
    decks = {
        str(id_): {
            "id": id_,
            "name": name,
            "desc": "",
            "dyn": 0,
            "conf": 1,
            "collapsed": False,
            "browserCollapsed": False,
            "extendNew": 0,
            "extendRev": 0,
            **{f"{what}Today": [0, 0] for what in ("new", "rev", "lrn", "time")},
            **common,
        }
        for id_, name in ((1, "Default"), (number, deck))
    }
    model = {
        "id": _MODEL_ID,
        "name": "markscheme",
        "type": 0,
        "sortf": 0,
        "did": number,
        "css": ".card{font:20px sans-serif;text-align:center}",
        "latexPre": "",
        "latexPost": "",
        "req": [[0, "any", [0]]],
        "tags": [],
        "vers": [],
        "flds": [_build_field(name, at) for at, name in enumerate(("Front", "Back"))],
        "tmpls": [
            {
                "name": "Card 1",
                "ord": 0,
                "qfmt": "{{Front}}<br>{{type:Back}}",
                "afmt": "{{Front}}<hr id=answer>{{Back}}",
                "bqfmt": "",
                "bafmt": "",
                "did": None,
            }
        ],
        **common,
    }
    conf = {"nextPos": 1, "curDeck": number, "activeDecks": [number], "curModel": _MODEL_ID}
    connection.execute(
        "INSERT INTO col VALUES (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, '{}')",
        [
            seconds,
            seconds * 1000,
            seconds * 1000,
            json.dumps(conf),
            json.dumps({str(_MODEL_ID): model}),
            json.dumps(decks),
            json.dumps({"1": _build_deck_options()}),
        ],
    )


def _build_field(name: str, at: int) -> dict[str, Any]:
    font = {"font": "Arial", "size": 20, "rtl": False, "sticky": False, "media": []}
    return {"name": name, "ord": at, **font}


def _build_deck_options() -> dict[str, Any]:
    return {
        "id": 1,
        "name": "Default",
        "mod": 0,
        "usn": 0,
        "maxTaken": 60,
        "timer": 0,
        "autoplay": True,
        "replayq": True,
        "new": {"delays": [1, 10], "ints": [1, 4, 7], "initialFactor": 2500, "perDay": 20},
        "rev": {"perDay": 200, "ease4": 1.3, "maxIvl": 36500, "ivlFct": 1},
        "lapse": {"delays": [10], "mult": 0, "minInt": 1, "leechFails": 8, "leechAction": 0},
    }


def _insert_note(
    connection: sqlite3.Connection, note: AnkiNote, number: int, deck: int, seconds: int
) -> None:
    id_ = seconds * 1000 + number
    fields = _FIELD_SEPARATOR.join((note.front, note.back))
    tags = f" {' '.join(note.tags)} " if note.tags else ""
    connection.execute(
        "INSERT INTO notes VALUES (?, ?, ?, ?, -1, ?, ?, ?, 0, 0, '')",
        [id_, note.id, _MODEL_ID, seconds, tags, fields, note.front],
    )
    connection.execute(
        "INSERT INTO cards VALUES (?, ?, ?, 0, ?, -1, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')",
        [id_, id_, deck, seconds, number + 1],
    )
