"""What is asked again, and what is not: with --resume, from the cache, and anew."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from commands import RUBRIC, here
from markscheme.keep import JournalSession as Asked
from markscheme.keep import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from sittings import Sitting


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


def test_resume_goes_on_with_the_last_sitting_and_not_with_an_older_one(sitting: Sitting) -> None:
    sitting.asks("fine 1", "down 2").run("--retries", "0")
    sitting.asks("fine 1", "fine 3").run()
    sitting.asks("fine 1", "fine 3").run("--resume")
    assert sitting.server.counts["fine 1"] == 2


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
        (known,) = store.journal._database.fetch_rows(
            "SELECT subject, exam, parameters FROM sittings"
        )
        subject, exam, parameters = known
        store.journal.create_session(
            Asked(subject=subject, exam=exam, parameters=json.loads(parameters))
        )
    sitting.run("--retries", "0", "--resume")
    assert sitting.server.counts["fine 1"] == asked == 1


def test_who_resumes_where_nothing_was_answered_is_told_before_all_is_asked(
    sitting: Sitting,
) -> None:
    assert "nothing to go on with" not in sitting.asks("fine 0").run().err
    assert "nothing to go on with" not in sitting.run("--resume").err
    done = sitting.run("--resume", "--temperature", "1", "--format", "json")
    assert "nothing to go on with: the store holds no answer to any of the 1 questions" in done.err
    assert done.json["live"]["answered"] == 1


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


def test_answers_that_cannot_be_scored_are_not_to_be_asked_again(tmp_path: Path) -> None:
    words = ("-r", "context-agent", "-e", "context-queries", "--subject", "tutor")
    done = here("run", *words, "--store", tmp_path / "store.db")
    assert done.code == 4
    assert "5 of 5 questions answered" in done.out
    assert done.err.splitlines()[1:] == ["not every answer could be scored"]


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


def test_a_live_run_goes_on_in_either_database(place: str) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store", place)
    first, again = here(*words), here(*words, "--resume", "--format", "json")
    assert (first.code, again.code) == (0, 0)
    with open_store(place, create=False) as store:
        assert len(store.journal.read_entries(again.json["live"]["sitting"])) == 20
        assert len(store.list_runs()) == 2
