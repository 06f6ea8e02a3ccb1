"""Questions: what a subject is asked, in which order, and the key under which a reply is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.vocabulary import Item, compute_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One item as it is put to a subject: instructions, worked examples, the question itself.

    `schema` is set where the subject should enforce it by its own means. `prompt` is the item's
    own, for subjects that need no instructions. No subject is told the `attempt`.
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
        shots = [f"{question}\n{answer}" for question, answer in self.shots]
        return "\n\n".join(part for part in (self.system, *shots, self.user) if part)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The question as the messages of a chat."""
        turns = [("system", self.system)] if self.system else []
        for question, answer in self.shots:
            turns += [("user", question), ("assistant", answer)]
        turns.append(("user", self.user))
        return [{"role": role, "content": content} for role, content in turns]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledQuestion:
    """A question for one subject, with its place in the order of the run."""

    key: str
    subject: str
    question: Question
    order: int


def compute_question_key(subject: str, parameters: Mapping[str, Any], question: Question) -> str:
    """Return the key of a question: the same words to the same subject have the same key.

    What an item expects and its position are not part of it, so a changed rubric asks nothing anew.
    """
    content = {
        "subject": subject,
        "parameters": parameters,
        "item": question.item,
        "messages": question.messages,
        "schema": question.schema,
        "attempt": question.attempt,
    }
    return compute_digest(_encode_sorted_json(content).encode())


_encode_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def shuffle_attempts(
    items: Sequence[Item], *, attempts: int, seed: int
) -> Iterator[tuple[Item, int]]:
    """Yield each item with each attempt, shuffled by the seed, attempt by attempt.

    The order does not depend on that of the files, or of the items in them.
    """
    by_id = sorted(items, key=lambda item: item.id)
    for attempt in range(1, attempts + 1):
        shuffled = by_id[:]
        random.Random(f"order {seed} {attempt}").shuffle(shuffled)  # noqa: S311 - no secret
        yield from ((item, attempt) for item in shuffled)


def order_subjects(subjects: Sequence[str], place: int) -> list[str]:
    """Return the order in which the subjects are asked at a place of the run.

    Every order is followed by its reverse, so of any two subjects each comes first as often as the
    other.
    """
    turn, is_reversed = divmod(place, 2)
    first = turn % len(subjects) if len(subjects) > 2 else 0  # noqa: PLR2004 - two only swap
    order = [*subjects[first:], *subjects[:first]]
    return order[::-1] if is_reversed else order
