"""What the name of a log says: the item, the variant, the attempt.

The mapping file: which log is the answer to which item, by which variant.

What is measured in a session and never scored: latency, calls, dispatches, tokens.

A folder of session logs, each the answer of a variant to an item of the exam.

Which item a log answers is told by the mapping file, else by its name, else by what was asked. A
log that cannot be read or placed is a row that is no answer: it is shown, and never dropped.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    Transcript,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal
    from pathlib import PurePath

    from markscheme.vocabulary import Tokens

_LOG_SUFFIXES = re.compile(
    r"(?:\.(?:jsonl|ndjson|json|zst|db|sqlite|eval|traj|log))+$", re.IGNORECASE
)
_ATTEMPT_PATTERN = re.compile(
    r"(?:--|#|(?:^|[-_. ]+)(?:attempt|run|try)[-_. #]*)(?P<number>[0-9]{1,9})$", re.IGNORECASE
)
_SEPARATOR_CHARACTERS = "-_. #"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogName:
    """What a name says; `items` holds every item that it could mean.

    `rest` is what is left of the file's name, the variant where folders do not tell it.
    """

    items: tuple[str, ...] = ()
    variant: str | None = None
    attempt: int = 1
    remainder: str = ""


def parse_log_name(path: PurePath, items: Collection[str]) -> LogName:
    """Return what the path of a log says, told from the folder of logs.

    An item's id stands for itself, apart from letters and digits. A folder is the variant, else
    what is left of the name is. An attempt is written `--2`, `#2`, `attempt-2`, `run2` or `try2`.
    """
    *folders, name = path.parts
    stem = _LOG_SUFFIXES.sub("", name)
    found, rest = _extract_items(stem, items)
    if not found:
        places = [(at, _extract_items(folder, items)) for at, folder in enumerate(folders)]
        for at, (inside, left) in places:
            if inside:
                found, folders[at] = inside, left.strip(_SEPARATOR_CHARACTERS)
                break
        else:
            return LogName(variant=_choose_variant(folders, ""))
    attempt = _ATTEMPT_PATTERN.search(rest)
    if attempt is not None:
        rest = rest[: attempt.start()]
    rest = rest.strip(_SEPARATOR_CHARACTERS)
    return LogName(
        items=found,
        variant=_choose_variant(folders, rest),
        attempt=int(attempt["number"]) if attempt is not None else 1,
        remainder=rest,
    )


def _choose_variant(folders: Sequence[str], rest: str) -> str | None:
    return next((folder for folder in reversed(folders) if folder), rest or None)


def _extract_items(text: str, items: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return the items that a text names and the rest; of ids inside each other, the longest."""
    spans: dict[str, tuple[int, int]] = {}
    for item in items:
        pattern = rf"(?<![A-Za-z0-9]){re.escape(item)}(?![A-Za-z0-9])"
        match = re.search(pattern, text, re.IGNORECASE)
        if match is not None:
            spans[item] = match.span()
    found = [one for one in spans if not any(_is_within(spans[one], spans[two]) for two in spans)]
    if len(found) != 1:
        return tuple(found), text
    start, end = spans[found[0]]
    return (found[0],), f"{text[:start].rstrip(_SEPARATOR_CHARACTERS)}{text[end:]}"


def _is_within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


_REQUIRED_KEYS = ("log", "item")
_MAPPING_KEYS = (*_REQUIRED_KEYS, "variant", "attempt", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """One row of the file; `session` tells apart several sessions of one log."""

    line: int
    log: str
    item: str
    variant: str | None = None
    attempt: int = 1
    session: str | None = None


def read_mapping(path: Path, items: Collection[str]) -> list[MappingRow]:
    """Read a mapping of .csv, .jsonl or .yaml (`logs:`); every mistake is told at once."""
    data = read_document_bytes(path, str(path))
    reader = _MAPPING_READERS.get(path.suffix.lower())
    if reader is None:
        told = f"the ending decides the format; use {', '.join(_MAPPING_READERS)}"
        raise InputError([Problem(file=str(path), line=1, field="", message=told)])
    problems: list[Problem] = []
    rows = []
    for line, row in reader(data, str(path)):
        found = dict(_find_mapping_problems(row, items))
        problems += [
            Problem(file=str(path), line=line, field=field, message=said)
            for field, said in found.items()
        ]
        if not found:
            rows.append(_build_mapping_row(line, row))
    if problems:
        raise InputError(problems)
    return rows


def _build_mapping_row(line: int, row: Mapping[str, Any]) -> MappingRow:
    texts = {key: row[key] for key in ("log", "item", "variant", "session") if row.get(key)}
    return MappingRow(line=line, attempt=int(row.get("attempt") or 1), **texts)


def _find_mapping_problems(row: Any, items: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"must be a mapping with {', '.join(_MAPPING_KEYS)}, not {format_value(row)}"
        return
    for key in row:
        if key not in _MAPPING_KEYS:
            yield (
                str(key),
                f"unknown key; allowed: {', '.join(_MAPPING_KEYS)}{suggest_match(key, _MAPPING_KEYS)}",
            )
    for key in ("log", "item", "variant", "session"):
        value = row.get(key)
        if value is None and key not in _REQUIRED_KEYS:
            continue
        if not isinstance(value, str) or not value:
            yield (
                key,
                "is missing; it is required"
                if not value
                else f"must be text: {format_value(value)}",
            )
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
        beyond = row.pop(None, None)
        yield reader.line_num, row if beyond is None else None


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
        told = "must be a list of mappings, and the only key of the file"
        raise DocumentError([Problem(file=file, line=tree.line, field="logs", message=told)])
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
    """Return what can be measured; a session without an answer has no latency."""
    agents = list(transcript.agents())
    own = len(transcript.calls)
    calls = sum(len(agent.calls) for agent in agents)
    counted = (
        [transcript.tokens] if transcript.tokens.with_subagents else _collect_tokens(transcript)
    )
    known = [tokens for tokens in counted if _sum_input_tokens(tokens) is not None]
    return SessionMetrics(
        latency_s=None if transcript.doubts else transcript.latency_s,
        last_turn_latency_s=None if transcript.doubts else transcript.last_turn_latency_s,
        tool_calls=calls,
        subagent_calls=calls - own,
        dispatches=sum(len(find_attempts(agent, (DISPATCH,), {})) for agent in agents),
        tokens_in=_sum_known(map(_sum_input_tokens, known)),
        tokens_out=_sum_known(tokens.output for tokens in known),
        lower_bounds=tuple(_find_lower_bounds(agents, counted)),
    )


def _collect_tokens(transcript: Transcript) -> list[Tokens]:
    """Return the tokens of every agent, those included that the client started by itself."""
    inner = [tokens for agent in transcript.subagents for tokens in _collect_tokens(agent)]
    return [transcript.tokens, *inner]


def _sum_input_tokens(tokens: Tokens) -> int | None:
    if tokens.input_uncached is None:
        return None
    return tokens.input_uncached + (tokens.cache_read or 0) + (tokens.cache_write or 0)


def _sum_known(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _find_lower_bounds(agents: list[Transcript], counted: list[Tokens]) -> Iterable[str]:
    """Yield the metrics of which the log may not show all."""
    incomplete = any(agent.doubts for agent in agents)
    unseen = any(agent.unseen for agent in agents)
    if incomplete or unseen:
        yield "tool_calls"
    if incomplete:
        yield "dispatches"
    whole = len(counted) == 1 and counted[0].with_subagents
    vague = any(
        tokens.output_is_lower_bound or _sum_input_tokens(tokens) is None for tokens in counted
    )
    if incomplete or vague or (unseen and not whole):
        yield "tokens"


_WHITESPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One session as an answer: whose, to which item, and what was done for it.

    `file` is the log, told from the folder of logs.
    """

    file: str
    item: str
    variant: str | None
    attempt: int
    transcript: Transcript

    @property
    def output(self) -> str:
        """The final text; nothing where the agent said nothing."""
        return self.transcript.final_text or ""

    @property
    def metrics(self) -> SessionMetrics:
        """What was measured."""
        return measure_transcript(self.transcript)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFolder:
    """The answers in a folder of logs, in the order of their files, and the logs that are none."""

    answers: tuple[LoggedAnswer, ...]
    errors: tuple[RowError, ...]

    def to_batch(self) -> AnswerBatch:
        """Return them as answers in columns."""
        batch = AnswerBatch(errors=list(self.errors))
        rows = [(answer, answer.metrics) for answer in self.answers]
        for line, (answer, found) in enumerate(rows, start=1):
            fields = (answer.item, answer.output, answer.variant, answer.attempt)
            tokens = (found.tokens_in, found.tokens_out)
            batch.append(line, (*fields, _to_milliseconds(found.latency_s), *tokens, None))
            batch.transcripts.append(answer.transcript)
        batch.measured = {
            "tool_calls": [found.tool_calls for _, found in rows],
            "subagent_calls": [found.subagent_calls for _, found in rows],
            "dispatches": [found.dispatches for _, found in rows],
            "tokens": [found.tokens for _, found in rows],
            "lower_bounds": [list(found.lower_bounds) for _, found in rows],
            "last_turn_latency_ms": [
                _to_milliseconds(found.last_turn_latency_s) for _, found in rows
            ],
            "log_complete": [answer.transcript.complete for answer, _ in rows],
            "file": [answer.file for answer, _ in rows],
        }
        return batch


def _to_milliseconds(seconds: Decimal | None) -> float | None:
    return None if seconds is None else float(seconds * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogSession:
    """One session of one log, and what is known of where it belongs."""

    path: Path
    file: str
    transcript: Transcript
    mapped: MappingRow | None
    name: LogName


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
    found, refused = read_log_folder(root, log_format)
    sessions = _build_sessions(root, found, _match_mapping_rows(rows, root, mapping, found), items)
    ours = None if mapping is None else Path(mapping).resolve()
    errors = [
        _build_log_error(_format_log_path(path, root), why)
        for path, why in refused
        if path.resolve() != ours
    ]
    placed = [_place_session(session, items) for session in sessions]
    if _has_repeated_attempts(placed) and all(session.name.remainder for session in sessions):
        by_file = [_place_session(_use_file_variant(session), items) for session in sessions]
        placed = placed if _has_repeated_attempts(by_file) else by_file
    errors += [one for one in placed if isinstance(one, RowError)]
    answers, repeats = _separate_repeats([one for one in placed if isinstance(one, LoggedAnswer)])
    return LogFolder(answers=tuple(answers), errors=(*errors, *repeats))


def _use_file_variant(session: _LogSession) -> _LogSession:
    """Return a session whose variant is told by its file, where folders hold several variants."""
    name = session.name
    return replace(session, name=replace(name, variant=name.remainder))


def _has_repeated_attempts(placed: Iterable[LoggedAnswer | RowError]) -> bool:
    """Say whether two logs claim the same attempt."""
    answers = [one for one in placed if isinstance(one, LoggedAnswer)]
    return len({(one.item, one.variant, one.attempt) for one in answers}) < len(answers)


def _build_sessions(
    root: Path,
    found: Iterable[tuple[Path, Transcript]],
    mapped: dict[tuple[Path, str | None], MappingRow],
    items: Sequence[Item],
) -> list[_LogSession]:
    ids = [item.id for item in items]
    sessions = []
    for path, transcript in found:
        file = _format_log_path(path, root)
        place = path.resolve()
        row = mapped.get((place, transcript.session)) or mapped.get((place, None))
        name = parse_log_name(Path(file), ids)
        sessions.append(
            _LogSession(path=path, file=file, transcript=transcript, mapped=row, name=name)
        )
    return sessions


def _match_mapping_rows(
    rows: Iterable[MappingRow],
    root: Path,
    mapping: str | Path | None,
    found: Iterable[tuple[Path, Transcript]],
) -> dict[tuple[Path, str | None], MappingRow]:
    """Return the rows of the mapping by the log that each means, which must be there."""
    if mapping is None:
        return {}
    known = {path.resolve() for path, _ in found}
    placed: dict[tuple[Path, str | None], MappingRow] = {}
    problems = []
    for row in rows:
        places = [folder / row.log for folder in (root, Path(mapping).parent)]
        place = next((p.resolve() for p in places if p.resolve() in known), None)
        said = "no log of this name was read" if place is None else ""
        if place is not None and (place, row.session) in placed:
            said = f"the log is named twice, first on line {placed[place, row.session].line}"
        if said or place is None:
            problems.append(Problem(file=str(mapping), line=row.line, field="log", message=said))
        else:
            placed[place, row.session] = row
    if problems:
        raise InputError(problems)
    return placed


def _place_session(session: _LogSession, items: Sequence[Item]) -> LoggedAnswer | RowError:
    """Return a session as an answer, or say why it cannot be placed."""
    row, name, transcript = session.mapped, session.name, session.transcript
    if row is not None:
        return _build_logged_answer(session, row.item, row.variant or name.variant, row.attempt)
    if len(name.items) > 1:
        told = f"its name fits several items: {', '.join(name.items)}; name one in a mapping file"
        return _build_log_error(session.file, told)
    if name.items:
        return _build_logged_answer(session, name.items[0], name.variant, name.attempt)
    asked = _find_asked_items(transcript, items)
    if len(asked) == 1:
        return _build_logged_answer(session, asked[0], name.variant, name.attempt)
    if asked:
        return _build_log_error(
            session.file, f"what was asked fits several items: {', '.join(asked)}"
        )
    told = "no item: neither its name nor what was asked fits one; name it in a mapping file"
    return _build_log_error(session.file, told)


def _build_logged_answer(
    session: _LogSession, item: str, variant: str | None, attempt: int
) -> LoggedAnswer:
    """Return the answer; a variant that nothing names is the model, where the log names one."""
    models = session.transcript.models
    named_by_log = models[0] if len(models) == 1 else None
    return LoggedAnswer(
        file=session.file,
        item=item,
        variant=variant or named_by_log,
        attempt=attempt,
        transcript=session.transcript,
    )


def _find_asked_items(transcript: Transcript, items: Sequence[Item]) -> list[str]:
    """Return the items that were asked for: word for word, else inside of what was asked."""
    asked = [_fold_prompt(prompt.text) for prompt in transcript.prompts if prompt.text]
    wanted = {item.id: _fold_prompt(item.prompt) for item in items}
    equal = [item for item, text in wanted.items() if text in asked]
    return equal or [
        item for item, text in wanted.items() if any(text in prompt for prompt in asked)
    ]


def _fold_prompt(text: str) -> str:
    return _WHITESPACE.sub(" ", to_nfc(text)).strip().casefold()


def _separate_repeats(
    answers: Sequence[LoggedAnswer],
) -> tuple[list[LoggedAnswer], Iterator[RowError]]:
    """Set aside all logs that claim the same attempt: which is meant cannot be known."""
    keys = [(answer.item, answer.variant, answer.attempt) for answer in answers]
    counts = Counter(keys)
    kept = [answer for answer, key in zip(answers, keys, strict=True) if counts[key] == 1]
    said = "{n} logs are the answer to `{item}` by {variant}, attempt {attempt}; name each attempt"
    repeats = (
        _build_log_error(
            answer.file,
            said.format(
                n=counts[key],
                item=answer.item,
                variant="nobody named" if answer.variant is None else f"`{answer.variant}`",
                attempt=answer.attempt,
            ),
            answer.item,
        )
        for answer, key in zip(answers, keys, strict=True)
        if counts[key] > 1
    )
    return kept, repeats


def _build_log_error(file: str, reason: str, item: str | None = None) -> RowError:
    return RowError(line=1, reason=reason, item=item, file=file)


def _format_log_path(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
