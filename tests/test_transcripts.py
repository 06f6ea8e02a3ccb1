"""Reading OpenAI, OpenTelemetry, Inspect and Gemini logs; detecting the format of a log."""

from __future__ import annotations

import json
import zipfile
import zlib
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from backports import zstd

from agent_logs import LOGS, find_subagent, list_calls, list_tokens, write_database
from markscheme import MarkschemeError, Transcript, UsageError, read_transcript
from markscheme.read.transcripts import list_format_names, read_transcripts

if TYPE_CHECKING:
    from pathlib import Path

# OpenAI messages, OpenTelemetry, Inspect, Gemini


@pytest.mark.parametrize("name", ["chat.json", "requests.jsonl"])
def test_chat_messages_do_not_say_how_calls_went(name: str) -> None:
    transcript = read_transcript(LOGS / "openai" / name)
    assert transcript.format == "openai-chat"
    assert list_calls(transcript) == [("weather", None), ("weather", None)]
    assert transcript.calls[1].arguments["input"] == '{"city": '
    assert (transcript.final_text, transcript.latency_s, len(transcript.prompts)) == (
        "Rain and sun.",
        None,
        1,
    )
    assert transcript.complete


def test_usage_of_chat_requests_is_summed_once_for_each() -> None:
    transcript = read_transcript(LOGS / "openai" / "requests.jsonl")
    assert list_tokens(transcript) == (22, 8, None, 11, 2)


def test_items_that_requests_send_again_count_once() -> None:
    transcript = read_transcript(LOGS / "openai" / "responses.jsonl")
    assert transcript.format == "openai-responses"
    assert list_calls(transcript) == [("read", None), ("mcp__memory__search", "ok")]
    assert (transcript.final_text, transcript.latency_s, len(transcript.prompts)) == (
        "It says x.",
        Decimal(9),
        1,
    )
    assert list_tokens(transcript) == (40, 20, None, 18, 4)


def test_a_response_without_output_is_rebuilt_from_its_events() -> None:
    transcript = read_transcript(LOGS / "openai" / "response-events.jsonl")
    assert (transcript.final_text, list_tokens(transcript)) == ("Hello.", (20, 10, None, 9, 2))


@pytest.mark.parametrize("name", ["otlp.json", "otlp.jsonl", "tempo.json"])
def test_spans_become_an_agent_with_its_sub_agent(name: str) -> None:
    transcript = read_transcript(LOGS / "otel" / name)
    assert (transcript.format, transcript.session) == ("otel", "conv-1")
    assert list_calls(transcript) == [("scout", "ok")]
    assert [
        (dispatch.kind, dispatch.call, dispatch.status) for dispatch in transcript.dispatches
    ] == [("scout", 0, "ok")]
    assert (transcript.latency_s, transcript.final_text) == (Decimal(10), "Two of them.")
    assert transcript.prompts[0].text == "How many?"
    assert list_calls(find_subagent(transcript, "scout")) == [("read", "error")]


def test_spans_above_others_repeat_their_usage() -> None:
    transcript = read_transcript(LOGS / "otel" / "otlp.json")
    assert list_tokens(transcript) == (52, 8, None, 6, None)
    assert list_tokens(find_subagent(transcript, "scout")) == (5, None, None, 1, None)
    naive = 40 + 5 + 5 + 20 + 60
    assert naive not in {52 + 8, 52 + 8 + 5}


def test_jaeger_and_openinference_are_read_too() -> None:
    transcript = read_transcript(LOGS / "otel" / "jaeger.json")
    assert list_calls(transcript) == [("search", "ok")]
    assert (transcript.latency_s, transcript.final_text, list_tokens(transcript)[0]) == (
        Decimal(7),
        "Three.",
        50,
    )
    assert transcript.prompts[0].text == "Count."


def inspect_logs(folder: Path) -> list[Path]:
    """Return the log as it is, as an archive, and as one packed as newer versions do."""
    whole = LOGS / "inspect" / "log.json"
    text = whole.read_text(encoding="utf-8")
    document = json.loads(text)
    sample = json.dumps(document["samples"][0]).encode()
    deflated = folder / "log.eval"
    with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        archive.writestr("samples/s1_epoch_1.json", sample)
    return [whole, deflated, _with_zstandard(folder / "new.eval", sample)]


def _with_zstandard(path: Path, sample: bytes) -> Path:
    """Write an archive whose sample is packed by method 93."""
    packed = zstd.compress(sample)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        archive.writestr("samples/s1_epoch_1.json", packed)
    raw = bytearray(path.read_bytes())
    for magic, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = raw.rindex(magic)
        raw[at + method : at + method + 2] = (93).to_bytes(2, "little")
        raw[at + method + 6 : at + method + 10] = zlib.crc32(sample).to_bytes(4, "little")
        raw[at + size : at + size + 4] = len(sample).to_bytes(4, "little")
    path.write_bytes(raw)
    return path


def test_samples_of_inspect_are_sessions(tmp_path: Path) -> None:
    for path in inspect_logs(tmp_path):
        transcript = read_transcript(path)
        assert (transcript.format, transcript.session) == ("inspect", "s1/1")
        assert list_calls(transcript) == [
            ("bash", "ok"),
            ("bash", "denied"),
            ("web", "error"),
            ("transfer_to_scout", "ok"),
        ]
        assert (transcript.final_text, transcript.latency_s) == ("Fetched.", Decimal("12.25"))
        assert [mutation.target for mutation in transcript.mutations] == ["mkdir out"]
        assert list_calls(find_subagent(transcript, "scout")) == [("read", "ok")]
        assert transcript.complete, transcript.gaps


def test_a_time_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    document = json.loads((LOGS / "inspect" / "log.json").read_text(encoding="utf-8"))
    document["samples"][0]["total_time"] = True
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert read_transcript(path).latency_s is None


def test_the_graders_tokens_are_not_the_agents() -> None:
    transcript = read_transcript(LOGS / "inspect" / "log.json")
    assert list_tokens(transcript) == (6 + 10, 94, None, 3, 0)
    assert list_tokens(find_subagent(transcript, "scout")) == (14, 0, None, 2, 0)


@pytest.mark.parametrize("name", ["session.json", "session.jsonl"])
def test_a_command_that_failed_is_an_error_though_gemini_calls_it_a_success(name: str) -> None:
    transcript = read_transcript(LOGS / "gemini" / name)
    assert (transcript.format, transcript.session) == ("gemini", "gem-1")
    assert list_calls(transcript) == [
        ("run_shell_command", "error"),
        ("write_file", "denied"),
        ("save_memory", "ok"),
    ]
    assert (transcript.final_text, transcript.latency_s) == ("It fails.", Decimal(9))
    assert list_tokens(transcript) == (61, 40, None, 16, 5)


# Recognition and refusals


def every_log() -> list[tuple[Path, Transcript]]:
    return read_transcripts(LOGS)


def test_a_folder_of_everything_is_read_and_every_format_is_recognised(tmp_path: Path) -> None:
    write_database(tmp_path)
    found = [*every_log(), *read_transcripts(tmp_path)]
    assert {transcript.format for _, transcript in found} == set(list_format_names())


def test_what_is_no_log_does_not_stop_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes((LOGS / "codex" / "exec.jsonl").read_bytes())
    (tmp_path / "b.db").write_bytes(b"SQLite format 3\0rubbish")
    (tmp_path / "c.eval").write_bytes(b"PK\x03\x04rubbish")
    (tmp_path / "d.json").write_text('{"version": 1}', encoding="utf-8")
    (tmp_path / "e.json").symlink_to(tmp_path / "missing")
    assert read_transcript(tmp_path).format == "codex-exec"


def test_a_format_can_be_forced() -> None:
    path = LOGS / "codex" / "bare.jsonl"
    assert read_transcript(path, "openai-responses").format == "openai-responses"
    with pytest.raises(UsageError, match=r"`klingon` is no log format; use opencode-export, "):
        read_transcript(path, "klingon")


@pytest.mark.parametrize("name", list_format_names())
def test_forcing_the_wrong_format_is_no_crash(name: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    for path in [*sorted(LOGS.rglob("*.json*")), empty]:
        with suppress(MarkschemeError):
            assert all(found.format == name for _, found in read_transcripts(path, name))


def test_several_sessions_need_a_name() -> None:
    folder = LOGS / "claude-code" / "fork"
    with pytest.raises(UsageError, match="holds 2 sessions; name one of"):
        read_transcript(folder)
    name = "5e551000-0000-4000-8000-00000000000b"
    assert read_transcript(folder, session=name).final_text == "Otherwise."
    with pytest.raises(UsageError, match="holds no session `x`"):
        read_transcript(folder, session="x")
