"""inspect_ai: a task of a dataset, `generate` and one scorer, by its OpenAI-compatible provider.

So many connections and samples at a time, no cache, no display, the log written once at the end.
"""
# inspect_ai is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import inspect_ai
from asking import KEY, MODEL, Item, Task, contestant
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate

if TYPE_CHECKING:
    from collections.abc import Iterable


@scorer(metrics={"*": [mean()]})
def tutor() -> Scorer:
    """Judge the four axes at once."""

    async def score(state: TaskState, target: Target) -> Score:
        item = Item(str(state.sample_id), state.input_text, list(target), state.metadata["gloss"])
        return Score(value=item.scores(state.output.completion))

    return score


def ask(task: Task) -> Iterable[float]:
    """Evaluate the task over the dataset."""
    samples = [
        Sample(
            id=item.id,
            input=item.prompt,
            target=item.expected_contains,
            metadata={"gloss": item.gloss_contains},
        )
        for item in task.items
    ]
    model = get_model(
        f"openai-api/local/{MODEL}",
        base_url=task.url,
        api_key=KEY,
        config=GenerateConfig(max_connections=task.at_once, max_retries=0),
    )
    (log,) = inspect_ai.eval(
        inspect_ai.Task(
            name="tutor", dataset=MemoryDataset(samples), solver=generate(), scorer=tutor()
        ),
        model=model,
        display="none",
        log_dir=str(task.folder),
        log_realtime=False,
        max_samples=task.at_once,
    )
    return [sample.scores["tutor"].value["score"] for sample in log.samples]


if __name__ == "__main__":
    contestant(ask)
