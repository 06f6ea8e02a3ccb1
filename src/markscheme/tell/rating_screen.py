"""Rating on a whole terminal screen, with one key for each score.

The upper part shows the answer (or what the agent did) and scrolls; the lower part shows the axis
with its anchors and stays. Everything is drawn again after each key, so that it fits whatever size
the terminal has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from markscheme.tell.keyboard import Keyboard
from markscheme.tell.language import translate, translate_plural
from markscheme.tell.rating_session import (
    LINE_ACTIONS,
    RatingAction,
    RatingCommand,
    RatingQuestion,
    describe_end,
    describe_mark,
    describe_place,
    describe_text,
    format_axis_label,
    format_short_mark,
    list_key_help,
    mask_text,
    parse_number,
)
from markscheme.tell.transcript import list_activity
from markscheme.vocabulary import NoteAxis, ScaleAxis

_REVERSE, _BOLD, _DIM, _PLAIN = "\x1b[7m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_MIN_BODY_LINES = 3
_FRAME_LINES = 4
_ONE_KEY_LIMIT = 9
_KEY_ACTIONS = {
    **LINE_ACTIONS,
    "enter": RatingAction.KEEP,
    "left": RatingAction.PREVIOUS_ANSWER,
    "right": RatingAction.NEXT_ANSWER,
}
del _KEY_ACTIONS[""]


class ScreenView:
    """Draws each question on the whole screen and reads single keys."""

    def __init__(self, keyboard: Keyboard, out: TextIO) -> None:
        self._keyboard = keyboard
        self._out = out
        self._message = ""
        self._mode = "answer"
        self._top = 0
        self._shown: tuple[int, int] | None = None
        self._page_lines = _MIN_BODY_LINES
        self._body_lines = 0

    def tell(self, message: str) -> None:
        """Show a message until the next key."""
        self._message = message

    def ask(self, question: RatingQuestion) -> RatingCommand:
        """Draw a question, and read keys until one is a command for the session."""
        self._choose_mode(question)
        while True:
            self._draw(question)
            with self._keyboard.redrawing(lambda: self._draw(question)):
                key = self._keyboard.read_key()
            self._message = ""
            if key is None:
                return RatingCommand(action=RatingAction.QUIT)
            if self._mode == "help":
                self._show("answer")
            elif not self._scroll(key) and not self._switch(key, question):
                command = self._read_command(key, question)
                if command is not None:
                    return command

    def _choose_mode(self, question: RatingQuestion) -> None:
        """Show a new answer from its beginning, and what the agent did where a note is asked."""
        shown = (0, 0) if question.place is None else (question.number, question.at)
        if shown == self._shown:
            return
        is_new = self._shown is None or self._shown[0] != shown[0]
        self._shown = shown
        asks_note = question.place is not None and isinstance(question.axis, NoteAxis)
        if asks_note and _has_activity(question):
            self._show("activity")
        elif is_new or self._mode != "answer":
            self._show("answer")

    def _show(self, mode: str) -> None:
        self._mode, self._top = mode, 0

    def _scroll(self, key: str) -> bool:
        """Scroll the body; return whether the key was for that."""
        # A page repeats the last line of the page before it.
        page = max(1, self._page_lines - 1)
        last = max(0, self._body_lines - self._page_lines)
        tops = {
            "space": self._top + page,
            "pagedown": self._top + page,
            "b": self._top - page,
            "pageup": self._top - page,
            "down": self._top + 1,
            "up": self._top - 1,
            "home": 0,
            "end": last,
        }
        if key not in tops:
            return False
        self._top = min(max(0, tops[key]), last)
        return True

    def _switch(self, key: str, question: RatingQuestion) -> bool:
        """Show something else in the body; return whether the key was for that."""
        if key == "?":
            self._show("help")
        elif key == "v":
            self._show("answer")
        elif key == "a":
            if _has_activity(question):
                self._show("answer" if self._mode == "activity" else "activity")
            else:
                self.tell(translate("there is no log of what the agent did"))
        else:
            return False
        return True

    def _read_command(self, key: str, question: RatingQuestion) -> RatingCommand | None:
        """Return the command of a key; `None` if the rater cancelled it."""
        if key == "n" and question.place is not None:
            text = self._edit(question, translate("note: "), question.note)
            return None if text is None else RatingCommand(action=RatingAction.NOTE, text=text)
        if key == "g":
            number = self._edit(question, translate("go to answer number: "))
            if number is None:
                return None
            return RatingCommand(action=RatingAction.GO_TO, number=parse_number(number) or 0)
        if key in _KEY_ACTIONS:
            return RatingCommand(action=_KEY_ACTIONS[key])
        if question.place is None or not isinstance(question.axis, ScaleAxis):
            return RatingCommand(action=RatingAction.UNKNOWN)
        return self._read_score(key, question, question.axis)

    def _read_score(
        self, key: str, question: RatingQuestion, scale: ScaleAxis
    ) -> RatingCommand | None:
        """Return the score of a key. Scales beyond 0 to 9 need a line."""
        score = parse_number(key)
        if scale.lowest >= 0 and scale.highest <= _ONE_KEY_LIMIT:
            typed = score
        elif score is None and key != "-":
            typed = None
        else:
            text = self._edit(question, translate("score: "), key)
            if text is None:
                return None
            typed = parse_number(text)
        action = RatingAction.UNKNOWN if typed is None else RatingAction.SCORE
        return RatingCommand(action=action, number=typed or 0)

    def _edit(self, question: RatingQuestion, prompt: str, text: str = "") -> str | None:
        """Let the rater type a line at the bottom; return `None` if it was cancelled by Esc."""
        while True:
            self._draw(question, entry=f"{prompt}{text}")
            with self._keyboard.redrawing(lambda: self._draw(question, entry=f"{prompt}{text}")):  # noqa: B023
                key = self._keyboard.read_text_key()
            if key is None or key == "esc":
                return None
            if key == "enter":
                return text.strip()
            if key == "backspace":
                text = text[:-1]
            elif key == "clear":
                text = ""
            elif key.startswith("text:"):
                text += "".join(c if c.isprintable() else " " for c in key.removeprefix("text:"))

    def _draw(self, question: RatingQuestion, entry: str | None = None) -> None:
        """Draw the whole screen; with an `entry`, its last line is being typed."""
        width, height = self._measure_screen()
        panel = list(_build_panel(question, width, height - _FRAME_LINES - _MIN_BODY_LINES))
        body = self._build_body(question, width)
        self._page_lines = max(_MIN_BODY_LINES, height - _FRAME_LINES - len(panel))
        self._body_lines = len(body)
        self._top = min(self._top, max(0, len(body) - self._page_lines))
        window = body[self._top : self._top + self._page_lines]
        window += [""] * (self._page_lines - len(window))
        lines = [
            _REVERSE + _fill(_build_title(question, width), width) + _PLAIN,
            _build_rule(_describe_body(self._mode, question), width),
            *window,
            _build_rule(self._describe_scroll(), width),
            *panel,
        ]
        bottom = self._message or _list_short_keys(question)
        if entry is None:
            last = (_BOLD if self._message else _DIM) + _cut(bottom, width - 1) + _PLAIN
        else:
            last = _keep_tail(entry, width - 2)
        screen = "".join(f"{line}\x1b[K\r\n" for line in lines[: height - 1])
        cursor = "\x1b[?25l" if entry is None else "\x1b[?25h"
        self._out.write(f"\x1b[H{screen}{last}\x1b[K\x1b[J{cursor}")
        self._out.flush()

    def _measure_screen(self) -> tuple[int, int]:
        """Return the columns and rows of the terminal; 80 and 24 if it does not say."""
        try:
            columns, rows = os.get_terminal_size(self._out.fileno())
        except OSError:
            columns, rows = 0, 0
        return max(20, columns or 80), max(10, rows or 24)

    def _build_body(self, question: RatingQuestion, width: int) -> list[str]:
        if self._mode == "help":
            return list_key_help(question)
        if question.place is None:
            return [*wrap_text(describe_end(question), width), "", *question.overview]
        if self._mode == "activity" and question.place.answer.transcript is not None:
            text = "\n".join(list_activity(question.place.answer.transcript))
            return list(wrap_text(text, width))
        prompt = wrap_text(question.place.answer.prompt, width)
        asked = [f"{_BOLD}{line}{_PLAIN}" for line in prompt]
        return [*asked, "", *wrap_text(describe_text(question.place), width)]

    def _describe_scroll(self) -> str:
        below = self._body_lines - self._top - self._page_lines
        if below > 0:
            return translate_plural("{n} more line, Space", "{n} more lines, Space", below)
        return translate("end of the text") if self._body_lines > self._page_lines else ""


def _has_activity(question: RatingQuestion) -> bool:
    return question.place is not None and question.place.answer.transcript is not None


def _build_title(question: RatingQuestion, width: int) -> str:
    left = f" {describe_place(question)}"
    rated = translate("{rated} of {many} rated", rated=question.rated, many=question.answers)
    right = f"{rated} · {mask_text(question.rater)} "
    space = width - measure_cells(left) - measure_cells(right)
    return f"{left}{' ' * space}{right}" if space > 0 else left


def _describe_body(mode: str, question: RatingQuestion) -> str:
    if mode == "help":
        return translate("keys; any key closes this")
    if mode == "activity":
        return translate("what the agent did; v shows the answer")
    return "" if question.place is None else translate("query and answer")


def _list_short_keys(question: RatingQuestion) -> str:
    if question.place is None:
        return translate("Enter finish · [ or g correct an answer · z undo · ? keys")
    more = translate(" · a agent") if _has_activity(question) else ""
    axis = question.axis
    if isinstance(axis, NoteAxis):
        return translate("Enter nothing to note · n write · z undo · v answer · ? keys · q quit")
    return translate(
        "{lowest}–{highest} score · n note · z undo · s skip · Space more{more} · ? keys · q quit",
        lowest=axis.lowest,
        highest=axis.highest,
        more=more,
    )


def _build_panel(question: RatingQuestion, width: int, room: int) -> Iterator[str]:
    """Yield the lines of the lower part: the axis, its anchors, what was said before."""
    if question.place is None:
        return
    axis = question.axis
    given = [
        f"{_REVERSE}{format_short_mark(mark)}{_PLAIN}"
        if at == question.at
        else format_short_mark(mark)
        for at, mark in enumerate(question.marks)
    ]
    label = _cut(format_axis_label(question), width - 2 * len(given) - 2)
    space = width - measure_cells(label) - 2 * len(given)
    yield f"{_BOLD}{label}{_PLAIN}{' ' * space}{' '.join(given)}"
    before = [] if question.mark is None else [describe_mark(question.mark)]
    if question.draft:
        before.append(translate("note: ") + question.draft)
    asked = list(wrap_text(axis.question, width))
    anchors = list(_build_anchors(axis, width)) if isinstance(axis, ScaleAxis) else []
    if 1 + len(asked) + len(anchors) + len(before) > room and isinstance(axis, ScaleAxis):
        # On a low screen each anchor gets one line.
        anchors = [_cut(f" {at}  {text}", width) for at, text in axis.anchors.items()]
    yield from asked
    yield from anchors
    yield from (_cut(line, width) for line in before)


def _build_anchors(scale: ScaleAxis, width: int) -> Iterator[str]:
    indent = len(str(scale.highest)) + 3
    for at, text in scale.anchors.items():
        first, *more = wrap_text(text, width - indent)
        yield f" {_BOLD}{at:>{indent - 3}}{_PLAIN}  {first}"
        yield from (f"{' ' * indent}{line}" for line in more)


def _build_rule(label: str, width: int) -> str:
    text = f" {_cut(label, width - 6)} " if label else ""
    return f"{_DIM}{'─' * (width - measure_cells(text) - 2)}{text}──{_PLAIN}"


# --- text and its width ---------------------------------------------------------------------------


def measure_cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    from rich.cells import cell_len

    return len(text) if text.isascii() else cell_len(text)


def wrap_text(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text, broken at spaces where they are too wide; indents stay."""
    for line in mask_text(text).expandtabs(4).split("\n"):
        rest = line.rstrip()
        words = rest.lstrip()
        # What continues a list item stands below its text.
        spaces = len(rest) - len(words) + 2 * words.startswith(("- ", "* "))
        indent = " " * min(spaces, width // 2)
        while measure_cells(rest) > width:
            end = _find_break(rest, width, len(indent))
            yield rest[:end].rstrip()
            rest = indent + rest[end:].lstrip()
        yield rest


def _find_break(line: str, width: int, indent: int) -> int:
    """Return where to break a line: at the last space that fits, else in the middle of a word."""
    end = min(len(line), width)
    while measure_cells(line[:end]) > width:
        end -= 1
    space = line.rfind(" ", indent + 1, end + 1)
    return space if space > 0 else max(indent + 1, end)


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text that fits into a width, on one line."""
    text = mask_text(text).replace("\n", " ").replace("\t", " ")
    if measure_cells(text) <= width:
        return text
    while text and measure_cells(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _keep_tail(text: str, width: int) -> str:
    """Return the end of a text that fits into a width: what is being typed."""
    text = mask_text(text)
    while measure_cells(text) > width:
        text = text[1:]
    return text


def _fill(text: str, width: int) -> str:
    shown = _cut(text, width)
    return shown + " " * (width - measure_cells(shown))
