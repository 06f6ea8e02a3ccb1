"""The `openai` package alone: no runner, no log, no report; a floor for those who ask with it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from asking import KEY, MODEL, Item, Task, contestant
from openai import AsyncOpenAI

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable


def subject(url: str) -> Callable[[Item], Awaitable[str]]:
    """Return who answers an item; one client for all, and nothing is asked again."""
    client = AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)

    async def answer(item: Item) -> str:
        found = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": item.prompt}]
        )
        return str(found.choices[0].message.content)

    return answer


async def asked(task: Task) -> list[float]:
    """Ask all, so many at a time; return the scores in any order."""
    answer = subject(task.url)
    left, scores = list(task.items), list[float]()

    async def work() -> None:
        while left:
            item = left.pop()
            scores.append(item.scores(await answer(item))["score"])

    await asyncio.gather(*(work() for _ in range(task.at_once)))
    return scores


def ask(task: Task) -> Iterable[float]:
    """Ask all."""
    return asyncio.run(asked(task))


if __name__ == "__main__":
    contestant(ask)
