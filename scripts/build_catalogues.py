"""Collects what pages say into the message catalogues, and compiles these.

python scripts/build_catalogues.py          # after changing a sentence: then translate the new ones
python scripts/build_catalogues.py --check  # only say what is out of date
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "markscheme"
CATALOGUES = SOURCE / "tell" / "catalogues"
KEYWORDS = {"translate": None, "sentence": None, "translate_plural": (1, 2)}
CALLS = {"translate": 1, "sentence": 1, "translate_plural": 2}
LANGUAGES = ("es",)
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)  # a catalogue changes with its messages, not by the day


def collected() -> Catalog:
    """Return every message in the code, in the order of the files."""
    catalogue = Catalog(domain="markscheme")
    for path in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html"))):
        for message in _spoken_in(path):
            catalogue.add(message, None, [(path.relative_to(SOURCE).as_posix(), 0)])
    return catalogue


def _spoken_in(path: Path) -> Iterator[Any]:
    """Yield the messages of a file; calls in Python are found wherever they are, f-strings too."""
    text = path.read_text("utf-8")
    if path.suffix == ".html":
        found = extract_from_file("jinja2", path, keywords=KEYWORDS)
        yield from (message for _, message, _, _ in found)
    elif any(f"{name}(" in text for name in CALLS):
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            count = CALLS.get(call.func.id, 0) if isinstance(call.func, ast.Name) else 0
            literal = [part.value for part in call.args if isinstance(part, ast.Constant)][:count]
            if count and len(literal) == count:
                yield tuple(literal) if count > 1 else literal[0]


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
            catalogue.add(message.id, text, message.locations)
    return catalogue


def compiled(catalogue: Catalog) -> tuple[bytes, bytes]:
    """Return the text and the compiled form of a catalogue."""
    text, binary = io.BytesIO(), io.BytesIO()
    write_po(text, catalogue, width=100)
    write_mo(binary, catalogue)
    return text.getvalue(), binary.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the messages without a translation, or with other fields than the English."""
    return [str(message.id) for message in catalogue if message.id and not _is_whole(message)]


def _is_whole(message: Message) -> bool:
    if message.fuzzy or not message.string:
        return False
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    ids = message.id if isinstance(message.id, tuple) else (message.id,)
    return all(texts) and set(map(_fields, texts)) == set(map(_fields, ids))


def _fields(text: Any) -> tuple[str, ...]:
    return tuple(sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None))


def main() -> int:
    """Write or check the catalogues; say which messages want a translation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    faults = 0
    for language in LANGUAGES:
        catalogue = renewed(language)
        for message in untranslated(catalogue):
            faults += 1
            print(f"{language}: not translated: {message}")
        faults += _write(language, catalogue, check=check)
    return int(check and faults > 0)


def _write(language: str, catalogue: Catalog, *, check: bool) -> int:
    """Write what is out of date, or only say so; return how many files it is."""
    stale = 0
    folder = CATALOGUES / language / "LC_MESSAGES"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in zip(("markscheme.po", "markscheme.mo"), compiled(catalogue), strict=True):
        path = folder / name
        if not path.exists() or path.read_bytes() != data:
            stale += 1
            print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
            if not check:
                path.write_bytes(data)
    return stale


if __name__ == "__main__":
    sys.exit(main())
