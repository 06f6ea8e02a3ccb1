"""No value steers a terminal or the runner of a CI job, wherever it comes from."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from commands import FULL, WRONG, Project, here, here_as_printed, markscheme
from markscheme.vocabulary import PrintableStream

if TYPE_CHECKING:
    from pathlib import Path

CODES = [*"\x00\x07\x08\x0b\x0c\r\x1b\x7f\x85\x90\x9b\x9d"]
BIDI = [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\u2028", "\u2029"]
SEQUENCES = [
    "\x1b[31mred", "\x1b[2J", "\x1b[1A\x1b[2K", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link",
    "\x1b]52;c;aGk=\x07", "\x1bP+q\x1b\\", "\x1b[6n", "\x1b[?1049h", "\x1bc", "\x9b31m",
    "\x9d0;t\x9c",
]  # fmt: skip
COMMANDS = [
    "::error::x", "::stop-commands::x", "  ::error::x", "\t::warning::x", "##[error]x",
    "x ##[add-mask]y", "##vso[task.complete]x", "\u2003::error::x", "\x1b[0m::error::x",
    "::set-output name=a::b", "::debug::x", "::add-matcher::x",
]  # fmt: skip
PAYLOADS = [
    *(f"a{code}b" for code in CODES + BIDI),
    *SEQUENCES,
    *(f"a\n{command}" for command in COMMANDS),
    *(f"\n{command}" for command in COMMANDS[:6]),
    "\x1b[31m\n::error::x", "\r\n::error::x", "\r::error::x", "a\u202egnp.exe", "\n\n::error::x",
    "\x0b::error::x", "\x0c::error::x",
]  # fmt: skip
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
COMMAND_LINE = re.compile(r"^\s*::|##(vso)?\[", re.MULTILINE)


def assert_harmless(text: str) -> None:
    assert not RAW.search(text), ascii(text)
    assert not COMMAND_LINE.search(text), ascii(text)


def test_there_are_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_a_stream_escapes_what_is_not_printable(payload: str) -> None:
    raw = io.BytesIO()
    stream = PrintableStream(raw, encoding="utf-8", newline="\n")
    for text in (payload, "\n", payload, json.dumps({payload: payload}, ensure_ascii=False), "\n"):
        stream.write(text)
    stream.flush()
    shown = raw.getvalue().decode()
    assert_harmless(shown)
    document = shown[shown.index("{") :]
    assert json.loads(document) == {payload: payload}, "JSON keeps its values"


def test_what_is_printable_stays_as_it_is() -> None:
    raw = io.BytesIO()
    stream = PrintableStream(raw, encoding="utf-8", newline="\n")
    text = "1\tcomió ñandú 日本 🙂 a::b #[x] ## head\n  std::move\n: :x\n"
    stream.write(text)
    stream.write("so ")
    stream.write("::error::x, which begins no line\n")
    stream.flush()
    assert raw.getvalue().decode() == f"{text}so ::error::x, which begins no line\n"


# The colours of rich, and what moves the cursor for the line of progress; nothing else.
OWN = re.compile(r"\x1b\[([0-9;]*m|\?25[hl]|[12]?[AK])|\r")
HOSTILE = "a\x1b]0;title\x07\x9b2J\u202e\n::error::x\n##[error]y\x1b[5;31m"


def spoil_store(project: Project, payload: str) -> None:
    """Write a name into the records of a store, as an older version would have stored it."""
    with closing(sqlite3.connect(project.store)) as database, database:
        database.execute("UPDATE runs SET subject = ?", [payload])
        database.execute("UPDATE tags SET name = ?", [payload])


def write_log(project: Project) -> None:
    """Write a session log with hostile ids, names of models and tools, and texts."""
    said = {"sessionId": HOSTILE, "cwd": HOSTILE, "version": HOSTILE}
    call = {"type": "tool_use", "id": HOSTILE, "name": HOSTILE, "input": {"path": HOSTILE}}
    text = {"type": "text", "text": HOSTILE}
    reply = {"id": "m", "role": "assistant", "model": HOSTILE, "content": [call, text]}
    records = [
        {**said, "type": "user", "uuid": "a", "message": {"role": "user", "content": HOSTILE}},
        {**said, "type": "assistant", "uuid": "b", "parentUuid": "a", "message": reply},
        {**said, "type": HOSTILE, "uuid": "c", "parentUuid": "b"},
    ]
    project.write("log.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))


def write_ratings(project: Project) -> None:
    """Write files of ratings with hostile cells, with a hostile header, and as JSON lines."""
    rating = {"item": "TQ-1", "variant": "big", "rater": "ana", "axis": "Q-01", "score": "3"}
    rows = [rating, *({**rating, key: HOSTILE} for key in rating)]
    project.write("ratings.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    for name, header in (("ratings.csv", list(rating)), ("header.csv", [*rating, HOSTILE])):
        with (project.folder / name).open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream)
            table.writerow(header)
            table.writerows([*row.values(), "x"][: len(header)] for row in rows)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a hostile value in each text that may hold one."""
    project = Project(tmp_path_factory.mktemp("hostile"))
    project.stored(*[FULL] * 3, WRONG, subject="one")
    project.run("baseline", "set", "--force", "latest", "--note", HOSTILE)
    spoil_store(project, HOSTILE)
    quoted = json.dumps(HOSTILE)
    project.write("keys.yaml", f"rubric: words\nversion: 1\n{quoted}: 1\naxes: []\n")
    item = f"{{id: {quoted}, prompt: x, {quoted}: y}}"
    project.write("odd.yaml", f"exam: {quoted}\nitems: [{item}]\n")
    said = {"item": HOSTILE, "output": "x", "subject": HOSTILE}
    refused = [said, {**said, "item": "i1"}, {**said, "item": "i2", "subject": None}]
    rows = "".join(f"{json.dumps(row)}\n" for row in refused)
    project.write("said.jsonl", rows)
    project.write("a\x1b[2J\n::error::b.jsonl", rows)
    write_log(project)
    write_ratings(project)
    return project


COMPARE = "compare -r context-agent -e context-queries -b big -c small"
FILES = "-r rubric.yaml -e exam.yaml --no-store"
WAYS = [
    "runs --store store.db",
    "show latest --store store.db",
    "gate latest --store store.db",
    "report latest --store store.db -o out.md",
    "compare latest latest --store store.db",
    "baseline show --store store.db",
    "show latest --store store.db --format json",
    "lint keys.yaml odd.yaml",
    "score -r rubric.yaml -e odd.yaml -a said.jsonl --no-store",
    f"score {FILES} -a said.jsonl",
    f"score {FILES} -a said.jsonl --format json",
    f"score {FILES} -a a\x1b[2J\n::error::b.jsonl",
    "transcript log.jsonl",
    "transcript log.jsonl --format json",
    "transcript log.jsonl --session none",
    "transcript log.jsonl --session \x1b[2J\n::error::x",
    "transcript log.jsonl --log-format \x1b[2J\n::error::x",
    f"run {FILES} -s openai:a\x1b[2J\n::error::x",
    f"run {FILES} -s anthropic:a\u202eb",
    f"{COMPARE} --ratings ratings.csv",
    f"{COMPARE} --ratings ratings.jsonl",
    f"{COMPARE} --ratings header.csv",
    f"{COMPARE} --ratings ratings.csv --format json",
    "agree --ratings ratings.csv",
    "agree --ratings ratings.jsonl",
    "agree --ratings header.csv",
]


@pytest.mark.parametrize("way", WAYS, ids=ascii)
def test_no_value_writes_control_characters_or_commands(
    hostile: Project, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(hostile.folder)
    keys = {"OPENAI_API_KEY": "sk-not-used", "ANTHROPIC_API_KEY": "sk-not-used"}
    done = here_as_printed(*way.split(" "), GITHUB_ACTIONS="", **keys)
    assert done.out or done.err
    assert_harmless(done.out)
    assert_harmless(done.err)
    if way.endswith("json"):
        assert done.json


def test_the_texts_of_a_log_are_shown_escaped(
    hostile: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    shown = here_as_printed("transcript", "log.jsonl").out
    assert "session a ]0;title" in shown
    assert "models: a ]0;title" in shown
    document = here_as_printed("transcript", "log.jsonl", "--format", "json").json
    assert document["session"] == HOSTILE, "JSON keeps its values"
    refused = here_as_printed("transcript", "log.jsonl", "--session", "none").err
    assert "a\\x1b]0;title" in refused, "the message lists the sessions that there are"


def test_the_cells_of_a_ratings_file_are_shown_escaped(
    hostile: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    for name in ("ratings.csv", "ratings.jsonl"):
        done = here_as_printed(*COMPARE.split(), "--ratings", name)
        assert done.code == 3
        assert "a\\x1b]0;title" in done.err


def on_terminal(project: Project, *words: str | Path) -> str:
    """Return what a command writes to a terminal."""
    main, side = pty.openpty()
    command = [sys.executable, "-m", "markscheme", *map(str, words)]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        stdin=side,
        stdout=side,
        stderr=side,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"},
    ) as process:
        os.close(side)
        pieces = []
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            pieces.append(piece)
        process.wait()
    os.close(main)
    return b"".join(pieces).decode()


@pytest.mark.parametrize("way", [WAYS[1], WAYS[7]])
def test_a_terminal_sees_no_escape_sequence_but_our_own(hostile: Project, way: str) -> None:
    seen = on_terminal(hostile, *way.split(" "))
    assert not RAW.search(OWN.sub("", seen)), ascii(seen)
    assert "\x1b[5;31m" not in seen
    assert ("\x1b[1m" in seen) == (way != WAYS[7]), "our own styles reach it; lint has none"


def test_our_own_annotations_are_commands_and_nothing_else_is(
    hostile: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    done = here_as_printed(*WAYS[2].split(" "), GITHUB_ACTIONS="true")
    commands = [line for line in done.out.splitlines() if COMMAND_LINE.match(line)]
    assert commands
    assert all(re.match(r"::(error|warning|notice) title=markscheme%3A ", c) for c in commands)
    assert not RAW.search(done.out)


def test_a_process_escapes_both_of_its_streams(hostile: Project) -> None:
    """The tests above run in this process; the streams of the program are set up in its own."""
    refused = markscheme(*WAYS[7].split(" "), cwd=hostile.folder, GITHUB_ACTIONS="")
    assert_harmless(refused.out + refused.err)
    assert "\\x1b]0;title" in refused.out + refused.err


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\x7fb", "a\u202eb", "a\x9bb", "a\tb"])
@pytest.mark.parametrize("rows", [1, 400])
def test_a_subject_with_a_control_character_is_refused(
    tmp_path: Path, name: str, rows: int
) -> None:
    """Also in long files, which are read in another way."""
    project = Project(tmp_path, items=rows)
    said = [{"item": item, "output": "yes", "subject": "s"} for item in project.items]
    said[-1]["subject"] = name
    file = project.write(
        "a.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in said)
    )
    done = here("score", "-r", project.rubric, "-e", project.exam, "-a", file, "--no-store")
    assert f"line {rows}: `subject` holds the control character `" in done.out


def test_names_with_control_characters_are_refused_in_documents(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("odd.yaml", 'exam: q\nitems: [{id: i, prompt: x, tags: {a: "b\\e[2J"}}]\n')
    project.write("id.yaml", 'exam: q\nitems: [{id: "i\\n", prompt: x}]\n')
    done = here("lint", tmp_path / "odd.yaml", tmp_path / "id.yaml")
    assert done.code == 1
    assert "items.0.tags.a: `b\\x1b[2J` holds the control character `\\x1b`" in done.out + done.err
    assert "items.0.id: " in done.out + done.err


def test_a_finding_stays_on_its_line_whatever_a_key_is_called(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text('"a\\nkeys.yaml:9: all is well": 1\nrubric: words\n', encoding="utf-8")
    done = here("lint", path)
    assert "R002 error: a\\nkeys.yaml:9: all is well: unknown key" in done.out
    assert all("all is well" not in line or "R002" in line for line in done.out.splitlines())


def test_a_live_subject_with_a_control_character_needs_another_name(tmp_path: Path) -> None:
    project = Project(tmp_path)
    files = ("-r", project.rubric, "-e", project.exam, "--no-store")
    done = here("run", *files, "-s", "cmd:echo 'a\n::error::x'")
    assert done.code == 2
    assert "holds the control character `\\n`; give it a name of your own: -s NAME=" in done.err
    assert here("run", *files, "-s", "mine=cmd:echo 'yes\n'").code == 0
