"""Judge recorded answers: ask a judge or a panel, read its replies, and return ratings.

The steps: questions and calls come from `ask.judging`, the live session asks and journals them, the
strict reader reads or refuses each reply, and the two orders and the judges of a panel are settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from markscheme.vocabulary import Answer, Exam, FrozenDict, Judge, Panel, Rating, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRatings:
    """What a judge or a panel said about answers, as ratings with `source: judge`.

    - `ratings`: what counts. Of a judge, each repeat and each order is a rating with its `repeat`;
      of a panel, the settled mark under the panel's name. What was not read has no score, and its
      note is the reason.
    - `each`: the same before the judges of a panel were settled.
    - `served`: by judge, the models that the server says answered; empty where it does not tell.
    - `stopped`: why not everything was asked; None where it was.
    """

    judge: Judge | Panel
    ratings: tuple[Rating, ...]
    each: tuple[Rating, ...]
    served: Mapping[str, tuple[str, ...]] = FrozenDict()
    calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    stopped: str | None = None


def judge_answers(
    rubric: Rubric,
    exam: Exam,
    answers: Iterable[Answer],
    judge: Judge | Panel,
    *,
    store: str | Path | None = None,
    **settings: Any,
) -> JudgedRatings:
    """Ask a judge about every answer, and return its ratings; equal answers are judged once.

    `settings` are options of `markscheme judge` by name: `concurrency`, `timeout`, `retries`,
    `max_cost`, `seed`, `cache`, `resume` and others. With a store every reply is journaled before
    it counts; without one nothing is kept. Judging the same with `cache=False` asks anew.
    """
    raise NotImplementedError
