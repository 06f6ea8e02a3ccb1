"""deepeval: test cases and one custom metric without a model, evaluated one after the other.

The metric is a composite (a pattern of its documentation): its score is the weighted sum, its
reason holds the cells, so an answer is read once. Run synchronously, without cache and display,
and without a time-out for every case (`DEEPEVAL_DISABLE_TIMEOUTS`), which only costs here. The
test run is written to the folder, as deepeval does.
"""
# deepeval is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
from tutor_axes import Marked, contestant, judged, recorded, score_of, split_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Tutor(BaseMetric):
    """The rubric as one metric."""

    __name__ = "tutor"

    def __init__(self) -> None:
        self.threshold = 0.0
        self.async_mode = False

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Judge one answer."""
        expectations = test_case.metadata
        cells = judged(test_case.actual_output, expectations["expected"], expectations["gloss"])
        self.score, self.reason, self.success = score_of(cells), json.dumps(cells), True
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Judge one answer; there is nothing to wait for."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Return what the last measurement said."""
        return bool(self.success)


def by_evaluate(exam: Path, answers: Path, folder: Path) -> None:
    """Evaluate every test case and write the mean, which the test run does not hold."""
    cases = [
        LLMTestCase(
            name=row.name,
            input=row.prompt,
            actual_output=row.output,
            metadata={"expected": row.expected, "gloss": row.gloss},
        )
        for row in recorded(exam, answers)
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
            results_folder=str(folder),
        ),
    )
    scores = [test.metrics_data[0].score for test in evaluated.test_results]
    (folder / "mean.json").write_text(json.dumps(sum(scores) / len(scores)), encoding="utf-8")


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the test run and the mean back."""
    run = json.loads(next(folder.glob("test_run_*.json")).read_bytes())
    return json.loads((folder / "mean.json").read_bytes()), map(_marked, run["testCases"])


def _marked(case: dict[str, Any]) -> Marked:
    (metric,) = case["metricsData"]
    return *split_name(case["name"]), json.loads(metric["reason"]), metric["score"]


if __name__ == "__main__":
    contestant({"evaluate": by_evaluate}, result)
