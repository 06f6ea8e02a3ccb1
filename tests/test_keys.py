"""Keys go to the subject and nowhere else, wherever they come from."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import Done, here, markscheme
from markscheme import run
from markscheme.ask.http import HttpAddress
from markscheme.ask.replies import Reply
from markscheme.ask.secrets import Secrets, environment_secrets
from markscheme.vocabulary import UsageError
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.run_plan import Settings, build_run_plan

if TYPE_CHECKING:
    from pathlib import Path

    from sittings import Sitting

CANARY = "sk-canary-5d41402abc4b2a76b9719d91"
NOBODY = "http://127.0.0.1:1/v1"
COMMAND = f"cmd:{sys.executable} -c 'print(1)' --key"


def leaks(sitting: Sitting, *outs: Done) -> list[str]:
    """Name every file and stream that holds the key, or the beginning of it."""
    files = [path for path in sitting.folder.rglob("*") if path.is_file()]
    told = [path.name for path in files if CANARY[:14].encode() in path.read_bytes()]
    return told + [stream for done in outs for stream in (done.out, done.err) if CANARY in stream]


# --- which they are ---


@pytest.mark.parametrize(
    "name",
    [
        "OTHER_API_KEY",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "AZURE_OPENAI_KEY",
        "LLM_KEY",
        "apikey",
        "PGPASSWORD",
        "CLIENT_SECRET",
        "KEY_OF_MINE",
        "GITHUB_TOKEN_2",
    ],
)
def test_a_variable_that_is_named_like_a_key_holds_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, CANARY)
    assert environment_secrets().redact(f"no such key: {CANARY}") == "no such key: [key]"


@pytest.mark.parametrize("name", ["KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEYS", "SECRETARY"])
def test_a_variable_that_is_named_otherwise_does_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, CANARY)
    assert CANARY not in environment_secrets().keys


def test_a_plain_word_and_a_file_that_is_there_are_no_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "a-private-key-of-mine.pem"
    place.touch()
    monkeypatch.setenv("TOKEN_KIND", "bearer")
    monkeypatch.setenv("SSL_KEY", str(place))
    monkeypatch.setenv("LOST_KEY", f"{place}.gone")
    assert environment_secrets().redact(f"bearer {place}") == f"bearer {place}"
    assert environment_secrets().redact(f"{place}.gone") == "[key]"


def test_a_name_holds_a_short_key_only_by_chance_if_it_is_a_plain_word() -> None:
    keys = Secrets.from_keys(["ollama", "llama3", "token-abc123", CANARY]).certain
    assert set(keys.keys) == {"token-abc123", CANARY}


# --- what is stored ---


@pytest.mark.parametrize("variable", ["MY_API_KEY", "OPENAI_API_KEY", "HF_TOKEN"])
def test_a_command_with_a_key_among_its_words_is_refused(sitting: Sitting, variable: str) -> None:
    words = ("--format", "json", "--record", sitting.folder / "said.jsonl")
    subject = f"{COMMAND} {CANARY}"
    done = sitting.asks("x").run(*words, subject=subject, **{variable: CANARY})
    assert done.code == 2
    assert "from the environment" in done.json["error"]["message"]
    assert not leaks(sitting, done)
    assert not sitting.store.exists()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/{}/v1", "http://127.0.0.1:1/v1#k={}", "{}", "ftp://127.0.0.1/{}"],
)
@pytest.mark.parametrize("named", ["--base-url", "OPENAI_BASE_URL", "openai:m@"])
def test_an_address_with_a_key_is_refused(sitting: Sitting, url: str, named: str) -> None:
    fixed = ("run", "-r", sitting.rubric, "-e", sitting.asks("x").exam, "--store", sitting.store)
    url = url.format(CANARY)
    subject = f"openai:m@{url}" if named == "openai:m@" else "openai:m"
    option = ("--base-url", url) if named == "--base-url" else ()
    usual = url if named == "OPENAI_BASE_URL" else NOBODY  # never the one that is built in
    env = {"OPENAI_API_KEY": CANARY, "OPENAI_BASE_URL": usual}
    done = here(*fixed, "-s", subject, *option, **env)
    assert done.code == 2
    assert not leaks(sitting, done)
    assert not sitting.store.exists()


def test_a_key_in_place_of_the_name_of_its_variable_is_refused(sitting: Sitting) -> None:
    done = sitting.asks("x").run("--key-env", CANARY, OPENAI_API_KEY=CANARY)
    assert done.code == 2
    assert not leaks(sitting, done)


def test_the_key_of_a_server_at_home_may_be_a_word_of_its_address(sitting: Sitting) -> None:
    sitting.server.url = sitting.server.url.replace("/v1", "/ollama/v1")
    assert sitting.asks("fine 1").run(OPENAI_API_KEY="ollama").code == 0


def test_the_library_does_not_show_a_key_either(monkeypatch: pytest.MonkeyPatch) -> None:
    key = CANARY * 5  # longer than what a message shows of a value
    monkeypatch.setenv("MY_API_KEY", key)
    rubric, exam = load_rubric("tutor-capstone"), load_exam("capstone")
    for subject, url in ((key, None), (f"cmd:a {key}", None), ("openai:m", key)):
        with pytest.raises(UsageError, match="holds a key") as refused:
            build_run_plan(rubric, exam, [subject], Settings(base_url=url or NOBODY))
        assert CANARY not in str(refused.value)
    with pytest.raises(UsageError, match="is no address") as refused:
        HttpAddress.parse(key)
    assert CANARY not in str(refused.value)


# --- what is said ---


def test_what_a_module_raises_is_told_without_keys(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", CANARY)
    said = "import os\nraise RuntimeError('wrong key: ' + os.environ['HF_TOKEN'])\n"
    sitting.write("my_loser.py", said)
    words = sitting.asks("x").words("--format", "json", subject="python:my_loser:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert done.code == 2
    assert "wrong key: [key]" in done.err
    assert "wrong key: [key]" in done.json["error"]["message"]
    assert not leaks(sitting, done)


def test_a_bug_is_told_without_keys_its_traceback_too(sitting: Sitting) -> None:
    words = [str(word) for word in sitting.asks("x").words("--format", "json", subject="tutor")]
    broken = f"""
import os, sys, markscheme.workflows.documents as library
from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about
def fail(*_, **__):
    raise ValueError("wrong key: " + os.environ["HF_TOKEN"])
library.load_rubric = fail
sys.argv = ["markscheme", *{words!r}]
run()
"""
    env = {**os.environ, "HF_TOKEN": CANARY, "MARKSCHEME_DEBUG": "1"}
    call = [sys.executable, "-c", broken]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 70
    assert done.stderr.count("wrong key: [key]") == 2
    assert "Traceback" in done.stderr
    assert CANARY not in done.stdout + done.stderr


def test_a_problem_is_told_without_keys(sitting: Sitting) -> None:
    sitting.write("exam.yaml", f"exam: e\nitems:\n  - {{id: {CANARY}, prompt: 3}}\n")
    sitting.write("rubric.yaml", f"rubric: r\naxes: [{{name: a, kind: {CANARY}, weight: 1}}]\n")
    words = ("--format", "json", "--no-store")
    done = sitting.run(*words, subject="tutor", HF_TOKEN=CANARY)
    assert done.code == 3
    assert done.json["error"]["problems"]
    assert not leaks_of(done)


@pytest.mark.parametrize("words", [("--timeout", CANARY), (f"--{CANARY}",), ("--tag",)])
def test_wrong_usage_is_told_without_keys(sitting: Sitting, words: tuple[str, ...]) -> None:
    done = sitting.asks("x").run(*words, "--format", "json", subject="tutor", HF_TOKEN=CANARY)
    assert done.code == 2
    assert not leaks_of(done)


def leaks_of(done: Done) -> bool:
    return CANARY in done.out + done.err


def test_a_message_shows_a_path_as_it_is_where_the_key_is_a_plain_word(sitting: Sitting) -> None:
    done = here("lint", sitting.folder / "tests.yaml", OPENAI_API_KEY="test")
    assert "tests.yaml" in done.err


def test_help_loads_nothing_to_hide_keys() -> None:
    script = "import sys, markscheme.cli.main; print('markscheme.ask.secrets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_a_key_in_a_name_is_not_shown_beside_other_mistakes(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:1/{CANARY}/v1")
    monkeypatch.setenv("OTHER_API_KEY", CANARY)
    with pytest.raises(UsageError, match="holds a key") as raised:
        run(sitting.rubric, sitting.asks("x").exam, "openai:m", template="nope", price="x")
    assert len(str(raised.value).splitlines()) == 3
    assert CANARY not in str(raised.value)


# --- where they go ---


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


def test_a_key_is_hidden_wherever_a_reply_may_hold_it() -> None:
    secrets = Secrets.from_keys(["sk-long-secret", "sk-long", None, "ab"])
    reply = Reply(text="my sk-long-secret", finish_reason="sk-long", why="")
    assert secrets.redact_reply(reply).text == "my [key]"
    assert secrets.redact_reply(reply).finish_reason == "[key]"
    assert secrets.redact("ab") == "ab"
    assert "sk-long" not in repr(secrets)
