"""Options of a run: what cannot be is refused before anything is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import here, prepared
from markscheme import UsageError, run

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


def test_more_questions_at_a_time_than_files_may_be_open_are_refused(sitting: Sitting) -> None:
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))"
    words = sitting.asks(*(f"fine {n}" for n in range(99))).words("--concurrency", "99")
    done = subprocess.run(
        [*prepared(limited), *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "take more open files than the 100 allowed here; lower --concurrency" in done.stderr
    assert not sitting.server.counts


def test_a_limit_of_open_files_that_may_be_raised_is_raised(sitting: Sitting) -> None:
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, 2000))"
    sitting.server.delay = 0.5  # so that all are under way at once
    words = sitting.asks(*(f"fine {n}" for n in range(150))).words("--concurrency", "150")
    done = subprocess.run([*prepared(limited), *map(str, words)], check=False, timeout=60)
    assert done.returncode == 0
    assert sitting.server.most_running > 100
