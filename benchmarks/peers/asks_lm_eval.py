"""lm-eval: a custom task with `process_results`, by its provider `local-chat-completions`.

So many requests at a time, no retries, no cache; no standard error is bootstrapped, and the
thousands of bundled tasks are not indexed. Samples and results are written by its own tracker.
"""
# lm_eval and datasets are installed in the peer's environment only, so mypy cannot see them.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import datasets
from asking import AXES, MODEL, Item, Task, contestant
from lm_eval import simple_evaluate
from lm_eval.api.task import ConfigurableTask
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

if TYPE_CHECKING:
    from collections.abc import Iterable


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return every cell and the score of one answer."""
    return Item(**doc).scores(results[0])


def task_over(items: list[Item]) -> ConfigurableTask:
    """Return the task over these items."""
    rows = datasets.Dataset.from_list([item._asdict() for item in items])
    data = datasets.DatasetDict({"test": rows})
    config = {
        "task": "tutor",
        "custom_dataset": lambda **_: data,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "prompt",
        "doc_to_target": lambda doc: doc["expected_contains"][0],
        "process_results": process_results,
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True} for name in AXES
        ],
        "generation_kwargs": {"until": []},
        "num_fewshot": 0,
    }
    return ConfigurableTask(config=config)


def ask(task: Task) -> Iterable[float]:
    """Evaluate the task; write its samples and results."""
    tracker = EvaluationTracker(output_path=str(task.folder))
    results = simple_evaluate(
        model="local-chat-completions",
        model_args={
            "base_url": f"{task.url}/chat/completions",
            "model": MODEL,
            "num_concurrent": task.at_once,
            "max_retries": 1,
        },
        tasks=[task_over(task.items)],
        task_manager=TaskManager(include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name="tutor", samples=samples["tutor"])
    return [sample["score"] for sample in samples["tutor"]]


if __name__ == "__main__":
    contestant(ask)
