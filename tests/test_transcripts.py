"""Session logs of every format as transcripts: the synthetic logs of `tests/logs`."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path

import pytest
import zstandard

from made_up import GREP, Session
from markscheme import CallStatus, MarkschemeError, Transcript, UsageError, read_transcript
from markscheme.read.transcripts import format_names, read_transcripts

LOGS = Path(__file__).parent / "logs"
AGENTS = LOGS / "claude-code" / "agents" / "5e551000-0000-4000-8000-000000000001.jsonl"
CODEX = LOGS / "codex" / "rollout-2026-03-01T11-00-00-aaaa1111-0000-7000-8000-000000000001.jsonl"


def calls(transcript: Transcript) -> list[tuple[str, str | None]]:
    return [(call.name, call.status) for call in transcript.calls]


def used(transcript: Transcript) -> tuple[int | None, ...]:
    """Return input, cache read, cache write, output, reasoning."""
    tokens = transcript.tokens
    read, write = tokens.cache_read, tokens.cache_write
    return tokens.input_uncached, read, write, tokens.output, tokens.reasoning


def named(transcript: Transcript, kind: str) -> Transcript:
    return next(agent for agent in transcript.subagents if agent.kind == kind)


# Claude Code


def test_agents_of_claude_code_are_nested_where_they_were_started() -> None:
    found = read_transcript(AGENTS)
    assert found.format == "claude-code"
    assert found.complete
    assert calls(found) == [
        ("mcp__memory__search_nodes", "ok"),
        ("Grep", "ok"),
        ("Agent", "ok"),
        ("Agent", "ok"),
        ("Write", "denied"),
        ("Bash", "error"),
    ]
    assert [(made.kind, made.agent, made.call) for made in found.dispatches] == [
        ("Explore", "a1b2c3", 2),
        ("Research", "ffee01", 3),
    ]
    explore = named(found, "Explore")
    assert calls(explore) == [("Glob", "ok"), ("Agent", "ok")]
    assert {call.agent for call in explore.calls} == {"a1b2c3"}
    assert named(explore, "Deeper").final_text == "Nothing deeper."
    assert named(found, "Research").latency_s == 16


def test_compaction_is_no_dispatch_and_its_tokens_are_real() -> None:
    compaction = named(read_transcript(AGENTS), "compaction")
    assert compaction.internal
    assert used(compaction) == (9, 6, 7, 8, None)


def test_only_what_a_person_asked_is_a_prompt() -> None:
    found = read_transcript(AGENTS)
    first, second = found.prompts
    assert first.text == "Where is the parser, and what do we know of it?"
    assert "/review" in (second.text or "")
    assert second.before == 6
    assert (found.latency_s, found.last_turn_latency_s) == (Decimal(102), Decimal(12))


def test_one_message_in_several_lines_is_counted_once() -> None:
    found = read_transcript(AGENTS)
    assert used(found) == (19, 6300, 650, 140, None)
    assert found.tokens.output_is_lower_bound
    lines = [json.loads(line) for line in AGENTS.read_text(encoding="utf-8").splitlines()]
    naive = sum(
        line["message"]["usage"]["cache_read_input_tokens"]
        for line in lines
        if line["type"] == "assistant"
    )
    assert naive != found.tokens.cache_read


def test_what_stands_in_quotes_or_goes_to_nowhere_is_no_mutation() -> None:
    (mutation,) = read_transcript(AGENTS).mutations
    assert (mutation.name, mutation.target) == ("Write", "/repo/notes.md")
    assert mutation.status is CallStatus.DENIED


def test_a_call_knows_what_its_kind_can_be_told_by() -> None:
    memory, grep, *_, write, bash = read_transcript(AGENTS).calls
    assert memory.arguments["query"] == "parser"
    assert (grep.paths, grep.arguments["pattern"]) == (("/repo/src",), "parser")
    assert write.paths == ("/repo/notes.md",)
    assert bash.command is not None
    assert bash.command.startswith("grep -rn")
    assert memory.started is not None
    assert memory.started.isoformat() == "2026-03-01T10:00:13.500000+00:00"
    assert memory.seconds == 1


def test_inline_agents_with_the_same_prompt_stay_apart() -> None:
    found = read_transcript(LOGS / "claude-code" / "inline.jsonl")
    assert [made.status for made in found.dispatches] == ["ok", "ok", "error"]
    assert [len(agent.calls) for agent in found.subagents] == [2, 1]
    assert [made.agent for made in found.dispatches[:2]] == [a.agent for a in found.subagents]


def test_an_inline_agent_whose_line_is_lost_is_not_given_to_another(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = (LOGS / "claude-code" / "inline.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if '"xt0"' not in line), "utf-8")
    found = read_transcript(path)
    assert [len(agent.calls) for agent in found.subagents] == [0, 1, 1]


def test_an_agent_beside_its_session_is_found_by_its_id() -> None:
    found = read_transcript(LOGS / "claude-code" / "beside")
    assert [agent.final_text for agent in found.subagents] == ["Planned."]
    assert found.subagents[0].kind == "Plan"


def test_a_fork_does_not_count_again_what_it_repeats() -> None:
    folder = LOGS / "claude-code" / "fork"
    first, second = (transcript for _, transcript in read_transcripts(folder))
    assert (first.tokens.output, second.tokens.output) == (10, 7)
    alone = read_transcript(folder / "b.jsonl")
    assert (alone.tokens.output, len(alone.prompts)) == (17, 2)


def test_sessions_that_only_number_their_lines_alike_are_no_forks(tmp_path: Path) -> None:
    for name, said in (("a", "One."), ("b", "Two.")):
        session = Session("Begin.", session="1").call(*GREP).say(said)
        (tmp_path / f"{name}.jsonl").write_text(session.text(), encoding="utf-8")
    found = [transcript for _, transcript in read_transcripts(tmp_path)]
    assert [one.final_text for one in found] == ["One.", "Two."]
    assert [(len(one.prompts), len(one.calls), one.complete) for one in found] == [(1, 1, True)] * 2


@pytest.mark.parametrize("name", ["claude-code/agents", "claude-stream/agents.jsonl"])
def test_redacted_ids_of_lines_hide_no_line(name: str, tmp_path: Path) -> None:
    given = next((LOGS / name).rglob("*.jsonl")) if (LOGS / name).is_dir() else LOGS / name
    plain = given.read_text(encoding="utf-8")
    redacted = tmp_path / "log.jsonl"
    redacted.write_text(re.sub(r'"uuid": ?"[^"]*"', '"uuid":"<redacted>"', plain), "utf-8")
    assert '"uuid":"<redacted>"' in redacted.read_text(encoding="utf-8")
    (tmp_path / "plain.jsonl").write_text(plain, "utf-8")
    one, other = read_transcript(redacted), read_transcript(tmp_path / "plain.jsonl")
    assert (one.final_text, len(one.calls)) == (other.final_text, len(other.calls))


def test_an_agent_whose_end_was_not_reported_has_no_result(tmp_path: Path) -> None:
    lines = AGENTS.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = tmp_path / "log.jsonl"
    cut.write_text("".join(line for line in lines if "task-notification" not in line), "utf-8")
    found = read_transcript(cut)
    assert [made.status for made in found.dispatches] == ["ok", "none"]


# claude -p


@pytest.mark.parametrize("name", ["agents.jsonl", "execution.json"])
def test_the_result_of_a_stream_goes_before_its_messages(name: str) -> None:
    found = read_transcript(LOGS / "claude-stream" / name)
    assert found.format == "claude-stream"
    assert calls(found) == [("Agent", "ok"), ("Bash", "denied")]
    assert used(found) == (51, 73, 84, 62, None)
    assert found.tokens.with_subagents
    assert found.tokens.output_is_lower_bound is False
    assert (found.latency_s, found.final_text) == (Decimal("61.25"), "All is well.")
    assert found.prompts[0].text == "Is all well?"
    assert calls(named(found, "Explore")) == [("Read", "ok")]
    assert [made.target for made in found.mutations] == ["/repo/out.txt"]
    assert found.complete


def test_a_stream_without_a_result_is_incomplete() -> None:
    found = read_transcript(LOGS / "claude-stream" / "killed.jsonl")
    assert not found.complete
    assert found.latency_s is None
    assert calls(found) == [("Agent", "none")]
    assert [made.status for made in found.dispatches] == ["none"]


def test_a_run_that_ended_with_an_error_is_incomplete() -> None:
    found = read_transcript(LOGS / "claude-stream" / "max-turns.jsonl")
    assert any("error_max_turns" in gap for gap in found.gaps)


def test_a_result_alone_says_what_it_can() -> None:
    found = read_transcript(LOGS / "claude-stream" / "result.json")
    assert (found.final_text, found.calls, found.complete) == ("All is well.", (), True)


def test_lines_of_an_agent_that_nobody_started_are_not_the_main_agents(tmp_path: Path) -> None:
    lines = (LOGS / "claude-stream" / "agents.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(line for line in lines if '"Explore"' not in line), "utf-8")
    found = read_transcript(path)
    assert calls(found) == [("Bash", "denied")]
    assert [(agent.kind, len(agent.calls)) for agent in found.subagents] == [(None, 1)]


# OpenCode


def database(folder: Path) -> Path:
    """Write the storage folder as a database of OpenCode."""
    storage, path = LOGS / "opencode" / "storage", folder / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT)")
        connection.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        connection.execute(
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)"
        )
        for file in storage.rglob("ses_*.json"):
            info = json.loads(file.read_text(encoding="utf-8"))
            row = (info["id"], info.get("parentID"), info["title"])
            connection.execute("INSERT INTO session VALUES (?, ?, ?)", row)
        for file in storage.rglob("msg_*.json"):
            info = json.loads(file.read_text(encoding="utf-8"))
            row = (info.pop("id"), info.pop("sessionID"), json.dumps(info))
            connection.execute("INSERT INTO message VALUES (?, ?, ?)", row)
        for file in storage.rglob("prt_*.json"):
            part = json.loads(file.read_text(encoding="utf-8"))
            ids = (part.pop("id"), part.pop("messageID"), part.pop("sessionID"))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (*ids, json.dumps(part)))
        connection.commit()
    return path


def in_every_shape(folder: Path) -> dict[str, Transcript]:
    opencode = LOGS / "opencode"
    exports = read_transcripts(opencode / "exports")
    return {
        "export": next(found for _, found in exports),
        "storage": read_transcript(opencode / "storage"),
        "events": read_transcript(opencode / "events.jsonl"),
        "db": read_transcript(database(folder)),
    }


def test_opencode_says_the_same_in_every_shape(tmp_path: Path) -> None:
    for shape, found in in_every_shape(tmp_path).items():
        assert found.format == f"opencode-{shape}"
        assert calls(found) == [
            ("task", "ok"),
            ("bash", "error"),
            ("edit", "denied"),
            ("invalid", "error"),
        ], shape
        assert [(d.kind, d.agent, d.status) for d in found.dispatches] == [
            ("explore", "ses_child", "ok")
        ]
        assert [made.name for made in found.mutations] == ["edit"]
        assert [prompt.text for prompt in found.prompts] == ["Who renders it?"]
        assert (found.final_text, found.latency_s) == ("`a.ts` renders it.", Decimal(30)), shape
        assert used(found) == (111, 1004, 15, 50, 13), shape
        assert found.complete, found.gaps
        (child,) = found.subagents
        assert (child.kind, child.agent, calls(child)) == ("explore", "ses_child", [("read", "ok")])
        assert child.latency_s == Decimal("12.499")


def test_reasoning_is_added_to_the_output_unless_the_total_shows_it_is_in_it() -> None:
    # Steps of 20 + 5 (total 1135), 20 with 5 in it (total 30), and 2 + 3 without a total.
    assert read_transcript(LOGS / "opencode" / "storage").tokens.output == 25 + 20 + 5


def test_what_opencode_run_prints_has_no_prompt_and_no_child() -> None:
    found = read_transcript(LOGS / "opencode" / "run.jsonl")
    assert found.format == "opencode-run"
    assert [prompt.text for prompt in found.prompts] == [None]
    assert (found.latency_s, found.subagents, found.complete) == (None, (), True)
    assert found.dispatches[0].agent == "ses_child"


def test_an_export_ends_where_it_was_cut(tmp_path: Path) -> None:
    whole = (LOGS / "opencode" / "exports" / "parent.json").read_bytes()
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: len(whole) // 2])
    found = read_transcript(cut)
    assert "the log is cut off" in found.gaps
    assert found.calls[0].name == "task"


# Codex


def test_a_spawned_thread_is_nested_without_the_history_that_it_repeats() -> None:
    found = read_transcript(CODEX)
    assert [(made.kind, made.status) for made in found.dispatches] == [
        ("explorer", "ok"),
        (None, "ok"),
    ]
    first, second = found.subagents
    assert calls(first) == [("shell", "ok")]
    assert (first.tokens.output, second.tokens.output) == (10, 10)
    assert (first.tokens.cache_read, second.tokens.cache_read) == (100, 25)
    assert [prompt.text for prompt in second.prompts] == ["Look again."]
    assert second.calls == ()


def test_codex_says_how_calls_went_in_several_ways() -> None:
    assert calls(read_transcript(CODEX)) == [
        ("shell", "ok"),
        ("exec_command", "error"),
        ("apply_patch", "denied"),
        ("spawn_agent", "ok"),
        ("wait_agent", None),
        ("spawn_agent", "ok"),
        ("mcp__memory__search", "error"),
        ("web_search", "ok"),
    ]


def test_a_patch_names_its_files() -> None:
    (mutation,) = read_transcript(CODEX).mutations
    assert (mutation.target, mutation.status) == ("src/a.rs, src/b.rs", "denied")


def test_usage_that_is_told_twice_or_starts_anew_is_summed_right() -> None:
    found = read_transcript(CODEX)
    assert used(found) == (75, 75, None, 20, 8)
    naive = 100 + 100 + 50
    assert (found.tokens.input_uncached or 0) + (found.tokens.cache_read or 0) != naive


def test_threads_in_a_folder_are_listed_once() -> None:
    found = read_transcripts(LOGS / "codex")
    assert sorted(transcript.format for _, transcript in found) == [
        "codex-exec",
        "codex-rollout",
        "codex-rollout",
    ]


def test_the_oldest_rollouts_have_bare_lines() -> None:
    found = read_transcript(LOGS / "codex" / "bare.jsonl")
    assert (found.session, calls(found), found.final_text) == ("old-1", [("shell", "ok")], "Old.")


def test_a_packed_rollout_is_unpacked_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"{CODEX.name}.zst"
    packer = zstandard.ZstdCompressor().compressobj()
    block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    lines = CODEX.read_bytes().splitlines(keepends=True)
    packed = [packer.compress(line) + packer.flush(block) for line in lines]
    path.write_bytes(b"".join(packed) + packer.flush())
    found = read_transcript(path)
    assert found.complete
    assert calls(found) == calls(read_transcript(CODEX))
    path.write_bytes(b"".join(packed[:20]))
    cut = read_transcript(path)
    assert "the log is cut off" in cut.gaps
    assert calls(cut)[:3] == calls(found)[:3]


def test_codex_exec_has_no_times() -> None:
    found = read_transcript(LOGS / "codex" / "exec.jsonl")
    assert found.format == "codex-exec"
    assert calls(found) == [
        ("command_execution", "denied"),
        ("mcp__memory__search", "ok"),
        ("spawn_agent", "ok"),
        ("file_change", "error"),
        ("command_execution", "error"),
        ("web_search", "ok"),
        ("command_execution", "none"),
    ]
    assert (found.latency_s, used(found)) == (None, (60, 40, None, 7, 3))
    assert [made.target for made in found.mutations] == ["files.txt", "/repo/a"]
    assert [made.agent for made in found.dispatches] == ["th-2"]
    assert found.gaps == ("a call has no result",)


# OpenAI messages, OpenTelemetry, Inspect, Gemini


@pytest.mark.parametrize("name", ["chat.json", "requests.jsonl"])
def test_chat_messages_do_not_say_how_calls_went(name: str) -> None:
    found = read_transcript(LOGS / "openai" / name)
    assert found.format == "openai-chat"
    assert calls(found) == [("weather", None), ("weather", None)]
    assert found.calls[1].arguments["input"] == '{"city": '
    assert (found.final_text, found.latency_s, len(found.prompts)) == ("Rain and sun.", None, 1)
    assert found.complete


def test_usage_of_chat_requests_is_summed_once_for_each() -> None:
    found = read_transcript(LOGS / "openai" / "requests.jsonl")
    assert used(found) == (22, 8, None, 11, 2)


def test_items_that_requests_send_again_count_once() -> None:
    found = read_transcript(LOGS / "openai" / "responses.jsonl")
    assert found.format == "openai-responses"
    assert calls(found) == [("read", None), ("mcp__memory__search", "ok")]
    assert (found.final_text, found.latency_s, len(found.prompts)) == ("It says x.", Decimal(9), 1)
    assert used(found) == (40, 20, None, 18, 4)


def test_a_response_without_output_is_rebuilt_from_its_events() -> None:
    found = read_transcript(LOGS / "openai" / "response-events.jsonl")
    assert (found.final_text, used(found)) == ("Hello.", (20, 10, None, 9, 2))


@pytest.mark.parametrize("name", ["otlp.json", "otlp.jsonl", "tempo.json"])
def test_spans_become_an_agent_with_its_sub_agent(name: str) -> None:
    found = read_transcript(LOGS / "otel" / name)
    assert (found.format, found.session) == ("otel", "conv-1")
    assert calls(found) == [("scout", "ok")]
    assert [(made.kind, made.call, made.status) for made in found.dispatches] == [
        ("scout", 0, "ok")
    ]
    assert (found.latency_s, found.final_text) == (Decimal(10), "Two of them.")
    assert found.prompts[0].text == "How many?"
    assert calls(named(found, "scout")) == [("read", "error")]


def test_spans_above_others_repeat_their_usage() -> None:
    found = read_transcript(LOGS / "otel" / "otlp.json")
    assert used(found) == (52, 8, None, 6, None)
    assert used(named(found, "scout")) == (5, None, None, 1, None)
    naive = 40 + 5 + 5 + 20 + 60
    assert naive not in {52 + 8, 52 + 8 + 5}


def test_jaeger_and_openinference_are_read_too() -> None:
    found = read_transcript(LOGS / "otel" / "jaeger.json")
    assert calls(found) == [("search", "ok")]
    assert (found.latency_s, found.final_text, used(found)[0]) == (Decimal(7), "Three.", 50)
    assert found.prompts[0].text == "Count."


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
    packed = zstandard.ZstdCompressor().compress(sample)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        archive.writestr("samples/s1_epoch_1.json", packed)
    raw = bytearray(path.read_bytes())
    for magic, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = raw.rindex(magic)
        raw[at + method : at + method + 2] = (93).to_bytes(2, "little")
        raw[at + size : at + size + 4] = len(sample).to_bytes(4, "little")
    path.write_bytes(raw)
    return path


def test_samples_of_inspect_are_sessions(tmp_path: Path) -> None:
    for path in inspect_logs(tmp_path):
        found = read_transcript(path)
        assert (found.format, found.session) == ("inspect", "s1/1")
        assert calls(found) == [
            ("bash", "ok"),
            ("bash", "denied"),
            ("web", "error"),
            ("transfer_to_scout", "ok"),
        ]
        assert (found.final_text, found.latency_s) == ("Fetched.", Decimal("12.25"))
        assert [made.target for made in found.mutations] == ["mkdir out"]
        assert calls(named(found, "scout")) == [("read", "ok")]
        assert found.complete, found.gaps


def test_the_graders_tokens_are_not_the_agents() -> None:
    found = read_transcript(LOGS / "inspect" / "log.json")
    assert used(found) == (6 + 10, 94, None, 3, 0)
    assert used(named(found, "scout")) == (14, 0, None, 2, 0)


@pytest.mark.parametrize("name", ["session.json", "session.jsonl"])
def test_a_command_that_failed_is_an_error_though_gemini_calls_it_a_success(name: str) -> None:
    found = read_transcript(LOGS / "gemini" / name)
    assert (found.format, found.session) == ("gemini", "gem-1")
    assert calls(found) == [
        ("run_shell_command", "error"),
        ("write_file", "denied"),
        ("save_memory", "ok"),
    ]
    assert (found.final_text, found.latency_s) == ("It fails.", Decimal(9))
    assert used(found) == (61, 40, None, 16, 5)


# Recognition and refusals


def every_log() -> list[tuple[Path, Transcript]]:
    return read_transcripts(LOGS)


def test_a_folder_of_everything_is_read_and_every_format_is_recognised(tmp_path: Path) -> None:
    database(tmp_path)
    found = [*every_log(), *read_transcripts(tmp_path)]
    assert {transcript.format for _, transcript in found} == set(format_names())


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


@pytest.mark.parametrize("name", format_names())
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
