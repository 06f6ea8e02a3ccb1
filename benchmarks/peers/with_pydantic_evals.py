"""pydantic-evals: a dataset of cases, a task that replays the answer, one evaluator, one report.

The evaluator returns the four cells and the score as one mapping, so an answer is read once. The
task is a coroutine, as a plain function would be sent to a thread for every case; one case at a
time, as concurrency only costs where nothing waits. Nothing is traced, no progress bar is drawn.
The report is written with the package's own adapter.
"""
# pydantic_evals is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReportAdapter
from tutor_axes import WEIGHTS, Marked, Recorded, contestant, judged, recorded, score_of, split_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Tutor(Evaluator[Recorded, str, Any]):
    """The rubric as one evaluator."""

    def evaluate(self, ctx: EvaluatorContext[Recorded, str, Any]) -> dict[str, float]:
        """Return every cell and the score."""
        cells = judged(ctx.output, ctx.inputs.expected, ctx.inputs.gloss)
        return {**cells, "score": score_of(cells)}


async def replay(inputs: Recorded) -> str:
    """Return the recorded answer."""
    return inputs.output


def evaluate(exam: Path, answers: Path, folder: Path) -> None:
    """Evaluate the dataset; write its report and its averages."""
    cases = [Case(name=row.name, inputs=row) for row in recorded(exam, answers)]
    dataset = Dataset(name="tutor", cases=cases, evaluators=[Tutor()])
    report = dataset.evaluate_sync(replay, progress=False, max_concurrency=1)
    (folder / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
    averages = report.averages().model_dump_json()
    (folder / "averages.json").write_text(averages, encoding="utf-8")


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the report and its averages back."""
    averages = json.loads((folder / "averages.json").read_bytes())
    cases = json.loads((folder / "report.json").read_bytes())["cases"]
    return averages["scores"]["score"], map(_marked, cases)


def _marked(case: dict[str, Any]) -> Marked:
    scores = {name: entry["value"] for name, entry in case["scores"].items()}
    return *split_name(case["name"]), {name: scores[name] for name in WEIGHTS}, scores["score"]


if __name__ == "__main__":
    contestant({"evaluate": evaluate}, result)
