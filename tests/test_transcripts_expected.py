"""Real logs against their expected values, field by field; `-s` shows the table.

The logs and values lie beside the repository and are not part of it. Without them these tests are
skipped; the synthetic logs of `tests/logs` cover the same ground.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from markscheme import Transcript, read_transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGS = Path(__file__).parent.parent.parent / "shared" / "logs"
pytestmark = pytest.mark.skipif(
    not (LOGS / "expected.json").is_file(), reason="the folder with real logs is not there"
)
Row = tuple[str, Any, Any]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((LOGS / "expected.json").read_text(encoding="utf-8"))
    return values


def sample(name: str) -> Transcript:
    return read_transcript(LOGS / "samples" / name)


def compare(name: str, rows: Iterator[Row]) -> int:
    """Print every field with both values; fail where one differs."""
    wrong = []
    compared = 0
    for field, wanted, got in rows:
        compared += 1
        same = wanted == got
        print(f"{name[-44:]:<44} {field:<34} {str(wanted)[:40]:<40} {'=' if same else str(got)}")  # noqa: T201 - the table
        if not same:
            wrong.append((field, wanted, got))
    assert not wrong, name
    assert compared
    return compared


def names(transcript: Transcript, *statuses: str) -> list[str]:
    return [call.name for call in transcript.calls if not statuses or call.status in statuses]


def runs(tools: list[str]) -> str:
    """Write `read glob glob` as the tables do: `read globx2`."""
    out: list[list[Any]] = []
    for name in tools:
        if out and out[-1][0] == name:
            out[-1][1] += 1
        else:
            out.append([name, 1])
    return " ".join(name if n == 1 else f"{name}x{n}" for name, n in out)


def seconds(value: Any) -> float | None:
    return None if value is None else round(float(value), 3)


def claude_rows(wanted: dict[str, Any], got: Transcript) -> Iterator[Row]:
    yield "tools", wanted["tools"], names(got)
    yield "errors", wanted["errors"], names(got, "error", "denied")
    yield "unanswered", wanted["unanswered"], names(got, "none")
    dispatched = [
        got.calls[dispatch.call].name for dispatch in got.dispatches if dispatch.call is not None
    ]
    kinds = [dispatch.kind for dispatch in got.dispatches]
    yield (
        "dispatch",
        wanted["dispatch"],
        [list(pair) for pair in zip(dispatched, kinds, strict=True)],
    )
    files = [(m.name, Path(m.target or "").name) for m in got.mutations if m.name != "Bash"]
    yield "mutations", [tuple(pair) for pair in wanted["mutations"]], files
    shell = [got.calls[m.call].command or "" for m in got.mutations if m.name == "Bash"]
    # The list that was made by hand leaves out `mix format`, which rewrites files.
    listed = [command[:110] for command in shell if command != "mix format"]
    yield "bash_mutations", wanted["bash_mutations"], listed
    yield from token_rows(wanted["tokens"], got)
    prefix = wanted["final_text_prefix"]
    yield "final_text", prefix, (got.final_text or "")[: len(prefix)]
    if "n_prompts" in wanted:
        yield "prompts", wanted["n_prompts"], len(got.prompts)
        first, last = "latency_first_prompt_to_final", "latency_last_turn"
        yield first, wanted[first], seconds(got.latency_s)
        yield last, wanted[last], seconds(got.last_turn_latency_s)
    answered = wanted["ends_with"] == ["text"]
    yield "complete", answered and not wanted["unanswered"], got.complete


def token_rows(wanted: dict[str, int], got: Transcript) -> Iterator[Row]:
    yield "input_uncached", wanted["input_tokens"], got.tokens.input_uncached
    yield "output", wanted["output_tokens"], got.tokens.output
    yield "cache_write", wanted["cache_creation_input_tokens"], got.tokens.cache_write
    yield "cache_read", wanted["cache_read_input_tokens"], got.tokens.cache_read
    yield "output_is_lower_bound", True, got.tokens.output_is_lower_bound


def test_every_claude_code_transcript_says_what_is_expected(expected: dict[str, Any]) -> None:
    found = [name for name in expected if name.startswith("claude-code/")]
    assert len(found) == 8
    for name in found:
        kind = "main" if "main" in expected[name] else "sidechain"
        got = sample(name)
        compare(name, claude_rows(expected[name][kind], got))
        assert got.skipped_lines == expected[name]["bad_lines"]


def test_sums_over_lines_are_not_what_was_used(expected: dict[str, Any]) -> None:
    for name in (name for name in expected if name.startswith("claude-code/")):
        wanted = expected[name].get("main", {})
        if wanted:
            naive = wanted["naive"]["cache_read_input_tokens"]
            assert sample(name).tokens.cache_read != naive, name


def test_inline_sidechains_are_agents_of_their_own(expected: dict[str, Any]) -> None:
    name = "claude-code/ccviewer-5c0375b4-inline-sidechains.jsonl"
    wanted, got = expected[name]["sidechain"], sample(name)
    assert [len(agent.calls) for agent in got.subagents] == [2, 6]
    calls = [call.name for agent in got.subagents for call in agent.calls]
    errors = [name for agent in got.subagents for name in names(agent, "error", "denied")]
    sums = [
        sum(getattr(agent.tokens, field) for agent in got.subagents)
        for field in ("input_uncached", "output", "cache_write", "cache_read")
    ]
    rows = [
        ("calls", wanted["tools"], calls),
        ("errors", wanted["errors"], errors),
        ("tokens", list(wanted["tokens"].values()), sums),
        ("dispatches", ["error", "ok", "ok"], [dispatch.status for dispatch in got.dispatches]),
    ]
    compare(f"{name} sidechains", iter(rows))


def test_the_subagents_folder_is_read_with_its_session() -> None:
    got = sample("claude-code/subagents-layout/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl")
    agent, compaction = got.subagents
    counts = Counter(call.name for call in got.calls)
    rows = [
        (
            "Bash Edit Read Write",
            (120, 67, 37, 6),
            tuple(counts[n] for n in ("Bash", "Edit", "Read", "Write")),
        ),
        (
            "dispatch",
            [("general-purpose", "ok", "aac57f5")],
            [(d.kind, d.status, d.agent) for d in got.dispatches],
        ),
        ("turns", [790.631], [seconds(p.latency_s) for p in got.prompts[1:]]),
        ("agent latency", 32.5, round(float(agent.latency_s or 0), 1)),
        ("agent calls", 12, len(agent.calls)),
        ("internal", (False, True), (agent.internal, compaction.internal)),
        ("compaction", (3, 8, 121689, 17842), tokens(compaction)),
    ]
    compare("subagents-layout", iter(rows))


def tokens(got: Transcript) -> tuple[int | None, ...]:
    used = got.tokens
    return used.input_uncached, used.output, used.cache_write, used.cache_read


def test_every_stream_says_what_is_expected(expected: dict[str, Any]) -> None:
    for name in (name for name in expected if name.startswith("claude-stream-json/")):
        wanted, got = expected[name], sample(name)
        compare(name, stream_rows(wanted, got))
    got = sample("claude-stream-json/gleam-json-result_success.json")
    rows = [
        ("latency", 8.722, seconds(got.latency_s)),
        ("tokens", (38, 765, 31159, 28775), tokens(got)),
        ("final_text", "Here are the files in the current directory.", got.final_text),
        # It says that there were two turns, but not what was called in the first.
        ("complete", False, got.complete),
    ]
    compare("gleam-json-result", iter(rows))


def stream_rows(wanted: dict[str, Any], got: Transcript) -> Iterator[Row]:
    result = wanted.get("result")
    yield "tools", wanted["tools"], runs(names(got))
    yield "errors", wanted["errors"], names(got, "error", "denied")
    yield "denied", wanted.get("denials", []), names(got, "denied")
    yield "unanswered", wanted["unanswered"], names(got, "none")
    changed = [(m.name, Path(m.target or "").name) for m in got.mutations]
    yield "mutations", [tuple(pair) for pair in wanted["mut"]], changed
    yield "final_text", wanted["final"], None if got.final_text is None else got.final_text[:200]
    yield "complete", result is not None, got.complete
    if result is None:
        yield "tokens", (None,) * 4, tokens(got)
        yield "latency", None, got.latency_s
        return
    used = result["modelUsage"]["glm-5.1"]
    keys = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    yield "tokens", tuple(used[key] for key in keys), tokens(got)
    yield "latency", result["duration_ms"] / 1000, seconds(got.latency_s)
    naive = result["usage"]["input_tokens"], wanted["tok_by_msg"]["input_tokens"]
    yield "naive input sums differ", True, got.tokens.input_uncached not in naive


STATUS = {"completed": "ok", "running": "none", "pending": "none", "error": "error"}


def test_every_opencode_stream_says_what_is_expected(expected: dict[str, Any]) -> None:
    for name in (name for name in expected if name.startswith("opencode/")):
        got = sample(name)
        agents = {agent.session: agent for agent in (got, *got.subagents)}
        assert set(agents) == set(expected[name])
        for session, wanted in expected[name].items():
            compare(f"{name} {session[-6:]}", opencode_rows(wanted, agents[session]))


def opencode_rows(wanted: dict[str, Any], got: Transcript) -> Iterator[Row]:
    yield "tools", wanted["tools"], runs(names(got))
    statuses = Counter({STATUS[key]: n for key, n in wanted["status"].items()})
    if wanted["tools"] == "invalid":  # completed to OpenCode, an error by our definition
        statuses = Counter({"error": 1})
    yield "status", statuses, Counter(call.status for call in got.calls)
    dispatched = [(dispatch.kind, dispatch.agent, dispatch.status) for dispatch in got.dispatches]
    yield "dispatch", [(k, a, STATUS[s]) for k, a, s in wanted["dispatch"]], dispatched
    yield "mutations", wanted["mut"], list(got.mutations)
    yield "prompts", wanted["users"], len(got.prompts)
    yield "latency", wanted.get("latency_first"), seconds(got.latency_s)
    yield "last turn", wanted.get("latency_last_turn"), seconds(got.last_turn_latency_s)
    final = wanted.get("final_text")
    yield "final_text", final, None if final is None else (got.final_text or "")[: len(final)]
    yield "complete", wanted.get("finish") == "stop", got.complete
    steps = wanted["tok_steps"]
    used = got.tokens
    yield "input", steps.get("input"), used.input_uncached
    yield (
        "cache",
        (steps.get("cache_read"), steps.get("cache_write")),
        (used.cache_read, used.cache_write),
    )
    yield "reasoning", steps.get("reasoning"), used.reasoning
    yield "output", steps.get("output"), used.output


def test_every_codex_rollout_says_what_is_expected(expected: dict[str, Any]) -> None:
    for name in (name for name in expected if name.startswith("codex/")):
        wanted, got = expected[name], sample(name)
        compare(name, codex_rows(wanted, got))


def codex_rows(wanted: dict[str, Any], got: Transcript) -> Iterator[Row]:
    yield "session", wanted["meta"]["id"], got.session
    yield "tools", wanted["tools"], runs(names(got))
    yield "unanswered", wanted["unanswered"], names(got, "none")
    codes = wanted["exit_codes"]
    yield "ok", codes.get("0", 0), len(names(got, "ok"))
    failed = sum(n for code, n in codes.items() if code not in {"0", "None"})
    yield "errors", failed, len(names(got, "error"))
    yield "mutations", wanted["shell_mut"] + wanted["apply_patch"], len(got.mutations)
    yield "prompts", wanted["prompts"], len(got.prompts)
    yield "latency", wanted["lat_first"], seconds(got.latency_s)
    yield "last turn", wanted["lat_last"], seconds(got.last_turn_latency_s)
    yield "final_text", wanted["final"], (got.final_text or "")[: len(wanted["final"])]
    yield "complete", not wanted["unanswered"], got.complete
    used, sums = got.tokens, wanted["tok_dedup_sum_last"]
    whole = (used.input_uncached or 0) + (used.cache_read or 0)
    yield "input", sums["input_tokens"], whole
    yield "cached", sums["cached_input_tokens"], used.cache_read
    yield "output", sums["output_tokens"], used.output
    yield "reasoning", sums["reasoning_output_tokens"], used.reasoning


def test_a_total_that_was_reset_is_not_what_was_used(expected: dict[str, Any]) -> None:
    name = next(name for name in expected if "0199812e" in name)
    assert sample(name).tokens.output != expected[name]["tok_last_total"]["output_tokens"]


@pytest.mark.parametrize(
    ("number", "calls", "used", "changed", "final"),
    [
        (1, [], (2946, 0, 7), 0, "4"),
        (2, ["command_execution"], (6040, 4992, 129), 0, "Files here"),
        (3, ["file_change"], (6008, 4096, 51), 1, "Created"),
    ],
)
def test_every_codex_run_says_what_is_expected(
    number: int, calls: list[str], used: tuple[int, ...], changed: int, final: str
) -> None:
    got = sample(f"codex/exec-json/stream-output-{number}.jsonl")
    spent = got.tokens
    rows = [
        ("calls", calls, names(got, "ok")),
        (
            "tokens",
            used,
            ((spent.input_uncached or 0) + (spent.cache_read or 0), spent.cache_read, spent.output),
        ),
        ("mutations", changed, len(got.mutations)),
        ("final_text", final, (got.final_text or "")[: len(final)]),
        ("latency", None, got.latency_s),
        ("complete", True, got.complete),
    ]
    compare(f"exec-json {number}", iter(rows))


def test_the_other_formats_say_what_is_expected() -> None:
    compare("sweagent", iter(sweagent_rows()))
    compare("tempo", iter(tempo_rows()))
    compare("inspect browser", iter(inspect_rows()))
    compare("gemini 453aa339", iter(gemini_rows()))


def sweagent_rows() -> list[Row]:
    got = sample("openai-messages/sweagent-function_calling_simple.traj")
    return [
        ("calls", "find_file open edit bash submit", runs(names(got))),
        ("mutations", ["edit"], [mutation.name for mutation in got.mutations]),
        ("times", (None, None), (got.latency_s, got.last_turn_latency_s)),
        ("tokens", (None,) * 4, tokens(got)),
        ("status", {None}, {call.status for call in got.calls}),
    ]


def tempo_rows() -> list[Row]:
    got = sample("otel/agentevals-tempo_export_with_batches.json")
    return [
        ("calls", [("helm_list_releases", "ok")], [(c.name, c.status) for c in got.calls]),
        ("duration", 0.0756, round(float(got.calls[0].seconds or 0), 4)),
        ("dispatches", 0, len(got.dispatches)),
        ("latency", 4.661, seconds(got.latency_s)),
        ("tokens", (4648, 129), (got.tokens.input_uncached, got.tokens.output)),
        ("naive sum differs", True, got.tokens.input_uncached != 9296),
    ]


def inspect_rows() -> list[Row]:
    got = sample("inspect/browser.json")
    used = got.tokens
    return [
        ("calls", "web_browser_go web_browser_clickx3", runs(names(got, "ok"))),
        ("latency", 18.517, seconds(got.latency_s)),
        ("input with cache", 15235, (used.input_uncached or 0) + (used.cache_read or 0)),
        ("cache_read, output", (9088, 281), (used.cache_read, used.output)),
    ]


def gemini_rows() -> list[Row]:
    got = sample("gemini/session-2025-10-29T10-36-453aa339.json")
    used = got.tokens
    return [
        ("calls", "read_file replace read_file", runs(names(got, "ok"))),
        ("latency", 13.096, seconds(got.latency_s)),
        ("input with cache", 21694, (used.input_uncached or 0) + (used.cache_read or 0)),
        ("cached", 4029, used.cache_read),
        ("output, thoughts", (77 + 486, 486), (used.output, used.reasoning)),
    ]
