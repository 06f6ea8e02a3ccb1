"""The bundled tutor as a subject; it reads the item's own prompt and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.ask.replies import Reply
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.ask.tutor import FLAWED, Tutor
from markscheme.errors import UsageError, format_value

if TYPE_CHECKING:
    from markscheme.ask.questions import Question


class TutorSubject(BaseSubject):
    """The tutor of the verb table, whole or with its faults."""

    def __init__(self, *, flawed: bool) -> None:
        self.name = "flawed-tutor" if flawed else "tutor"
        self.parameters: dict[str, Any] = {}
        self._tutor = Tutor(faults=FLAWED if flawed else frozenset())

    async def ask(self, question: Question) -> Reply:
        """Answer from the verb table."""
        watch = Stopwatch()
        text = self._tutor.answer(question.prompt)
        return Reply(text=text, finish_reason="stop", latency_us=watch())


def subject(rest: str, options: SubjectOptions) -> TutorSubject:
    """Return the tutor, or the flawed one."""
    del options
    if rest not in {"", "flawed"}:
        raise UsageError(
            f"{format_value(f'tutor:{rest}')} is no tutor; allowed are `tutor`, `tutor:flawed`"
        )
    return TutorSubject(flawed=rest == "flawed")
