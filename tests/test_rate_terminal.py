"""Rating on a real terminal: one key per score, a pager, corrections, kills that lose nothing."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from desks import Desk
from terminals import Terminal

if TYPE_CHECKING:
    from pathlib import Path

EACH = "444444\r"
"""Six scores and no note: seven keys."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def sit(desk: Desk, *more: str, rows: int = 24, columns: int = 80) -> Terminal:
    return Terminal(*desk.command, "--rater", "anna", *more, rows=rows, columns=columns)


def test_seven_keys_rate_an_answer_and_nothing_names_a_variant(desk: Desk) -> None:
    with sit(desk) as terminal:
        terminal.wait_for("Q-01 Pattern precision")
        terminal.press("4", "Q-02 File selection")
        terminal.press("44444", "OP-05 Dispatch quality")
        terminal.press("\r", "answer 2 of 4")
        terminal.press(EACH * 2, "answer 4 of 4")
        terminal.press(EACH, "Everything is rated.")
        assert desk.rated == []
        assert "big" not in terminal.seen + desk.sitting.read_text()
        terminal.type("\r")
        assert terminal.end() == 0
        assert terminal.mode == terminal.former_mode
        assert "4 of 4 answers are rated" in terminal.seen
        assert terminal.seen.count("\x1b[?1049l") == 1
    assert [row["score"] for row in desk.rated] == ["4"] * 24


def test_a_screen_of_24_rows_shows_answer_axis_anchors_and_keys(desk: Desk) -> None:
    with sit(desk) as terminal:
        lines = terminal.wait_for("q quit").split("\n")
        assert len(lines) == 24
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith(" answer 1 of 4 · query TQ-")
        assert any(line.startswith(" 5  The whole pattern landscape") for line in lines)
        assert lines[-1].startswith("1–5 score · n note · z undo · s skip")


def test_a_long_answer_is_read_page_by_page_and_shown_again(desk: Desk) -> None:
    text = "\n".join(f"finding {n}" for n in range(1, 61))
    rows = [{"item": "TQ-1", "subject": v, "output": text} for v in ("big", "small")]
    desk.answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with sit(desk) as terminal:
        first = terminal.wait_for("more lines, Space")
        assert "finding 1\n" in first
        assert "finding 60" not in first
        terminal.press("\x1b[F", "end of the text")
        assert "finding 60" in terminal.screen
        # A score keeps the place in the text, `v` goes to its beginning.
        assert "finding 60" in terminal.press("4", "Q-02 File")
        assert "finding 1\n" in terminal.press("v", "more lines, Space")
        pages = terminal.screen
        while "end of the text" not in terminal.screen:
            pages += terminal.redraw(" ")
        assert all(f"finding {n}\n" in pages for n in range(1, 61))


def test_undo_note_skip_help_and_going_back(desk: Desk) -> None:
    with sit(desk) as terminal:
        terminal.wait_for("Q-01")
        terminal.press("2", "Q-02 File")
        terminal.press("z", "Q-01 Pattern")
        terminal.press("nunsure ñ\x7fn", "note: unsure n")
        terminal.press("\r", "note: unsure n")
        terminal.press("5", "Q-02 File")
        terminal.press("?", "any key closes this")
        terminal.press("x", "1–5 score")
        terminal.press("x", "a whole number from 1 to 5")
        terminal.press("s", "answer 2 of 4")
        terminal.press("[", "answer 1 of 4")
        terminal.press("k", "rated before: 5, “unsure n”")
        terminal.press("\x1b[C", "answer 2 of 4")
        terminal.press("g", "go to answer number:")
        terminal.press("3\r", "answer 3 of 4")
        terminal.press("nnever mind", "note: never mind")
        terminal.press("\x1b", "1–5 score")
        terminal.type("q")
        assert terminal.end() == 4
    assert desk.marks[0] == (1, "Q-01", 2)
    assert desk.marks[-1] == (1, "Q-01", 5)
    assert "never" not in desk.sitting.read_text()


def test_pasted_text_is_a_note_in_a_note_and_no_keys_elsewhere(desk: Desk) -> None:
    paste = "\x1b[200~1\n2\nq\x1b[201~"
    with sit(desk) as terminal:
        terminal.wait_for("Q-01")
        terminal.type(paste)
        terminal.press(f"n{paste}\r", "note: 1 2 q")
        terminal.press("3", "Q-02 File")
    assert desk.marks == [(1, "Q-01", 3)]


def test_an_earlier_sitting_is_corrected_and_only_that_row_changes(desk: Desk) -> None:
    desk.rate(("4\n" * 6 + "\n") * 4)
    before = desk.rated
    with sit(desk) as terminal:
        terminal.wait_for("Everything is rated.")
        terminal.press("g2\r", "rated before: 4 (Enter keeps it)")
        terminal.press("\r1", "Q-03 Gap")
        terminal.press("q", "")
        assert terminal.end() == 0
    (changed,) = [row for row in desk.rated if row not in before]
    assert (changed["order"], changed["axis"], changed["score"]) == ("2", "Q-02", "1")


def test_a_kill_at_any_key_loses_no_score_and_asks_nothing_twice(desk: Desk) -> None:
    """Each process is killed at once after a key whose effect was seen, then started again."""
    keys = ["4"] * 6 + ["\r"]
    given = 0
    while given < 14:
        with sit(desk) as terminal:
            terminal.wait_for("rated · anna")
            for _ in range(3):
                number, axis = divmod(given, 7)
                wanted = ["Q-01", "Q-02", "Q-03", "Q-04", "Q-05", "Q-06", "OP-05"][axis]
                screen = terminal.wait_for(wanted)
                assert screen.startswith(f" answer {number + 1} of 4")
                terminal.type(keys[axis])
                given += 1
                after = divmod(given, 7)
                terminal.wait_for(f"answer {after[0] + 1} of 4")
                terminal.wait_for(
                    ["Q-01", "Q-02", "Q-03", "Q-04", "Q-05", "Q-06", "OP-05"][after[1]]
                )
            terminal.process.send_signal(signal.SIGKILL)
    marks = [(order, axis) for order, axis, _ in desk.marks]
    assert len(marks) == len(set(marks)) == given
    assert desk.rated == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_terminal_as_it_was(
    desk: Desk, number: signal.Signals, code: int
) -> None:
    with sit(desk) as terminal:
        terminal.wait_for("Q-01")
        terminal.press("4", "Q-02 File")
        terminal.process.send_signal(number)
        assert terminal.end() == code
        assert terminal.mode == terminal.former_mode
        assert "\x1b[?1049l" in terminal.seen
    assert desk.marks == [(1, "Q-01", 4)]


def test_another_size_is_drawn_at_once_and_a_small_one_still_works(desk: Desk) -> None:
    with sit(desk) as terminal:
        terminal.wait_for("Q-01")
        terminal.resize(14, 50)
        terminal.process.send_signal(signal.SIGWINCH)
        lines = terminal.redraw().split("\n")
        assert len(lines) <= 14
        assert max(map(len, lines)) <= 50
        terminal.press("4", "Q-02 File")


def test_a_scale_to_ten_takes_a_line(desk: Desk) -> None:
    anchors = ", ".join(f"{n}: point {n}" for n in range(11))
    desk.write(
        "wide.yaml",
        "rubric: wide\nversion: 1\naxes:\n"
        f"  - {{name: W, kind: scale, question: 'How wide?', anchors: {{{anchors}}}}}\n",
    )
    command = [str(desk.folder / "wide.yaml") if w == "context-agent" else w for w in desk.command]
    with Terminal(*command, "--rater", "anna") as terminal:
        terminal.wait_for("How wide?")
        terminal.press("1", "score: 1")
        terminal.press("0\r", "answer 2 of 4")
        terminal.press("99\r", "a whole number from 0 to 10")
    assert desk.marks == [(1, "W", 10)]


def test_in_spanish_the_screen_is_spanish(desk: Desk) -> None:
    with sit(desk, "--lang", "es") as terminal:
        screen = terminal.wait_for("anna")
        assert "respuesta 1 de 4" in screen
        assert "salir" in screen
