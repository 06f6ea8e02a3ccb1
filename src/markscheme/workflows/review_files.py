"""Files of a learner: reviews as JSON lines or CSV, cards for Anki, due days as a calendar."""

from __future__ import annotations

import csv
import html
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.keep import AnkiNote, LearnerReview, Store, write_anki_package
from markscheme.learn import list_answer_fields
from markscheme.read.spreadsheets import guard_cell
from markscheme.vocabulary import (
    DocumentError,
    Item,
    Problem,
    UsageError,
    compute_digest,
    dump_json,
)
from markscheme.workflows.practice import export_reviews, load_deck_state

if TYPE_CHECKING:
    from markscheme.vocabulary import Rubric
    from markscheme.workflows.practice import PracticeSettings

EXPORTS: Mapping[str, str] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "apkg": "application/octet-stream",
    "ics": "text/calendar; charset=utf-8",
}
"""The endings of files that a learner can take along, with their media types."""


def export_cards(
    store: Store, settings: PracticeSettings, learner: str, now: datetime, suffix: str
) -> bytes:
    """Return one of the files: reviews (jsonl, csv), cards (tsv, apkg) or due days (ics)."""
    if suffix in {"jsonl", "csv"}:
        reviews = store.learning.list_reviews([learner], texts=True)
        return format_reviews(reviews, suffix).encode()
    if suffix == "tsv":
        return format_tsv(settings.rubric, settings.items).encode()
    if suffix == "apkg":
        return build_anki_package(settings.rubric, settings.items, now)
    state = load_deck_state(store, settings, learner, now)
    due = Counter(
        max(card.due, state.today)
        for card in state.cards.values()
        if card.due is not None and not card.is_leech
    )
    return format_calendar(due, now).encode()


def format_reviews(reviews: Sequence[LearnerReview], suffix: str) -> str:
    """Return reviews as JSON lines, or as CSV with a column for each cell."""
    rows = export_reviews(reviews)
    if suffix == "jsonl":
        return "".join(f"{dump_json(row)}\n" for row in rows)
    out = io.StringIO(newline="")
    axes = list(dict.fromkeys(axis for row in rows for axis in row["cells"]))
    plain = ("id", "learner", "item", "at", "day", "quality", "rule", "rubric", "output")
    writer = csv.writer(out)
    writer.writerow([*plain, *axes])
    for row in rows:
        cells = [row["cells"].get(axis, {}).get("value") for axis in axes]
        texts = [row[name] for name in plain]
        writer.writerow([guard_cell(v) if isinstance(v, str) else v for v in [*texts, *cells]])
    return out.getvalue()


def import_reviews(store: Store, path: Path) -> int:
    """Store reviews from JSON lines that were exported; return how many were new.

    Reviews that are stored already stay as they are. A learner who is not in the store is added
    without a name.

    Raises:
        DocumentError: some lines are no reviews; the error holds every problem.
    """
    problems, reviews = [], []
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            reviews.append(_parse_review(line))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            why = f"is no review: {error}"
            problems.append(Problem(file=str(path), line=number, field="", message=why))
    if problems:
        raise DocumentError(problems)
    with store.transaction():
        for learner in {review.learner for review in reviews}:
            store.learning.ensure_learner(learner)
        return sum(store.learning.add_review(review) for review in reviews)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        problem = Problem(file=str(path), line=1, field="", message="is not UTF-8")
        raise DocumentError([problem]) from error


def _parse_review(line: str) -> LearnerReview:
    row = json.loads(line)
    texts = {name: row[name] for name in ("id", "learner", "item", "rule", "rubric")}
    wrong = [name for name, value in texts.items() if not isinstance(value, str)]
    if wrong:
        raise TypeError(f"{wrong[0]} is no text")
    quality, output, at = row["quality"], row["output"], datetime.fromisoformat(row["at"])
    if quality not in range(6) or isinstance(quality, bool | float):
        raise ValueError("quality is a whole number from 0 to 5")
    if not (output is None or isinstance(output, str)) or at.tzinfo is None:
        raise TypeError("output is a text or null, and at has a time zone")
    if not isinstance(row["facts"], dict) or not isinstance(row["cells"], dict):
        raise TypeError("facts and cells are objects")
    return LearnerReview(
        **texts,
        at=at,
        day=date.fromisoformat(row["day"]),
        quality=quality,
        facts=row["facts"],
        cells=row["cells"],
        output=output,
    )


def build_card_sides(rubric: Rubric, item: Item) -> tuple[str, str]:
    """Return the front and the back of a card as HTML: the prompt, and what is expected."""
    expected = [
        (entry[0] if isinstance(entry, list | tuple) else entry)
        for field in list_answer_fields(rubric)
        if field.leads
        for spec in rubric
        if getattr(spec.axis, "reads", None) == field.name
        for entry in item.expectations.get(getattr(spec.axis, "expects", ""), ())
    ]
    return html.escape(item.prompt), "<br>".join(html.escape(str(text)) for text in expected)


def format_tsv(rubric: Rubric, items: Sequence[Item]) -> str:
    """Return cards as tab-separated text, which Anki and others import."""
    lines = ["#separator:tab", "#html:true", "#guid column:1", "#tags column:4"]
    for item in items:
        front, back = build_card_sides(rubric, item)
        tags = " ".join(f"{key}::{value}".replace(" ", "_") for key, value in item.tags.items())
        lines.append("\t".join([build_note_id(item), front, back, tags]))
    return "".join(f"{line}\n" for line in lines)


def build_anki_package(rubric: Rubric, items: Sequence[Item], now: datetime) -> bytes:
    """Return cards as an Anki package, one note for each item."""
    notes = []
    for item in items:
        front, back = build_card_sides(rubric, item)
        tags = tuple(f"{key}::{value}".replace(" ", "_") for key, value in item.tags.items())
        notes.append(AnkiNote(id=build_note_id(item), front=front, back=back, tags=tags))
    return write_anki_package("markscheme", notes, int(now.timestamp()))


def build_note_id(item: Item) -> str:
    """Return the id of a note: the same item is the same note at every import."""
    return f"markscheme-{item.id}-{compute_digest(item.prompt.encode())[-8:]}"


def format_calendar(due: Counter[date], now: datetime) -> str:
    """Return the due days as iCalendar events of a whole day."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//markscheme//learn//EN"]
    for day, count in sorted(due.items()):
        lines += [
            "BEGIN:VEVENT",
            f"UID:{day:%Y%m%d}-reviews@markscheme",
            f"DTSTAMP:{stamp}",
            f"DTSTART;VALUE=DATE:{day:%Y%m%d}",
            f"DTEND;VALUE=DATE:{day + timedelta(days=1):%Y%m%d}",
            f"SUMMARY:markscheme: {count}",
            "TRANSP:TRANSPARENT",
            "END:VEVENT",
        ]
    lines.append("END:VCALENDAR")
    return "".join(f"{line}\r\n" for line in lines)
