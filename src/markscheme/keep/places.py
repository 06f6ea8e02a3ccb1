"""Where the store is: named, in the environment, or found upwards like a git folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from markscheme.errors import StoreUnavailableError, UsageError

FOLDER = ".markscheme"
PLACE = f"{FOLDER}/markscheme.db"
VARIABLE = "MARKSCHEME_STORE"
_SCHEMES = ("postgresql", "postgres")
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]+)://"


def place_of(where: str | Path | None) -> str | Path:
    """Return the URL of a PostgreSQL database, or the path of an SQLite file (there or not)."""
    named = where if where is not None else os.environ.get(VARIABLE) or None
    if named is None:
        return (_folder_above() or Path(FOLDER)) / Path(PLACE).name
    scheme = re.match(_SCHEME, str(named)) if "://" in str(named) else None
    if scheme is None:
        return _file(Path(named)) if str(named) else _refused("")
    return str(named) if scheme[1].lower() in _SCHEMES else _refused(f"{scheme[1]}://…")


def _folder_above() -> Path | None:
    """Return the nearest `.markscheme` from here upwards, no further than the home folder."""
    home = Path.home().resolve() if os.environ.get("HOME") or os.name == "nt" else None
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir():
            return Path(FOLDER) if folder == here else folder / FOLDER
        if folder == home:
            break
    return None


def _file(path: Path) -> Path:
    if os.path.isdir(path):  # noqa: PTH112 - never raises, also where we may not look
        raise UsageError(f"the store `{path}` is a folder; name a file in it, or no store at all")
    return path


def _refused(named: str) -> Path:
    allowed = "a store is the path of a file, or postgresql://USER@HOST/DATABASE"
    raise UsageError(f"`{named}` cannot be a store; {allowed}")


def make_folder(path: Path) -> None:
    """Make the folder of a new store; git is told to ignore what is in our own."""
    folder = path.parent
    try:
        if folder.name == FOLDER and not folder.is_dir():
            folder.mkdir(exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
            _sync(folder.parent)
    except OSError as error:
        told = f"cannot make the folder of the store `{path}`: {error.strerror or error}"
        raise StoreUnavailableError(f"{told}; name another place with --store") from error


def _sync(folder: Path) -> None:
    """Make sure that a new folder outlasts a power cut, where the system can promise it."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
