"""Read a folder of session logs as answers: which item, variant and attempt each session is.

The first source that names an item decides: the mapping file, the name of the log, the prompt of
the session. A log that cannot be read or placed becomes a `RowError`: it is reported, not dropped.
What is measured in a session (latency, calls, dispatches, tokens) is never scored.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any

from markscheme.read.answers import AnswerBatch
from markscheme.read.documents import (
    YamlMapping,
    find_line,
    iterate_mappings,
    parse_tree,
    read_document_bytes,
    suggest_match,
)
from markscheme.read.nfc import to_nfc
from markscheme.read.tools import DISPATCH, find_attempts
from markscheme.read.transcripts import read_log_folder
from markscheme.vocabulary import (
    DocumentError,
    InputError,
    Item,
    Problem,
    RowError,
    SessionMetrics,
    Tokens,
    Transcript,
    find_control_character,
    format_value,
)

_LOG_SUFFIXES = re.compile(
    r"(?:\.(?:jsonl|ndjson|json|zst|db|sqlite|eval|traj|log))+$", re.IGNORECASE
)
# `--2`, `#2`, `attempt-2`, `run2`, `try2`; a bare `-4` may be part of a name such as `gpt-4`.
_ATTEMPT_PATTERN = re.compile(
    r"(?:--|#|(?:^|[-_. ]+)(?:attempt|run|try)[-_. #]*)(?P<number>[0-9]{1,9})$", re.IGNORECASE
)
_SEPARATOR_CHARACTERS = "-_. #"
_WHITESPACE = re.compile(r"\s+")
_REQUIRED_KEYS = ("log", "item")
_MAPPING_KEYS = (*_REQUIRED_KEYS, "variant", "attempt", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One session as a variant's answer to an item; `file` is relative to the folder of logs."""

    file: str
    item: str
    variant: str | None
    attempt: int
    transcript: Transcript

    @property
    def output(self) -> str:
        """The final text; empty if the agent wrote none."""
        return self.transcript.final_text or ""

    @property
    def metrics(self) -> SessionMetrics:
        """What was measured."""
        return measure_transcript(self.transcript)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFolder:
    """The answers in a folder of logs, sorted by file, and the logs that are no answers."""

    answers: tuple[LoggedAnswer, ...]
    errors: tuple[RowError, ...]

    def to_batch(self) -> AnswerBatch:
        """Return the answers as columns."""
        batch = AnswerBatch(errors=list(self.errors))
        metrics = [answer.metrics for answer in self.answers]
        for line, (answer, m) in enumerate(zip(self.answers, metrics, strict=True), start=1):
            fields = (answer.item, answer.output, answer.variant, answer.attempt)
            measured = (_to_milliseconds(m.latency_s), m.tokens_in, m.tokens_out)
            batch.append(line, (*fields, *measured, None))
            batch.transcripts.append(answer.transcript)
        batch.measured = {
            "tool_calls": [m.tool_calls for m in metrics],
            "subagent_calls": [m.subagent_calls for m in metrics],
            "dispatches": [m.dispatches for m in metrics],
            "tokens": [m.tokens for m in metrics],
            "lower_bounds": [list(m.lower_bounds) for m in metrics],
            "last_turn_latency_ms": [_to_milliseconds(m.last_turn_latency_s) for m in metrics],
            "log_complete": [answer.transcript.complete for answer in self.answers],
            "file": [answer.file for answer in self.answers],
        }
        return batch


def _to_milliseconds(seconds: Decimal | None) -> float | None:
    return None if seconds is None else float(seconds * 1000)


def read_logs(
    folder: str | Path,
    items: Sequence[Item],
    *,
    mapping: str | Path | None = None,
    log_format: str | None = None,
) -> LogFolder:
    """Read the logs in a folder as answers to these items.

    Raises:
        UsageError: there is no such folder or format.
        InputError: there is no log in it, or the mapping file is wrong.
    """
    root = Path(folder)
    rows = [] if mapping is None else read_mapping(Path(mapping), [item.id for item in items])
    transcripts, refused = read_log_folder(root, log_format)
    mapped = _match_mapping_rows(rows, root, mapping, transcripts, refused)
    sessions = _build_sessions(root, transcripts, mapped, items)
    # The mapping file itself may lie in the folder of logs.
    mapping_path = None if mapping is None else Path(mapping).resolve()
    errors = [
        _build_log_error(_format_log_path(path, root), reason)
        for path, reason in refused
        if path.resolve() != mapping_path
    ]
    placed = [_place_session(session, items) for session in sessions]
    # If folders as variants give two logs for one attempt, try the rest of each file name instead.
    if _has_repeated_attempts(placed) and all(session.name.remainder for session in sessions):
        renamed = [
            replace(session, name=replace(session.name, variant=session.name.remainder))
            for session in sessions
        ]
        by_file = [_place_session(session, items) for session in renamed]
        placed = placed if _has_repeated_attempts(by_file) else by_file
    errors += [entry for entry in placed if isinstance(entry, RowError)]
    answers, repeats = _separate_repeats([a for a in placed if isinstance(a, LoggedAnswer)])
    return LogFolder(answers=tuple(answers), errors=(*errors, *repeats))


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogSession:
    """One session of one log, with the row of the mapping file and the parsed name of the log."""

    path: Path
    file: str
    transcript: Transcript
    mapped: MappingRow | None
    name: LogName


def _build_sessions(
    root: Path,
    transcripts: Iterable[tuple[Path, Transcript]],
    mapped: dict[tuple[Path, str | None], MappingRow],
    items: Sequence[Item],
) -> list[_LogSession]:
    ids = [item.id for item in items]
    sessions = []
    for path, transcript in transcripts:
        file = _format_log_path(path, root)
        resolved = path.resolve()
        row = mapped.get((resolved, transcript.session)) or mapped.get((resolved, None))
        name = parse_log_name(Path(file), ids)
        sessions.append(
            _LogSession(path=path, file=file, transcript=transcript, mapped=row, name=name)
        )
    return sessions


def _place_session(session: _LogSession, items: Sequence[Item]) -> LoggedAnswer | RowError:
    """Return a session as an answer, or an error that says why it cannot be placed."""
    row, name = session.mapped, session.name
    if row is not None:
        return _build_logged_answer(session, row.item, row.variant or name.variant, row.attempt)
    transcript = session.transcript
    named = [item.id for item in items if item.id == transcript.sample]
    fitting = name.items or named or _find_asked_items(transcript, items)
    if len(fitting) == 1:
        attempt = name.attempt if transcript.attempt is None else transcript.attempt
        return _build_logged_answer(session, fitting[0], name.variant, attempt)
    if name.items:
        reason = f"its name fits several items: {', '.join(fitting)}; name one in a mapping file"
    elif fitting:
        reason = f"what was asked fits several items: {', '.join(fitting)}"
    else:
        reason = "no item: neither its name nor what was asked fits one; name it in a mapping file"
    return _build_log_error(session.file, reason)


def _build_logged_answer(
    session: _LogSession, item: str, variant: str | None, attempt: int
) -> LoggedAnswer | RowError:
    """Return the answer. If nothing names a variant, it is the model, if the log names just one."""
    models = session.transcript.models
    variant = variant or (models[0] if len(models) == 1 else None)
    if variant and (found := find_control_character(variant)):
        reason = f"the variant {format_value(variant)} holds the control character `{found}`"
        return _build_log_error(session.file, reason)
    return LoggedAnswer(
        file=session.file,
        item=item,
        variant=variant,
        attempt=attempt,
        transcript=session.transcript,
    )


def _find_asked_items(transcript: Transcript, items: Sequence[Item]) -> list[str]:
    """Return the items whose prompt was asked: word for word, else as part of a prompt."""
    asked = [_fold_prompt(prompt.text) for prompt in transcript.prompts if prompt.text]
    wanted = {item.id: _fold_prompt(item.prompt) for item in items}
    equal = [item for item, text in wanted.items() if text in asked]
    return equal or [
        item for item, text in wanted.items() if any(text in prompt for prompt in asked)
    ]


def _fold_prompt(text: str) -> str:
    return _WHITESPACE.sub(" ", to_nfc(text)).strip().casefold()


def _has_repeated_attempts(placed: Iterable[LoggedAnswer | RowError]) -> bool:
    """Return whether two logs claim the same attempt."""
    answers = [entry for entry in placed if isinstance(entry, LoggedAnswer)]
    return len({(a.item, a.variant, a.attempt) for a in answers}) < len(answers)


def _separate_repeats(
    answers: Sequence[LoggedAnswer],
) -> tuple[list[LoggedAnswer], list[RowError]]:
    """Turn all logs that claim the same attempt into errors: it is unknown which one is meant."""
    keys = [(answer.item, answer.variant, answer.attempt) for answer in answers]
    counts = Counter(keys)
    kept = [answer for answer, key in zip(answers, keys, strict=True) if counts[key] == 1]
    repeats = []
    for answer, key in zip(answers, keys, strict=True):
        if counts[key] > 1:
            variant = "nobody named" if answer.variant is None else f"`{answer.variant}`"
            what = f"{counts[key]} logs are the answer to `{answer.item}` by {variant}"
            reason = f"{what}, attempt {answer.attempt}; name each attempt"
            repeats.append(_build_log_error(answer.file, reason, answer.item))
    return kept, repeats


def _build_log_error(file: str, reason: str, item: str | None = None) -> RowError:
    return RowError(line=1, reason=reason, item=item, file=file)


def _format_log_path(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogName:
    """What the path of a log says; `items` holds every item that it could mean.

    `remainder` is the rest of the file name, which is the variant if no folder names one.
    """

    items: tuple[str, ...] = ()
    variant: str | None = None
    attempt: int = 1
    remainder: str = ""


def parse_log_name(path: PurePath, items: Collection[str]) -> LogName:
    """Return what the path of a log says; it is relative to the folder of logs.

    The id of an item must not touch other letters or digits. A folder is the variant; without one,
    the rest of the file name is. An attempt is written `--2`, `#2`, `attempt-2`, `run2` or `try2`.
    """
    *folders, name = path.parts
    stem = _LOG_SUFFIXES.sub("", name)
    named, rest = _extract_items(stem, items)
    if not named:
        for at, folder in enumerate(folders):
            named, left = _extract_items(folder, items)
            if named:
                folders[at] = left.strip(_SEPARATOR_CHARACTERS)
                break
        else:
            return LogName(variant=_choose_variant(folders, ""))
    attempt = _ATTEMPT_PATTERN.search(rest)
    if attempt is not None:
        rest = rest[: attempt.start()]
    rest = rest.strip(_SEPARATOR_CHARACTERS)
    return LogName(
        items=named,
        variant=_choose_variant(folders, rest),
        attempt=int(attempt["number"]) if attempt is not None else 1,
        remainder=rest,
    )


def _choose_variant(folders: Sequence[str], rest: str) -> str | None:
    """Return the innermost folder with a name, else the rest of the file name."""
    return next((folder for folder in reversed(folders) if folder), rest or None)


def _extract_items(text: str, items: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return the items that a text names, and the rest; of ids inside each other, the longest."""
    spans: dict[str, tuple[int, int]] = {}
    for item in items:
        pattern = rf"(?<![A-Za-z0-9]){re.escape(item)}(?![A-Za-z0-9])"
        match = re.search(pattern, text, re.IGNORECASE)
        if match is not None:
            spans[item] = match.span()
    named = [item for item in spans if not any(_is_within(spans[item], s) for s in spans.values())]
    if len(named) != 1:
        return tuple(named), text
    start, end = spans[named[0]]
    return (named[0],), f"{text[:start].rstrip(_SEPARATOR_CHARACTERS)}{text[end:]}"


def _is_within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """One row of the mapping file; `session` is needed if one log holds several sessions."""

    line: int
    log: str
    item: str
    variant: str | None = None
    attempt: int = 1
    session: str | None = None


def read_mapping(path: Path, items: Collection[str]) -> list[MappingRow]:
    """Read a mapping file: .csv, .jsonl, or .yaml with a list under `logs`.

    Raises:
        InputError: with every mistake in the file.
    """
    data = read_document_bytes(path, str(path))
    reader = _MAPPING_READERS.get(path.suffix.lower())
    if reader is None:
        message = f"the ending decides the format; use {', '.join(_MAPPING_READERS)}"
        raise InputError([Problem(file=str(path), line=1, field="", message=message)])
    problems: list[Problem] = []
    rows = []
    for line, row in reader(data, str(path)):
        messages = dict(_find_mapping_problems(row, items))
        problems += [
            Problem(file=str(path), line=line, field=field, message=message)
            for field, message in messages.items()
        ]
        if not messages:
            texts = {key: row[key] for key in ("log", "item", "variant", "session") if row.get(key)}
            rows.append(MappingRow(line=line, attempt=int(row.get("attempt") or 1), **texts))
    if problems:
        raise InputError(problems)
    return rows


def _match_mapping_rows(
    rows: Iterable[MappingRow],
    root: Path,
    mapping: str | Path | None,
    transcripts: Iterable[tuple[Path, Transcript]],
    refused: Iterable[tuple[Path, str]],
) -> dict[tuple[Path, str | None], MappingRow]:
    """Return the rows of the mapping by log and session; each must name a log that is there."""
    if mapping is None:
        return {}
    read_paths = {path.resolve() for path, _ in transcripts}
    refused_paths = {path.resolve() for path, _ in refused}
    matched: dict[tuple[Path, str | None], MappingRow] = {}
    problems = []
    for row in rows:
        candidates = [(folder / row.log).resolve() for folder in (root, Path(mapping).parent)]
        path = next((candidate for candidate in candidates if candidate in read_paths), None)
        if path is None and not refused_paths.isdisjoint(candidates):
            # Why it could not be read is told as an error of the log.
            continue
        if path is None:
            message = "no log of this name was read"
        elif (path, row.session) in matched:
            message = f"the log is named twice, first on line {matched[path, row.session].line}"
        else:
            matched[path, row.session] = row
            continue
        problems.append(Problem(file=str(mapping), line=row.line, field="log", message=message))
    if problems:
        raise InputError(problems)
    return matched


def _find_mapping_problems(row: Any, items: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"must be a mapping with {', '.join(_MAPPING_KEYS)}, not {format_value(row)}"
        return
    for key in row:
        if key not in _MAPPING_KEYS:
            hint = suggest_match(key, _MAPPING_KEYS)
            yield str(key), f"unknown key; allowed: {', '.join(_MAPPING_KEYS)}{hint}"
    for key in ("log", "item", "variant", "session"):
        value = row.get(key)
        if value is None and key not in _REQUIRED_KEYS:
            continue
        if not value:
            yield key, "is missing; it is required"
        elif not isinstance(value, str):
            yield key, f"must be text: {format_value(value)}"
    item = row.get("item")
    if isinstance(item, str) and item and item not in items:
        yield "item", f"{format_value(item)} is no item of the exam{suggest_match(item, items)}"
    attempt = row.get("attempt") or 1
    if isinstance(attempt, bool) or not str(attempt).isdecimal() or int(attempt) < 1:
        yield "attempt", f"must be a whole number from 1 on, not {format_value(attempt)}"


def _read_csv_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    text = _decode_mapping(data, file)
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    for row in reader:
        extra_cells = row.pop(None, None)
        yield reader.line_num, row if extra_cells is None else None


def _read_jsonl_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(_decode_mapping(data, file).splitlines(), start=1):
        if text.strip():
            try:
                yield line, json.loads(text)
            except ValueError:
                yield line, text


def _read_yaml_mapping(data: bytes, file: str) -> Iterator[tuple[int, Any]]:
    tree = parse_tree(data, file)
    if set(tree) != {"logs"} or not isinstance(tree["logs"], list):
        message = "must be a list of mappings, and the only key of the file"
        raise DocumentError([Problem(file=file, line=tree.line, field="logs", message=message)])
    lines = {
        index: entry.line if isinstance(entry, YamlMapping) else find_line(tree, ("logs", index))
        for index, entry in iterate_mappings(tree["logs"])
    }
    for index, entry in enumerate(tree["logs"]):
        yield lines.get(index, tree.line), entry


def _decode_mapping(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "is no UTF-8"
        raise InputError([Problem(file=file, line=1, field="", message=message)]) from None


_MAPPING_READERS: Mapping[str, Callable[[bytes, str], Iterator[tuple[int, Any]]]] = {
    ".csv": _read_csv_mapping,
    ".jsonl": _read_jsonl_mapping,
    ".yaml": _read_yaml_mapping,
    ".yml": _read_yaml_mapping,
}


def measure_transcript(transcript: Transcript) -> SessionMetrics:
    """Return what is measured in a session. A session that may lack its answer has no latency."""
    agents = list(transcript.agents())
    calls = sum(len(agent.calls) for agent in agents)
    usages = (
        [transcript.tokens] if transcript.tokens.with_subagents else _collect_tokens(transcript)
    )
    known = [tokens for tokens in usages if _sum_input_tokens(tokens) is not None]
    return SessionMetrics(
        latency_s=None if transcript.answer_doubts else transcript.latency_s,
        last_turn_latency_s=None if transcript.answer_doubts else transcript.last_turn_latency_s,
        tool_calls=calls,
        subagent_calls=calls - len(transcript.calls),
        dispatches=sum(len(find_attempts(agent, (DISPATCH,), {})) for agent in agents),
        tokens_in=_sum_known(map(_sum_input_tokens, known)),
        tokens_out=_sum_known(tokens.output for tokens in known),
        lower_bounds=tuple(_find_lower_bounds(agents, usages)),
    )


def _collect_tokens(transcript: Transcript) -> list[Tokens]:
    """Return the tokens of every agent, also of those that the client started by itself."""
    inner = [tokens for agent in transcript.subagents for tokens in _collect_tokens(agent)]
    return [transcript.tokens, *inner]


def _sum_input_tokens(tokens: Tokens) -> int | None:
    if tokens.input_uncached is None:
        return None
    return tokens.input_uncached + (tokens.cache_read or 0) + (tokens.cache_write or 0)


def _sum_known(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _find_lower_bounds(agents: list[Transcript], usages: list[Tokens]) -> Iterator[str]:
    """Yield the metrics whose true value may be higher than what the log shows."""
    incomplete = any(agent.answer_doubts for agent in agents)
    unseen = any(agent.unseen for agent in agents)
    if incomplete or unseen:
        yield "tool_calls"
    if incomplete:
        yield "dispatches"
    is_session_total = len(usages) == 1 and usages[0].with_subagents
    is_vague = any(
        tokens.output_is_lower_bound or _sum_input_tokens(tokens) is None for tokens in usages
    )
    if incomplete or is_vague or (unseen and not is_session_total):
        yield "tokens"
