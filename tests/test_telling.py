"""What a live run tells while it asks, and at its end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from commands import here, prepared
from markscheme.tell import progress
from markscheme.workflows import live_session as asking

if TYPE_CHECKING:
    from sittings import Sitting


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a line be told five times a second."""
    monkeypatch.setattr(progress, "_PIPE_INTERVAL", 0.2)
    monkeypatch.setattr(asking, "_STATE_INTERVAL_SECONDS", 0.1)


# --- while it asks ---


@pytest.mark.usefixtures("often")
def test_a_pipe_is_told_that_a_subject_is_busy_and_when_it_is_asked_again(sitting: Sitting) -> None:
    sitting.server.room = 0
    done = sitting.asks("1", "2", "3").run("--max-time", "2", "--concurrency", "2")
    line = r"0 of 3 done; openai:m is busy \(\d+ refusals?\), asked again (in \d+ s|now)"
    told = [line for line in done.err.splitlines() if "0 of 3 done" in line]
    assert len(told) > 1
    assert all(re.fullmatch(line, one) for one in told[1:])


@pytest.mark.usefixtures("often")
def test_tries_that_fail_are_told_by_their_kind(sitting: Sitting) -> None:
    words = ("--timeout", "0.3", "--retries", "9", "--max-time", "2")
    done = sitting.asks("hang 1", "hang 2", "fine 3").run(*words)
    *_, last = (line for line in done.err.splitlines() if " of 3 done" in line)
    assert re.match(r"1 of 3 done; \d+ tries failed: timeout; score 1.00, 0 errors, 0.0/s", last)


@pytest.mark.usefixtures("often")
def test_tries_that_failed_in_several_ways_are_counted_one_by_one(sitting: Sitting) -> None:
    words = ("--timeout", "1", "--retries", "9", "--max-time", "5")
    done = sitting.asks("crowded 1", "hang 2").run(*words)
    assert re.search(r"1 of 2 done; \d+ tries failed: busy 1, timeout \d+; score", done.err)


@pytest.mark.usefixtures("often")
def test_what_was_answered_before_makes_no_run_look_fast(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(30)), "hang 30").run("--max-time", "1")
    done = sitting.run("--max-time", "1", "--resume")
    rates = set(re.findall(r"30 of 31 done.* ([0-9.]+)/s", done.err))
    assert rates == {"0.0"}


@pytest.mark.usefixtures("often")
def test_a_server_that_says_nothing_at_all_gets_a_sign_of_life(sitting: Sitting) -> None:
    done = sitting.asks("hang 1", "hang 2").run("--max-time", "1")
    assert "\n0 of 2 done; 2 under way\n" in done.err


@pytest.mark.usefixtures("often")
def test_a_pipe_is_told_how_each_of_two_subjects_does(sitting: Sitting) -> None:
    sitting.server.delay = 0.1
    sitting.asks(*(f"fine {n}" for n in range(12)))
    done = sitting.run("--subject", "openai:b", "--concurrency", "4", "--price", "1:2")
    each = r"{}: \d done, score 1.00( \[1.000, 1.000\])?, 0 errors; "
    both = each.format("openai:m") + each.format("openai:b")
    assert re.search(
        rf"(?m)^\d+ of 24 done, about \d s left; {both}[\d.]+/s, cost [\d.]+$", done.err
    )


# --- at its end ---


@pytest.mark.parametrize(
    ("sent", "code", "why"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_run_that_was_ended_says_so_in_its_document(
    sitting: Sitting, sent: signal.Signals, code: int, why: str
) -> None:
    words = sitting.asks("fine 1", "hang 2").words("--format", "json")
    usual = prepared("import signal as s; s.signal(s.SIGINT, s.default_int_handler)")
    process = subprocess.Popen(
        [*usual, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while len(sitting.server.counts) < 2:
        time.sleep(0.01)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert json.loads(out) == {"error": {"exit_code": code, "message": why, "problems": []}}
    assert err.decode().splitlines()[0] == why
    assert err.count(why.encode()) == err.count(b"markscheme run") == 1


def test_what_the_cache_answers_costs_nothing_and_the_rest_is_still_known(sitting: Sitting) -> None:
    words = ("--cache", "--price", "1000000:0")
    assert sitting.asks("fine 1").json(*words)["live"]["cost"] == "10"
    live = sitting.asks("fine 1", "fine 2").json(*words)["live"]
    assert (live["cached"], live["cost"], live["tokens_in"], live["tokens_out"]) == (1, "10", 10, 5)
    live = sitting.json(*words)["live"]
    assert (live["cached"], live["cost"], live["tokens_in"]) == (2, None, None)


def test_tokens_are_summed_where_every_answer_tells_them(sitting: Sitting) -> None:
    done = sitting.asks("fine 1", "fine 2", "reject 3").run("--tag", "two")
    assert "20 tokens in, 10 tokens out" in done.out
    assert "20 tokens in, 10 tokens out" in here("show", "two", "--store", sitting.store).out
    live = sitting.asks("fine 1", "boast 2").json()["live"]
    assert (live["tokens_in"], live["tokens_out"]) == (None, 10)


def test_questions_without_an_answer_have_no_line(sitting: Sitting) -> None:
    done = sitting.asks("fine 1", "reject 2").run("--attempts", "2", "--tag", "lacking")
    told = "i1, attempt 2: no answer, rejected: the server says 404: no such model"
    where = ("--store", sitting.store)
    report = sitting.folder / "report.md"
    here("report", "lacking", *where, "-o", report)
    shown = here("show", "lacking", *where).out
    for page in (done.out, shown, report.read_text(encoding="utf-8")):
        assert "2 questions without an answer" in page
        assert told in page.replace("\\", "")
        assert "line 2" not in page


def test_a_long_run_says_what_writes_the_rows_that_are_not_shown(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(130)))
    done = sitting.run("--concurrency", "50")
    (run,) = re.findall("stored as run (.*)", done.err)
    assert f"markscheme show {run} -o FILE writes all of them" in done.out
    assert "--format json writes all of them" in sitting.run("--no-store").out


def test_every_question_without_an_answer_is_in_the_document(sitting: Sitting) -> None:
    words = ("--attempts", "2", "--concurrency", "1", "--retries", "0", "--max-time", "2")
    live = sitting.asks("fine 1", "reject 2", "hang 3").json(*words)["live"]
    rows = {(row["item"], row["attempt"]): row for row in live["unanswered"]}
    assert len(rows) == live["questions"] - live["answered"]
    assert sum(row["order"] is None for row in rows.values()) == live["not_asked"] > 0
    ended = {"i1": "rejected", "i2": "timeout"}  # the last hangs until the time is over
    for (item, _), row in rows.items():
        if row["error"] is not None:
            assert (ended[item], 1) == (row["error"]["kind"], row["tries"])


def test_an_endpoint_that_knows_no_schema_is_asked_without_one_next_time(sitting: Sitting) -> None:
    sitting.asks(*(f"schemaless {n}" for n in range(9)))
    words = ("--concurrency", "1", "--format", "json")
    stopped = sitting.run(*words).json["live"]["stopped"]
    assert stopped.endswith("unknown field response_format; --no-structured leaves it out")
    sitting.asks(*(f"reject {n}" for n in range(9)))
    assert "--no-structured" not in sitting.run(*words).json["live"]["stopped"]
