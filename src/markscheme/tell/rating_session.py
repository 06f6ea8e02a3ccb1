"""A rating session: which answer and axis comes next, and what each command of the rater does.

`RatingSession` decides, a `RatingView` shows and reads. There are two views: `LineView` here reads
lines, for pipes and plain terminals; `rating_screen` reads single keys. The rater never sees the
variant of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from markscheme.tell.language import translate, translate_plural
from markscheme.tell.transcript import list_activity
from markscheme.vocabulary import NoteAxis, ScaleAxis
from markscheme.workflows.sitting import PlacedAnswer, RatedAxis, RatingSitting
from markscheme.workflows.sitting_file import SittingMark

ReadInput = Callable[[str], str | None]
WriteLine = Callable[[str], None]


class RatingAction(Enum):
    """What a rater can ask for."""

    SCORE = auto()
    NOTE = auto()
    KEEP = auto()
    UNDO = auto()
    SKIP = auto()
    PREVIOUS_ANSWER = auto()
    NEXT_ANSWER = auto()
    PREVIOUS_AXIS = auto()
    GO_TO = auto()
    QUIT = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCommand:
    """An action, with the score or number of an answer, or the words of a note."""

    action: RatingAction
    number: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingQuestion:
    """What a view shows: an answer and the axis that is asked for, or the end of the session.

    - `marks` are what the rater said on each of `axes`, `None` where nothing.
    - `draft` is a note that was typed before the score it belongs to.
    - `number` counts the answers of the session from 1.
    - `place` is `None` at the end, when nothing is left to ask; `skipped` counts what stays open,
      and `overview` has a line for each answer with what the rater said.
    """

    place: PlacedAnswer | None
    axes: Sequence[RatedAxis]
    number: int = 0
    marks: Sequence[SittingMark | None] = ()
    at: int = 0
    draft: str = ""
    rater: str = ""
    answers: int = 0
    siblings: int = 1
    rated: int = 0
    skipped: int = 0
    overview: Sequence[str] = ()

    @property
    def axis(self) -> RatedAxis:
        """The axis that is asked for."""
        return self.axes[self.at]

    @property
    def mark(self) -> SittingMark | None:
        """What the rater said on this axis before."""
        return self.marks[self.at]

    @property
    def note(self) -> str:
        """The note on this axis so far."""
        return self.draft or ("" if self.mark is None else self.mark.note)


class RatingView(Protocol):
    """Shows questions and reads commands."""

    def ask(self, question: RatingQuestion) -> RatingCommand:
        """Show a question and return the command of the rater."""

    def tell(self, message: str) -> None:
        """Show a message."""


class RatingSession:
    """Asks one rater for everything that is not rated yet, and lets the rater correct the rest."""

    def __init__(self, sitting: RatingSitting, view: RatingView) -> None:
        self._sitting = sitting
        self._view = view
        self._answers = sitting.answers
        self._skipped: set[int] = set()
        self._place = 0
        self._axis = 0
        self._draft = ""
        self._at_end = False

    def rate_answers(self) -> bool:
        """Ask until the rater quits or ends; return whether everything was rated at that point."""
        self._move_to_open(self._find_begun_answer())
        while True:
            question = self._build_question()
            command = self._view.ask(question)
            ends = command.action in {RatingAction.QUIT, RatingAction.KEEP}
            if command.action is RatingAction.QUIT or (self._at_end and ends):
                return not self._sitting.list_unrated()
            self._apply_command(command)

    def _build_question(self) -> RatingQuestion:
        sitting = self._sitting
        left = len(sitting.list_unrated())
        rated = len(self._answers) - left
        if self._at_end:
            return RatingQuestion(
                place=None,
                axes=sitting.axes,
                rater=sitting.rater,
                answers=len(self._answers),
                rated=rated,
                skipped=left,
                overview=[self._describe_answer(*entry) for entry in enumerate(self._answers, 1)],
            )
        place = self._answers[self._place]
        item = place.answer.item
        return RatingQuestion(
            place=place,
            axes=sitting.axes,
            number=self._place + 1,
            marks=[sitting.get_mark(place, axis) for axis in sitting.axes],
            at=self._axis,
            draft=self._draft,
            rater=sitting.rater,
            answers=len(self._answers),
            siblings=sum(other.answer.item == item for other in self._answers),
            rated=rated,
        )

    def _describe_answer(self, number: int, place: PlacedAnswer) -> str:
        marks = [self._sitting.get_mark(place, axis) for axis in self._sitting.axes]
        given = " ".join(f"{format_short_mark(mark):>2}" for mark in marks)
        return f"{number:>4}  {given}   {place.answer.item} {place.label}"

    def _apply_command(self, command: RatingCommand) -> None:
        match command.action:
            case RatingAction.PREVIOUS_ANSWER:
                self._move_by(-1)
            case RatingAction.NEXT_ANSWER:
                self._move_by(1)
            case RatingAction.GO_TO:
                self._go_to(command.number)
            case RatingAction.UNDO:
                self._undo()
            case _ if self._at_end:
                self._view.tell(translate("there is no question here; ? shows the keys"))
            case _:
                self._answer_question(command)

    def _answer_question(self, command: RatingCommand) -> None:
        """Apply a command that concerns the axis that is asked for."""
        match command.action:
            case RatingAction.SCORE:
                self._add_score(command.number)
            case RatingAction.NOTE:
                self._add_note(command.text)
            case RatingAction.KEEP:
                self._keep()
            case RatingAction.SKIP:
                self._skipped.add(self._place)
                self._move_to_open(self._place + 1)
            case RatingAction.PREVIOUS_AXIS:
                self._axis = max(0, self._axis - 1)
                self._draft = ""
            case _:
                self._view.tell(self._describe_allowed())

    def _describe_allowed(self) -> str:
        axis = self._sitting.axes[self._axis]
        if isinstance(axis, NoteAxis):
            return translate("Enter for no note, n to write one; ? shows all keys")
        return translate(
            "a whole number from {low} to {high}; ? shows all keys",
            low=axis.lowest,
            high=axis.highest,
        )

    def _add_score(self, score: int) -> None:
        place, axis = self._answers[self._place], self._sitting.axes[self._axis]
        if not isinstance(axis, ScaleAxis) or not axis.lowest <= score <= axis.highest:
            self._view.tell(self._describe_allowed())
            return
        before = self._sitting.get_mark(place, axis)
        note = self._draft or ("" if before is None else before.note)
        self._sitting.add_mark(place, axis, score, note)
        self._move_to_next_axis()

    def _add_note(self, text: str) -> None:
        """Record the answer to a note axis; on a scale keep the note for its score."""
        place, axis = self._answers[self._place], self._sitting.axes[self._axis]
        mark = self._sitting.get_mark(place, axis)
        if isinstance(axis, NoteAxis):
            self._sitting.add_mark(place, axis, None, text)
            self._move_to_next_axis()
        elif mark is not None:
            self._sitting.add_mark(place, axis, mark.score, text)
        else:
            self._draft = text

    def _keep(self) -> None:
        """Go on without a change; at a note axis this says that there is nothing to note."""
        place, axis = self._answers[self._place], self._sitting.axes[self._axis]
        if self._sitting.get_mark(place, axis) is not None:
            self._move_to_next_axis()
        elif isinstance(axis, NoteAxis):
            self._add_note("")
        else:
            self._view.tell(self._describe_allowed())

    def _move_to_next_axis(self) -> None:
        """Move to the next axis; after the last one to an axis left open, or to another answer."""
        self._draft = ""
        self._axis += 1
        if self._axis < len(self._sitting.axes):
            return
        place = self._answers[self._place]
        if self._sitting.is_rated(place):
            self._skipped.discard(self._place)
            self._move_to_open(self._place + 1)
        else:
            self._axis = self._find_open_axis(place)

    def _find_begun_answer(self) -> int:
        """Return the first answer that is rated in part: that is where the rater was."""
        for at, place in enumerate(self._answers):
            marks = [self._sitting.get_mark(place, axis) for axis in self._sitting.axes]
            if None in marks and any(marks):
                return at
        return 0

    def _find_open_axis(self, place: PlacedAnswer) -> int:
        axes = enumerate(self._sitting.axes)
        return next((at for at, a in axes if self._sitting.get_mark(place, a) is None), 0)

    def _move_to_open(self, start: int) -> None:
        """Move to the next answer neither rated nor skipped, in a circle; else to the end."""
        many = len(self._answers)
        for at in ((start + step) % many for step in range(many)):
            if at not in self._skipped and not self._sitting.is_rated(self._answers[at]):
                self._open_answer(at)
                return
        self._at_end = True

    def _open_answer(self, at: int) -> None:
        self._place, self._at_end, self._draft = at, False, ""
        self._axis = self._find_open_axis(self._answers[at])

    def _move_by(self, step: int) -> None:
        """Move to a neighbour of the current answer, whether or not it is rated."""
        at = len(self._answers) + (min(0, step)) if self._at_end else self._place + step
        if 0 <= at < len(self._answers):
            self._open_answer(at)
        elif at < 0:
            self._view.tell(translate("this is the first answer"))
        elif self._sitting.list_unrated():
            self._view.tell(translate("this is the last answer"))
        else:
            self._at_end = True

    def _go_to(self, number: int) -> None:
        """Open the answer with this number in the rater's order."""
        if 1 <= number <= len(self._answers):
            self._open_answer(number - 1)
        else:
            self._view.tell(
                translate("answers have the numbers 1 to {many}", many=len(self._answers))
            )

    def _undo(self) -> None:
        step = self._sitting.undo_last_mark()
        if step is None:
            self._view.tell(
                translate("nothing to take back in this sitting; [ goes to earlier answers")
            )
            return
        self._open_answer(self._answers.index(step.place))
        self._axis = self._sitting.axes.index(step.axis)


# --- lines ----------------------------------------------------------------------------------------


LINE_ACTIONS = {
    "": RatingAction.KEEP,
    "z": RatingAction.UNDO,
    "s": RatingAction.SKIP,
    "[": RatingAction.PREVIOUS_ANSWER,
    "]": RatingAction.NEXT_ANSWER,
    "k": RatingAction.PREVIOUS_AXIS,
    "j": RatingAction.KEEP,
    "q": RatingAction.QUIT,
}


class LineView:
    """Prints each answer and question once, and reads a line for each command.

    `ask_line` prints a prompt and returns the typed line, `None` at the end of the input;
    `write_line` prints.
    """

    def __init__(self, ask_line: ReadInput, write_line: WriteLine) -> None:
        self._ask_line = ask_line
        self.tell = write_line
        self._shown: tuple[int, int] | None = None

    def ask(self, question: RatingQuestion) -> RatingCommand:
        """Print what is new, then read lines until one is a command for the session."""
        if question.place is None:
            self._shown = None
            self.tell("\n" + describe_end(question))
        else:
            self._show_what_is_new(question)
        while True:
            typed = self._ask_line(_format_line_prompt(question))
            command = self._read_command(question, typed)
            if command is not None:
                return command

    def _show_what_is_new(self, question: RatingQuestion) -> None:
        if question.place is None:
            return
        order = question.place.order
        if self._shown is None or self._shown[0] != order:
            self._show_answer(question)
        if self._shown != (order, question.at):
            self._show_axis(question)
        self._shown = (order, question.at)

    def _show_answer(self, question: RatingQuestion) -> None:
        if question.place is None:
            return
        answer = question.place.answer
        heading = f"\n— {describe_place(question)} —"
        self.tell(f"{heading}\n{mask_text(answer.prompt)}\n\n{describe_text(question.place)}\n")

    def _show_axis(self, question: RatingQuestion) -> None:
        axis = question.axis
        if isinstance(axis, NoteAxis):
            self._show_activity(question)
        self.tell(f"{format_axis_label(question)}: {axis.question}")
        if isinstance(axis, ScaleAxis):
            for at, anchor in axis.anchors.items():
                self.tell(f"  {at}  {anchor}")
        if question.mark is not None:
            self.tell(describe_mark(question.mark))

    def _show_activity(self, question: RatingQuestion) -> None:
        transcript = None if question.place is None else question.place.answer.transcript
        if transcript is not None:
            heading = translate("what the agent did")
            self.tell("\n".join((f"— {heading} —", *list_activity(transcript), "")))

    def _read_command(self, question: RatingQuestion, typed: str | None) -> RatingCommand | None:
        """Return the command of a line; `None` if the view has dealt with it."""
        if typed is None:
            return RatingCommand(action=RatingAction.QUIT)
        text = typed.strip()
        word = text.lower()
        if word == "v":
            self._show_answer(question)
        elif word == "a":
            self._show_activity(question)
        elif word == "?":
            self.tell("\n".join(list_key_help(question, in_lines=True)))
        elif word == "n":
            note = self._ask_line(translate("note: "))
            return RatingCommand(action=RatingAction.NOTE, text=(note or "").strip())
        elif word in LINE_ACTIONS:
            return RatingCommand(action=LINE_ACTIONS[word])
        elif (number := parse_go_to(word)) is not None:
            return RatingCommand(action=RatingAction.GO_TO, number=number)
        elif question.place is not None and isinstance(question.axis, NoteAxis):
            return RatingCommand(action=RatingAction.NOTE, text=text)
        else:
            score = parse_number(text)
            action = RatingAction.UNKNOWN if score is None else RatingAction.SCORE
            return RatingCommand(action=action, number=score or 0)
        return None


def parse_go_to(word: str) -> int | None:
    """Return the number in `g 12`; `None` if a word is no such command."""
    return parse_number(word[1:].strip()) if word.startswith("g") else None


def parse_number(text: str) -> int | None:
    """Return a short whole number in ASCII digits; `None` for anything else."""
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len("10000")
    return int(text) if is_number else None


def _format_line_prompt(question: RatingQuestion) -> str:
    if question.place is None:
        return translate("Enter to finish, g N to go to an answer, ? help: ")
    axis = question.axis
    if isinstance(axis, NoteAxis):
        return translate("a note in words, Enter for none, ? help: ")
    return translate(
        "{lowest}–{highest}, n note, z undo, s skip, v show again, ? help, q quit: ",
        lowest=axis.lowest,
        highest=axis.highest,
    )


# --- words that both views use --------------------------------------------------------------------


def describe_place(question: RatingQuestion) -> str:
    """Return where the rater is: the answer of all answers, the query, which answer to it."""
    place = question.place
    if place is None:
        return translate("all answers")
    where = translate("answer {place} of {many}", place=question.number, many=question.answers)
    query = translate("query {item}", item=place.answer.item)
    if question.siblings == 1:
        return f"{where} · {query}"
    label = translate("answer {label}", label=place.label)
    return f"{where} · {query}, {label}"


def describe_end(question: RatingQuestion) -> str:
    """Return what there is to say when nothing is left to ask."""
    if question.skipped:
        return translate_plural(
            "{n} answer was skipped and stays open.",
            "{n} answers were skipped and stay open.",
            question.skipped,
        )
    return translate(
        "Everything is rated. When you finish, the ratings are written and name the variants."
    )


def describe_mark(mark: SittingMark) -> str:
    """Return what the rater said before, and how to keep it."""
    said = "" if mark.score is None else str(mark.score)
    note = f"“{mask_text(mark.note)}”" if mark.note else ""
    given = ", ".join(filter(None, (said, note))) or translate("no note")
    return translate("rated before: {given} (Enter keeps it)", given=given)


def format_short_mark(mark: SittingMark | None) -> str:
    """Return what the rater said in short: the score, ✎ for a note, – for none, · if not asked."""
    if mark is None:
        return "·"
    return str(mark.score) if mark.score is not None else "✎" if mark.note else "–"


def describe_text(place: PlacedAnswer) -> str:
    """Return the text of an answer as it can be printed."""
    return mask_text(place.answer.text) if place.answer.text.strip() else translate("(no text)")


def format_axis_label(question: RatingQuestion) -> str:
    """Return the name and title of the axis that is asked for, and which of the scales it is."""
    axis = question.axis
    label = f"{axis.name} {axis.title}".rstrip()
    scales = [scale for scale in question.axes if isinstance(scale, ScaleAxis)]
    if axis not in scales:
        return label
    number = translate("{place} of {many}", place=scales.index(axis) + 1, many=len(scales))
    return f"{label} ({number})"


def list_key_help(question: RatingQuestion, *, in_lines: bool = False) -> list[str]:
    """Return one line for each key."""
    axis = question.axes[0] if question.place is None else question.axis
    scale = axis if isinstance(axis, ScaleAxis) else None
    scores = "" if scale is None else f"{scale.lowest}–{scale.highest}"
    go_to = "g 12" if in_lines else "g"
    rows = [
        (scores, translate("give this score and go on")),
        ("n", translate("write a note")),
        ("Enter, j", translate("keep what was said and go on; at a note: nothing to say")),
        ("k", translate("back to the axis before")),
        ("z", translate("take back the last score or note of this sitting")),
        ("s", translate("skip this answer; it stays open")),
        ("[  ]", translate("previous and next answer, to look or to correct")),
        (go_to, translate("go to an answer by its number, also one of an earlier sitting")),
        ("v", translate("show the answer again from its beginning")),
        ("a", translate("show what the agent did, if there is a log")),
        ("q", translate("quit; everything is kept, start the command again to go on")),
    ]
    if not in_lines:
        scrolling = translate("scroll: a page down, a page up, a line")
        rows[-3:-3] = [(translate("Space, b, ↓ ↑"), scrolling)]
    return [f"  {keys:<14} {meaning}" for keys, meaning in rows if keys]


def mask_text(text: str) -> str:
    """Replace the characters that could control the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
