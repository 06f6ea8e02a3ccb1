"""What can be rated: answers, session logs with what the agents did, stored runs, result files."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commands import Done, Project, here
from desks import EACH, Desk
from made_up import EDIT, GREP, PACKAGE, RECALL, TASK, Session
from markscheme.tell.transcript import list_activity
from markscheme.workflows.logs import read_transcript
from terminals import Terminal

if TYPE_CHECKING:
    from pathlib import Path

SCALE = """\
rubric: words
version: 1
axes:
  - {name: right, kind: contains_all, weight: 1, expects: expected_contains}
  - {name: tone, kind: scale, question: 'How kind is it?', anchors: {1: rude, 2: plain, 3: kind}}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def logs(desk: Desk) -> Path:
    """Write the logs of two variants to two queries; the thorough variant dispatches and edits."""
    folder = desk.folder / "logs"
    for item, prompt in (("TQ-1", "one"), ("TQ-2", "two")):
        for variant in ("big", "small"):
            session = Session(prompt, model=f"model-of-{variant}", session=f"{variant}-{item}")
            calls = (RECALL, TASK, GREP, EDIT) if variant == "big" else (RECALL, GREP)
            path = folder / variant / f"{item}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(session.calls(*calls).say(f"{PACKAGE}\n{item}").text())
    return folder


def open_project(desk: Desk, items: int) -> Project:
    folder = desk.folder / "project"
    folder.mkdir()
    return Project(folder, items=items, rubric=SCALE)


def rate(desk: Desk, typed: str, *sources: str | Path, rubric: str = "context-agent") -> Done:
    words = ("-r", rubric, "-o", desk.out, "--rater", "anna", "--lang", "en")
    with mock.patch.object(sys, "stdin", io.StringIO(typed)):
        return here("rate", *words, *sources)


def test_logs_are_rated_and_what_the_agent_did_stands_before_the_note(
    desk: Desk, logs: Path
) -> None:
    done = rate(desk, EACH * 4, "-e", desk.exam, "--logs", logs)
    assert done.code == 0
    assert len(desk.rated) == 24
    assert {row["variant"] for row in desk.rated} == {"big", "small"}
    first = done.out.partition("— answer 2 of 4")[0]
    assert first.index("Q-06") < first.index("what the agent did") < first.index("OP-05")
    assert done.out.count("1 dispatch\n  1. explore · ok · ") == 2
    assert done.out.count("“Look around.”") == 2
    assert done.out.count("mcp__memory__search_nodes") == 4
    assert "model-of" not in done.out
    assert "big" not in done.out


def test_what_the_agent_did_can_be_seen_at_any_scale(desk: Desk, logs: Path) -> None:
    done = rate(desk, "a\nq\n", "-e", desk.exam, "--logs", logs)
    assert done.out.count("what the agent did") == 1


def test_the_screen_shows_what_the_agent_did_at_the_note_and_the_answer_by_a_key(
    desk: Desk, logs: Path
) -> None:
    words = ("-r", "context-agent", "-e", desk.exam, "--logs", logs, "-o", desk.out)
    with Terminal("rate", *words, "--rater", "anna", "--lang", "en") as terminal:
        assert "· a agent" in terminal.wait_for("Q-01")
        assert "mcp__memory__search_nodes" in terminal.press("a", "what the agent did;")
        terminal.press("a", "query and answer")
        terminal.press("444444", "what the agent did;")
        terminal.press("v", "query and answer")
        terminal.press("\r", "answer 2 of 4")


def test_a_log_that_is_not_complete_says_why(desk: Desk, logs: Path) -> None:
    for path in (logs / "small").iterdir():
        path.write_text(path.read_text() + '{"type": "assist')
    done = rate(desk, EACH * 4, "-e", desk.exam, "--logs", logs)
    assert done.out.count("the log is not complete: ") >= 2


def test_a_stray_log_is_named_and_the_others_are_rated(desk: Desk, logs: Path) -> None:
    (logs / "big" / "notes.jsonl").write_text(Session("something else").say("text").text())
    done = rate(desk, EACH * 4, "-e", desk.exam, "--logs", logs)
    assert (done.code, len(desk.rated)) == (0, 24)
    assert "1 log is no answer and is not rated:" in done.err
    assert "notes.jsonl: no item" in done.err


def test_a_folder_with_no_usable_log_is_refused(desk: Desk) -> None:
    folder = desk.folder / "logs"
    folder.mkdir()
    (folder / "notes.jsonl").write_text(Session("something else").say("text").text())
    done = rate(desk, "", "-e", desk.exam, "--logs", folder)
    assert done.code == 3
    assert "notes.jsonl" in done.err


def test_logs_add_what_agents_did_to_recorded_answers(desk: Desk, logs: Path) -> None:
    done = rate(desk, EACH * 4, "-e", desk.exam, "-a", desk.answers, "--logs", logs)
    assert done.code == 0
    assert done.out.count("text ") == 4
    assert done.out.count("what the agent did") == 4
    assert len(desk.rated) == 24


def test_a_log_map_says_which_log_is_what(desk: Desk, logs: Path) -> None:
    rows = [f"big/{item}.jsonl,{item},first" for item in ("TQ-1", "TQ-2")]
    rows += [f"small/{item}.jsonl,{item},second" for item in ("TQ-1", "TQ-2")]
    table = desk.write("map.csv", "\n".join(("log,item,variant", *rows)) + "\n")
    done = rate(desk, EACH * 4, "-e", desk.exam, "--logs", logs, "--log-map", table)
    assert done.code == 0
    assert {row["variant"] for row in desk.rated} == {"first", "second"}


def test_stored_runs_are_rated_with_their_own_exam(desk: Desk) -> None:
    project = open_project(desk, 3)
    runs = [
        project.stored("yes", "no", "yes indeed", subject=subject) for subject in ("big", "small")
    ]
    done = rate(desk, "3\n" * 6, *runs, "--store", project.store, rubric=str(project.rubric))
    assert done.code == 0
    assert done.out.count("yes indeed") == 2
    rated = {(row["item"], row["variant"], row["score"]) for row in desk.rated}
    assert rated == {(item, variant, "3") for item in project.items for variant in ("big", "small")}


def test_runs_of_one_subject_are_told_apart_by_their_names(desk: Desk) -> None:
    project = open_project(desk, 2)
    for tag in ("before", "after"):
        project.score("yes", "no", words=("--tag", tag), subject="m")
    with mock.patch.object(sys, "stdin", io.StringIO("2\n" * 4)):
        words = ("-o", desk.out, "--rater", "anna", "--store", project.store)
        done = here("rate", "before", "after", *words)
    assert done.code == 0
    assert {row["variant"] for row in desk.rated} == {"before", "after"}


def test_result_files_are_rated(desk: Desk) -> None:
    project = open_project(desk, 2)
    files = [project.result("yes", "no", name=f"{name}.json") for name in ("a", "b")]
    done = rate(desk, "1\n" * 4, *files, "-e", project.exam, rubric=str(project.rubric))
    assert done.code == 0
    assert done.out.count("yes") >= 2
    assert len(desk.rated) == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "name what to rate: --answers FILE, --logs DIR, or runs"),
        (("-a", "x.jsonl"), "--exam must be named"),
        (("-a", "x.jsonl", "--log-map", "m.csv"), "--log-map goes with --logs"),
    ],
)
def test_wrong_usage_says_what_is_missing(desk: Desk, words: tuple[str, ...], told: str) -> None:
    done = rate(desk, "", *words)
    assert done.code == 2
    assert told in done.err


def test_a_rubric_without_scales_is_refused(desk: Desk) -> None:
    done = rate(desk, "", "-e", "capstone", "-a", desk.answers, rubric="tutor-capstone")
    assert done.code == 2
    assert "no axis of kind `scale`" in done.err


def test_an_answer_in_two_sources_is_refused(desk: Desk) -> None:
    project = open_project(desk, 2)
    run = project.stored("yes", "no", subject="big")
    answers = project.answers("yes", subject="big")
    sources = (run, "--store", project.store, "-e", project.exam, "-a", answers)
    done = rate(desk, "", *sources, rubric=str(project.rubric))
    assert done.code == 3
    assert "is in another source too" in done.err


def test_a_long_log_is_shown_by_its_first_and_last_calls(desk: Desk) -> None:
    path = desk.folder / "long.jsonl"
    path.write_text(Session("one").calls(*[GREP] * 200).say("done").text())
    lines = list_activity(read_transcript(path))
    assert len(lines) < 70
    assert "  … 140 more calls …" in lines
    assert any(line.startswith("  200  Grep") for line in lines)


def test_what_a_log_says_cannot_steer_the_terminal(desk: Desk) -> None:
    path = desk.folder / "wild.jsonl"
    wild = ("Grep\x1b[2J", {"pattern": "\x1b]0;title\x07\u202e"})
    task = ("Task", {"subagent_type": "x\ny", "prompt": "a\x1b[31m\nb"})
    path.write_text(Session("one").calls(wild, task).say("done").text())
    text = "\n".join(list_activity(read_transcript(path)))
    assert all(c.isprintable() or c == "\n" for c in text)


def test_an_answer_that_names_a_variant_is_told_without_saying_which(desk: Desk) -> None:
    project = open_project(desk, 2)
    rows = [("big", "As Small-2 I say ate."), ("small-2", "a smaller bigness")]
    lines = [json.dumps({"item": "i1", "subject": who, "output": text}) for who, text in rows]
    answers = desk.folder / "named.jsonl"
    answers.write_text("\n".join(lines), encoding="utf-8")
    done = rate(desk, "", "-e", project.exam, "-a", answers, rubric=str(project.rubric))
    assert "1 answer names a variant or a family of models: i1" in done.err
    assert "small-2" not in done.err.lower()


def test_a_tool_that_is_named_for_a_dispatch_or_a_change_is_shown_as_one(tmp_path: Path) -> None:
    calls = [
        {"type": "tool_use", "id": "1", "name": "Task", "input": {"subagent_type": "explore"}},
        {"type": "tool_use", "id": "2", "name": "delete_user", "input": {"id": 7}},
    ]
    messages = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": calls},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id_} for id_ in ("1", "2")],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "There."}]},
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(messages))
    lines = list_activity(read_transcript(path))
    assert lines[:2] == ["1 dispatch", "  1. explore · ok · ?"]
    assert any(line.startswith("!   2  delete_user") for line in lines)
