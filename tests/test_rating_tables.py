"""Ratings are read from the tables that people keep, and mean the same in every form."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands import here
from comparisons import AXES, GOOD, HEADER, Files, rows
from markscheme import load_exam, load_rubric
from markscheme.read.ratings import RatingScope, read_ratings

RUBRIC = load_rubric("context-agent")
LINES = rows([27, 24, 25, 26, 24], [24, 22, 25, 20, 24], ("anna", "bób"))
LONG = [HEADER.split(","), *(line.split(",") for line in LINES)]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def widen(long: list[list[str]]) -> list[list[str]]:
    """Return a table with a row for each answer, and a column for each axis."""
    answers: dict[tuple[str, ...], dict[str, str]] = {}
    for item, variant, rater, axis, score, _ in long[1:]:
        answers.setdefault((item, variant, rater), {})[axis] = score
    return [
        ["item", "variant", "rater", *AXES],
        *([*key, *(scores[axis] for axis in AXES)] for key, scores in answers.items()),
    ]


def write_table(table: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(table)
    return text.getvalue()


def read(files: Files, data: str | bytes, name: str = "table.csv") -> list[tuple[Any, ...]]:
    exam = load_exam(files.exam, rubric=RUBRIC)
    scope = RatingScope(rubric=RUBRIC, exam=exam, variants=("big", "small"))
    ratings = read_ratings(files.write(name, data), scope)
    return [(r.item, r.variant, r.rater, r.axis, r.score, r.note) for r in ratings]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("wide", [False, True])
def test_every_form_says_the_same(
    files: Files, delimiter: str, encoding: str, *, wide: bool
) -> None:
    expected = read(files, write_table(LONG))
    table = widen(LONG) if wide else LONG
    assert read(files, write_table(table, delimiter, "\r\n").encode(encoding)) == expected


@given(st.permutations(range(9)), st.sampled_from([";", ",", "\t"]), st.integers(0, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_the_order_of_columns_and_other_columns_say_nothing(
    files: Files, order: list[int], delimiter: str, extra: int
) -> None:
    table = [
        [row[at] for at in order] + ["x" if row_number else f"Besuch {at}" for at in range(extra)]
        for row_number, row in enumerate(widen(LONG))
    ]
    assert read(files, write_table(table, delimiter)) == read(files, write_table(LONG))


def test_axes_may_be_named_by_their_titles_in_any_case(files: Files) -> None:
    head, *body = widen(LONG)
    titles = [scale.label for scale in RUBRIC.scales]
    expected = read(files, write_table(LONG))
    assert read(files, write_table([[*head[:3], *titles], *body])) == expected
    assert read(files, write_table([[name.upper() for name in head], *body])) == expected


def test_notes_of_a_wide_table_are_kept(files: Files) -> None:
    head, first, *body = widen(LONG)
    table = [
        [*head, "note", "Q-02 note", "OP-05"],
        [*first, "the row", "thin, too", "two agents"],
        *([*row, "", "", ""] for row in body),
    ]
    notes = {row[3]: row[5] for row in read(files, write_table(table)) if row[5]}
    assert notes == {"Q-01": "the row", "Q-02": "thin, too", "OP-05": "two agents"}


def test_whole_numbers_with_a_decimal_point_or_comma_are_whole(files: Files) -> None:
    table = [[*row[:4], f"{row[4]},0", row[5]] if at else row for at, row in enumerate(LONG)]
    assert read(files, write_table(table, ";")) == read(files, write_table(LONG))
    table = [[*row[:4], f"{row[4]}.0", row[5]] if at else row for at, row in enumerate(LONG)]
    assert read(files, write_table(table)) == read(files, write_table(LONG))


def test_the_line_that_excel_writes_for_the_delimiter_is_read(files: Files) -> None:
    text = "sep=;\n" + write_table(LONG, ";") + ";;;;;\n"
    assert read(files, text) == read(files, write_table(LONG))


def test_mistakes_in_a_wide_table_are_named_by_line_and_column_all_at_once(files: Files) -> None:
    head, first, second, *body = widen(LONG)
    table = [head, [*first[:3], "9", *first[4:]], [*second[:-1], ""], *body]
    done = here(*files.words(files.write("wide.csv", write_table(table, ";"))))
    assert done.code == 3
    assert "wide.csv:2: Q-01: `9` is no score; allowed: whole numbers from 1 to 5" in done.err
    assert "wide.csv:3: Q-06: is empty; allowed: whole numbers from 1 to 5" in done.err


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("item,variant,rater,axis,score,Q-01", ":1: axis: stands beside columns of axes (Q-01)"),
        ("item,variant,rater,Q-01,q-01", ":1: q-01: the column occurs twice"),
        (
            "item,variant,rater,Q-01,Q-01 Pattern precision",
            "Q-01 Pattern precision: means the same as the column `Q-01`",
        ),
        ("item,variant,ratr,Q-01", "unknown column `ratr`"),
        ("item,variant,Q-01", ":1: rater: the column is missing"),
        ("item,variant,rater", "or a column for each axis"),
        ("item,variant,x;rater;score", "may be separated by commas or semicolons"),
    ],
)
def test_a_header_that_may_mean_two_things_is_refused(
    files: Files, header: str, message: str
) -> None:
    done = here(*files.words(files.write("r.csv", f"{header}\n")))
    assert done.code == 3
    assert message in done.err


def test_a_further_column_may_resemble_one_that_is_there(files: Files) -> None:
    head, *body = widen(LONG)
    table = [[*head, "date", "items"], *([*row, "2026-01-01", "5"] for row in body)]
    assert read(files, write_table(table)) == read(files, write_table(LONG))


def test_bytes_that_are_not_unicode_are_refused_with_line_column_and_what_to_do(
    files: Files,
) -> None:
    done = here(*files.words(files.write("r.csv", write_table(LONG, ";").encode("latin-1"))))
    assert done.code == 3
    assert ":3: rater: not UTF-8" not in done.err
    assert ": rater: not UTF-8: byte 0xf3" in done.err
    assert "the file may be Latin-1 or Windows-1252: save it as UTF-8" in done.err


def test_a_workbook_without_its_reader_names_the_extra(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    done = here(*files.words(files.write("r.xlsx", b"PK")))
    assert done.code == 2
    assert "pip install 'markscheme[xlsx]'; or save it as CSV" in done.err


def write_workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl writes the workbooks of the tests")
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, table in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in table:
            sheet.append(row)
    workbook.save(path)
    return path


def use_numbers(table: list[list[str]]) -> list[list[Any]]:
    return [[int(cell) if cell.isdecimal() else cell for cell in row] for row in table]


@pytest.mark.parametrize("wide", [False, True])
def test_a_workbook_says_the_same(files: Files, *, wide: bool) -> None:
    pytest.importorskip("python_calamine", reason="the extra markscheme[xlsx] is not installed")
    table = use_numbers(widen(LONG) if wide else LONG)
    sheets = {"Notes": [["what we did"]], "Ratings": [[], *table]}
    path = write_workbook(files.folder / "r.xlsx", sheets)
    exam = load_exam(files.exam, rubric=RUBRIC)
    scope = RatingScope(rubric=RUBRIC, exam=exam, variants=("big", "small"))
    expected = read_ratings(files.write("long.csv", write_table(LONG)), scope)
    assert read_ratings(path, scope) == expected


def test_mistakes_in_a_workbook_are_named_by_row_and_column(files: Files) -> None:
    pytest.importorskip("python_calamine", reason="the extra markscheme[xlsx] is not installed")
    table = use_numbers(widen(LONG))
    table[1][3], table[2][4] = 4.5, None
    done = here(*files.words(write_workbook(files.folder / "r.xlsx", {"r": table})))
    assert done.code == 3
    assert "r.xlsx:2: Q-01: `4.5` is no score" in done.err
    assert "r.xlsx:3: Q-02: is empty" in done.err


def test_a_workbook_with_two_sheets_of_ratings_or_none_is_refused(files: Files) -> None:
    pytest.importorskip("python_calamine", reason="the extra markscheme[xlsx] is not installed")
    table = use_numbers(LONG)
    two = write_workbook(files.folder / "two.xlsx", {"a": table, "b": table})
    assert "the sheets a, b all have a header" in here(*files.words(two)).err
    none = write_workbook(files.folder / "none.xlsx", {"a": [["x"]]})
    assert "no sheet has a header" in here(*files.words(none)).err
    broken = files.write("broken.xlsx", b"no zip")
    assert "cannot be read as a workbook" in here(*files.words(broken)).err


def test_the_whole_comparison_is_the_same(files: Files) -> None:
    plain = rows([GOOD] * 5, [GOOD] * 5)
    table = widen([HEADER.split(","), *(line.split(",") for line in plain)])
    wide = files.write("wide.csv", write_table(table, ";").encode("utf-16"))
    one = here(*files.words(wide, "--format", "json"))
    assert one.code == 0
    assert one.out == here(*files.words(files.ratings(plain), "--format", "json")).out
