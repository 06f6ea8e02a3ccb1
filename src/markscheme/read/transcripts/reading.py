"""From what the user named to transcripts: which format each log is of, and what is no log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.read.transcripts.formats.registry import FORMATS
from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import InputError, Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.format import LogFormat
    from markscheme.vocabulary import Transcript

LOG_SUFFIXES = frozenset(
    {".jsonl", ".ndjson", ".json", ".zst", ".db", ".sqlite", ".eval", ".traj", ".log"}
)
_MAX_NAMED_SESSIONS = 10


def list_format_names() -> list[str]:
    """Return the names that a log format can be forced by."""
    return [found.name for found in FORMATS]


def read_transcripts(
    source: str | Path, log_format: str | None = None, *, session: str | None = None
) -> list[tuple[Path, Transcript]]:
    """Read the transcripts of a log, or of every log in a folder, each with its file.

    Raises:
        UsageError: there is no format or no session of that name.
        InputError: it cannot be read, or no format is recognised.
    """
    found = _read_source(source, log_format)
    if session is None:
        return found
    chosen = [(file, transcript) for file, transcript in found if transcript.session == session]
    if not chosen:
        names = ", ".join(
            f"`{transcript.session}`" for _, transcript in found[:_MAX_NAMED_SESSIONS]
        )
        raise UsageError(f"`{source}` holds no session `{session}`; it holds {names}")
    return chosen


def _read_source(source: str | Path, log_format: str | None) -> list[tuple[Path, Transcript]]:
    forced = None if log_format is None else _get_format(log_format)
    path = Path(source)
    log = Log(path)
    found = _detect_format(log) if forced is None or log.is_folder else forced
    if log.is_folder and found is None:
        return _read_folder_logs(path, forced)
    if found is None:
        raise log.build_error(_describe_unknown_format(log))
    return [(log.path, transcript) for _, transcript in found.read_logs([log])]


def _get_format(name: str) -> LogFormat:
    for found in FORMATS:
        if found.name == name:
            return found
    raise UsageError(f"`{name}` is no log format; use {', '.join(list_format_names())}")


def _detect_format(log: Log) -> LogFormat | None:
    return next((found for found in FORMATS if found.can_read_log(log)), None)


def _describe_unknown_format(log: Log) -> str:
    """Say what was looked for and not found."""
    if log.is_text and not log.sample:
        return "no format is recognised: there is no JSON object in it"
    looked = "; ".join(f"{found.name}: {found.looks_for}" for found in FORMATS)
    return f"no log format is recognised; looked for {looked}. `--log-format` forces one"


def read_log_folder(
    folder: Path, log_format: str | None = None
) -> tuple[list[tuple[Path, Transcript]], list[tuple[Path, str]]]:
    """Read every log in a folder, and say of what looks like a log and is none why it is not read.

    Raises:
        UsageError: there is no format of that name.
        InputError: there is no log at all.
    """
    refused: list[tuple[Path, str]] = []
    forced = None if log_format is None else _get_format(log_format)
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is no folder; name a folder of session logs")
    return _read_folder_logs(folder, forced, refused), refused


def _read_folder_logs(
    folder: Path, forced: LogFormat | None, refused: list[tuple[Path, str]] | None = None
) -> list[tuple[Path, Transcript]]:
    """Read every log in a folder, those of one format together; what is none goes to `refused`."""
    logs: dict[str, list[Log]] = {}
    nothing: list[tuple[Path, str]] = [] if refused is None else refused
    for path in _iter_log_paths(folder):
        try:
            log = Log(path)
            found = _detect_format(log) if forced is None or log.is_folder else forced
        except InputError as error:  # what cannot even be looked at is no log
            nothing.append((path, error.problems[0].message))
            continue
        if found is None:
            nothing.append((path, "no log format is recognised"))
        else:
            logs.setdefault(found.name, []).append(log)
    if not logs:
        message = "no log is recognised in this folder"
        raise InputError([Problem(file=str(folder), line=1, field="", message=message)])
    read = [
        (log.path, transcript)
        for found in FORMATS
        for log, transcript in found.read_logs(logs.get(found.name, []))
    ]
    return sorted(read, key=lambda pair: pair[0])


def _iter_log_paths(folder: Path) -> Iterator[Path]:
    """Yield the files that may be logs, and the folders that are one."""
    for parent, folders, names in os.walk(folder):
        if _detect_format(Log(Path(parent))) is not None:
            folders.clear()
            yield Path(parent)
            continue
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.suffix.lower() in LOG_SUFFIXES and not name.endswith(".meta.json"):
                yield path
