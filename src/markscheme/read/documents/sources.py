"""Find documents by file path or by the name of a built-in document."""

from __future__ import annotations

from pathlib import Path

from markscheme.vocabulary import UsageError

BUILTIN_DIR = Path(__file__).parents[2] / "builtin"
_OTHER_KINDS = {"rubrics": "exam", "exams": "rubric"}
_OPTIONS = {"rubric": "-r (--rubric)", "exam": "-e (--exam)"}


def list_builtin_names(kind: str, suffix: str = ".yaml") -> list[str]:
    """Return the names of the built-in documents of a kind, such as `rubrics` or `exams`."""
    names = [entry.name for entry in (BUILTIN_DIR / kind).iterdir()]
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def locate_document(source: str | Path, kind: str, suffix: str = ".yaml") -> tuple[Path, str]:
    """Return the path of a document and the name that messages use for it.

    `source` is a built-in name or a path; a built-in name wins.
    """
    if str(source) in list_builtin_names(kind, suffix):
        name = f"{source}{suffix}"
        return BUILTIN_DIR / kind / name, f"builtin/{kind}/{name}"
    path = Path(source)
    if not _path_exists(path):
        from difflib import get_close_matches

        names, noun = list_builtin_names(kind, suffix), kind.removesuffix("s")
        known = ", ".join(names)
        if (other := _OTHER_KINDS.get(kind)) and str(source) in list_builtin_names(f"{other}s"):
            article = "an" if noun == "exam" else "a"
            raise UsageError(
                f"`{source}` is a built-in {other}, not {article} {noun}; give it with "
                f"{_OPTIONS[other]}, and with {_OPTIONS[noun]} a file or a built-in {noun}: {known}"
            )
        close = get_close_matches(str(source), names, n=1)
        suggestion = f"; did you mean `{close[0]}`?" if close else ""
        raise UsageError(f"`{source}` is no file and no built-in {noun} ({known}){suggestion}")
    return path, str(source)


def resolve_answers(source: str) -> str:
    """Return the path of the built-in recorded answers of this name, or `source` unchanged."""
    if source not in list_builtin_names("answers", ".jsonl"):
        return source
    return str(BUILTIN_DIR / "answers" / f"{source}.jsonl")


def _path_exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # No file can have such a name: it is too long, or holds a NUL character.
        return False
