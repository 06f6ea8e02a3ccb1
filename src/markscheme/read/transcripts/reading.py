"""Read transcripts from a file or a folder: detect the format of each log, refuse other files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from markscheme.read.transcripts.formats import FORMATS
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import InputError, Problem, Transcript, UsageError, format_value

LOG_SUFFIXES = frozenset(
    {".jsonl", ".ndjson", ".json", ".zst", ".db", ".sqlite", ".eval", ".traj", ".log"}
)
_MAX_NAMED_SESSIONS = 10
_NOTHING_READ = "there is no session in it that can be read as `{name}`"


def list_format_names() -> list[str]:
    """Return the names of all log formats, as `--log-format` takes them."""
    return [log_format.name for log_format in FORMATS]


def read_transcripts(
    source: str | Path, log_format: str | None = None, *, session: str | None = None
) -> list[tuple[Path, Transcript]]:
    """Read the transcripts of a log, or of every log in a folder, each with its file.

    Raises:
        UsageError: there is no format or no session of that name.
        InputError: it cannot be read, or no format is recognised.
    """
    transcripts = _read_source(Path(source), log_format)
    if session is None:
        return transcripts
    chosen = [
        (file, transcript) for file, transcript in transcripts if transcript.session == session
    ]
    if not chosen:
        names = ", ".join(
            format_value(transcript.session) for _, transcript in transcripts[:_MAX_NAMED_SESSIONS]
        )
        raise UsageError(f"`{source}` holds no session {format_value(session)}; it holds {names}")
    return chosen


def _read_source(path: Path, log_format: str | None) -> list[tuple[Path, Transcript]]:
    forced = None if log_format is None else _get_format(log_format)
    log = Log(path)
    detected = _choose_format(log, forced)
    if detected is not None:
        transcripts = [(log.path, transcript) for _, transcript in detected.read_logs([log])]
        if not transcripts:
            raise log.build_error(_NOTHING_READ.format(name=detected.name))
        return transcripts
    if log.is_folder:
        return _read_folder_logs(path, forced)[0]
    raise log.build_error(_describe_unknown_format(log))


def read_log_folder(
    folder: Path, log_format: str | None = None
) -> tuple[list[tuple[Path, Transcript]], list[tuple[Path, str]]]:
    """Read every log in a folder; return the transcripts, and the files refused with the reason.

    Raises:
        UsageError: there is no format of that name.
        InputError: there is no log at all.
    """
    forced = None if log_format is None else _get_format(log_format)
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is no folder; name a folder of session logs")
    return _read_folder_logs(folder, forced)


def _read_folder_logs(
    folder: Path, forced: LogFormat | None
) -> tuple[list[tuple[Path, Transcript]], list[tuple[Path, str]]]:
    """Read every log in a folder, those of one format together."""
    logs: dict[str, list[Log]] = {}
    refused: list[tuple[Path, str]] = []
    for path in _iter_log_paths(folder):
        try:
            log = Log(path)
            detected = _choose_format(log, forced)
        except InputError as error:
            refused.append((path, error.problems[0].message))
            continue
        if detected is None:
            refused.append((path, "no log format is recognised"))
        else:
            logs.setdefault(detected.name, []).append(log)
    if not logs:
        message = "no log is recognised in this folder"
        raise InputError([Problem(file=str(folder), line=1, field="", message=message)])
    transcripts = [
        (log.path, transcript)
        for log_format in FORMATS
        for log, transcript in _read_logs(log_format, logs.get(log_format.name, []), refused)
    ]
    return sorted(transcripts, key=lambda pair: pair[0]), refused


def _read_logs(
    log_format: LogFormat, logs: list[Log], refused: list[tuple[Path, str]]
) -> Iterator[tuple[Log, Transcript]]:
    """Read the logs of one format; add those without a session to `refused`.

    Where logs are read together, one without a session of its own is a part of another.
    """
    if log_format.read_together is not None:
        yield from log_format.read_logs(logs)
        return
    for log in logs:
        try:
            transcripts = log_format.read_log(log)
        except InputError as error:
            refused.append((log.path, error.problems[0].message))
            continue
        yield from ((log, transcript) for transcript in transcripts)
        if not transcripts:
            refused.append((log.path, _NOTHING_READ.format(name=log_format.name)))


def _iter_log_paths(folder: Path) -> Iterator[Path]:
    """Yield the files that may be logs, and the folders that are one log as a whole."""
    for parent, folders, names in os.walk(folder):
        if _detect_format(Log(Path(parent))) is not None:
            folders.clear()
            yield Path(parent)
            continue
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            # Claude Code keeps metadata of sub-agents in `.meta.json` files; its reader opens them.
            if path.suffix.lower() in LOG_SUFFIXES and not name.endswith(".meta.json"):
                yield path


def _choose_format(log: Log, forced: LogFormat | None) -> LogFormat | None:
    """Return the format to read a log with. A forced format is for files; a folder is detected."""
    return _detect_format(log) if forced is None or log.is_folder else forced


def _detect_format(log: Log) -> LogFormat | None:
    return next((log_format for log_format in FORMATS if log_format.can_read_log(log)), None)


def _get_format(name: str) -> LogFormat:
    for log_format in FORMATS:
        if log_format.name == name:
            return log_format
    raise UsageError(f"`{name}` is no log format; use {', '.join(list_format_names())}")


def _describe_unknown_format(log: Log) -> str:
    """Return the error message that lists what each format looks for."""
    if log.is_text and not log.sample:
        return "no format is recognised: there is no JSON object in it"
    looked = "; ".join(f"{log_format.name}: {log_format.looks_for}" for log_format in FORMATS)
    return f"no log format is recognised; looked for {looked}. `--log-format` forces one"
