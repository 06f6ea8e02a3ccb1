"""The same questions by the `openai` package, which most peers ask with: a floor for all of those.

    python benchmarks/asks_openai.py URL ITEMS CONCURRENCY

No exam, no scores, no store: only asking. Prints wall and CPU seconds of that.
"""

from __future__ import annotations

import asyncio
import sys
import time

from openai import AsyncOpenAI


async def ask(url: str, items: int, concurrency: int) -> None:
    """Ask all, so many at a time."""
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    left = list(range(items))

    async def work() -> None:
        while left:
            prompt = f"Conjugate 'eat' for {left.pop()}."
            await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": prompt}]
            )

    await asyncio.gather(*(work() for _ in range(concurrency)))


def main() -> None:
    """Measure."""
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(ask(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    print(f"wall {time.perf_counter() - wall:.3f} s, CPU {time.process_time() - cpu:.3f} s")


if __name__ == "__main__":
    main()
