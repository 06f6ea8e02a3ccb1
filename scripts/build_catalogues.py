"""Collects what pages say into the message catalogues, and compiles these.

python scripts/build_catalogues.py          # after changing a sentence: then translate the new ones
python scripts/build_catalogues.py --check  # only say what is out of date
"""

from __future__ import annotations

import argparse
import io
import sys
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "markscheme"
CATALOGUES = SOURCE / "tell" / "catalogues"
KEYWORDS = {"say": None, "sentence": None, "say_many": (1, 2)}
SPEAKERS = ("markscheme.tell.language import", "markscheme.sentences import")
LANGUAGES = ("es",)
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)  # a catalogue changes with its messages, not by the day


def collected() -> Catalog:
    """Return every message in the code, in the order of the files."""
    catalogue = Catalog(domain="markscheme")
    for path in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html"))):
        method = {".py": "python", ".html": "jinja2"}[path.suffix]
        if method == "python" and not any(way in path.read_text("utf-8") for way in SPEAKERS):
            continue
        for _, message, comments, _ in extract_from_file(method, path, keywords=KEYWORDS):
            catalogue.add(message, None, [(str(path.relative_to(SOURCE)), 0)], comments)
    return catalogue


def renewed(language: str) -> Catalog:
    """Return the catalogue of a language with the messages of the code."""
    path = CATALOGUES / language / "LC_MESSAGES" / "markscheme.po"
    known = read_po(path.open("rb"), locale=language) if path.exists() else Catalog(locale=language)
    catalogue = Catalog(
        locale=language,
        project="markscheme",
        version="1",
        header_comment="# What markscheme says. Written by scripts/build_catalogues.py.",
        creation_date=WRITTEN,
        revision_date=WRITTEN,
        last_translator="The markscheme authors",
        language_team=language,
        fuzzy=False,
    )
    for message in collected():
        if message.id:
            before = known.get(message.id)
            text = before.string if before else None
            catalogue.add(message.id, text, message.locations, auto_comments=message.auto_comments)
    return catalogue


def compiled(catalogue: Catalog) -> tuple[bytes, bytes]:
    """Return the text and the compiled form of a catalogue."""
    text, binary = io.BytesIO(), io.BytesIO()
    write_po(text, catalogue, width=100)
    write_mo(binary, catalogue)
    return text.getvalue(), binary.getvalue()


def main() -> int:
    """Write or check the catalogues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = 0
    for language in LANGUAGES:
        folder = CATALOGUES / language / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        names = ("markscheme.po", "markscheme.mo")
        for name, data in zip(names, compiled(renewed(language)), strict=True):
            path = folder / name
            if not path.exists() or path.read_bytes() != data:
                stale += 1
                print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
                if not check:
                    path.write_bytes(data)
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
