"""Collect the messages of the code into the message catalogues, and compile them.

python scripts/build_catalogues.py          # after changing a sentence; translate what it lists
python scripts/build_catalogues.py --check  # change nothing, report what is out of date

docs/language.md says how to change a sentence in both languages.
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
# What babel looks for in templates: the functions, and which arguments are messages.
KEYWORDS = {"translate": None, "sentence": None, "translate_plural": (1, 2)}
# The same for Python: how many of the first arguments are messages.
CALLS = {"translate": 1, "sentence": 1, "translate_plural": 2}
LANGUAGES = ("es",)
# A fixed date, so that a catalogue changes only with its messages.
CREATION_DATE = datetime(2026, 1, 1, tzinfo=UTC)


def collect_messages() -> Catalog:
    """Return every message in the code, in the order of the files."""
    catalogue = Catalog(domain="markscheme")
    for path in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html"))):
        for message in _find_messages(path):
            catalogue.add(message, None, [(path.relative_to(SOURCE).as_posix(), 0)])
    return catalogue


def _find_messages(path: Path) -> Iterator[Any]:
    """Yield the messages of a template or a Python file, also of calls inside f-strings."""
    text = path.read_text("utf-8")
    if path.suffix == ".html":
        matches = extract_from_file("jinja2", path, keywords=KEYWORDS)
        yield from (message for _, message, _, _ in matches)
    elif any(f"{name}(" in text for name in CALLS):
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            count = CALLS.get(call.func.id, 0) if isinstance(call.func, ast.Name) else 0
            literals = [part.value for part in call.args if isinstance(part, ast.Constant)][:count]
            if count and len(literals) == count:
                yield tuple(literals) if count > 1 else literals[0]


def update_catalogue(language: str) -> Catalog:
    """Return the catalogue of a language: the messages of the code with known translations."""
    path = CATALOGUES / language / "LC_MESSAGES" / "markscheme.po"
    known = read_po(path.open("rb"), locale=language) if path.exists() else Catalog(locale=language)
    catalogue = Catalog(
        locale=language,
        project="markscheme",
        version="1",
        header_comment="# What markscheme says. Written by scripts/build_catalogues.py.",
        creation_date=CREATION_DATE,
        revision_date=CREATION_DATE,
        last_translator="The markscheme authors",
        language_team=language,
        fuzzy=False,
    )
    for message in collect_messages():
        if message.id:
            before = known.get(message.id)
            text = before.string if before else None
            catalogue.add(message.id, text, message.locations)
    return catalogue


def compile_catalogue(catalogue: Catalog) -> tuple[bytes, bytes]:
    """Return the `.po` text and the `.mo` form of a catalogue."""
    text, binary = io.BytesIO(), io.BytesIO()
    write_po(text, catalogue, width=100)
    write_mo(binary, catalogue)
    return text.getvalue(), binary.getvalue()


def list_untranslated(catalogue: Catalog) -> list[str]:
    """Return the messages without a translation, or with other fields than the English."""
    return [str(message.id) for message in catalogue if message.id and not _is_translated(message)]


def _is_translated(message: Message) -> bool:
    if message.fuzzy or not message.string:
        return False
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    ids = message.id if isinstance(message.id, tuple) else (message.id,)
    return all(texts) and set(map(_list_fields, texts)) == set(map(_list_fields, ids))


def _list_fields(text: Any) -> tuple[str, ...]:
    return tuple(sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None))


def main() -> int:
    """Write or check the catalogues, and list the messages without a translation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    faults = 0
    for language in LANGUAGES:
        catalogue = update_catalogue(language)
        for message in list_untranslated(catalogue):
            faults += 1
            print(f"{language}: not translated: {message}")
        faults += _write_catalogue(language, catalogue, check=check)
    return int(check and faults > 0)


def _write_catalogue(language: str, catalogue: Catalog, *, check: bool) -> int:
    """Write the files that are out of date, or with `check` only name them; return their number."""
    stale = 0
    folder = CATALOGUES / language / "LC_MESSAGES"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in zip(
        ("markscheme.po", "markscheme.mo"), compile_catalogue(catalogue), strict=True
    ):
        path = folder / name
        if not path.exists() or path.read_bytes() != data:
            stale += 1
            print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
            if not check:
                path.write_bytes(data)
    return stale


if __name__ == "__main__":
    sys.exit(main())
