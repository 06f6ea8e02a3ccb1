"""`markscheme run` against a real server that behaves badly."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from chat_server import HUGE
from commands import here, markscheme
from markscheme import UsageError, __version__, run
from markscheme.ask.pace import Pace, Turn
from sittings import Sitting, faults

CANARY = "sk-canary-5d41402abc4b2a76b9719d91"
SCHEMA_RUBRIC = """\
rubric: objects
version: 1
axes:
  - {name: right, kind: contains_all, weight: 0.9, reads: word, expects: expected_contains}
  - name: shape
    kind: json_schema
    weight: 0.1
    schema:
      type: object
      required: [word]
      properties: {word: {type: string}}
      additionalProperties: false
"""


# --- a server that behaves badly ---


def test_every_item_ends_answered_or_with_its_error_and_the_totals_add_up(sitting: Sitting) -> None:
    bad = ["busy", "crowded", "shaky", "down", "hang", "reset", "half", "latin", "huge", "refuse"]
    more = ["cut", "reject", "empty", "moved", "rubbish", "chunks", "closing", "fine"]
    sitting.asks(*(f"{word} {n}" for n, word in enumerate([*bad, *more])))
    done = sitting.run("--timeout", "0.5", "--retries", "1", "--format", "json")
    document = done.json
    live, summary = document["live"], document["summary"]
    assert done.code == 4
    assert live["questions"] == 18
    assert live["answered"] + sum(live["faults"].values()) == 18
    assert live["not_asked"] == 0
    assert live["faults"] == {
        "broken-off": 1,
        "garbled": 4,
        "rejected": 2,
        "server-error": 1,
        "timeout": 1,
    }
    assert summary["n"] == live["answered"] == 9
    assert summary["errors"] == 9
    assert len(summary["missing"]) == 9
    assert summary["complete"] is False
    asked = {row["item"]: row["asked"] for row in document["items"] if row["asked"]}
    reasons = {item: found["finish_reason"] for item, found in asked.items()}
    assert reasons["i9"] == "refusal"
    assert reasons["i10"] == "length"
    told = "\n".join(error["reason"] for error in document["errors"])
    assert "no answer within 0.5 s" in told
    assert "the server says 503: out of order" in told
    assert "the server says 404: no such model" in told


def test_what_is_transient_is_asked_again_and_what_is_not_is_not(sitting: Sitting) -> None:
    sitting.asks("busy 1", "crowded 2", "shaky 3", "down 4", "reject 5")
    sitting.run("--retries", "2")
    assert sitting.server.counts == {
        "busy 1": 2,
        "crowded 2": 2,
        "shaky 3": 2,
        "down 4": 3,
        "reject 5": 1,
    }


def test_a_server_that_is_overloaded_is_busy(sitting: Sitting) -> None:
    document = sitting.asks("overloaded 1").json("--retries", "0")
    assert document["items"][0]["asked"]["tries"] == 2


def test_a_server_that_names_a_time_is_left_alone_by_all_questions(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet: list[float] = []
    keep_quiet = Pace.keep_quiet

    def noted(pace: Pace, wait: float) -> None:
        quiet.append(wait)
        keep_quiet(pace, wait)

    monkeypatch.setattr(Pace, "keep_quiet", noted)
    assert sitting.asks("restarting 1", "shaky 2", "fine 3").run().code == 0
    assert quiet == [0.5]
    sitting.asks("heavy 1", "fine 2").run()
    sitting.asks("strict 1").run("--stream")
    assert quiet == [0.5]  # nobody needs to wait for what was rejected


def test_a_crowded_server_is_asked_half_as_much_at_once_and_a_broken_one_is_not(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[float] = []
    slow_down = Pace.slow_down

    def noted(pace: Pace, turn: Turn) -> bool:
        slowed = slow_down(pace, turn)
        allowed.append(pace.allowed)
        return slowed

    monkeypatch.setattr(Pace, "slow_down", noted)
    sitting.asks("shaky 1", "late 2").run("--concurrency", "8")
    assert allowed == []
    sitting.asks("down 1").run("--concurrency", "8", "--retries", "2")
    assert allowed == [4, 2, 1]
    assert sitting.server.counts["down 1"] == 3


def test_an_answer_of_five_megabytes_is_an_answer(sitting: Sitting) -> None:
    done = sitting.asks("huge 1").run("--record", sitting.folder / "said.jsonl")
    assert done.code == 0
    (row,) = (sitting.folder / "said.jsonl").read_text().splitlines()
    assert len(json.loads(row)["output"]) == HUGE


def test_a_refusal_is_an_answer_that_is_scored(sitting: Sitting) -> None:
    document = sitting.asks("refuse 1").json()
    (row,) = document["items"]
    assert row["got"] == "I cannot help with that."
    assert row["score"] == 0.03
    assert document["summary"]["complete"] is True


def test_a_streamed_answer_has_the_time_to_its_first_token(sitting: Sitting) -> None:
    document = sitting.asks("stream 1").json("--stream")
    (row,) = document["items"]
    first = row["asked"]["first_token_ms"]
    assert row["got"] == "yes"
    assert 0 < first < row["latency_ms"]
    assert row["tokens_out"] == 2
    assert document["live"]["first_token_ms"]["n"] == 1


def test_a_stream_that_ends_too_soon_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("trickle 1").json("--stream", "--retries", "0")
    assert faults(document) == {"broken-off": 1}


def test_a_stream_that_ends_with_an_error_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("sink 1").json("--stream", "--retries", "0")
    assert faults(document) == {"server-error": 1}
    assert "overloaded" in document["items"][0]["asked"]["error"]["why"]


def test_a_server_that_names_a_day_is_asked_again_in_minutes(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.runner.LONGEST_WAIT", 0.01)
    assert sitting.asks("tomorrow 1").run("--max-time", "20").code == 0


def test_a_packed_answer_is_read(sitting: Sitting) -> None:
    assert sitting.asks("packed 1").json()["items"][0]["got"] == "yes"


def test_an_answer_that_cannot_be_kept_is_no_answer_and_is_asked_again(sitting: Sitting) -> None:
    document = sitting.asks("nul 1").json("--retries", "0")
    assert faults(document) == {"garbled": 1}
    assert sitting.json("--resume")["items"][0]["got"] == "yes"


def test_an_answer_with_tokens_and_cost_beyond_belief_is_still_an_answer(sitting: Sitting) -> None:
    (row,) = sitting.asks("boast 1").json()["items"]
    assert (row["got"], row["tokens_in"], row["tokens_out"], row["cost"]) == ("yes", None, 5, None)


def test_what_cannot_be_kept_is_in_no_latency(sitting: Sitting) -> None:
    document = sitting.asks("fine 1", "nul 2").json("--retries", "0")
    assert document["live"]["faults"] == {"garbled": 1}
    assert document["live"]["latency_ms"]["n"] == document["live"]["answered"] == 1


def test_a_question_without_an_answer_says_how_it_ended(sitting: Sitting) -> None:
    (row,) = sitting.asks("reject 1").json()["items"]
    assert row["status"] == "missing"
    assert row["asked"]["error"] == {
        "kind": "rejected",
        "why": "the server says 404: no such model",
    }


def test_a_server_that_is_not_there_is_an_error_of_every_item(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    sitting.server.url = "http://127.0.0.1:1/v1"
    done = sitting.run("--retries", "0", "--format", "json")
    assert done.code == 4
    assert faults(done.json) == {"unreachable": 2}
    assert done.json["summary"]["score"] is None


def test_a_subject_that_rejects_some_sooner_than_it_answers_others_is_asked_on(
    sitting: Sitting,
) -> None:
    sitting.server.delay = 0.3
    sitting.asks(*(f"{'filtered' if n % 2 else 'fine'} {n}" for n in range(40)))
    live = sitting.json("--concurrency", "40")["live"]
    assert (live["answered"], live["faults"], live["stopped"]) == (20, {"rejected": 20}, None)


def test_what_was_answered_before_is_hope_enough_to_be_asked_on(sitting: Sitting) -> None:
    sitting.asks(*(f"filtered {n}" for n in range(8)), "fine 8", "late 9")
    first = sitting.json("--concurrency", "10", "--retries", "0")["live"]
    assert (first["answered"], first["faults"]) == (1, {"rejected": 8, "server-error": 1})
    again = sitting.json("--concurrency", "1", "--resume")["live"]
    assert (again["answered"], again["faults"], again["stopped"]) == (2, {"rejected": 8}, None)


def test_errors_that_are_not_asked_again_are_told_again(sitting: Sitting) -> None:
    sitting.asks("filtered 0", "fine 1")
    sitting.run("--price", "1000000:0")
    again = sitting.json("--resume", "--price", "1000000:0", "--max-cost", "1")["live"]
    assert (again["faults"], again["not_asked"]) == ({"rejected": 1}, 0)
    assert sitting.server.counts["filtered 0"] == 1


def test_a_subject_that_rejects_everybody_does_not_end_the_run_of_another(
    sitting: Sitting,
) -> None:
    sitting.write("my_good.py", "def answer(prompt):\n    return 'yes'\n")
    sitting.asks(*(f"reject {n}" for n in range(60)))
    words = sitting.words("-s", "cmd:echo yes", "--format", "json")
    bad, good = (run["live"] for run in here(*words).json["runs"])
    assert "rejected the first 5 questions" in bad["stopped"]
    assert (good["answered"], good["stopped"]) == (60, None)


def test_a_budget_that_is_spent_lets_nobody_wait_for_a_turn(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(50)))
    words = ("--price", "1000000:0", "--max-cost", "1", "--requests-per-minute", "60")
    live = sitting.json(*words, "--concurrency", "50")["live"]
    assert (live["answered"], live["not_asked"]) == (1, 49)
    assert sum(sitting.server.counts.values()) == 1


def test_an_answer_that_cannot_be_kept_is_paid_for_all_the_same(sitting: Sitting) -> None:
    sitting.asks("nul 1")
    words = ("--price", "1000000:0", "--max-cost", "1", "--retries", "3")
    live = sitting.json(*words)["live"]
    assert "--max-cost of 1 is spent" in live["stopped"]
    assert sum(sitting.server.counts.values()) == 1


def test_a_subject_that_rejects_everybody_is_not_asked_a_thousand_times(sitting: Sitting) -> None:
    sitting.asks(*(f"reject {n}" for n in range(100)))
    done = sitting.run("--concurrency", "1", "--format", "json")
    assert done.code == 4
    assert sum(sitting.server.counts.values()) == 5
    assert done.json["live"]["not_asked"] == 95
    assert "rejected the first 5 questions" in done.json["live"]["stopped"]


def test_a_limit_of_tokens_that_is_far_away_holds_nobody_up(sitting: Sitting) -> None:
    """The first goes alone, and takes all there are until its answer tells how many it took."""
    sitting.asks(*(f"fine {n}" for n in range(20)))
    live = sitting.json("--tokens-per-minute", "60000", "--max-time", "20")["live"]
    assert (live["answered"], live["stopped"]) == (20, None)


def test_fewer_questions_are_under_way_at_a_server_that_says_it_is_busy(sitting: Sitting) -> None:
    sitting.server.room, sitting.server.delay = 3, 0.02
    done = sitting.asks(*(f"fine {n}" for n in range(60))).run("--concurrency", "24")
    assert done.code == 0
    asked = sum(sitting.server.counts.values())
    assert asked < 60 * 3  # without slowing down, nearly every try meets a full house


# --- what is asked ---


def test_the_schema_of_the_rubric_is_in_the_prompt_and_asked_for(sitting: Sitting) -> None:
    sitting.write("rubric.yaml", SCHEMA_RUBRIC)
    sitting.server.answer = '{"word": "yes"}'
    assert sitting.asks("fine 1").json()["summary"]["score"] == 1.0
    assert sitting.json("--no-structured")["summary"]["score"] == 1.0
    held, free = sitting.server.bodies
    assert held["response_format"]["json_schema"]["strict"] is True
    assert held["response_format"]["json_schema"]["schema"]["required"] == ["word"]
    assert '"required": ["word"]' in held["messages"][0]["content"]
    assert "response_format" not in free


def test_a_parameter_that_an_endpoint_does_not_know_is_left_out(sitting: Sitting) -> None:
    sitting.asks(*(f"strict {n}" for n in range(12)))
    words = ("--stream", "--retries", "0", "--concurrency", "4")
    done = sitting.run(*words, "--format", "json")
    asked = len(sitting.server.bodies)
    assert done.code == 0
    assert done.json["live"]["tries"] == asked
    assert 13 <= asked <= 16
    assert done.err.count("openai:m does not take stream_options: it is left out") == 1
    assert sitting.run(*words, "--resume").code == 0
    assert len(sitting.server.bodies) == asked


def test_a_model_that_wants_another_name_for_the_most_tokens_gets_it(sitting: Sitting) -> None:
    done = sitting.asks("reasoner 1", "reasoner 2").run("--max-tokens", "50", "--concurrency", "1")
    assert done.code == 0
    told = "openai:m does not take max_tokens: max_completion_tokens is sent in its place"
    assert done.err.count(told) == 1
    limits = [(b.get("max_tokens"), b.get("max_completion_tokens")) for b in sitting.server.bodies]
    assert limits == [(50, None), (None, 50), (None, 50)]


def test_a_server_is_told_who_asks(sitting: Sitting) -> None:
    sitting.asks("fine 1").run()
    (headers,) = sitting.server.headers
    assert headers["user-agent"] == f"markscheme/{__version__}"


def test_a_template_and_examples_make_the_prompt(sitting: Sitting) -> None:
    template = sitting.write("t.txt", "Be {brief}.\n---\nQ: {prompt}")
    examples = sitting.write("e.jsonl", '{"prompt": "another", "output": "yes"}\n')
    sitting.asks("fine 1").run("--template", template, "--examples", examples)
    (body,) = sitting.server.bodies
    assert [(turn["role"], turn["content"]) for turn in body["messages"]] == [
        ("system", "Be {brief}."),
        ("user", "Q: another"),
        ("assistant", "yes"),
        ("user", "Q: fine 1"),
    ]


def test_an_example_that_is_an_item_is_refused(sitting: Sitting) -> None:
    examples = sitting.write("e.jsonl", '{"prompt": "fine 1", "output": "yes"}\n')
    done = sitting.asks("fine 1").run("--examples", examples)
    assert done.code == 3
    assert f"{examples}:1: example: is the item `i0` of the exam" in done.err
    assert not sitting.server.counts


def test_marks_of_an_editor_and_rare_line_ends_are_no_part_of_a_prompt(sitting: Sitting) -> None:
    template = sitting.write("template.txt", "\ufeffSay: {prompt}")
    rare = json.dumps({"prompt": "a\u2028b", "output": "c"}, ensure_ascii=False)
    examples = sitting.write("examples.jsonl", f"\ufeff{rare}\r\n")
    done = sitting.asks("fine 1").run("--template", template, "--examples", examples)
    assert done.code == 0
    (request,) = sitting.server.bodies
    said = [turn["content"] for turn in request["messages"]]
    assert said == ["Say: a\u2028b", "c", "Say: fine 1"]


def test_an_example_that_is_an_item_is_refused_however_its_accents_are_written(
    sitting: Sitting,
) -> None:
    shown = json.dumps({"prompt": "¿Comio\u0301?", "output": "yes"})
    done = sitting.asks("¿Comi\u00f3?").run("--examples", sitting.write("shots.jsonl", shown))
    assert done.code == 3
    assert "is the item `i0` of the exam" in done.err


def test_an_example_that_cannot_be_sent_is_refused(sitting: Sitting) -> None:
    examples = sitting.write("examples.jsonl", '{"prompt": "a", "output": "\\ud800"}\n')
    done = sitting.asks("fine 1").run("--examples", examples)
    assert done.code == 3
    assert "examples.jsonl:1: example: holds a lone surrogate" in done.err


def test_a_template_without_the_prompt_is_refused(sitting: Sitting) -> None:
    template = sitting.write("t.txt", "Answer!\n")
    done = sitting.asks("fine 1").run("--template", template)
    assert done.code == 3
    assert "`{prompt}` is missing" in done.err


def test_two_subjects_are_asked_in_turns_and_the_first_speaker_alternates(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2", "fine 3", "fine 4")
    done = sitting.run("--subject", "openai:n", "--concurrency", "1", "--format", "json")
    asked = [model for model, _ in sitting.server.order]
    assert asked == ["m", "n", "n", "m", "m", "n", "n", "m"]
    assert [model for model, _ in sitting.server.order[::2]].count("m") == 2
    one, other = done.json["runs"]
    assert {one["live"]["subject"], other["live"]["subject"]} == {"openai:m", "openai:n"}
    orders = [row["asked"]["order"] for run in (one, other) for row in run["items"]]
    assert sorted(orders) == list(range(8))


def test_the_order_comes_from_the_seed(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(8)))
    for seed in ("1", "1", "2"):
        sitting.run("--concurrency", "1", "--seed", seed)
    orders = [sitting.server.order[start : start + 8] for start in (0, 8, 16)]
    assert orders[0] == orders[1] != orders[2]


def test_the_order_is_that_of_the_exam_however_its_items_are_listed(sitting: Sitting) -> None:
    lines = sitting.asks(*(f"fine {n}" for n in range(9))).exam.read_text("utf-8").splitlines()
    first = {row["item"]: row["asked"]["order"] for row in sitting.json()["items"]}
    sitting.write("exam.yaml", "\n".join([*lines[:2], *lines[:1:-1]]))
    assert {row["item"]: row["asked"]["order"] for row in sitting.json()["items"]} == first


def test_every_attempt_is_asked(sitting: Sitting) -> None:
    document = sitting.asks("fine 1", "fine 2").json("--attempts", "3")
    assert sitting.server.counts == {"fine 1": 3, "fine 2": 3}
    assert sorted(row["attempt"] for row in document["items"]) == [1, 1, 2, 2, 3, 3]


# --- budgets ---


def test_a_run_stops_when_its_budget_is_spent_and_goes_on_later(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    words = ("--price", "100000:100000", "--concurrency", "1")  # 1.5 for an answer
    done = sitting.run(*words, "--max-cost", "4.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["answered"] == 3
    assert done.json["live"]["cost"] == "4.5"
    assert "--max-cost of 4.5 is spent" in done.err
    assert sitting.run(*words, "--resume").code == 0
    assert set(sitting.server.counts.values()) == {1}


def test_a_budget_is_that_of_the_whole_run_however_often_it_is_resumed(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    words = ("--price", "100000:100000", "--concurrency", "1")  # 1.5 for an answer
    sitting.run(*words, "--max-cost", "4.5")
    again = sitting.run(*words, "--max-cost", "4.5", "--resume", "--format", "json")
    assert again.code == 4
    assert again.json["live"]["answered"] == sum(sitting.server.counts.values()) == 3
    assert "--max-cost of 4.5 is spent; allow more to go on" in again.err
    sitting.run(*words, "--max-cost", "6", "--resume")
    assert sum(sitting.server.counts.values()) == 4


def test_attempts_that_were_not_asked_leave_a_run_that_is_not_whole(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    words = ("--price", "100000:100000", "--concurrency", "1", "--attempts", "2")
    done = sitting.run(*words, "--max-cost", "4.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["not_asked"] == 1
    assert done.json["summary"]["complete"] is False
    assert "attempt 2: not asked" in done.json["errors"][0]["reason"]


def test_a_run_without_any_answer_is_still_that_of_its_subject(sitting: Sitting) -> None:
    sitting.asks("down 1").run("--retries", "0")
    (run,) = here("runs", "--store", sitting.store, "--format", "json").json["runs"]
    assert run["subject"] == "openai:m"


def test_a_budget_that_cannot_be_kept_stops_the_run(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(10)))
    done = sitting.run("--max-cost", "1", "--concurrency", "1")
    assert done.code == 4
    assert "does not tell its cost" in done.err
    assert sum(sitting.server.counts.values()) == 1


def test_a_run_that_asked_everything_was_not_stopped(sitting: Sitting) -> None:
    budget = ("--price", "100000:100000", "--max-cost", "4.5")  # 1.5 for an answer
    done = sitting.asks("fine 1", "fine 2", "fine 3").run(*budget, "--format", "json")
    assert (done.code, done.json["live"]["stopped"]) == (0, None)
    live = sitting.asks("fine 1").json("--max-cost", "1", subject="cmd:echo yes")["live"]
    assert (live["answered"], live["stopped"]) == (1, None)
    live = sitting.asks(*(f"reject {n}" for n in range(5))).json()["live"]
    assert (live["faults"], live["stopped"]) == ({"rejected": 5}, None)


def test_a_stop_is_told_of_those_alone_who_were_not_asked_everything(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    words = (
        "--price",
        "100000:100000",
        "--max-cost",
        "4.5",
        "--concurrency",
        "1",
        "-s",
        "openai:b",
    )
    lacking, whole = (run["live"] for run in sitting.json(*words)["runs"])
    assert (lacking["not_asked"], whole["not_asked"]) == (1, 0)
    assert "--max-cost of 4.5 is spent" in lacking["stopped"]
    assert whole["stopped"] is None


def test_errors_that_a_stop_kept_from_being_asked_again_are_told_with_the_stop(
    sitting: Sitting,
) -> None:
    words = ("--price", "1000000:0")
    sitting.asks("filtered 0", "fine 1").run(*words)
    again = sitting.json(*words, "--resume", "--max-cost", "1")["live"]
    assert (again["not_asked"], again["faults"]) == (0, {"rejected": 1})
    assert "--max-cost of 1 is spent" in again["stopped"]


def test_a_run_stops_when_its_time_is_over(sitting: Sitting) -> None:
    sitting.asks("fine 1", "hang 2")
    done = sitting.run("--max-time", "0.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["stopped"] == "--max-time of 0.5 s is over"
    assert done.json["live"]["answered"] == 1


def test_a_run_whose_time_is_over_says_why_what_was_asked_has_no_answer(sitting: Sitting) -> None:
    sitting.asks("down 1", "hang 2", "fine 3")
    live = sitting.json("--max-time", "0.5", "--retries", "99")["live"]
    down, hung = live["unanswered"]
    assert (live["answered"], live["not_asked"]) == (1, 0)
    assert live["faults"] == {"server-error": 1, "timeout": 1}
    assert down["error"]["why"] == "the server says 503: out of order"
    assert hung["error"] == {"kind": "timeout", "why": "no answer before --max-time was over"}
    assert (down["tries"], hung["tries"]) == (sitting.server.counts["down 1"], 1)


def test_a_run_whose_budget_is_spent_says_why_what_was_asked_has_no_answer(
    sitting: Sitting,
) -> None:
    sitting.server.delay = 0.2
    sitting.asks("down 1", "fine 2", *(f"fine {n}" for n in range(3, 9)))
    words = ("--price", "1000000:0", "--concurrency", "8", "--attempts", "2", "--retries", "99")
    document = sitting.json(*words, "--max-cost", "1")
    live, asked = document["live"], sum(sitting.server.counts.values())
    down = [one for one in live["unanswered"] if one["error"]]
    assert {one["error"]["why"] for one in down} == {"the server says 503: out of order"}
    assert live["tries"] == asked
    assert live["answered"] + len(down) + live["not_asked"] == 16
    assert sum(live["faults"].values()) == len(down)
    assert "no answer, server-error: the server says 503" in document["errors"][0]["reason"]
    again = sitting.json(*words[:-1], "0", "--resume")["live"]
    assert (again["answered"], again["not_asked"]) == (14, 0)
    assert sum(sitting.server.counts.values()) > asked + live["not_asked"]


# --- secrets ---


def test_a_key_goes_to_the_server_and_nowhere_else(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.asks("fine 1", "tell 2", "parrot 3")
    said = sitting.folder / "said.jsonl"
    telltale = f"cmd:{sys.executable} -c 'import os; print(os.environ)'"
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("MARKSCHEME_DEBUG", "1")
    outs = [
        markscheme(*sitting.words("--format", "json", "--record", said)),
        markscheme(*sitting.words("--resume")),
        markscheme(*sitting.words(subject=telltale)),
    ]
    assert all(CANARY not in done.out + done.err for done in outs)
    assert "wrong key: bearer [key]" in outs[0].out
    files = [path for path in sitting.folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


def test_no_half_of_a_key_stays_where_an_error_is_cut(sitting: Sitting) -> None:
    sitting.asks("lengthy 1")
    done = sitting.run("--format", "json", OPENAI_API_KEY=CANARY)
    assert CANARY[:5] not in done.out
    key = "os.environ['OPENAI_API_KEY']"
    script = f"import os, sys; sys.exit('x' * 300 + {key} + 'x' * 185)"
    command = f"cmd:{shlex.join([sys.executable, '-c', script])}"
    done = sitting.run("--no-store", "--format", "json", subject=command, OPENAI_API_KEY=CANARY)
    assert CANARY[-9:] not in str(done.json["errors"])


def test_another_key_of_the_environment_is_hidden_too(sitting: Sitting) -> None:
    command = f"cmd:{shlex.join(['sh', '-c', 'echo $OTHER_API_KEY'])}"
    document = sitting.asks("x").json(subject=command, OTHER_API_KEY=CANARY)
    assert document["items"][0]["got"] == "[key]"


def test_a_key_that_cannot_be_one_is_refused_without_being_shown(sitting: Sitting) -> None:
    done = sitting.asks("fine 1").run("--key-env", "MINE", MINE=f"{CANARY}\nx")
    assert done.code == 2
    assert CANARY not in done.err
    assert "look for a blank" in done.err
    assert sitting.run("--key-env", "NOT_SET").code == 2


def test_an_address_with_a_password_is_refused_without_being_shown(sitting: Sitting) -> None:
    sitting.server.url = f"http://me:{CANARY}@127.0.0.1/v1"
    done = sitting.asks("fine 1").run()
    assert done.code == 2
    assert CANARY not in done.err


# --- mistakes ---


def test_every_mistake_of_a_call_is_told_at_once_before_anything_is_asked(sitting: Sitting) -> None:
    shots = sitting.write("shots.jsonl", '{"prompt": "fine 1", "output": "yes"}\nno JSON\n')
    words = sitting.asks("fine 1").words(
        *("-s", "nosuch:x", "-s", "cmd:no-such-command-here", "--template", "nope"),
        *("--examples", shots, "--price", "x", "--tag", "a b", "--record", "answers.txt"),
        *("--no-store", "--resume", "--cache"),
    )
    done = here(*words)
    assert (done.code, done.out) == (2, "")
    told = done.err.splitlines()
    wanted = (
        *("`answers.txt`", "`a b` cannot be a tag", "a tag names one", "--resume", "--cache"),
        *(f"{shots}:1: ", f"{shots}:2: ", "template `nope`", "`x` is no price"),
        *("`nosuch:x` is no subject", "`no-such-command-here`"),
    )
    assert len(told) == len(wanted)
    for line, part in zip(told, wanted, strict=True):
        assert part in line
    error = here(*words, "--format", "json").json["error"]
    assert error["exit_code"] == 2
    assert f"Error: {error['message']}\n" == done.err
    assert [problem["line"] for problem in error["problems"]] == [1, 2]
    assert not sitting.server.counts


def test_mistakes_in_files_alone_are_told_as_those_of_files(sitting: Sitting) -> None:
    shots = sitting.write("shots.jsonl", "no JSON\n")
    template = sitting.write("template.txt", "no place")
    said = sitting.write("said.jsonl", "no JSON\n")
    words = ("--examples", shots, "--template", template, "--format", "json")
    done = sitting.asks("x").run(*words, subject=f"replay:{said}")
    assert done.code == done.json["error"]["exit_code"] == 3
    files = [Path(problem["file"]) for problem in done.json["error"]["problems"]]
    assert files == sorted([shots, template, said])


def test_every_option_that_means_nothing_is_told_and_who_is_named_twice(sitting: Sitting) -> None:
    words = ("-s", "tutor", "--temperature", "0", "--max-tokens", "9", "--key-env", "NONE")
    done = sitting.asks("x").run(*words, subject="tutor")
    assert done.code == 2
    for part in ("--temperature", "--max-tokens", "--key-env", "named twice"):
        assert sum(part in line for line in done.err.splitlines()) == 1


def test_a_mistake_of_the_call_is_told_beside_those_of_a_document(sitting: Sitting) -> None:
    sitting.write("exam.yaml", "exam: questions\nitems: 7\n")
    done = sitting.run("--tag", "a b", "--record", "answers.txt")
    assert done.code == 2
    assert [line.split(" ")[0] for line in done.err.splitlines()][:2] == ["Error:", "`a"]
    assert f"{sitting.exam}:2: items" in done.err


def test_every_setting_that_cannot_be_is_told_at_once() -> None:
    wrong: Any = {"concurrency": "4", "seed": "x", "nosuch": 1}
    with pytest.raises(UsageError, match=r"(?s)`concurrency`.*\n`seed`.*\n`nosuch` is no option"):
        run("tutor-capstone", "capstone", "tutor", **wrong)
