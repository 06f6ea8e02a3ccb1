"""Options of a run: what cannot be is refused before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import here

if TYPE_CHECKING:
    from sittings import Sitting


@pytest.mark.parametrize(
    "words",
    [
        *(("--temperature", "1e400"), ("--timeout", "nan"), ("--max-time", "nan")),
        *(("--max-tokens", "9" * 30), ("--price", "1e999:1"), ("--base-url", "")),
    ],
)
def test_what_is_no_number_of_use_is_wrong_usage(sitting: Sitting, words: tuple[str, str]) -> None:
    assert sitting.asks("fine 1").run(*words).code == 2


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        (("--temperature", "0"), "tutor"),
        (("--max-tokens", "9"), "cmd:cat"),
        (("--price", "1:2"), "cmd:cat"),
        (("--key-env", "MINE"), "tutor"),
        (("--base-url", "http://127.0.0.1:1/v1"), "replay:smollm2-free"),
        (("--base-url", "http://127.0.0.1:1/v1"), "openai:m@http://127.0.0.1:2/v1"),
    ],
)
def test_an_option_that_means_nothing_to_the_subject_is_refused(
    sitting: Sitting, words: tuple[str, str], subject: str
) -> None:
    named = ("-r", sitting.rubric, "-e", sitting.asks("fine 1").exam, "-s", subject)
    done = here("run", *named, "--store", sitting.store, *words, MINE="")
    assert done.code == 2
    assert f"{words[0]} means nothing to" in done.err
    assert not sitting.server.counts


def test_an_option_that_means_nothing_to_one_of_two_subjects_is_told(sitting: Sitting) -> None:
    done = sitting.asks("fine 1").run("--subject", "cmd:cat", "--temperature", "0")
    assert done.err.startswith("--temperature has no effect on cmd:cat\n")
    assert sitting.server.bodies[0]["temperature"] == 0


def test_a_rubric_that_can_score_nothing_is_refused_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    sitting.asks("fine 1")
    where = ("--base-url", sitting.server.url)
    done = here("run", "-r", "context-agent", "-e", sitting.exam, "-s", "openai:m", *where)
    assert done.code in {2, 3}
    assert not sitting.server.counts
