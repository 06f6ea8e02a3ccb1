"""Rating at the terminal: blind, in seeded order, safe row by row, and taken up again."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commands import Done, here, markscheme
from comparisons import AXES, HEADER, ITEMS, Files
from markscheme import Rating, UsageError, load_exam, load_rubric
from markscheme.read.ratings import RatingFile, RatingScope
from markscheme.workflows.rate import BlindAnswer, shuffle_blind

if TYPE_CHECKING:
    from pathlib import Path

EACH = "4\n" * 6 + "\n"
"""Six scores and no note."""


class Desk(Files):
    """Two items with the answers of two variants, and a rater."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        lines = self.exam.read_text().splitlines()[:4]
        self.exam = self.write("exam.yaml", "\n".join(lines) + "\n")
        rows = [
            {"item": item, "subject": variant, "output": f"text {at}\x1b[2J"}
            for at, (item, variant) in enumerate(
                (i, v) for i in ITEMS[:2] for v in ("big", "small")
            )
        ]
        self.answers = self.write("answers.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
        self.out = folder / "ratings.csv"

    def rate(self, typed: str, *more: str | Path) -> Done:
        inputs = ("-r", "context-agent", "-e", self.exam, "-a", self.answers, "-o", self.out)
        with mock.patch.object(sys, "stdin", io.StringIO(typed)):
            return here("rate", *inputs, "--rater", "anna", "--lang", "en", *more)

    @property
    def rated(self) -> list[str]:
        return self.out.read_text().splitlines()[1:]


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


def test_ratings_that_were_given_here_can_be_compared(desk: Desk) -> None:
    desk.rate(EACH * 4)
    words = ("-r", "context-agent", "-e", desk.exam, "--ratings", desk.out, "--format", "json")
    done = here("compare", *words, "-b", "big", "-c", "small")
    assert done.code == 0
    assert {query["verdict"] for query in done.json["queries"]} == {"equivalent"}


def test_a_sitting_is_taken_up_where_it_was_left(desk: Desk) -> None:
    first = desk.rate("4\n5\nq\n")
    assert first.code == 4
    assert "0 of 4 answers are rated" in first.out
    assert len(desk.rated) == 2
    again = desk.rate("3\n" * 4 + "\n" + EACH * 3)
    assert again.code == 0
    scores = [line.split(",")[4] for line in desk.rated[:6]]
    assert scores == ["4", "5", "3", "3", "3", "3"]
    assert desk.rate("").code == 0


def test_the_end_of_the_input_keeps_what_was_rated(desk: Desk) -> None:
    assert desk.rate("4\n4\n4").code == 4
    assert len(desk.rated) == 3


def test_a_sitting_works_in_a_pipe(desk: Desk) -> None:
    inputs = ("-r", "context-agent", "-e", desk.exam, "-a", desk.answers, "-o", desk.out)
    done = markscheme("rate", *inputs, "--rater", "anna", stdin=b"4\n" + b"n\n\xff\n4\n")
    assert done.code == 4
    assert [line.split(",")[4] for line in desk.rated] == ["4", "4"]


def test_the_last_score_can_be_taken_back(desk: Desk) -> None:
    desk.rate("4\n2\nb\n5\nq\n")
    assert [line.split(",")[3:5] for line in desk.rated] == [["Q-01", "4"], ["Q-02", "5"]]


def test_taking_back_reaches_the_answer_before(desk: Desk) -> None:
    desk.rate(EACH + "b\nq\n")
    assert len(desk.rated) == 5


def test_what_is_no_score_is_asked_again(desk: Desk) -> None:
    done = desk.rate("0\n6\n3.5\nfour\n\n٣\n4\nq\n")
    assert done.out.count("a whole number from 1 to 5") == 6
    assert [line.split(",")[4] for line in desk.rated] == ["4"]


def test_notes_stand_beside_scores_and_where_words_are_asked_for(desk: Desk) -> None:
    desk.rate('n\nunsure, "really"\n4\n' + "4\n" * 5 + "one was idle\nq\n")
    assert desk.rated[0].endswith(',Q-01,4,"unsure, ""really"""')
    assert desk.rated[6].endswith(",OP-05,,one was idle")


def test_a_skipped_answer_stays_open(desk: Desk) -> None:
    assert desk.rate("s\n" + EACH * 3).code == 4
    assert len(desk.rated) == 18


def test_a_torn_row_is_cut_off_and_asked_again(desk: Desk) -> None:
    desk.rate("4\n5\nq\n")
    desk.out.write_bytes(desk.out.read_bytes()[:-4])
    done = desk.rate("2\nq\n")
    assert "was not whole and is cut off" in done.out
    assert [line.split(",")[4] for line in desk.rated] == ["4", "2"]


def test_another_rater_adds_to_the_same_file(desk: Desk) -> None:
    desk.rate(EACH * 4)
    desk.rate(EACH * 4, "--rater", "bob")
    assert len(desk.rated) == 48
    assert desk.out.read_text().count(HEADER) == 1


def test_json_is_one_document_and_the_questions_go_to_stderr(desk: Desk) -> None:
    done = desk.rate(EACH, "--format", "json")
    assert done.json["left"] == 3
    assert "Pattern precision" in done.err


def test_the_order_is_that_of_the_seed_and_the_rater() -> None:
    answers = [
        BlindAnswer(item=item, variant=variant, prompt="", text="")
        for item in ITEMS
        for variant in "xyz"
    ]
    one = shuffle_blind(answers, "anna", 0)
    assert one == shuffle_blind(reversed(answers), "anna", 0)
    assert one != shuffle_blind(answers, "anna", 1)
    assert one != shuffle_blind(answers, "bob", 0)
    assert sorted(one, key=str) == sorted(answers, key=str)


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


def test_a_file_of_other_ratings_is_not_written_over(desk: Desk) -> None:
    desk.out.write_text("a,b\n1,2\n")
    assert desk.rate(EACH).code == 3
    assert desk.out.read_text() == "a,b\n1,2\n"
    assert AXES[0] not in desk.out.read_text()


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
    assert desk.rate("4\n").code == 4
    assert len(desk.rated) == 1


def test_a_rater_is_the_same_however_the_accent_is_typed(desk: Desk) -> None:
    desk.rate("4\n", "--rater", "zoe\u0308")
    desk.rate("4\n", "--rater", "zo\u00eb")
    assert [line.split(",")[2:4] for line in desk.rated] == [["zoë", "Q-01"], ["zoë", "Q-02"]]


def test_a_note_with_a_nul_in_it_leaves_a_file_that_can_be_read(desk: Desk) -> None:
    desk.rate("n\nso\0so\n4\n")
    assert desk.rated[0].endswith(",4,soso")
    assert desk.rate("4\n").code == 4


def test_an_interrupt_ends_the_sitting_at_once(desk: Desk) -> None:
    """The signal is made usual first: whoever runs the tests may have it ignored."""
    usual = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    code = f"{usual}; from markscheme.cli.main import run; run()"
    inputs = ("-r", "context-agent", "-e", desk.exam, "-a", desk.answers, "-o", desk.out)
    rate = ("rate", *map(str, inputs), "--rater", "anna", "--lang", "en")
    words = [sys.executable, "-c", code, *rate]
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
    assert len(desk.rated) == 1


# --- several raters at once ---------------------------------------------------------------------


def book_of(desk: Desk) -> RatingFile:
    rubric = load_rubric("context-agent")
    exam = load_exam(desk.exam, rubric=rubric)
    scope = RatingScope(rubric=rubric, exam=exam, variants=("big", "small"), allow_gaps=True)
    return RatingFile(desk.out, scope)


def rating(rater: str, axis: str, score: int = 4, note: str = "") -> Rating:
    return Rating(item=ITEMS[0], variant="big", rater=rater, axis=axis, score=score, note=note)


def test_what_one_rater_takes_back_is_nothing_of_another(desk: Desk) -> None:
    anna, bob = book_of(desk), book_of(desk)
    anna.add_rating(rating("anna", AXES[0]))
    bob.add_rating(rating("bob", AXES[0]))
    anna.add_rating(rating("anna", AXES[1]))
    bob.add_rating(rating("bob", AXES[1], note="a\nnote"))
    for _ in range(2):
        assert anna.undo_last_rating() is not None
    assert anna.undo_last_rating() is None
    assert [(one.rater, one.axis) for one in book_of(desk).ratings] == [
        ("bob", AXES[0]),
        ("bob", AXES[1]),
    ]
    assert bob.undo_last_rating() is not None
    bob.add_rating(rating("bob", AXES[1], score=2))
    assert [one.score for one in book_of(desk).ratings] == [4, 2]
    assert list(desk.folder.glob(".ratings*")) == []


def test_a_file_that_is_a_link_stays_one_and_keeps_its_mode(desk: Desk) -> None:
    there = desk.folder / "elsewhere.csv"
    there.write_text(f"{HEADER}\n" if not HEADER.endswith("\n") else HEADER)
    there.chmod(0o640)
    desk.out.symlink_to(there)
    anna, bob = book_of(desk), book_of(desk)
    anna.add_rating(rating("anna", AXES[0]))
    bob.add_rating(rating("bob", AXES[0]))
    anna.undo_last_rating()
    assert desk.out.is_symlink()
    assert there.stat().st_mode & 0o777 == 0o640
    assert [one.rater for one in book_of(desk).ratings] == ["bob"]


def test_the_same_rater_in_two_sittings_rates_nothing_twice(desk: Desk) -> None:
    one, other = book_of(desk), book_of(desk)
    one.add_rating(rating("anna", AXES[0]))
    with pytest.raises(UsageError, match="`anna` rated this answer in another sitting meanwhile"):
        other.add_rating(rating("anna", AXES[0], score=1))
    assert [found.score for found in book_of(desk).ratings] == [4]


def test_a_sitting_that_meets_its_double_ends_with_what_to_do(desk: Desk) -> None:
    first = desk.rate("4\nq\n").code
    text = desk.out.read_text()
    desk.out.unlink()

    class Meanwhile(io.StringIO):
        """Types a score after the other sitting has given its own."""

        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            desk.out.write_text(text)
            return super().readline(-1 if size is None else size)

    inputs = ("-r", "context-agent", "-e", desk.exam, "-a", desk.answers, "-o", desk.out)
    with mock.patch.object(sys, "stdin", Meanwhile("5\n")):
        done = here("rate", *inputs, "--rater", "anna", "--lang", "en")
    assert (first, done.code) == (4, 2)
    assert "start the command again to go on" in done.err
    assert desk.out.read_text() == text


def test_a_row_that_another_process_tore_is_not_written_on(desk: Desk) -> None:
    book = book_of(desk)
    with desk.out.open("a") as file:
        file.write("TQ-1,big,bo")
    with pytest.raises(UsageError, match="is not whole; start the command again"):
        book.add_rating(rating("anna", AXES[0]))
    again = book_of(desk)
    again.add_rating(rating("anna", AXES[0]))
    assert (again.had_torn_row, len(desk.rated)) == (True, 1)


def test_a_rating_that_was_removed_by_hand_cannot_be_taken_back(desk: Desk) -> None:
    book = book_of(desk)
    before = desk.out.read_bytes()
    book.add_rating(rating("anna", AXES[0]))
    desk.out.write_bytes(before)
    with pytest.raises(UsageError, match=r"is not in .* any more"):
        book.undo_last_rating()


def test_many_raters_at_once_lose_and_garble_nothing(desk: Desk) -> None:
    """Each takes almost every score back and gives another, while the others rate."""
    (desk.folder / "typed").write_text((("1\nb\n3\n") * 5 + "3\n\n") * 4)
    sittings = []
    inputs = ("-r", "context-agent", "-e", desk.exam, "-a", desk.answers, "-o", desk.out)
    words = [sys.executable, "-m", "markscheme", "rate", *map(str, inputs)]
    for rater in ("ann", "bob", "cas", "dan"):
        with (desk.folder / "typed").open() as typed:
            sitting = subprocess.Popen(
                [*words, "--rater", rater],
                stdin=typed,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        sittings.append(sitting)
    for sitting in sittings:
        _, err = sitting.communicate(timeout=120)
        assert (sitting.returncode, err) == (0, b"")
    assert len(desk.rated) == 4 * 4 * 6
    found = book_of(desk).ratings
    assert {one.score for one in found} == {3}
    assert len({(one.item, one.variant, one.rater, one.axis) for one in found}) == 96
