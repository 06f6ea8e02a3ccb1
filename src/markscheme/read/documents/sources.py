"""Where documents come from: a file, or the name of one that is built in."""

from __future__ import annotations

from pathlib import Path

from markscheme.vocabulary import UsageError

BUILTIN_DIR = Path(__file__).parents[2] / "builtin"


def list_builtin_names(kind: str, suffix: str = ".yaml") -> list[str]:
    """Return the names of what is built in of a kind, such as `rubrics` or `exams`."""
    names = [entry.name for entry in (BUILTIN_DIR / kind).iterdir()]
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def locate_document(source: str | Path, kind: str, suffix: str = ".yaml") -> tuple[Path, str]:
    """Find a document by built-in name or path; return it with what messages call it."""
    if str(source) in list_builtin_names(kind, suffix):
        name = f"{source}{suffix}"
        return BUILTIN_DIR / kind / name, f"builtin/{kind}/{name}"
    path = Path(source)
    if not _path_exists(path):
        from difflib import get_close_matches

        names = list_builtin_names(kind, suffix)
        close = get_close_matches(str(source), names, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else ""
        what = kind.removesuffix("s")
        known = ", ".join(names)
        raise UsageError(f"`{source}` is no file and no built-in {what} ({known}){meant}")
    return path, str(source)


def resolve_answers(named: str) -> str:
    """Return where recorded answers are that are built in under this name; else the name itself."""
    if named not in list_builtin_names("answers", ".jsonl"):
        return named
    return str(BUILTIN_DIR / "answers" / f"{named}.jsonl")


def _path_exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
