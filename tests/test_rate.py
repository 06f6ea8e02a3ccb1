"""Rating line by line: blind until the rater is done, safe at each score, resumed and corrected."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commands import here, markscheme
from comparisons import AXES, HEADER
from desks import EACH, Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_rater_never_sees_the_variant_and_every_anchor_is_in_view(desk: Desk) -> None:
    done = desk.rate(EACH * 4)
    assert done.code == 0
    assert len(desk.rated) == 24
    assert "big" not in done.out
    assert "small gaps" in done.out
    assert done.out.count("small") == done.out.count("small gaps")
    assert done.out.count("5  The whole pattern landscape") == 4
    assert "\x1b" not in done.out
    assert "difference" not in done.out


def test_no_file_names_a_variant_until_the_rater_is_done(desk: Desk) -> None:
    desk.rate(EACH * 3 + "4\n" * 6)
    written = [path for path in desk.folder.iterdir() if path not in {desk.answers, desk.exam}]
    assert {path.name for path in written} == {"ratings.csv", desk.sitting.name}
    for path in written:
        assert "big" not in path.read_text()
        assert "small" not in path.read_text()
    assert desk.rated == []
    assert len(desk.marks) == 27


def test_ratings_that_were_given_here_can_be_compared(desk: Desk) -> None:
    desk.rate(EACH * 4)
    words = ("-r", "context-agent", "-e", desk.exam, "--ratings", desk.out, "--format", "json")
    done = here("compare", *words, "-b", "big", "-c", "small")
    assert {query["verdict"] for query in done.json["queries"]} == {"equivalent"}
    # The table is made for five queries, and these are two.
    assert (done.code, done.json["decision"]["outcome"]) == (4, "none")


def test_order_and_time_are_recorded_and_each_variant_is_first_once(desk: Desk) -> None:
    desk.rate(EACH * 4)
    places = {(row["item"], row["variant"]): int(row["order"]) for row in desk.rated}
    assert sorted(places.values()) == [1, 2, 3, 4]
    first = {min(("big", "small"), key=lambda v: places[i, v]) for i in ("TQ-1", "TQ-2")}
    assert first == {"big", "small"}
    assert all(row["at"].startswith("20") and row["at"].endswith("Z") for row in desk.rated)


def test_a_sitting_is_taken_up_where_it_was_left(desk: Desk) -> None:
    first = desk.rate("4\n5\nq\n")
    assert first.code == 4
    assert "0 of 4 answers are rated" in first.out
    assert "ratings.anna.sitting.jsonl" in first.out
    again = desk.rate("3\n" * 4 + "\n" + EACH * 3)
    assert again.code == 0
    assert "Q-01" not in again.out.partition("— answer 2")[0]
    scores = [row["score"] for row in desk.rated if row["order"] == "1"]
    assert scores == ["4", "5", "3", "3", "3", "3"]
    assert desk.rate("").code == 0


def test_the_note_is_asked_for_again_if_the_sitting_ended_before_it(desk: Desk) -> None:
    desk.rate("4\n" * 6)
    again = desk.rate("one was idle\n" + EACH * 3)
    assert again.code == 0
    assert again.out.index("OP-05") < again.out.index("Q-01")
    assert [row["note"] for row in desk.rated if row["axis"] == "OP-05"] == ["one was idle"]


def test_the_end_of_the_input_keeps_what_was_rated(desk: Desk) -> None:
    assert desk.rate("4\n4\n4").code == 4
    assert len(desk.marks) == 3


def test_a_sitting_works_in_a_pipe(desk: Desk) -> None:
    done = markscheme(*desk.command, "--rater", "anna", stdin=b"4\n" + b"n\n\xff\n4\n")
    assert done.code == 4
    assert [score for _, _, score in desk.marks] == [4, 4]


def test_the_last_score_can_be_taken_back(desk: Desk) -> None:
    desk.rate("4\n2\nz\n5\nz\nz\nz\n1\nq\n")
    assert desk.rate("5\n5\n5\n5\n5\n\n" + EACH * 3).code == 0
    assert [row["score"] for row in desk.rated if row["order"] == "1"] == ["1", *"55555"]


def test_taking_back_reaches_the_answer_before(desk: Desk) -> None:
    done = desk.rate(EACH + "z\nz\n2\nnow a note\n" + EACH * 3)
    assert done.code == 0
    first = {row["axis"]: row for row in desk.rated if row["order"] == "1"}
    assert (first["Q-06"]["score"], first["OP-05"]["note"]) == ("2", "now a note")


def test_what_is_no_score_is_asked_again(desk: Desk) -> None:
    done = desk.rate("0\n6\n3.5\nfour\n\n٣\n-4\n99999999\n4\nq\n")
    assert done.out.count("a whole number from 1 to 5") == 8
    assert [score for _, _, score in desk.marks] == [4]


def test_notes_stand_beside_scores_and_where_words_are_asked_for(desk: Desk) -> None:
    desk.rate('n\nunsure, "really"\n4\n' + "4\n" * 5 + "one was idle\n" + EACH * 3)
    first = {row["axis"]: row for row in desk.rated if row["order"] == "1"}
    assert (first["Q-01"]["score"], first["Q-01"]["note"]) == ("4", 'unsure, "really"')
    assert (first["OP-05"]["score"], first["OP-05"]["note"]) == ("", "one was idle")


def test_a_skipped_answer_stays_open_until_it_is_rated_or_the_rater_finishes(desk: Desk) -> None:
    done = desk.rate("s\n" + EACH * 3)
    assert done.code == 4
    assert "1 answer was skipped and stays open" in done.out
    assert desk.rated == []
    finished = desk.rate("", "--finish")
    assert (finished.code, len(desk.rated)) == (4, 18)
    assert desk.rate(EACH).code == 0
    assert len(desk.rated) == 24


def test_an_answer_can_be_shown_again_and_help_lists_the_keys(desk: Desk) -> None:
    done = desk.rate("v\n?\nq\n")
    assert done.out.count("text ") == 2
    assert "take back the last score" in done.out


# --- corrections --------------------------------------------------------------------------------


def test_a_score_of_an_earlier_sitting_can_be_changed_before_the_end(desk: Desk) -> None:
    desk.rate(EACH + "q\n")
    desk.rate("[\n\n2\n" + "\n" * 5 + EACH * 3)
    assert [row["score"] for row in desk.rated if row["order"] == "1"] == ["4", "2", *"4444"]
    assert desk.marks.count((1, "Q-02", 4)) == 1
    assert desk.marks.count((1, "Q-02", 2)) == 1


def test_a_finished_rater_can_correct_any_answer_and_nothing_else_moves(desk: Desk) -> None:
    desk.rate(EACH * 4)
    before = desk.rated
    done = desk.rate("g 3\n1\nq\n")
    assert done.code == 0
    assert "rated before: 4" in done.out
    (changed,) = [row for row in desk.rated if row not in before]
    assert (changed["order"], changed["axis"], changed["score"]) == ("3", "Q-01", "1")
    assert len(desk.rated) == 24


def test_what_was_edited_by_hand_stays_unless_the_rater_corrects_it(desk: Desk) -> None:
    desk.rate(EACH * 4)
    lines = desk.out.read_text().splitlines(keepends=True)
    edited = lines[1].replace(",4,", ",5,")
    desk.out.write_text("".join((lines[0], edited, *lines[3:])))
    desk.rate("")
    assert desk.out.read_text().splitlines(keepends=True)[1] == edited
    assert len(desk.rated) == 24


def test_going_to_an_answer_that_is_not_there_says_which_are(desk: Desk) -> None:
    assert "answers have the numbers 1 to 4" in desk.rate("g 9\nq\n").out


# --- files --------------------------------------------------------------------------------------


def old_rows(*rows: str) -> str:
    return "\n".join((HEADER, *rows)) + "\n"


def test_a_half_written_file_of_an_earlier_version_is_taken_up(desk: Desk) -> None:
    """Such files name the variants, and say nothing about order and time."""
    scores = [f"TQ-2,small,anna,{axis},2," for axis in AXES]
    desk.out.write_text(old_rows("TQ-1,big,bob,Q-01,5,kept", *scores))
    done = desk.rate("the note\n" + EACH * 3)
    assert done.code == 0
    taken = [row for row in desk.rated if (row["item"], row["variant"]) == ("TQ-2", "small")]
    assert [row["score"] for row in taken] == ["2"] * 6 + [""]
    assert [row["order"] for row in taken[:6]] == [""] * 6
    assert taken[6]["note"] == "the note"
    assert len(desk.rated) == 1 + 24 + 1
    assert desk.rated[0]["note"] == "kept"


def test_a_torn_row_is_cut_off(desk: Desk) -> None:
    desk.out.write_text(old_rows("TQ-1,big,bob,Q-01,5,")[:-3])
    done = desk.rate("q\n")
    assert "was not whole and is cut off" in done.out
    assert desk.rated == []


def test_a_torn_mark_was_never_given_and_is_asked_again(desk: Desk) -> None:
    desk.rate("4\n5\nq\n")
    desk.sitting.write_bytes(desk.sitting.read_bytes()[:-4])
    desk.rate("2\nq\n")
    assert [score for _, _, score in desk.marks] == [4, 2]


def test_a_sitting_cut_anywhere_goes_on_with_everything_that_was_whole(desk: Desk) -> None:
    desk.rate(EACH * 3 + "4\n" * 3)
    whole = desk.sitting.read_bytes()
    order = [line for line in whole.splitlines() if b'"item"' in line]
    for cut in range(whole.index(b'"axis"'), len(whole), 97):
        desk.out.unlink()
        desk.sitting.write_bytes(whole[:cut])
        kept = whole[:cut].count(b'"axis"') - (not whole[:cut].endswith(b"\n"))
        assert desk.rate("5\n" * 28).code == 0
        assert len(desk.marks) == 28
        assert [score for _, _, score in desk.marks[:kept]].count(4) >= kept * 6 // 7 - 1
        assert [line for line in desk.sitting.read_bytes().splitlines() if b'"item"' in line] == (
            order
        )


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"order": 99, "axis": "Q-01"}', '{"order": true}', '{"order": 1}', "é"]
)
def test_a_damaged_sitting_file_is_refused_with_its_line(desk: Desk, line: str) -> None:
    desk.rate("4\nq\n")
    with desk.sitting.open("a") as file:
        file.write(f"{line}\n")
    done = desk.rate("4\nq\n")
    assert done.code == 3
    assert f"{desk.sitting.name}:7: line: " in done.err


def test_an_answer_that_changed_after_it_was_rated_is_refused(desk: Desk) -> None:
    desk.rate(EACH * 2 + "q\n")
    desk.answers.write_text(desk.answers.read_text().replace("text", "other text"))
    done = desk.rate("")
    assert done.code == 3
    assert done.err.count("has changed since it was rated") == 2


def test_answers_that_come_later_are_added_at_the_end(desk: Desk) -> None:
    desk.rate(EACH * 4)
    desk.write(
        "exam.yaml", desk.exam.read_text() + "  - {id: TQ-9, prompt: nine, tags: {mode: quick}}\n"
    )
    more = [{"item": "TQ-9", "subject": v, "output": "later"} for v in ("small", "big")]
    with desk.answers.open("a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in more))
    assert desk.rate(EACH * 2).code == 0
    assert {row["order"] for row in desk.rated if row["item"] == "TQ-9"} == {"5", "6"}
    assert len(desk.rated) == 36


def test_another_seed_is_refused_once_somebody_has_begun(desk: Desk) -> None:
    desk.rate("4\nq\n", "--seed", "7")
    assert desk.rate("4\nq\n").code == 4
    done = desk.rate("4\nq\n", "--seed", "8")
    assert done.code == 2
    assert "began with --seed 7" in done.err


def test_json_is_one_document_and_the_questions_go_to_stderr(desk: Desk) -> None:
    done = desk.rate(EACH, "--format", "json")
    assert done.json["left"] == 3
    assert done.json["written"] is False
    assert "Pattern precision" in done.err


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('{"item": "TQ-1", "output": "x"}', ":1: subject: is missing"),
        ('{"item": "TQ-9", "output": "x"}', ":1: row:"),
        ("", "holds no answer"),
    ],
)
def test_answers_that_cannot_be_rated_are_refused(desk: Desk, row: str, told: str) -> None:
    desk.answers.write_text(row)
    done = desk.rate("")
    assert done.code == 3
    assert told in done.err


@pytest.mark.parametrize(
    "text",
    [
        "what I know of the matter",
        "a,b\n1,2\n3,4",
        "score,item,variant,rater,axis,note\n5,TQ-1,big,bob,Q-01,\n",
        "item,variant,rater,axis,score\nTQ-1,big,bob,Q-01,5\n",
        HEADER.replace(",", ";"),
    ],
)
def test_a_file_with_other_columns_is_refused_and_left_as_it_is(desk: Desk, text: str) -> None:
    desk.write("ratings.csv", text)
    done = desk.rate("4\n")
    assert done.code == 3
    assert "ratings.csv:1: header: " in done.err
    assert desk.out.read_text() == text


@pytest.mark.parametrize("header", [HEADER[:9], HEADER, f"\ufeff{HEADER.title()}\r\n"])
def test_a_header_that_was_torn_or_written_by_a_spreadsheet_will_do(
    desk: Desk, header: str
) -> None:
    desk.write("ratings.csv", header)
    assert desk.rate(EACH * 4).code == 0
    assert len(desk.rated) == 24


@pytest.mark.parametrize(
    ("name", "same"), [("zoe\u0308", "zo\u00eb"), ("a/b: ¿?", "a/b: ¿?"), ("x" * 300, "x" * 300)]
)
def test_any_name_gets_a_sitting_of_its_own(desk: Desk, name: str, same: str) -> None:
    desk.rate("4\nq\n", rater=name)
    desk.rate("4\n" * 5 + "\n" + EACH * 3, rater=same)
    desk.rate("4\n", rater="anna")
    assert {row["rater"] for row in desk.rated} == {same}
    assert len(list(desk.folder.glob("*.sitting.jsonl"))) == 2


def test_a_note_with_a_nul_in_it_leaves_a_file_that_can_be_read(desk: Desk) -> None:
    desk.rate("n\nso\0so\n4\n" + "4\n" * 5 + "\n" + EACH * 3)
    assert desk.rated[0]["note"] == "soso"
    assert desk.rate("").code == 0


# --- processes ----------------------------------------------------------------------------------


def test_an_interrupt_ends_the_sitting_at_once(desk: Desk) -> None:
    """The signal is made usual first: whoever runs the tests may have it ignored."""
    usual = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    code = f"{usual}; from markscheme.cli.main import run; run()"
    words = [sys.executable, "-c", code, *desk.command, "--rater", "anna"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as sitting:
        assert sitting.stdin is not None
        assert sitting.stdout is not None
        sitting.stdin.write(b"4\n")
        seen = b""
        while seen.count(b"quit: ") < 2:
            seen += sitting.stdout.read(1000)
        sitting.send_signal(signal.SIGINT)
        assert sitting.wait(timeout=60) == 130
    assert len(desk.marks) == 1


def test_a_rater_sits_in_one_terminal_only(desk: Desk) -> None:
    class Double(io.StringIO):
        """Starts the same command again while the first one waits for a score."""

        codes: list[int] = []  # noqa: RUF012 - for this test only

        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            done = markscheme(*desk.command, "--rater", "anna", stdin="1\n")
            assert "is rating in another terminal" in done.err
            self.codes.append(done.code)
            return super().readline(-1 if size is None else size)

    with mock.patch.object(sys, "stdin", Double("5\n")):
        assert here(*desk.command, "--rater", "anna").code == 4
    assert set(Double.codes) == {2}
    assert [score for _, _, score in desk.marks] == [5]


def test_many_raters_at_once_lose_and_garble_nothing(desk: Desk) -> None:
    """Each takes almost every score back and gives another, while the others rate."""
    (desk.folder / "typed").write_text((("1\nz\n3\n") * 5 + "3\n\n") * 4)
    sittings = []
    words = [sys.executable, "-m", "markscheme", *desk.command]
    for rater in ("ann", "bob", "cas", "dan"):
        with (desk.folder / "typed").open() as typed:
            sitting = subprocess.Popen(
                [*words, "--rater", rater],
                stdin=typed,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(os.environ),
            )
        sittings.append(sitting)
    for sitting in sittings:
        _, err = sitting.communicate(timeout=120)
        assert (sitting.returncode, err) == (0, b"")
    assert len(desk.rated) == 4 * 4 * 6
    assert {row["score"] for row in desk.rated} == {"3"}
    keys = {(row["item"], row["variant"], row["rater"], row["axis"]) for row in desk.rated}
    assert len(keys) == 96


def test_a_file_that_is_a_link_stays_one_and_keeps_its_mode(desk: Desk) -> None:
    there = desk.folder / "elsewhere.csv"
    there.write_text(old_rows())
    there.chmod(0o640)
    desk.out.symlink_to(there)
    desk.rate(EACH * 4)
    assert desk.out.is_symlink()
    assert there.stat().st_mode & 0o777 == 0o640
    assert len(desk.rated) == 24
