"""A folder of session logs, each the answer of a variant to an item of the exam.

Which item a log answers is told by the mapping file, else by its name, else by what was asked. A
log that cannot be read or placed is a row that is no answer: it is shown, and never dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import InputError, Problem
from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.composed import to_nfc
from markscheme.read.logs.mapping import MappingRow, read_mapping
from markscheme.read.logs.measured import measure_transcript
from markscheme.read.logs.names import LogName, parse_log_name
from markscheme.read.transcripts import read_log_folder
from markscheme.transcript import SessionMetrics, Transcript
from markscheme.vocabulary import Item, RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from decimal import Decimal

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
