"""deepeval: answers asked for by the `openai` package, then `evaluate` over the test cases.

deepeval asks no subject by itself, and its own class for such endpoints makes a client for every
question, at 50 ms of CPU each: a shared client is the way a user would take. Evaluated
synchronously, without cache and display. The test run is written to the folder.
"""
# deepeval is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from asking import Item, Task, contestant
from asks_openai import subject
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

if TYPE_CHECKING:
    from collections.abc import Iterable


class Tutor(BaseMetric):
    """The rubric as one metric."""

    __name__ = "tutor"

    def __init__(self) -> None:
        self.threshold = 0.0
        self.async_mode = False

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Judge one answer."""
        cells = Item(**test_case.metadata).scores(test_case.actual_output)
        self.score, self.reason, self.success = cells["score"], json.dumps(cells), True
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Judge one answer; there is nothing to wait for."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Return what the last measurement said."""
        return bool(self.success)


async def answers(task: Task) -> list[str]:
    """Return the answers in the order of the items."""
    answer, room = subject(task.url), asyncio.Semaphore(task.at_once)

    async def bounded(item: Item) -> str:
        async with room:
            return await answer(item)

    return await asyncio.gather(*map(bounded, task.items))


def ask(task: Task) -> Iterable[float]:
    """Ask, then evaluate every test case."""
    cases = [
        LLMTestCase(name=item.id, input=item.prompt, actual_output=output, metadata=item._asdict())
        for item, output in zip(task.items, asyncio.run(answers(task)), strict=True)
    ]
    evaluated = evaluate(
        cases,
        [Tutor()],
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(
            show_indicator=False,
            print_results=False,
            inspect_after_run=False,
            results_folder=str(task.folder),
        ),
    )
    return [test.metrics_data[0].score for test in evaluated.test_results]


if __name__ == "__main__":
    contestant(ask)
