"""lm-eval: a custom task with `process_results`, and a model that replays the answers.

The documents are held in memory, the four cells and the score are metrics of the task with the
aggregation `mean`, no standard error is bootstrapped, and the thousands of bundled tasks are not
indexed. Samples and results are written by the package's own tracker, as `--log_samples` does.
"""
# lm_eval and datasets are installed in the peer's environment only, so mypy cannot see them.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

import datasets
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from tutor_axes import WEIGHTS, Cells, Marked, contestant, judged, recorded, score_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lm_eval.api.instance import Instance


class Replay(LM):
    """A model that says again what was recorded."""

    def generate_until(self, requests: list[Instance], **_: Any) -> list[str]:
        """Return the recorded answer of every request."""
        return [request.doc["output"] for request in requests]

    def loglikelihood(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: a recorded answer has no likelihood."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return every cell and the score of one answer."""
    cells: Cells = judged(results[0], doc["expected"], doc["gloss"])
    return {**cells, "score": score_of(cells)}


def task_over(rows: list[dict[str, Any]]) -> ConfigurableTask:
    """Return the task over these documents."""
    data = datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
    metrics = [*WEIGHTS, "score"]
    config = {
        "task": "tutor",
        "custom_dataset": lambda **_: data,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "prompt",
        "doc_to_target": lambda doc: doc["expected"][0],
        "process_results": process_results,
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True} for name in metrics
        ],
        "generation_kwargs": {"until": []},
        "num_fewshot": 0,
    }
    return ConfigurableTask(config=config)


def evaluate(exam: Path, answers: Path, folder: Path) -> None:
    """Evaluate the task; write its samples and results."""
    tracker = EvaluationTracker(output_path=str(folder))
    results = simple_evaluate(
        model=Replay(),
        tasks=[task_over([row._asdict() for row in recorded(exam, answers)])],
        task_manager=TaskManager(include_defaults=False),
        bootstrap_iters=0,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name="tutor", samples=samples["tutor"])


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the results and the samples back."""
    totals = json.loads(next(folder.rglob("results_*.json")).read_bytes())["results"]["tutor"]
    with next(folder.rglob("samples_*.jsonl")).open(encoding="utf-8") as lines:
        samples = [json.loads(line) for line in lines]
    return totals["score,none"], map(_marked, samples)


def _marked(sample: dict[str, Any]) -> Marked:
    cells = {name: sample[name] for name in WEIGHTS}
    return sample["doc"]["item"], sample["doc"]["attempt"], cells, sample["score"]


if __name__ == "__main__":
    contestant({"evaluate": evaluate}, result)
