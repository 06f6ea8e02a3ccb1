"""A replay says again what a recording holds: answers, errors, and what they took."""

from __future__ import annotations

import json
from typing import Any

import pytest

from markscheme.ask import http as wire
from markscheme.ask import runner
from markscheme.ask.rate_limit import RateLimiter
from sittings import Sitting, faults, importable


def test_errors_and_absent_values_of_a_recording_are_said_again(sitting: Sitting) -> None:
    error = '{"item": "i0", "error": {"kind": "timeout", "why": "too slow"}}'
    fine = '{"item": "i1", "output": "yes", "error": null, "latency_ms": null, "attempt": null}'
    rows = sitting.write("said.jsonl", f"\ufeff{error}\r\n\r\n{fine}")
    document = sitting.asks("x", "y").json(subject=f"replay:{rows}")
    assert faults(document) == {"timeout": 1}
    assert document["summary"]["n"] == 1


TROUBLES = """\
class Said(Exception):
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status
TOLD = {
    "busy": Said(429),
    "timeout": TimeoutError("slow"),
    "unreachable": ConnectionRefusedError("nobody"),
    "broken-off": ConnectionResetError("gone"),
    "server-error": Said(500),
    "rejected": Said(400),
    "failed": ValueError("failed"),
}
first = set()
def answer(prompt):
    kind = prompt.split()[0]
    if kind in TOLD:
        raise TOLD[kind]
    if prompt not in first and kind == "later":
        first.add(prompt)
        raise TOLD["server-error"]
    return "\\0" if kind == "garbled" else "yes"
"""
KINDS = ("busy", "timeout", "unreachable", "broken-off", "server-error", "rejected", "failed")


def alike(document: Any) -> Any:
    """Return of a document what a replay of its recording must tell again."""
    asked = ("tries", "finish_reason", "first_token_ms", "cached", "error")
    items = [
        {**row, "subject": None, "asked": row["asked"] and {k: row["asked"][k] for k in asked}}
        for row in document["items"]
    ]
    names = ("answered", "cached", "faults", "not_asked", "tries", "finish_reasons", "latency_ms")
    more = ("first_token_ms", "tokens_in", "tokens_out", "cost")
    live = {name: document["live"][name] for name in (*names, *more)}
    return items, live, [error["reason"] for error in document["errors"]]


def test_errors_of_every_kind_are_replayed_as_they_were_and_at_once(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(runner, "_MAX_FREE_TRIES", 2)
    importable(sitting, "my_troubles", TROUBLES, monkeypatch)
    sitting.asks(*(f"{kind} 1" for kind in KINDS), "garbled 1", "later 1", "fine 1", "fine 2")
    said = sitting.folder / "said.jsonl"
    words = ("--record", said, "--retries", "2", "--attempts", "2", "--no-store")
    before = sitting.json(*words, subject="python:my_troubles:answer")
    assert set(before["live"]["faults"]) == {*KINDS, "garbled"}
    monkeypatch.setattr(RateLimiter, "keep_quiet", None)
    monkeypatch.setattr(RateLimiter, "sleep_unless_closed", None)
    again = sitting.json("--no-store", "--attempts", "2", subject=f"replay:{said}")
    assert alike(again) == alike(before)


def test_what_an_endpoint_measured_and_a_cache_kept_is_replayed(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "LARGEST", 100_000)
    words = ("--price", "0.15:0.6", "--cache", "--stream", "--retries", "1", "--timeout", "2")
    sitting.asks("fine 1").run(*words)
    said = sitting.folder / "said.jsonl"
    prompts = ("cut 3", "nul 4", "stream 5", "half 6", "shaky 7", "refuse 8", "huge 9")
    sitting.asks("fine 1", "fine 2", *prompts)
    before = sitting.json(*words, "--record", said)
    assert (before["live"]["cached"], before["live"]["faults"]) == (
        1,
        {"garbled": 1, "too-large": 1},
    )
    assert before["live"]["cost"] is not None
    again = sitting.json("--no-store", "--max-cost", "1", subject=f"replay:{said}")
    assert alike(again) == alike(before)


def test_a_recording_is_played_to_its_end_however_busy_or_strict_it_was(sitting: Sitting) -> None:
    kinds = ["rejected"] * 6 + ["busy"] * 60 + ["unreachable"] * 6
    rows = [{"item": f"i{n}", "error": {"kind": kind, "why": ""}} for n, kind in enumerate(kinds)]
    rows.append({"item": f"i{len(kinds)}", "output": "yes"})
    said = sitting.write("said.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    sitting.asks(*(str(n) for n in range(len(rows))))
    live = sitting.json("--max-time", "20", "--concurrency", "1", subject=f"replay:{said}")["live"]
    assert live["faults"] == {"busy": 60, "rejected": 6, "unreachable": 6}
    assert (live["tries"], live["answered"], live["stopped"]) == (len(rows), 1, None)


def test_a_price_is_put_on_recorded_tokens_and_not_on_a_recorded_cost(sitting: Sitting) -> None:
    tokens = '"output": "yes", "tokens_in": 10, "tokens_out": 5'
    rows = f'{{"item": "i0", {tokens}}}\n{{"item": "i1", {tokens}, "cost": 2}}\n'
    said = sitting.write("said.jsonl", rows + f'{{"item": "i2", {tokens}, "cached": true}}\n')
    words = ("--price", "100000:100000", "--max-cost", "9")  # 1.5 for an answer
    document = sitting.asks("x", "y", "z").json(*words, subject=f"replay:{said}")
    assert (document["live"]["cost"], document["live"]["stopped"]) == ("3.5", None)
    assert [row["cost"] for row in document["items"]] == [1.5, 2, None]


@pytest.mark.parametrize(
    ("tokens", "words", "told"),
    [
        ("", (), "the subject tells neither its cost nor its tokens"),
        ("", ("--price", "1:2"), "the subject tells neither its cost nor its tokens"),
        (
            ', "tokens_in": 3, "tokens_out": 4',
            (),
            "the subject does not tell its cost; see --price",
        ),
    ],
)
def test_a_price_is_advised_only_where_it_would_help(
    sitting: Sitting, tokens: str, words: tuple[str, ...], told: str
) -> None:
    rows = (f'{{"item": "i{n}", "output": "yes"{tokens}}}\n' for n in range(3))
    said = sitting.write("said.jsonl", "".join(rows))
    sitting.asks("x", "y", "z")
    words = (*words, "--max-cost", "1", "--concurrency", "1")
    live = sitting.json(*words, subject=f"replay:{said}")["live"]
    assert (live["answered"], live["stopped"]) == (1, f"--max-cost cannot be kept: {told}")


def test_what_was_not_asked_took_no_try_in_a_replay_either(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    words = ("--max-cost", "1", "--concurrency", "1", "--record", said)
    before = sitting.asks("x", "y", "z").json(*words, subject="cmd:echo yes")["live"]
    assert (before["not_asked"], before["tries"]) == (2, 1)
    again = sitting.json(subject=f"replay:{said}")["live"]
    assert (again["faults"], again["tries"], again["answered"]) == ({"failed": 2}, 1, 1)
