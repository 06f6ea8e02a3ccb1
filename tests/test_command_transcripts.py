"""Commands that hand over the log of an agent get the same cells as `score --logs`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import here
from made_up import EDIT, GREP, PACKAGE, READ, RECALL, Session

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAM = """exam: queries
items:
  - {id: TQ-1, prompt: "Where is it read?", tags: {mode: quick}}
  - {id: TQ-2, prompt: "Who writes it?", tags: {mode: quick}}
"""
LOGS = {
    "Where is it read?": ("TQ-1", Session("Where is it read?").calls(RECALL, GREP).say(PACKAGE)),
    "Who writes it?": ("TQ-2", Session("Who writes it?").calls(READ, RECALL, EDIT).say(PACKAGE)),
}


def write_exam(folder: Path) -> Path:
    exam = folder / "exam.yaml"
    exam.write_text(EXAM, encoding="utf-8")
    return exam


def build_subject(folder: Path, replies: Mapping[str, Any]) -> str:
    """Return a command that prints the reply to each prompt."""
    table = folder / "replies.json"
    table.write_text(json.dumps(replies), encoding="utf-8")
    code = f"import json, sys; print(json.load(open({str(table)!r}))[sys.stdin.read()])"
    return f"cmd:{shlex.join([sys.executable, '-c', code])}"


def run_live(folder: Path, replies: Mapping[str, Any], *words: str) -> Any:
    exam = write_exam(folder)
    subject = build_subject(folder, {prompt: json.dumps(r) for prompt, r in replies.items()})
    store = ("--store", folder / "store.db", "--format", "json", "--retries", "0")
    return here("run", "-r", "context-agent", "-e", exam, "-s", subject, *store, *words).json


def write_logs(folder: Path) -> dict[str, dict[str, Any]]:
    logs = folder / "logs"
    logs.mkdir()
    for item, session in LOGS.values():
        (logs / f"{item}.jsonl").write_text(session.text(), encoding="utf-8")
    return {
        prompt: {"transcript": str(logs / f"{item}.jsonl")} for prompt, (item, _) in LOGS.items()
    }


def select_cells(document: Any) -> dict[str, Any]:
    keys = ("got", "score", "breakdown", "weighted", "latency_ms", "tokens_in", "tokens_out")
    return {row["item"]: {key: row.get(key) for key in keys} for row in document["items"]}


def test_a_live_agent_gets_the_cells_that_its_log_gets(tmp_path: Path) -> None:
    live = run_live(tmp_path, write_logs(tmp_path))
    logged = here(
        *("score", "-r", "context-agent", "-e", write_exam(tmp_path)),
        *("--logs", tmp_path / "logs", "--format", "json"),
    ).json
    assert select_cells(live) == select_cells(logged)
    assert select_cells(live)["TQ-1"]["breakdown"]["S-04"] == 1


def test_a_resumed_run_has_the_same_cells_without_the_logs(tmp_path: Path) -> None:
    first = run_live(tmp_path, write_logs(tmp_path))
    for log in (tmp_path / "logs").iterdir():
        log.unlink()
    again = run_live(tmp_path, {}, "--resume")
    assert select_cells(again) == select_cells(first)


def test_what_the_reply_says_stands_before_what_the_log_says(tmp_path: Path) -> None:
    replies = write_logs(tmp_path)
    said = {"output": "Nothing.", "latency_ms": 1500, "tokens_in": 7, "tokens_out": 8}
    replies["Who writes it?"] |= said
    row = select_cells(run_live(tmp_path, replies))["TQ-2"]
    assert (row["got"], row["latency_ms"], row["tokens_in"], row["tokens_out"]) == (
        *("Nothing.", 1500, 7, 8),
    )


@pytest.mark.parametrize("text", [None, "", "{broken", '{"some": "thing"}'])
def test_a_log_that_cannot_be_read_passes_nothing(text: str | None, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    if text is not None:
        log.write_text(text, encoding="utf-8")
    replies = {prompt: {"transcript": str(log), "output": PACKAGE} for prompt in LOGS}
    for row in run_live(tmp_path, replies)["items"]:
        assert row["score"] is None
        assert all(row["breakdown"][axis] is None for axis in ("S-04", "S-05", "S-06"))


def test_an_answer_with_other_keys_is_an_answer(tmp_path: Path) -> None:
    replies = {prompt: {"transcript": "a.jsonl", "translation": "ate"} for prompt in LOGS}
    row = run_live(tmp_path, replies)["items"][0]
    assert "translation" in row["got"]


@pytest.mark.parametrize("wrong", [{"tokens_in": -1}, {"cost": "free"}, {"output": 3}])
def test_wrong_values_beside_the_log_are_an_error(wrong: dict[str, Any], tmp_path: Path) -> None:
    replies = {prompt: {"transcript": "a.jsonl", **wrong} for prompt in LOGS}
    unanswered = run_live(tmp_path, replies)["live"]["unanswered"]
    assert next(iter(wrong)) in unanswered[0]["error"]["why"]
