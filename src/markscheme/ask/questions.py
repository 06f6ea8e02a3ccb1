"""Questions: what a subject is asked, and under which key the answer to it is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import compute_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.vocabulary import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One item as it is put to a subject: instructions, worked examples, the question itself.

    `schema` is there where the subject is to be held to it by its own means. `prompt` is the item's
    own, for subjects that need no instructions; `attempt` is not told to any subject.
    """

    item: str
    prompt: str
    system: str
    user: str
    shots: tuple[tuple[str, str], ...] = ()
    schema: Mapping[str, Any] | None = None
    attempt: int = 1

    @property
    def text(self) -> str:
        """The question as one text, for subjects that know no roles."""
        shown = [f"{question}\n{answer}" for question, answer in self.shots]
        return "\n\n".join(part for part in (self.system, *shown, self.user) if part)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The question as the turns of a conversation."""
        turns = [("system", self.system)] if self.system else []
        for question, answer in self.shots:
            turns += [("user", question), ("assistant", answer)]
        turns.append(("user", self.user))
        return [{"role": role, "content": content} for role, content in turns]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledQuestion:
    """A question for a subject, by the name of the subject, and its place in the order."""

    key: str
    subject: str
    question: Question
    order: int


def compute_question_key(subject: str, parameters: Mapping[str, Any], question: Question) -> str:
    """Return the name of what is asked: the same words to the same subject have the same key.

    What an item expects is not in it, and no position; so a changed rubric asks nothing anew.
    """
    asked = {
        "subject": subject,
        "parameters": parameters,
        "item": question.item,
        "messages": question.messages,
        "schema": question.schema,
        "attempt": question.attempt,
    }
    return compute_digest(_encode_sorted_json(asked).encode())


_encode_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def shuffle_attempts(
    items: Sequence[Item], *, attempts: int, seed: int
) -> Iterator[tuple[Item, int]]:
    """Yield each item with each attempt, shuffled by the seed; an item's attempts lie apart.

    The order does not depend on that of the files, or of the items in them.
    """
    sorted_ = sorted(items, key=lambda item: item.id)
    for attempt in range(1, attempts + 1):
        shuffled = sorted_[:]
        random.Random(f"order {seed} {attempt}").shuffle(shuffled)  # noqa: S311 - an order
        yield from ((item, attempt) for item in shuffled)


def order_subjects(subjects: Sequence[str], place: int) -> list[str]:
    """Return who is asked first, second, … at this place.

    The first speaker alternates, and of any two subjects each comes first as often as the other:
    every order is followed by its reverse.
    """
    turn, back = divmod(place, 2)
    first = turn % len(subjects) if len(subjects) > 2 else 0  # noqa: PLR2004 - two only swap
    order = [*subjects[first:], *subjects[:first]]
    return order[::-1] if back else order
