"""Where documents come from: a file, or the name of one that is built in."""

from __future__ import annotations

import difflib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def built_in(kind: str, suffix: str = ".yaml") -> list[str]:
    """Return the names of what is built in of a kind, such as `rubrics` or `exams`."""
    names = [entry.name for entry in (files("markscheme.builtin") / kind).iterdir()]
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def locate(source: str | Path, kind: str, suffix: str = ".yaml") -> tuple[Path | Traversable, str]:
    """Find a document by built-in name or path; return it with what messages call it."""
    if str(source) in built_in(kind, suffix):
        name = f"{source}{suffix}"
        return files("markscheme.builtin") / kind / name, f"builtin/{kind}/{name}"
    path = Path(source)
    if not _exists(path):
        names = built_in(kind, suffix)
        close = difflib.get_close_matches(str(source), names, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else ""
        what = kind.removesuffix("s")
        known = ", ".join(names)
        raise UsageError(f"`{source}` is no file and no built-in {what} ({known}){meant}")
    return path, str(source)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
