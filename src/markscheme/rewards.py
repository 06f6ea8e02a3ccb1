"""Rewards for training: a rubric and an exam as the reward of TRL, verifiers, verl and OpenRLHF.

>>> from markscheme.rewards import Reward
>>> reward = Reward("tutor-capstone", "capstone")
>>> reward(completions=["He ate. Comió.", "Eh?"], item=["e-39-01", "no-such-item"])
[0.9, None]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from markscheme.mark import mark_answer
from markscheme.vocabulary import Breakdown, Exam, Item, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric

Message = Mapping[str, Any]
Text = str | Sequence[Message]
"""A prompt or a completion: a text, or the messages of a conversation."""


class Reward:
    """Marks completions by a rubric; its instances are the reward functions of trainers.

    Called as TRL does, it returns a number for each completion, and None where an answer cannot be
    marked: its item is not in the exam, it holds no text, or an axis could not score it. Trainers
    without a value for that need `unmarked`, the number that such an answer gets.

    The item of a completion is the entry of the column `item_column` of the data set, else the item
    whose prompt was asked. Instances can be pickled; nothing imports torch.
    """

    def __init__(
        self,
        rubric: Rubric | str | Path,
        exam: Exam | str | Path | Sequence[str | Path],
        *,
        item_column: str = "item",
        unmarked: float | None = None,
    ) -> None:
        self.rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
        if not isinstance(exam, Exam):
            names = (exam,) if isinstance(exam, str | Path) else exam
            exam = load_exam(*names, rubric=self.rubric)
        self.exam = exam
        self.item_column = item_column
        self.unmarked = unmarked
        # Trainers name their logs after it.
        self.__name__ = f"markscheme_{re.sub(r'[^A-Za-z0-9]+', '_', self.rubric.name)}"
        self._by_id = {item.id: item for item in exam.items}
        self._by_prompt = _index_prompts(exam.items)

    def __call__(
        self,
        prompts: Sequence[Text] | None = None,
        completions: Sequence[Text] = (),
        *,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward for each completion, as TRL's trainers ask for.

        `log_metric` gets the mean of each axis, and the share of answers that could be marked.
        """
        items = columns.get(self.item_column) or [None] * len(completions)
        asked: Sequence[Text | None] = prompts or [None] * len(completions)
        breakdowns = [
            self.mark(completion, item=item, prompt=prompt)
            for completion, item, prompt in zip(completions, items, asked, strict=True)
        ]
        if log_metric is not None and breakdowns:
            for name, value in _average_axes(breakdowns).items():
                log_metric(name, value)
        return [self._to_number(breakdown) for breakdown in breakdowns]

    def mark(
        self, completion: Text | None, *, item: Any = None, prompt: Text | None = None
    ) -> Breakdown | None:
        """Mark one completion, or return None if it has no text or its item is not known."""
        text = get_text(completion, "assistant")
        found = self._find_item(item, prompt)
        return None if text is None or found is None else mark_answer(self.rubric, found, text)

    def score(
        self, completion: Text | None, *, item: Any = None, prompt: Text | None = None
    ) -> float:
        """Return the reward of one completion as a number, for trainers that need one."""
        if self.unmarked is None:
            raise UsageError("this trainer needs a number for each answer: Reward(…, unmarked=0.0)")
        number = self._to_number(self.mark(completion, item=item, prompt=prompt))
        return self.unmarked if number is None else number

    def verifiers(
        self, completion: Text, prompt: Text | None = None, info: Any = None, **_: Any
    ) -> float:
        """Reward function of verifiers: `vf.Rubric(funcs=[reward.verifiers])`."""
        item = info.get(self.item_column) if isinstance(info, Mapping) else None
        return self.score(completion, item=item, prompt=prompt)

    def verl(
        self,
        data_source: Any,
        solution_str: str,
        ground_truth: Any,
        extra_info: Any = None,
        **_: Any,
    ) -> dict[str, float]:
        """Reward function of verl: `compute_score = reward.verl`.

        The item is `extra_info[item_column]`, else the ground truth. The axes are logged too.
        """
        del data_source
        named = extra_info.get(self.item_column) if isinstance(extra_info, Mapping) else None
        item = ground_truth if named is None else named
        breakdown = self.mark(solution_str, item=item)
        axes = _average_axes([breakdown])
        return {"score": self.score(solution_str, item=item), **axes}

    def openrlhf(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
    ) -> dict[str, Any]:
        """Reward function of OpenRLHF: `reward_func = reward.openrlhf`; a label is an item's id."""
        import torch  # noqa: PLC0415 - OpenRLHF has it, and nothing else here needs it

        completions = [query.removeprefix(p) for query, p in zip(queries, prompts, strict=True)]
        scores = [
            self.score(completion, item=label, prompt=prompt)
            for completion, label, prompt in zip(completions, labels, prompts, strict=True)
        ]
        rewards = torch.tensor(scores, dtype=torch.float32)
        return {"rewards": rewards, "scores": rewards, "extra_logs": {}}

    def _find_item(self, item: Any, prompt: Text | None) -> Item | None:
        if item is not None:
            return self._by_id.get(str(item))
        asked = get_text(prompt, "user")
        return None if asked is None else self._by_prompt.get(_fold(asked))

    def _to_number(self, breakdown: Breakdown | None) -> float | None:
        known = breakdown is not None and breakdown.score is not None
        return float(breakdown.score) if known else self.unmarked  # type: ignore[union-attr, arg-type]


def get_text(said: Any, role: str) -> str | None:
    """Return a text, or the last text of a role in the messages of a conversation."""
    if isinstance(said, str) or said is None:
        return said
    texts = [
        message.get("content")
        for message in said
        if isinstance(message, Mapping) and message.get("role") == role
    ]
    last = texts[-1] if texts else None
    if isinstance(last, list):
        parts = [part.get("text") for part in last if isinstance(part, Mapping)]
        last = "".join(part for part in parts if isinstance(part, str)) or None
    return last if isinstance(last, str) else None


def _average_axes(breakdowns: Iterable[Breakdown | None]) -> dict[str, float]:
    """Return the mean of each axis over what it scored, and the share of marked answers."""
    every = list(breakdowns)
    known = [breakdown for breakdown in every if breakdown is not None]
    values: dict[str, list[Fraction]] = {}
    for breakdown in known:
        for axis, cell in breakdown.cells.items():
            if cell.value is not None:
                values.setdefault(f"axis/{axis}", []).append(cell.value)
    marked = sum(breakdown.score is not None for breakdown in known)
    means = {name: float(sum(found) / len(found)) for name, found in values.items() if found}
    return {**means, "marked": marked / len(every)}


def _index_prompts(items: Iterable[Item]) -> dict[str, Item]:
    """Return items by their prompts; prompts that several items share name none of them."""
    by_prompt: dict[str, list[Item]] = {}
    for item in items:
        by_prompt.setdefault(_fold(item.prompt), []).append(item)
    return {prompt: found[0] for prompt, found in by_prompt.items() if len(found) == 1}


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()
