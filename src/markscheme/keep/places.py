"""Where the store is: named, in the environment, or found upwards like a git folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from markscheme.errors import StoreUnavailableError, UsageError

STORE_FOLDER = ".markscheme"
DEFAULT_STORE_PATH = f"{STORE_FOLDER}/markscheme.db"
STORE_VARIABLE = "MARKSCHEME_STORE"
_POSTGRES_SCHEMES = ("postgresql", "postgres")
_SCHEME_PATTERN = r"([A-Za-z][A-Za-z0-9+.-]+)://"


def resolve_place(where: str | Path | None) -> str | Path:
    """Return the URL of a PostgreSQL database, or the path of an SQLite file (there or not)."""
    named = where if where is not None else os.environ.get(STORE_VARIABLE) or None
    if named is None:
        return (_find_store_folder() or Path(STORE_FOLDER)) / Path(DEFAULT_STORE_PATH).name
    scheme = re.match(_SCHEME_PATTERN, str(named)) if "://" in str(named) else None
    if scheme is None:
        return _check_not_folder(Path(named)) if str(named) else _refuse_place("")
    return (
        str(named) if scheme[1].lower() in _POSTGRES_SCHEMES else _refuse_place(f"{scheme[1]}://…")
    )


def _find_store_folder() -> Path | None:
    """Return the nearest `.markscheme` from here upwards, no further than the home folder."""
    home = Path.home().resolve() if os.environ.get("HOME") or os.name == "nt" else None
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / STORE_FOLDER).is_dir():
            return Path(STORE_FOLDER) if folder == here else folder / STORE_FOLDER
        if folder == home:
            break
    return None


def _check_not_folder(path: Path) -> Path:
    if os.path.isdir(path):  # noqa: PTH112 - never raises, also where we may not look
        raise UsageError(f"the store `{path}` is a folder; name a file in it, or no store at all")
    return path


def _refuse_place(named: str) -> Path:
    allowed = "a store is the path of a file, or postgresql://USER@HOST/DATABASE"
    raise UsageError(f"`{named}` cannot be a store; {allowed}")


def create_store_folder(path: Path) -> None:
    """Make the folder of a new store; git is told to ignore what is in our own."""
    folder = path.parent
    try:
        if folder.name == STORE_FOLDER and not folder.is_dir():
            folder.mkdir(exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
            _sync_folder(folder.parent)
    except OSError as error:
        told = f"cannot make the folder of the store `{path}`: {error.strerror or error}"
        raise StoreUnavailableError(f"{told}; name another place with --store") from error


def _sync_folder(folder: Path) -> None:
    """Make sure that a new folder outlasts a power cut, where the system can promise it."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
