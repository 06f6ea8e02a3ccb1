"""Subjects: what is one, and what is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import here

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
