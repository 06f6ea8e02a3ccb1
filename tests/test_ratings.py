"""Reading ratings: all problems are reported at once, and a missing rating gets no number."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from commands import here
from comparisons import AXES, GOOD, HEADER, Files, rows
from markscheme import InputError, Rating, compare, load_exam, load_rubric

RUBRIC = load_rubric("context-agent")
LINES = rows([GOOD] * 5, [GOOD] * 5)


def changed(at: int, column: str, value: str) -> list[str]:
    """Return the rows with another value in one cell; row 0 stands on line 2."""
    cells = LINES[at].split(",")
    cells[HEADER.split(",").index(column)] = value
    return [*LINES[:at], ",".join(cells), *LINES[at + 1 :]]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", "0", ":5: score: `0` is no score; allowed: whole numbers from 1 to 5"),
        ("score", "6", ":5: score: `6` is no score; allowed: whole numbers from 1 to 5"),
        ("score", "3.5", ":5: score: `3.5` is no score; allowed: whole numbers from 1 to 5"),
        ("score", "four", ":5: score: `four` is no score; allowed: whole numbers from 1 to 5"),
        ("score", "", ":5: score: is empty; allowed: whole numbers from 1 to 5"),
        ("score", "4.5", ":5: score: `4.5` is no score"),
        ("score", "nan", ":5: score: `nan` is no score"),
        ("score", "４", ":5: score: `４` is no score"),
        ("axis", "Q-07", ":5: axis: `Q-07` is no axis of this comparison; allowed: Q-01, Q-02"),
        ("item", "TQ-9", ":5: item: `TQ-9` is no item of this comparison; allowed: TQ-1, TQ-2"),
        ("variant", "smal", ":5: variant: `smal` is no variant of this comparison; allowed: big"),
        ("variant", "smal", "did you mean `small`?"),
        ("rater", "", ":5: rater: is empty"),
        ("axis", "Q-01", "was rated by `anna` on line 2 already; once is allowed"),
        ("axis", "OP-05", ":5: score: `4` stands where none belongs; `OP-05` is a note"),
        ("axis", "OP-05", ":5: note: is empty; `OP-05` is answered in words"),
    ],
)
def test_a_wrong_cell_is_told_with_its_row_and_column(
    files: Files, column: str, value: str, message: str
) -> None:
    path = files.ratings(changed(3, column, value))
    done = here(*files.words(path))
    assert done.code == 3
    assert message in done.err
    assert str(path) in done.err


def test_everything_wrong_is_told_at_once(files: Files) -> None:
    lines = changed(3, "score", "0")
    lines[7] = lines[7].replace("Q-02", "Q-99")
    lines[9] = lines[9].replace("TQ-1", "TQ-0")
    done = here(*files.words(files.ratings([*lines[:20], *lines[21:], lines[30]])))
    assert done.code == 3
    for message in (":5: score:", ":9: axis:", ":11: item:", "lacks", "already; once is allowed"):
        assert message in done.err


def test_a_missing_cell_is_told_where_the_rest_of_its_answer_stands(files: Files) -> None:
    done = here(*files.words(files.ratings(LINES[:3] + LINES[4:])))
    assert done.code == 3
    assert ":6: score: `anna` lacks Q-04 for `TQ-1`, `big`" in done.err


def test_a_variant_that_nobody_rated_is_told_once(files: Files) -> None:
    done = here(*files.words(files.ratings([line for line in LINES if "big" in line])))
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert "variant: no row rates the variant `small`" in done.err


def test_a_variant_that_is_misspelt_is_told_with_the_names_of_the_file(files: Files) -> None:
    done = here(*files.words(files.ratings([line.replace("small", "tiny") for line in LINES])))
    assert done.code == 3
    assert "no row rates the variant `small`; the ratings name `tiny`" in done.err


def test_each_rater_must_rate_everything(files: Files) -> None:
    done = here(*files.words(files.ratings([*LINES, LINES[0].replace("anna", "bob")])))
    assert done.code == 3
    assert "`bob` lacks Q-02, Q-03, Q-04, Q-05, Q-06 for `TQ-1`, `big`" in done.err
    assert "`bob` rates no axis at all for `TQ-5`, `small`" in done.err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("\n".join((HEADER, *LINES)).encode("utf-16")[:-1], ":1: begins as UTF-16-LE, but is"),
        (b"\0\1\2\0\0item", ":1: this is no text; save it as CSV in UTF-8"),
        (b'[{"item": "TQ-1", "variant": "big"}]', ":1: this is JSON; ratings are CSV, or"),
        ("\r".join((HEADER, *LINES)).encode(), "end lines with LF or CRLF"),
        (f"{HEADER}\n{LINES[0]}é\n".encode("latin-1"), ":2: note: not UTF-8: byte 0xe9"),
        (f"{HEADER}\n{LINES[0]},more\n".encode(), ":2: row: 7 fields where the header has 6"),
        (f'{HEADER}\n{LINES[0]}"open\n'.encode(), ":2: row: not CSV"),
        (b"", ":1: the file is empty; its header is item,variant,rater,axis,score,note"),
        (f"{HEADER}\n".encode(), "holds no rating"),
        (b"item,variant,rater,axis\n", ":1: score: the column is missing"),
        (b"item,variant,rater,axis,score,notes\n", "unknown column `notes`"),
        (b"item,item,variant,rater,axis,score\n", ":1: item: the column occurs twice"),
    ],
)
def test_a_file_that_is_no_ratings_file_is_refused(files: Files, data: bytes, message: str) -> None:
    done = here(*files.words(files.write("ratings.csv", data)))
    assert done.code == 3
    assert message in done.err


def test_a_byte_order_mark_and_windows_lines_are_read(files: Files) -> None:
    text = "\r\n".join((HEADER, *LINES)) + "\r\n"
    done = here(*files.words(files.write("ratings.csv", text.encode("utf-8-sig"))))
    assert done.code == 0


def jsonl(lines: list[str]) -> str:
    names = HEADER.split(",")
    found = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    return "".join(json.dumps({**row, "score": int(row["score"])}) + "\n" for row in found)


def test_json_lines_give_the_same_comparison(files: Files) -> None:
    as_lines = files.write("ratings.jsonl", jsonl(LINES))
    one = here(*files.words(as_lines, "--format", "json"))
    assert one.out == here(*files.words(files.ratings(LINES), "--format", "json")).out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", ":1: row: must be an object with item, variant"),
        ("{", ":1: row: not JSON"),
        ('{"item": "TQ-1", "score": NaN}', "NaN is no number"),
        ('{"item": 3, "scores": 1}', ":1: scores: unknown key"),
        ('{"item": 3, "scores": 1}', ":1: item: must be text"),
        ('{"axis": "Q-01", "score": true}', ":1: score: true is no score"),
        ('{"axis": "Q-01", "score": 4.0}', ":1: score: the number 4.0 is no score"),
        ('{"axis": "Q-01", "score": 4, "note": 7}', ":1: note: must be text"),
        ('{"axis": "Q-01", "score": 1, "score": 5}', ":1: row: not JSON: the key `score` occurs"),
        ('{"axis": "Q-01", "score": 4, "note": "\\ud800"}', ":1: note: holds half a character"),
        ('{"axis": "Q-01", "rater": "a\\udc00"}', ":1: rater: holds half a character"),
    ],
)
def test_a_wrong_json_line_is_told(files: Files, line: str, message: str) -> None:
    done = here(*files.words(files.write("ratings.jsonl", line)))
    assert done.code == 3
    assert message in done.err


def test_a_file_that_is_not_there_or_a_folder_is_refused(files: Files) -> None:
    assert here(*files.words(files.folder / "none.csv")).code == 3
    assert "is a folder" in here(*files.words(files.folder)).err


def test_gaps_that_are_allowed_leave_the_query_without_a_verdict(files: Files) -> None:
    path = files.ratings(LINES[:3] + LINES[4:])
    done = here(*files.words(path, "--allow-gaps", "--format", "json"))
    assert done.code == 4
    first, *others = done.json["queries"]
    assert (first["verdict"], first["baseline"]["mean"], first["difference"]) == (None, None, None)
    assert first["axes"]["Q-04"]["baseline"] is None
    assert first["missing"] == ["anna did not rate Q-04 of big"]
    assert {query["verdict"] for query in others} == {"equivalent"}
    assert done.json["decision"]["outcome"] == "none"
    assert done.json["aggregate"]["overall"]["n"] == 4


def test_an_empty_score_is_a_gap_where_gaps_are_allowed(files: Files) -> None:
    path = files.ratings(changed(3, "score", ""))
    done = here(*files.words(path, "--allow-gaps", "--format", "json"))
    assert done.json["decision"]["outcome"] == "none"


def test_who_rates_a_part_of_the_queries_may_where_gaps_are_allowed(files: Files) -> None:
    other = [line.replace("anna", "bob") for line in LINES if line.startswith("TQ-1")]
    path = files.ratings([*LINES, *other])
    assert here(*files.words(path)).code == 3
    assert here(*files.words(path, "--allow-gaps")).code == 0


def test_the_library_takes_rows(tmp_path: Path) -> None:
    exam = load_exam(Files(tmp_path).exam, rubric=RUBRIC)
    ratings = [
        Rating(item=item.id, variant=variant, rater="a", axis=axis, score=Fraction(4))
        for item in exam.items
        for variant in ("x", "y")
        for axis in AXES
    ]
    found = compare(RUBRIC, exam, ratings, baseline="x", candidate="y")
    assert found.decision.rule == "all-equivalent-or-superior"
    with pytest.raises(InputError, match="no row rates the variant `z`"):
        compare(RUBRIC, exam, ratings[:6], baseline="x", candidate="z")


def test_a_note_cannot_steer_the_terminal(files: Files) -> None:
    note = '"\x1b[2Jall\nis \u202ewell\x07"'
    done = here(*files.words(files.ratings(changed(0, "note", note))))
    assert "[2Jall is  well" in done.out or "[2Jall is well" in done.out
    assert not {"\x1b", "\u202e", "\x07"} & set(done.out)


def test_the_gaps_that_were_allowed_are_listed_with_what_they_mean(files: Files) -> None:
    path = files.ratings(LINES[:3] + LINES[4:])
    done = here(*files.words(path, "--allow-gaps", "--format", "json"))
    cell, meaning = done.json["allowed_gaps"]
    assert cell == "TQ-1: anna did not rate Q-04 of big; it has no verdict"
    assert meaning.endswith("without one on TQ-1 nothing is decided.")
    html = files.folder / "gaps.html"
    out = here(*files.words(path, "--allow-gaps", "--html", html)).out
    assert f"Missing ratings that were allowed\n  {cell}\n  {meaning}" in out
    assert meaning in html.read_text(encoding="utf-8")


def test_a_query_that_one_rater_left_out_is_named_with_those_it_rests_on(files: Files) -> None:
    other = [line.replace("anna", "bob") for line in LINES if line.startswith("TQ-1")]
    done = here(*files.words(files.ratings([*LINES, *other]), "--allow-gaps", "--format", "json"))
    *gaps, meaning = done.json["allowed_gaps"]
    assert gaps[0] == "TQ-2: not rated by bob; its verdict rests on anna"
    assert len(gaps) == 4
    assert "not from the same raters" in meaning


def test_allowing_gaps_where_there_are_none_says_so(files: Files) -> None:
    done = here(*files.words(files.ratings(LINES), "--allow-gaps"))
    assert "No rating is missing, so allowing gaps changed nothing." in done.out
    assert here(*files.words(files.ratings(LINES), "--format", "json")).json["allowed_gaps"] is None
