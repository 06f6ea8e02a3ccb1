"""What a learner takes along: reviews that can be read again, cards for Anki, a calendar."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commands import here
from markscheme import load_exam, load_rubric
from markscheme.keep import OWN_LEARNER, Store, open_store
from markscheme.workflows.practice import CardAnswer, PracticeSettings, grade_card
from markscheme.workflows.review_files import build_anki_package, export_cards

RUBRIC = load_rubric("tutor-capstone")
ITEMS = load_exam("practice", rubric=RUBRIC).items
SETTINGS = PracticeSettings(rubric=RUBRIC, items=ITEMS, zone=UTC)
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def practised(tmp_path: Path) -> Path:
    """Return a store with three answers, of which one looks like a formula."""
    place = tmp_path / "store.db"
    with open_store(place, create=True) as store:
        store.learning.ensure_own_learner()
        for number, form in enumerate(("was", "will have", "=1+1")):
            answer = CardAnswer(id=f"a{number}", item=ITEMS[number].id, fields={"correction": form})
            store.learning.add_review(grade_card(SETTINGS, OWN_LEARNER, answer, NOW).review)
    return place


def export(store: Store, suffix: str) -> bytes:
    return export_cards(store, SETTINGS, OWN_LEARNER, NOW, suffix)


def test_reviews_as_json_lines_can_be_read_again(practised: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "reviews.jsonl", tmp_path / "other.db"
    with open_store(practised, create=False) as store:
        file.write_bytes(export(store, "jsonl"))
    for added in ("3 new reviews are stored", "0 new reviews are stored"):
        assert added in here("learn", "import", file, "--store", other).err
    with open_store(other, create=False) as store:
        assert export(store, "jsonl") == file.read_bytes()


def test_every_line_that_is_no_review_is_told(tmp_path: Path) -> None:
    file = tmp_path / "reviews.jsonl"
    file.write_text('{"id": "a"}\n\n[]\nno json\n')
    done = here("learn", "import", file, "--store", tmp_path / "s.db")
    assert done.code == 3
    assert [line.split(":")[1] for line in done.err.splitlines()] == ["1", "3", "4"]


def test_reviews_as_csv_are_safe_for_spreadsheets(practised: Path) -> None:
    with open_store(practised, create=False) as store:
        rows = list(csv.DictReader(export(store, "csv").decode().splitlines()))
    assert [row["quality"] for row in rows] == ["3", "3", "0"]
    assert [row["correctness"] for row in rows] == ["1/1", "1/1", "0/1"]
    assert json.loads(rows[2]["output"])["correction"] == "=1+1"


def test_anki_imports_every_card_once(tmp_path: Path) -> None:
    pytest.importorskip("anki")
    from anki.collection import (  # noqa: PLC0415 - heavy
        Collection,
        ImportAnkiPackageRequest,
    )

    collection = Collection(str(tmp_path / "collection.anki2"))
    try:
        for later in (0, 1):
            package = tmp_path / f"{later}.apkg"
            made = NOW + timedelta(days=later)
            package.write_bytes(build_anki_package(RUBRIC, ITEMS, made))
            collection.import_anki_package(ImportAnkiPackageRequest(package_path=str(package)))
            assert collection.note_count() == collection.card_count() == len(ITEMS)
        note = collection.get_note(collection.find_notes("tag:verb::eat")[0])
        assert note["Front"].startswith("Conjugate &#x27;eat&#x27;")
        assert "tense::" in " ".join(note.tags)
        assert not collection.find_notes("Back:")
    finally:
        collection.close()


def test_cards_as_a_table_have_an_id_two_sides_and_tags(practised: Path) -> None:
    with open_store(practised, create=False) as store:
        lines = export(store, "tsv").decode().splitlines()
    assert lines[:2] == ["#separator:tab", "#html:true"]
    assert len(lines) == 4 + len(ITEMS)
    assert {line.count("\t") for line in lines[4:]} == {3}
    assert lines[4].split("\t")[2] == "was<br>fue"


def test_due_days_are_a_calendar(practised: Path) -> None:
    with open_store(practised, create=False) as store:
        text = export(store, "ics").decode()
    assert text.count("BEGIN:VEVENT") == 1
    assert "DTSTART;VALUE=DATE:20260303\r\n" in text
    assert "SUMMARY:markscheme: 3\r\n" in text
    assert all(len(line) < 75 for line in text.split("\r\n"))
