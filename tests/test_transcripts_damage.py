"""Reading damaged logs: intact records are read, gaps are reported, nothing crashes."""

from __future__ import annotations

import codecs
import json
import random
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from made_up import Session
from markscheme import InputError, MarkschemeError, Transcript, read_transcript
from markscheme.read.transcripts import read_transcripts
from markscheme.tell.transcript import dump_transcripts, print_timeline

if TYPE_CHECKING:
    from collections.abc import Callable

LOGS = Path(__file__).parent / "logs"
INLINE = LOGS / "claude-code" / "inline.jsonl"
WHOLE = read_transcript(INLINE)
LINES = INLINE.read_bytes().splitlines()


def read(folder: Path, content: bytes) -> Transcript:
    path = folder / "log.jsonl"
    path.write_bytes(content)
    return read_transcript(path)


def without_gaps(transcript: Transcript) -> Transcript:
    return structs.replace(transcript, gaps=(), skipped_lines=0)


def test_a_truncated_last_line_makes_it_incomplete(tmp_path: Path) -> None:
    transcript = read(tmp_path, b"\n".join([*LINES, b'{"type": "assist']))
    assert transcript.gaps[0] == "the log is cut off"
    assert transcript.skipped_lines == 1
    assert without_gaps(transcript) == WHOLE


def test_lines_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    transcript = read(
        tmp_path, b"\n".join([LINES[0], b"[1]", b"nonsense", b"null", *LINES[1:], b""])
    )
    assert transcript.skipped_lines == 3
    assert "3 lines could not be read" in transcript.gaps
    assert without_gaps(transcript) == WHOLE


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: codecs.BOM_UTF8 + b"\n".join(lines),
        lambda lines: b"\r\n".join(lines) + b"\r\n",
        b"\r".join,
        lambda lines: b"\n\n  \n".join(lines) + b"\n\n",
        lambda lines: b"\n".join(line for line in lines for _ in range(2)),
        lambda lines: b"\n".join([*lines, *lines]),
        lambda lines: b"\n".join(lines).decode().encode("utf-16"),
        lambda lines: b"\n".join(b"data: " + line for line in lines),
    ],
    ids=["mark", "crlf", "cr", "blank", "twice", "again", "utf-16", "event-stream"],
)
def test_other_ways_to_write_the_same_say_the_same(
    damage: Callable[[list[bytes]], bytes], tmp_path: Path
) -> None:
    assert read(tmp_path, damage(LINES)) == WHOLE


def test_times_and_usage_that_are_missing_are_unknown(tmp_path: Path) -> None:
    records = [json.loads(line) for line in LINES]
    for record in records:
        record.pop("timestamp", None)
        if isinstance(record.get("message"), dict):
            record["message"].pop("usage", None)
    transcript = read(tmp_path, b"\n".join(json.dumps(record).encode() for record in records))
    assert (transcript.latency_s, transcript.last_turn_latency_s) == (None, None)
    assert transcript.tokens.output is None
    assert {call.seconds for call in transcript.calls} == {None}
    assert [call.status for call in transcript.calls] == [call.status for call in WHOLE.calls]
    assert transcript.complete


@pytest.mark.parametrize("count", ["NaN", "-5", "1e400", "10.5", "null"])
def test_a_count_that_is_none_is_unknown_and_not_zero(count: str, tmp_path: Path) -> None:
    log = Session("Ask.").say("Done.").text()
    log = log.replace('"input_tokens": 10', f'"input_tokens": {count}')
    transcript = read(tmp_path, log.encode()).tokens
    assert transcript.input_uncached is None
    assert (transcript.output, transcript.cache_read) == (20, 1000)


def test_redacted_fields_are_unknown(tmp_path: Path) -> None:
    text = b"\n".join(LINES)
    records = [json.loads(line) for line in text.splitlines()]
    for record in records:
        record["message"]["usage"] = "<redacted>"
        for block in record["message"]["content"]:
            if isinstance(block, dict):
                block["input"] = "<redacted>"
    transcript = read(tmp_path, b"\n".join(json.dumps(record).encode() for record in records))
    assert transcript.tokens.input_uncached is None
    assert [dispatch.kind for dispatch in transcript.dispatches] == [None, None, None]


def test_a_record_of_an_unknown_type_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    transcript = read(tmp_path, b"\n".join([b'{"type": "future", "x": {"y": []}}', *LINES]))
    assert structs.replace(transcript, gaps=()) == WHOLE
    assert transcript.doubts == ("1 record of the unknown kind `future`",)


def test_half_a_character_and_invalid_utf8_stop_nothing(tmp_path: Path) -> None:
    lines = [line.replace(b"Both say so.", b"Both \\ud83d say \xff so.") for line in LINES]
    transcript = read(tmp_path, b"\n".join(lines))
    assert transcript.final_text == "Both ? say \ufffd so."
    assert "�" in json.loads(dump_transcripts([(tmp_path, transcript)]))["final_text"]


def test_a_file_that_is_no_log_is_told_what_was_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"x\.json.*no log format is recognised; looked for .*otel"
    ):
        read_transcript(path)
    path.write_bytes(b"\x00\x01\x02")
    with pytest.raises(InputError, match="there is no JSON object in it"):
        read_transcript(path)
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        read_transcript(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match="no log is recognised in this folder"):
        read_transcript(tmp_path)


@pytest.mark.parametrize("magic", [b"SQLite format 3\0", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"])
def test_a_damaged_database_or_archive_is_refused(magic: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(magic + b"rubbish" * 20)
    with pytest.raises(InputError, match=r"x\.db"):
        read_transcript(path)


def test_memory_does_not_grow_with_what_calls_bring_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    common = {"sessionId": "s", "isSidechain": False}
    with path.open("wb") as file:
        for number in range(400):
            call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {}}
            said = {"role": "assistant", "id": f"m{number}", "content": [call]}
            bulk = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * 50_000}
            told = {"role": "user", "content": [bulk]}
            for kind, message in (("assistant", said), ("user", told)):
                record = {"type": kind, "uuid": f"{kind}{number}", "message": message, **common}
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    tracemalloc.start()
    transcript = read_transcript(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(transcript.calls) == 400
    assert path.stat().st_size > 20_000_000
    assert peak < 12_000_000


# Fuzzing: 10,000 mutated logs, spread over the formats by a seed.

CASES = 10_000
_FILES = sorted(
    path
    for path in LOGS.rglob("*")
    if path.suffix in {".json", ".jsonl"} and path.stat().st_size < 20_000
)
_ODD: list[Any] = [None, True, 0, -1, 1e308, "", "<redacted>", [], {}, [[]], {"a": {}}, "x" * 300]


def _odd_value(chance: random.Random, value: Any, depth: int = 0) -> Any:
    """Return the value with one thing in it replaced, dropped or repeated."""
    if depth > 6 or not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(_ODD)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [*value[:at], _odd_value(chance, value[at], depth + 1), *value[at + 1 :]]
    key = chance.choice(list(value))
    if chance.random() < 0.15:
        return {name: inner for name, inner in value.items() if name != key}
    return {**value, key: _odd_value(chance, value[key], depth + 1)}


def _mutated_lines(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    at = chance.randrange(len(lines))
    match chance.randrange(7):
        case 0:
            return lines[:at] + lines[at + 1 :]
        case 1:
            return [*lines[:at], lines[at], *lines[at:]]
        case 2:
            return chance.sample(lines, len(lines))
        case 3:
            cut = chance.randrange(len(lines[at]) + 1)
            return [*lines[:at], lines[at][:cut], *lines[at + 1 :]]
        case 4:
            byte = chance.randrange(len(lines[at]) or 1)
            torn = lines[at][:byte] + bytes([chance.randrange(256)]) + lines[at][byte + 1 :]
            return [*lines[:at], torn, *lines[at + 1 :]]
        case _:
            try:
                record = orjson.loads(lines[at])
            except orjson.JSONDecodeError:
                return lines
            return [*lines[:at], orjson.dumps(_odd_value(chance, record)), *lines[at + 1 :]]


def _mutated(chance: random.Random, content: bytes) -> bytes:
    lines = content.splitlines()
    if lines[0].strip() in {b"{", b"["}:  # a document: change a value in it, or cut it
        if chance.random() < 0.3:
            return content[: chance.randrange(len(content))]
        document = json.loads(content)
        for _ in range(chance.randrange(1, 4)):
            document = _odd_value(chance, document)
        return json.dumps(document).encode()
    for _ in range(chance.randrange(1, 4)):
        lines = _mutated_lines(chance, lines) or lines
    return b"\n".join(lines)


def check(transcript: Transcript) -> None:
    """Assert what holds for every transcript, however damaged its log is."""
    assert transcript.complete == (not transcript.gaps)
    assert [call.index for call in transcript.calls] == list(range(len(transcript.calls)))
    assert all(
        value is None or value >= 0
        for value in (transcript.latency_s, transcript.last_turn_latency_s)
    )
    for name in ("input_uncached", "cache_read", "cache_write", "output"):
        value = getattr(transcript.tokens, name)
        assert value is None or (isinstance(value, int) and value >= 0)
    for mutation in transcript.mutations:
        assert transcript.calls[mutation.call].name == mutation.name
    for agent in transcript.subagents:
        check(agent)


@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_damaged_logs_give_transcripts_or_refusals(part: int, tmp_path: Path) -> None:
    chance = random.Random(part)  # noqa: S311 - the same cases in every run
    contents = [path.read_bytes() for path in _FILES]
    path = tmp_path / "log.jsonl"
    read_ones = 0
    for number in range(CASES // 4):
        path.write_bytes(_mutated(chance, contents[number % len(contents)]))
        try:
            transcripts = read_transcripts(path)
        except MarkschemeError:
            continue
        read_ones += 1
        for _, transcript in transcripts:
            check(transcript)
            if number % 50 == 0:
                json.loads(dump_transcripts([(path, transcript)]))
                print_timeline(transcript, "log.jsonl")
    assert read_ones > CASES // 4 // 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "type",
        "message",
        "content",
        "uuid",
        "parentUuid",
        "sessionId",
        "isSidechain",
        "agentId",
        "timestamp",
        "payload",
        "id",
        "role",
        "info",
        "parts",
        "properties",
        "part",
        "usage",
        "tool_use_id",
        "tool_calls",
        "name",
        "input",
        "output",
        "text",
        "model",
        "resourceSpans",
        "scopeSpans",
        "spans",
        "attributes",
        "events",
        "event",
        "messages",
        "eval",
        "samples",
        "status",
    ]
)
KINDS = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "result",
        "tool_use",
        "tool_result",
        "text",
        "response_item",
        "event_msg",
        "session_meta",
        "message.updated",
        "message.part.updated",
        "function_call",
        "turn.started",
        "item.completed",
        "gemini",
    ]
)
VALUES = st.recursive(
    JSON | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=8)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120, deadline=None
)
@given(records=st.lists(RECORDS, min_size=1, max_size=6), shape=st.sampled_from(["lines", "list"]))
def test_any_objects_with_known_keys_are_read_or_refused(
    records: list[dict[str, Any]], shape: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    lines = "\n".join(json.dumps(record) for record in records)
    path.write_text(lines if shape == "lines" else json.dumps(records), encoding="utf-8")
    try:
        transcripts = read_transcripts(path)
    except MarkschemeError:
        return
    for _, transcript in transcripts:
        check(transcript)
