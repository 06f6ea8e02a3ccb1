"""Where documents come from: a file, or the name of one that is built in."""

from __future__ import annotations

from pathlib import Path

from markscheme.errors import UsageError

BUILT_IN = Path(__file__).parent.parent / "builtin"


def built_in(kind: str, suffix: str = ".yaml") -> list[str]:
    """Return the names of what is built in of a kind, such as `rubrics` or `exams`."""
    names = [entry.name for entry in (BUILT_IN / kind).iterdir()]
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def locate(source: str | Path, kind: str, suffix: str = ".yaml") -> tuple[Path, str]:
    """Find a document by built-in name or path; return it with what messages call it."""
    if str(source) in built_in(kind, suffix):
        name = f"{source}{suffix}"
        return BUILT_IN / kind / name, f"builtin/{kind}/{name}"
    path = Path(source)
    if not _exists(path):
        from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

        names = built_in(kind, suffix)
        close = get_close_matches(str(source), names, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else ""
        what = kind.removesuffix("s")
        known = ", ".join(names)
        raise UsageError(f"`{source}` is no file and no built-in {what} ({known}){meant}")
    return path, str(source)


def answers_at(named: str) -> str:
    """Return where recorded answers are that are built in under this name; else the name itself."""
    if named not in built_in("answers", ".jsonl"):
        return named
    return str(BUILT_IN / "answers" / f"{named}.jsonl")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
