"""Nothing lost, nothing asked twice: what users, signals and other processes do to a live run."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands import RUBRIC, here, prepared
from markscheme.keep import Sitting as Asked
from markscheme.keep import open_store
from sittings import faults, noted

if TYPE_CHECKING:
    from sittings import Sitting

# Sends signals where asyncio has taken the next step of a task of ours and has not made it yet.
STOPPED = """\
import asyncio, os, signal, sys, threading
def stopped(*signals):
    begun = threading.Event()
    def hit(frame, event, _):
        if event == "call" and frame.f_code is asyncio.Handle._run.__code__ and begun.is_set():
            sys.setprofile(None)
            for one in signals:
                os.kill(os.getpid(), one)
    async def answer(prompt):
        begun.set()
        await asyncio.sleep(60)
    sys.setprofile(hit)
    return answer
SIGNALS = {
    "ctrl_c": [signal.SIGINT],
    "twice": [signal.SIGINT, signal.SIGINT],
    "terminated": [signal.SIGTERM],
    "terminated_twice": [signal.SIGTERM, signal.SIGTERM],
}
def __getattr__(name):
    return stopped(*SIGNALS[name])
async def stubborn(prompt):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("ctrl_c", 130),
        ("twice", 130),
        ("terminated", 143),
        ("terminated_twice", 143),
        ("stubborn", 130),
    ],
)
def test_a_signal_ends_a_run_whatever_the_loop_is_doing(
    sitting: Sitting,
    how: str,
    code: int,
) -> None:
    sitting.write("my_stops.py", STOPPED)
    words = sitting.asks("1", "2").words("--concurrency", "1", subject=f"python:my_stops:{how}")
    usual = prepared("import signal as s; s.signal(s.SIGINT, s.default_int_handler)")
    done = subprocess.run(
        [*usual, *map(str, words)],
        cwd=sitting.folder,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert done.stderr.count(b"markscheme run") == 1
    assert b"Traceback" not in done.stderr


def test_a_closed_terminal_ends_what_was_started_too(sitting: Sitting) -> None:
    sitting.write("agent.sh", "echo $$ > pid\nexec sleep 600\n")
    words = sitting.asks("1").words(subject="cmd:sh agent.sh")
    usual = prepared("import signal as s; s.signal(s.SIGHUP, s.SIG_DFL)")  # also under `nohup`
    process = subprocess.Popen(
        [*usual, *map(str, words)],
        cwd=sitting.folder,
        stderr=subprocess.PIPE,
    )
    started = sitting.folder / "pid"
    while not (started.exists() and started.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    process.stderr.close()  # type: ignore[union-attr] # nobody reads any more
    assert process.wait(timeout=60) == 129
    assert not Path(f"/proc/{started.read_text().strip()}").exists()


def test_ctrl_c_before_anything_began_shows_no_traceback(tmp_path: Path) -> None:
    """Sent while the first module of ours is loaded."""
    sending = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Sent:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'markscheme.cli.main':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Sent())"
    )
    done = subprocess.run(
        [*prepared(sending), "runs"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_who_no_longer_reads_the_progress_costs_no_answer(sitting: Sitting) -> None:
    words = sitting.asks(*(f"fine {n}" for n in range(20))).words("--format", "json")
    often = prepared("import markscheme.tell.progress as p; p._EVERY = 1e-9")
    process = subprocess.Popen(
        [*often, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stderr.close()
    document = json.loads(process.stdout.read())
    process.stdout.close()
    assert process.wait() == 0
    assert document["summary"]["n"] == len(noted(sitting.store)) == 20


def test_nobody_is_asked_while_the_store_takes_no_answer(sitting: Sitting) -> None:
    many = 500
    sitting.asks("fine 0").run()
    sitting.asks(*(f"fine {n}" for n in range(many)))
    command = prepared("import markscheme.keep as k; k.open_store.__kwdefaults__['patience'] = 2")
    sitting.server.delay = 0.005
    words = map(str, sitting.words("--resume", "--concurrency", "5"))
    process = subprocess.Popen([*command, *words], stderr=subprocess.PIPE)
    while len(noted(sitting.store)) < 10:
        time.sleep(0.01)
    with closing(sqlite3.connect(sitting.store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        _, err = process.communicate(timeout=60)
    kept = noted(sitting.store)
    assert process.returncode == 2
    assert b"is locked by another process" in err
    assert b"markscheme run" in err
    assert b"Traceback" not in err
    assert sum(sitting.server.counts.values()) <= len(kept) + 5 * 3
    asked = sitting.server.counts.copy()
    assert sitting.run("--resume").code == 0
    assert not {prompt for prompt in kept if sitting.server.counts[prompt] > asked[prompt]}


def test_what_another_process_is_asking_is_not_asked_by_a_second(place: str) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store", place)
    first = here(*words, "--format", "json").json["live"]["sitting"]
    with open_store(place, create=False) as other:
        other.sittings.take(first)
        done = here(*words, "--resume")
        assert done.code == 2
        assert f"another process asks the same just now (sitting {first})" in done.err
        assert here(*words).code == 0  # anew is another sitting
    assert here(*words, "--resume").code == 0


def test_nothing_is_left_beside_a_store_and_a_killed_run_holds_nobody_off(
    sitting: Sitting,
) -> None:
    words = [*map(str, sitting.asks("fine 1", "hang 2").words())]
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *words])
    while len(sitting.server.counts) < 2:
        time.sleep(0.01)
    assert sitting.run("--resume").code == 2
    process.kill()
    process.wait()
    sitting.asks("fine 1")
    assert sitting.run("--resume").code == 0
    assert [path.name for path in sitting.folder.glob("store.db*")] == ["store.db"]


def test_the_command_to_go_on_with_can_be_pasted_anywhere(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = sitting.asks("fine 1", "down 2").words("--retries", "0")
    words = [word for word in words if word not in {"--store", sitting.store}]
    monkeypatch.setenv("MARKSCHEME_STORE", str(sitting.folder / "it's mine.db"))
    command = [sys.executable, "-m", "markscheme", *map(str, words)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    monkeypatch.delenv("MARKSCHEME_STORE")
    pasted = told.rpartition("go on with: ")[2]
    again = subprocess.run(pasted, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert "going on: 1 of 2 questions have their answer since" in again.stderr
    assert sitting.server.counts["fine 1"] == 1


def test_how_to_go_on_is_told_without_the_password_of_the_store(postgres_url: str) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "--store", postgres_url)
    nobody = "openai:m@http://127.0.0.1:9/v1"
    done = here(*words, "-s", "cmd:false", "-s", nobody, "--retries", "0")
    password = postgres_url.rpartition("@")[0].rpartition(":")[2]
    assert password
    assert done.code == 4
    assert f"{postgres_url.replace(password, 'PASSWORD')} " in done.err
    assert f"{nobody} --retries 0 --resume" in done.err
    assert password not in done.err


def test_an_exam_by_another_name_or_with_another_file_asks_only_what_is_new(
    sitting: Sitting,
) -> None:
    sitting.asks("fine 0", "fine 1").run()
    sitting.exam.write_text(sitting.exam.read_text().replace("exam: questions", "exam: renamed"))
    sitting.run("--resume")
    more = "exam: more\nitems:\n  - {id: m2, prompt: fine 2, expected_contains: ['yes']}\n"
    for _ in range(2):
        assert sitting.run("--resume", "-e", sitting.write("more.yaml", more)).code == 0
    assert sitting.server.counts == {"fine 0": 1, "fine 1": 1, "fine 2": 1}


def test_another_exam_does_not_go_on_with_a_sitting_that_is_not_its_own(
    sitting: Sitting,
) -> None:
    first = sitting.asks("fine 0").json()["live"]["sitting"]
    other = "exam: other\nitems:\n  - {id: o, prompt: fine 0, expected_contains: ['yes']}\n"
    sitting.exam.write_text(other)
    assert sitting.json("--resume")["live"]["sitting"] != first
    assert sitting.server.counts == {"fine 0": 2}


def test_where_nothing_can_be_said_any_more_the_exit_code_is_no_verdict(tmp_path: Path) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store")
    command = [sys.executable, "-m", "markscheme", *words, str(tmp_path / "store.db")]
    with Path("/dev/full").open("wb") as full:  # like a terminal that is gone
        done = subprocess.run(command, stdout=full, stderr=full, check=False)
    assert done.returncode == 2


def test_who_resumes_where_nothing_was_answered_is_told_before_all_is_asked(
    sitting: Sitting,
) -> None:
    assert "nothing to go on with" not in sitting.asks("fine 0").run().err
    assert "nothing to go on with" not in sitting.run("--resume").err
    done = sitting.run("--resume", "--temperature", "1", "--format", "json")
    assert "nothing to go on with: the store holds no answer to any of the 1 questions" in done.err
    assert done.json["live"]["answered"] == 1


# --- what is asked again, and what is not ---


def test_a_run_that_broke_off_is_in_the_list_and_is_the_latest(sitting: Sitting) -> None:
    sitting.asks("fine 1")
    assert sitting.run().code == 0
    sitting.asks("hang 2")
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *map(str, sitting.words())])
    while not sitting.server.counts["hang 2"] or len(stored(sitting)) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    newest, oldest = stored(sitting)
    assert (newest["status"], oldest["status"]) == ("open", "finished")
    gate = here("gate", "latest", "--store", sitting.store)
    assert gate.code == 4
    assert "the run is not finished" in gate.out


def test_a_tag_names_the_run_that_broke_off_and_no_older_one(sitting: Sitting) -> None:
    assert sitting.asks("fine 1").run("--tag", "nightly").code == 0
    words = [*map(str, sitting.asks("hang 2").words("--tag", "nightly"))]
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *words])
    while not sitting.server.counts["hang 2"] or len(stored(sitting)) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert here("gate", "nightly", "--store", sitting.store).code == 4


def stored(sitting: Sitting) -> list[dict[str, str]]:
    found: list[dict[str, str]] = here("runs", "--store", sitting.store, "--format", "json").json[
        "runs"
    ]
    return found


def test_resume_goes_on_where_another_template_was_asked_in_between(sitting: Sitting) -> None:
    other = sitting.write("other.txt", "again: {prompt}")
    sitting.asks("fine 1", "down 2").run("--retries", "0")
    sitting.run("--retries", "0", "--template", other)
    done = sitting.run("--retries", "0", "--resume")
    assert sitting.server.counts["fine 1"] == 1
    assert "going on: 1 of 2 questions have their answer" in done.err


def test_a_start_that_came_to_nothing_does_not_replace_what_was_answered(
    sitting: Sitting,
) -> None:
    sitting.asks("fine 1", "down 2").run("--retries", "0")
    asked = sitting.server.counts["fine 1"]
    with open_store(sitting.store, create=False) as store:
        (known,) = store.sittings._database.rows("SELECT subject, exam, parameters FROM sittings")
        subject, exam, parameters = known
        store.sittings.begin(Asked(subject=subject, exam=exam, parameters=json.loads(parameters)))
    sitting.run("--retries", "0", "--resume")
    assert sitting.server.counts["fine 1"] == asked == 1


def test_who_does_not_wait_twice_neither_doubles_nor_loses_what_is_being_kept(
    sitting: Sitting,
) -> None:
    """Signals come while a slow disk takes a commit."""
    slow = (
        "import time\n"
        "from markscheme.keep.sittings import Sittings\n"
        "note = Sittings.note\n"
        "def slowly(self, notes):\n"
        "    note(self, notes)\n"
        "    time.sleep(2)\n"
        "Sittings.note = slowly"
    )
    words = sitting.asks(*(f"fine {n}" for n in range(4)), "hang 4").words()
    process = subprocess.Popen([*prepared(slow), *map(str, words)], stderr=subprocess.PIPE)
    while len(sitting.server.counts) < 5:
        time.sleep(0.01)
    time.sleep(0.5)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.7)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert noted(sitting.store) == {f"fine {n}" for n in range(4)}


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


@pytest.mark.parametrize("body", ["{}", '{"fault": "busy"}', "[]", "{"])
def test_a_damaged_answer_of_the_cache_is_a_damaged_store(sitting: Sitting, body: str) -> None:
    sitting.asks("fine 1").run("--cache")
    with closing(sqlite3.connect(sitting.store)) as opened, opened:
        opened.execute("UPDATE cached SET body = ?", [body])
    done = sitting.run("--cache")
    assert done.code == 3
    assert "is damaged" in done.err


@pytest.mark.parametrize("words", [(), ("--format", "json")], ids=["text", "json"])
def test_a_record_that_cannot_be_written_hides_nothing_of_the_run(
    sitting: Sitting, words: tuple[str, ...]
) -> None:
    folder = sitting.folder / "gone"
    folder.mkdir()
    record = ("--record", folder / "said.jsonl")
    done = sitting.asks("fine 1").run(*record, *words, subject=f"cmd:rmdir {folder}")
    assert done.code == 2
    assert done.err.index("stored as run") < done.err.index("said.jsonl` cannot be written")
    assert done.json["items"] if words else "right" in done.out


@pytest.mark.parametrize("option", ["--template", "--examples", "--subject"])
def test_a_record_does_not_replace_what_is_read(sitting: Sitting, option: str) -> None:
    text = '{"prompt": "{prompt}", "item": "i0", "output": "yes"}\n'
    mine = sitting.write("mine.jsonl", text)
    named = f"replay:{mine}" if option == "--subject" else mine
    done = sitting.asks("fine 1").run(option, named, "--record", mine)
    assert done.code == 2
    assert "mine.jsonl` is an input of this run" in done.err
    assert mine.read_text(encoding="utf-8") == text


def test_a_record_of_a_run_that_is_not_whole_scores_as_one_that_is_not(sitting: Sitting) -> None:
    mine = sitting.folder / "mine.jsonl"
    spent = ("--price", "1000000:0", "--max-cost", "0.5", "--concurrency", "1")
    done = sitting.asks("fine 1").run("--attempts", "3", *spent, "--record", mine)
    assert done.code == 4
    rows = [json.loads(line) for line in mine.read_text(encoding="utf-8").splitlines()]
    assert [row.get("error", {}).get("why") for row in rows] == [None, *["it was not asked"] * 2]
    scored = here("score", "-r", sitting.rubric, "-e", sitting.exam, "-a", mine, "--no-store")
    assert scored.code == 4


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
    assert b"markscheme run" in err
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
    assert b"the disk is full; what was stored before is kept\nthen go on with: " in done.stderr
    assert done.stderr.rstrip().endswith(b" --resume")
    assert sitting.run("--resume").code == 0
    assert {sitting.server.counts[f"fine {n}"] for n in range(3)} == {1}


def test_answers_that_cannot_be_scored_are_not_to_be_asked_again(tmp_path: Path) -> None:
    words = ("-r", "context-agent", "-e", "context-queries", "--subject", "tutor")
    done = here("run", *words, "--store", tmp_path / "store.db")
    assert done.code == 4
    assert "5 of 5 questions answered" in done.out
    assert done.err.splitlines()[1:] == ["not every answer could be scored"]
