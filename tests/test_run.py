"""`markscheme run` against a real server that behaves badly, and subjects of each kind."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chat_server import HUGE, ChatServer
from commands import RUBRIC, Done, here, markscheme

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


class Sitting:
    """A folder with a rubric, an exam of the prompts, a server, and a store."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder = folder
        self.server = server
        self.store = folder / "store.db"
        self.rubric = self.write("rubric.yaml", RUBRIC)
        self.exam = folder / "exam.yaml"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def asks(self, *prompts: str) -> Sitting:
        entries = "".join(
            f"  - {{id: i{n}, prompt: {json.dumps(prompt)}, expected_contains: ['yes']}}\n"
            for n, prompt in enumerate(prompts)
        )
        self.write("exam.yaml", f"exam: questions\nitems:\n{entries}")
        return self

    def words(self, *words: str | Path, subject: str = "openai:m") -> list[str | Path]:
        fixed: list[str | Path] = ["run", "-r", self.rubric, "-e", self.exam, "--subject", subject]
        url = ["--base-url", self.server.url] if subject.startswith("openai") else []
        return [*fixed, *url, "--store", self.store, *words]

    def run(self, *words: str | Path, subject: str = "openai:m", **env: str) -> Done:
        return here(*self.words(*words, subject=subject), **env)

    def json(self, *words: str | Path, subject: str = "openai:m", **env: str) -> Any:
        return self.run(*words, "--format", "json", subject=subject, **env).json


@pytest.fixture
def sitting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    server = ChatServer()
    server.start()
    return Sitting(tmp_path, server)


def faults(document: Any) -> dict[str, int]:
    found: dict[str, int] = document["live"]["faults"]
    return found


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


def test_a_subject_that_rejects_everybody_is_not_asked_a_thousand_times(sitting: Sitting) -> None:
    sitting.asks(*(f"reject {n}" for n in range(100)))
    done = sitting.run("--concurrency", "1", "--format", "json")
    assert done.code == 4
    assert sum(sitting.server.counts.values()) == 5
    assert done.json["live"]["not_asked"] == 95
    assert "rejected the first 5 questions" in done.json["live"]["stopped"]


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


def test_a_run_stops_when_its_time_is_over(sitting: Sitting) -> None:
    sitting.asks("fine 1", "hang 2")
    done = sitting.run("--max-time", "0.5", "--format", "json")
    assert done.code == 4
    assert done.json["live"]["stopped"] == "--max-time of 0.5 s is over"
    assert done.json["live"]["answered"] == 1


# --- nothing lost, nothing asked twice ---


def test_resume_asks_only_what_is_missing(sitting: Sitting) -> None:
    sitting.asks("fine 1", "down 2", "fine 3")
    first = sitting.run("--retries", "0")
    assert first.code == 4
    assert "--resume" in first.err
    sitting.run("--retries", "0", "--resume")
    assert sitting.server.counts == {"fine 1": 1, "down 2": 2, "fine 3": 1}


def test_without_resume_everything_is_asked_anew(sitting: Sitting) -> None:
    sitting.asks("fine 1")
    for _ in range(2):
        sitting.run()
    assert sitting.server.counts == {"fine 1": 2}


def test_a_changed_rubric_marks_again_without_asking(sitting: Sitting) -> None:
    sitting.asks("fine 1", "fine 2")
    before = sitting.json()["summary"]["score"]
    sitting.write("rubric.yaml", RUBRIC.replace("0.95", "0.90").replace("0.03", "0.08"))
    sitting.server.counts.clear()
    after = sitting.run("--resume", "--format", "json")
    assert after.code == 0
    assert not sitting.server.counts
    assert before == after.json["summary"]["score"] == 1.0
    sitting.asks("fine 1", "fine 2", "fine 3")
    assert sitting.run("--resume").code == 0
    assert sitting.server.counts == {"fine 3": 1}


def test_more_attempts_ask_only_the_new_ones(sitting: Sitting) -> None:
    sitting.asks("fine 1").run("--attempts", "2")
    sitting.run("--attempts", "3", "--resume")
    assert sitting.server.counts == {"fine 1": 3}


def test_another_temperature_is_another_question(sitting: Sitting) -> None:
    sitting.asks("fine 1").run("--temperature", "0")
    sitting.run("--temperature", "1", "--resume")
    assert sitting.server.counts == {"fine 1": 2}


def test_resume_goes_on_with_the_last_sitting_and_not_with_an_older_one(sitting: Sitting) -> None:
    sitting.asks("fine 1", "down 2").run("--retries", "0")
    sitting.asks("fine 1", "fine 3").run()
    sitting.asks("fine 1", "fine 3").run("--resume")
    assert sitting.server.counts["fine 1"] == 2


def test_the_cache_is_off_unless_asked_for_and_knows_attempts(sitting: Sitting) -> None:
    sitting.asks("fine 1")
    sitting.run("--cache", "--attempts", "2")
    assert sitting.server.counts == {"fine 1": 2}
    document = sitting.json("--cache", "--attempts", "2")
    assert sitting.server.counts == {"fine 1": 2}
    assert document["live"]["cached"] == 2
    assert document["live"]["latency_ms"] is None
    sitting.run()
    assert sitting.server.counts == {"fine 1": 3}


def test_a_live_run_is_a_run_like_any_other(sitting: Sitting) -> None:
    done = sitting.asks("fine 1", "fine 2").run("--tag", "first")
    assert done.code == 0
    where = ("--store", sitting.store)
    assert here("baseline", "set", "first", *where).code == 0
    assert here("gate", "first", *where).code == 0
    assert "openai:m" in here("show", "first", *where).out
    assert len(here("runs", *where, "--format", "json").json["runs"]) == 1


def test_the_latency_gate_sees_what_was_measured(sitting: Sitting) -> None:
    gate = "  - {name: fast, level: hard, metric: latency_p50, at_most: 20}\n"
    sitting.write("rubric.yaml", RUBRIC + gate)
    sitting.server.delay = 0.05
    sitting.asks("fine 1", "fine 2").run("--tag", "slow")
    judged = here("gate", "slow", "--store", sitting.store)
    assert judged.code == 1
    assert "fast" in judged.out


def test_a_stored_live_run_is_shown_as_it_was_told(sitting: Sitting) -> None:
    told = sitting.asks("fine 1", "down 2").run("--retries", "0", "--tag", "seen")
    shown = here("show", "seen", "--store", sitting.store)
    latency = next(line for line in told.out.splitlines() if line.startswith("latency, ms: p50"))
    assert latency in shown.out
    assert "errors: server-error 1" in shown.out
    document = here("show", "seen", "--store", sitting.store, "--format", "json").json
    assert faults(document) == {"server-error": 1}


def test_a_recording_scores_the_same_again(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    sitting.asks("fine 1", "down 2", "refuse 3").run("--retries", "0", "--record", said)
    live = sitting.json("--resume", "--retries", "0")["summary"]
    again = sitting.run("--format", "json", subject=f"replay:{said}")
    assert again.code == 4
    assert again.json["summary"]["score"] == live["score"]
    assert faults(again.json) == {"server-error": 1}


KILLED = 3


def test_nothing_is_lost_or_asked_twice_however_often_a_run_is_killed(sitting: Sitting) -> None:
    sitting.server.delay = 0.05
    sitting.asks(*(f"fine {n}" for n in range(60)))
    command = [sys.executable, "-m", "markscheme", *map(str, sitting.words("--concurrency", "5"))]
    for number in range(KILLED):
        durable, asked = noted(sitting.store), sitting.server.counts.copy()
        process = subprocess.Popen([*command, *(["--resume"] if number else [])])
        wanted = sum(asked.values()) + 17
        while sum(sitting.server.counts.values()) < wanted and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not {p for p in durable if sitting.server.counts[p] > asked[p]}
    durable = noted(sitting.store)
    before = sitting.server.counts.copy()
    assert sitting.run("--concurrency", "20", "--resume").code == 0
    assert len(noted(sitting.store)) == 60
    assert not {prompt for prompt in durable if sitting.server.counts[prompt] > before[prompt]}
    assert len(durable) >= KILLED


def noted(store: Path) -> set[str]:
    """Return the prompts whose answers are on disk; each must be there once."""
    if not store.exists():
        return set()
    with closing(sqlite3.connect(store)) as opened:
        rows = opened.execute("SELECT body FROM replies").fetchall()
    items = [json.loads(body)["item"] for (body,) in rows]
    assert len(items) == len(set(items))
    return {f"fine {item[1:]}" for item in items}


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    sitting: Sitting, sent: signal.Signals, code: int
) -> None:
    sitting.asks(*(f"fine {n}" for n in range(3)), "hang 4")
    command = [sys.executable, "-m", "markscheme", *map(str, sitting.words())]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while not (sitting.store.exists() and len(sitting.server.counts) == 4):
        time.sleep(0.01)
    time.sleep(0.2)
    os.killpg(process.pid, sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"go on with: markscheme run" in err
    assert b"--resume" in err
    assert b"Traceback" not in err
    assert len(noted(sitting.store)) == 3


def test_a_full_disk_is_told_and_loses_nothing(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(3)))
    assert sitting.run().code == 0
    sitting.asks(*(f"fine {n}" for n in range(3)), "huge 4")
    limited = (
        "import markscheme.keep.sqlite as s, runpy, sys\n"
        "old = s.SqliteDatabase._set_up\n"
        "def limit(self, patience):\n"
        "    old(self, patience)\n"
        "    self.rows('PRAGMA max_page_count = 200')\n"
        "s.SqliteDatabase._set_up = limit\n"
        "sys.argv[0] = 'markscheme'\n"
        "runpy.run_module('markscheme', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, *map(str, sitting.words("--resume"))],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        b"the disk is full; what was stored before is kept\nonce that is mended, go on with: "
        in done.stderr
    )
    assert done.stderr.rstrip().endswith(b" --resume")
    assert sitting.run("--resume").code == 0
    assert {sitting.server.counts[f"fine {n}"] for n in range(3)} == {1}


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
    script = f"import sys; sys.exit('x' * 300 + {CANARY!r} + 'x' * 185)"
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


# --- subjects of each kind ---


def test_the_bundled_tutor_is_a_subject() -> None:
    done = here("run", "-r", "tutor-capstone", "-e", "capstone", "--subject", "tutor")
    assert done.code == 0
    assert "score 1.00" in done.out


def test_a_command_gets_the_prompt_on_stdin_or_in_its_place(sitting: Sitting) -> None:
    sitting.asks("yes")
    assert sitting.json(subject="cmd:cat")["items"][0]["got"] == "yes"
    assert sitting.json(subject="cmd:echo oh {prompt}")["items"][0]["got"] == "oh yes"


def test_a_command_needs_no_shell_and_its_failure_is_an_error(sitting: Sitting) -> None:
    sitting.asks("$(touch hacked); yes")
    assert sitting.json(subject="cmd:echo {prompt}")["items"][0]["got"] == "$(touch hacked); yes"
    document = sitting.json(subject="cmd:cat /no/such/file")
    assert faults(document) == {"failed": 1}
    assert sitting.run(subject="cmd:no-such-command-here").code == 2


def test_a_command_that_hangs_is_killed(sitting: Sitting) -> None:
    document = sitting.asks("x").json("--timeout", "0.2", "--retries", "0", subject="cmd:sleep 60")
    assert faults(document) == {"timeout": 1}


def test_what_a_command_leaves_behind_ends_with_it(sitting: Sitting) -> None:
    left = sitting.folder / "left"
    script = f"sleep 60 & echo $! > {left}; echo yes"
    words = ("--timeout", "0.5", "--retries", "0", "--format", "json")
    subject = f"cmd:{shlex.join(['sh', '-c', script])}"
    done = markscheme(*sitting.asks("x").words(*words, subject=subject))
    assert faults(done.json) == {"timeout": 1}
    assert "Traceback" not in done.err
    assert not running(int(left.read_text()))


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_never_stops_talking_is_stopped(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.subjects.commands.LARGEST", 100_000)
    assert faults(sitting.asks("x").json(subject="cmd:yes")) == {"too-large": 1}


def test_what_a_function_prints_is_no_part_of_the_document(sitting: Sitting) -> None:
    sitting.write("my_printer.py", "def answer(prompt):\n    print('noise')\n    return 'yes'\n")
    subject = "python:my_printer:answer"
    words = sitting.asks("x").words("--format", "json", subject=subject)
    done = markscheme(*words, cwd=sitting.folder)
    assert done.json["summary"]["n"] == 1
    assert "noise" in done.err


FUNCTIONS = """\
import asyncio, sys
def leaves(prompt):
    sys.exit(3)
def ends(prompt):
    raise StopIteration
async def gives_up(prompt):
    raise asyncio.CancelledError
def not_a_number(prompt):
    return {"word": float("nan")}
class Later:
    async def __call__(self, prompt):
        return "yes"
later_still = Later()
async def later(prompt):
    return "yes"
def now(prompt):
    return {"word": "yes"}
def broken(prompt):
    raise ValueError("no idea")
def odd(prompt):
    return 7
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, {}) for name in ("later", "later_still", "now")),
        *(
            (name, {"failed": 1})
            for name in ("broken", "odd", "leaves", "ends", "gives_up", "not_a_number")
        ),
    ],
)
def test_a_function_is_a_subject(
    sitting: Sitting, name: str, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.write("my_functions.py", FUNCTIONS)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("my_functions", None)
    document = sitting.asks("x").json(subject=f"python:my_functions:{name}")
    assert faults(document) == expected


def test_a_function_that_never_returns_holds_nothing_back(sitting: Sitting) -> None:
    sitting.write("my_sleeper.py", "import time\ndef answer(prompt):\n    time.sleep(600)\n")
    words = ("--timeout", "0.2", "--retries", "0")
    subject = "python:my_sleeper:answer"
    done = markscheme(*sitting.asks("x").words(*words, subject=subject), cwd=sitting.folder)
    assert done.code == 4


@pytest.mark.parametrize(
    "subject",
    ["gpt", "openai:", "python:os", "python:os:no_such", "tutor:bad", "replay:", "local:gpt4"],
)
def test_what_is_no_subject_is_wrong_usage(sitting: Sitting, subject: str) -> None:
    assert sitting.asks("x").run(subject=subject).code == 2


@pytest.mark.parametrize(
    "words", [("--temperature", "1e400"), ("--timeout", "nan"), ("--max-time", "nan")]
)
def test_what_is_no_number_of_use_is_wrong_usage(sitting: Sitting, words: tuple[str, str]) -> None:
    assert sitting.asks("fine 1").run(*words).code == 2


def test_a_rubric_that_can_score_nothing_is_refused_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    sitting.asks("fine 1")
    where = ("--base-url", sitting.server.url)
    done = here("run", "-r", "context-agent", "-e", sitting.exam, "-s", "openai:m", *where)
    assert done.code in {2, 3}
    assert not sitting.server.counts


def test_a_pipe_stays_silent_on_a_short_run(sitting: Sitting) -> None:
    done = sitting.asks("fine 1").run("--no-store")
    assert done.err == ""
