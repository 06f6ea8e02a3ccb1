"""YAML: broken documents are refused with a line and advice, and words stay words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from markscheme import DocumentError, load_exam, load_rubric
from yaml_documents import EXAM, problems_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("content", "expected_text"),
    [
        (b"", "r.yaml:1: the file is empty"),
        (b"# only a comment\n", "r.yaml:1: the file is empty"),
        (b"- a\n- b\n", "r.yaml:1: the file holds a list; a mapping"),
        (b"just words", "r.yaml:1: the file holds a single value"),
        (b"a: [1\nb: 2\n", "r.yaml:2: not YAML: did not find expected ',' or ']'"),
        (b"a: 1\n b: 2\n", "r.yaml:2: not YAML"),
        (b"a: 1\nb: \xff\n", "r.yaml:2: not UTF-8: byte 0xff at position 8"),
        ("a: 1\n".encode("utf-16"), "r.yaml:1: not UTF-8"),
        (b"a: 1\nb: \x01\n", "r.yaml:2: not YAML: unacceptable character #x0001"),
        (b"a: " + b"[" * 2000 + b"]" * 2000, "r.yaml:1: nested deeper than 64 levels"),
        (b"\n".join(b" " * i + b"a:" for i in range(2000)), "r.yaml:65: nested deeper than 64"),
        (b"a: 1\n---\nb: 2\n", "r.yaml:2: a second document starts here"),
        (b"a: *nowhere\n", "r.yaml:1: a: `*nowhere` names no finished anchor"),
        (b"a: &a [*a]\n", "r.yaml:1: a.0: `*a` names no finished anchor"),
        (b"? [a]\n: 1\n", "r.yaml:1: a key must be plain text"),
    ],
)
def test_what_is_no_document_is_refused_with_its_line(
    tmp_path: Path, content: bytes, expected_text: str
) -> None:
    found = problems_of(tmp_path / "r.yaml", content)
    assert any(message.startswith(expected_text) for message in found), found
    as_exam = problems_of(tmp_path / "r.yaml", content, exam=True)
    assert any(message.startswith(expected_text) for message in as_exam), as_exam


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("items:\n\t- id: a\n", "r.yaml:2: not YAML: {}; indent with spaces; YAML takes no tabs"),
        ("a: what: is it\n", "r.yaml:1: {}; a value with a colon and a space in it must stand"),
        ("a: @who\n", "r.yaml:1: {}; a value that begins with `@` must stand in quotation marks"),
        ("a: [%b]\n", "r.yaml:1: {}; a value that begins with `%` must stand in quotation marks"),
        ('a: "b\n', "r.yaml:2: {}; a quotation mark is never closed"),
        ("a: [b, c\n", "r.yaml:2: {}; a comma is missing in a list, or `[` is never closed"),
        ("a:\n  - b: 1\n   c: 2\n", "r.yaml:3: {}; keys of one entry must begin in the same"),
    ],
)
def test_what_to_do_about_yaml_that_cannot_be_read_is_told(
    tmp_path: Path, content: str, advice: str
) -> None:
    (found,) = problems_of(tmp_path / "r.yaml", content.encode())
    start, _, rest = advice.partition("{}")
    assert found.startswith(start.removesuffix("not YAML: "))
    assert rest in found


def test_a_nul_in_a_text_is_refused_as_it_is_in_answers(tmp_path: Path) -> None:
    exam = (
        b'exam: e\nitems:\n  - {id: a, prompt: "p\\0", expected_contains: [x], gloss_contains: [y]}'
    )
    (message,) = problems_of(tmp_path / "e.yaml", exam, exam=True)
    assert message.startswith("e.yaml:3: items.0.prompt: holds a NUL character")


def test_an_alias_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    for before, letter in pairwise(letters):
        lines.append(f"{letter}: &{letter} [{', '.join([f'*{before}'] * 9)}]")
    found = problems_of(tmp_path / "r.yaml", "\n".join(lines))
    assert "aliases expand to more than 100000 values" in found[0]


def test_a_file_of_100_megabytes_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(DocumentError, match=r"r\.yaml:1: the file is larger than 32 MB"):
        load_rubric(path)


def test_words_of_yaml_1_1_stay_words(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(EXAM.replace("{verb: eat}", "{verb: no, on: yes, n: 010, x: 1e3}"))
    assert load_exam(path).items[0].tags == {"verb": "no", "on": "yes", "n": "10", "x": "1E+3"}


def test_an_accent_written_as_an_escape_is_the_same_accent(tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text(EXAM.replace("[ate]", '["comio\\u0301"]'))
    assert load_exam(tmp_path / "e.yaml").items[0].expectations["expected_contains"] == ("comió",)
